// SPDX-License-Identifier: GPL-2.0
/* Where a page of this process is, as /proc/self/pagemap tells. */
#include <fcntl.h>
#include <unistd.h>

#include "lib/pagemap.h"

uint64_t pagemap(const void *addr)
{
	int fd = open("/proc/self/pagemap", O_RDONLY);
	uint64_t entry = 0;

	if (pread(fd, &entry, sizeof(entry), (uintptr_t)addr / 4096 * sizeof(entry)) !=
	    sizeof(entry))
		entry = 0;
	close(fd);
	return entry;
}
