// Decodes and checks what a client orders (order.h). Runs in a keeper, which has one connection
// and no privilege. It may neither allocate beyond a fixed budget nor let anything through that the
// protocol does not name: the owner of a session counts as hostile.
#include "order.h"

#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#include "protocol.h"

// A bump allocator: decoding frees nothing that would be worth reusing, and one request is all that
// is ever held. Page-aligned for order_forget.
static struct {
	_Alignas(4096) uint8_t memory[ORDER_BUDGET];
	size_t used;
	bool exhausted;
} budget;

static void *budget_take(void *unused, size_t size)
{
	const size_t unit = _Alignof(max_align_t);

	(void)unused;
	if (size > sizeof(budget.memory) - budget.used) {
		budget.exhausted = true;
		return NULL;
	}
	// The size of the budget is a multiple of the unit, so rounding up stays inside.
	uint8_t *taken = budget.memory + budget.used;
	budget.used += (size + unit - 1) / unit * unit;
	return taken;
}

static void budget_return(void *unused, void *pointer)
{
	(void)unused;
	(void)pointer;
}

static ProtobufCAllocator budget_allocator = { .alloc = budget_take, .free = budget_return };

void order_forget(void)
{
	// Only a matter of thrift: failing leaves the memory in use.
	(void)madvise(budget.memory, sizeof(budget.memory), MADV_DONTNEED);
	budget.used = 0;
}

bool refuse(struct refusal *refusal, code code, const char *format, ...)
{
	va_list arguments;

	refusal->code = code;
	va_start(arguments, format);
	vsnprintf(refusal->message, sizeof(refusal->message), format, arguments);
	va_end(arguments);

	// Reasons quote what hostile people chose: keep it to one line of plain ASCII.
	for (char *c = refusal->message; *c != '\0'; c++) {
		if (*c < ' ' || *c > '~')
			*c = '?';
	}
	return false;
}

// Turns `bytes` into a string in the budget. Returns NULL with `refusal` filled in.
static char *take_string(const ProtobufCBinaryData *bytes, const char *field,
			 struct refusal *refusal)
{
	if (bytes->len > 0 && memchr(bytes->data, '\0', bytes->len) != NULL) {
		refuse(refusal, CODE(REQUEST), "%s contains a NUL byte", field);
		return NULL;
	}

	char *string = budget_take(NULL, bytes->len + 1);
	if (string == NULL) {
		refuse(refusal, CODE(REQUEST), "%s has too many parts", field);
		return NULL;
	}
	if (bytes->len > 0)
		memcpy(string, bytes->data, bytes->len);
	string[bytes->len] = '\0';
	return string;
}

// The same for a repeated field; the result ends with NULL.
static char **take_strings(const ProtobufCBinaryData *bytes, size_t count, const char *field,
			   struct refusal *refusal)
{
	char **strings = budget_take(NULL, (count + 1) * sizeof(*strings));

	if (strings == NULL) {
		refuse(refusal, CODE(REQUEST), "%s has too many parts", field);
		return NULL;
	}
	for (size_t i = 0; i < count; i++) {
		strings[i] = take_string(&bytes[i], field, refusal);
		if (strings[i] == NULL)
			return NULL;
	}
	strings[count] = NULL;
	return strings;
}

static bool check_environment(char *const *environment, struct refusal *refusal)
{
	for (; *environment != NULL; environment++) {
		const char *equals = strchr(*environment, '=');

		if (equals == NULL || equals == *environment)
			return refuse(refusal, CODE(REQUEST),
				      "env: \"%.64s\" is not of the form NAME=VALUE", *environment);
	}
	return true;
}

static bool check_exec(const Lodger__Agent__Exec *message, size_t descriptors,
		       struct exec_order *exec, struct refusal *refusal)
{
	const size_t expected = message->terminal ? 0 : ORDER_DESCRIPTORS;

	if (message->n_argv == 0 || message->argv[0].len == 0)
		return refuse(refusal, CODE(REQUEST), "argv names no command");
	if (message->n_env > ORDER_ENVIRONMENT)
		return refuse(refusal, CODE(REQUEST), "env has %zu variables; %d are the most",
			      message->n_env, ORDER_ENVIRONMENT);
	if (message->rows > UINT16_MAX || message->columns > UINT16_MAX)
		return refuse(refusal, CODE(REQUEST), "rows and columns end at %u", UINT16_MAX);
	if (message->timeout_ms > ORDER_TIMEOUT_MAX)
		return refuse(refusal, CODE(REQUEST), "timeout_ms is over %llu (ten years)",
			      (unsigned long long)ORDER_TIMEOUT_MAX);
	if (descriptors != expected)
		return refuse(refusal, CODE(REQUEST), "%zu descriptors came with exec, not %zu",
			      descriptors, expected);

	exec->argv = take_strings(message->argv, message->n_argv, "argv", refusal);
	if (exec->argv == NULL)
		return false;
	exec->environment = take_strings(message->env, message->n_env, "env", refusal);
	if (exec->environment == NULL)
		return false;
	exec->directory = take_string(&message->directory, "directory", refusal);
	if (exec->directory == NULL)
		return false;

	exec->environment_count = message->n_env;
	exec->terminal = message->terminal;
	exec->rows = (uint16_t)message->rows;
	exec->columns = (uint16_t)message->columns;
	exec->timeout_ms = message->timeout_ms;
	return check_environment(exec->environment, refusal);
}

static bool check_signal(const Lodger__Agent__Signal *message, int *number, struct refusal *refusal)
{
	if (message->number < 1 || message->number >= NSIG)
		return refuse(refusal, CODE(REQUEST), "signal %u does not exist", message->number);
	*number = (int)message->number;
	return true;
}

static bool check_request(const Lodger__Agent__Request *message, size_t descriptors,
			  struct order *order, struct refusal *refusal)
{
	const ProtobufCMessage *operation;

	// Before all else: in another version the rest may mean something else.
	if (message->version != AGENT_PROTOCOL_VERSION)
		return refuse(refusal, CODE(VERSION),
			      "the client speaks version %u of the protocol, this session version "
			      "%u; use the client that the session was created with",
			      message->version, AGENT_PROTOCOL_VERSION);

	switch (message->operation_case) {
	case LODGER__AGENT__REQUEST__OPERATION_EXEC:
		order->kind = ORDER_EXEC;
		operation = &message->exec->base;
		break;
	case LODGER__AGENT__REQUEST__OPERATION_SIGNAL:
		order->kind = ORDER_SIGNAL;
		operation = &message->signal->base;
		break;
	case LODGER__AGENT__REQUEST__OPERATION_KEEP:
		order->kind = ORDER_KEEP;
		order->auto_off = message->keep->auto_off;
		operation = &message->keep->base;
		break;
	case LODGER__AGENT__REQUEST__OPERATION_STATUS:
		order->kind = ORDER_STATUS;
		operation = &message->status->base;
		break;
	default:
		return refuse(refusal, CODE(REQUEST), "the request names no operation");
	}

	if (message->base.n_unknown_fields > 0 || operation->n_unknown_fields > 0)
		return refuse(refusal, CODE(REQUEST), "the request has unknown fields");
	if (order->kind == ORDER_EXEC)
		return check_exec(message->exec, descriptors, &order->exec, refusal);
	if (descriptors > 0)
		return refuse(refusal, CODE(REQUEST), "descriptors came with a request for none");
	if (order->kind == ORDER_SIGNAL)
		return check_signal(message->signal, &order->signal, refusal);
	return true;
}

bool order_decode(const uint8_t *packet, size_t size, size_t descriptors, struct order *order,
		  struct refusal *refusal)
{
	budget.used = 0;
	budget.exhausted = false;
	*order = (struct order){ .kind = ORDER_STATUS };

	// Never freed: it lies in the budget.
	const Lodger__Agent__Request *message =
		lodger__agent__request__unpack(&budget_allocator, size, packet);
	if (message == NULL)
		return refuse(refusal, CODE(REQUEST), "the request %s",
			      budget.exhausted ? "has too many parts" : "is not valid protobuf");
	return check_request(message, descriptors, order, refusal);
}
