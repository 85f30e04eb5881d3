// SPDX-License-Identifier: GPL-2.0
/*
 * vm: vram_mb=2 timeout=60
 *
 * Everything at once, for some seconds: clients map, touch, unmap and fork;
 * engines migrate to and fro; both are killed at random. Each client knows what
 * its memory must hold.
 */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib/harness.h"
#include "lib/lib.h"

enum { CLIENTS = 3, PAGES = 800, SECONDS = 8 };

struct shared {
	/* What each client tells the engines: where it is now. */
	struct {
		uint32_t space;
		uint64_t mem;
	} client[CLIENTS];
	uint32_t migrations, faults, lives, engines;
	bool wrong;
};

static uint32_t next(uint32_t *x)
{
	*x = *x * 1664525 + 1013904223;
	return *x >> 8;
}

/*
 * One life of a client. The first word of each page is the client's; a shadow
 * says what it must be.
 */
static void client(struct shared *s, int me, uint32_t seed)
{
	static uint32_t shadow[PAGES];
	uint32_t x = seed, i, n;
	int fd = client_open();
	uint8_t *at = reserve(PAGES * PAGE);
	uint8_t *mem = map_managed_at(fd, at, PAGES * PAGE);
	volatile uint32_t *word;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (!mem)
		_exit(2);
	__atomic_store_n(&s->client[me].mem, (uintptr_t)mem, __ATOMIC_RELAXED);
	__atomic_store_n(&s->client[me].space, client_space(fd),
			 __ATOMIC_RELEASE);
	for (n = 0; ; n++) {
		i = next(&x) % PAGES;
		word = (volatile uint32_t *)(mem + i * PAGE);
		if (*word != shadow[i]) {
			s->wrong = true;
			_exit(1);
		}
		shadow[i] = next(&x);
		*word = shadow[i];
		__atomic_fetch_add(&s->faults, 1, __ATOMIC_RELAXED);
		if (n % 997 == 0) {
			/* A new piece: zeroes again. */
			uint32_t k, len = 1 + next(&x) % 64;

			i = next(&x) % (PAGES - len);
			if (n & 1)
				munmap(mem + i * PAGE, len * PAGE);
			if (!map_managed_at(fd, mem + i * PAGE, len * PAGE))
				_exit(3);
			for (k = 0; k < len; k++)
				shadow[i + k] = 0;
		}
		if (n % 4999 == 0 && !fork())
			_exit(0);
		while (waitpid(-1, NULL, WNOHANG) > 0)
			;
	}
}

/* One life of an engine: random migrations, now and then too many. */
static void engine(struct shared *s, uint32_t seed)
{
	static struct engine e;
	struct gpuemu_migration m[16];
	uint32_t x = seed, i, c;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (engine_open(&e))
		_exit(0);
	engine_acker_start(&e);
	__atomic_fetch_add(&s->engines, 1, __ATOMIC_RELAXED);
	for (;;) {
		for (i = 0; i < 16; i++) {
			memset(&m[i], 0, sizeof(m[i]));
			c = next(&x) % CLIENTS;
			m[i].va_space = __atomic_load_n(&s->client[c].space,
							__ATOMIC_ACQUIRE);
			m[i].addr = s->client[c].mem +
				    next(&x) % PAGES * PAGE;
			m[i].pages = 1 + next(&x) % 64;
			m[i].op = next(&x) % 5 < 2 ? GPUEMU_MIGRATE_D2H :
						     GPUEMU_MIGRATE_H2D;
			engine_fault(&e, m[i].va_space,
				     (void *)(uintptr_t)m[i].addr,
				     GPUEMU_ACCESS_READ);
		}
		if (engine_raise(&e, 0) < 0 || engine_commit(&e, m, 16) < 0)
			_exit(0);
		for (i = 0; i < 16; i++)
			__atomic_fetch_add(&s->migrations, m[i].moved,
					   __ATOMIC_RELAXED);
	}
}

TEST(everything)
{
	struct shared *s = mmap(NULL, PAGE, PROT_READ | PROT_WRITE,
				MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	pid_t pid[CLIENTS + 1] = { 0 };
	uint64_t end = now_ms() + SECONDS * 1000;
	uint32_t x = 1;
	int i, status;

	while (now_ms() < end && !s->wrong) {
		for (i = 0; i <= CLIENTS; i++) {
			if (pid[i])
				continue;
			pid[i] = fork();
			if (pid[i])
				continue;
			if (i < CLIENTS)
				client(s, i, x + i);
			engine(s, x);
		}
		sleep_ms(20 + next(&x) % 200);
		i = next(&x) % (CLIENTS + 1);
		kill(pid[i], SIGKILL);
		ASSERT_EQ(pid[i], waitpid(pid[i], &status, 0));
		EXPECT_TRUE(WIFSIGNALED(status) || !WEXITSTATUS(status));
		pid[i] = 0;
		s->lives++;
	}
	for (i = 0; i <= CLIENTS; i++) {
		if (!pid[i])
			continue;
		kill(pid[i], SIGKILL);
		waitpid(pid[i], NULL, 0);
	}
	EXPECT_FALSE(s->wrong);
	EXPECT_LT(10, s->lives);
	EXPECT_LT(1, s->engines);
	EXPECT_LT(100, s->migrations);
	EXPECT_LT(1000, s->faults);
	TH_LOG("%u lives, %u engines, %u pages moved, %u touches", s->lives,
	       s->engines, s->migrations, s->faults);
}

TEST_HARNESS_MAIN
