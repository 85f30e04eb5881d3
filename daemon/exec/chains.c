// SPDX-License-Identifier: GPL-2.0
/*
 * Chains of entries of the SIMT stack that are beside each other (spin.c says what these are), and
 * how they change places. spin.c and sync.c say which of them goes on.
 */
#include "exec/chains.h"

uint32_t spin_first_entry(const struct exec_warp *warp)
{
	return warp->calls ? warp->frames[warp->calls - 1].base + 1 : 0;
}

uint32_t spin_alive(const struct exec_warp *warp)
{
	return ~warp->exited & (warp->calls ? warp->frames[warp->calls - 1].lanes : ALL_LANES);
}

void spin_keep(struct exec_warp *warp)
{
	struct exec_stack_entry *top = &warp->stack[warp->depth - 1];

	top->pc = warp->pc;
	top->mask = warp->mask;
}

uint32_t spin_lowest(const struct exec_warp *warp, uint32_t i, uint32_t *lanes)
{
	const struct exec_stack_entry *s = warp->stack;
	uint32_t base = spin_first_entry(warp), reconv = s[i].reconv;

	*lanes = s[i].mask;
	while (i > base && s[i - 1].pc != reconv) {
		i--;
		if (s[i].reconv == reconv)
			*lanes |= s[i].mask;
	}
	return i;
}

static void run_top(struct exec_warp *warp)
{
	warp->split = 1;
	stack_load_top(warp);
	if (!warp->mask)
		stack_reconverge(warp);
}

void spin_release(struct exec_warp *warp, uint32_t from, uint32_t lanes)
{
	struct exec_stack_entry *s = warp->stack, waiting = s[from - 1];
	uint32_t i;

	for (i = from; i < warp->depth; i++) {
		s[i - 1] = s[i];
		if (s[i - 1].reconv == waiting.pc)
			s[i - 1].reconv = waiting.reconv;
	}
	waiting.mask = lanes;
	s[warp->depth - 1] = waiting;
	run_top(warp);
}

void spin_rotate(struct exec_warp *warp, uint32_t lowest, uint32_t i)
{
	struct exec_stack_entry *s = warp->stack, entry;
	uint32_t n = warp->depth - i, k, at;

	for (k = 0; k < n; k++) {
		entry = s[i + k];
		for (at = i + k; at > lowest + k; at--)
			s[at] = s[at - 1];
		s[lowest + k] = entry;
	}
	run_top(warp);
}
