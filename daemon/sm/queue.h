/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Queues of instructions between two stages. Private to the sm room.
 */
#ifndef GPUEMU_SM_QUEUE_H
#define GPUEMU_SM_QUEUE_H

#include "sm/inst.h"

/* A short queue of instructions between two stages, for one kind of unit. */
struct sm_fifo {
	uint32_t at[MAX_WIDTH];
	uint32_t head, count, size;
	uint32_t bit;			/* of the unit, in the masks of sm_queues */
};

/* The queues between two stages. */
struct sm_queues {
	struct sm_fifo of[UNITS];
	uint32_t some, full;		/* masks of units: not empty; without room */
};

static inline bool queue_some(const struct sm_queues *q, unsigned int unit)
{
	return q->some >> unit & 1;
}

static inline bool queue_full(const struct sm_queues *q, unsigned int unit)
{
	return q->full >> unit & 1;
}

static inline void queue_empty(struct sm_queues *q, unsigned int unit)
{
	struct sm_fifo *f = &q->of[unit];

	f->head = f->count = 0;
	f->bit = 1u << unit;
	q->some &= ~f->bit;
	/* No instruction wants a unit without places (kernel.c), so none asks whether it is full. */
	q->full &= ~f->bit;
}

static inline void queue_push(struct sm_queues *q, unsigned int unit, uint32_t inst)
{
	struct sm_fifo *f = &q->of[unit];

	f->at[(f->head + f->count++) % MAX_WIDTH] = inst;
	q->some |= f->bit;
	if (f->count >= f->size)
		q->full |= f->bit;
}

static inline uint32_t queue_pop(struct sm_queues *q, unsigned int unit)
{
	struct sm_fifo *f = &q->of[unit];
	uint32_t inst = f->at[f->head];

	f->head = (f->head + 1) % MAX_WIDTH;
	if (!--f->count)
		q->some &= ~f->bit;
	q->full &= ~f->bit;
	return inst;
}

/* Gives the place of the instruction that issued first. The queue is not empty. */
static inline unsigned int queue_oldest(const struct insts *insts,
					const struct sm_queues *q, unsigned int unit)
{
	const struct sm_fifo *f = &q->of[unit];
	unsigned int best = f->head;

	for (unsigned int i = 1; i < f->count; i++) {
		unsigned int at = (f->head + i) % MAX_WIDTH;

		if ((int32_t)(insts->at[f->at[at]].order - insts->at[f->at[best]].order) < 0)
			best = at;
	}
	return best;
}

/* Takes out the instruction at a place. */
static inline void queue_remove(struct sm_queues *q, unsigned int unit, unsigned int at)
{
	struct sm_fifo *f = &q->of[unit];

	/* The first instruction takes its place: the order within the queue means nothing. */
	f->at[at] = f->at[f->head];
	queue_pop(q, unit);
}

#endif
