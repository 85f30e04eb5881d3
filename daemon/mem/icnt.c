// SPDX-License-Identifier: GPL-2.0
/*
 * The crossbar's state; its cycles are icnt.h, a template that mem.c fills in
 * once for requests and once for replies.
 */
#include <string.h>

#include "mem/internal.h"

void xbar_reset(struct xbar *x)
{
	x->idle = x->inputs == 64 ? ~0ull : (1ull << x->inputs) - 1;
	x->waiting = 0;
	x->big = 0;
	x->wanted = 0;
	x->owned = 0;
	memset(x->want, 0, sizeof(x->want));
	memset(x->sent, 0, sizeof(x->sent));
}

uint64_t xbar_wake(const struct xbar *x, uint64_t now)
{
	uint64_t wake = NEVER;

	if (x->wanted | x->owned)
		return now;
	for (uint64_t m = x->waiting; m; m &= m - 1)
		wake = MIN(wake, x->ready[__builtin_ctzll(m)]);
	return wake;
}
