// SPDX-License-Identifier: GPL-2.0
/*
 * The engine's thread that disturbs the others: it sends them signals while they sleep in
 * an ioctl or wait for a command's end, submits what they have put into their
 * rings, so that a command is another thread's than its ring, and raises faults when the
 * GPU does. It ends now and then, with what is pending in its name.
 */
#include <errno.h>
#include <signal.h>
#include <stdatomic.h>
#include <unistd.h>

#include "fuzz/engine.h"
#include "fuzz/kcov.h"

/*
 * With the GPU's lock: the engine is parked until the replay, so that nobody uses a
 * translation meanwhile.
 */
static void raise_too(struct engine *e, uint64_t *x)
{
	int res = -EBUSY;

	pthread_mutex_lock(&fe.gpu);
	if (atomic_load(&fe.s->phase) == PHASE_RUN) {
		res = engine_command(e, GPUEMU_URING_RAISE, 0, may_stay(x), 0);
		fe.parked = true;
		note(fe.s, OP_RAISE, 0, 0, 0, res);
	}
	pthread_mutex_unlock(&fe.gpu);
	if (res && res != -EAGAIN && res != -EINVAL && res != -EBUSY)
		fail(fe.s, -1, -1, "a second RAISE: %d", res);
}

void *engine_race(void *number)
{
	uint64_t x = fe.x ^ 815;
	struct engine e = fe.e;
	int other, fd;

	kcov_begin();
	engine_ring(&e, (uintptr_t)number);
	for (;;) {
		usleep(below(&x, 2000));
		other = below(&x, 1 + SERVERS);
		switch (below(&x, 8)) {
		case 0:
			raise_too(&e, &x);
			break;
		case 1:
		case 2:
		case 3:
			if (!fe.s->calm)
				pthread_kill(fe.thread[other], SIGUSR1);
			break;
		default:
			/* Many are nothing: the owner is faster. */
			fd = atomic_load(&fe.ring[other]);
			if (fd)
				io_uring_enter(fd, 1, 0, 0, NULL);
		}
		kcov_take();
		if (!fe.s->calm && one_in(&x, 5000))
			return NULL;
	}
}
