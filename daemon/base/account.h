/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What this process holds for each of those that it works for, in bytes, and how much it may.
 * While a thread is in an account, what it allocates is the account's, wherever that is freed.
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

/* What this thread allocates from now on is the account's; NULL: nobody's. Returns the last. */
struct account *account_enter(struct account *account);
struct account *account_now(void);

/* False: the account, or one that it is a part of, may not hold so much. */
bool account_take(struct account *account, uint64_t bytes);
void account_give(struct account *account, uint64_t bytes);
/* What it may take at most. */
uint64_t account_left(const struct account *account);

#endif
