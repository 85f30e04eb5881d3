/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Every room may use this: error text, small macros. Errors travel as -errno;
 * where a person will read the reason, a struct err travels with it.
 */
#ifndef GPUEMU_BASE_BASE_H
#define GPUEMU_BASE_BASE_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define ARRAY_SIZE(a)	(sizeof(a) / sizeof((a)[0]))
#define DIV_ROUND_UP(n, d) (((n) + (d) - 1) / (d))
#define container_of(ptr, type, member) \
	((type *)((char *)(ptr) - offsetof(type, member)))

#define MIN(a, b)	((a) < (b) ? (a) : (b))
#define MAX(a, b)	((a) > (b) ? (a) : (b))

#define NEVER		UINT64_MAX	/* a cycle that does not come */

#define WARP_LANES	32u
#define PAGE_SHIFT	12u		/* frame and page: 4 KiB */
#define PAGE_BYTES	(1ull << PAGE_SHIFT)
#define BLOCK_SHIFT	21u		/* VA block: 2 MiB */
#define BLOCK_PAGES	(1u << (BLOCK_SHIFT - PAGE_SHIFT))

static inline bool power_of_two(uint64_t n)
{
	return n && !(n & (n - 1));
}

/* Rounded down; n is not 0. */
static inline unsigned int log2_of(uint64_t n)
{
	return 63u - (unsigned int)__builtin_clzll(n);
}

/* One sentence for a user, without a trailing newline; "" when unset. */
struct err {
	char text[512];
};

/* Sets the text (err may be NULL) and returns code, so `return err_set(err, -EINVAL, "...")`. */
int err_set(struct err *err, int code, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

#endif
