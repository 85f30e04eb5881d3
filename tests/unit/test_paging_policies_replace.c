// SPDX-License-Identifier: GPL-2.0
/*
 * Properties of page replacement over random traces, without a handler: a page that is
 * not inside costs a fault and a victim. MIN is the bound of all (Belady 1966), LRU is a
 * stack (Mattson 1970), MRU is what it is for, and MIN keeps its sense when the run is
 * not quite the recorded one.
 */
#include "policies_bench.h"

#define TRACE		3000u
#define TRACE_PAGES	100u

/* Random phases: a working set that moves, scans, and far jumps. */
static void make_trace(uint16_t *trace, uint64_t seed)
{
	struct rng rng;
	unsigned int from = 0, size = 10;

	rng_seed(&rng, seed);
	for (unsigned int i = 0; i < TRACE; i++) {
		if (i % 150 == 0) {
			from = (unsigned int)rng_below(&rng, TRACE_PAGES - 40);
			size = 5 + (unsigned int)rng_below(&rng, 35);
		}
		switch (seed % 3) {
		case 0:
			trace[i] = (uint16_t)(from + rng_below(&rng, size));
			break;
		case 1:
			trace[i] = (uint16_t)(from + i % size);
			break;
		default:
			trace[i] = (uint16_t)(rng_below(&rng, 10) ? from + rng_below(&rng, size) :
					      rng_below(&rng, TRACE_PAGES));
		}
	}
}

static void record_trace(const uint16_t *trace)
{
	for (unsigned int i = 0; i < TRACE; i++)
		record[i] = PAGE(trace[i]);
	view.record_length = TRACE;
}

static bool exact = true;

/* Faults of a trace with `frames` frames; what is inside at the end is resident[]. */
static unsigned int replace(const struct gpuemu_evict_ops *ops, const uint16_t *trace,
			    unsigned int frames)
{
	unsigned int used = 0, faults = 0, victims[PAGES];
	void *s;

	memset(resident, 0, sizeof(resident));
	view.frames = frames;
	set_options(ops->options);
	/* Here there is one stream of touches: nothing recent has to be spared. */
	if (exact && ops->options && !strcmp(ops->options[0].key, "recent"))
		values[0] = 0;
	s = evict_make(ops);
	for (unsigned int i = 0; i < TRACE; i++) {
		if (!resident[trace[i]]) {
			faults++;
			while (used >= frames) {
				unsigned int n = evict_pick(ops, s, 1, PAGES, victims);

				assert_true(n > 0);
				for (unsigned int k = 0; k < n; k++)
					evict_remove(ops, s, victims[k]);
				used -= n;
			}
			evict_insert(ops, s, trace[i]);
			used++;
		}
		evict_touch(ops, s, trace[i], false);
	}
	evict_end(ops, s);
	return faults;
}

/* The bound by itself: the page whose next use is farthest, found by looking. */
static unsigned int belady(const uint16_t *trace, unsigned int frames)
{
	bool in[TRACE_PAGES] = { false };
	unsigned int used = 0, faults = 0;

	for (unsigned int i = 0; i < TRACE; i++) {
		unsigned int victim = 0, farthest = 0;

		if (in[trace[i]])
			continue;
		faults++;
		for (unsigned int page = 0; used == frames && page < TRACE_PAGES; page++) {
			unsigned int next = i + 1;

			if (!in[page])
				continue;
			while (next < TRACE && trace[next] != page)
				next++;
			if (next > farthest) {
				farthest = next;
				victim = page;
			}
		}
		if (used == frames)
			in[victim] = false;
		else
			used++;
		in[trace[i]] = true;
	}
	return faults;
}

static void min_is_never_beaten(void **state)
{
	static uint16_t trace[TRACE];

	fresh();
	for (uint64_t seed = 0; seed < 24; seed++) {
		unsigned int frames = 1 + (unsigned int)(seed * 7 % 60), least;

		make_trace(trace, seed);
		record_trace(trace);
		least = replace(evict_row("min"), trace, frames);
		assert_int_equal(least, belady(trace, frames));
		for (unsigned int i = 0; evict_rows[i]; i++)
			assert_true(replace(evict_rows[i], trace, frames) >= least);
	}
}

/* Another run: neighbours have changed places, some touches are missing, some are new. */
static void min_bears_another_order(void **state)
{
	static uint16_t trace[TRACE], run[TRACE];
	unsigned int min_sum = 0, lru_sum = 0, belady_sum = 0;
	struct rng rng;

	fresh();
	for (uint64_t seed = 0; seed < 24; seed++) {
		make_trace(trace, seed);
		record_trace(trace);
		rng_seed(&rng, seed);
		memcpy(run, trace, sizeof(run));
		for (unsigned int i = 0; i + 20 < TRACE; i++) {
			unsigned int other = i + (unsigned int)rng_below(&rng, 20);
			uint16_t page = run[i];

			run[i] = run[other];
			run[other] = page;
			if (rng_below(&rng, 20) == 0)
				run[i] = run[i + 1];
		}
		exact = seed & 1;
		min_sum += replace(evict_row("min"), run, 20);
		exact = true;
		lru_sum += replace(evict_row("lru"), run, 20);
		belady_sum += belady(run, 20);
	}
	/* It still wins more than half of what there is to win. */
	assert_true(min_sum >= belady_sum);
	assert_true(min_sum - belady_sum < (lru_sum - belady_sum) / 2);
}

static void lru_is_a_stack(void **state)
{
	static uint16_t trace[TRACE];
	static bool smaller[PAGES];

	fresh();
	for (uint64_t seed = 0; seed < 3; seed++) {
		make_trace(trace, seed);
		for (unsigned int frames = 1; frames < 42; frames++) {
			unsigned int faults = replace(evict_row("lru"), trace, frames);

			memcpy(smaller, resident, sizeof(smaller));
			assert_true(replace(evict_row("lru"), trace, frames + 1) <= faults);
			for (unsigned int page = 0; page < PAGES; page++)
				assert_true(!smaller[page] || resident[page]);
		}
	}
}

/* A loop over more than fits: LRU and FIFO lose every page, MRU and a reserve keep some. */
static void loops_longer_than_memory(void **state)
{
	static uint16_t trace[TRACE];
	unsigned int mru;

	fresh();
	for (unsigned int i = 0; i < TRACE; i++)
		trace[i] = (uint16_t)(i % 50);
	record_trace(trace);
	assert_int_equal(replace(evict_row("lru"), trace, 40), TRACE);
	assert_int_equal(replace(evict_row("fifo"), trace, 40), TRACE);
	/* 10 of each 49 others: MIN is as good as it gets, and MRU is it. */
	mru = replace(evict_row("mru"), trace, 40);
	assert_int_equal(mru, replace(evict_row("min"), trace, 40));
	assert_in_range(mru, TRACE * 10 / 50, TRACE * 11 / 49 + 40);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(min_is_never_beaten),
		cmocka_unit_test(min_bears_another_order),
		cmocka_unit_test(lru_is_a_stack),
		cmocka_unit_test(loops_longer_than_memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
