// The lodger's user and group records on the host. Fixed directory, fixed text, numbers only.
#include "helper.h"

#define USERDB "/run/userdb"

// A record is found by its name's file and, through a link, by its id's.
static const char *const records[][2] = {
	{ "user",
	  "{\"userName\":\"lodger-%u\",\"uid\":%u,\"gid\":%u,\"homeDirectory\":\"/\","
	  "\"shell\":\"/usr/sbin/nologin\",\"locked\":true,\"disposition\":\"dynamic\"}\n" },
	{ "group", "{\"groupName\":\"lodger-%u\",\"gid\":%u,\"disposition\":\"dynamic\"}\n" },
};

void names_add(uint32_t number)
{
	char file[32], link[32], text[256];
	uint32_t id = SESSION_UID_BASE + number;

	autoclose int directory = root_directory_open(AT_FDCWD, USERDB, 0755);
	for (size_t i = 0; i < COUNT(records); i++) {
		snprintf(file, sizeof(file), "lodger-%u.%s", number, records[i][0]);
		snprintf(link, sizeof(link), "%u.%s", id, records[i][0]);
		snprintf(text, sizeof(text), records[i][1], number, id, id);
		autoclose int fd =
			openat(directory, file, O_WRONLY | O_CREAT | O_TRUNC | OPEN_SAFE, 0600);
		if (fd < 0 || frame_write_full(fd, text, strlen(text)) < 0 ||
		    fchmod(fd, 0644) < 0 || symlinkat(file, directory, link) < 0)
			return;
	}
}

void names_remove(uint32_t number)
{
	char file[64], link[64];

	for (size_t i = 0; i < COUNT(records); i++) {
		snprintf(file, sizeof(file), USERDB "/lodger-%u.%s", number, records[i][0]);
		snprintf(link, sizeof(link), USERDB "/%u.%s", SESSION_UID_BASE + number,
			 records[i][0]);
		// The link first: without its file it would be nobody's.
		if ((unlinkat(AT_FDCWD, link, 0) < 0 && errno != ENOENT) ||
		    (unlinkat(AT_FDCWD, file, 0) < 0 && errno != ENOENT))
			die("removing", file);
	}
}
