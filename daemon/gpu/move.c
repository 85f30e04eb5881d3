// SPDX-License-Identifier: GPL-2.0
/*
 * Explicit prefetches, to device memory and home. By themselves, and in the default stream,
 * nothing else happens until all has moved. In another stream they are a copy engine's: the pages
 * travel on the link while kernels of other streams run, and far faults pass them there.
 */
#include <errno.h>
#include <string.h>

#include "gpu/loop.h"

/* Whether there is anything to move, ever: 1, 0, or < 0 and err set. */
static int pages_move(struct gpu_session *s, struct err *err)
{
	const struct gpu_spec *spec = &s->machine->spec;

	if (spec->functional || !spec->paging)
		return 0;
	return s->paging ? 1 : err_set(err, -ENOMEM,
				       "the session has no fault handler: configure it");
}

/* Says how the move ended. The caller accounts for its time. */
static int moved(struct gpu_session *s, const char *what, uint64_t addr, uint64_t bytes, int ret,
		 const struct paging_outcome *outcome, struct err *err)
{
	if (ret)
		return err_set(err, ret, "%s of %llu bytes at 0x%llx: %s", what,
			       (unsigned long long)bytes, (unsigned long long)addr,
			       strerror(-ret));
	ret = gpu_poll(s->gpu);
	if (ret)
		return err_set(err, ret, "the device is lost");
	if (outcome->unmanaged)
		return err_set(err, -EFAULT,
			       "%s of %llu bytes at 0x%llx: no managed memory at 0x%llx", what,
			       (unsigned long long)bytes, (unsigned long long)addr,
			       (unsigned long long)outcome->unmanaged_addr);
	return 0;
}

/* As an upload leaves it. */
static void prefill(struct gpu_session *s, uint64_t addr, uint64_t bytes)
{
	const struct gpu_spec *spec = &s->machine->spec;

	if (!spec->functional && spec->l2_prefill)
		mem_prefill(s->machine->mem, mem_device(addr), bytes);
}

int move_here(struct gpu_session *s, uint64_t addr, uint64_t bytes, struct err *err)
{
	struct paging_outcome outcome;
	int ret;

	prefill(s, addr, bytes);
	ret = pages_move(s, err);
	if (ret <= 0)
		return ret;
	ret = paging_prefetch(s->paging, addr, bytes, s->now, &outcome);
	if (!ret)
		s->now += cycles_of(&s->machine->spec, outcome.service_ns);
	return moved(s, "prefetch", addr, bytes, ret, &outcome, err);
}

int move_home(struct gpu_session *s, uint64_t addr, uint64_t bytes, struct err *err)
{
	struct paging_outcome outcome;
	int ret;

	ret = pages_move(s, err);
	if (ret <= 0)
		return ret;
	ret = paging_prefetch_host(s->paging, addr, bytes, s->now, &outcome);
	if (!ret)
		s->now += cycles_of(&s->machine->spec, outcome.service_ns);
	return moved(s, "prefetch to the host", addr, bytes, ret, &outcome, err);
}

/* --- as works of a stream -------------------------------------------------------------- */

/* In the default stream: nothing runs, and nothing does before it has ended. */
static void move_alone(struct loop *l, struct run *r)
{
	struct gpu_session *s = l->s;

	s->now = l->now;
	r->status = r->move.home ? move_home(s, r->move.addr, r->move.bytes, &r->err) :
				   move_here(s, r->move.addr, r->move.bytes, &r->err);
	l->now = s->now;
	r->state = RUN_DONE;
}

void move_begin(struct loop *l, struct run *r)
{
	const char *what = r->move.home ? "prefetch to the host" : "prefetch";
	struct gpu_session *s = l->s;
	struct paging_outcome outcome;
	int ret;

	if (!r->stream) {
		move_alone(l, r);
		return;
	}
	/* L2 is the kernels' while some run. */
	if (!r->move.home && !l->nrunning)
		prefill(s, r->move.addr, r->move.bytes);
	r->state = RUN_DONE;
	ret = pages_move(s, &r->err);
	if (ret <= 0) {
		r->status = ret;
		return;
	}
	ret = paging_depart(s->paging, r->move.addr, r->move.bytes, r->move.home, l->now, &outcome);
	r->status = moved(s, what, r->move.addr, r->move.bytes, ret, &outcome, &r->err);
	if (r->status)
		return;
	r->until = l->now + cycles_of(&l->m->spec, outcome.service_ns);
	r->state = RUN_RUNNING;
}

bool move_over(struct loop *l, struct run *r)
{
	struct paging *paging = l->s->paging;
	int ret = 0;

	if (r->until > l->now)
		return false;
	if (paging_next(paging) <= l->now)
		ret = paging_advance(paging, l->now);
	if (ret)
		r->status = err_set(&r->err, ret, "prefetch: out of memory");
	return ret || !paging_travels(paging, r->move.addr, r->move.bytes, r->move.home);
}
