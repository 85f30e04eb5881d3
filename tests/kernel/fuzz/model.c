// SPDX-License-Identifier: GPL-2.0
/*
 * The model of contents, and what is told when the memory is not like it.
 *
 * A lane's state is (current, next): it holds the one version or, while it is
 * written or after its writer was killed, bytes of either: a system call copies byte
 * for byte, so that even a word may have some of both. A client that maps a
 * page anew first takes its lanes to zero under LANE_REMAP, where nobody looks;
 * a write of another that races with that may land in the new page or get lost with the
 * old one, and is left as (0, version). Versions are never used twice, so what
 * is stale is seen to be. A client may also take a page away and bring it back, which leaves
 * the version (LEFT_SAME), or free it lazily, after which zeroes are right until the next
 * write (LEFT_EITHER).
 */
#include <errno.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fuzz/fuzz.h"

static const char *const op_names[OP_KINDS] = {
	"cpu write", "cpu read", "gup write", "gpu write", "gpu read", "h2d", "d2h",
	"remote map", "duplicate", "munmap", "mmap", "mmap over", "mmap refused", "mremap refused", "mprotect",
	"madvise", "fork", "image", "work", "pin", "mlock", "mremap", "clear_refs", "garbage", "raise",
	"wait", "bad commit", "netlink", "inject", "check", "client killed",
	"client stopped", "engine killed", "engine stopped", "engine lost",
};

const char *op_name(enum op what)
{
	return op_names[what];
}

void note(struct shared *s, enum op what, int client, int page, int pages, int result)
{
	uint32_t seq = atomic_fetch_add(&s->log_next, 1);
	struct op_record *r = &s->log[seq % LOG];

	r->what = what;
	r->client = client;
	r->page = page;
	r->pages = pages;
	r->result = result;
	__atomic_store_n(&r->seq, seq, __ATOMIC_RELEASE);
	atomic_fetch_add(&s->count[what], 1);
}

/* The first failure is the one that is told. */
void fail(struct shared *s, int client, int page, const char *format, ...)
{
	char why[sizeof(s->why)];
	uint32_t none = 0;
	va_list args;

	/* The finder may be killed at any moment: first the words, then the claim. */
	va_start(args, format);
	vsnprintf(why, sizeof(why), format, args);
	va_end(args);
	if (!atomic_compare_exchange_strong(&s->failed, &none, 1))
		return;
	s->fail_client = client;
	s->fail_page = page;
	memcpy(s->why, why, sizeof(why));
	atomic_store(&s->failed, 2);
}

void print_failure(struct shared *s)
{
	enum { SHOWN = 18 };	/* the harness shows 30 lines of what failed */
	uint32_t end = atomic_load(&s->log_next), seq, at[SHOWN], n = 0;
	uint32_t first = end > LOG ? end - LOG : 0;

	printf("# seed %u, round %u: %s\n", s->seed, atomic_load(&s->round), s->why);
	for (seq = end; seq-- > first && n < SHOWN;) {
		const struct op_record *r = &s->log[seq % LOG];
		bool everybody = r->what >= OP_CLIENT_KILLED;

		if (r->seq != seq)
			continue;
		/* There are too many of them to say anything about no page. */
		if (s->fail_page < 0 && (r->what == OP_HELP || r->what == OP_GPU_READ))
			continue;
		if (s->fail_page < 0 || everybody ||
		    (r->client == s->fail_client && r->page <= s->fail_page &&
		     s->fail_page < r->page + r->pages))
			at[n++] = seq;
	}
	printf("# the last operations%s, newest last:\n", s->fail_page < 0 ? "" : " on that page");
	while (n--) {
		const struct op_record *r = &s->log[at[n] % LOG];

		printf("#   %u: %s, client %u, page %u + %u: %d\n", r->seq, op_name(r->what),
		       r->client, r->page, r->pages, r->result);
	}
}

static uint64_t word_of(int client, int page, int lane, uint64_t version, int i)
{
	if (!version)
		return 0;
	return version << 36 | (uint64_t)client << 32 | (uint64_t)page << 16 |
	       (uint64_t)lane << 12 | i;
}

static uint64_t current_of(uint64_t state)
{
	return state >> LANE_BITS & LANE_MASK;
}

static uint64_t next_of(uint64_t state)
{
	return state & LANE_MASK;
}

static uint64_t with(uint64_t state, uint64_t current, uint64_t next)
{
	return (state & ~(LANE_MASK << LANE_BITS | LANE_MASK)) | current << LANE_BITS | next;
}

static void fill_lane(uint64_t *to, int client, int page, int lane, uint64_t version)
{
	int i;

	for (i = 0; i < LANE_WORDS; i++)
		to[i] = word_of(client, page, lane, version, i);
}

/* False: the lane is not known for sure, so it is left alone until a round's end. */
bool lane_write(struct shared *s, int client, int page, int lane, uint64_t *at, copy_fn copy)
{
	_Atomic uint64_t *cell = &s->client[client].lane[page][lane];
	uint64_t words[LANE_WORDS], state = atomic_load(cell), begun, version;
	volatile uint64_t *to = at;
	int ret, i;

	if (current_of(state) != next_of(state))
		return false;
	version = (atomic_fetch_add(&s->version, 1) + 1) & LANE_MASK;
	begun = with(state, current_of(state), version);
	if (!atomic_compare_exchange_strong(cell, &state, begun))
		return false;
	fill_lane(words, client, page, lane, version);
	ret = copy ? copy(at, words, sizeof(words)) : -EIO;
	if (ret == -EFAULT)
		return false;
	if (ret)
		for (i = 0; i < LANE_WORDS; i++)
			to[i] = words[i];
	if (!(begun & LANE_REMAP))
		atomic_compare_exchange_strong(cell, &begun,
					       with(begun, version, version) & ~LANE_FREED);
	return true;
}

static void mismatch(struct shared *s, int client, int page, int lane, int i, uint64_t word,
		     uint64_t state, const char *who)
{
	char is[128];

	if (!word)
		snprintf(is, sizeof(is), "zero");
	else
		snprintf(is, sizeof(is), "version %llu of client %u, page %u, lane %u, word %u",
			 (unsigned long long)(word >> 36), (unsigned int)(word >> 32 & 15),
			 (unsigned int)(word >> 16 & 0xffff), (unsigned int)(word >> 12 & 15),
			 (unsigned int)(word & 0xfff));
	fail(s, client, page,
	     "%s: client %d, page %d, lane %d (%s), word %d is %s (%#llx); it must be version %llu or %llu",
	     who, client, page, lane, lane < GPU_LANE ? "the CPU's" : "the GPU's", i, is,
	     (unsigned long long)word, (unsigned long long)current_of(state),
	     (unsigned long long)next_of(state));
}

/* Each byte is the one word's or the other's. */
static bool mixed(uint64_t word, uint64_t one, uint64_t other)
{
	int bit;

	for (bit = 0; bit < 64; bit += 8)
		if (((word ^ one) >> bit & 0xff) && ((word ^ other) >> bit & 0xff))
			return false;
	return true;
}

static bool word_right(uint64_t state, int client, int page, int lane, uint64_t word, int i)
{
	uint64_t next = word_of(client, page, lane, next_of(state), i);

	return mixed(word, word_of(client, page, lane, current_of(state), i), next) ||
	       (state & LANE_FREED && mixed(word, 0, next));
}

/* True: what is there is what must be, or nobody can say. */
bool lane_check(struct shared *s, int client, int page, int lane, const uint64_t *at,
		copy_fn copy, const char *who)
{
	_Atomic uint64_t *cell = &s->client[client].lane[page][lane];
	uint64_t state = atomic_load(cell), words[LANE_WORDS];
	const volatile uint64_t *from = at;
	int i;

	if (state & LANE_REMAP)
		return true;
	if (copy && copy(words, at, sizeof(words)))
		return true;
	for (i = 0; i < LANE_WORDS && !copy; i++)
		words[i] = from[i];
	if (atomic_load(cell) != state)
		return true;
	for (i = 0; i < LANE_WORDS; i++) {
		if (word_right(state, client, page, lane, words[i], i))
			continue;
		mismatch(s, client, page, lane, i, words[i], state, who);
		return false;
	}
	return true;
}

bool lane_was(struct shared *s, int client, int page, int lane, uint64_t state,
	      const uint64_t *words)
{
	int i;

	for (i = 0; i < LANE_WORDS; i++)
		if (!word_right(state, client, page, lane, words[i], i))
			return (atomic_load(&s->client[client].lane[page][lane]) ^ state) &
			       ~LANE_REMAP;
	return true;
}

/* Between rounds: a lane that may be either version becomes the next one. */
void lane_settle(struct shared *s, int client, int page, int lane, uint64_t *at)
{
	_Atomic uint64_t *cell = &s->client[client].lane[page][lane];
	uint64_t state = atomic_load(cell), next = next_of(state);

	if (current_of(state) == next && !(state & LANE_FREED))
		return;
	fill_lane(at, client, page, lane, next);
	atomic_store(cell, with(state, next, next) & ~LANE_FREED);
}

static uint64_t remapped(uint64_t state, int lane, enum left left)
{
	uint64_t next = current_of(state) == next_of(state) ? 0 : next_of(state);

	state = (state & ~LANE_EPOCHS) | ((state + LANE_EPOCH) & LANE_EPOCHS) | LANE_REMAP;
	if (left == LEFT_SAME)
		return state;
	if (left == LEFT_EITHER)
		return state | LANE_FREED;
	/* A process that maps anew does not write meanwhile. */
	return with(state & ~LANE_FREED, 0, lane < HELPER_LANE ? 0 : next);
}

void remap_begin(struct shared *s, int client, int page, int pages, enum left left)
{
	struct client_model *m = &s->client[client];
	uint64_t state;
	int i, lane;

	for (i = page; i < page + pages; i++) {
		atomic_store(&m->remaps[i], (m->remaps[i] + 2) | 1);
		for (lane = 0; lane < LANES; lane++) {
			state = atomic_load(&m->lane[i][lane]);
			while (!atomic_compare_exchange_weak(&m->lane[i][lane], &state,
							     remapped(state, lane, left)))
				;
		}
	}
}

void remap_end(struct shared *s, int client, int page, int pages)
{
	struct client_model *m = &s->client[client];
	int i, lane;

	for (i = page; i < page + pages; i++) {
		for (lane = 0; lane < LANES; lane++)
			atomic_fetch_and(&m->lane[i][lane], ~LANE_REMAP);
		atomic_store(&m->remaps[i], (m->remaps[i] + 1) & ~1u);
	}
}

/* For payloads, reports and images: bytes that say which they are. */
void pattern(uint8_t *p, size_t bytes, uint32_t seed)
{
	uint64_t x = seed;
	size_t i;

	for (i = 0; i < bytes; i++)
		p[i] = next_random(&x);
}
