// The relay (relay.h): one poll(2) loop over the agent, the signals and up to three channels. Runs
// as the caller. What it copies comes from a hostile session or from a terminal that does not
// drain: no call here waits for either for good, and the loop ends in bounded time after the job
// has.
#include "relay.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <termios.h>
#include <unistd.h>

#include "agent_call.h"
#include "session.h"
#include "terminal.h"

// After the job's end: how long a silence ends its output, when a process that it left behind still
// holds the other end; how long such a process is listened to at all; and how long the caller's
// side may take nothing.
#define SILENCE_USEC 100000U
#define LINGER_USEC 2000000U
#define STALL_USEC 10000000U
// A second interrupt within this time ends the job for good.
#define INSIST_USEC 2000000U

// How long one poll(2) may wait after the job's end, and in the terminal's background.
#define EXITED_MS 50
#define BACKGROUND_MS 300

#define CONTROL_D 0x04

// Faults stay with the kernel, SIGALRM with endpoint.c, and stops from the terminal with the kernel
// too: a blocked SIGTTIN would turn a read from the background into an error.
static const int untouched[] = { SIGSEGV, SIGBUS,  SIGFPE,  SIGILL,  SIGABRT, SIGSYS,
				 SIGTRAP, SIGALRM, SIGTTIN, SIGTTOU, SIGCHLD, SIGPIPE };

// What goes on to the job.
static const int forwarded[] = { SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2 };

// The state of one relay_run.
struct run {
	struct relay *relay;
	bool exited;	 // the job has ended
	bool insisted;	 // the caller wants an end, whatever the job wants
	bool foreground; // the terminal may be read
	int exit_code, signal;
	int last_number; // the signal forwarded last, and when
	uint64_t last_usec;
	uint64_t exit_usec;	// when the job ended
	uint64_t progress_usec; // when a byte moved last
};

bool relay_signals_open(struct relay *relay, void *old, struct failure *failure)
{
	sigset_t taken;

	sigfillset(&taken);
	for (size_t i = 0; i < sizeof(untouched) / sizeof(untouched[0]); i++)
		sigdelset(&taken, untouched[i]);
	sigprocmask(SIG_BLOCK, &taken, old);
	relay->signals = signalfd(-1, &taken, SFD_CLOEXEC | SFD_NONBLOCK);
	if (relay->signals >= 0)
		return true;
	fail(failure, "opening a signalfd: %s", strerror(errno));
	sigprocmask(SIG_SETMASK, old, NULL);
	return false;
}

void relay_signals_close(struct relay *relay, const void *old)
{
	close(relay->signals);
	relay->signals = -1;
	sigprocmask(SIG_SETMASK, old, NULL);
}

int relay_await(struct relay *relay, int timeout_ms)
{
	const uint64_t end = clock_boot_usec() + (uint64_t)timeout_ms * 1000U;
	struct pollfd slots[2] = { { .fd = relay->connection, .events = POLLIN },
				   { .fd = relay->signals, .events = POLLIN } };
	struct signalfd_siginfo info;
	uint64_t now;

	while ((now = clock_boot_usec()) < end) {
		const int count = poll(slots, 2, (int)((end - now) / 1000U) + 1);

		if (count == 0 || slots[0].revents)
			break;
		if (count < 0 || read(relay->signals, &info, sizeof(info)) != sizeof(info))
			continue;
		if (info.ssi_signo == SIGTSTP)
			raise(SIGSTOP);
		else if (info.ssi_signo != SIGCONT && info.ssi_signo != SIGWINCH &&
			 info.ssi_signo != SIGURG)
			return (int)info.ssi_signo;
	}
	return 0;
}

bool relay_add(struct relay *relay, bool input, struct endpoint from, struct endpoint to,
	       struct failure *failure)
{
	struct channel *channel = &relay->channels[relay->channel_count++];

	*channel = (struct channel){ .input = input, .from = from, .to = to };
	channel->buffer = malloc(RELAY_BUFFER);
	return channel->buffer ? true : fail(failure, "relaying: out of memory");
}

void relay_close(struct relay *relay)
{
	for (size_t i = 0; i < relay->channel_count; i++) {
		endpoint_close(&relay->channels[i].from);
		endpoint_close(&relay->channels[i].to);
		free(relay->channels[i].buffer);
	}
	relay->channel_count = 0;
}

// The caller wants an end now, because of signal `number`.
static void run_insist(struct run *run, int number)
{
	run->insisted = true;
	run->exit_code = EXIT_SIGNAL + number;
	run->signal = number;
}

// Nothing more will come from there. On a terminal, the job learns of it by ^D.
static void channel_ended(const struct relay *relay, struct channel *channel)
{
	endpoint_close(&channel->from);
	if (channel->input && channel->to.fd == relay->master && relay->master >= 0 &&
	    channel->end < RELAY_BUFFER)
		channel->buffer[channel->end++] = CONTROL_D;
}

// Nobody takes it any more: whoever writes gets to know by SIGPIPE.
static void channel_break(struct channel *channel)
{
	endpoint_close(&channel->from);
	endpoint_close(&channel->to);
	channel->start = channel->end = 0;
}

// The same where it was not to be expected. What writes to a terminal gets no SIGPIPE: the whole
// job ends as if it had got one.
static void channel_broken(struct run *run, struct channel *channel)
{
	if (!channel->input && run->relay->master >= 0 && !run->exited)
		run_insist(run, SIGPIPE);
	channel_break(channel);
}

static void channel_fill(struct run *run, struct channel *channel)
{
	// One byte stays free for the ^D of channel_ended.
	const ssize_t n = endpoint_read(&channel->from, channel->buffer, RELAY_BUFFER - 1);

	if (n > 0) {
		channel->end = (size_t)n;
		run->progress_usec = clock_boot_usec();
	} else if (n == 0 || (errno != EAGAIN && errno != EINTR)) {
		channel_ended(run->relay, channel);
	}
}

static void channel_drain(struct run *run, struct channel *channel)
{
	const ssize_t n = endpoint_write(&channel->to, channel->buffer + channel->start,
					 channel->end - channel->start);

	if (n < 0 && errno != EAGAIN && errno != EINTR) {
		channel_broken(run, channel);
		return;
	}
	if (n <= 0)
		return;
	run->progress_usec = clock_boot_usec();
	channel->start += (size_t)n;
	if (channel->start == channel->end)
		channel->start = channel->end = 0;
}

// After the last byte of a pipe its end is closed: the reader sees the end of file.
static void channel_finish(const struct relay *relay, struct channel *channel)
{
	if (channel->from.fd < 0 && channel->to.fd >= 0 && channel->end == 0 &&
	    channel->to.fd != relay->master)
		endpoint_close(&channel->to);
}

static bool is_forwarded(int number)
{
	for (size_t i = 0; i < sizeof(forwarded) / sizeof(forwarded[0]); i++)
		if (forwarded[i] == number)
			return true;
	return false;
}

// The caller's ^Z, or a signal of that kind: both sides stop. The job is in an orphaned process
// group, where the kernel ignores SIGTSTP, so it is sent SIGSTOP; behind a terminal of its own it
// goes on.
static void stop(struct run *run)
{
	struct relay *relay = run->relay;

	if (relay->master < 0)
		agent_signal(relay->connection, SIGSTOP);
	terminal_restore();
	raise(SIGSTOP);
}

// Finds out whether the terminal may be read, and takes it over then.
static void foreground_check(struct run *run)
{
	const struct relay *relay = run->relay;

	run->foreground = relay->terminal < 0 || terminal_foreground(relay->terminal);
	if (relay->master < 0 || !run->foreground)
		return;
	if (isatty(STDIN_FILENO))
		terminal_raw(STDIN_FILENO);
	terminal_resize(relay->terminal, relay->master);
}

static void go_on(struct run *run)
{
	if (run->relay->master < 0)
		agent_signal(run->relay->connection, SIGCONT);
	foreground_check(run);
}

static void signal_forward(struct run *run, int number)
{
	const uint64_t now = clock_boot_usec();
	const bool ends = number != SIGUSR1 && number != SIGUSR2;

	if (ends && run->last_number == number && now - run->last_usec < INSIST_USEC) {
		run_insist(run, number);
		return;
	}
	if (ends) {
		run->last_number = number;
		run->last_usec = now;
	}
	agent_signal(run->relay->connection, number);
}

static void signals_take(struct run *run)
{
	struct signalfd_siginfo info;

	while (read(run->relay->signals, &info, sizeof(info)) == sizeof(info)) {
		const int number = (int)info.ssi_signo;

		if (is_forwarded(number)) {
			signal_forward(run, number);
		} else if (number == SIGWINCH) {
			if (run->relay->master >= 0)
				terminal_resize(run->relay->terminal, run->relay->master);
		} else if (number == SIGTSTP) {
			stop(run);
		} else if (number == SIGCONT) {
			go_on(run);
		} else if (number != SIGURG) {
			// What would have ended this process ends it, but in order.
			run_insist(run, number);
		}
	}
}

static void exited_take(struct run *run, const struct agent_reply *reply)
{
	run->exited = true;
	run->exit_code = reply->exit_code;
	run->signal = reply->signal;
	run->exit_usec = run->progress_usec = clock_boot_usec();
	// Nobody reads it any more.
	for (size_t i = 0; i < run->relay->channel_count; i++)
		if (run->relay->channels[i].input)
			channel_break(&run->relay->channels[i]);
}

static bool agent_take(struct run *run, struct failure *failure)
{
	struct agent_reply reply;

	if (!agent_receive(run->relay->connection, 0, &reply, failure))
		return false;
	if (reply.descriptor >= 0)
		close(reply.descriptor);
	if (reply.kind == AGENT_CLOSED)
		return fail(failure,
			    "the session ended while the command ran: its time to live was "
			    "over, it was destroyed, or it ran out of memory");
	if (reply.kind != AGENT_EXITED)
		return fail(failure, "the session's agent sent a reply that makes no sense");
	exited_take(run, &reply);
	return true;
}

// Whether all is done, or as much as will be, `now` that the job has ended.
static bool finished(const struct run *run, uint64_t now)
{
	bool pending = false, open = false;

	for (size_t i = 0; i < run->relay->channel_count; i++) {
		const struct channel *channel = &run->relay->channels[i];

		pending |= channel->end > 0;
		open |= channel->from.fd >= 0;
	}
	if (pending)
		return now - run->progress_usec >= STALL_USEC;
	return !open || now - run->exit_usec >= LINGER_USEC ||
	       now - run->progress_usec >= SILENCE_USEC;
}

// Fills in what poll(2) is to look at for one channel: in slots[0] its source, in slots[1] its
// sink.
static void channel_watch(const struct run *run, const struct channel *channel,
			  struct pollfd slots[2])
{
	const bool readable = channel->from.fd >= 0 && channel->end == 0 &&
			      (run->foreground || !channel->from.terminal) &&
			      !(run->exited && clock_boot_usec() - run->exit_usec >= LINGER_USEC);

	slots[0] = (struct pollfd){ .fd = readable ? channel->from.fd : -1, .events = POLLIN };
	// Without events: an error of the sink is told all the same, and a reader that went away
	// too.
	slots[1] =
		(struct pollfd){ .fd = channel->to.fd, .events = channel->end > 0 ? POLLOUT : 0 };
}

static void channel_move(struct run *run, struct channel *channel, const struct pollfd slots[2])
{
	if (slots[1].fd >= 0 && (slots[1].revents & POLLOUT))
		channel_drain(run, channel);
	else if (slots[1].fd >= 0 && (slots[1].revents & (POLLERR | POLLHUP | POLLNVAL)))
		channel_broken(run, channel);
	if (slots[0].fd >= 0 && slots[0].revents && channel->from.fd >= 0)
		channel_fill(run, channel);
	channel_finish(run->relay, channel);
}

// One turn of the loop.
static bool turn(struct run *run, struct failure *failure)
{
	struct relay *relay = run->relay;
	struct pollfd slots[2 + 2 * RELAY_CHANNELS];

	slots[0] = (struct pollfd){ .fd = relay->signals, .events = POLLIN };
	slots[1] = (struct pollfd){ .fd = run->exited ? -1 : relay->connection, .events = POLLIN };
	for (size_t i = 0; i < relay->channel_count; i++)
		channel_watch(run, &relay->channels[i], slots + 2 + 2 * i);

	// A shell tells a process nothing that it brings to the foreground while it runs.
	const int timeout = run->exited ? EXITED_MS : run->foreground ? -1 : BACKGROUND_MS;
	if (poll(slots, 2 + 2 * relay->channel_count, timeout) < 0)
		return errno == EINTR ? true : fail(failure, "poll: %s", strerror(errno));
	if (!run->foreground)
		foreground_check(run);
	if (slots[0].revents)
		signals_take(run);
	for (size_t i = 0; i < relay->channel_count; i++)
		channel_move(run, &relay->channels[i], slots + 2 + 2 * i);
	if (slots[1].revents && !run->exited)
		return agent_take(run, failure);
	return true;
}

bool relay_run(struct relay *relay, const struct agent_reply *first, int *exit_code, int *signal,
	       struct failure *failure)
{
	struct run run = { .relay = relay };
	bool good = true;

	foreground_check(&run);
	if (first->kind == AGENT_EXITED)
		exited_take(&run, first);
	while (good && !run.insisted && !(run.exited && finished(&run, clock_boot_usec())))
		good = turn(&run, failure);
	*exit_code = run.exit_code;
	*signal = run.signal;
	return good;
}
