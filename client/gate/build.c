// Requests to build (connection.h). Runs in workers.
//
// A build runs outside the session, and one of fixed content has the network that the session has
// not. So the daemon gets only requests for which it starts none, but for derivations of the
// channel's own. For all others it is first asked to have each output that is wanted, from a cache
// that it trusts if need be, which is all that EnsurePath does (Store::ensurePath of entry-points.cc);
// when it has them all, it gets the request as it came.
//
// That it then builds nothing has been read in Nix 2.8.0 and 2.26.3 (derivation-goal.cc):
// - A goal for a derivation ends in haveDerivation, as already valid, when checkPathValidity finds
//   that every output that is wanted is valid. Outputs that are not wanted do not count, whether
//   valid or not. `*` wants them all. A name that is no output's ends it with an error.
// - Neither the derivation's attributes, structured ones included, nor its inputs, nor
//   allowSubstitutes are looked at before that.
// - The mode of building must be the normal one: 1 (repair) and 2 (check) do build.
// - A path without outputs becomes a goal that fetches, of a derivation, too: it is never built.
// - EnsurePath does not keep from the garbage collector what is valid already. AddTempRoot does, for
//   as long as this connection to the daemon lasts, and so it comes first.
//
// What an output's path is, the daemon must be asked. For one of fixed content it computes the path
// from the hash and never looks at the path that stands in the file, not even when the derivation is
// added (parseDerivationOutput, checkDerivationOutputs): a derivation that names there any path that
// is valid would be fetched. The file is read all the same, for what it says must be the same.
#include <stdio.h>
#include <string.h>

#include "connection.h"
#include "derivation.h"

enum { PART_WANTED = 0, PART_MODE = 1 };

#define MODE_NORMAL 0U

static const char channel_only[] =
	"it is neither the channel's nor at a cache that the administrator trusts, and sessions "
	"build nothing else; use packages that the channel has";
static const char no_fetching[] =
	"it would be fetched from elsewhere, at a session's wish, and it is neither the channel's "
	"nor at a cache that the administrator trusts; have the administrator add it to the channel";

// One request while it is looked at.
struct build {
	struct connection *connection;
	const struct operation *operation;
	char said[1024]; // the daemon's error
};

enum verdict {
	VERDICT_FINE,
	VERDICT_REFUSED, // the client has been told
	VERDICT_OVER,	 // and the connection is over
};

static enum verdict refuse(struct build *build, struct view path, const char *why)
{
	const bool says = build->said[0] != '\0';

	return answer_refusal(build->connection, build->operation->name,
			      "building %.*s is refused: %s%s%s", (int)path.size, path.text, why,
			      says ? ". The package daemon says: " : "", build->said)
		       ? VERDICT_REFUSED
		       : VERDICT_OVER;
}

static enum verdict trouble(struct build *build)
{
	answer_trouble(build->connection);
	return VERDICT_OVER;
}

// Asks the daemon something about a path, by the number of the operation. Returns VERDICT_REFUSED,
// with its error in `said` and without having told the client, when it fails.
static enum verdict ask(struct build *build, uint64_t number, struct view path)
{
	struct connection *connection = build->connection;
	struct wire *daemon = &connection->daemon;

	if (!wire_write_number(daemon, number) ||
	    !wire_write_string(daemon, path.text, path.size) || !wire_flush(daemon))
		return trouble(build);
	switch (relay_sayings(connection, false, build->said, sizeof(build->said))) {
	case RELAY_DONE:
		build->said[0] = '\0';
		return VERDICT_FINE;
	case RELAY_ERROR:
		return VERDICT_REFUSED;
	default:
		return trouble(build);
	}
}

static enum verdict ask_number(struct build *build, uint64_t number, struct view path)
{
	const enum verdict verdict = ask(build, number, path);
	uint64_t result;

	if (verdict == VERDICT_FINE && !wire_read_number(&build->connection->daemon, &result))
		return trouble(build);
	return verdict;
}

// Has the daemon get the path, and keep it.
static enum verdict ensure(struct build *build, struct view path)
{
	enum verdict verdict = VERDICT_REFUSED;

	if (++build->connection->roots <= CONNECTION_ROOTS)
		verdict = ask_number(build, OPERATION_ADD_TEMP_ROOT, path);
	else
		snprintf(build->said, sizeof(build->said), "too many paths for one connection");
	if (verdict == VERDICT_FINE)
		verdict = ask_number(build, OPERATION_ENSURE_PATH, path);
	return verdict;
}

// Asks the daemon what the derivation's outputs are, and whether that is what its file says.
static enum verdict outputs_agree(struct build *build, struct view path,
				  const struct derivation *derivation)
{
	struct wire *daemon = &build->connection->daemon;
	char name[PATHS_OUTPUT_MAX], output[PATHS_MAX];
	size_t name_size, output_size, agreed = 0;
	uint64_t count;
	enum verdict verdict = ask(build, OPERATION_QUERY_DERIVATION_OUTPUT_MAP, path);

	if (verdict == VERDICT_REFUSED)
		return refuse(build, path, "its outputs are not known");
	if (verdict != VERDICT_FINE)
		return verdict;
	if (!wire_read_number(daemon, &count))
		return trouble(build);
	if (count > DERIVATION_OUTPUTS) {
		wire_fail(daemon, "has sent a list that is too long");
		return trouble(build);
	}
	for (uint64_t i = 0; i < count; i++) {
		if (!wire_read_string(daemon, name, sizeof(name), &name_size) ||
		    !wire_read_string(daemon, output, sizeof(output), &output_size))
			return trouble(build);
		const struct output *said =
			derivation_output(derivation, (struct view){ name, name_size });
		agreed += said != NULL &&
			  view_equal(said->path, (struct view){ output, output_size });
	}
	if (agreed == count && count == derivation->count)
		return VERDICT_FINE;
	return refuse(build, path, "its file says other things of its outputs than are true");
}

static enum verdict output_check(struct build *build, struct view path, const struct output *output)
{
	const enum verdict verdict = ensure(build, output->path);

	if (verdict == VERDICT_REFUSED)
		return refuse(build, path, output->fixed ? no_fetching : channel_only);
	return verdict;
}

static enum verdict outputs_check(struct build *build, const struct wanted *wanted,
				  const struct derivation *derivation)
{
	enum verdict verdict = VERDICT_FINE;
	struct view list = wanted->outputs, name;

	if (view_is(wanted->outputs, "*")) {
		for (size_t i = 0; verdict == VERDICT_FINE && i < derivation->count; i++)
			verdict = output_check(build, wanted->path, &derivation->outputs[i]);
		return verdict;
	}
	while (verdict == VERDICT_FINE && paths_next_output(&list, &name)) {
		const struct output *output = derivation_output(derivation, name);

		verdict = output != NULL ? output_check(build, wanted->path, output)
					 : refuse(build, wanted->path,
						  "it has no output of the name that is wanted");
	}
	return verdict;
}

static enum verdict wanted_check(struct build *build, const struct wanted *wanted)
{
	struct connection *connection = build->connection;
	struct derivation derivation;
	enum verdict verdict;

	if (wanted->outputs.text != NULL && closure_has(&connection->closure, wanted->path))
		return VERDICT_FINE;
	// Of a derivation, the file: when the daemon has it as valid, it is whole.
	verdict = ensure(build, wanted->path);
	if (verdict == VERDICT_REFUSED)
		return refuse(build, wanted->path,
			      "it is neither in the store nor at a cache that the administrator "
			      "trusts");
	if (verdict != VERDICT_FINE || wanted->outputs.text == NULL)
		return verdict;

	const char *problem = derivation_read(connection->store, wanted->path, &derivation);
	if (problem != NULL)
		return refuse(build, wanted->path, problem);
	verdict = outputs_agree(build, wanted->path, &derivation);
	return verdict == VERDICT_FINE ? outputs_check(build, wanted, &derivation) : verdict;
}

bool build_serve(struct connection *connection, const struct operation *operation)
{
	struct build build = { connection, operation, "" };
	struct request *request = &connection->request;
	struct cursor mode = request_part(request, PART_MODE);
	struct cursor list = request_part(request, PART_WANTED);
	enum verdict verdict = VERDICT_FINE;

	if (request->problem != NULL)
		return answer_refusal(connection, operation->name, "building is refused: %s: '%s'",
				      request->problem, request->quoted);
	if (cursor_number(&mode) != MODE_NORMAL)
		return answer_refusal(connection, operation->name,
				      "building again, to check or to repair, is refused: "
				      "sessions build nothing");
	for (uint64_t count = cursor_number(&list); verdict == VERDICT_FINE && count > 0; count--) {
		const struct view text = cursor_string(&list);
		struct wanted wanted;

		verdict = paths_wanted(text, &wanted)
				  ? wanted_check(&build, &wanted)
				  : refuse(&build, text, "it is not understood");
	}
	if (verdict != VERDICT_FINE)
		return verdict == VERDICT_REFUSED;

	if (!request_write(request, operation, &connection->daemon) ||
	    relay_reply(connection, operation->reply) == RELAY_LOST)
		return answer_trouble(connection);
	return true;
}
