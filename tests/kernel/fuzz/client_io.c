// SPDX-License-Identifier: GPL-2.0
/*
 * What a client does without changing a mapping: reads and writes of its pages by
 * stores and by system calls, images, works.
 */
#include <errno.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

#include "fuzz/client.h"
#include "fuzz/kcov.h"

static int by_pipe(void *to, const void *from, size_t bytes)
{
	ssize_t n;

	do {
		n = write(client_self->pipe[1], from, bytes);
	} while (n < 0 && errno == EINTR);
	if (n != (ssize_t)bytes)
		return -EIO;
	do {
		n = read(client_self->pipe[0], to, bytes);
	} while (n < 0 && errno == EINTR);
	if (n == (ssize_t)bytes)
		return 0;
	/* It fails with injected failures; what is left must not stay there. */
	bytes -= n > 0 ? n : 0;
	while (bytes) {
		uint8_t rest[LANE_WORDS * 8];

		n = read(client_self->pipe[0], rest, bytes);
		if (n > 0)
			bytes -= n;
		else if (errno != EINTR)
			_exit(3);
	}
	return -EIO;
}

static int by_gup(void *to, const void *from, size_t bytes)
{
	struct iovec local = { (void *)(uintptr_t)from, bytes }, remote = { to, bytes };

	return process_vm_writev(getpid(), &local, 1, &remote, 1, 0) == (ssize_t)bytes ? 0 : -EIO;
}

/*
 * The second thread's: a page that is taken away meanwhile is an error there, and no
 * signal.
 */
static int by_gup_alone(void *to, const void *from, size_t bytes)
{
	return by_gup(to, from, bytes) ? -EFAULT : 0;
}

static int by_gup_read(void *to, const void *from, size_t bytes)
{
	struct iovec local = { to, bytes }, remote = { (void *)(uintptr_t)from, bytes };

	return process_vm_readv(getpid(), &local, 1, &remote, 1, 0) == (ssize_t)bytes ? 0 :
		-EFAULT;
}

/* Reads and writes what the first thread unmaps, protects and maps over. */
void *client_help(void *arg)
{
	struct client *c = arg;
	uint64_t x = c->x ^ 4711;
	int page, lane;

	kcov_begin();
	while (!c->s->failed) {
		kcov_take();
		pthread_mutex_lock(&c->helping);
		page = some_page(c->s, c->me, &x);
		lane = below(&x, LANES);
		if (lane >= HELPER_LANE && lane < GPU_LANE)
			note(c->s, OP_HELP, c->me, page, 1,
			     lane_write(c->s, c->me, page, lane, lane_at(c, page, lane),
					by_gup_alone));
		else
			lane_check(c->s, c->me, page, lane, lane_at(c, page, lane), by_gup_read,
				   "process_vm_readv");
		pthread_mutex_unlock(&c->helping);
		usleep(below(&x, 500));
	}
	return NULL;
}

void client_write(struct client *c, int page, int pages)
{
	static const copy_fn ways[] = { NULL, NULL, NULL, by_pipe, by_gup };
	int i, lane;

	for (i = page; i < page + pages; i++) {
		if (c->m->hole[i])
			continue;
		lane = below(&c->x, HELPER_LANE);
		lane_write(c->s, c->me, i, lane, lane_at(c, i, lane), ways[below(&c->x, 5)]);
	}
	note(c->s, OP_CPU_WRITE, c->me, page, pages, 0);
}

void client_read(struct client *c, int page, int pages)
{
	int i, lane;

	for (i = page; i < page + pages; i++) {
		lane = below(&c->x, LANES);
		if (!c->m->hole[i] &&
		    !lane_check(c->s, c->me, i, lane, lane_at(c, i, lane), NULL, "CPU read"))
			_exit(1);
	}
	note(c->s, OP_CPU_READ, c->me, page, pages, 0);
}

/* --- images and works --- */

void client_image(struct client *c)
{
	struct image *i = &c->m->image[below(&c->x, IMAGES)];
	struct gpuemu_module_load load = { .size = sizeof(load) };
	struct gpuemu_module_unload unload = { .size = sizeof(unload), .id = i->id };
	static uint8_t bytes[1 << 16];
	int ret;

	if (i->id) {
		atomic_store(&i->id, 0);
		ret = call(c->fd, GPUEMU_IOCTL_MODULE_UNLOAD, &unload);
		if (ret)
			fail(c->s, c->me, -1, "image %u is not unloaded: %d", unload.id, ret);
	} else {
		i->bytes = 1 + below(&c->x, sizeof(bytes));
		i->seed = next_random(&c->x);
		pattern(bytes, i->bytes, i->seed);
		load.image = (uintptr_t)bytes;
		load.image_bytes = i->bytes;
		ret = call(c->fd, GPUEMU_IOCTL_MODULE_LOAD, &load);
		atomic_store(&i->id, ret ? 0 : load.id);
		if (ret && ret != -ENOMEM)
			fail(c->s, c->me, -1, "an image is not loaded: %d", ret);
	}
	note(c->s, OP_IMAGE, c->me, 0, 0, ret);
}

/* The engine answers with the pattern of the next seed, as long as the payload. */
void client_work_end(struct client *c, int which)
{
	static uint8_t report[PAYLOAD_MAX], want[PAYLOAD_MAX];
	struct gpuemu_wait wait = { .size = sizeof(wait) };
	uint64_t end = now_ms() + HANG_MS;
	int ret;

	do {
		wait.id = c->work[which].id;
		wait.timeout_ms = below(&c->x, 200);
		wait.report = (uintptr_t)report;
		wait.report_bytes = sizeof(report);
		ret = call(c->fd, GPUEMU_IOCTL_WAIT, &wait);
		if (now_ms() > end) {
			fail(c->s, c->me, -1, "hang: work %llu does not end",
			     (unsigned long long)wait.id);
			_exit(1);
		}
	} while (ret == -ETIMEDOUT || ret == -EINTR);
	/* An access of the GPU came too late for the program that has the page. */
	atomic_fetch_add(&c->s->late, wait.status == -ENOTRECOVERABLE);
	if (ret || (wait.status && wait.status != -EIO && wait.status != -ENOTRECOVERABLE))
		fail(c->s, c->me, -1, "work %llu ended with %d, status %d",
		     (unsigned long long)c->work[which].id, ret, wait.status);
	pattern(want, c->work[which].bytes, c->work[which].seed + 1);
	if (!ret && !wait.status && (wait.report_bytes != c->work[which].bytes ||
				     memcmp(report, want, wait.report_bytes)))
		fail(c->s, c->me, -1, "work %llu: its report is another's",
		     (unsigned long long)c->work[which].id);
	c->work[which] = c->work[--c->works];
	note(c->s, OP_WORK, c->me, 0, 0, wait.status);
}

void client_work(struct client *c)
{
	static uint8_t payload[PAYLOAD_MAX];
	uint32_t bytes = 8 + below(&c->x, PAYLOAD_MAX - 8), seed = next_random(&c->x);
	uint64_t id;
	int ret;

	if (c->works == WORKS || (c->works && one_in(&c->x, 3))) {
		client_work_end(c, below(&c->x, c->works));
		return;
	}
	memcpy(payload, &seed, 4);
	pattern(payload + 4, bytes - 4, seed);
	ret = client_submit(c->fd, GPUEMU_WORK_TOUCH, payload, bytes, &id);
	if (!ret) {
		c->work[c->works].id = id;
		c->work[c->works].seed = seed;
		c->work[c->works++].bytes = bytes;
	} else if (ret != -ENODEV && ret != -ENOMEM) {
		fail(c->s, c->me, -1, "a work is not queued: %d", ret);
	}
	note(c->s, OP_WORK, c->me, 0, 0, ret);
}
