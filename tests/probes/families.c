// Opens sockets of every family, or of those given, of every type and of many protocols, and prints
// "FAMILY TYPE PROTOCOL" for each that there is. Control: as root on the host there are more.
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

static void open_all(int family)
{
	static const int protocols[] = { 0,  1,	 2,  4,	  6,   9,   12,	 15, 16,
					 17, 33, 58, 132, 136, 255, 256, 262 };

	for (int type = 1; type <= 10; type++)
		for (size_t i = 0; i < sizeof(protocols) / sizeof(protocols[0]); i++) {
			int fd = socket(family, type | SOCK_CLOEXEC, protocols[i]);

			if (fd < 0)
				continue;
			printf("%d %d %d\n", family, type, protocols[i]);
			close(fd);
		}
}

int main(int argc, char *argv[])
{
	for (int i = 1; i < argc; i++)
		open_all(atoi(argv[i]));
	for (int family = 0; argc == 1 && family < 64; family++)
		open_all(family);
	return 0;
}
