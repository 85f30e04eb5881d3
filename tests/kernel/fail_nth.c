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
	struct fail fail;
	struct managed m;
	struct nl nl;
	uint8_t *image, *read, *more;
	uint64_t id;
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
	close(self->fail.fd);
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

static int open_file(void *world)
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

/* A client, and an engine that has some of its memory by this operation. */
static int prepare_close(void *world)
{
	WORLD;

	self->fd = client_open();
	if (self->fd < 0 || !map_managed_at(self->fd, self->more, 2 * BLOCK))
		return 1;
	fill(self->more, BLOCK + PAGE, 4);
	return engine_migrate(&self->m.e, client_space(self->fd), self->more, 3,
			      self->fail.op->what[0]) ? 2 : 0;
}

/* What has no way to fail has to find another way. */
static int unmap_close(void *world)
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
	if (nl_stat(&self->nl, 0, GPUEMU_A_STATS_REMOTE_MAPPED))
		return 2;
	return info.vram_free_bytes == info.vram_bytes ? 0 : 3;
}

#define CLOSE(name, op) { \
	"munmap, close, " name, prepare_close, unmap_close, after_close, \
	.what = { GPUEMU_MIGRATE_##op } }

TEST_F(fail, open_close)
{
	static const struct fail_op ops[] = {
		{ "open", NULL, open_file, after_open },
		CLOSE("pages on the device", H2D),
		CLOSE("pages mapped remotely", REMOTE),
		CLOSE("duplicates", DUPLICATE),
	};

	SWEEP(ops);
}

/* --- a client's ioctls --- */

static int info(void *world)
{
	WORLD;
	struct gpuemu_info info;
	int ret = client_info(self->m.fd, &info);

	return ret ? ret : info.va_space == self->m.space ? 0 : -EPROTO;
}

TEST_F(fail, info)
{
	static const struct fail_op ops[] = { { "INFO", NULL, info } };

	SWEEP(ops);
}

static int load(void *world)
{
	WORLD;
	struct gpuemu_module_load arg = {
		.size = sizeof(arg), .image = (uintptr_t)self->image,
		.image_bytes = IMAGE_BYTES,
	};
	int ret = call(self->m.fd, GPUEMU_IOCTL_MODULE_LOAD, &arg);

	self->image_id = arg.id;
	return ret;
}

static int unload(void *world)
{
	WORLD;
	struct gpuemu_module_unload arg = {
		.size = sizeof(arg), .id = self->image_id,
	};

	return call(self->m.fd, GPUEMU_IOCTL_MODULE_UNLOAD, &arg);
}

static int read_image(void *world)
{
	WORLD;
	struct gpuemu_module_read arg = {
		.size = sizeof(arg), .va_space = self->m.space,
		.id = self->image_id, .image = (uintptr_t)self->read,
		.image_bytes = IMAGE_BYTES,
	};

	memset(self->read, 0, IMAGE_BYTES);
	return call(self->m.e.fd, GPUEMU_IOCTL_MODULE_READ, &arg);
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

static int after_unload(void *world, int ret)
{
	WORLD;

	/* It may be gone; that it was so is heard at the second attempt. */
	if (ret && charged(self) && unload(self))
		return 1;
	return charged(self) ? 2 : 0;
}

static int after_read(void *world, int ret)
{
	WORLD;

	if (!ret && !filled(self->read, IMAGE_BYTES, 3))
		return 1;
	return unload(self) ? 2 : 0;
}

TEST_F(fail, images)
{
	static const struct fail_op ops[] = {
		{ "MODULE_LOAD", NULL, load, after_load },
		{ "MODULE_UNLOAD", load, unload, after_unload },
		{ "MODULE_READ", load, read_image, after_read },
	};

	SWEEP(ops);
}

/* --- works: from the client to the engine and back --- */

static int submit(void *world)
{
	WORLD;

	return client_submit(self->m.fd, GPUEMU_WORK_LAUNCH, self->image,
			     TEXT_BYTES, &self->id);
}

static int take(void *world)
{
	WORLD;
	struct gpuemu_work_take arg = {
		.size = sizeof(arg), .payload = (uintptr_t)self->read,
		.payload_bytes = TEXT_BYTES, .flags = GPUEMU_TAKE_IDLE,
	};
	int ret;

	memset(self->read, 0, TEXT_BYTES);
	ret = call(self->m.e.fd, GPUEMU_IOCTL_WORK_TAKE, &arg);
	if (ret)
		return ret;
	return arg.id == self->id && !memcmp(self->read, self->image, TEXT_BYTES) ?
	       0 : -EPROTO;
}

static int done(void *world)
{
	WORLD;
	struct gpuemu_work_done arg = {
		.size = sizeof(arg), .id = self->id, .status = -ENOEXEC,
		.report = (uintptr_t)self->image + TEXT_BYTES,
		.report_bytes = TEXT_BYTES,
	};

	return call(self->m.e.fd, GPUEMU_IOCTL_WORK_DONE, &arg);
}

static int wait_work(void *world)
{
	WORLD;
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

static int prepare_taken(void *world)
{
	return submit(world) || take(world) ? 1 : 0;
}

static int prepare_done(void *world)
{
	return prepare_taken(world) || done(world) ? 1 : 0;
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

static int after_take(void *world, int ret)
{
	WORLD;

	if (ret && take(self))
		return 1;
	if (done(self) || wait_work(self))
		return 2;
	return charged(self) ? 3 : 0;
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

static int after_wait(void *world, int ret)
{
	WORLD;

	if (ret && wait_work(self))
		return 1;
	return charged(self) ? 2 : 0;
}

TEST_F(fail, works)
{
	static const struct fail_op ops[] = {
		{ "SUBMIT", NULL, submit, after_submit },
		{ "WORK_TAKE", submit, take, after_take },
		{ "WORK_DONE", prepare_taken, done, after_done },
		{ "WAIT", prepare_done, wait_work, after_wait },
	};

	SWEEP(ops);
}

/* --- an engine's beginning and end --- */

static int ack(void *world)
{
	WORLD;

	return engine_ack(&self->m.e, self->m.e.control->inval_put);
}

static int progress(void *world)
{
	WORLD;
	struct gpuemu_engine_progress p = {
		.size = sizeof(p), .va_space = self->m.space, .launches = 1,
	};

	return call(self->m.e.fd, GPUEMU_IOCTL_ENGINE_PROGRESS, &p);
}

TEST_F(fail, ack)
{
	static const struct fail_op ops[] = {
		{ "ENGINE_ACK", NULL, ack },
		{ "ENGINE_PROGRESS", NULL, progress },
	};

	SWEEP(ops);
}

static int attach(void *world)
{
	WORLD;

	return engine_attach_fd(self->fd, &self->attach);
}

static int prepare_attached(void *world)
{
	return open_file(world) || attach(world) ? 1 : 0;
}

static int end_engine(void *world)
{
	WORLD;

	return close(self->fd) ? -errno : 0;
}

/* A file that is no engine, or was one, is in nobody's way. */
static int after_end(void *world, int ret)
{
	if (prepare_attached(world))
		return 1;
	return end_engine(world) ? 2 : 0;
}

static int after_attach(void *world, int ret)
{
	if (end_engine(world))
		return 3;
	return after_end(world, ret);
}

/* Each of the mappings, and the first touch, which populates it. */
static int map_engine(void *world)
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
		{ GPUEMU_MMAP_REMOTE, self->attach.remote_slots * PAGE, PROT_READ | PROT_WRITE },
	};
	volatile uint8_t *p;
	int i, ret = 0;

	for (i = 0; i < 5 && !ret; i++) {
		p = mmap(NULL, regions[i].bytes, regions[i].prot, MAP_SHARED,
			 self->fd, regions[i].offset);
		if (p == MAP_FAILED) {
			ret = -errno;
			continue;
		}
		/* In the slots there is nothing yet; fail_nth_memory.c touches them. */
		if (regions[i].offset != GPUEMU_MMAP_REMOTE) {
			*p;
			p[regions[i].bytes - 1];
		}
		if (munmap((void *)p, regions[i].bytes)) {
			ret = -errno;
			/* One failure is all that there is. */
			munmap((void *)p, regions[i].bytes);
		}
	}
	return ret;
}

static int after_map_engine(void *world, int ret)
{
	return end_engine(world) ? 1 : 0;
}

TEST_F(fail, engine)
{
	static const struct fail_op ops[] = {
		{ "ENGINE_ATTACH", open_file, attach, after_attach },
		{ "an engine's mappings", prepare_attached, map_engine, after_map_engine },
		{ "an engine's end", prepare_attached, end_engine, after_end,
		  .needs_nothing = true },
	};

	managed_close(&self->m);
	SWEEP(ops);
	ASSERT_EQ(0, managed_open(&self->m, ON_HOST));
}

TEST_HARNESS_MAIN
