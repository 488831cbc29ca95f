# Lodger. `make help` lists the targets.

PREFIX ?= /usr/local
DESTDIR ?=
CC ?= gcc
VERSION := 0.1.0

BINDIR := $(PREFIX)/bin
SBINDIR := $(PREFIX)/sbin
LIBEXECDIR := $(PREFIX)/libexec/lodger
SHAREDIR := $(PREFIX)/share/lodger
MANDIR := $(PREFIX)/share/man
SYSCONFDIR := /etc/lodger
UNITDIR := /etc/systemd/system
SYSUSERSDIR := /etc/sysusers.d
TMPFILESDIR := /etc/tmpfiles.d
PROFILEDIR := /etc/profile.d
UNITS := lodger-collect.timer lodger-collect.service lodger-gate.socket lodger-gate.service \
	lodger-nix-daemon.service lodger-proxy.service lodger.service
COMPLETIONDIR := $(PREFIX)/share/bash-completion/completions

B := build
CFLAGS ?= -O2 -g
WARN := -Wall -Wextra -Werror -Wstrict-prototypes -Wmissing-prototypes -Wvla
HARDEN = -D_FORTIFY_SOURCE=2 -fstack-protector-strong -fstack-clash-protection -fcf-protection \
	-fno-common $(AUTO_INIT)
# clang 14 has it behind another flag that says it may go away.
AUTO_INIT := $(shell $(CC) -Werror -ftrivial-auto-var-init=zero -x c -c -o /dev/null /dev/null \
	2>/dev/null && echo -ftrivial-auto-var-init=zero)
CPPFLAGS_ALL := -D_GNU_SOURCE -Iproto -I$(B)/proto \
	-DLODGER_LIBEXEC='"$(LIBEXECDIR)"' -DLODGER_VERSION='"$(VERSION)"'
CFLAGS_ALL := -std=gnu17 $(WARN) $(HARDEN) -fPIE $(CFLAGS)
LDFLAGS_ALL := -Wl,-z,relro,-z,now,-z,noexecstack,-z,separate-code $(LDFLAGS)
# What runs as root, as a session's init or on what sessions send is one file that maps nothing else.
STATIC := -static-pie
STATIC_LIBS := -lseccomp -lcap -lprotobuf-c -lbsd -lmd
# Every library that a program loads costs its start a third of a millisecond.
CLIENT_LIBS := -Wl,-Bstatic -ljansson -lprotobuf-c -lbsd -lmd -Wl,-Bdynamic

PROTO_SRC := proto/frame.c proto/session.c
HELPER_SRC := $(wildcard helper/*.c)
AGENT_SRC := $(wildcard client/agent/*.c)
TALK_SRC := $(wildcard client/talk/*.c)
# The one part of client/lib that the client does not have.
PRIVILEGE_SRC := client/lib/privilege.c
# The gate, and the few parts of the client's library that it shares.
GATE_SRC := $(wildcard client/gate/*.c) $(addprefix client/lib/,failure.c printable.c quantity.c) $(PRIVILEGE_SRC)
# The host's end of the proxy.
RELAY_SRC := $(wildcard client/proxy/*.c) $(PRIVILEGE_SRC)
CLIENT_SRC := $(filter-out $(PRIVILEGE_SRC),$(wildcard client/lib/*.c client/cli/*.c))
# What the program without libarchive, SQLite or libcurl has instead of what needs it.
GET_SRC := client/lib/transfer_get.c client/cli/get.c
GET_STAND_IN := client/cli/get_execute.c
PACKAGES_SRC := $(addprefix client/cli/,on_demand.c package_print.c packages.c program_index.c \
	providers.c which.c)
PACKAGES_STAND_IN := client/cli/packages_execute.c
ASSISTANT_SRC := $(wildcard client/assistant/*.c)
ASSISTANT_STAND_IN := client/cli/assistant_execute.c
STAND_INS := $(GET_STAND_IN) $(PACKAGES_STAND_IN) $(ASSISTANT_STAND_IN)
PB := helper agent

obj = $(patsubst %.c,$(B)/%.o,$(1))
PROTO_OBJ := $(call obj,$(PROTO_SRC))
HELPER_OBJ := $(call obj,$(HELPER_SRC) proto/request.c proto/policy.c) $(PROTO_OBJ) $(B)/proto/helper.pb-c.o
AGENT_OBJ := $(call obj,$(AGENT_SRC) proto/pump.c) $(PROTO_OBJ) $(B)/proto/agent.pb-c.o
TALK_OBJ := $(call obj,$(TALK_SRC) proto/session.c proto/frame.c)
GATE_OBJ := $(call obj,$(GATE_SRC)) $(PROTO_OBJ)
RELAY_OBJ := $(call obj,$(RELAY_SRC) proto/frame.c proto/pump.c)
CLIENT_COMMON := $(PROTO_OBJ) $(call obj,proto/policy.c) $(PB:%=$(B)/proto/%.pb-c.o)
client = $(call obj,$(filter-out $(1),$(CLIENT_SRC))) $(CLIENT_COMMON)
CLIENT_OBJ := $(call client,$(GET_SRC) $(PACKAGES_SRC))
GET_OBJ := $(call client,$(GET_STAND_IN) $(PACKAGES_SRC))
PACKAGES_OBJ := $(call client,$(GET_SRC) $(PACKAGES_STAND_IN))
ASSISTANT_OBJ := $(call obj,$(ASSISTANT_SRC)) $(call client,$(GET_SRC) $(PACKAGES_SRC) $(ASSISTANT_STAND_IN))
PB_HEADERS := $(PB:%=$(B)/proto/%.pb-c.h)

PROGRAMS := $(B)/lodger-helper $(B)/lodger-agent $(B)/lodger-gate $(B)/lodger-relay $(B)/lodger \
	$(B)/lodger-get $(B)/lodger-packages $(B)/lodger-assistant $(B)/lodger-talk

.PHONY: all
all: $(PROGRAMS)  ## build everything (the default)

$(B)/lodger-helper: $(HELPER_OBJ)
	$(CC) $(STATIC) $(LDFLAGS_ALL) -o $@ $^ $(STATIC_LIBS)

$(B)/lodger-agent: $(AGENT_OBJ)
	$(CC) $(STATIC) $(LDFLAGS_ALL) -o $@ $^ $(STATIC_LIBS)

$(B)/lodger-gate: $(GATE_OBJ)
	$(CC) $(STATIC) $(LDFLAGS_ALL) -o $@ $^ $(STATIC_LIBS)

$(B)/lodger-relay: $(RELAY_OBJ)
	$(CC) $(STATIC) $(LDFLAGS_ALL) -o $@ $^ $(STATIC_LIBS)

$(B)/lodger-talk: $(TALK_OBJ)
	$(CC) $(STATIC) $(LDFLAGS_ALL) -o $@ $^ -lbsd -lmd

$(B)/lodger: $(CLIENT_OBJ)
	$(CC) -pie $(LDFLAGS_ALL) -o $@ $^ $(CLIENT_LIBS)

$(B)/lodger-get: $(GET_OBJ)
	$(CC) -pie $(LDFLAGS_ALL) -o $@ $^ -larchive $(CLIENT_LIBS)

$(B)/lodger-packages: $(PACKAGES_OBJ)
	$(CC) -pie $(LDFLAGS_ALL) -o $@ $^ -lsqlite3 $(CLIENT_LIBS)

$(B)/lodger-assistant: $(ASSISTANT_OBJ)
	$(CC) -pie $(LDFLAGS_ALL) -o $@ $^ -lcurl $(CLIENT_LIBS)

$(B)/proto/%.pb-c.c $(B)/proto/%.pb-c.h: proto/%.proto
	@mkdir -p $(@D)
	protoc-c --proto_path=proto --c_out=$(B)/proto $<
.PRECIOUS: $(B)/proto/%.pb-c.c $(B)/proto/%.pb-c.h

# Generated code is not held to our warnings.
$(B)/proto/%.pb-c.o: $(B)/proto/%.pb-c.c
	$(CC) $(CPPFLAGS_ALL) -std=gnu17 $(HARDEN) -fPIE $(CFLAGS) -c -o $@ $<

$(B)/%.o: %.c $(PB_HEADERS) Makefile
	@mkdir -p $(@D)
	$(CC) $(CPPFLAGS_ALL) -I$(dir $<) $(if $(filter client/cli/% client/gate/% client/proxy/% client/talk/%,$<),-Iclient/lib) \
		$(if $(filter client/assistant/%,$<),-Iclient/lib -Iclient/cli) $(CFLAGS_ALL) \
		-MMD -MP -c -o $@ $<

-include $(shell find $(B) -name '*.d' 2>/dev/null)

include tests/tests.mk

# The group must exist: the helper is for its members alone.
.PHONY: install
install: all  ## install below $(DESTDIR)$(PREFIX) (as root; the group lodger must exist)
	install -d $(DESTDIR)$(BINDIR) $(DESTDIR)$(SBINDIR) $(DESTDIR)$(LIBEXECDIR) \
		$(DESTDIR)$(SHAREDIR)/channel $(DESTDIR)$(SYSCONFDIR)/nix $(DESTDIR)$(COMPLETIONDIR)
	install -m 755 $(B)/lodger $(DESTDIR)$(BINDIR)/lodger
	install -o root -g lodger -m 4750 $(B)/lodger-helper $(DESTDIR)$(LIBEXECDIR)/lodger-helper
	install -o root -g root -m 711 $(B)/lodger-agent $(DESTDIR)$(LIBEXECDIR)/lodger-agent
	install -m 755 $(B)/lodger-gate $(B)/lodger-relay $(B)/lodger-get $(B)/lodger-packages \
		$(B)/lodger-assistant $(B)/lodger-talk $(DESTDIR)$(LIBEXECDIR)
	install -m 644 share/lodger.conf.sample $(DESTDIR)$(SHAREDIR)/lodger.conf.sample
	share/install-files "$(DESTDIR)" "$(PREFIX)" "$(SYSCONFDIR)" "$(UNITDIR)" \
		"$(SYSUSERSDIR)" "$(TMPFILESDIR)" "$(PROFILEDIR)"

.PHONY: uninstall
uninstall:  ## end all sessions, remove what install put there; policy, users, channel and store stay
	[ -n "$(DESTDIR)" ] || [ ! -d /run/systemd/system ] || systemctl disable --now $(UNITS) || :
	rm -f $(UNITS:%=$(DESTDIR)$(UNITDIR)/%) $(DESTDIR)$(SYSUSERSDIR)/lodger.conf \
		$(DESTDIR)$(TMPFILESDIR)/lodger.conf $(DESTDIR)$(PROFILEDIR)/lodger.sh
	[ -n "$(DESTDIR)" ] || [ ! -d /run/systemd/system ] || systemctl daemon-reload
	rm -f $(DESTDIR)$(BINDIR)/lodger $(DESTDIR)$(SBINDIR)/lodger-channel $(DESTDIR)$(SBINDIR)/lodger-proxy \
		$(DESTDIR)$(COMPLETIONDIR)/lodger $(DESTDIR)$(MANDIR)/man1/lodger.1 \
		$(patsubst %,$(DESTDIR)$(MANDIR)/man1/lodger-%.1,assistant fill export) \
		$(DESTDIR)$(MANDIR)/man5/lodger.conf.5 $(DESTDIR)$(MANDIR)/man8/lodger-channel.8 \
		$(DESTDIR)$(MANDIR)/man8/lodger-gate.8 $(DESTDIR)$(MANDIR)/man8/lodger-helper.8 \
		$(DESTDIR)$(MANDIR)/man8/lodger-proxy.8
	rm -rf $(DESTDIR)$(LIBEXECDIR) $(DESTDIR)$(SHAREDIR)
	apparmor/install --remove "$(DESTDIR)"

.PHONY: demo
demo:  ## as root on a fresh Debian: install everything and run the main job as a demo user
	share/demo

.PHONY: bench
bench:  ## print medians, beside bubblewrap and beside nix-shell outside of sessions
	tests/bench/run
	tests/bench/packages

count = $(shell cat $(1) | $(CC) -fpreprocessed -dD -E -P - 2>/dev/null | grep -cv '^[[:space:]]*$$')

.PHONY: lines
lines:  ## lines of code that run as root (no blank lines, no comments, nothing generated)
	@echo "$(call count,helper/*.c helper/*.h) in helper/," \
		"$(call count,proto/frame.c proto/policy.c proto/session.c) of proto/ that root runs too"

.PHONY: compdb
compdb: clean  ## write compile_commands.json (needs bear)
	bear -- $(MAKE) all

.PHONY: clean
clean:  ## remove what was built
	rm -rf $(B) compile_commands.json

.PHONY: help
help:  ## list the targets
	@awk -F':.*## ' '/^[a-z-]+:.*## /{printf "%-12s %s\n", $$1, $$2}' $(MAKEFILE_LIST)
