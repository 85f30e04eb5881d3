/* SPDX-License-Identifier: GPL-2.0 */
/*
 * An account counts the bytes that this process holds for one client, and has a limit. While a
 * thread is in an account, its allocations belong to the account, whichever thread frees them.
 * Only a program whose allocator asks here (daemon/malloc.c) counts anything; in others nothing
 * is in an account.
 */
#ifndef GPUEMU_BASE_ACCOUNT_H
#define GPUEMU_BASE_ACCOUNT_H

#include "base/base.h"

struct account {
	uint64_t held, limit;
	struct account *all;		/* this is a part of it; NULL: a part of none */
	bool refused;			/* since account_enter(): it did not get what it asked for */
	uint64_t uses;			/* the owner, and pieces of memory */
};

/* NULL: no memory. The owner's, until account_close(); it stays while something is held. */
struct account *account_open(uint64_t limit, struct account *all);
void account_close(struct account *account);

/* From now on this thread allocates for the account; NULL: for none. Returns the last one. */
struct account *account_enter(struct account *account);
struct account *account_now(void);

/* False: the account, or one that it is a part of, may not hold so much. */
bool account_take(struct account *account, uint64_t bytes);
void account_give(struct account *account, uint64_t bytes);
/* How many bytes it may still take. */
uint64_t account_left(const struct account *account);

#endif
