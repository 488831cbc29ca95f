# Fuzz targets: everything that they link to, built by clang for libFuzzer and the sanitizers.

FUZZ_CC ?= clang
FUZZ_SECONDS ?= 300
F := $(B)/fuzz
FUZZ_SANITIZE := -fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer
FUZZ_CFLAGS = -std=gnu17 $(WARN) -g -O1 -fsanitize=fuzzer-no-link $(FUZZ_SANITIZE)
FUZZ_LINK = $(FUZZ_CC) -fsanitize=fuzzer $(FUZZ_SANITIZE)
FUZZ_TARGETS := $(patsubst tests/fuzz/%.c,$(B)/tests/fuzz/%,$(wildcard tests/fuzz/*_fuzz.c))
PARSER_CHILD := $(B)/tests/fuzz/parser_child
fuzz = $(patsubst %.c,$(F)/%.o,$(1))
FUZZ_COMMON := $(call fuzz,$(wildcard proto/*.c)) $(PB:%=$(F)/pb/%.pb-c.o)
FUZZ_AGENT := $(call fuzz,client/agent/order.c client/agent/packet.c)
# Without what needs a socket, a process or a filter.
FUZZ_GATE := $(call fuzz,$(filter-out $(addprefix client/gate/,filter.c listen.c main.c socket.c worker.c) $(PRIVILEGE_SRC),$(GATE_SRC)))
FUZZ_CLIENT := $(call fuzz,$(filter-out $(PRIVILEGE_SRC),$(wildcard client/lib/*.c)))
# All of the assistant, and of the client what it calls.
FUZZ_ASSISTANT := $(call fuzz,$(SAN_CLIENT))

$(F)/pb/%.pb-c.o: $(B)/proto/%.pb-c.c
	@mkdir -p $(@D)
	$(FUZZ_CC) $(CPPFLAGS_ALL) -std=gnu17 -g -O1 -fsanitize=fuzzer-no-link $(FUZZ_SANITIZE) -c -o $@ $<

$(F)/%.o: %.c $(PB_HEADERS) Makefile tests/fuzz/fuzz.mk
	@mkdir -p $(@D)
	$(FUZZ_CC) $(CPPFLAGS_ALL) -I$(dir $<) -Iclient/lib -Iclient/agent -Iclient/cli -Iclient/assistant $(FUZZ_CFLAGS) -MMD -MP -c -o $@ $<

# Its files have names that others' have, too.
$(F)/tests/fuzz/gate_%.o: tests/fuzz/gate_%.c Makefile tests/fuzz/fuzz.mk
	@mkdir -p $(@D)
	$(FUZZ_CC) $(CPPFLAGS_ALL) -Iclient/gate -Iclient/lib $(FUZZ_CFLAGS) -MMD -MP -c -o $@ $<

$(filter $(B)/tests/fuzz/gate_%,$(FUZZ_TARGETS)): $(B)/tests/fuzz/gate_%_fuzz: \
		$(F)/tests/fuzz/gate_%_fuzz.o $(FUZZ_GATE) $(FUZZ_COMMON)
	@mkdir -p $(@D)
	$(FUZZ_LINK) $(FUZZ_WRAP) -o $@ $^ -lprotobuf-c -lbsd
$(B)/tests/fuzz/gate_derivation_fuzz: $(call fuzz,client/gate/socket.c)
$(B)/tests/fuzz/gate_worker_fuzz: FUZZ_WRAP := -Wl,--wrap=derivation_read

$(B)/tests/fuzz/agent_%_fuzz: $(F)/tests/fuzz/agent_%_fuzz.o $(FUZZ_AGENT) $(FUZZ_COMMON)
	@mkdir -p $(@D)
	$(FUZZ_LINK) -o $@ $^ -lprotobuf-c -lbsd
$(B)/tests/fuzz/cli_%_fuzz: $(F)/tests/fuzz/cli_%_fuzz.o $(FUZZ_CLIENT) $(FUZZ_COMMON)
	@mkdir -p $(@D)
	$(FUZZ_LINK) -o $@ $^ -larchive $(CLIENT_LIBS)
$(B)/tests/fuzz/assistant_%_fuzz: $(F)/tests/fuzz/assistant_%_fuzz.o $(FUZZ_ASSISTANT) $(FUZZ_COMMON)
	@mkdir -p $(@D)
	$(FUZZ_LINK) -o $@ $^ -larchive -lsqlite3 -lcurl $(CLIENT_LIBS)
$(B)/tests/fuzz/%_fuzz: $(F)/tests/fuzz/%_fuzz.o $(FUZZ_COMMON)
	@mkdir -p $(@D)
	$(FUZZ_LINK) $(FUZZ_WRAP) -o $@ $(filter %.o,$^) -lprotobuf-c -lbsd
$(B)/tests/fuzz/frame_fuzz: FUZZ_WRAP := -Wl,--wrap=read,--wrap=write
$(B)/tests/fuzz/parser_fuzz: $(PARSER_CHILD)

# The objects of the helper that is installed, and what stands between them and the rest of it.
PARSER_OBJ := $(call obj,helper/parse.c helper/privilege.c proto/request.c) $(PROTO_OBJ) \
	$(B)/proto/helper.pb-c.o
$(B)/tests/fuzz/parser_child.o: CPPFLAGS_ALL += -Ihelper
$(PARSER_CHILD): $(B)/tests/fuzz/parser_child.o $(PARSER_OBJ)
	$(CC) $(STATIC) $(LDFLAGS_ALL) -o $@ $^ $(STATIC_LIBS) \
		-Wl,--wrap=identity_become,--wrap=capability_use,--wrap=fork,--wrap=poll,--wrap=frame_read_full

# Writes what the corpora begin with.
$(B)/tests/fuzz/seeds: $(B)/tests/fuzz/seeds.o $(call obj,client/lib/tar_header.c) $(PROTO_OBJ) \
		$(PB:%=$(B)/proto/%.pb-c.o)
	$(CC) $(LDFLAGS_ALL) -o $@ $^ -lprotobuf-c
$(B)/tests/fuzz/seeds.o: CPPFLAGS_ALL += -Iclient/lib

.PHONY: fuzz-targets fuzz check-fuzz fuzz-seeds
fuzz-targets: $(FUZZ_TARGETS)  ## build the fuzz targets
fuzz: $(FUZZ_TARGETS)  ## fuzz for FUZZ_SECONDS (300) a target, or T=TARGET alone
	nice -n 10 tests/fuzz/run long $(FUZZ_SECONDS) $(T)
check-fuzz: $(FUZZ_TARGETS)  ## run each fuzz target a fixed number of times; needs no root
	@tests/fuzz/run check $(T)
fuzz-seeds: $(B)/tests/fuzz/seeds  ## write the fuzz corpora's seeds anew
	$< tests/fuzz/corpus
