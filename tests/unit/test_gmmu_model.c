// SPDX-License-Identifier: GPL-2.0
/*
 * Far faults, throttle and replay against a second model of them: one that goes cycle
 * by cycle through plain lists and looks at everything each time. Both get the same
 * random look-ups, batches, arrivals and evictions; each waiter must hear the same in the same
 * cycle, each record must be the same. And with everything that the GMMU has switched on in turn:
 * nobody is forgotten, told twice, or given a page that is not there.
 */
#include <stdio.h>
#include <stdlib.h>

#include "gmmu_bench.h"

/* --- random numbers (xorshift64*) ----------------------------------------------------- */

static uint64_t state;

static uint64_t draw(uint64_t below)
{
	state ^= state >> 12;
	state ^= state << 25;
	state ^= state >> 27;
	return (state * 0x2545f4914f6cdd1dull >> 33) % below;
}

/* --- the second model --------------------------------------------------------------------- */

#define M_SMS	4u
#define M_PAGES	24u
#define M_TLB	4u
#define M_MOST	4096u

enum { NOWHERE, WAITS_WALKER, WALKS, HAS_MSHR, REFUSED };

struct m_request {
	int where;
	bool again;			/* it was refused before, and was far when it was sent again */
	uint64_t since;			/* order of its coming to where it is */
	uint64_t end;			/* of the walk */
	int waiters[M_MOST];
	int nwaiters;
};

struct model {
	unsigned int latency, walkers, mshrs, entries;
	unsigned int tlb[M_SMS][M_TLB], ntlb[M_SMS];	/* the newest last */
	struct m_request r[M_SMS][M_PAGES];
	bool holds[M_SMS][M_PAGES];	/* the SM is told of it */
	unsigned int owner[M_PAGES];	/* whose MSHR it is */
	int pending[M_SMS], again[M_SMS];
	unsigned int buffer[M_PAGES], nbuffer;
	bool outstanding[M_PAGES];	/* a record is in the buffer or taken */
	uint64_t order;
	uint64_t done[WAITERS], told[WAITERS];
};

static struct model m;
static struct world w;

static int m_walking(void)
{
	int n = 0;

	for (unsigned int sm = 0; sm < M_SMS; sm++)
		for (unsigned int p = 0; p < M_PAGES; p++)
			n += m.r[sm][p].where == WALKS;
	return n;
}

/* The one that has been at a place for longest, of one SM or of all. */
static struct m_request *m_oldest(int where, int only, unsigned int *of)
{
	struct m_request *found = NULL;

	for (unsigned int sm = 0; sm < M_SMS; sm++)
		for (unsigned int p = 0; p < M_PAGES; p++) {
			struct m_request *r = &m.r[sm][p];

			if (r->where != where || (only >= 0 && sm != (unsigned int)only) ||
			    (found && r->since > found->since))
				continue;
			found = r;
			*of = sm;
		}
	return found;
}

static void m_walkers(uint64_t now)
{
	struct m_request *r;
	unsigned int sm;

	while (m_walking() < (int)m.walkers && (r = m_oldest(WAITS_WALKER, -1, &sm))) {
		r->where = WALKS;
		r->since = m.order++;
		r->end = now + m.latency;
	}
}

static void m_walk(struct m_request *r, uint64_t now)
{
	r->where = WAITS_WALKER;
	r->since = m.order++;
	m_walkers(now);
}

/* Those that are there, and of the others, oldest first, as many as find room. */
static void m_send_again(unsigned int sm, uint64_t now)
{
	struct m_request *old[M_PAGES];
	unsigned int n = 0;

	for (unsigned int p = 0; p < M_PAGES; p++) {
		struct m_request *r = &m.r[sm][p];
		unsigned int at = n;

		if (r->where != REFUSED)
			continue;
		for (; at && old[at - 1]->since > r->since; at--)
			old[at] = old[at - 1];
		old[at] = r;
		n++;
	}
	for (unsigned int i = 0; i < n; i++) {
		unsigned int p = (unsigned int)(old[i] - m.r[sm]);
		bool begins = !w.present[p] && !m.outstanding[p];

		if (begins && (m.nbuffer == m.entries ||
			       (m.mshrs && m.pending[sm] + m.again[sm] >= (int)m.mshrs)))
			continue;
		old[i]->again = begins;
		m.again[sm] += old[i]->again;
		m_walk(old[i], now);
	}
}

static void m_fill(unsigned int sm, unsigned int p)
{
	if (m.ntlb[sm] == M_TLB) {
		memmove(&m.tlb[sm][0], &m.tlb[sm][1], (M_TLB - 1) * sizeof(m.tlb[0][0]));
		m.ntlb[sm]--;
	}
	m.tlb[sm][m.ntlb[sm]++] = p;
}

static bool m_forget(unsigned int sm, unsigned int p)
{
	for (unsigned int i = 0; i < m.ntlb[sm]; i++) {
		if (m.tlb[sm][i] != p)
			continue;
		memmove(&m.tlb[sm][i], &m.tlb[sm][i + 1],
			(m.ntlb[sm] - i - 1) * sizeof(m.tlb[0][0]));
		m.ntlb[sm]--;
		return true;
	}
	return false;
}

static void m_tell(struct m_request *r, uint64_t now)
{
	for (int i = 0; i < r->nwaiters; i++)
		if (!m.told[r->waiters[i]])
			m.told[r->waiters[i]] = now;
}

static void m_far(unsigned int sm, unsigned int p, uint64_t now)
{
	struct m_request *r = &m.r[sm][p];
	bool room = !m.mshrs || m.pending[sm] < (int)m.mshrs;

	r->since = m.order++;
	r->where = REFUSED;
	if (!m.outstanding[p] && room && m.nbuffer < m.entries) {
		m.buffer[m.nbuffer++] = p;
		m.outstanding[p] = true;
		m.owner[p] = sm;
		m.pending[sm]++;
	}
	if (m.outstanding[p]) {
		m.holds[sm][p] = true;
		r->where = HAS_MSHR;
	}
	m_tell(r, now);
}

static void m_walk_ends(unsigned int sm, unsigned int p, uint64_t now)
{
	struct m_request *r = &m.r[sm][p];
	bool again = r->again;

	m.again[sm] -= again;
	r->again = false;
	if (w.present[p]) {
		m_fill(sm, p);
		for (int i = 0; i < r->nwaiters; i++)
			m.done[r->waiters[i]] = now;
		r->nwaiters = 0;
		r->where = NOWHERE;
		if (again)
			m_send_again(sm, now);
	} else {
		m_far(sm, p, now);
	}
	m_walkers(now);
}

/* Walks that end in this cycle, in the order of their beginnings. */
static void m_cycle(uint64_t now)
{
	for (;;) {
		unsigned int sm, p;
		struct m_request *r = m_oldest(WALKS, -1, &sm);

		if (!r || r->end > now)
			return;
		p = (unsigned int)(r - m.r[sm]);
		m_walk_ends(sm, p, now);
	}
}

static bool m_ask(unsigned int sm, unsigned int p, int waiter, uint64_t now)
{
	struct m_request *r = &m.r[sm][p];

	if (m_forget(sm, p)) {
		m_fill(sm, p);
		return true;
	}
	r->waiters[r->nwaiters++] = waiter;
	if (r->where == NOWHERE)
		m_walk(r, now);
	else if (r->where == HAS_MSHR || r->where == REFUSED)
		m_tell(r, now);
	return false;
}

static unsigned int m_arrived(unsigned int first, unsigned int n, uint64_t now)
{
	unsigned int walking = 0;
	bool concerned[M_SMS] = { false }, any = false;

	for (unsigned int p = first; p < first + n; p++) {
		if (!m.outstanding[p])
			continue;
		any = true;
		m.outstanding[p] = false;
		for (unsigned int i = 0; i < m.nbuffer; i++) {
			if (m.buffer[i] != p)
				continue;
			memmove(&m.buffer[i], &m.buffer[i + 1],
				(m.nbuffer - i - 1) * sizeof(m.buffer[0]));
			m.nbuffer--;
		}
		for (unsigned int sm = 0; sm < M_SMS; sm++) {
			if (!m.holds[sm][p])
				continue;
			m.holds[sm][p] = false;
			m.pending[sm] -= m.owner[p] == sm;
			concerned[sm] = true;
			if (m.r[sm][p].where == HAS_MSHR) {
				m_walk(&m.r[sm][p], now);
				walking++;
			}
		}
	}
	for (unsigned int sm = 0; any && sm < M_SMS; sm++)
		if (concerned[sm] || !m.pending[sm])
			m_send_again(sm, now);
	return walking;
}

/* --- both ------------------------------------------------------------------------------------ */

static void begin(uint64_t seed)
{
	state = seed * 0x9e3779b97f4a7c15ull | 1;
	bench_spec(&w);
	memset(&m, 0, sizeof(m));
	w.spec.sms = M_SMS;
	w.spec.tlb_entries = M_TLB;
	m.latency = (unsigned int)(1 + draw(60));
	m.walkers = (unsigned int)(1 + draw(8));
	m.mshrs = (unsigned int)draw(5);
	m.entries = (unsigned int)(1 + draw(12));
	w.spec.walk_latency = m.latency;
	w.spec.walkers = m.walkers;
	w.spec.far_mshrs = m.mshrs;
	w.spec.fault_entries = m.entries;
	bench_start(&w);
}

static void both_ask(uint64_t now)
{
	unsigned int sm = (unsigned int)draw(M_SMS), p = (unsigned int)draw(M_PAGES);
	bool expected = m_ask(sm, p, (int)w.used, now);

	/* ask() runs what is due first, which has been done to the model. */
	assert_int_equal(ask(&w, sm, p, now), expected);
	if (expected)
		m.done[w.used - 1] = w.done[w.used - 1];
}

static void both_take(void)
{
	struct fault f[8];
	unsigned int most = (unsigned int)(1 + draw(8));
	unsigned int n = gmmu_take(w.g, f, most);

	assert_int_equal(n, MIN(most, m.nbuffer));
	for (unsigned int i = 0; i < n; i++)
		assert_int_equal(f[i].addr, page(m.buffer[i]));
	m.nbuffer -= n;
	memmove(&m.buffer[0], &m.buffer[n], m.nbuffer * sizeof(m.buffer[0]));
}

static void both_arrive(unsigned int first, unsigned int n, uint64_t now)
{
	assert_int_equal(gmmu_arrived(w.g, page(first), n * PAGE_BYTES, now),
			 m_arrived(first, n, now));
}

static void both_evict(unsigned int p)
{
	w.present[p] = false;
	gmmu_invalidate(w.g, page(p), page(p + 1));
	for (unsigned int sm = 0; sm < M_SMS; sm++)
		m_forget(sm, p);
}

static void compare(void)
{
	assert_int_equal(gmmu_faults(w.g), m.nbuffer);
	for (unsigned int sm = 0; sm < M_SMS; sm++)
		assert_int_equal(gmmu_mshrs_used(w.g, sm), m.pending[sm]);
	for (unsigned int i = 0; i < w.used; i++) {
		assert_int_equal(w.done[i], m.done[i]);
		assert_int_equal(w.told[i], m.told[i]);
	}
}

static void one_against_the_other(uint64_t seed)
{
	uint64_t now = 1;

	begin(seed);
	for (unsigned int step = 0; step < 3000; step++, now++) {
		m_cycle(now);
		run(&w, now);
		switch (draw(8)) {
		case 0:
		case 1:
			both_ask(now);
			break;
		case 2:
			both_take();
			break;
		case 3:
			if (draw(3))
				break;
			/* Comes, or is given up. */
			for (unsigned int n = 1 + (unsigned int)draw(3), p =
			     (unsigned int)draw(M_PAGES - 3), i = p; i < p + n; i++) {
				w.present[i] |= draw(4) != 0;
				both_arrive(i, 1, now);
			}
			break;
		case 4:
			if (!draw(4))
				both_evict((unsigned int)draw(M_PAGES));
			break;
		default:
			break;
		}
		if (step % 64 == 0)
			compare();
	}
	/* Everything comes: everybody gets his page. */
	memset(w.present, true, sizeof(w.present));
	for (unsigned int round = 0; round < 200; round++) {
		for (unsigned int i = 0; i < 100; i++, now++) {
			m_cycle(now);
			run(&w, now);
		}
		both_take();
		both_arrive(0, M_PAGES, now);
	}
	for (unsigned int i = 0; i < 10000; i++, now++)
		m_cycle(now);
	run_out(&w);
	compare();
	for (unsigned int i = 0; i < w.used; i++)
		assert_int_not_equal(w.done[i], 0);
	gmmu_destroy(w.g);
}

static void test_against_the_model(void **ctx)
{
	for (uint64_t seed = 1; seed <= 40; seed++)
		one_against_the_other(seed);
}

/* --- everything on in turn ------------------------------------------------------------------ */

static void any_options(struct gpu_spec *spec)
{
	static const uint64_t pages[] = { 4096, 65536, 2097152 }, mshrs[] = { 0, 1, 2, 4, 16 };

	spec->sms = 1 + draw(6);
	spec->tlb_entries = 1 + draw(20);
	spec->tlb_ports = 1 + draw(4);
	spec->l2tlb_entries = draw(2) * (1 + draw(30));
	spec->l2tlb_ports = 1 + draw(3);
	spec->l2tlb_latency = 1 + draw(20);
	spec->pwc_bytes = draw(3) * 8 * (1 + draw(16));
	spec->pwc_latency = 1 + draw(30);
	spec->walk_latency = draw(3) ? 0 : 1 + draw(100);
	spec->walkers = 1 + draw(12);
	spec->far_mshrs = mshrs[draw(ARRAY_SIZE(mshrs))];
	spec->page_bytes = pages[draw(ARRAY_SIZE(pages))];
	spec->blocking = draw(3) == 0;
	spec->fault_entries = 1 + draw(20);
	spec->record = draw(2);
}

/* What came for records that were taken; every one comes or is given up at some time. */
struct open_fault {
	uint64_t addr, due;
};

static void serve(struct open_fault *open, unsigned int *nopen, uint64_t now)
{
	for (unsigned int i = 0; i < *nopen; ) {
		uint64_t base = open[i].addr & ~(w.spec.page_bytes - 1);

		if (open[i].due > now) {
			i++;
			continue;
		}
		if (draw(8)) {
			for (uint64_t a = base; a < base + w.spec.page_bytes; a += PAGE_BYTES)
				w.present[number(a)] = true;
			gmmu_arrived(w.g, base, w.spec.page_bytes, now);
		} else {
			gmmu_arrived(w.g, open[i].addr, PAGE_BYTES, now);
		}
		open[i] = open[--*nopen];
	}
}

#define MOST_ASKED	1000u

static void nobody_is_forgotten(uint64_t seed)
{
	struct open_fault open[512];
	unsigned int nopen = 0, asked = 0;
	uint64_t now = 0, idle = 0;

	state = seed * 0xd1342543de82ef95ull | 1;
	bench_spec(&w);
	any_options(&w.spec);
	w.latency = 1 + draw(300);
	bench_start(&w);
	while (idle < 2) {
		struct fault f[16];
		unsigned int n;

		now += 1 + draw(8);
		run(&w, now);
		w.full = draw(10) == 0;
		if (asked < MOST_ASKED && draw(2)) {
			/* Few pages near each other, and some far away. */
			unsigned int p = draw(4) ? (unsigned int)draw(40) :
					 (unsigned int)draw(PAGES);

			asked++;
			ask_as(&w, (unsigned int)draw(w.spec.sms), p,
			       draw(2) ? ACCESS_READ : ACCESS_WRITE, now);
		}
		n = gmmu_take(w.g, f, (unsigned int)draw(17));
		for (unsigned int i = 0; i < n; i++) {
			assert_true(nopen < ARRAY_SIZE(open));
			assert_false(w.present[number(f[i].addr)] &&
				     gmmu_tlb_holds(w.g, f[i].sm, f[i].addr));
			open[nopen++] = (struct open_fault){ f[i].addr, now + draw(3000) };
		}
		serve(open, &nopen, now);
		/* Not for ever: a single walker would never get to a page before it is gone. */
		if (asked < MOST_ASKED && !draw(200)) {
			unsigned int p = (unsigned int)draw(PAGES - 64);
			unsigned int many = 1 + (unsigned int)draw(64);

			memset(&w.present[p], 0, many);
			gmmu_invalidate(w.g, page(p), page(p + many));
		}
		for (unsigned int sm = 0; sm < w.spec.sms; sm++)
			assert_true(gmmu_mshrs_used(w.g, sm) <= (w.spec.blocking ? 1 :
				    w.spec.far_mshrs ? w.spec.far_mshrs : UINT32_MAX));
		assert_true(gmmu_faults(w.g) <= w.spec.fault_entries);
		if (asked == MOST_ASKED && !nopen && !gmmu_faults(w.g) && bench_next(&w) == NEVER)
			idle++;
		/* One walker and one MSHR are slow. */
		assert_true(now < 1000000000);
	}
	for (unsigned int i = 0; i < w.used; i++)
		assert_int_not_equal(w.done[i], 0);
	for (unsigned int sm = 0; sm < w.spec.sms; sm++) {
		assert_int_equal(gmmu_mshrs_used(w.g, sm), 0);
		assert_false(gmmu_blocked(w.g, sm));
	}
	assert_int_equal(STATS(&w)->tlb_hits + STATS(&w)->tlb_misses, w.used);
	gmmu_destroy(w.g);
}

static void test_nobody_is_forgotten(void **ctx)
{
	for (uint64_t seed = 1; seed <= 200; seed++)
		nobody_is_forgotten(seed);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_against_the_model),
		cmocka_unit_test(test_nobody_is_forgotten),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
