// A job: one command that a client asked for, and the processes it started.
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "order.h"

struct job {
	pid_t command; // leader of its session and process group, both of that number
	int master;    // its terminal; -1: none
	int failure;   // reports why the command could not be executed
};

enum job_reaped {
	JOB_RUNNING,
	JOB_MORE,  // running; so much has ended that the rest waits for the next call
	JOB_ENDED, // the command has ended; it stays a zombie, so that its number stays taken
};

// Forks the command of session `number`. `descriptors` are its standard input, output and error
// (unused with a terminal); on success they are closed here. Returns false with `refusal`.
bool job_fork(uint32_t number, const struct exec_order *exec, const int *descriptors,
	      struct job *job, struct refusal *refusal);

// Waits until the command has been executed. Returns false with `refusal` when it cannot be; the
// child is reaped then.
bool job_confirm(struct job *job, const struct exec_order *exec, struct refusal *refusal);

// Reaps what the command left to its subreaper. With JOB_ENDED, `status` and `signal` say how.
enum job_reaped job_reap(const struct job *job, int *status, int *signal);

// Sends `signal` to the job's process group, or to the one in the foreground of its terminal.
void job_signal(const struct job *job, int signal);

// The client is gone: hangs the job up, and kills its process group a second later. What has left
// the group (a daemon) lives on.
void job_hang_up(struct job *job);

// The time is over: asks the job to end, and after a second at most kills all of its descendants,
// wherever they have put themselves. Comes back when none is left. `child_signals` becomes
// readable when a child ends. `status` and `signal` say how the command itself ended.
void job_end(const struct job *job, int child_signals, int *status, int *signal);
