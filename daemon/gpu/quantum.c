// SPDX-License-Identifier: GPL-2.0
/*
 * The loop of the whole GPU, a quantum of a few cycles at a time. In a quantum the
 * SMs and the memory behind them run apart, on as many host threads as there are; before
 * and behind that everything between them is done in one order of cycle and SM, so that the
 * number of threads changes nothing:
 *
 *   pages that came and went, the fault handler, CTAs       [at its first cycle]
 *   every SM's own cycles                                    sm_run()
 *   the memory's own cycles                                  mem_advance()
 *   accesses to global memory, what was printed             sm_perform()
 *                     [when the SMs have run, beside the end of the memory's own cycles]
 *   look-ups that missed                                     gmmu_step()
 *   requests and answers cross                               mem_meet()
 *
 * A quantum is not longer than what one does takes to act on another, and ends
 * where a walk or a replay is due. When nothing can happen, time jumps. Samples are taken
 * between quanta, so that taking them changes nothing. For the same reason what runs may be
 * set aside there: everything that it is, is in the machine and the loop.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "gpu/loop.h"

/*
 * The memory answers within thousands of cycles. So after this many quanta without an instruction,
 * with an idle handler, no warp waits for anything that can still come.
 */
#define CALM_QUANTA	(1u << 20)

/* The loop asks after so many quanta whose turn it is: the answer may cost a look at a clock. */
#define TURN_QUANTA	64u
/* A tool that shows progress looks once a second. */
#define PROGRESS_QUANTA	256u
/* A turn in which no instruction is executed ends after so many batches. */
#define TURN_BATCHES	64u

struct quantum {
	struct loop *l;
	struct machine *m;
	uint64_t from, upto;
	unsigned int nawake;
	/* The first error in order of cycle and SM. */
	int error;
	uint64_t error_cycle;
	unsigned int error_sm;
};

/* --- the SMs and the memory ----------------------------------------------------------- */

static void run_sm(struct quantum *q, unsigned int i)
{
	struct machine *m = q->m;
	struct sm *sm = m->sms[i];

	/* note_failures() looks at the error when all SMs have run. */
	sm_run(sm, q->from, q->upto);
	m->left[i].performs = sm_perform_next(sm);
	m->left[i].failed = sm_failure(sm) != NULL;
}

/* The SMs, then the memory's beginning; behind them the memory's end. */
static void run_part(void *ctx, unsigned int part)
{
	struct quantum *q = ctx;
	struct mem *mem = q->m->mem;

	if (part < q->nawake)
		run_sm(q, q->m->awake[part]);
	else if (part == q->nawake)
		mem_advance_begin(mem, q->upto);
	else
		mem_advance_end(mem);
}

/* The main thread has read or written the lines with which the SM begins and ends. */
static void fetch_part(void *ctx, unsigned int part)
{
	struct quantum *q = ctx;

	if (part >= q->nawake)
		return;
	__builtin_prefetch(&q->m->left[q->m->awake[part]], 1);
	mem_fetch_port(q->m->mem, q->m->awake[part]);
}

/* The last thread begins with the memory. */
static void find_homes(struct quantum *q)
{
	struct machine *m = q->l->m;
	unsigned int threads = workers_threads(m->workers);

	for (unsigned int k = 0; k < q->nawake; k++)
		m->homes[k] = (uint16_t)(m->awake[k] * threads / m->nsms);
	m->homes[q->nawake] = (uint16_t)(threads - 1);
}

static void note_error(struct quantum *q, int error, uint64_t cycle, unsigned int sm)
{
	if (q->error && (q->error_cycle < cycle ||
			 (q->error_cycle == cycle && q->error_sm <= sm)))
		return;
	q->error = error;
	q->error_cycle = cycle;
	q->error_sm = sm;
}

static void note_failures(struct quantum *q)
{
	struct machine *m = q->l->m;

	for (unsigned int k = 0; k < q->nawake; k++) {
		unsigned int i = m->awake[k];
		const struct sm_failure *f = m->left[i].failed ? sm_failure(m->sms[i]) : NULL;

		if (f)
			note_error(q, f->error, f->cycle, i);
	}
}

/* --- global memory ---------------------------------------------------------------------- */

/* Accesses behind the error are not performed. */
static bool behind_error(const struct quantum *q, uint64_t cycle, unsigned int sm)
{
	return q->error && (cycle > q->error_cycle ||
			    (cycle == q->error_cycle && sm > q->error_sm));
}

/* Accesses of the awake SMs, by cycle and SM. */
static void perform(struct quantum *q)
{
	struct machine *m = q->l->m;
	uint64_t cycle = NEVER;

	for (unsigned int k = 0; k < q->nawake; k++)
		cycle = MIN(cycle, m->left[m->awake[k]].performs);
	while (cycle != NEVER) {
		uint64_t next = NEVER;

		for (unsigned int k = 0; k < q->nawake; k++) {
			unsigned int sm = m->awake[k];
			struct sm_left *left = &m->left[sm];
			int ret;

			if (left->performs == cycle) {
				if (behind_error(q, cycle, sm))
					return;
				ret = sm_perform(m->sms[sm], cycle);
				if (ret)
					note_error(q, ret, cycle, sm);
				left->performs = sm_perform_next(m->sms[sm]);
			}
			next = MIN(next, left->performs);
		}
		cycle = next;
	}
}

/* The SMs have run; another thread may be in the end of the memory's part. */
static void after_sms(void *ctx)
{
	note_failures(ctx);
	perform(ctx);
}

static void run_parts(struct quantum *q)
{
	struct machine *m = q->l->m;
	struct workers_step step = {
		.fn = run_part, .soon = fetch_part, .ctx = q, .homes = m->homes, .then = after_sms,
	};

	q->nawake = 0;
	for (unsigned int i = 0; i < m->nsms; i++)
		if (m->left[i].wake < q->upto)
			m->awake[q->nawake++] = (uint16_t)i;
	if (m->workers && q->nawake) {
		find_homes(q);
		step.parts = q->nawake + 1;
		workers_run(m->workers, &step);
		return;
	}
	for (unsigned int k = 0; k < q->nawake; k++)
		run_sm(q, m->awake[k]);
	mem_advance(m->mem, q->upto);
	after_sms(q);
}

/* Pages have come: their accesses are done before a page can go again. */
static void perform_translated(struct quantum *q)
{
	struct machine *m = q->l->m;

	if (!m->translated)
		return;
	m->translated = false;
	q->nawake = m->nsms;
	for (unsigned int i = 0; i < m->nsms; i++) {
		m->awake[i] = (uint16_t)i;
		m->left[i].performs = sm_perform_next(m->sms[i]);
	}
	perform(q);
	for (unsigned int i = 0; i < m->nsms; i++)
		m->left[i].failed = sm_failure(m->sms[i]) != NULL;
	note_failures(q);
}

/* --- errors ------------------------------------------------------------------------------- */

static struct run *run_of(const struct loop *l, const struct sm_kernel *kernel)
{
	for (unsigned int k = 0; k < l->nrunning; k++)
		if (l->running[k]->sm_kernel == kernel)
			return l->running[k];
	return l->running[0];
}

/* Ends what runs by the quantum's error. */
static int fail(struct quantum *q)
{
	struct loop *l = q->l;
	const struct sm_failure *f = sm_failure(l->m->sms[q->error_sm]);
	struct run *r = run_of(l, f ? f->kernel : NULL);

	if (f)
		r->fault_addr = f->fault_addr;
	err_set(&r->err, 0, "%s", l->m->sm_errs[q->error_sm].text[0] ?
		l->m->sm_errs[q->error_sm].text : strerror(-q->error));
	/* The other SMs have been run to the quantum's end, if it has begun. */
	loop_fail(l, r, q->error, MAX(q->error_cycle + 1, q->upto));
	return q->error;
}

static int fail_run(struct loop *l, struct run *r, int status, uint64_t upto)
{
	loop_fail(l, r, status, upto);
	return status;
}

/* The client or the device is gone: no kernel goes on, and none begins. */
static int fail_all(struct loop *l, int status, uint64_t upto)
{
	for (struct run *r = l->s->queue; r; r = r->next) {
		if (r->state == RUN_DONE)
			continue;
		r->state = RUN_DONE;
		r->status = run_gone(r, status);
	}
	l->ntasks = 0;
	loop_clear(l, upto);
	return status;
}

/* --- a quantum ------------------------------------------------------------------------------ */

/* The look-ups of cycles up to now; their walks. */
static int translate(struct quantum *q, uint64_t now)
{
	struct loop *l = q->l;
	struct machine *m = l->m;
	struct run *r = l->running[0];
	int ret;

	page_table_step(m, now);
	ret = gmmu_step(m->gmmu, now);

	if (ret)
		return fail_run(l, r, err_set(&r->err, ret, "kernel '%s': out of memory",
					      r->kernel->name), now + 1);
	if (l->s->poll_status)
		return fail_all(l, l->s->poll_status, now + 1);
	if (m->off_status)
		return fail_run(l, r, blame_access(r, m->off_page, m->off_status), now + 1);
	perform_translated(q);
	return q->error ? fail(q) : 0;
}

/* What happens at the quantum's first cycle, before the SMs run. */
static int begin_quantum(struct quantum *q)
{
	struct loop *l = q->l;
	struct machine *m = l->m;
	struct run *r = l->running[0];
	int ret = gpu_apply_invalidations(l->s->gpu);

	if (!ret)
		ret = l->s->poll_status;
	if (ret)
		return fail_all(l, ret, q->from);
	/* Look-ups of the quantum before have been taken: only walks may be due. */
	ret = MIN(gmmu_next(m->gmmu), page_table_next(m)) <= q->from ?
		translate(q, q->from) : 0;
	if (ret)
		return ret;
	ret = handler_step(&m->handler, r, q->from);
	if (ret)
		return fail_run(l, r, ret, q->from);
	ret = dispatch_step(m->dispatch, q->from);
	return ret ? fail_run(l, r, err_set(&r->err, ret, "kernel '%s': no memory for its warps",
					    r->kernel->name), q->from) : 0;
}

static uint64_t end_of_quantum(const struct loop *l, uint64_t from)
{
	const struct machine *m = l->m;
	uint64_t upto = from + m->quantum;

	upto = MIN(upto, gmmu_next(m->gmmu));
	upto = MIN(upto, page_table_next(m));
	upto = MIN(upto, handler_next(&m->handler));
	upto = MIN(upto, dispatch_next(m->dispatch, from));
	upto = MIN(upto, MIN(tasks_next(l), l->stop));
	upto = MIN(upto, halt_next(l));
	return MAX(upto, from + 1);
}

/* The SMs' next packets are known now. */
static void wake_for_replies(struct machine *m)
{
	for (unsigned int i = 0; i < m->nsms; i++) {
		uint64_t next = mem_next(m->mem, i);

		/* Not written where it need not be: the line may be in another processor's caches. */
		if (next < m->left[i].wake)
			m->left[i].wake = next;
	}
}

/* SMs that have more room than before: the dispatcher looks there again. True: CTAs retired. */
static bool any_retired(struct quantum *q)
{
	struct machine *m = q->l->m;
	bool any = false;

	for (unsigned int k = 0; k < q->nawake; k++) {
		unsigned int i = m->awake[k];
		uint64_t n, room = m->left[i].rooms;

		if (room == m->rooms[i])
			continue;
		m->rooms[i] = room;
		dispatch_room(m->dispatch);
		n = sm_stats(m->sms[i])->retired_ctas;
		if (n == m->retired[i])
			continue;
		m->retired[i] = n;
		dispatch_retired(m->dispatch, i, q->upto);
		any = true;
	}
	return any;
}

static uint64_t next_cycle(const struct loop *l, uint64_t upto)
{
	const struct machine *m = l->m;
	uint64_t next = MIN(gmmu_wake(m->gmmu), handler_next(&m->handler));

	next = MIN(next, mem_wake(m->mem));
	next = MIN(next, page_table_next(m));
	for (unsigned int i = 0; i < m->nsms; i++)
		next = MIN(next, m->left[i].wake);
	/* CTAs that found no room wait until there is more; those that may go, go at once. */
	next = MIN(next, dispatch_next(m->dispatch, upto - 1));
	next = MIN(next, MIN(tasks_next(l), l->stop));
	if (next != NEVER)
		next = MIN(next, halt_next(l));
	return next == NEVER ? NEVER : MAX(next, upto);
}

/* --- watchdogs --------------------------------------------------------------------------------- */

static int watch(struct loop *l, uint64_t upto)
{
	uint64_t limit = l->m->spec.watchdog;

	for (unsigned int k = 0; limit && k < l->nrunning; k++) {
		struct run *r = l->running[k];
		uint64_t n = 0;

		for (unsigned int i = 0; i < l->m->nsms; i++)
			n += sm_share(l->m->sms[i], r->sm_kernel)->warp_instructions;
		if (n > limit)
			return fail_run(l, r, run_watchdog(r), upto);
	}
	return 0;
}

static int deadlock(struct loop *l, uint64_t upto)
{
	struct run *r = l->running[0];
	char what[400] = "nothing is running";

	for (unsigned int i = 0; i < l->m->nsms; i++) {
		if (!sm_resident_ctas(l->m->sms[i], NULL))
			continue;
		sm_describe(l->m->sms[i], what, sizeof(what));
		break;
	}
	return fail_run(l, r, err_set(&r->err, -EDEADLK,
				      "kernel '%s': no warp can ever go on: %s",
				      r->kernel->name, what), upto);
}

static uint64_t all_issued(const struct machine *m)
{
	uint64_t issued = 0;

	for (unsigned int i = 0; i < m->nsms; i++)
		issued += sm_stats(m->sms[i])->warp_instructions;
	return issued;
}

/* Has no SM issued for so long that none ever will? */
static bool stands_still(struct loop *l)
{
	uint64_t issued;

	if (++l->calm % 4096)
		return false;
	issued = all_issued(l->m);
	if (issued != l->issued || handler_next(&l->m->handler) != NEVER ||
	    gmmu_wake(l->m->gmmu) != NEVER) {
		l->issued = issued;
		l->calm = 0;
	}
	return l->calm >= CALM_QUANTA;
}

/* --- the loop ------------------------------------------------------------------------------------- */

/* Samples that are due by `cycle`, at which nothing has happened since l->now. */
static void sample(struct loop *l, uint64_t cycle)
{
	struct samples *s = &l->s->samples;
	struct gpu_counters c;
	struct gpu_state state;

	while (s->due <= cycle) {
		uint64_t due = s->due, at = MAX(due, l->now);

		machine_counters(l->m, at, &c);
		machine_state(l->m, &state);
		loop_sample(l, at, &c);
		/* Without memory the rest is missing; the run goes on. */
		if (samples_take(s, at, &c, &state) || s->due == due)
			return;
	}
}

static int run_quantum(struct loop *l)
{
	struct machine *m = l->m;
	struct quantum q = { .l = l, .m = m, .from = l->now };
	int ret = begin_quantum(&q);
	uint64_t next;
	bool halted;

	if (ret)
		return ret;
	q.upto = end_of_quantum(l, q.from);
	run_parts(&q);
	if (q.error)
		return fail(&q);
	ret = translate(&q, q.upto - 1);
	if (ret)
		return ret;
	mem_meet(m->mem, q.upto);
	if (m->remote)
		handler_share_link(&m->handler);
	wake_for_replies(m);
	halted = halt_watch(l, q.upto);
	ret = watch(l, q.upto);
	if (ret)
		return ret;
	l->now = q.upto;
	/* Where a kernel has ended, others may begin: no jump. */
	if ((any_retired(&q) || halted || l->ending) && loop_retire(l, q.upto))
		return 0;
	next = next_cycle(l, q.upto);
	if (next == NEVER || stands_still(l))
		return deadlock(l, q.upto);
	sample(l, next);
	trace_sms(l->s, next);
	l->now = next;
	return 0;
}

/* --- turns ---------------------------------------------------------------------------------------- */

struct turn {
	gpu_over *over;			/* NULL: it has no end */
	void *ctx;
	unsigned int quanta;
	uint64_t issued, batches;	/* when it began */
	uint64_t asked;			/* batches, when it was asked last */
};

static struct turn turn_begin(const struct machine *m, gpu_over *over, void *ctx)
{
	return (struct turn){
		.over = over, .ctx = ctx, .issued = over ? all_issued(m) : 0,
		.batches = m->handler.taken, .asked = m->handler.taken,
	};
}

/*
 * Is it another session's turn? Not before something was executed: two that fault could
 * otherwise take each other's frames before either has used them, for ever.
 */
static bool turn_ends(struct turn *t, const struct machine *m)
{
	uint64_t batches = m->handler.taken;

	if (!t->over || (++t->quanta % TURN_QUANTA && batches == t->asked))
		return false;
	t->asked = batches;
	if (batches - t->batches < TURN_BATCHES && all_issued(m) == t->issued)
		return false;
	return t->over(t->ctx);
}

static void set_aside(const struct loop *l)
{
	*l->s->loop = *l;
	l->s->aside = true;
	paging_set_aside(l->s->paging, true);
}

static struct loop take_up(struct gpu_session *s)
{
	s->aside = false;
	paging_set_aside(s->paging, false);
	/* The program may have more memory now; without memory for it, what it had. */
	page_table_set_ranges(s->machine);
	return *s->loop;
}

static struct loop loop_begin(struct gpu_session *s)
{
	struct machine *m = s->machine;
	struct loop l = { .s = s, .m = m, .now = s->now };
	int ret = page_table_set_ranges(m);

	s->poll_status = 0;
	m->off_status = 0;
	for (unsigned int i = 0; i < m->nsms; i++)
		m->sm_errs[i].text[0] = '\0';
	for (struct run *r = s->queue; ret && r; r = r->next) {
		r->status = err_set(&r->err, ret, "out of memory");
		r->state = RUN_DONE;
	}
	return l;
}

void loop_cancel(struct gpu_session *s)
{
	struct loop l = s->aside ? take_up(s) : loop_begin(s);

	fail_all(&l, -ECANCELED, l.now);
	s->now = l.now;
}

/* No kernel runs: on to where a task may be over. */
static void pass_time(struct loop *l)
{
	l->now = MAX(l->now, MIN(tasks_next(l), l->stop));
}

/* Is what is waited for there? Works are looked at again when one of them has ended. */
static bool reached(const struct loop *l, const struct gpu_until *until)
{
	return l->now >= l->stop || queue_until(l->s, until);
}

bool loop_run(struct gpu_session *s, const struct gpu_until *until, gpu_over *over, void *ctx)
{
	struct loop l = s->aside ? take_up(s) : loop_begin(s);
	struct turn turn = turn_begin(l.m, over, ctx);
	bool looked;

	l.look = true;
	l.stop = until && until->cycles ? l.now + until->cycles : NEVER;
	for (;;) {
		looked = loop_admit(&l);
		if (!l.nrunning && !l.ntasks) {
			loop_progress(&l);
			break;
		}
		if ((looked || l.now >= l.stop) && reached(&l, until)) {
			set_aside(&l);
			break;
		}
		if (!l.nrunning) {
			pass_time(&l);
			continue;
		}
		run_quantum(&l);
		if (looked || ++l.untold == PROGRESS_QUANTA)
			loop_progress(&l);
		if (turn_ends(&turn, l.m)) {
			set_aside(&l);
			return false;
		}
	}
	s->now = l.now;
	return true;
}
