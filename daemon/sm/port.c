// SPDX-License-Identifier: GPL-2.0
/*
 * How results of memory instructions get out of the load/store unit: the pipeline of
 * shared memory, and the one writeback port that it shares with L1T, L1C, L1D and the answers of
 * what goes past L1D (GPGPU-Sim, ldst_unit::writeback()). Called by ldst.c.
 */
#include "sm/ldst_internal.h"

/* --- shared memory ------------------------------------------------------------- */

uint64_t shared_next(const struct ldst *l)
{
	return l->pipe_count ? l->pipe[l->pipe_head].ready : NEVER;
}

void shared_step(struct sm *sm, uint64_t now)
{
	struct ldst *l = sm->ldst;
	struct sm_inst *inst = sm_inst(sm, l->inst);
	uint32_t index = l->inst;

	if (inst->op->store) {
		if (!mapped_lines(sm, now))
			dispatch_leave(sm, now);
		return;
	}
	if (l->pipe_count == l->pipe_size) {
		l->step = NEVER;
		return;
	}
	l->pipe[ring_at(l->pipe_head, l->pipe_count++, l->pipe_size)] = (struct stage){
		.ready = now + l->pipe_size, .inst = index,
	};
	inst->left = 1;
	if (!mapped_lines(sm, now))
		dispatch_leave(sm, now);
}

/* --- the writeback port ----------------------------------------------------------- */

/* Gives the clients that have something for the port. */
static inline unsigned int clients(const struct ldst *l, uint64_t now)
{
	bool shared = l->pipe_count && l->pipe[l->pipe_head].ready <= now;

	return (unsigned int)shared << CLIENT_SHARED |
	       (unsigned int)!ready_empty(&l->texture.ready) << CLIENT_TEXTURE |
	       (unsigned int)!ready_empty(&l->l1c_ready) << CLIENT_L1C |
	       (unsigned int)(l->direct != NO_INDEX) << CLIENT_DIRECT |
	       (unsigned int)!ready_empty(&l->l1d_ready) << CLIENT_L1D;
}

static uint32_t take_shared(struct sm *sm, uint64_t now)
{
	struct ldst *l = sm->ldst;
	uint32_t index = l->pipe[l->pipe_head].inst;

	l->pipe_head = ring_at(l->pipe_head, 1, l->pipe_size);
	l->pipe_count--;
	/* The dispatch register may wait for the room. */
	if (l->step == NEVER)
		l->step = now;
	if (sm_inst(sm, index)->op->atomic && sm_inst(sm, index)->lanes)
		warp_atomics(sm, sm_inst(sm, index)->warp, -1);
	return index;
}

static uint32_t take_direct(struct sm *sm)
{
	struct ldst *l = sm->ldst;
	uint32_t index = l->direct;

	l->direct = NO_INDEX;
	if (sm_inst(sm, index)->op->atomic)
		warp_atomics(sm, sm_inst(sm, index)->warp, -1);
	return index;
}

static uint32_t take(struct sm *sm, unsigned int client, uint64_t now)
{
	struct ldst *l = sm->ldst;

	switch (client) {
	case CLIENT_SHARED:
		return take_shared(sm, now);
	case CLIENT_TEXTURE:
		return ready_pop(&l->texture.ready);
	case CLIENT_L1C:
		return ready_pop(&l->l1c_ready);
	case CLIENT_DIRECT:
		return take_direct(sm);
	default:
		return ready_pop(&l->l1d_ready);
	}
}

void port_cycle(struct sm *sm, uint64_t now)
{
	struct ldst *l = sm->ldst;

	if (l->port != NO_INDEX && collector_write(sm, l->port)) {
		uint32_t index = l->port;

		l->port = NO_INDEX;
		access_answered(sm, index);
	}
	if (l->port == NO_INDEX) {
		unsigned int some = clients(l, now), from = some & ~0u << l->arbiter, client;

		if (!some)
			return;
		client = (unsigned int)__builtin_ctz(from ? from : some);
		l->port = take(sm, client, now);
		l->arbiter = (uint8_t)(client + 1 == CLIENTS ? 0 : client + 1);
	}
}
