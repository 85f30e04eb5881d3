// SPDX-License-Identifier: GPL-2.0
/*
 * A policy in its process, good and bad (tests/policy/): what it decides arrives as it
 * was meant, what it does wrong is bounded, counted and said in one sentence, and an
 * eviction policy's fallback goes on with the pages that are there.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include <dirent.h>
#include <errno.h>
#include <linux/seccomp.h>
#include <seccomp.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/rng.h"
#include "plugin/plugin.h"

#define BASE	0x7e0000000000ull
#define PAGES	4096u
#define PAGE(n)	(BASE + (uint64_t)(n) * PAGE_BYTES)

/* As numbered in tests/policy/bad.c. */
enum how {
	GOOD, HANG, CRASH, EXIT, NONSENSE, KEPT, TOO_MANY, HANG_IN_TOUCH, CRASH_IN_INSERT,
	INSERT_FAILS, CREATE_FAILS, CRASH_IN_CREATE, HANG_IN_CREATE, NOTHING, MEMORY, BREAK_OUT,
	SCRIBBLE, CLOSE, KILLED, HANG_IN_DESTROY, ASK_AGAIN, SIGHT,
};

static char folder[4096];	/* of the objects */
static uint64_t policy_ms = 1000;

struct bench {
	struct gpuemu_policy_view view;
	struct gpu_spec spec;
	struct plugin *plugin;
	const struct gpuemu_evict_ops *evict;
	const struct gpuemu_prefetch_ops *prefetch;
	void *state;
	bool resident[PAGES];
	bool kept[PAGES];
	uint64_t counted[3];
	unsigned int nranges;		/* 1, or 2 with a page far above */
	uint64_t option;
};

static bool view_resident(void *ctx, uint64_t addr)
{
	const struct bench *b = ctx;

	return addr >= BASE && addr < PAGE(PAGES) && b->resident[(addr - BASE) / PAGE_BYTES];
}

static bool view_next_range(void *ctx, uint64_t addr, struct gpuemu_policy_range *range)
{
	const struct bench *b = ctx;

	*range = (struct gpuemu_policy_range){ BASE, PAGE(PAGES) };
	if (addr >= range->end && b->nranges == 2)
		*range = (struct gpuemu_policy_range){ PAGE(2 * PAGES), PAGE(2 * PAGES + 1) };
	return addr < range->end;
}

static uint64_t view_random(void *ctx)
{
	fail_msg("the process has random numbers of its own");
	return 0;
}

static void view_count(void *ctx, unsigned int index, uint64_t n)
{
	struct bench *b = ctx;

	if (index < 3)
		b->counted[index] += n;
}

static bool keep(void *ctx, uint64_t addr)
{
	const struct bench *b = ctx;

	assert_true(view_resident(ctx, addr));
	return b->kept[(addr - BASE) / PAGE_BYTES];
}

/* --- what goes on when a policy fails: the page with the highest address ---------- */

struct high {
	bool has[PAGES];
	unsigned int count;
};

static unsigned int highs;	/* that were made and not destroyed */

static int high_create(const struct gpuemu_policy_view *view, void **state)
{
	*state = calloc(1, sizeof(struct high));
	highs++;
	return 0;
}

static void high_destroy(void *state)
{
	highs--;
	free(state);
}

static int high_insert(void *state, uint64_t addr, bool prefetched)
{
	struct high *high = state;

	high->count += !high->has[(addr - BASE) / PAGE_BYTES];
	high->has[(addr - BASE) / PAGE_BYTES] = true;
	return 0;
}

static void high_touch(void *state, uint64_t addr, bool write)
{
}

static void high_remove(void *state, uint64_t addr)
{
	struct high *high = state;

	high->count -= high->has[(addr - BASE) / PAGE_BYTES];
	high->has[(addr - BASE) / PAGE_BYTES] = false;
}

static unsigned int high_pick(void *state, const struct gpuemu_policy_view *view,
			      unsigned int need, bool (*keep)(void *ctx, uint64_t addr), void *ctx,
			      uint64_t *pages, unsigned int max)
{
	struct high *high = state;
	unsigned int n = 0;

	for (unsigned int i = PAGES; i-- && n < need;)
		if (high->has[i] && !keep(ctx, PAGE(i)))
			pages[n++] = PAGE(i);
	return n;
}

static const struct gpuemu_evict_ops high_ops = {
	.create = high_create,
	.destroy = high_destroy,
	.insert = high_insert,
	.touch = high_touch,
	.remove = high_remove,
	.pick = high_pick,
};

/* --- opening ------------------------------------------------------------------------ */

static const char *object(const char *name)
{
	static char path[sizeof(folder) + 64];

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	return path;
}

static int open_bad(struct bench *b, enum policy_kind kind, enum how how, struct err *err)
{
	int rc;

	static const uint64_t record[] = { 4096, 8192, 1ull << 40 };

	memset(b, 0, sizeof(*b));
	spec_defaults(&b->spec);
	b->spec.policy_ms = policy_ms;
	b->option = how;
	b->view = (struct gpuemu_policy_view){
		.ctx = b,
		.frames = 64,
		.options = &b->option,
		.resident = view_resident,
		.next_range = view_next_range,
		.random = view_random,
		.count = view_count,
		.record = record,
		.record_length = ARRAY_SIZE(record),
	};
	/* One that was there before the policy. */
	b->resident[PAGES - 1] = kind == POLICY_PREFETCH;
	rc = plugin_open(NULL, object("bad.so"), kind, &b->spec, &b->plugin, err);
	if (rc)
		return rc;
	b->evict = plugin_evict_ops(b->plugin);
	b->prefetch = plugin_prefetch_ops(b->plugin);
	rc = plugin_start(b->plugin, &b->view, 1, kind == POLICY_EVICT ? &high_ops : NULL,
			  &b->state, err);
	if (rc)
		plugin_close(b->plugin);
	return rc;
}

static void open_good(struct bench *b, enum policy_kind kind, enum how how)
{
	struct err err = { "" };

	if (open_bad(b, kind, how, &err))
		fail_msg("%s", err.text);
}

static void insert(struct bench *b, unsigned int page)
{
	b->resident[page] = true;
	assert_int_equal(b->evict->insert(b->state, PAGE(page), false), 0);
}

static unsigned int pick(struct bench *b, unsigned int need, uint64_t *pages, unsigned int max)
{
	unsigned int n = b->evict->pick(b->state, &b->view, need, keep, b, pages, max);

	/* Whatever the object answers, these hold. */
	assert_true(n <= max);
	for (unsigned int i = 0; i < n; i++) {
		assert_int_equal(pages[i] % PAGE_BYTES, 0);
		assert_true(view_resident(b, pages[i]));
		assert_false(keep(b, pages[i]));
		for (unsigned int j = 0; j < i; j++)
			assert_int_not_equal(pages[i], pages[j]);
	}
	return n;
}

static void is_well(const struct bench *b)
{
	if (plugin_trouble(b->plugin))
		fail_msg("%s", plugin_trouble(b->plugin));
}

static void has_text(const char *text, const char *part)
{
	if (!text || !strstr(text, part))
		fail_msg("'%s' is not in: %s", part, text ? text : "(nothing)");
}

/* --- what works ---------------------------------------------------------------------- */

static void test_it_describes_itself(void **state)
{
	struct bench *b = *state;

	open_good(b, POLICY_EVICT, GOOD);
	assert_string_equal(b->evict->name, "bad");
	assert_string_equal(b->evict->options[0].key, "how");
	assert_int_equal(b->evict->options[0].max, SIGHT);
	assert_null(b->evict->options[1].key);
	assert_string_equal(b->evict->counters[0], "calls");
	assert_string_equal(b->evict->counters[1], "touches");
	assert_string_equal(b->evict->counters[2], "record");
	assert_null(b->evict->counters[3]);
	assert_false(b->evict->needs_record);
	b->evict->destroy(b->state);
}

static void test_it_decides(void **state)
{
	struct bench *b = *state;
	uint64_t pages[8];

	open_good(b, POLICY_EVICT, GOOD);
	for (unsigned int i = 0; i < 10; i++)
		insert(b, 100 * i);
	b->evict->touch(b->state, PAGE(0), true);
	b->kept[0] = true;
	b->kept[200] = true;
	b->evict->remove(b->state, PAGE(300));
	b->resident[300] = false;
	assert_int_equal(pick(b, 3, pages, 8), 3);
	assert_int_equal(pages[0], PAGE(100));
	assert_int_equal(pages[1], PAGE(400));
	assert_int_equal(pages[2], PAGE(500));
	assert_int_equal(plugin_refused(b->plugin), 0);
	is_well(b);
	/* Kept for that call only. */
	b->kept[0] = false;
	b->kept[200] = false;
	assert_int_equal(pick(b, 1, pages, 8), 1);
	assert_int_equal(pages[0], PAGE(0));
	for (unsigned int i = 0; i < PAGES; i++)
		b->kept[i] = true;
	assert_int_equal(pick(b, 1, pages, 8), 0);
	is_well(b);
	/* Counters follow the decisions, and what waits when it is delivered. */
	assert_int_equal(b->counted[0], 3);
	assert_int_equal(b->counted[1], 1);
	b->evict->touch(b->state, PAGE(100), false);
	assert_int_equal(b->counted[1], 1);
	plugin_flush(b->plugin);
	assert_int_equal(b->counted[1], 2);
	b->evict->destroy(b->state);
}

/* The process sees what the engine's view shows: ranges that change, pages, the record. */
static void test_what_it_sees(void **state)
{
	const struct gpuemu_policy_fault faults[] = {
		{ .addr = PAGE(1) }, { .addr = PAGE(2) }, { .addr = PAGE(3) },
		{ .addr = PAGE(PAGES - 1) },
	};
	struct bench *b = *state;
	struct rng rng;
	uint64_t pages[16];

	open_good(b, POLICY_PREFETCH, SIGHT);
	assert_int_equal(b->counted[2], 4096 + 8192 + (1ull << 40));
	b->prefetch->on_arrive(b->state, PAGE(2), true);
	b->prefetch->on_arrive(b->state, PAGE(3), true);
	b->prefetch->on_leave(b->state, PAGE(2));
	rng_seed(&rng, 1);
	assert_int_equal(b->prefetch->on_batch(b->state, &b->view, faults, 4, pages, 16), 6);
	assert_int_equal(pages[0], BASE);
	assert_int_equal(pages[1], PAGE(PAGES - 1));
	assert_int_equal(pages[2], PAGE(3));
	assert_int_equal(pages[3], PAGE(PAGES - 1));
	assert_int_equal(pages[4], PAGE(rng_next(&rng) % 16));
	assert_int_equal(pages[5], PAGE(rng_next(&rng) % 16));
	b->nranges = 2;
	assert_int_equal(b->prefetch->on_batch(b->state, &b->view, faults, 1, pages, 16), 4);
	assert_int_equal(pages[0], BASE);
	assert_int_equal(pages[1], PAGE(2 * PAGES));
	b->nranges = 1;
	assert_int_equal(b->prefetch->on_batch(b->state, &b->view, faults, 1, pages, 16), 4);
	assert_int_equal(pages[1], PAGE(PAGES - 1));
	is_well(b);
	b->prefetch->destroy(b->state);
}

/* More events than fit between two decisions. */
static void test_many_events(void **state)
{
	struct bench *b = *state;
	uint64_t page;

	open_good(b, POLICY_EVICT, GOOD);
	insert(b, 7);
	for (unsigned int i = 0; i < 200000; i++)
		b->evict->touch(b->state, PAGE(7), false);
	assert_int_equal(pick(b, 1, &page, 1), 1);
	assert_int_equal(page, PAGE(7));
	assert_int_equal(b->counted[1], 200000);
	b->evict->destroy(b->state);
}

static void test_two_at_a_time(void **state)
{
	struct bench *a = *state, *b = calloc(1, sizeof(*b));
	uint64_t page;

	open_good(a, POLICY_EVICT, GOOD);
	open_good(b, POLICY_EVICT, CRASH);
	insert(a, 1);
	insert(b, 2);
	assert_int_equal(pick(b, 1, &page, 1), 1);
	assert_non_null(plugin_trouble(b->plugin));
	assert_int_equal(pick(a, 1, &page, 1), 1);
	assert_int_equal(page, PAGE(1));
	is_well(a);
	a->evict->destroy(a->state);
	b->evict->destroy(b->state);
	free(b);
}

/* --- what does not ---------------------------------------------------------------------- */

static void test_refused_objects(void **state)
{
	static const struct {
		const char *name, *text;
		enum policy_kind kind;
		int rc;
	} cases[] = {
		{ "absent.so", "No such file", POLICY_EVICT, -ENOENT },
		{ "bad.d", "invalid ELF header", POLICY_EVICT, -EINVAL },
		{ "empty.so", "exports no gpuemu_evict", POLICY_EVICT, -EINVAL },
		{ "empty.so", "exports no gpuemu_prefetch", POLICY_PREFETCH, -EINVAL },
		{ "abi.so", "policy ABI 77, and this gpuemu has 1", POLICY_PREFETCH, -EINVAL },
		{ "abi.so", "gpuemu_evict has no insert()", POLICY_EVICT, -EINVAL },
		{ "names.so", "its name is no word", POLICY_PREFETCH, -EINVAL },
		{ "names.so", "option 1", POLICY_EVICT, -EINVAL },
	};
	struct plugin *plugin;
	struct gpu_spec spec;

	spec_defaults(&spec);
	for (unsigned int i = 0; i < ARRAY_SIZE(cases); i++) {
		struct err err = { "" };
		int rc = plugin_open(NULL, object(cases[i].name), cases[i].kind, &spec, &plugin,
				     &err);

		assert_int_equal(rc, cases[i].rc);
		has_text(err.text, cases[i].text);
		has_text(err.text, cases[i].name);
		assert_null(strchr(err.text, '\n'));
	}
}

static void test_not_allowed(void **state)
{
	const char *const allowed[] = { "/opt/one.so", object("bad.so"), NULL };
	struct plugin_site site = { .allowed = allowed };
	struct gpu_spec spec;
	struct plugin *plugin;
	struct err err;

	spec_defaults(&spec);
	assert_int_equal(plugin_open(&site, "/tmp/bad.so", POLICY_EVICT, &spec, &plugin, &err),
			 -EPERM);
	has_text(err.text, "gpuemud --policy");
	has_text(err.text, "/opt/one.so");
	assert_int_equal(plugin_open(&site, "./bad.so", POLICY_EVICT, &spec, &plugin, &err), -EPERM);
	assert_int_equal(plugin_open(&site, "other.so", POLICY_EVICT, &spec, &plugin, &err), -EPERM);
	assert_int_equal(plugin_open(&site, "bad.so", POLICY_EVICT, &spec, &plugin, &err), 0);
	plugin_close(plugin);
	assert_int_equal(plugin_open(&site, allowed[1], POLICY_EVICT, &spec, &plugin, &err), 0);
	plugin_close(plugin);
}

static void test_a_state_that_cannot_be(void **state)
{
	static const struct {
		enum how how;
		const char *text;
	} cases[] = {
		{ CREATE_FAILS, "create() failed: Function not implemented" },
		{ CRASH_IN_CREATE, "crashed with signal 11 (Segmentation fault) in create()" },
		{ HANG_IN_CREATE, "took longer than 1000 ms (paging.policy_ms) in create()" },
	};

	for (unsigned int i = 0; i < ARRAY_SIZE(cases); i++) {
		struct err err = { "" };

		assert_true(open_bad(*state, POLICY_EVICT, cases[i].how, &err) < 0);
		has_text(err.text, cases[i].text);
		assert_null(strstr(err.text, "goes on"));
	}
}

struct failure {
	enum how how;
	const char *text;	/* NULL: it goes on */
	uint64_t refused;	/* pages; UINT64_MAX: some */
};

static void evict_failure(struct bench *b, const struct failure *f)
{
	uint64_t pages[64];
	unsigned int n;

	open_good(b, POLICY_EVICT, f->how);
	for (unsigned int i = 0; i < 32; i++)
		insert(b, i);
	b->kept[0] = true;
	b->kept[31] = true;
	b->evict->touch(b->state, PAGE(3), true);
	/* Whatever happens, somebody names a page that may go. */
	for (unsigned int round = 0; round < 3; round++) {
		n = pick(b, 2, pages, 64);
		assert_int_not_equal(n, 0);
		for (unsigned int i = 0; i < n; i++) {
			b->evict->remove(b->state, pages[i]);
			b->resident[(pages[i] - BASE) / PAGE_BYTES] = false;
		}
	}
	insert(b, 100);
	assert_int_equal(pick(b, 1, pages, 1), 1);
	if (!f->text) {
		is_well(b);
	} else {
		has_text(plugin_trouble(b->plugin), f->text);
		has_text(plugin_trouble(b->plugin), "bad.so");
		has_text(plugin_trouble(b->plugin), "the run goes on with lru");
		assert_int_equal(pages[0], PAGE(100));
	}
	if (f->refused == UINT64_MAX)
		assert_true(plugin_refused(b->plugin) > 0);
	else
		assert_int_equal(plugin_refused(b->plugin), f->refused);
	/* It did write all over the memory, its counters too. */
	if (f->how == SCRIBBLE)
		assert_true(b->counted[1] > 1ull << 60);
	b->evict->destroy(b->state);
}

static void test_evictors_that_fail(void **state)
{
	static const struct failure cases[] = {
		{ GOOD, NULL, 0 },
		{ HANG, "took longer than 1000 ms (paging.policy_ms) in pick()", 0 },
		{ CRASH, "crashed with signal 11 (Segmentation fault) in pick()", 0 },
		{ EXIT, "ended itself with exit status 3 in pick()", 0 },
		{ NONSENSE, NULL, UINT64_MAX },
		{ KEPT, NULL, UINT64_MAX },
		{ TOO_MANY, NULL, UINT64_MAX },
		{ HANG_IN_TOUCH, "took longer than 1000 ms (paging.policy_ms) in touch()", 0 },
		{ CRASH_IN_INSERT, "crashed with signal 11 (Segmentation fault) in insert()", 0 },
		{ INSERT_FAILS, "insert() failed: Cannot allocate memory", 0 },
		{ NOTHING, "named no page in pick() although 30 may go", 0 },
		{ MEMORY, "crashed with signal 6 (Aborted) in pick()", 0 },
		{ BREAK_OUT, NULL, 0 },
		{ SCRIBBLE, NULL, 0 },
		{ CLOSE, "in pick()", 0 },
		{ KILLED, "was killed or closed the connection in pick()", 0 },
		{ HANG_IN_DESTROY, NULL, 0 },
		{ ASK_AGAIN, "its process said what makes no sense in pick()", 0 },
	};

	for (unsigned int i = 0; i < ARRAY_SIZE(cases); i++) {
		evict_failure(*state, &cases[i]);
		assert_int_equal(highs, 0);
	}
}

static void prefetch_failure(struct bench *b, const struct failure *f)
{
	const struct gpuemu_policy_fault faults[] = {
		{ .addr = PAGE(10), .merged = 1 }, { .addr = PAGE(20), .merged = 2 },
	};
	uint64_t pages[512];

	open_good(b, POLICY_PREFETCH, f->how);
	for (unsigned int round = 0; round < 3; round++) {
		unsigned int n = b->prefetch->on_batch(b->state, &b->view, faults, 2, pages, 512);

		assert_true(n <= 512);
		for (unsigned int i = 0; i < n; i++) {
			assert_int_equal(pages[i] % PAGE_BYTES, 0);
			assert_true(pages[i] && pages[i] < 1ull << 47);
		}
		b->prefetch->on_arrive(b->state, PAGE(10), false);
		b->prefetch->on_touch(b->state, PAGE(10), true);
		b->prefetch->on_leave(b->state, PAGE(10));
		if (plugin_trouble(b->plugin) && round)
			assert_int_equal(n, 0);
	}
	if (!f->text) {
		is_well(b);
	} else {
		has_text(plugin_trouble(b->plugin), f->text);
		has_text(plugin_trouble(b->plugin), "the run goes on with none");
	}
	if (f->refused == UINT64_MAX)
		assert_true(plugin_refused(b->plugin) > 0);
	else
		assert_int_equal(plugin_refused(b->plugin), f->refused);
	b->prefetch->destroy(b->state);
}

static void test_prefetchers_that_fail(void **state)
{
	static const struct failure cases[] = {
		{ GOOD, NULL, 0 },
		{ HANG, "took longer than 1000 ms (paging.policy_ms) in on_batch()", 0 },
		{ CRASH, "crashed with signal 11 (Segmentation fault) in on_batch()", 0 },
		{ EXIT, "ended itself with exit status 3 in on_batch()", 0 },
		{ NONSENSE, NULL, UINT64_MAX },
		{ KEPT, NULL, 0 },
		{ TOO_MANY, NULL, UINT64_MAX },
		{ HANG_IN_TOUCH, "took longer than 1000 ms (paging.policy_ms) in on_touch()", 0 },
		{ CRASH_IN_INSERT, "crashed with signal 11 (Segmentation fault) in on_arrive()", 0 },
		{ BREAK_OUT, NULL, 0 },
		{ SCRIBBLE, NULL, 0 },
		{ ASK_AGAIN, "its process said what makes no sense in on_batch()", 0 },
	};

	for (unsigned int i = 0; i < ARRAY_SIZE(cases); i++)
		prefetch_failure(*state, &cases[i]);
}

/* --- without a filter --------------------------------------------------------------------- */

/* Where the kernel refuses filters: as in a container that has none to spare. */
static void refuse_filters(void)
{
	scmp_filter_ctx filter = seccomp_init(SCMP_ACT_ALLOW);

	assert_non_null(filter);
	/* Those who ask what there is give no filter, and are answered. */
	assert_int_equal(seccomp_rule_add(filter, SCMP_ACT_ERRNO(EACCES), SCMP_SYS(seccomp), 2,
					  SCMP_A0(SCMP_CMP_EQ, SECCOMP_SET_MODE_FILTER),
					  SCMP_A2(SCMP_CMP_NE, 0)), 0);
	assert_int_equal(seccomp_rule_add(filter, SCMP_ACT_ERRNO(EACCES), SCMP_SYS(prctl), 1,
					  SCMP_A0(SCMP_CMP_EQ, PR_SET_SECCOMP)), 0);
	assert_int_equal(seccomp_load(filter), 0);
	seccomp_release(filter);
}

/* In a process of its own, whose filter stays. */
static void test_no_filter_no_policy(void **state)
{
	struct bench *b = *state;
	pid_t pid = fork();
	int status;

	assert_true(pid >= 0);
	if (!pid) {
		struct err err = { "" };

		refuse_filters();
		if (plugin_open(NULL, object("bad.so"), POLICY_EVICT, &b->spec, &b->plugin, &err) >= 0)
			_exit(1);
		_exit(strstr(err.text, "cannot be confined") && strstr(err.text, strerror(EACCES)) ?
		      0 : 2);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 0);
}

/* --- what is left behind ------------------------------------------------------------------ */

static unsigned int descriptors(void)
{
	unsigned int n = 0;
	DIR *dir = opendir("/proc/self/fd");

	assert_non_null(dir);
	while (readdir(dir))
		n++;
	closedir(dir);
	return n;
}

static void test_nothing_is_left(void **state)
{
	const unsigned int before = descriptors();
	struct bench *b = *state;
	struct err err;
	uint64_t page;

	open_good(b, POLICY_EVICT, GOOD);
	b->evict->destroy(b->state);
	open_good(b, POLICY_EVICT, HANG);
	insert(b, 1);
	pick(b, 1, &page, 1);
	b->evict->destroy(b->state);
	open_bad(b, POLICY_EVICT, CREATE_FAILS, &err);
	plugin_open(NULL, object("empty.so"), POLICY_EVICT, &b->spec, &b->plugin, &err);
	assert_int_equal(descriptors(), before);
	/* Nor a process, running or ended. */
	assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
	assert_int_equal(errno, ECHILD);
}

/* The engine is killed: so is the policy, even one that loops. */
static void test_it_ends_with_the_engine(void **state)
{
	struct bench *b = *state;
	int pipes[2];
	pid_t engine;
	char byte;

	assert_int_equal(pipe(pipes), 0);
	engine = fork();
	assert_true(engine >= 0);
	if (!engine) {
		uint64_t page;

		/* The policy's process keeps stderr: when that closes, it has ended. */
		dup2(pipes[1], STDERR_FILENO);
		close(pipes[0]);
		close(pipes[1]);
		policy_ms = 60000;
		open_good(b, POLICY_EVICT, HANG);
		insert(b, 1);
		alarm(1);
		pick(b, 1, &page, 1);
		pause();
		_exit(0);
	}
	close(pipes[1]);
	assert_int_equal(waitpid(engine, NULL, 0), engine);
	alarm(20);
	assert_int_equal(read(pipes[0], &byte, 1), 0);
	alarm(0);
	close(pipes[0]);
}

/* Not a time limit but a yardstick: prints what a round trip and a touch cost. */
static void test_what_it_costs(void **state)
{
	struct bench *b = *state;
	struct timespec t[3];
	uint64_t page;

	open_good(b, POLICY_EVICT, GOOD);
	insert(b, 1);
	pick(b, 1, &page, 1);
	clock_gettime(CLOCK_MONOTONIC, &t[0]);
	for (unsigned int i = 0; i < 1000; i++)
		pick(b, 1, &page, 1);
	clock_gettime(CLOCK_MONOTONIC, &t[1]);
	for (unsigned int i = 0; i < 60000; i++)
		b->evict->touch(b->state, PAGE(1), false);
	clock_gettime(CLOCK_MONOTONIC, &t[2]);
	print_message("# pick %.2f us, touch %.1f ns (with sanitizers)\n",
		      ((t[1].tv_sec - t[0].tv_sec) * 1e9 + (t[1].tv_nsec - t[0].tv_nsec)) / 1e6,
		      ((t[2].tv_sec - t[1].tv_sec) * 1e9 + (t[2].tv_nsec - t[1].tv_nsec)) / 6e4);
	is_well(b);
	b->evict->destroy(b->state);
}

static void test_paths(void **state)
{
	assert_true(plugin_is_path("./mine.so"));
	assert_true(plugin_is_path("mine.so"));
	assert_true(plugin_is_path("mine.so:a=1,b=2"));
	assert_true(plugin_is_path("/opt/policies/mine"));
	assert_false(plugin_is_path("lru"));
	assert_false(plugin_is_path("tree:threshold=51"));
	assert_false(plugin_is_path("lru:file=/tmp/x.so"));
	assert_false(plugin_is_path(".so"));
}

static int make(void **state)
{
	*state = calloc(1, sizeof(struct bench));
	return *state ? 0 : -1;
}

static int drop(void **state)
{
	free(*state);
	return 0;
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_paths, make, drop),
		cmocka_unit_test_setup_teardown(test_it_describes_itself, make, drop),
		cmocka_unit_test_setup_teardown(test_it_decides, make, drop),
		cmocka_unit_test_setup_teardown(test_what_it_sees, make, drop),
		cmocka_unit_test_setup_teardown(test_many_events, make, drop),
		cmocka_unit_test_setup_teardown(test_two_at_a_time, make, drop),
		cmocka_unit_test_setup_teardown(test_refused_objects, make, drop),
		cmocka_unit_test_setup_teardown(test_not_allowed, make, drop),
		cmocka_unit_test_setup_teardown(test_a_state_that_cannot_be, make, drop),
		cmocka_unit_test_setup_teardown(test_evictors_that_fail, make, drop),
		cmocka_unit_test_setup_teardown(test_prefetchers_that_fail, make, drop),
		cmocka_unit_test_setup_teardown(test_no_filter_no_policy, make, drop),
		cmocka_unit_test_setup_teardown(test_nothing_is_left, make, drop),
		cmocka_unit_test_setup_teardown(test_it_ends_with_the_engine, make, drop),
		cmocka_unit_test_setup_teardown(test_what_it_costs, make, drop),
	};
	char *slash;

	/* build/tests/unit/test_plugin_bad beside build/tests/policy/ */
	snprintf(folder, sizeof(folder), "%s", argv[0]);
	slash = strrchr(folder, '/');
	if (!slash || slash - folder > (ptrdiff_t)sizeof(folder) - 32)
		return 2;
	strcpy(slash, "/../policy");
	if (argv[0][0] != '/') {
		char *absolute = realpath(folder, NULL);

		if (!absolute)
			return 2;
		snprintf(folder, sizeof(folder), "%s", absolute);
		free(absolute);
	}
	return cmocka_run_group_tests(tests, NULL, NULL);
}
