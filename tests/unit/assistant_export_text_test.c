// Texts of exports and the caller's names in them (client/assistant/export_text.h, export_names.h,
// export_identity.h).
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>
#undef fail // the client has a function of that name

#include "export_identity.h"
#include "export_names.h"
#include "export_text.h"

#define BAD "\xef\xbf\xbd"

static struct text make(const char *string)
{
	struct text text = { 0 };

	text_string(&text, string);
	return text;
}

static void becomes_utf8(void **state)
{
	static const struct {
		const char *from, *to;
		size_t bad;
	} rows[] = {
		{ "plain", "plain", 0 },
		{ "\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80", "\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80",
		  0 },
		{ "a\xff"
		  "b",
		  "a" BAD "b", 1 },
		{ "\xc3", BAD, 1 }, // cut off
		{ "\xe2\x82"
		  "x",
		  BAD BAD "x", 2 },			    // cut off, and something behind
		{ "\xc0\xaf", BAD BAD, 2 },		    // longer than needed
		{ "\xe0\x80\xaf", BAD BAD BAD, 3 },	    // the same
		{ "\xed\xa0\x80", BAD BAD BAD, 3 },	    // a surrogate
		{ "\xf4\x90\x80\x80", BAD BAD BAD BAD, 4 }, // beyond the last
		{ "\xf8\x88\x80\x80\x80", BAD BAD BAD BAD BAD, 5 },
		{ "", "", 0 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct text from = make(rows[i].from), to = { 0 };

		assert_int_equal(text_utf8(&to, &from), rows[i].bad);
		assert_string_equal(text_get(&to), rows[i].to);
		text_free(&from);
		text_free(&to);
	}
}

static void base64_goes_both_ways(void **state)
{
	static const struct {
		const char *bytes;
		size_t size;
		const char *base64;
	} rows[] = {
		{ "", 0, "" },	      { "f", 1, "Zg==" },	 { "fo", 2, "Zm8=" },
		{ "foo", 3, "Zm9v" }, { "foob", 4, "Zm9vYg==" }, { "\xff\0\xfe", 3, "/wD+" },
	};
	static const char *const wrong[] = {
		"Z",	    "Zg",     "Zg=",  "Zh==", "Zm9=", "====",
		"Zg==Zg==", "Zm9v\n", " Zm9", "Z=g=", "Zm-v", "Zm9v="
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct text bytes = { 0 }, base64 = { 0 }, back = { 0 };

		text_add(&bytes, rows[i].bytes, rows[i].size);
		text_base64(&base64, &bytes);
		assert_string_equal(text_get(&base64), rows[i].base64);
		assert_true(text_from_base64(&back, rows[i].base64));
		assert_true(text_equal(&back, rows[i].bytes, rows[i].size));
		text_free(&bytes);
		text_free(&base64);
		text_free(&back);
	}
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		struct text text = { 0 };

		assert_false(text_from_base64(&text, wrong[i]));
		text_free(&text);
	}
}

// Anna's names, on the machine where she works.
static void annas(struct names *names)
{
	*names = (struct names){ 0 };
	names_add_directories(names, "/home/anna", "/home/anna/src/secret");
	names_add_directories(names, "/home/anna", "/srv/projects/rocket");
	names_add_login(names, "anna");
	names_add_real(names, "Anna B. Schmidt-Lee,Room 5,+49");
	names_add_host(names, "tiger.lab.example");
	assert_false(names->lost);
}

static void names_are_replaced(void **state)
{
	static const struct {
		const char *from, *to;
	} rows[] = {
		{ "anna", "user" },
		{ "I am anna.", "I am user." },
		{ "annanas, joanna, anna_1, xanna, 2anna",
		  "annanas, joanna, anna_1, xanna, 2anna" },
		{ "Anna!", "Person!" },
		{ "ANNA", "ANNA" },
		{ "anna b. schmidt-lee did", "Person did" },
		{ "Schmidt-Lee, A.", "Person, A." },
		{ "/home/anna/x", "/home/user/x" },
		{ "/backup/home/anna/x", "/backup/home/user/x" },
		{ "/home/anna:/home/annabel", "/home/user:/home/annabel" },
		{ "/home/anna/src/secret/a.c", "/home/user/work/a.c" },
		{ "/home/anna/src/secrets", "/home/user/src/secrets" },
		{ "cd /srv/projects/rocket && ls", "cd /work && ls" },
		{ "/srv/projects/rockets", "/srv/projects/rockets" },
		{ "anna@tiger:~$ anna@Tiger.Lab.example", "user@host:~$ user@host" },
		{ "tigers", "tigers" },
		{ "-anna-anna-", "-user-user-" },
		{ "\xe6\x98\xaf"
		  "anna\xe3\x80\x82",
		  "\xe6\x98\xaf"
		  "user\xe3\x80\x82" },
		{ "", "" },
	};
	struct names names;

	(void)state;
	annas(&names);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct text text = make(rows[i].from);

		names_replace(&names, &text);
		assert_string_equal(text_get(&text), rows[i].to);
		// Once is enough.
		names_replace(&names, &text);
		assert_string_equal(text_get(&text), rows[i].to);
		text_free(&text);
	}
	names_free(&names);
}

static void what_is_nobodys_stays(void **state)
{
	struct names names = { 0 };
	struct text text = make("the square root of fifty, /root, / and /tmp, on localhost");

	(void)state;
	names_add_directories(&names, "/root", "/tmp");
	names_add_directories(&names, "/", "/");
	names_add_login(&names, "root");
	names_add_real(&names, "root");
	names_add_real(&names, "");
	names_add_host(&names, "localhost");
	assert_int_equal(names.count, 0);
	names_replace(&names, &text);
	assert_string_equal(text_get(&text),
			    "the square root of fifty, /root, / and /tmp, on localhost");
	text_free(&text);
	names_free(&names);
}

static void replaced_names_are_counted(void **state)
{
	struct names names;
	struct text text = make("anna Anna Schmidt-Lee tiger tiger.lab.example /home/anna"),
		    report = { 0 };

	(void)state;
	annas(&names);
	names_report(&names, &report);
	assert_string_equal(text_get(&report), "");
	names_replace(&names, &text);
	names_report(&names, &report);
	assert_string_equal(text_get(&report),
			    "home directory 1, login name 1, real name 2, host name 2");
	text_free(&text);
	text_free(&report);
	names_free(&names);
}

static void each_conversation_has_its_session_replaced(void **state)
{
	struct names names = { 0 };
	struct text report = { 0 };

	(void)state;
	for (int i = 0; i < 2; i++) {
		struct conversation conversation = { 0 };
		struct text command = make(i == 0 ? "ls /home/lodger-7 lodger-77"
						  : "ls /home/lodger-8 /home/lodger-7");

		text_string(&conversation.session, i == 0 ? "lodger-7" : "lodger-8");
		conversation_step(&conversation, &command);
		names_replace_all(&names, &conversation);
		assert_string_equal(text_get(&conversation.session), "lodger-1");
		assert_string_equal(text_get(&conversation.steps[0].command),
				    i == 0 ? "ls /home/lodger-1 lodger-77"
					   : "ls /home/lodger-1 /home/lodger-7");
		conversation_free(&conversation);
	}
	names_report(&names, &report);
	assert_string_equal(text_get(&report), "session 2");
	text_free(&report);
	names_free(&names);
}

static void identifiers_are_of_all_parts(void **state)
{
	struct identity one, other;
	char a[UUID_SIZE], b[UUID_SIZE], id[CALL_ID_SIZE];

	(void)state;
	identity_begin(&one, "x");
	identity_begin(&other, "x");
	identity_add(&one, "ab", 2);
	identity_add(&other, "a", 1);
	identity_uuid(&one, a);
	identity_add(&other, "b", 1);
	identity_uuid(&other, b);
	assert_string_not_equal(a, b);
	// Who says it is part of it.
	identity_begin(&one, "y");
	identity_add(&one, "a", 1);
	identity_add(&one, "b", 1);
	identity_uuid(&one, a);
	assert_string_not_equal(a, b);
	// Looking at it changes nothing.
	identity_uuid(&other, a);
	assert_string_equal(a, b);
	assert_int_equal(strlen(a), 36);
	assert_int_equal(a[14], '8');
	assert_non_null(strchr("89ab", a[19]));
	identity_call(&one, id);
	assert_int_equal(strlen(id), CALL_ID_SIZE - 1);
	assert_int_equal(strncmp(id, "call_", 5), 0);
	assert_int_equal(strspn(id + 5, "0123456789abcdef"), 24);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(becomes_utf8),
		cmocka_unit_test(base64_goes_both_ways),
		cmocka_unit_test(names_are_replaced),
		cmocka_unit_test(what_is_nobodys_stays),
		cmocka_unit_test(replaced_names_are_counted),
		cmocka_unit_test(each_conversation_has_its_session_replaced),
		cmocka_unit_test(identifiers_are_of_all_parts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
