// Keys that a caller holds. "keys hold DESCRIPTION COMMAND…" makes a session keyring with a key of
// that description in it, possessed by all that it then executes; "keys list" prints all keys that
// this process can see.
#include <linux/keyctl.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

int main(int argc, char *argv[])
{
	char line[512];

	if (argc > 3 && strcmp(argv[1], "hold") == 0) {
		if (syscall(SYS_keyctl, KEYCTL_JOIN_SESSION_KEYRING, NULL) < 0 ||
		    syscall(SYS_add_key, "user", argv[2], "secret", 6UL, KEY_SPEC_SESSION_KEYRING) <
			    0 ||
		    syscall(SYS_add_key, "user", argv[2], "secret", 6UL, KEY_SPEC_USER_KEYRING) <
			    0) {
			perror("keys");
			return 1;
		}
		execvp(argv[3], argv + 3);
		return 127;
	}
	FILE *keys = fopen("/proc/keys", "re");
	while (keys && fgets(line, sizeof(line), keys))
		fputs(line, stdout);
	return 0;
}
