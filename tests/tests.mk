# The tests' part of the Makefile: unit tests (with sanitizers), probes, and who runs them.

# Everything that a unit test can link to runs without privilege: built once more, with the address
# and undefined-behaviour sanitizers.
S := $(B)/sanitized
SANITIZE := -fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer
SAN_CFLAGS = -std=gnu17 $(WARN) -g -O1 $(SANITIZE)
SAN_AGENT := $(filter-out client/agent/main.c,$(AGENT_SRC))
SAN_CLIENT := $(filter-out client/cli/main.c $(STAND_INS),$(CLIENT_SRC)) $(ASSISTANT_SRC)
SAN_RELAY := $(filter-out client/proxy/main.c,$(RELAY_SRC))
SAN_GATE := $(filter-out client/gate/main.c,$(GATE_SRC))
san = $(patsubst %.c,$(S)/%.o,$(1))
SAN_COMMON := $(call san,$(wildcard proto/*.c)) $(PB:%=$(S)/pb/%.pb-c.o)

UNIT_TESTS := $(patsubst tests/unit/%_test.c,$(B)/tests/unit/%_test,$(wildcard tests/unit/*_test.c))
PROBES := $(patsubst tests/probes/%.c,$(B)/probes/%,$(wildcard tests/probes/*.c))

$(S)/pb/%.pb-c.o: $(B)/proto/%.pb-c.c
	@mkdir -p $(@D)
	$(CC) $(CPPFLAGS_ALL) -std=gnu17 -g -O1 $(SANITIZE) -c -o $@ $<

$(S)/%.o: %.c $(PB_HEADERS) Makefile tests/tests.mk
	@mkdir -p $(@D)
	$(CC) $(CPPFLAGS_ALL) -I$(dir $<) -Iclient/lib -Iclient/agent -Iclient/cli -Iclient/assistant $(SAN_CFLAGS) \
		-MMD -MP -c -o $@ $<

# The gate, too, has files of names that others have.
$(S)/tests/unit/gate_%.o: tests/unit/gate_%.c Makefile tests/tests.mk
	@mkdir -p $(@D)
	$(CC) $(CPPFLAGS_ALL) -Iclient/gate -Iclient/lib $(SAN_CFLAGS) -MMD -MP -c -o $@ $<

$(S)/tests/unit/proxy_%.o: tests/unit/proxy_%.c Makefile tests/tests.mk
	@mkdir -p $(@D)
	$(CC) $(CPPFLAGS_ALL) -Iclient/proxy $(SAN_CFLAGS) -MMD -MP -c -o $@ $<

# The agent and the client have files of the same names: a test is of the one or of the other.
$(B)/tests/unit/agent_%_test: $(S)/tests/unit/agent_%_test.o $(call san,$(SAN_AGENT)) $(SAN_COMMON)
	@mkdir -p $(@D)
	$(CC) $(SANITIZE) -o $@ $^ -lcmocka -lseccomp -lcap -lprotobuf-c -lbsd
$(filter $(B)/tests/unit/gate_%,$(UNIT_TESTS)): $(B)/tests/unit/gate_%_test: \
		$(S)/tests/unit/gate_%_test.o $(call san,$(SAN_GATE)) $(SAN_COMMON)
	@mkdir -p $(@D)
	$(CC) $(SANITIZE) -o $@ $^ -lcmocka -lseccomp -lcap -lprotobuf-c -lbsd
$(filter $(B)/tests/unit/proxy_%,$(UNIT_TESTS)): $(B)/tests/unit/proxy_%_test: \
		$(S)/tests/unit/proxy_%_test.o $(call san,$(SAN_RELAY)) $(SAN_COMMON)
	@mkdir -p $(@D)
	$(CC) $(SANITIZE) -o $@ $^ -lcmocka -lcap -lprotobuf-c -lbsd
$(B)/tests/unit/cli_%_test: $(S)/tests/unit/cli_%_test.o $(call san,$(SAN_CLIENT)) $(SAN_COMMON)
	@mkdir -p $(@D)
	$(CC) $(SANITIZE) -o $@ $^ -lcmocka -larchive -lsqlite3 -lcurl $(CLIENT_LIBS)
$(B)/tests/unit/assistant_%_test: $(S)/tests/unit/assistant_%_test.o $(call san,$(SAN_CLIENT)) $(SAN_COMMON)
	@mkdir -p $(@D)
	$(CC) $(SANITIZE) -o $@ $^ -lcmocka -larchive -lsqlite3 -lcurl $(CLIENT_LIBS)
$(B)/tests/unit/%_test: $(S)/tests/unit/%_test.o $(SAN_COMMON)
	@mkdir -p $(@D)
	$(CC) $(SANITIZE) -o $@ $^ -lcmocka -lprotobuf-c -lbsd

# The client as the tests of commands and of the assistant run it a second time.
$(S)/lodger: $(call san,$(filter-out $(STAND_INS),$(CLIENT_SRC)) $(ASSISTANT_SRC) tests/lib/sanitizer.c) $(SAN_COMMON)
	$(CC) $(SANITIZE) -o $@ $^ -larchive -lsqlite3 -lcurl $(CLIENT_LIBS)

# The agent as some session tests run it a second time.
$(S)/lodger-agent: $(call san,$(AGENT_SRC) tests/lib/sanitizer.c) $(SAN_COMMON)
	$(CC) $(SANITIZE) -o $@ $^ -lseccomp -lcap -lprotobuf-c -lbsd

# Static, since they run inside sessions too.
$(B)/probes/%: tests/probes/%.c $(wildcard tests/probes/*.h) Makefile tests/tests.mk
	@mkdir -p $(@D)
	$(CC) -std=gnu17 -D_GNU_SOURCE -Iproto $(WARN) -O1 -static -o $@ $<

$(B)/tests/fault: tests/fault/fault.c $(wildcard tests/probes/*.h) Makefile tests/tests.mk
	@mkdir -p $(@D)
	$(CC) -std=gnu17 -D_GNU_SOURCE -Iproto $(WARN) -O1 -o $@ $<

$(B)/tests/tracer: tests/trace/tracer.c Makefile tests/tests.mk
	@mkdir -p $(@D)
	$(CC) -std=gnu17 -D_GNU_SOURCE $(WARN) -O1 -o $@ $< -lseccomp -lcap

$(B)/tests/soak_agents: tests/soak/agents.c Makefile tests/tests.mk
	@mkdir -p $(@D)
	$(CC) -std=gnu17 -D_GNU_SOURCE -Iproto $(WARN) -O1 -o $@ $<

.PHONY: unit probes
unit: $(UNIT_TESTS)  ## build the unit tests
probes: $(PROBES)  ## build the programs that attack from inside and outside

include tests/fuzz/fuzz.mk

.PHONY: check
check:  ## as root: install everything and run all fast tests (T=NAME: only those)
	share/install-packages build run guest test
	share/setup
	$(MAKE) -s -j"$$(nproc)" unit probes fuzz-targets $(S)/lodger $(S)/lodger-agent $(B)/tests/fault $(B)/tests/tracer \
		$(B)/tests/soak_agents
	tests/run $(if $(BESIDE),--beside "$(BESIDE)") $(T)

.PHONY: check-starter
check-starter:  ## as root: build all that the starter channel can have, and run it in sessions (minutes, 500 MB)
	share/install-packages build run guest
	share/setup
	tests/run --only channel/starter

.PHONY: check-fault
check-fault: $(B)/tests/fault  ## as root: the installed helper fails at every system call, in every way
	tests/fault/run all

.PHONY: soak
soak: $(B)/tests/soak_agents  ## as root: SOAK_MINUTES (10) of random work on the installed Lodger, then a search for leaks
	SOAK_MINUTES=$(or $(SOAK_MINUTES),10) tests/soak/run

.PHONY: check-defences
check-defences: all $(PROBES)  ## as root: each defence taken out in turn, and the test that notices (T=NAME…)
	tests/attack/defences $(T)

.PHONY: check-unit
check-unit: $(UNIT_TESTS)  ## run the unit tests alone; needs no root
	@for test in $(UNIT_TESTS); do $$test || exit 1; done

.PHONY: vm-check vm-check-fast vm-check-half vm-starter
vm-check:  ## as root: everything on whole machines, Debian 12 and 13, emulated (hours)
	tests/vm/check $(T)
vm-check-fast:  ## as root: on whole machines, the tests that depend on the machine
	tests/vm/check --fast $(T)
vm-check-half:  ## as root: of these, what is about systemd and AppArmor, and the rest on one of the two
	tests/vm/check --half $(T)
vm-starter:  ## as root: the starter channel of Debian 12 and 13, built natively in the machines' images
	tests/vm/starter $(T)
