// SPDX-License-Identifier: GPL-2.0
/*
 * vm: vram_mb=4 timeout=300
 *
 * Open and close, each ioctl of a client and of an engine, and an engine's mappings,
 * with each of its allocations and user copies failing once: the error is a clean
 * one, nothing is lost or half done, and the same works at the next attempt. Memory
 * is fail_nth_memory.c's, the io_uring commands are fail_nth_uring.c's, netlink is
 * fail_nth_netlink.c's.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "lib/harness.h"
#include "lib/fail.h"
#include "lib/managed.h"
#include "lib/nl.h"

enum { IMAGE_BYTES = 300 << 10, TEXT_BYTES = 5000 };

FIXTURE(fail)
{
	int fail;
	char why[128];
	struct managed m;
	struct nl nl;
	uint8_t *image, *read, *more;
	uint64_t id, charged;
	uint32_t image_id;
	int fd;
	struct gpuemu_wait wait;
	struct gpuemu_engine_attach attach;
};

#define WORLD FIXTURE_DATA(fail) *self = world

FIXTURE_SETUP(fail)
{
	FAIL_SETUP();
	ASSERT_EQ(0, nl_open(&self->nl));
	ASSERT_EQ(0, managed_open(&self->m, ON_HOST));
	self->image = malloc(IMAGE_BYTES);
	self->read = malloc(IMAGE_BYTES);
	fill(self->image, IMAGE_BYTES, 3);
	self->more = reserve(4 * BLOCK);
	ASSERT_NE(NULL, self->more);
}

FIXTURE_TEARDOWN(fail)
{
	managed_close(&self->m);
	nl_close(&self->nl);
	free(self->image);
	free(self->read);
	close(self->fail);
}

/* What the client is charged for images, payloads and reports. */
static void take_charged(const struct nl_reply *reply, void *arg)
{
	*(uint64_t *)arg = nl_u64(reply->attrs[GPUEMU_A_CLIENT_CHARGED_BYTES]);
}

static uint64_t charged(FIXTURE_DATA(fail) *self)
{
	uint64_t bytes = ~0ull;
	struct nl_request r;

	nl_begin(&self->nl, &r, GPUEMU_CMD_CLIENT_GET, 0);
	nl_put_u32(&r, GPUEMU_A_CLIENT_VA_SPACE, self->m.space);
	nl_talk(&self->nl, &r, take_charged, &bytes);
	return bytes;
}

/* --- files --- */

static int run_open(void *world)
{
	WORLD;

	self->fd = open("/dev/gpuemu", O_RDWR | O_CLOEXEC);
	return self->fd < 0 ? -errno : 0;
}

static int after_open(void *world, int ret)
{
	WORLD;

	if (!ret && (!client_space(self->fd) || close(self->fd)))
		return 1;
	return 0;
}

static const struct fail_op op_open = { "open", NULL, run_open, after_open, 0 };

static int prepare_close(void *world)
{
	WORLD;

	self->fd = client_open();
	if (self->fd < 0 || !map_managed_at(self->fd, self->more, 2 * BLOCK))
		return 1;
	fill(self->more, BLOCK + PAGE, 4);
	return engine_h2d(&self->m.e, client_space(self->fd), self->more, 3) ? 2 : 0;
}

/* What has no way to fail has to find another way. */
static int run_close(void *world)
{
	WORLD;

	if (munmap(self->more, 2 * BLOCK))
		return -errno;
	return close(self->fd) ? -errno : 0;
}

static int after_close(void *world, int ret)
{
	WORLD;
	struct gpuemu_info info;

	if (ret) {
		munmap(self->more, 2 * BLOCK);
		close(self->fd);
	}
	if (client_info(self->m.fd, &info))
		return 1;
	return info.vram_free_bytes == info.vram_bytes ? 0 : 2;
}

static const struct fail_op op_close = {
	"munmap, close", prepare_close, run_close, after_close, 0,
};

TEST_F(fail, open_close)
{
	SWEEP(op_open);
	SWEEP(op_close);
}

/* --- a client's ioctls --- */

static int run_info(void *world)
{
	WORLD;
	struct gpuemu_info info;
	int ret = client_info(self->m.fd, &info);

	return ret ? ret : info.va_space == self->m.space ? 0 : -EPROTO;
}

static int after_nothing(void *world, int ret)
{
	return 0;
}

static const struct fail_op op_info = { "INFO", NULL, run_info, after_nothing, 0 };

TEST_F(fail, info)
{
	SWEEP(op_info);
}

static int load(FIXTURE_DATA(fail) *self)
{
	struct gpuemu_module_load arg = {
		.size = sizeof(arg), .image = (uintptr_t)self->image,
		.image_bytes = IMAGE_BYTES,
	};
	int ret = call(self->m.fd, GPUEMU_IOCTL_MODULE_LOAD, &arg);

	self->image_id = arg.id;
	return ret;
}

static int unload(FIXTURE_DATA(fail) *self)
{
	struct gpuemu_module_unload arg = {
		.size = sizeof(arg), .id = self->image_id,
	};

	return call(self->m.fd, GPUEMU_IOCTL_MODULE_UNLOAD, &arg);
}

static int run_load(void *world)
{
	return load(world);
}

static int after_load(void *world, int ret)
{
	WORLD;

	/* An image whose number nobody heard is not kept. */
	if (ret)
		return charged(self) ? 1 : 0;
	if (charged(self) != IMAGE_BYTES || unload(self))
		return 2;
	return charged(self) ? 3 : 0;
}

static const struct fail_op op_load = { "MODULE_LOAD", NULL, run_load, after_load, 0 };

static int prepare_loaded(void *world)
{
	return load(world) ? 1 : 0;
}

static int run_unload(void *world)
{
	return unload(world);
}

static int after_unload(void *world, int ret)
{
	WORLD;

	/* It may be gone; that it was so is heard at the second attempt. */
	if (ret && charged(self) && unload(self))
		return 1;
	return charged(self) ? 2 : 0;
}

static const struct fail_op op_unload = {
	"MODULE_UNLOAD", prepare_loaded, run_unload, after_unload, 0,
};

static int read_image(FIXTURE_DATA(fail) *self)
{
	struct gpuemu_module_read arg = {
		.size = sizeof(arg), .va_space = self->m.space,
		.id = self->image_id, .image = (uintptr_t)self->read,
		.image_bytes = IMAGE_BYTES,
	};

	memset(self->read, 0, IMAGE_BYTES);
	return call(self->m.e.fd, GPUEMU_IOCTL_MODULE_READ, &arg);
}

static int run_read(void *world)
{
	return read_image(world);
}

static int after_read(void *world, int ret)
{
	WORLD;

	if (!ret && !filled(self->read, IMAGE_BYTES, 3))
		return 1;
	return unload(self) ? 2 : 0;
}

static const struct fail_op op_read = {
	"MODULE_READ", prepare_loaded, run_read, after_read, 0,
};

TEST_F(fail, images)
{
	SWEEP(op_load);
	SWEEP(op_unload);
	SWEEP(op_read);
}

/* --- works: from the client to the engine and back --- */

static int submit(FIXTURE_DATA(fail) *self)
{
	return client_submit(self->m.fd, GPUEMU_WORK_LAUNCH, self->image,
			     TEXT_BYTES, &self->id);
}

static int take(FIXTURE_DATA(fail) *self)
{
	struct gpuemu_work_take arg = {
		.size = sizeof(arg), .payload = (uintptr_t)self->read,
		.payload_bytes = TEXT_BYTES,
	};
	int ret;

	memset(self->read, 0, TEXT_BYTES);
	ret = call(self->m.e.fd, GPUEMU_IOCTL_WORK_TAKE, &arg);
	if (ret)
		return ret;
	return arg.id == self->id && !memcmp(self->read, self->image, TEXT_BYTES) ?
	       0 : -EPROTO;
}

static int done(FIXTURE_DATA(fail) *self)
{
	struct gpuemu_work_done arg = {
		.size = sizeof(arg), .id = self->id, .status = -ENOEXEC,
		.report = (uintptr_t)self->image + TEXT_BYTES,
		.report_bytes = TEXT_BYTES,
	};

	return call(self->m.e.fd, GPUEMU_IOCTL_WORK_DONE, &arg);
}

static int wait_work(FIXTURE_DATA(fail) *self)
{
	int ret;

	memset(self->read, 0, TEXT_BYTES);
	memset(&self->wait, 0, sizeof(self->wait));
	self->wait.size = sizeof(self->wait);
	self->wait.id = self->id;
	self->wait.report = (uintptr_t)self->read;
	self->wait.report_bytes = TEXT_BYTES;
	ret = call(self->m.fd, GPUEMU_IOCTL_WAIT, &self->wait);
	if (ret)
		return ret;
	if (self->wait.status == -ENOMEM && !self->wait.report_bytes)
		return 1;	/* there was no memory for the report */
	return self->wait.status == -ENOEXEC &&
	       !memcmp(self->read, self->image + TEXT_BYTES, TEXT_BYTES) ? 0 : -EPROTO;
}

static int run_submit(void *world)
{
	return submit(world);
}

/* From wherever the work is to its end: nothing of it is left. */
static int after_submit(void *world, int ret)
{
	WORLD;
	int took;

	if (ret) {
		/* A work whose number nobody heard is nobody's. */
		took = take(self);
		return took == -EAGAIN && !charged(self) ? 0 : 1;
	}
	if (take(self) || done(self) || wait_work(self))
		return 2;
	return charged(self) ? 3 : 0;
}

static const struct fail_op op_submit = { "SUBMIT", NULL, run_submit, after_submit, 0 };

static int prepare_queued(void *world)
{
	return submit(world) ? 1 : 0;
}

static int run_take(void *world)
{
	return take(world);
}

static int after_take(void *world, int ret)
{
	WORLD;

	if (ret && take(self))
		return 1;
	if (done(self) || wait_work(self))
		return 2;
	return charged(self) ? 3 : 0;
}

static const struct fail_op op_take = {
	"WORK_TAKE", prepare_queued, run_take, after_take, 0,
};

static int prepare_taken(void *world)
{
	return submit(world) || take(world) ? 1 : 0;
}

static int run_done(void *world)
{
	return done(world);
}

static int after_done(void *world, int ret)
{
	WORLD;

	/* -ENOENT: it was done, and only the answer was lost. */
	if (ret) {
		ret = done(self);
		if (ret && ret != -ENOENT)
			return 1;
	}
	if (wait_work(self) < 0)
		return 2;
	return charged(self) ? 3 : 0;
}

static const struct fail_op op_done = {
	"WORK_DONE", prepare_taken, run_done, after_done, 0,
};

static int prepare_done(void *world)
{
	return submit(world) || take(world) || done(world) ? 1 : 0;
}

static int run_wait(void *world)
{
	return wait_work(world);
}

static int after_wait(void *world, int ret)
{
	WORLD;

	if (ret && wait_work(self))
		return 1;
	return charged(self) ? 2 : 0;
}

static const struct fail_op op_wait = { "WAIT", prepare_done, run_wait, after_wait, 0 };

TEST_F(fail, works)
{
	SWEEP(op_submit);
	SWEEP(op_take);
	SWEEP(op_done);
	SWEEP(op_wait);
}

/* --- an engine's beginning --- */

static int run_ack(void *world)
{
	WORLD;

	return engine_ack(&self->m.e, self->m.e.control->inval_put);
}

static const struct fail_op op_ack = { "ENGINE_ACK", NULL, run_ack, after_nothing, 0 };

TEST_F(fail, ack)
{
	SWEEP(op_ack);
}

static int prepare_attach(void *world)
{
	WORLD;

	self->fd = client_open();
	return self->fd < 0;
}

static int run_attach(void *world)
{
	WORLD;

	return engine_attach_fd(self->fd, &self->attach);
}

/* A file that is no engine, or is one in vain, is in nobody's way. */
static int after_attach(void *world, int ret)
{
	WORLD;
	struct gpuemu_engine_attach attach;
	int fd = client_open();

	close(self->fd);
	ret = engine_attach_fd(fd, &attach);
	close(fd);
	return ret ? 1 : 0;
}

static const struct fail_op op_attach = {
	"ENGINE_ATTACH", prepare_attach, run_attach, after_attach, 0,
};

/* Each of the four mappings, and the first touch, which populates it. */
static int run_map_engine(void *world)
{
	WORLD;
	const struct {
		uint64_t offset;
		size_t bytes;
		int prot;
	} regions[] = {
		{ GPUEMU_MMAP_VRAM, self->attach.vram_frames * PAGE, PROT_READ | PROT_WRITE },
		{ GPUEMU_MMAP_PAGE_TABLE, self->attach.pt_tables * PAGE, PROT_READ },
		{ GPUEMU_MMAP_FAULTS, sizeof(struct gpuemu_fault_buffer) +
		  self->attach.fault_entries * sizeof(struct gpuemu_fault),
		  PROT_READ | PROT_WRITE },
		{ GPUEMU_MMAP_CONTROL, self->attach.control_bytes, PROT_READ },
	};
	volatile uint8_t *p;
	int i, ret = 0;

	for (i = 0; i < 4 && !ret; i++) {
		p = mmap(NULL, regions[i].bytes, regions[i].prot, MAP_SHARED,
			 self->fd, regions[i].offset);
		if (p == MAP_FAILED) {
			ret = -errno;
		} else {
			*p;
			p[regions[i].bytes - 1];
			if (munmap((void *)p, regions[i].bytes)) {
				ret = -errno;
				/* One failure is all that there is. */
				munmap((void *)p, regions[i].bytes);
			}
		}
	}
	return ret;
}

static const struct fail_op op_map_engine = {
	"an engine's mappings", NULL, run_map_engine, after_nothing, 0,
};

TEST_F(fail, engine)
{
	managed_close(&self->m);
	SWEEP(op_attach);
	self->fd = client_open();
	ASSERT_EQ(0, engine_attach_fd(self->fd, &self->attach));
	SWEEP(op_map_engine);
	close(self->fd);
	ASSERT_EQ(0, managed_open(&self->m, ON_HOST));
}

TEST_HARNESS_MAIN
