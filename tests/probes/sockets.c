// Connects to, or listens on, a socket of the kinds that cross borders between processes:
// "connect|listen path|abstract|tcp|tcp6 ADDRESS". connect prints "connected", or the errno;
// listen prints "listening", then "accepted" for the first connection, and ends.
#include <arpa/inet.h>
#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

static socklen_t address_local(struct sockaddr_un *address, const char *text, int abstract)
{
	address->sun_family = AF_UNIX;
	memcpy(address->sun_path + abstract, text, strlen(text));
	return (socklen_t)(offsetof(struct sockaddr_un, sun_path) + strlen(text) + 1);
}

static socklen_t address_internet(struct sockaddr_storage *address, const char *port, int six)
{
	struct sockaddr_in6 *in6 = (void *)address;
	struct sockaddr_in *in = (void *)address;

	address->ss_family = six ? AF_INET6 : AF_INET;
	if (six) {
		in6->sin6_addr = in6addr_loopback;
		in6->sin6_port = htons((uint16_t)atoi(port));
		return sizeof(*in6);
	}
	in->sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	in->sin_port = htons((uint16_t)atoi(port));
	return sizeof(*in);
}

static int outcome(const char *what, int result)
{
	printf("%s\n", result < 0 ? strerrorname_np(errno) : what);
	fflush(stdout);
	return result < 0;
}

int main(int argc, char *argv[])
{
	struct sockaddr_storage address = { 0 };
	socklen_t size;

	if (argc != 4 || strlen(argv[3]) > 100) {
		fprintf(stderr,
			"usage: sockets connect|listen path|abstract|tcp|tcp6 ADDRESS|PORT\n");
		return 2;
	}
	if (argv[2][0] == 't')
		size = address_internet(&address, argv[3], argv[2][3] == '6');
	else
		size = address_local((void *)&address, argv[3], argv[2][0] == 'a');

	int fd = socket(address.ss_family, SOCK_STREAM, 0), yes = 1;
	if (argv[1][0] == 'c')
		return outcome("connected", connect(fd, (void *)&address, size));
	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof(yes));
	if (bind(fd, (void *)&address, size) < 0)
		return outcome("", -1);
	if (outcome("listening", listen(fd, 8)))
		return 1;
	return outcome("accepted", accept(fd, NULL, NULL));
}
