// client/proxy/relay.c: the key, and the line that shows it to squid.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
// cmocka.h needs those above.
#include <cmocka.h>

#include <string.h>

#include "relay.h"

static void keys(void **state)
{
	static const char *const bad[] = {
		"",
		"\n",
		"1.2.3.4",
		"1.2.3.4 ",
		" 1.2.3.4 5",
		"1.2.3.4 0",
		"1.2.3.4 65536",
		"1.2.3.4 -5",
		"1.2.3.4 +5",
		"1.2.3.4  5",
		"1.2.3.4 5 6",
		"1.2.3.4 55555555555",
		"1.2.3 5",
		"1.2.3.256 5",
		"::1 5",
		"1.2.3.4 5\r\nPROXY",
		"1111111111111111111111111111111111111111 5",
	};
	struct relay_key key;

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		assert_false(relay_key_parse(bad[i], &key));
	assert_true(relay_key_parse("223.255.255.255 65535\n", &key));
	assert_int_equal(key.port, 65535);
	assert_true(relay_key_parse("1.2.3.4 1", &key));
	assert_int_equal(key.address.s_addr, htonl(0x01020304));
}

static void lines(void **state)
{
	char line[RELAY_LINE];
	struct relay_key key;

	(void)state;
	assert_true(relay_key_parse("223.255.255.255 65535\n", &key));
	const int length = relay_line(line, &key, 65535);
	assert_int_equal(length, strlen(line));
	assert_string_equal(line, "PROXY TCP4 127.0.0.1 223.255.255.255 65535 65535\r\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(keys),
		cmocka_unit_test(lines),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
