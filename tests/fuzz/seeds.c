// Writes the seeds of the fuzz corpora: `seeds DIRECTORY` makes DIRECTORY/TARGET/seed-NAME. Each is a
// good input, or a bad one of its own kind, in the form that its target takes.
#include <err.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "agent.pb-c.h"
#include "helper.pb-c.h"
#include "policy.h"
#include "protocol.h"
#include "session.h"
#include "tar_header.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

struct bytes {
	uint8_t data[4 * TAR_HEADER_MAX];
	size_t size;
};

static const char *target;

static void put(struct bytes *bytes, const void *data, size_t size)
{
	if (size > sizeof(bytes->data) - bytes->size)
		errx(1, "a seed of %s is too long", target);
	memcpy(bytes->data + bytes->size, data, size);
	bytes->size += size;
}

static void put_number(struct bytes *bytes, uint64_t number, size_t size)
{
	for (size_t i = 0; i < size; i++, number >>= 8)
		put(bytes, &(uint8_t){ (uint8_t)number }, 1);
}

static void begin(const char *name)
{
	target = name;
	if (mkdir(name, 0777) < 0 && access(name, W_OK) < 0)
		err(1, "making the directory %s", name);
}

static void write_seed(const char *name, const struct bytes *bytes)
{
	char path[128];

	snprintf(path, sizeof(path), "%s/seed-%s", target, name);
	FILE *file = fopen(path, "w");
	if (!file || fwrite(bytes->data, 1, bytes->size, file) != bytes->size || fclose(file) != 0)
		err(1, "writing %s", path);
}

static void write_text(const char *name, const char *text, size_t size)
{
	struct bytes bytes = { .size = 0 };

	put(&bytes, text, size);
	write_seed(name, &bytes);
}

#define TEXT(name, text) write_text(name, text, sizeof(text) - 1)

// One request to the helper in three forms: as it is, as a frame, and as the parser child's input.
static void helper_request(const char *name, const Lodger__Helper__Request *request)
{
	struct bytes payload = { .size = 0 }, frame = { .size = 0 }, input = { .size = 0 };

	payload.size = lodger__helper__request__pack(request, payload.data);
	begin("request");
	write_seed(name, &payload);

	// To be read, into room for the longest, in steps of 1, 2 and an interruption.
	put(&frame, "\x00\xfc\x0f\x03\x01\x02\x00", 7);
	put_number(&frame, payload.size, 4);
	put(&frame, payload.data, payload.size);
	begin("frame");
	write_seed(name, &frame);

	put_number(&input, 0, 1);
	put_number(&input, payload.size, 4);
	put(&input, payload.data, payload.size);
	begin("parser");
	write_seed(name, &input);
}

static void helper_requests(void)
{
	Lodger__Helper__Limits limits = LODGER__HELPER__LIMITS__INIT;
	Lodger__Helper__Create create = LODGER__HELPER__CREATE__INIT;
	Lodger__Helper__Destroy destroy = LODGER__HELPER__DESTROY__INIT;
	Lodger__Helper__Collect collect = LODGER__HELPER__COLLECT__INIT;
	Lodger__Helper__Request request = LODGER__HELPER__REQUEST__INIT;

	request.version = HELPER_PROTOCOL_VERSION;
	helper_request("none", &request);
	request.operation_case = LODGER__HELPER__REQUEST__OPERATION_CREATE;
	request.create = &create;
	helper_request("create", &request);
	create.limits = &limits;
	create.network = LODGER__HELPER__NETWORK__NETWORK_HOST;
	limits.memory = UINT64_MAX;
	limits.pids = 1;
	limits.cpu = 100;
	limits.disk = 1 << 20;
	limits.inodes = 1000;
	limits.ttl = 3600;
	helper_request("limits", &request);
	create.network = 2;
	helper_request("network", &request);
	request.operation_case = LODGER__HELPER__REQUEST__OPERATION_DESTROY;
	request.destroy = &destroy;
	destroy.session = SESSION_NUMBER_MAX;
	helper_request("destroy", &request);
	destroy.session++;
	helper_request("destroy-none", &request);
	request.operation_case = LODGER__HELPER__REQUEST__OPERATION_COLLECT;
	request.collect = &collect;
	helper_request("collect", &request);
	request.version++;
	helper_request("version", &request);

	begin("request");
	TEXT("unknown", "\x08\x01\x22\x00\xf8\x07\x01");
	TEXT("unknown-inside", "\x08\x01\x22\x02\x08\x01");
	begin("frame");
	TEXT("write", "\x01\xf0\x0f\x04\x01\x00\xff\x02payload");
	TEXT("write-long", "\x01\xfd\x0f\x00x");
	TEXT("long", "\x00\x04\x00\x00\x05\x00\x00\x00hello");
	begin("parser");
	TEXT("held", "\xff\x04\x00\x00\x00\x08\x01");
	TEXT("held-whole", "\xff\x04\x00\x00\x00\x08\x01\x22\x00");
	TEXT("long", "\x00\xff\xff\xff\xff");
	TEXT("short", "\x00\x04\x00");
	TEXT("more", "\x00\x04\x00\x00\x00\x08\x01\x22\x00\x00");
}

static void sessions(void)
{
	const struct record record = { .magic = RECORD_MAGIC,
				       .number = 7,
				       .uid = SESSION_UID_BASE + 7,
				       .owner = 1000,
				       .limits = { 1 << 20, 10, 100, 1 << 20, 1000, 60 } };
	struct bytes bytes = { .size = 0 };

	begin("session");
	TEXT("name", "\0lodger-65535");
	TEXT("name-large", "\0lodger-65536");
	TEXT("name-zero", "\0lodger-01");
	put_number(&bytes, 1, 1);
	put_number(&bytes, 7, 2);
	put(&bytes, &record, sizeof(record));
	write_seed("record", &bytes);
	bytes.size--;
	write_seed("record-short", &bytes);
}

static void policies(void)
{
	struct bytes bytes = { .size = 0 };

	begin("policy");
	for (int i = 0; i < POLICY_PATHS_MAX; i++)
		put(&bytes, "expose /a\n", 10);
	write_seed("paths", &bytes);
	put(&bytes, "device /b\n", 10);
	write_seed("paths-many", &bytes);
	TEXT("lines", "# a policy\ncgroup system.slice/lodger.service\ndefault memory 1G\n"
		      "default pids 128\nmaximum memory 4g\nmaximum cpu 400\nmaximum sessions 256\n"
		      "maximum sessions-per-caller 16\nexpose /usr\nexpose\t/etc # both\n"
		      "device /dev/fuse\noptional swap\noptional cpu\nallow network-host\n");
	TEXT("groups", "group 27 maximum disk 1T\ngroup 28 allow network-host\n"
		       "group 1000 default ttl 60\ngroup 28 maximum inodes 5K\n");
	TEXT("path", "expose /usr/../etc\n");
	TEXT("number", "default memory 1E\n");
	TEXT("cgroup", "cgroup /lodger");
	TEXT("words", "maximum disk 1 M\n");
}

static ProtobufCBinaryData bytes_of(const char *text)
{
	return (ProtobufCBinaryData){ .len = strlen(text), .data = (uint8_t *)text };
}

static void agent_request(const char *name, uint8_t descriptors, uint8_t repeat,
			  const Lodger__Agent__Request *request)
{
	struct bytes bytes = { .data = { descriptors, 0xff, repeat }, .size = 3 };

	bytes.size += lodger__agent__request__pack(request, bytes.data + 3);
	write_seed(name, &bytes);
}

static void agent_requests(void)
{
	ProtobufCBinaryData argv[] = { bytes_of("sh"), bytes_of("-c"), bytes_of("true") };
	ProtobufCBinaryData env[] = { bytes_of("TERM=xterm"), bytes_of("A=") };
	Lodger__Agent__Exec exec = LODGER__AGENT__EXEC__INIT;
	Lodger__Agent__Signal number = LODGER__AGENT__SIGNAL__INIT;
	Lodger__Agent__Keep keep = LODGER__AGENT__KEEP__INIT;
	Lodger__Agent__Status status = LODGER__AGENT__STATUS__INIT;
	Lodger__Agent__Request request = LODGER__AGENT__REQUEST__INIT;

	begin("agent_packet");
	request.version = AGENT_PROTOCOL_VERSION;
	agent_request("none", 0, 0, &request);
	request.operation_case = LODGER__AGENT__REQUEST__OPERATION_EXEC;
	request.exec = &exec;
	exec.argv = argv;
	exec.n_argv = COUNT(argv);
	agent_request("exec", 3, 0, &request);
	agent_request("exec-four", 4, 0, &request);
	exec.env = env;
	exec.n_env = COUNT(env);
	exec.directory = bytes_of("/tmp");
	exec.timeout_ms = 1000;
	agent_request("exec-all", 3, 0, &request);
	exec.terminal = true;
	exec.rows = 24;
	exec.columns = 80;
	agent_request("exec-terminal", 0, 0, &request);
	request.operation_case = LODGER__AGENT__REQUEST__OPERATION_SIGNAL;
	request.signal = &number;
	number.number = 9;
	agent_request("signal", 0, 0, &request);
	request.operation_case = LODGER__AGENT__REQUEST__OPERATION_KEEP;
	request.keep = &keep;
	agent_request("keep", 0, 0, &request);
	request.operation_case = LODGER__AGENT__REQUEST__OPERATION_STATUS;
	request.status = &status;
	agent_request("status", 0, 0, &request);
	agent_request("status-again", 0, 0xfd, &request);
	request.version++;
	agent_request("version", 0, 0, &request);
	TEXT("lost", "\x03\x01\x00\x08\x01\x22\x00");
	TEXT("long", "\x00\xff\xff\x08\x01");
	TEXT("bomb", "\x00\xff\xfe\xf8\x07\x01");
}

// Replies as `call` reads them: the reply twice.
static void agent_reply(const char *name, uint8_t call, uint8_t descriptors,
			const Lodger__Agent__Reply *reply)
{
	struct bytes packed = { .size = 0 }, bytes = { .data = { call }, .size = 1 };

	packed.size = lodger__agent__reply__pack(reply, packed.data);
	for (int i = 0; i < 2; i++) {
		put_number(&bytes, packed.size, 2);
		put_number(&bytes, descriptors, 1);
		put(&bytes, packed.data, packed.size);
	}
	write_seed(name, &bytes);
}

static void agent_replies(void)
{
	Lodger__Agent__Started started = LODGER__AGENT__STARTED__INIT;
	Lodger__Agent__Exited exited = LODGER__AGENT__EXITED__INIT;
	Lodger__Agent__Error error = LODGER__AGENT__ERROR__INIT;
	Lodger__Agent__Done done = LODGER__AGENT__DONE__INIT;
	Lodger__Agent__State state = LODGER__AGENT__STATE__INIT;
	Lodger__Agent__Reply reply = LODGER__AGENT__REPLY__INIT;

	begin("cli_reply");
	reply.version = AGENT_PROTOCOL_VERSION;
	agent_reply("none", 0, 0, &reply);
	reply.result_case = LODGER__AGENT__REPLY__RESULT_STARTED;
	reply.started = &started;
	started.pid = 2;
	agent_reply("started", 0, 0, &reply);
	agent_reply("started-terminal", 0, 1, &reply);
	agent_reply("started-many", 0, 5, &reply);
	reply.result_case = LODGER__AGENT__REPLY__RESULT_EXITED;
	reply.exited = &exited;
	exited.status = 255;
	agent_reply("exited", 0, 0, &reply);
	exited.signal = 9;
	agent_reply("killed", 0, 1, &reply);
	exited.timed_out = true;
	agent_reply("late", 0, 0, &reply);
	exited.signal = 65;
	agent_reply("exited-wrong", 0, 0, &reply);
	reply.result_case = LODGER__AGENT__REPLY__RESULT_ERROR;
	reply.error = &error;
	error.code = LODGER__AGENT__CODE__CODE_NOT_FOUND;
	error.message = (char[]){ "no \033[2J such\xff\n command" };
	agent_reply("error", 0, 2, &reply);
	reply.result_case = LODGER__AGENT__REPLY__RESULT_DONE;
	reply.done = &done;
	agent_reply("done", 1, 0, &reply);
	reply.result_case = LODGER__AGENT__REPLY__RESULT_STATE;
	reply.state = &state;
	state.jobs = 3;
	state.tied = true;
	state.remaining_ms = 1000;
	agent_reply("state", 2, 0, &reply);
	reply.version++;
	agent_reply("version", 0, 0, &reply);
	TEXT("empty", "\x00\x00\x00\x01");
}

static void names(void)
{
	begin("cli_names");
	TEXT("packages", "jq\0python3Packages.sympy\0a'b-c.d\0a..b\0.a\0a.\0");
	TEXT("variables", "A=b\0_1=\0=b\0001A=b\0");
	TEXT("sessions", "lodger-1\0lodger-0\0xterm-256color\0");
	TEXT("quotes", "it's\0''\0\0\\\0 a\nb\0$(x) `y` \"z\"\0\xff");
}

// What archive_make of cli_get_fuzz.c reads: type, mode, path, link or data.
#define ENTRY(type, path, text) type "\xa4\x01" path "\n" text "\n"

static void archive(const char *name, uint8_t before)
{
	const struct stat directory = { .st_mode = S_IFDIR | 0755 },
			  file = { .st_mode = S_IFREG | 0644, .st_size = 5 },
			  link = { .st_mode = S_IFLNK | 0777 };
	struct bytes bytes = { .data = { 0x80 | before }, .size = 1 };

	bytes.size += tar_header(bytes.data + bytes.size, "top/", &directory, NULL);
	bytes.size += tar_header(bytes.data + bytes.size, "top/f", &file, NULL);
	put(&bytes, "hello", 5);
	bytes.size += tar_padding(5);
	bytes.size += tar_header(bytes.data + bytes.size, "top/a", &link, "f");
	write_seed(name, &bytes);
}

static void archives(void)
{
	begin("cli_get");
	TEXT("tree",
	     "\0" ENTRY("5", "top", "") ENTRY("0", "./top/f", "hello") ENTRY("5", "top/d/", "")
		     ENTRY("2", "top/d/l", "../f") ENTRY("0", "top/e/g/h", "more"));
	TEXT("names", "\1" ENTRY("0", "../out/x", "1") ENTRY("0", "/out", "2")
			      ENTRY("0", "top/../../out/x", "3") ENTRY("0", "other", "4")
				      ENTRY("0", "top", "5") ENTRY("0", "top/.", "6"));
	TEXT("links", "\0" ENTRY("2", "top/a", "../../out") ENTRY("0", "top/a/x", "1")
			      ENTRY("2", "top/b", "d/../..") ENTRY("2", "top/d/c", "../../x")
				      ENTRY("2", "top/d/s", ".././f") ENTRY("2", "top/g", "/out"));
	TEXT("types",
	     "\1" ENTRY("1", "top/h", "top/f") ENTRY("3", "top/c", "") ENTRY("4", "top/b", "")
		     ENTRY("6", "top/p", "") ENTRY("7", "top/k", "x") ENTRY("S", "top/s", "x"));
	TEXT("onto-link",
	     "\2" ENTRY("5", "top", "") ENTRY("0", "top/x/new", "1") ENTRY("0", "top", "file"));
	TEXT("into-links", "\3" ENTRY("0", "top/a/new", "1") ENTRY("5", "top/b", "")
				   ENTRY("0", "top/f", "2") ENTRY("2", "top/a", "b"));
	TEXT("pax", "\1" ENTRY("x", "top/x", "20 path=top/../../x") ENTRY("0", "top/f", "1")
			    ENTRY("g", "top/x", "17 linkpath=/out"));
	archive("archive", 0);
	archive("archive-onto", 3);
}

#define DERIVATION_PATH(c) "/nix/store/" c "123456789abcdfghijklmnpqrsvwxyz-x"
#define DERIVATION                                                                              \
	"Derive([(\"dev\",\"" DERIVATION_PATH("0") "\",\"\",\"\"),(\"out\",\"" DERIVATION_PATH( \
		"1") "\",\"\",\"\")],["

static void derivations(void)
{
	begin("gate_derivation");
	TEXT("two", DERIVATION "],[],\"x\",\"/bin/sh\",[],[])");
	TEXT("fixed", "Derive([(\"out\",\"" DERIVATION_PATH("0") "\",\"r:sha256\",\"00\")],[");
	TEXT("floating", "Derive([(\"out\",\"\",\"r:sha256\",\"\")],[");
	TEXT("escape", "Derive([(\"o\\ut\",\"" DERIVATION_PATH("0") "\",\"\",\"\")],[");
	TEXT("twice",
	     "Derive([(\"out\",\"" DERIVATION_PATH("0") "\",\"\",\"\"),(\"out\",\"" DERIVATION_PATH(
		     "1") "\",\"\",\"\")],[");
	TEXT("no-comma",
	     "Derive([(\"a\",\"" DERIVATION_PATH("0") "\",\"\",\"\")(\"b\",\"" DERIVATION_PATH(
		     "1") "\",\"\",\"\")],[");
}

// Flags, which paths the daemon has, a derivation's file, and in brief what the client sends: gate_worker_fuzz.c
// has the code.
static void gate_seed(const char *name, uint8_t flags, uint8_t salt, const char *sent, size_t size)
{
	struct bytes bytes = { .size = 0 };
	const size_t room = (sizeof(DERIVATION) - 1 + 3) / 4;

	put_number(&bytes, flags, 1);
	put_number(&bytes, salt, 1);
	put_number(&bytes, room, 1);
	put(&bytes, DERIVATION, sizeof(DERIVATION) - 1);
	put(&bytes, "    ", room * 4 - (sizeof(DERIVATION) - 1));
	put(&bytes, sent, size);
	write_seed(name, &bytes);
}

#define GATE(name, flags, salt, sent) gate_seed(name, flags, salt, sent, sizeof(sent) - 1)
#define SETTINGS "\x13\0\0\0\3\0\0\0\0\0\0\0\0\1\x4e\x4f"

static void gate_requests(void)
{
	begin("gate_worker");
	GATE("settings", 0, 0, SETTINGS "\1\x40");
	GATE("queries", 0, 0,
	     "\1\x40\x1f\2\x40\x41\1\x1a\x40\x28\2\x42\x40\x1e\1\x40\x4d\x20\1\x40\x1d\x4c\x29\x41");
	GATE("roots", 0, 0, "\xb\x40\xa\x40\xc\x49\xd");
	GATE("add", 0, 0,
	     "\x7\x49\x4a\1\x40\0\x8\xc8"
	     "contents\0\1\x40");
	GATE("add-large", 0, 0, "\x7\x49\x4b\0\0\xe0\0\x10\0\0\0\0\0\0\xe1\0\1\x40");
	GATE("add-repair", 0, 0, "\x7\x49\x4a\0\1\0\1\x40");
	GATE("add-name", 0, 0, "\x7\x51\x4a\0\0\1\xc1x\0\1\x40");
	for (uint8_t salt = 0; salt < 8; salt++) {
		char name[16];

		snprintf(name, sizeof(name), "build-%u", salt);
		GATE(name, 0, salt, "\x9\1\x42\0\x2e\1\x43\0\x9\2\x44\x45\0");
	}
	GATE("build-lies", 1, 1, "\x9\1\x42\0\x9\1\x43\0");
	GATE("build-channel", 0, 0, "\x9\1\x47\0\x2e\2\x47\x40\0\x9\1\x48\0");
	GATE("build-odd", 0, 0, "\x9\1\x50\0\x9\1\x42\2\x9\0\0");
	GATE("refused", 0, 0,
	     "\x14\0\0\0\0\0\0\0\x22\x26\x40\x2c\0\0\4\xc4xxxx\0\x2f\x40\x49\1\x40");
	GATE("unknown", 0, 0, "\x3e\1\x40");
	GATE("lengths", 0, 0, "\x1f\xff");
	GATE("nonsense", 0x22, 0, "\1\x40\x74\x73\x6c\x61");
	GATE("no-greeting", 4, 0, "\1\2\3");
}

#define RECORDING                                                                                   \
	"E{\"event\":\"start\",\"time\":1.5,\"version\":1,\"lodger\":\"0.1.0\",\"session\":"        \
	"\"lodger-7\",\"assistant\":\"exec\",\"model\":\"m\",\"limits\":{\"memory\":1},\"prompt\":" \
	"\"p\",\"columns\":80,\"rows\":24}\n"
#define EVENT(event, fields) "{\"event\":\"" event "\",\"time\":2," fields "}\n"
#define EVENT_END(id, end, rest) \
	EVENT("end", "\"id\":" id ",\"end\":\"" end "\",\"seconds\":0.5," rest)

static void exports(void)
{
	begin("assistant_export");
	TEXT("recording",
	     RECORDING EVENT("command", "\"id\":1,\"text\":\"assistant_listen\"")
		     EVENT("say", "\"role\":\"user\",\"text\":\"hi\"")
			     EVENT("output", "\"id\":1,\"text\":\"hi\\n\"")
				     EVENT_END("1", "done", "\"status\":0,\"dropped\":0") EVENT(
					     "command", "\"id\":2,\"text\":\"assistant_tell 'a'\"")
					     EVENT("tell", "\"text\":\"a\"")
						     EVENT_END("2", "done",
							       "\"status\":0,"
							       "\"dropped\":0")
							     EVENT("finish", "\"reason\":"
									     "\"person\""));
	TEXT("bytes",
	     RECORDING EVENT("command", "\"id\":1,\"base64\":\"/w==\"")
		     EVENT("output", "\"id\":1,\"base64\":\"gAA=\"")
			     EVENT_END("1", "flood", "\"status\":-1,\"dropped\":9")
				     EVENT("command", "\"id\":5,\"text\":\"x=$(assistant_listen)\"")
					     EVENT("say", "\"role\":\"user\",\"base64\":\"/w==\"")
						     EVENT("tell", "\"base64\":\"/w==\""));
	TEXT("chat",
	     "C{\"messages\":[{\"role\":\"system\",\"content\":\"p\"},{\"role\":\"user\","
	     "\"content\":\"a\\nb\"},{\"role\":\"assistant\",\"content\":\"c\",\"tool_calls\":[{"
	     "\"id\":\"1\",\"type\":\"function\",\"function\":{\"name\":\"shell\",\"arguments\":"
	     "\"{\\\"command\\\":\\\"ls\\\"}\"}}]},{\"role\":\"tool\",\"tool_call_id\":\"1\","
	     "\"content\":\"r\"}],\"metadata\":{\"lodger\":\"0\",\"finish\":\"turns\",\"calls\":[{"
	     "\"id\":\"1\",\"end\":\"gone\",\"status\":3,\"dropped\":4,\"talk\":[{\"role\":\"user\","
	     "\"text\":\"x\"},{\"role\":\"assistant\",\"base64\":\"/w==\"}]}],\"binary\":[{\"message\":"
	     "3,\"of\":\"content\",\"base64\":\"gA==\"}]}}\n");
}

#define MARK "\033]7717;00000000000000000000000000000000;"

static void assistant_sessions(void)
{
	begin("assistant_session");
	TEXT("mark", "\0\2out\r\n" MARK "0\7next" MARK "130\7");
	TEXT("no-mark", "\0\5" MARK "1234\7" MARK "\7\033]7717;1;0\7");
	TEXT("colours", "\0\3\033[1;31mred\033[0m\033[?1049h\033]0;t\7");
	TEXT("characters", "\0\6caf\xc3\xa9 \xe2\x82\xac \xff\xc2\x9b\xed\xa0\x80");
	TEXT("ascii", "\0\7caf\xc3\xa9\r\r\n\177");
	TEXT("listen", "\1\2\0\1\5\0\1\2\1\2\4\0\2\2\0\3\5\0\3");
	TEXT("tell", "\1\6\20\1\6\377\2\6\377\3");
	TEXT("bytes", "\1\360\14l\0\0\0\1\0\0\0\0\0\0\0\360\4l\0\0\0");
	TEXT("too-long", "\1\345\377\1");
}

int main(int argc, char *argv[])
{
	if (argc != 2 || (mkdir(argv[1], 0777) < 0 && access(argv[1], W_OK) < 0) ||
	    chdir(argv[1]) < 0)
		errx(1, "name a directory to write the seeds to");
	helper_requests();
	sessions();
	policies();
	agent_requests();
	agent_replies();
	names();
	archives();
	derivations();
	gate_requests();
	assistant_sessions();
	exports();
	return 0;
}
