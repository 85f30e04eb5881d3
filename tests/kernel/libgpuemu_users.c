// SPDX-License-Identifier: GPL-2.0
/*
 * Users share device memory, not contexts: a user whose many contexts ask for more than all of
 * it takes no page of another user's context that has less than half, though that is the
 * largest of all. With a real daemon.
 * vm: daemon timeout=240 vram_mb=8
 */
#include <errno.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <gpuemu.h>

#include "lib/harness.h"
#include "lib/marker.h"

enum {
	MINE = 7 * MARKER_BLOCK, CONTEXTS = 20, ROUNDS = 4,
	NOBODY = 65534, OTHER = 1234,
};

static bool become(uid_t uid)
{
	return !setgid(uid) && !setuid(uid);
}

/* Says when each context has had its pages, and goes round for ever. */
static void many_contexts(int to)
{
	struct marker m[CONTEXTS];
	int i, ret = become(NOBODY) ? 0 : -EPERM;

	for (i = 0; i < CONTEXTS && !ret; i++)
		ret = marker_open(&m[i], "paging.prefetch=none", MARKER_BLOCK);
	for (;;) {
		for (i = 0; i < CONTEXTS && !ret; i++)
			ret = marker_run(&m[i], MARKER_BLOCK);
		if (write(to, &ret, sizeof(ret)) != sizeof(ret) || ret)
			_exit(1);
	}
}

/* Pages that went so that its own could come. */
static long evicted(struct marker *m)
{
	static const char key[] = "\"evicted_pages\":";
	char *json, *at;
	long n = -1;

	if (gpuemu_statistics(m->ctx, &json))
		return -1;
	at = strstr(json, key);
	if (at)
		n = atol(at + strlen(key));
	gpuemu_free(json);
	return n;
}

/* For how many pages it needed a frame again while the other went round its contexts. */
static void one_context(int from, int to)
{
	int i, theirs, ret = become(OTHER) ? 0 : -EPERM;
	long answer[2] = { 0, -1 }, first = 0;
	struct marker m;

	ret = ret ?: marker_open(&m, "paging.prefetch=none", MINE);
	for (i = 0; i < ROUNDS && !ret; i++) {
		ret = marker_run(&m, MINE);
		if (!ret && (read(from, &theirs, sizeof(theirs)) != sizeof(theirs) || theirs))
			ret = -EIO;
		if (!i && !ret)
			first = evicted(&m);
	}
	answer[0] = ret;
	if (!ret)
		answer[1] = first > 0 ? evicted(&m) - first : -1;
	_exit(write(to, answer, sizeof(answer)) != sizeof(answer));
}

TEST(frames)
{
	int rounds[2], result[2], ret;
	long answer[2] = { 1, -1 };
	pid_t many, one;

	ASSERT_EQ(0, pipe(rounds));
	ASSERT_EQ(0, pipe(result));
	many = fork();
	if (!many)
		many_contexts(rounds[1]);
	/* Device memory is full of its pages. */
	ASSERT_EQ(sizeof(ret), read(rounds[0], &ret, sizeof(ret)));
	ASSERT_EQ(0, ret);
	one = fork();
	if (!one)
		one_context(rounds[0], result[1]);
	ASSERT_EQ(sizeof(answer), read(result[0], answer, sizeof(answer)));
	EXPECT_EQ(0, answer[0]);
	EXPECT_EQ(0, answer[1]);
	kill(many, SIGKILL);
	waitpid(many, NULL, 0);
	waitpid(one, NULL, 0);
}

TEST_HARNESS_MAIN
