// SPDX-License-Identifier: GPL-2.0
/*
 * Accounts of memory. Called by the daemon's allocator for each allocation, so nothing here
 * allocates but account_open(), and threads count at the same time.
 */
#include "base/account.h"

#include <stdlib.h>

static _Thread_local struct account *now;

struct account *account_open(uint64_t limit, struct account *all)
{
	struct account *before = account_enter(NULL);
	struct account *account = calloc(1, sizeof(*account));

	account_enter(before);
	if (account)
		*account = (struct account){ .limit = limit, .all = all, .uses = 1 };
	return account;
}

static void put(struct account *account)
{
	if (!__atomic_sub_fetch(&account->uses, 1, __ATOMIC_ACQ_REL))
		free(account);
}

void account_close(struct account *account)
{
	if (account)
		put(account);
}

struct account *account_enter(struct account *account)
{
	struct account *before = now;

	now = account;
	if (account)
		account->refused = false;
	return before;
}

struct account *account_now(void)
{
	return now;
}

static bool add(struct account *account, uint64_t bytes)
{
	uint64_t held = __atomic_add_fetch(&account->held, bytes, __ATOMIC_RELAXED);

	if (bytes <= account->limit && held <= account->limit)
		return true;
	__atomic_sub_fetch(&account->held, bytes, __ATOMIC_RELAXED);
	return false;
}

bool account_take(struct account *account, uint64_t bytes)
{
	bool taken = add(account, bytes);

	if (taken && account->all && !add(account->all, bytes)) {
		__atomic_sub_fetch(&account->held, bytes, __ATOMIC_RELAXED);
		taken = false;
	}
	if (taken)
		__atomic_add_fetch(&account->uses, 1, __ATOMIC_RELAXED);
	else
		account->refused = true;
	return taken;
}

void account_give(struct account *account, uint64_t bytes)
{
	__atomic_sub_fetch(&account->held, bytes, __ATOMIC_RELAXED);
	if (account->all)
		__atomic_sub_fetch(&account->all->held, bytes, __ATOMIC_RELAXED);
	put(account);
}

static uint64_t left(const struct account *account)
{
	uint64_t held = __atomic_load_n(&account->held, __ATOMIC_RELAXED);

	return account->limit - MIN(held, account->limit);
}

uint64_t account_left(const struct account *account)
{
	return account->all ? MIN(left(account), left(account->all)) : left(account);
}
