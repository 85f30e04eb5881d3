// SPDX-License-Identifier: GPL-2.0
/* Works: submitted by clients, taken and finished by the engine; and images. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "lib/harness.h"
#include "lib/lib.h"

FIXTURE(work)
{
	struct engine e;
	int fd;
	uint32_t space;
	uint8_t buffer[GPUEMU_PAYLOAD_MAX];
};

FIXTURE_SETUP(work)
{
	ASSERT_EQ(0, engine_open(&self->e));
	self->fd = client_open();
	self->space = client_space(self->fd);
}

FIXTURE_TEARDOWN(work)
{
	close(self->fd);
	engine_close(&self->e);
}

static int take(FIXTURE_DATA(work) *self, uint32_t room,
		struct gpuemu_work_take *take)
{
	memset(take, 0, sizeof(*take));
	take->size = sizeof(*take);
	take->payload = (uintptr_t)self->buffer;
	take->payload_bytes = room;
	return call(self->e.fd, GPUEMU_IOCTL_WORK_TAKE, take);
}

static int done(FIXTURE_DATA(work) *self, uint64_t id, int32_t status,
		const void *report, uint32_t bytes, const char *message)
{
	struct gpuemu_work_done done = {
		.size = sizeof(done), .id = id, .status = status,
		.report = (uintptr_t)report, .report_bytes = bytes,
		.fault_addr = 0x1234000,
	};

	strcpy((char *)done.message, message);
	return call(self->e.fd, GPUEMU_IOCTL_WORK_DONE, &done);
}

TEST_F(work, from_submit_to_wait)
{
	struct gpuemu_submit submit = {
		.size = sizeof(submit), .kind = GPUEMU_WORK_LAUNCH,
		.stream = 5, .payload = (uintptr_t)"payload",
		.payload_bytes = 8,
	};
	struct gpuemu_work_take t;
	struct gpuemu_wait wait;
	char report[16] = "";

	EXPECT_EQ(-EAGAIN, take(self, 100, &t));
	ASSERT_EQ(0, call(self->fd, GPUEMU_IOCTL_SUBMIT, &submit));
	EXPECT_NE(0, submit.id);
	EXPECT_EQ(-ETIMEDOUT, client_wait(self->fd, submit.id, 0, &wait));
	EXPECT_EQ(-ETIMEDOUT, client_wait(self->fd, submit.id, 20, &wait));

	EXPECT_EQ(-ENOSPC, take(self, 7, &t));
	EXPECT_EQ(8, t.payload_bytes);
	ASSERT_EQ(0, take(self, 100, &t));
	EXPECT_EQ(submit.id, t.id);
	EXPECT_EQ(self->space, t.va_space);
	EXPECT_EQ(GPUEMU_WORK_LAUNCH, t.kind);
	EXPECT_EQ(5, t.stream);
	EXPECT_EQ(8, t.payload_bytes);
	EXPECT_EQ(0, strcmp("payload", (char *)self->buffer));
	EXPECT_EQ(-EAGAIN, take(self, 100, &t));
	EXPECT_EQ(-ETIMEDOUT, client_wait(self->fd, submit.id, 0, &wait));

	ASSERT_EQ(0, done(self, submit.id, -EFAULT, "the report", 11, "why"));
	EXPECT_EQ(-ENOENT, done(self, submit.id, 0, NULL, 0, ""));
	/* Room for the report first. */
	EXPECT_EQ(-ENOSPC, client_wait(self->fd, submit.id, 0, &wait));
	EXPECT_EQ(11, wait.report_bytes);
	memset(&wait, 0, sizeof(wait));
	wait.size = sizeof(wait);
	wait.id = submit.id;
	wait.report = (uintptr_t)report;
	wait.report_bytes = sizeof(report);
	ASSERT_EQ(0, call(self->fd, GPUEMU_IOCTL_WAIT, &wait));
	EXPECT_EQ(-EFAULT, wait.status);
	EXPECT_EQ(0x1234000, wait.fault_addr);
	EXPECT_EQ(11, wait.report_bytes);
	EXPECT_EQ(0, strcmp("the report", report));
	EXPECT_EQ(0, strcmp("why", (char *)wait.message));
	/* Read is freed. */
	EXPECT_EQ(-ENOENT, client_wait(self->fd, submit.id, 0, &wait));
}

/* How often the task of this process has slept of its own will, or -1. */
static long sleeps(pid_t tid)
{
	char name[64], line[128];
	long n = -1;
	FILE *f;

	snprintf(name, sizeof(name), "/proc/self/task/%d/status", tid);
	f = fopen(name, "re");
	while (f && n < 0 && fgets(line, sizeof(line), f))
		sscanf(line, "voluntary_ctxt_switches: %ld", &n);
	if (f)
		fclose(f);
	return n;
}

struct waiter {
	int fd;
	uint64_t id;
	_Atomic pid_t tid;
	int ret;
};

static void *wait_for_it(void *arg)
{
	struct waiter *w = arg;
	struct gpuemu_wait wait;

	w->tid = gettid();
	w->ret = client_wait(w->fd, w->id, ~0u, &wait);
	return NULL;
}

/* A work that ends wakes who waits for it, and no task of the client that waits for another. */
TEST_F(work, woken_by_its_own)
{
	enum { OTHERS = 20 };
	struct waiter w = { .fd = self->fd };
	struct gpuemu_work_take t;
	struct gpuemu_wait wait;
	pthread_t thread;
	uint64_t id;
	long before;

	ASSERT_EQ(0, client_submit(self->fd, GPUEMU_WORK_TOUCH, NULL, 0, &w.id));
	ASSERT_EQ(0, take(self, 0, &t));
	ASSERT_EQ(0, pthread_create(&thread, NULL, wait_for_it, &w));
	while (!w.tid)
		sleep_ms(1);
	for (before = -1; before != sleeps(w.tid); sleep_ms(100))
		before = sleeps(w.tid);
	ASSERT_LT(0, before);
	for (int i = 0; i < OTHERS; i++) {
		ASSERT_EQ(0, client_submit(self->fd, GPUEMU_WORK_TOUCH, NULL, 0, &id));
		ASSERT_EQ(0, take(self, 0, &t));
		ASSERT_EQ(0, done(self, t.id, 0, NULL, 0, ""));
		ASSERT_EQ(0, client_wait(self->fd, id, 1000, &wait));
		sleep_ms(2);
	}
	EXPECT_EQ(before, sleeps(w.tid));
	ASSERT_EQ(0, done(self, w.id, 0, NULL, 0, ""));
	ASSERT_EQ(0, pthread_join(thread, NULL));
	EXPECT_EQ(0, w.ret);
}

TEST_F(work, order)
{
	struct gpuemu_work_take t;
	uint64_t id[10];
	int i;

	for (i = 0; i < 10; i++)
		ASSERT_EQ(0, client_submit(self->fd, GPUEMU_WORK_TOUCH, &i,
					   sizeof(i), &id[i]));
	for (i = 0; i < 10; i++) {
		ASSERT_EQ(0, take(self, 100, &t));
		EXPECT_EQ(id[i], t.id);
	}
	/* Finished in another order, and read in a third. */
	for (i = 9; i >= 0; i--)
		EXPECT_EQ(0, done(self, id[i], -i, NULL, 0, ""));
	for (i = 0; i < 10; i++) {
		struct gpuemu_wait wait;

		EXPECT_EQ(0, client_wait(self->fd, id[i], 0, &wait));
		EXPECT_EQ(-i, wait.status);
	}
}

TEST_F(work, limits)
{
	static uint8_t big[GPUEMU_PAYLOAD_MAX + 1];
	struct gpuemu_wait wait;
	struct gpuemu_work_take t;
	uint64_t id, first;
	int i, ret, n;

	EXPECT_EQ(-EINVAL, client_submit(self->fd, GPUEMU_WORK_LOAD, big,
					 sizeof(big), &id));
	ASSERT_EQ(0, client_submit(self->fd, GPUEMU_WORK_LOAD, big,
				   GPUEMU_PAYLOAD_MAX, &first));
	for (i = 1; i < (int)GPUEMU_WORK_MAX; i++)
		ASSERT_EQ(0, client_submit(self->fd, GPUEMU_WORK_LOAD, "x", 1,
					   &id)) TH_LOG("work %d", i);
	EXPECT_EQ(-EAGAIN, client_submit(self->fd, GPUEMU_WORK_LOAD, "x", 1,
					 &id));
	/* Done but not read counts. */
	ASSERT_EQ(0, take(self, sizeof(self->buffer), &t));
	ASSERT_EQ(0, done(self, first, 0, NULL, 0, ""));
	EXPECT_EQ(-EAGAIN, client_submit(self->fd, GPUEMU_WORK_LOAD, "x", 1,
					 &id));
	EXPECT_EQ(0, client_wait(self->fd, first, 0, &wait));
	EXPECT_EQ(0, client_submit(self->fd, GPUEMU_WORK_LOAD, "x", 1, &id));
	close(self->fd);

	/* Bytes: payloads, reports and images have one budget. */
	self->fd = client_open();
	for (n = 0; n < 2000; n++) {
		ret = client_submit(self->fd, GPUEMU_WORK_LOAD, big,
				    GPUEMU_PAYLOAD_MAX, &id);
		if (ret)
			break;
	}
	EXPECT_EQ(-ENOMEM, ret);
	EXPECT_EQ(GPUEMU_CLIENT_BYTES / GPUEMU_PAYLOAD_MAX, n);
}

TEST_F(work, budget)
{
	struct gpuemu_module_load load = {
		.size = sizeof(load), .image_bytes = GPUEMU_MODULE_MAX,
	};
	struct gpuemu_module_unload unload = { .size = sizeof(unload) };
	uint8_t *image = mmap(NULL, GPUEMU_MODULE_MAX, PROT_READ | PROT_WRITE,
			      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	int i, n = GPUEMU_CLIENT_BYTES / GPUEMU_MODULE_MAX;
	struct gpuemu_work_take t;
	struct gpuemu_wait wait;
	uint64_t id;

	load.image = (uintptr_t)image;
	ASSERT_EQ(0, client_submit(self->fd, GPUEMU_WORK_STATISTICS, NULL, 0,
				   &id));
	for (i = 0; i < n; i++)
		ASSERT_EQ(0, call(self->fd, GPUEMU_IOCTL_MODULE_LOAD, &load))
			TH_LOG("image %d", i);
	EXPECT_EQ(-ENOMEM, call(self->fd, GPUEMU_IOCTL_MODULE_LOAD, &load));
	/* No room for a report: the work ends all the same, with an error. */
	ASSERT_EQ(0, take(self, 0, &t));
	EXPECT_EQ(0, done(self, id, 0, image, 100, ""));
	ASSERT_EQ(0, client_wait(self->fd, id, 0, &wait));
	EXPECT_EQ(-ENOMEM, wait.status);
	EXPECT_LT(0, strlen((char *)wait.message));
	unload.id = load.id;
	EXPECT_EQ(0, call(self->fd, GPUEMU_IOCTL_MODULE_UNLOAD, &unload));
	EXPECT_EQ(-ENOENT, call(self->fd, GPUEMU_IOCTL_MODULE_UNLOAD, &unload));
	EXPECT_EQ(0, call(self->fd, GPUEMU_IOCTL_MODULE_LOAD, &load));
}

TEST_F(work, images)
{
	struct gpuemu_module_load load = {
		.size = sizeof(load), .image = (uintptr_t)"some ptx",
		.image_bytes = 9,
	};
	struct gpuemu_module_read read = {
		.size = sizeof(read), .va_space = self->space,
		.image = (uintptr_t)self->buffer, .image_bytes = 4,
	};
	struct gpuemu_module_unload unload = { .size = sizeof(unload) };

	ASSERT_EQ(0, call(self->fd, GPUEMU_IOCTL_MODULE_LOAD, &load));
	EXPECT_NE(0, load.id);
	read.id = load.id;
	EXPECT_EQ(-ENOSPC, call(self->e.fd, GPUEMU_IOCTL_MODULE_READ, &read));
	EXPECT_EQ(9, read.image_bytes);
	EXPECT_EQ(0, call(self->e.fd, GPUEMU_IOCTL_MODULE_READ, &read));
	EXPECT_EQ(0, strcmp("some ptx", (char *)self->buffer));
	/* Another engine reads it too. */
	engine_close(&self->e);
	ASSERT_EQ(0, engine_open(&self->e));
	memset(self->buffer, 0, 16);
	EXPECT_EQ(0, call(self->e.fd, GPUEMU_IOCTL_MODULE_READ, &read));
	EXPECT_EQ(0, strcmp("some ptx", (char *)self->buffer));
	read.id++;
	EXPECT_EQ(-ENOENT, call(self->e.fd, GPUEMU_IOCTL_MODULE_READ, &read));
	read.id--;
	read.va_space += 1000;
	EXPECT_EQ(-ESRCH, call(self->e.fd, GPUEMU_IOCTL_MODULE_READ, &read));
	read.va_space -= 1000;
	unload.id = load.id;
	EXPECT_EQ(0, call(self->fd, GPUEMU_IOCTL_MODULE_UNLOAD, &unload));
	EXPECT_EQ(-ENOENT, call(self->e.fd, GPUEMU_IOCTL_MODULE_READ, &read));
}

TEST_F(work, too_many_images)
{
	struct gpuemu_module_load load = {
		.size = sizeof(load), .image = (uintptr_t)"x",
		.image_bytes = 1,
	};
	int i;

	for (i = 0; i < (int)GPUEMU_CLIENT_MODULES; i++)
		ASSERT_EQ(0, call(self->fd, GPUEMU_IOCTL_MODULE_LOAD, &load));
	EXPECT_EQ(-ENOSPC, call(self->fd, GPUEMU_IOCTL_MODULE_LOAD, &load));
}

TEST_F(work, no_engine)
{
	uint64_t id;

	engine_close(&self->e);
	EXPECT_EQ(-ENODEV, client_submit(self->fd, GPUEMU_WORK_LOAD, NULL, 0,
					 &id));
	ASSERT_EQ(0, engine_open(&self->e));
	EXPECT_EQ(0, client_submit(self->fd, GPUEMU_WORK_LOAD, NULL, 0, &id));
}

/* WAIT of the engine: at once if there is work, else when it comes. */
TEST_F(work, engine_waits)
{
	struct gpuemu_work_take t;
	uint32_t events = self->e.control->events;
	uint64_t id;
	int res;

	engine_issue(&self->e, GPUEMU_URING_WAIT, 0, 0);
	EXPECT_FALSE(engine_has_result(&self->e, GPUEMU_URING_WAIT));
	ASSERT_EQ(0, client_submit(self->fd, GPUEMU_WORK_LOAD, NULL, 0, &id));
	EXPECT_NE(events, self->e.control->events);
	ASSERT_EQ(0, engine_result(&self->e, GPUEMU_URING_WAIT, 1000, &res));
	EXPECT_EQ(0, res);
	engine_issue(&self->e, GPUEMU_URING_WAIT, 0, 0);
	ASSERT_EQ(0, engine_result(&self->e, GPUEMU_URING_WAIT, 1000, &res));
	EXPECT_EQ(0, res);
	ASSERT_EQ(0, take(self, 10, &t));
	engine_issue(&self->e, GPUEMU_URING_WAIT, 0, 0);
	EXPECT_FALSE(engine_has_result(&self->e, GPUEMU_URING_WAIT));
}

/* A work belongs to the file that submitted it. */
/* What the engine tells of a client is for that client's INFO, while the engine is attached. */
TEST_F(work, progress)
{
	struct gpuemu_engine_progress p = {
		.size = sizeof(p), .va_space = self->space,
		.launches = 3, .ctas_done = 5, .ctas = 8,
	};
	struct gpuemu_info info;
	int other = client_open();

	ASSERT_EQ(0, client_info(self->fd, &info));
	EXPECT_TRUE(!info.launches && !info.ctas_done && !info.ctas);
	EXPECT_EQ(-EPERM, call(self->fd, GPUEMU_IOCTL_ENGINE_PROGRESS, &p));
	ASSERT_EQ(0, call(self->e.fd, GPUEMU_IOCTL_ENGINE_PROGRESS, &p));
	ASSERT_EQ(0, client_info(self->fd, &info));
	EXPECT_EQ(3, info.launches);
	EXPECT_EQ(5, info.ctas_done);
	EXPECT_EQ(8, info.ctas);
	ASSERT_EQ(0, client_info(other, &info));
	EXPECT_TRUE(!info.launches && !info.ctas_done && !info.ctas);
	close(other);

	p.ctas_done = 9;
	EXPECT_EQ(-EINVAL, call(self->e.fd, GPUEMU_IOCTL_ENGINE_PROGRESS, &p));
	p.ctas_done = 5;
	p.va_space = 4000000;
	EXPECT_EQ(-ESRCH, call(self->e.fd, GPUEMU_IOCTL_ENGINE_PROGRESS, &p));

	/* The next engine has told nothing. */
	engine_close(&self->e);
	ASSERT_EQ(0, client_info(self->fd, &info));
	EXPECT_TRUE(!info.launches && !info.ctas_done && !info.ctas);
	ASSERT_EQ(0, engine_open(&self->e));
	ASSERT_EQ(0, client_info(self->fd, &info));
	EXPECT_TRUE(!info.launches && !info.ctas_done && !info.ctas);
}

TEST_F(work, other_client)
{
	struct gpuemu_work_take t;
	struct gpuemu_wait wait;
	int fd = client_open();
	uint64_t id;

	ASSERT_EQ(0, client_submit(self->fd, GPUEMU_WORK_LOAD, NULL, 0, &id));
	EXPECT_EQ(-ENOENT, client_wait(fd, id, 0, &wait));
	ASSERT_EQ(0, take(self, 0, &t));
	ASSERT_EQ(0, done(self, id, 0, NULL, 0, ""));
	EXPECT_EQ(-ENOENT, client_wait(fd, id, 0, &wait));
	EXPECT_EQ(0, client_wait(self->fd, id, 0, &wait));
	close(fd);
}

TEST_HARNESS_MAIN
