/* SPDX-License-Identifier: GPL-2.0 */
/* Several PTX texts made one, as nvlink makes one cubin of several: what link.c does. */
#ifndef GPUEMU_CUDART_LINK_H
#define GPUEMU_CUDART_LINK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A variable that lies in the program's own memory: the texts name its address instead of it. */
struct link_place {
	const char *name;
	uint64_t address;
	unsigned int text; /* the one that defines it */
	bool visible;	   /* to the other texts too */
};

/*
 * *text is one PTX text, NUL terminated, the caller's. What one text defines and others declare
 * is one thing; of weak definitions the first is taken; names that a text keeps to itself stay
 * apart. -EEXIST: a name has two definitions, and `why` (of `limit` bytes) says which; -EINVAL:
 * no PTX; -ENOMEM.
 */
int link_texts(const char *const *texts, unsigned int n, const struct link_place *places,
	       unsigned int nplaces, char **text, char *why, size_t limit);

#endif
