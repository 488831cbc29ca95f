// What clients may order: from the bytes of a packet to checked, NUL-terminated facts.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "agent.pb-c.h"

typedef Lodger__Agent__Code code;

#define CODE(name) LODGER__AGENT__CODE__CODE_##name

// Why something is refused, as the client will be told: a code and a printable sentence.
struct refusal {
	code code;
	char message[256];
};

// Fills `refusal` in. The message is cut where it does not fit. Always returns false, so that a
// check can `return refuse(…)`.
bool refuse(struct refusal *refusal, code code, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

#define ORDER_DESCRIPTORS 3    // what comes along with an Exec that wants no terminal
#define ORDER_ENVIRONMENT 4096 // most variables in one Exec
#define ORDER_TIMEOUT_MAX (UINT64_C(3650) * 24 * 3600 * 1000) // milliseconds
// Most memory that decoding may take. Ordinary packets of AGENT_PACKET_MAX need less; protobuf-c
// can be made to ask for 56 times a packet's size.
#define ORDER_BUDGET (2U * 1024U * 1024U)

enum order_kind {
	ORDER_EXEC,
	ORDER_SIGNAL,
	ORDER_KEEP,
	ORDER_STATUS,
};

struct exec_order {
	char **argv;	    // NULL-terminated, at least one word
	char **environment; // each NAME=VALUE
	size_t environment_count;
	const char *directory; // empty: the lodger's home
	bool terminal;
	uint16_t rows, columns;
	uint64_t timeout_ms; // 0: none
};

struct order {
	enum order_kind kind;
	struct exec_order exec; // ORDER_EXEC
	int signal;		// ORDER_SIGNAL
	bool auto_off;		// ORDER_KEEP
};

// Decodes and checks one packet, with which `descriptors` descriptors came. What `order` points
// to lives in static memory until the next call. Returns false with `refusal` filled in.
bool order_decode(const uint8_t *packet, size_t size, size_t descriptors, struct order *order,
		  struct refusal *refusal);

// Gives the memory of the last order_decode back to the kernel; its results are gone.
void order_forget(void);
