// The control of static.bats: what every checker that is trusted there has to find. Never built.
#include <stdlib.h>

void planted(char *text);

void planted(char *text)
{
	free(text);
	free(text);
}
