// SPDX-License-Identifier: GPL-2.0
/*
 * The daemon's allocator: glibc's, with a head before each piece that names its account
 * (base/account.h). A client's work therefore ends with an error when the daemon would hold more
 * for the client than it may, wherever in the engine that is asked for. glibc's manual, "Replacing
 * malloc", names what a program has to define; libc itself and all libraries then call it here.
 */
#include <errno.h>
#include <malloc.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/account.h"

void *__libc_malloc(size_t bytes);
void *__libc_calloc(size_t n, size_t bytes);
void *__libc_realloc(void *at, size_t bytes);
void *__libc_memalign(size_t align, size_t bytes);
void __libc_free(void *at);

/* The caller's memory behind it is aligned as glibc's. */
struct head {
	struct account *account;	/* NULL: nobody's */
	uint64_t bytes : 56;		/* that the caller asked for */
	uint64_t shift : 8;		/* 2^shift bytes from glibc's piece to the caller's */
};
#define SHIFT	4u
_Static_assert(sizeof(struct head) == 1u << SHIFT, "");
_Static_assert(sizeof(struct head) % _Alignof(max_align_t) == 0, "");
#define BYTES_MAX	((uint64_t)PTRDIFF_MAX >> 9)

static struct head *head_of(void *at)
{
	return (struct head *)at - 1;
}

/* The account that pays; *ok: false: it cannot. */
static struct account *charge(uint64_t bytes, bool *ok)
{
	struct account *account = account_now();

	*ok = bytes <= BYTES_MAX && (!account || account_take(account, bytes));
	if (!*ok)
		errno = ENOMEM;
	return account;
}

static void *finish(void *piece, struct account *account, uint64_t bytes, unsigned int shift)
{
	void *at;

	if (!piece) {
		if (account)
			account_give(account, bytes);
		return NULL;
	}
	at = (char *)piece + (1ul << shift);
	*head_of(at) = (struct head){ .account = account, .bytes = bytes, .shift = shift };
	return at;
}

/* libc and the libraries find these, whatever else of the program is hidden from them. */
#pragma GCC visibility push(default)

void *malloc(size_t bytes)
{
	bool ok;
	struct account *account = charge(bytes, &ok);

	return ok ? finish(__libc_malloc(bytes + sizeof(struct head)), account, bytes, SHIFT) :
	       NULL;
}

void *calloc(size_t n, size_t each)
{
	struct account *account;
	size_t bytes;
	bool ok;

	if (__builtin_mul_overflow(n, each, &bytes)) {
		errno = ENOMEM;
		return NULL;
	}
	account = charge(bytes, &ok);
	return ok ? finish(__libc_calloc(1, bytes + sizeof(struct head)), account, bytes, SHIFT) :
	       NULL;
}

void free(void *at)
{
	struct head *head;

	if (!at)
		return;
	head = head_of(at);
	if (head->account)
		account_give(head->account, head->bytes);
	__libc_free((char *)at - (1ul << head->shift));
}

/* The account that grows a piece pays for all of it. */
void *realloc(void *at, size_t bytes)
{
	struct account *account, *old;
	uint64_t had;
	bool ok;
	void *piece;

	if (!at)
		return malloc(bytes);
	if (!bytes) {
		free(at);
		return NULL;
	}
	old = head_of(at)->account;
	had = head_of(at)->bytes;
	if (head_of(at)->shift != SHIFT) {
		piece = malloc(bytes);
		if (piece) {
			memcpy(piece, at, MIN(had, bytes));
			free(at);
		}
		return piece;
	}
	account = charge(bytes, &ok);
	if (!ok)
		return NULL;
	piece = __libc_realloc((char *)at - sizeof(struct head), bytes + sizeof(struct head));
	if (piece && old)
		account_give(old, had);
	return finish(piece, account, bytes, SHIFT);
}

void *reallocarray(void *at, size_t n, size_t each)
{
	size_t bytes;

	if (__builtin_mul_overflow(n, each, &bytes)) {
		errno = ENOMEM;
		return NULL;
	}
	return realloc(at, bytes);
}

void *memalign(size_t align, size_t bytes)
{
	unsigned int shift = SHIFT;
	struct account *account;
	bool ok;

	while (shift < 40 && 1ul << shift < align)
		shift++;
	account = charge(bytes, &ok);
	return ok ? finish(__libc_memalign(1ul << shift, bytes + (1ul << shift)), account, bytes,
			   shift) : NULL;
}

void *aligned_alloc(size_t align, size_t bytes)
{
	return memalign(align, bytes);
}

int posix_memalign(void **at, size_t align, size_t bytes)
{
	if (!align || align & (align - 1) || align % sizeof(void *))
		return EINVAL;
	*at = memalign(align, bytes);
	return *at ? 0 : ENOMEM;
}

void *valloc(size_t bytes)
{
	return memalign((size_t)sysconf(_SC_PAGESIZE), bytes);
}

void *pvalloc(size_t bytes)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);

	return memalign(page, (bytes + page - 1) & ~(page - 1));
}

size_t malloc_usable_size(void *at)
{
	return at ? head_of(at)->bytes : 0;
}

#pragma GCC visibility pop
