// SPDX-License-Identifier: GPL-2.0
/* CPU and GPU take turns at the same pages; nothing is lost on the way. */
#include <sys/mman.h>
#include <unistd.h>

#include "lib/harness.h"
#include "lib/lib.h"

enum { PAGES = 32, ROUNDS = 20, WORDS = 4096 / sizeof(uint32_t) };

FIXTURE(pingpong)
{
	struct engine e;
	int fd;
	uint32_t space;
	uint32_t *mem;
};

FIXTURE_SETUP(pingpong)
{
	ASSERT_EQ(0, engine_open(&self->e));
	engine_acker_start(&self->e);
	self->fd = client_open();
	self->space = client_space(self->fd);
	self->mem = map_managed(self->fd, PAGES * PAGE);
	ASSERT_NE(NULL, self->mem);
}

FIXTURE_TEARDOWN(pingpong)
{
	close(self->fd);
	engine_close(&self->e);
}

static void gpu_add(struct engine *e, uint32_t space, uint32_t *mem, int page)
{
	uint32_t *w = engine_page(e, space, mem + page * WORDS);
	int i;

	for (i = 0; i < WORDS; i++)
		w[i] += i;
}

TEST_F(pingpong, all_pages)
{
	int round, i;

	for (round = 0; round < ROUNDS; round++) {
		for (i = 0; i < PAGES * WORDS; i++)
			self->mem[i] += 1;
		ASSERT_EQ(0, engine_h2d(&self->e, self->space, self->mem,
					PAGES));
		ASSERT_EQ(PAGES, engine_resident(&self->e, self->space,
						 self->mem, PAGES));
		for (i = 0; i < PAGES; i++)
			gpu_add(&self->e, self->space, self->mem, i);
	}
	for (i = 0; i < PAGES * WORDS; i++)
		ASSERT_EQ(ROUNDS + ROUNDS * (i % WORDS), self->mem[i])
			TH_LOG("word %d", i);
	EXPECT_EQ(0, engine_resident(&self->e, self->space, self->mem, PAGES));
}

/* Every second page goes, so that each side sees both kinds in one run. */
TEST_F(pingpong, alternate_pages)
{
	int round, i;

	for (round = 0; round < ROUNDS; round++) {
		for (i = round % 2; i < PAGES; i += 2) {
			ASSERT_EQ(0, engine_h2d(&self->e, self->space,
						self->mem + i * WORDS, 1));
			gpu_add(&self->e, self->space, self->mem, i);
		}
		for (i = 0; i < PAGES * WORDS; i++)
			self->mem[i] += 1;
	}
	for (i = 0; i < PAGES * WORDS; i++)
		ASSERT_EQ(ROUNDS + ROUNDS / 2 * (i % WORDS), self->mem[i])
			TH_LOG("word %d", i);
}

/* D2H by the engine, without the CPU touching anything. */
TEST_F(pingpong, eviction)
{
	int round, i;

	for (round = 0; round < ROUNDS; round++) {
		ASSERT_EQ(0, engine_h2d(&self->e, self->space, self->mem,
					PAGES));
		for (i = 0; i < PAGES; i++)
			gpu_add(&self->e, self->space, self->mem, i);
		ASSERT_EQ(0, engine_d2h(&self->e, self->space, self->mem,
					PAGES));
		EXPECT_EQ(0, engine_resident(&self->e, self->space, self->mem,
					     PAGES));
		EXPECT_EQ(PAGES, self->e.control->stamps.d2h_pages);
	}
	for (i = 0; i < PAGES * WORDS; i++)
		ASSERT_EQ(ROUNDS * (i % WORDS), self->mem[i]);
}

struct writer {
	uint32_t *mem;
	bool stop;
	uint32_t done[PAGES];
};

/* Adds one to the first word of each page, as long as it may. */
static void *write_all(void *arg)
{
	struct writer *w = arg;
	int i = 0;

	while (!__atomic_load_n(&w->stop, __ATOMIC_ACQUIRE)) {
		__atomic_fetch_add(&w->mem[i * WORDS], 1, __ATOMIC_RELAXED);
		w->done[i]++;
		i = (i + 1) % PAGES;
	}
	return NULL;
}

/* A thread writes while its pages are pulled away under it, both ways. */
TEST_F(pingpong, concurrent)
{
	static struct writer w;
	pthread_t thread;
	uint32_t *word, gpu[PAGES] = { 0 };
	int round, ret, i;

	w.mem = self->mem;
	ASSERT_EQ(0, pthread_create(&thread, NULL, write_all, &w));
	for (round = 0; round < 200; round++) {
		/* The module waits for a block that the writer's faults hold, but not for long. */
		do {
			ret = engine_h2d(&self->e, self->space, self->mem, PAGES);
		} while (ret == -EAGAIN);
		ASSERT_EQ(0, ret);
		/*
		 * What is on the device stays there while it is looked at only
		 * if nobody acknowledges an invalidate meanwhile.
		 */
		engine_acker_stop(&self->e);
		for (i = 0; i < PAGES; i++) {
			word = engine_page(&self->e, self->space,
					   self->mem + i * WORDS);
			if (!word)
				continue;
			(*word)++;
			gpu[i]++;
		}
		engine_acker_start(&self->e);
		engine_ack(&self->e, self->e.control->inval_put);
	}
	__atomic_store_n(&w.stop, true, __ATOMIC_RELEASE);
	pthread_join(thread, NULL);
	for (i = 0; i < PAGES; i++)
		EXPECT_EQ(w.done[i] + gpu[i], self->mem[i * WORDS])
			TH_LOG("page %d", i);
	for (i = 0, round = 0; i < PAGES; i++)
		round += gpu[i];
	EXPECT_LT(0, round);
}

TEST_HARNESS_MAIN
