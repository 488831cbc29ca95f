// Headers of the tar format, as GNU tar reads them ("Basic Tar Format" and "GNU Extensions" in its
// manual; tar(5) of libarchive). Pure.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>

#define TAR_BLOCK 512U
// Room for a header: two for the long name and link, each with up to PATH_MAX bytes and padding,
// and the header itself.
#define TAR_HEADER_MAX (2 * (TAR_BLOCK + 4096 + TAR_BLOCK) + TAR_BLOCK)

// Writes to `room` the header of `path`, a file, directory or link (then `link` is where to) as
// `status` describes it, without owner and group. Returns its size, a multiple of TAR_BLOCK; 0 when
// `path` or `link` is 4096 bytes long or longer.
size_t tar_header(uint8_t room[TAR_HEADER_MAX], const char *path, const struct stat *status,
		  const char *link);

// How many zeros come behind `size` bytes of data.
size_t tar_padding(uint64_t size);
