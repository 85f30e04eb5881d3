// SPDX-License-Identifier: GPL-2.0
/* Garbage in every ioctl and every field: an error each, and nothing changed. */
#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "lib/harness.h"
#include "lib/lib.h"

#define BAD ((void *)0x10)
#define BAD_KERNEL ((void *)0xffff888000000000ul)

FIXTURE(garbage)
{
	struct engine e;
	int fd;
	uint8_t big[2 * GPUEMU_PAGE_SIZE];
};

FIXTURE_SETUP(garbage)
{
	ASSERT_EQ(0, engine_open(&self->e));
	self->fd = client_open();
	ASSERT_LE(0, self->fd);
}

FIXTURE_TEARDOWN(garbage)
{
	close(self->fd);
	engine_close(&self->e);
}

TEST_F(garbage, unknown_ioctls)
{
	uint32_t nr, size = 64;
	struct gpuemu_info info = { .size = sizeof(info) };

	for (nr = 0; nr < 256; nr++) {
		if ((nr >= 0x80 && nr <= 0x85) || (nr >= 0xa0 && nr <= 0xa7))
			continue;
		EXPECT_EQ(-ENOTTY, call(self->fd, _IOWR('G', nr,
							struct gpuemu_info),
					&size));
	}
	EXPECT_EQ(-ENOTTY, call(self->fd, _IOWR('H', 0x80, struct gpuemu_info),
				&info));
	EXPECT_EQ(-ENOTTY, call(self->fd, _IOR('G', 0x80, struct gpuemu_info),
				&info));
	EXPECT_EQ(-ENOTTY, call(self->fd, _IO('G', 0x80), &info));
	EXPECT_EQ(-ENOTTY, call(self->fd, 0, NULL));
	EXPECT_EQ(-ENOTTY, call(self->fd, ~0u, &info));
	/* An older or newer header has another size in the number. */
	EXPECT_EQ(0, call(self->fd, _IOWR('G', 0x80, char[64]), &info));
}

/* What is true of every ioctl's size and pointer. */
TEST_F(garbage, sizes)
{
	/* The sizes of now, and of the first version. */
	static const struct { unsigned long nr; size_t size, first; } all[] = {
#define X(NAME, type) GREW(NAME, type, sizeof(struct type))
#define GREW(NAME, type, first) { GPUEMU_IOCTL_##NAME, sizeof(struct type), first },
		GREW(INFO, gpuemu_info, offsetof(struct gpuemu_info, launches))
		X(MODULE_LOAD, gpuemu_module_load)
		X(MODULE_UNLOAD, gpuemu_module_unload)
		X(SUBMIT, gpuemu_submit) X(WAIT, gpuemu_wait)
		X(PAGEABLE, gpuemu_pageable)
		GREW(ENGINE_ATTACH, gpuemu_engine_attach,
		     offsetof(struct gpuemu_engine_attach, remote_slots))
		GREW(WORK_TAKE, gpuemu_work_take,
		     offsetof(struct gpuemu_work_take, flags))
		X(WORK_DONE, gpuemu_work_done)
		X(MODULE_READ, gpuemu_module_read)
		X(ENGINE_ACK, gpuemu_engine_ack)
		X(ENGINE_PROGRESS, gpuemu_engine_progress)
		X(ENGINE_RAISE, gpuemu_engine_raise)
		X(ENGINE_SERVE, gpuemu_engine_serve)
#undef GREW
#undef X
	};
	uint32_t *size = (uint32_t *)self->big;
	uint8_t *guarded;
	size_t i;
	int fd;

	guarded = mmap(NULL, 2 * PAGE, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	ASSERT_EQ(0, munmap(guarded + PAGE, PAGE));
	for (i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
		fd = all[i].nr == GPUEMU_IOCTL_ENGINE_ATTACH || i < 6 ?
			self->fd : self->e.fd;
		EXPECT_EQ(-EFAULT, call(fd, all[i].nr, NULL));
		EXPECT_EQ(-EFAULT, call(fd, all[i].nr, BAD));
		EXPECT_EQ(-EFAULT, call(fd, all[i].nr, BAD_KERNEL));
		memset(self->big, 0, sizeof(self->big));
		EXPECT_EQ(-EINVAL, call(fd, all[i].nr, self->big));
		*size = 4;
		EXPECT_EQ(-EINVAL, call(fd, all[i].nr, self->big));
		*size = all[i].first - 1;
		EXPECT_EQ(-EINVAL, call(fd, all[i].nr, self->big));
		*size = GPUEMU_PAGE_SIZE + 1;
		EXPECT_EQ(-E2BIG, call(fd, all[i].nr, self->big));
		*size = ~0u;
		EXPECT_EQ(-E2BIG, call(fd, all[i].nr, self->big));
		/* A newer program's field that this module does not know. */
		*size = all[i].size + 8;
		self->big[all[i].size + 3] = 1;
		EXPECT_EQ(-E2BIG, call(fd, all[i].nr, self->big));
		/* The struct runs into nothing. */
		memset(guarded, 0, PAGE);
		*(uint32_t *)(guarded + PAGE - 4) = all[i].size;
		EXPECT_EQ(-EFAULT, call(fd, all[i].nr, guarded + PAGE - 4));
	}
}

/* A larger struct with zeroes behind is an old meaning: accepted. */
TEST_F(garbage, larger_and_zero)
{
	struct gpuemu_info *info = (void *)self->big;

	info->size = sizeof(*info) + 16;
	EXPECT_EQ(0, call(self->fd, GPUEMU_IOCTL_INFO, info));
	EXPECT_EQ(GPUEMU_ABI_VERSION, info->abi);
	EXPECT_EQ(sizeof(*info) + 16, info->size);
}

TEST_F(garbage, module_load)
{
	struct gpuemu_module_load good = {
		.size = sizeof(good), .image = (uintptr_t)self->big,
		.image_bytes = 10,
	}, bad;

	bad = good;
	bad.flags = 1;
	EXPECT_EQ(-EOPNOTSUPP, call(self->fd, GPUEMU_IOCTL_MODULE_LOAD, &bad));
	bad = good;
	bad.image_bytes = 0;
	EXPECT_EQ(-EINVAL, call(self->fd, GPUEMU_IOCTL_MODULE_LOAD, &bad));
	bad.image_bytes = GPUEMU_MODULE_MAX + 1;
	EXPECT_EQ(-EINVAL, call(self->fd, GPUEMU_IOCTL_MODULE_LOAD, &bad));
	bad.image_bytes = ~0u;
	EXPECT_EQ(-EINVAL, call(self->fd, GPUEMU_IOCTL_MODULE_LOAD, &bad));
	bad = good;
	bad.image = (uintptr_t)BAD;
	EXPECT_EQ(-EFAULT, call(self->fd, GPUEMU_IOCTL_MODULE_LOAD, &bad));
	bad.image = (uintptr_t)BAD_KERNEL;
	EXPECT_EQ(-EFAULT, call(self->fd, GPUEMU_IOCTL_MODULE_LOAD, &bad));
	bad.image = ~0ull - 4;
	EXPECT_EQ(-EFAULT, call(self->fd, GPUEMU_IOCTL_MODULE_LOAD, &bad));
	EXPECT_EQ(0, call(self->fd, GPUEMU_IOCTL_MODULE_LOAD, &good));
}

TEST_F(garbage, module_unload)
{
	struct gpuemu_module_unload u = { .size = sizeof(u) };

	EXPECT_EQ(-ENOENT, call(self->fd, GPUEMU_IOCTL_MODULE_UNLOAD, &u));
	u.id = ~0u;
	EXPECT_EQ(-ENOENT, call(self->fd, GPUEMU_IOCTL_MODULE_UNLOAD, &u));
}

TEST_F(garbage, submit)
{
	struct gpuemu_submit good = {
		.size = sizeof(good), .kind = GPUEMU_WORK_LAUNCH,
		.payload = (uintptr_t)self->big, .payload_bytes = 16,
	}, bad;

	bad = good;
	bad.kind = 0;
	EXPECT_EQ(-EINVAL, call(self->fd, GPUEMU_IOCTL_SUBMIT, &bad));
	bad.kind = GPUEMU_WORK_KINDS;
	EXPECT_EQ(-EINVAL, call(self->fd, GPUEMU_IOCTL_SUBMIT, &bad));
	bad.kind = ~0u;
	EXPECT_EQ(-EINVAL, call(self->fd, GPUEMU_IOCTL_SUBMIT, &bad));
	bad = good;
	bad.payload_bytes = GPUEMU_PAYLOAD_MAX + 1;
	EXPECT_EQ(-EINVAL, call(self->fd, GPUEMU_IOCTL_SUBMIT, &bad));
	bad.payload_bytes = ~0u;
	EXPECT_EQ(-EINVAL, call(self->fd, GPUEMU_IOCTL_SUBMIT, &bad));
	bad = good;
	bad.payload = (uintptr_t)BAD;
	EXPECT_EQ(-EFAULT, call(self->fd, GPUEMU_IOCTL_SUBMIT, &bad));
	EXPECT_EQ(0, call(self->fd, GPUEMU_IOCTL_SUBMIT, &good));
}

TEST_F(garbage, wait)
{
	struct gpuemu_wait wait;
	struct gpuemu_work_take take = { .size = sizeof(take) };
	struct gpuemu_work_done done = {
		.size = sizeof(done), .report = (uintptr_t)self->big,
		.report_bytes = 100,
	};
	uint64_t id;

	EXPECT_EQ(-ENOENT, client_wait(self->fd, 0, ~0u, &wait));
	EXPECT_EQ(-ENOENT, client_wait(self->fd, ~0ull, ~0u, &wait));
	ASSERT_EQ(0, client_submit(self->fd, GPUEMU_WORK_LOAD, NULL, 0, &id));
	ASSERT_EQ(0, call(self->e.fd, GPUEMU_IOCTL_WORK_TAKE, &take));
	done.id = id;
	ASSERT_EQ(0, call(self->e.fd, GPUEMU_IOCTL_WORK_DONE, &done));
	/* A bad pointer for the report does not lose it. */
	memset(&wait, 0, sizeof(wait));
	wait.size = sizeof(wait);
	wait.id = id;
	wait.report = (uintptr_t)BAD;
	wait.report_bytes = 100;
	EXPECT_EQ(-EFAULT, call(self->fd, GPUEMU_IOCTL_WAIT, &wait));
	wait.report = (uintptr_t)self->big;
	wait.report_bytes = 100;
	EXPECT_EQ(0, call(self->fd, GPUEMU_IOCTL_WAIT, &wait));
}

TEST_F(garbage, attach)
{
	struct gpuemu_engine_attach attach = {
		.size = sizeof(attach), .abi = GPUEMU_ABI_VERSION + 1,
	};

	EXPECT_EQ(-EOPNOTSUPP, call(self->fd, GPUEMU_IOCTL_ENGINE_ATTACH,
				    &attach));
	attach.abi = 0;
	EXPECT_EQ(-EOPNOTSUPP, call(self->fd, GPUEMU_IOCTL_ENGINE_ATTACH,
				    &attach));
	attach.abi = GPUEMU_ABI_VERSION;
	attach.flags = 0x80000000;
	EXPECT_EQ(-EOPNOTSUPP, call(self->fd, GPUEMU_IOCTL_ENGINE_ATTACH,
				    &attach));
}

TEST_F(garbage, work_take)
{
	struct gpuemu_work_take take = { .size = sizeof(take) };
	uint64_t id;

	ASSERT_EQ(0, client_submit(self->fd, GPUEMU_WORK_LOAD, "abc", 4, &id));
	take.user = 1;
	EXPECT_EQ(-EINVAL, call(self->e.fd, GPUEMU_IOCTL_WORK_TAKE, &take));
	/* A payload that cannot be delivered stays queued, at its place. */
	take.user = 0;
	take.payload = (uintptr_t)BAD;
	take.payload_bytes = 100;
	EXPECT_EQ(-EFAULT, call(self->e.fd, GPUEMU_IOCTL_WORK_TAKE, &take));
	take.payload = (uintptr_t)self->big;
	take.payload_bytes = 100;
	EXPECT_EQ(0, call(self->e.fd, GPUEMU_IOCTL_WORK_TAKE, &take));
	EXPECT_EQ(id, take.id);
	EXPECT_EQ(0, strcmp("abc", (char *)self->big));
}

TEST_F(garbage, work_done)
{
	struct gpuemu_work_take take = { .size = sizeof(take) };
	struct gpuemu_work_done good = { .size = sizeof(good) }, bad;
	struct gpuemu_wait wait;
	uint64_t id;
	size_t i;

	ASSERT_EQ(0, client_submit(self->fd, GPUEMU_WORK_LOAD, NULL, 0, &id));
	good.id = id;
	/* Not taken yet, and never taken. */
	EXPECT_EQ(-ENOENT, call(self->e.fd, GPUEMU_IOCTL_WORK_DONE, &good));
	ASSERT_EQ(0, call(self->e.fd, GPUEMU_IOCTL_WORK_TAKE, &take));
	bad = good;
	bad.id = id + 1;
	EXPECT_EQ(-ENOENT, call(self->e.fd, GPUEMU_IOCTL_WORK_DONE, &bad));
	bad = good;
	bad.status = 1;
	EXPECT_EQ(-EINVAL, call(self->e.fd, GPUEMU_IOCTL_WORK_DONE, &bad));
	bad.status = -4096;
	EXPECT_EQ(-EINVAL, call(self->e.fd, GPUEMU_IOCTL_WORK_DONE, &bad));
	bad = good;
	bad.reserved = 1;
	EXPECT_EQ(-EINVAL, call(self->e.fd, GPUEMU_IOCTL_WORK_DONE, &bad));
	bad = good;
	bad.report_bytes = GPUEMU_REPORT_MAX + 1;
	EXPECT_EQ(-EINVAL, call(self->e.fd, GPUEMU_IOCTL_WORK_DONE, &bad));
	bad = good;
	bad.report = (uintptr_t)BAD;
	bad.report_bytes = 10;
	EXPECT_EQ(-EFAULT, call(self->e.fd, GPUEMU_IOCTL_WORK_DONE, &bad));
	EXPECT_EQ(-ETIMEDOUT, client_wait(self->fd, id, 0, &wait));
	/* A message without its NUL gets one. */
	for (i = 0; i < sizeof(good.message); i++)
		good.message[i] = 'a';
	good.status = -4095;
	EXPECT_EQ(0, call(self->e.fd, GPUEMU_IOCTL_WORK_DONE, &good));
	EXPECT_EQ(0, client_wait(self->fd, id, 0, &wait));
	EXPECT_EQ(-4095, wait.status);
	EXPECT_EQ(GPUEMU_MESSAGE_MAX - 1, strlen((char *)wait.message));
}

TEST_F(garbage, module_read)
{
	struct gpuemu_module_load load = {
		.size = sizeof(load), .image = (uintptr_t)self->big,
		.image_bytes = 100,
	};
	struct gpuemu_module_read read = { .size = sizeof(read) };

	EXPECT_EQ(-ESRCH, call(self->e.fd, GPUEMU_IOCTL_MODULE_READ, &read));
	ASSERT_EQ(0, call(self->fd, GPUEMU_IOCTL_MODULE_LOAD, &load));
	read.va_space = client_space(self->fd);
	EXPECT_EQ(-ENOENT, call(self->e.fd, GPUEMU_IOCTL_MODULE_READ, &read));
	read.id = load.id;
	read.image_bytes = 100;
	read.image = (uintptr_t)BAD;
	EXPECT_EQ(-EFAULT, call(self->e.fd, GPUEMU_IOCTL_MODULE_READ, &read));
}

TEST_F(garbage, engine_ack)
{
	EXPECT_EQ(0, engine_ack(&self->e, 0));
	EXPECT_EQ(-EINVAL, engine_ack(&self->e, 1));
	EXPECT_EQ(-EINVAL, engine_ack(&self->e, 0x7fffffff));
	/* Long ago is acknowledged already. */
	EXPECT_EQ(0, engine_ack(&self->e, ~0u));
	EXPECT_EQ(0, self->e.control->lost);
}

/* Random bytes, with a size that passes. Nothing may happen but errors. */
TEST_F(garbage, random)
{
	static const struct { unsigned long nr; uint32_t size; } all[] = {
		{ GPUEMU_IOCTL_MODULE_LOAD, sizeof(struct gpuemu_module_load) },
		{ GPUEMU_IOCTL_SUBMIT, sizeof(struct gpuemu_submit) },
		{ GPUEMU_IOCTL_WORK_TAKE, sizeof(struct gpuemu_work_take) },
		{ GPUEMU_IOCTL_WORK_DONE, sizeof(struct gpuemu_work_done) },
		{ GPUEMU_IOCTL_MODULE_READ, sizeof(struct gpuemu_module_read) },
		{ GPUEMU_IOCTL_ENGINE_ACK, sizeof(struct gpuemu_engine_ack) },
	};
	struct gpuemu_info info;
	uint32_t x = 1;
	size_t i, k;
	int round;

	for (round = 0; round < 20000; round++) {
		i = round % (sizeof(all) / sizeof(all[0]));
		for (k = 0; k < all[i].size; k++) {
			x = x * 1664525 + 1013904223;
			/* Half of the bytes zero: some fields get past. */
			self->big[k] = x >> 31 ? x >> 16 : 0;
		}
		memcpy(self->big, &all[i].size, 4);
		call(round & 8 ? self->fd : self->e.fd, all[i].nr, self->big);
	}
	EXPECT_EQ(0, client_info(self->fd, &info));
	EXPECT_EQ(self->e.attach.generation, info.engine_generation);
}

TEST_HARNESS_MAIN
