// lodger export (command.h): recordings and chats into training data, and back. Runs as the caller;
// reads what it is named, and trusts nothing of it.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "command.h"
#include "export_chat.h"
#include "export_events.h"
#include "export_lines.h"
#include "export_names.h"
#include "export_script.h"
#include "export_source.h"
#include "export_tree.h"
#include "printable.h"

#define EXIT_INVALID 1

enum format {
	FORMAT_CHAT,
	FORMAT_TREE,
	FORMAT_SCRIPT,
	FORMATS,
};

static const char *const formats[FORMATS] = { "chat", "tree", "script" };
static const char *const sources[] = { "recording", "chat" };

struct export
{
	enum format format;
	bool from_chat, check, keep_names;
	const char *language;
	const struct text *system; // NULL: the conversations' own
	struct names names;
	struct forest forest;
	size_t scripts; // written already
};

// Finds `word`, or the first of `words` when it is NULL. Returns -1 with `failure`.
static int choice(const char *option, const char *word, const char *const words[], size_t count,
		  struct failure *failure)
{
	struct text all = { 0 };

	for (size_t i = 0; i < count; i++) {
		if (!word || strcmp(word, words[i]) == 0) {
			text_free(&all);
			return (int)i;
		}
		text_printf(&all, "%s%s", i > 0 ? ", " : "", words[i]);
	}
	fail(failure, "--%s: '%s' is none of %s", option, word, text_get(&all));
	text_free(&all);
	return -1;
}

// Whether `tag` has the form of a language tag (BCP 47): parts of one to eight letters and digits
// between hyphens, the first of letters alone.
static bool language_valid(const char *tag)
{
	static const char characters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
					 "0123456789";
	const size_t letters = 2 * 26, first = strcspn(tag, "-");

	if (strlen(tag) > 64 || strcspn(tag, characters + letters) < first)
		return false;
	for (;;) {
		const size_t length = strspn(tag, characters);

		if (length == 0 || length > 8)
			return false;
		tag += length;
		if (*tag == '\0')
			return true;
		if (*tag++ != '-')
			return false;
	}
}

static bool export_prepare(struct export *export, const struct options *options,
			   struct failure *failure)
{
	const int format = choice("format", options->format, formats, FORMATS, failure);
	const int from = format < 0 ? -1 : choice("from", options->from, sources, 2, failure);

	if (from < 0)
		return false;
	export->format = (enum format)format;
	export->from_chat = from == 1;
	export->check = options->check;
	export->keep_names = options->keep_names;
	export->language = options->language ? options->language : "und";
	if (options->system && format != FORMAT_CHAT)
		return fail(failure, "--system: only --format chat has what the system says");
	if (options->language && format != FORMAT_TREE)
		return fail(failure, "--lang: only --format tree has languages");
	if (!language_valid(export->language))
		return fail(failure, "--lang: '%s' is no language tag, as en or pt-BR",
			    export->language);
	if (!export->keep_names)
		names_find(&export->names);
	return true;
}

// Says what a conversation holds, for --check.
static void summary_print(const struct conversation *conversation)
{
	size_t heard = 0, told = 0;
	char name[1024];

	for (size_t i = 0; i < conversation->count; i++)
		for (size_t j = 0; j < conversation->steps[i].talk_count; j++)
			*(conversation->steps[i].talk[j].told ? &told : &heard) += 1;
	printf("%s: good: %zu commands, %zu lines of the person, %zu texts told\n",
	       printable(name, sizeof(name), conversation->name), conversation->count, heard, told);
}

static bool script_add(struct export *export, const struct conversation *conversation,
		       struct failure *failure)
{
	if (export->scripts++ > 0)
		return fail(failure,
			    "%s: a script is of one conversation, and there was one before; export "
			    "them one by one",
			    conversation->name);
	return export->check || script_write(stdout, conversation, failure);
}

static bool chat_add(struct export *export, const struct conversation *conversation,
		     struct marks *marks, struct failure *failure)
{
	json_t *chat = chat_make(conversation, export->system, marks);

	if (!chat)
		return fail(failure, "%s: out of memory", conversation->name);
	if (!export->check)
		return line_write(stdout, chat, failure);
	json_decref(chat);
	return true;
}

static bool conversation_export(struct export *export, struct conversation *conversation,
				struct failure *failure)
{
	struct marks marks = { 0 };
	bool good;

	if (!export->from_chat && !conversation->finished) {
		if (export->check)
			return fail(failure, "%s: there is no finish: the recording was cut off",
				    conversation->name);
		notice("%s: there is no finish: the recording was cut off", conversation->name);
	}
	if (!export->keep_names)
		names_replace_all(&export->names, conversation);
	if (export->names.lost || !conversation_whole(conversation))
		return fail(failure, "%s: out of memory", conversation->name);
	switch (export->format) {
	case FORMAT_TREE:
		good = forest_add(&export->forest, conversation, export->language, &marks, failure);
		break;
	case FORMAT_SCRIPT:
		good = script_add(export, conversation, failure);
		break;
	default:
		good = chat_add(export, conversation, &marks, failure);
	}
	if (!good)
		return false;
	marks_notice(&marks, conversation->name);
	if (export->check)
		summary_print(conversation);
	return true;
}

// Exports all that is in one argument.
static bool source_export(struct export *export, const char *path, struct failure *failure)
{
	struct source source;
	bool good = source_open(&source, path, export->from_chat, failure);
	int more = 1;

	while (good && more > 0) {
		struct conversation conversation = { 0 };

		more = source_next(&source, &conversation, failure);
		if (more > 0)
			good = conversation_export(export, &conversation, failure);
		conversation_free(&conversation);
	}
	source_close(&source);
	return good && more == 0;
}

static bool trees_write(const struct export *export, struct failure *failure)
{
	json_t *tree;
	size_t i;

	json_array_foreach(export->forest.trees, i,
			   tree) if (!export->check &&
				     !line_write(stdout, json_incref(tree), failure)) return false;
	return true;
}

static void names_print(const struct export *export)
{
	struct text text = { 0 };

	names_report(&export->names, &text);
	if (text.size > 0)
		notice("%s: %s; --keep-names keeps them",
		       export->check ? "an export would replace" : "replaced", text_get(&text));
	text_free(&text);
}

// Whatever cannot be exported is left out and said.
static int export_all(struct export *export, const struct options *options, struct failure *failure)
{
	int result = 0;

	for (int i = 0; i < options->argument_count; i++) {
		struct failure about = { 0 };

		if (source_export(export, options->arguments[i], &about))
			continue;
		failure_print(&about);
		result = EXIT_INVALID;
	}
	if (!trees_write(export, failure))
		return FAILED;
	names_print(export);
	return result;
}

int export_run(const struct options *options, struct failure *failure)
{
	struct export export = { 0 };
	struct text system = { 0 };
	int result = FAILED;

	if (export_prepare(&export, options, failure) &&
	    (!options->system || source_text(options->system, &system, failure))) {
		names_replace(&export.names, &system);
		export.system = options->system ? &system : NULL;
		result = export_all(&export, options, failure);
	}
	text_free(&system);
	names_free(&export.names);
	forest_free(&export.forest);
	return result;
}
