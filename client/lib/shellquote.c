// Quoting for bash (shellquote.h). Pure. Inside '…' bash knows no special character but the quote
// itself, so a word is put between quotes whole, and each quote in it becomes '\''.
#include "shellquote.h"

#include <stdlib.h>
#include <string.h>

char *shellquote(char *const words[])
{
	size_t size = 1;

	for (size_t i = 0; words[i]; i++) {
		size += 3;
		for (const char *c = words[i]; *c; c++)
			size += *c == '\'' ? 4 : 1;
	}

	char *text = malloc(size), *end = text;
	if (!text)
		return NULL;
	for (size_t i = 0; words[i]; i++) {
		if (i > 0)
			*end++ = ' ';
		*end++ = '\'';
		for (const char *c = words[i]; *c; c++) {
			if (*c == '\'')
				end = mempcpy(end, "'\\''", 4);
			else
				*end++ = *c;
		}
		*end++ = '\'';
	}
	*end = '\0';
	return text;
}
