// Swaps, without end, what the names argv[1] and argv[2] stand for (renameat2(2), RENAME_EXCHANGE):
// whoever looks at the one and then uses it may get the other. Prints "swapping" when it has done so
// once. Control: on the host a reader finds both behind one name.
#include <fcntl.h>
#include <stdio.h>

int main(int argc, char *argv[])
{
	if (argc != 3 || renameat2(AT_FDCWD, argv[1], AT_FDCWD, argv[2], RENAME_EXCHANGE) < 0) {
		perror("exchange");
		return 1;
	}
	printf("swapping\n");
	fflush(stdout);
	for (;;)
		renameat2(AT_FDCWD, argv[1], AT_FDCWD, argv[2], RENAME_EXCHANGE);
}
