/* SPDX-License-Identifier: GPL-2.0 */
/*
 * One direction of the crossbar, as GPGPU-Sim's intersim2 has it (one stage, one
 * virtual channel, islip): an input is a FIFO whose head alone is seen; an output
 * is given to one packet at a time, round robin, and moves a flit in each internal
 * step (icnt.speedup a cycle); its link carries one flit a cycle. Giving an
 * output takes a step of its own, so single flits pass at one a cycle.
 *
 * The pipeline's fixed delays are the caller's: before it for requests, after it
 * for replies. A template, included by mem.c alone: HEAD(ctx, x, in) fills in the
 * head of an input or says false, DELIVER(ctx, in, out, at) takes it.
 */
#ifndef GPUEMU_MEM_ICNT_H
#define GPUEMU_MEM_ICNT_H

#include "mem/internal.h"

static inline unsigned int xbar_bit(uint64_t mask)
{
	return (unsigned int)__builtin_ctzll(mask);
}

/* Lets the head of `in` be seen. */
static inline void xbar_expose(struct xbar *x, unsigned int in, uint64_t now)
{
	unsigned int out = x->dest[in];

	x->seen[in] = now;
	x->want[out] |= 1ull << in;
	x->wanted |= 1ull << out;
}

/* Gives the output to the next input that wants it. */
static inline unsigned int xbar_give(struct xbar *x, unsigned int out, uint64_t now)
{
	uint64_t want = x->want[out];
	uint64_t from = want & (~0ull << x->turn[out]);
	unsigned int in = xbar_bit(from ? from : want);

	x->turn[out] = (uint8_t)(in + 1 == x->inputs ? 0 : in + 1);
	x->counts[x->kernel[in]].blocked += now - x->seen[in];
	want &= ~(1ull << in);
	x->want[out] = want;
	if (!want)
		x->wanted &= ~(1ull << out);
	return in;
}

#define XBAR_DEFINE(NAME, CTX, HEAD, DELIVER)						\
static inline void NAME##_next(struct xbar *x, CTX ctx, unsigned int in, uint64_t now)	\
{											\
	if (!HEAD(ctx, x, in))								\
		x->idle |= 1ull << in;							\
	else if (x->ready[in] <= now)							\
		xbar_expose(x, in, now);						\
	else										\
		x->waiting |= 1ull << in;						\
}											\
											\
static inline void NAME##_flit(struct xbar *x, CTX ctx, unsigned int out,		\
			       unsigned int in, uint64_t now)				\
{											\
	uint64_t link = MAX(now, x->link[out]) + 1;					\
											\
	x->room[out]--;									\
	x->through[out]++;								\
	x->counts[x->kernel[in]].moved++;						\
	x->link[out] = link;								\
	if (++x->sent[in] < x->flits[in])						\
		return;									\
	x->counts[x->kernel[in]].packets++;						\
	x->owned &= ~(1ull << out);							\
	DELIVER(ctx, in, out, link);							\
	NAME##_next(x, ctx, in, now);							\
}											\
											\
/* One internal step, in general. */							\
static void NAME##_step(struct xbar *x, CTX ctx, uint64_t now)				\
{											\
	uint64_t take = x->wanted & ~x->owned;						\
	uint64_t send = x->owned;							\
											\
	for (uint64_t m = take; m; m &= m - 1) {					\
		unsigned int out = xbar_bit(m);						\
											\
		x->owner[out] = (uint8_t)xbar_give(x, out, now);				\
	}										\
	for (uint64_t m = send; m; m &= m - 1) {					\
		unsigned int out = xbar_bit(m), in = x->owner[out];			\
											\
		/* Room, and the next flit has come in. */				\
		if (x->room[out] && x->ready[in] + x->sent[in] <= now)			\
			NAME##_flit(x, ctx, out, in, now);				\
	}										\
	x->owned |= take;								\
}											\
											\
/* Two steps in one go, when nothing but single flits moves: given, then sent. */	\
static void NAME##_singles(struct xbar *x, CTX ctx, uint64_t now)			\
{											\
	uint64_t send = x->wanted;							\
											\
	for (uint64_t m = send; m; m &= m - 1) {					\
		unsigned int out = xbar_bit(m);						\
											\
		x->owner[out] = (uint8_t)xbar_give(x, out, now);				\
		if (!x->room[out]) {							\
			x->owned |= 1ull << out;					\
			send &= ~(1ull << out);						\
		}									\
	}										\
	for (uint64_t m = send; m; m &= m - 1) {					\
		unsigned int out = xbar_bit(m);						\
											\
		NAME##_flit(x, ctx, out, x->owner[out], now);				\
	}										\
}											\
											\
static void NAME(struct xbar *x, CTX ctx, uint64_t from, uint64_t upto)			\
{											\
	for (uint64_t now = from; now < upto; now++) {					\
		for (uint64_t m = x->waiting; m; m &= m - 1) {				\
			unsigned int in = xbar_bit(m);					\
											\
			if (x->ready[in] <= now) {					\
				x->waiting &= ~(1ull << in);				\
				xbar_expose(x, in, now);				\
			}								\
		}									\
		if (!(x->wanted | x->owned)) {						\
			if (!x->waiting)						\
				return;							\
			continue;							\
		}									\
		if (!x->owned && !x->big && x->speedup == 2) {				\
			NAME##_singles(x, ctx, now);					\
			continue;							\
		}									\
		for (unsigned int step = 0; step < x->speedup; step++)			\
			NAME##_step(x, ctx, now);					\
	}										\
}

#endif
