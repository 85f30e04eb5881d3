// SPDX-License-Identifier: GPL-2.0
/*
 * Works as no library would send them, to a real daemon: cut short, with wrong
 * sizes, wild numbers and noise. Each is answered with an error in time, and
 * the daemon serves an honest client afterwards.
 * vm: daemon timeout=180
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/gpuemu.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <gpuemu.h>

#include "lib/harness.h"

#define BASE		0x250000000000ull
#define BYTES		(64u * 4096)
#define ANSWER_MS	20000	/* under TCG, on a busy machine */

static const char ptx[] =
	".version 3.2\n.target sm_35\n.address_size 64\n"
	".visible .entry store(.param .u64 p, .param .u32 v)\n{\n"
	"	.reg .b32 %r<2>;\n	.reg .b64 %rd<3>;\n"
	"	ld.param.u64 %rd1, [p];\n	ld.param.u32 %r1, [v];\n"
	"	cvta.to.global.u64 %rd2, %rd1;\n	st.global.u32 [%rd2], %r1;\n	ret;\n}\n";

FIXTURE(raw)
{
	int fd;
	uint32_t *p;
};

FIXTURE_SETUP(raw)
{
	self->fd = open("/dev/gpuemu", O_RDWR);
	ASSERT_GE(self->fd, 0);
	self->p = mmap((void *)BASE, BYTES, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED,
		       self->fd, BASE);
	ASSERT_NE(MAP_FAILED, self->p);
	memset(self->p, 0x11, BYTES);
}

/* The daemon must still be there, and right. */
FIXTURE_TEARDOWN(raw)
{
	const struct gpuemu_options options = { .size = sizeof(options), .backend = "kmod" };
	const struct gpuemu_dim3 one = { 1, 1, 1 };
	struct gpuemu_function *store;
	struct gpuemu_module *module;
	struct gpuemu_ctx *ctx;
	uint32_t *p;

	for (unsigned int i = 0; i < BYTES / 4; i++)
		ASSERT_EQ(0x11111111, self->p[i]);
	munmap(self->p, BYTES);
	close(self->fd);
	ASSERT_EQ(0, gpuemu_open(&ctx, &options)) TH_LOG("%s", gpuemu_last_error(NULL));
	ASSERT_EQ(0, gpuemu_module_load_data(ctx, &module, ptx, strlen(ptx), NULL));
	ASSERT_EQ(0, gpuemu_module_get_function(module, &store, "store"));
	ASSERT_EQ(0, gpuemu_mem_alloc_managed(ctx, (void **)&p, 4096));
	{
		const struct gpuemu_arg args[] = { gpuemu_arg_ptr(p), gpuemu_arg_u32(77) };

		ASSERT_EQ(0, gpuemu_launch(store, one, one, 0, NULL, args, 2));
	}
	ASSERT_EQ(0, gpuemu_synchronize(ctx)) TH_LOG("%s", gpuemu_last_error(ctx));
	EXPECT_EQ(77, *p);
	gpuemu_close(ctx);
}

/* The work's status; 1: no answer in time or the ioctls failed. */
static int ask(int fd, uint32_t kind, const void *payload, uint32_t bytes)
{
	struct gpuemu_submit s = {
		.size = sizeof(s), .kind = kind, .payload_bytes = bytes,
		.payload = (uint64_t)(uintptr_t)payload,
	};
	struct gpuemu_wait w = { .size = sizeof(w), .timeout_ms = ANSWER_MS };

	if (ioctl(fd, GPUEMU_IOCTL_SUBMIT, &s))
		return 1;
	w.id = s.id;
	/* A report that does not fit is an answer too. */
	if (ioctl(fd, GPUEMU_IOCTL_WAIT, &w) && errno != ENOSPC)
		return 1;
	return w.status;
}

static uint32_t load(int fd, const char *text, size_t bytes)
{
	struct gpuemu_module_load l = {
		.size = sizeof(l), .image = (uint64_t)(uintptr_t)text, .image_bytes = bytes,
	};

	return ioctl(fd, GPUEMU_IOCTL_MODULE_LOAD, &l) ? 0 : l.id;
}

static uint64_t next(uint64_t *seed)
{
	*seed = *seed * 6364136223846793005ull + 1442695040888963407ull;
	return *seed >> 17;
}

/* Every length from nothing up, of zeros and of ones. */
TEST_F(raw, cut_short)
{
	static unsigned char bytes[256];

	for (unsigned int fill = 0; fill <= 0xff; fill += 0xff) {
		memset(bytes, fill, sizeof(bytes));
		for (uint32_t kind = 1; kind < GPUEMU_WORK_KINDS; kind++) {
			if (kind == GPUEMU_WORK_STATISTICS)
				continue;	/* has no payload to be wrong */
			for (unsigned int n = 0; n <= 160; n += n < 8 ? 1 : 8) {
				int status = ask(self->fd, kind, bytes, n);

				/* An empty configuration is one. */
				if (kind == GPUEMU_WORK_CONFIGURE && !fill && n)
					status = status ? 1 : -1;
				EXPECT_LT(status, 0)
					TH_LOG("kind %u, %u bytes of %x", kind, n, fill);
			}
		}
	}
}

struct range {
	uint64_t addr, bytes;
};

static const struct range wild[] = {
	{ BASE, UINT64_MAX }, { BASE, 1ull << 63 }, { BASE, 1ull << 47 }, { BASE, 0 },
	{ 0, BYTES }, { UINT64_MAX, 1 }, { UINT64_MAX - 4095, UINT64_MAX },
	{ 1ull << 47, 4096 }, { BASE - 4096, 8192 }, { BASE + BYTES, 4096 },
};

TEST_F(raw, wild_prefetch)
{
	struct { uint32_t size, to_host; uint64_t addr, bytes; } p = { .size = sizeof(p) };
	static const uint32_t ways[] = { 0, 1, 2, UINT32_MAX };

	for (unsigned int i = 0; i < ARRAY_SIZE(wild) * 4; i++) {
		p.addr = wild[i / 4].addr;
		p.bytes = wild[i / 4].bytes;
		p.to_host = ways[i % 4];
		EXPECT_LE(ask(self->fd, GPUEMU_WORK_PREFETCH, &p, sizeof(p)), 0)
			TH_LOG("prefetch %u had no answer", i);
	}
}

TEST_F(raw, wild_touch)
{
	struct {
		uint32_t size, batch;
		uint64_t addr, bytes, stride;
		uint32_t write, reserved;
	} t = { .size = sizeof(t) };
	static const uint64_t strides[] = { 0, 1, 4096, 1ull << 63, UINT64_MAX };
	static const uint32_t batches[] = { 0, 1, 256, 257, UINT32_MAX };

	for (unsigned int i = 0; i < ARRAY_SIZE(wild) * 25; i++) {
		t.addr = wild[i / 25].addr;
		t.bytes = wild[i / 25].bytes;
		t.stride = strides[i % 5];
		t.batch = batches[i / 5 % 5];
		EXPECT_LE(ask(self->fd, GPUEMU_WORK_TOUCH, &t, sizeof(t)), 0)
			TH_LOG("touch %u had no answer", i);
	}
}

struct launch {
	uint32_t size, module, grid[3], block[3], dynamic_shared, name_bytes, param_bytes;
	uint32_t ntextures, stack_bytes, reserved;
	char name[8];
	uint64_t p, v;
};

/* 12 bytes of parameters; the struct's own padding behind them would be wrong. */
#define LAUNCH_BYTES	(offsetof(struct launch, p) + 12)

static struct launch good_launch(uint32_t module)
{
	return (struct launch){
		.size = offsetof(struct launch, name), .module = module,
		.grid = { 1, 1, 1 }, .block = { 1, 1, 1 }, .name_bytes = 6, .param_bytes = 12,
		.name = "store", .p = BASE, .v = 0x11111111,
	};
}

TEST_F(raw, wild_launch)
{
	uint32_t id = load(self->fd, ptx, strlen(ptx));
	struct launch l = good_launch(id);
	static const uint32_t values[] = { 0, 1, 2, 7, 255, 65536, INT32_MAX, UINT32_MAX };

	ASSERT_NE(0, id);
	/* Never LOADed: the daemon reads the image when the launch needs it. */
	ASSERT_EQ(0, ask(self->fd, GPUEMU_WORK_LAUNCH, &l, LAUNCH_BYTES));
	for (unsigned int field = 0; field < offsetof(struct launch, name) / 4; field++) {
		for (unsigned int i = 0; i < ARRAY_SIZE(values); i++) {
			/* A grid that large is honest work, without an end in sight. */
			if (field >= 2 && field <= 4 && values[i] > 255)
				continue;
			l = good_launch(id);
			((uint32_t *)&l)[field] = values[i];
			EXPECT_LE(ask(self->fd, GPUEMU_WORK_LAUNCH, &l, LAUNCH_BYTES), 0)
				TH_LOG("field %u = %u had no answer", field, values[i]);
		}
	}
	l = good_launch(id);
	memset(l.name, 'x', sizeof(l.name));
	EXPECT_LT(ask(self->fd, GPUEMU_WORK_LAUNCH, &l, LAUNCH_BYTES), 0);
	l = good_launch(id + 1);
	EXPECT_EQ(-ENOENT, ask(self->fd, GPUEMU_WORK_LAUNCH, &l, LAUNCH_BYTES));
}

struct load {
	uint32_t size, module;
	uint64_t global_base;
	char name[112];
};

/* --- works of streams --------------------------------------------------------------- */

/* As the library would send it: a launch in stream 1, and a wait for that stream. */
struct run {
	uint32_t size, flags, generation, nitems;
	uint64_t mark, cycles;
	uint32_t nstreams, reserved;
	uint32_t streams[2];
	uint32_t kind, stream, data_bytes, reserved2;
	struct launch launch;
};

#define HOLD		1u
#define DROP		2u
#define RUN_BYTES	((offsetof(struct run, launch) + LAUNCH_BYTES + 7) / 8 * 8)
#define RUN_HEAD	offsetof(struct run, kind)

static struct run good_run(int fd, uint32_t module)
{
	struct gpuemu_info info = { .size = sizeof(info) };

	if (ioctl(fd, GPUEMU_IOCTL_INFO, &info))
		info.engine_generation = 0;
	return (struct run){
		.size = offsetof(struct run, streams), .generation = info.engine_generation,
		.nitems = 1, .nstreams = 1, .streams = { 1 }, .kind = 1, .stream = 1,
		.data_bytes = LAUNCH_BYTES, .launch = good_launch(module),
	};
}

/* The image, known to the engine. */
static uint32_t load_and_tell(int fd)
{
	struct load l = { .size = sizeof(l), .module = load(fd, ptx, strlen(ptx)), .name = "run" };

	return l.module && !ask(fd, GPUEMU_WORK_LOAD, &l, sizeof(l)) ? l.module : 0;
}

static int run(int fd, const struct run *r)
{
	return ask(fd, GPUEMU_WORK_RUN, r, r->nitems ? RUN_BYTES : RUN_HEAD);
}

TEST_F(raw, wild_run)
{
	static const uint32_t values[] = { 0, 1, 2, 3, 7, 255, 65536, INT32_MAX, UINT32_MAX };
	uint32_t id = load_and_tell(self->fd);
	struct run r = good_run(self->fd, id);

	ASSERT_NE(0, id);
	ASSERT_EQ(0, run(self->fd, &r));
	for (unsigned int field = 0; field < offsetof(struct run, launch) / 4; field++) {
		for (unsigned int i = 0; i < ARRAY_SIZE(values); i++) {
			r = good_run(self->fd, id);
			((uint32_t *)&r)[field] = values[i];
			EXPECT_LE(run(self->fd, &r), 0)
				TH_LOG("field %u = %u had no answer", field, values[i]);
		}
	}
	for (unsigned int bytes = 0; bytes < RUN_BYTES; bytes++) {
		r = good_run(self->fd, id);
		EXPECT_EQ(-EINVAL, ask(self->fd, GPUEMU_WORK_RUN, &r, bytes));
	}
	r = good_run(self->fd, id);
	r.flags = 4;
	EXPECT_EQ(-EINVAL, run(self->fd, &r));
	r = good_run(self->fd, id);
	r.cycles = (1ull << 43) + 1;
	EXPECT_EQ(-EINVAL, run(self->fd, &r));
	r = good_run(self->fd, id);
	r.generation++;
	EXPECT_EQ(-ESTALE, run(self->fd, &r));
	/* The report has an error of the work itself. */
	r = good_run(self->fd, id);
	r.launch.module++;
	EXPECT_EQ(0, run(self->fd, &r));
}

/* The end of time is no cycle to wait for, for a client that could. */
TEST_F(raw, wild_delay)
{
	static const uint64_t cycles[] = { 0, 1ull << 43, (1ull << 43) + 1, UINT64_MAX };
	struct { struct run head; uint64_t cycle; } r;

	for (unsigned int i = 0; i < ARRAY_SIZE(cycles); i++) {
		r.head = good_run(self->fd, 0);
		r.head.kind = 3;
		r.head.data_bytes = 8;
		memcpy(&r.head.launch, &cycles[i], 8);
		EXPECT_EQ(0, ask(self->fd, GPUEMU_WORK_RUN, &r,
				 offsetof(struct run, launch) + 8));
	}
}

/* Kept works have a bound, are in no other client's way, and can be dropped. */
TEST_F(raw, kept)
{
	uint32_t id = load_and_tell(self->fd);
	struct { uint32_t size, count, count_advice, reserved; } ranges = { .size = 16 };
	struct run r = good_run(self->fd, id);
	int ret = 0;

	ASSERT_NE(0, id);
	r.flags = HOLD;
	r.nstreams = 0;
	EXPECT_EQ(-EINVAL, run(self->fd, &r));
	/* A hold waits for nobody, so the numbers are not there. */
	memmove(r.streams, &r.kind, sizeof(r) - offsetof(struct run, kind));
	for (unsigned int i = 0; !ret && i < 600; i++) {
		ret = ask(self->fd, GPUEMU_WORK_RUN, &r, RUN_BYTES - 8);
		EXPECT_EQ(i < 512 ? 0 : -E2BIG, ret);
	}
	EXPECT_EQ(-E2BIG, ret);
	EXPECT_EQ(-EBUSY, ask(self->fd, GPUEMU_WORK_STATISTICS, NULL, 0));
	EXPECT_EQ(-EBUSY, ask(self->fd, GPUEMU_WORK_LAUNCH, &r.launch, 8));
	EXPECT_EQ(-EBUSY, ask(self->fd, GPUEMU_WORK_CONFIGURE, "gpu.sms=2\n", 11));
	EXPECT_EQ(0, ask(self->fd, GPUEMU_WORK_RANGES, &ranges, sizeof(ranges)));
	r = good_run(self->fd, id);
	r.flags = DROP;
	EXPECT_EQ(0, run(self->fd, &r));
	EXPECT_EQ(0, ask(self->fd, GPUEMU_WORK_STATISTICS, NULL, 0));
}

TEST_F(raw, noise)
{
	static unsigned char payload[4096];
	uint64_t seed = 1;

	for (unsigned int i = 0; i < 600; i++) {
		uint32_t kind = 1 + next(&seed) % (GPUEMU_WORK_KINDS - 1);
		uint32_t n = next(&seed) % (i % 8 ? 200 : sizeof(payload));

		for (uint32_t k = 0; k < n; k++)
			payload[k] = next(&seed) % (i % 3 ? 4 : 256);
		if (i % 2)
			*(uint32_t *)payload = (uint32_t[]){ 56, 24, 40, 128 }[next(&seed) % 4];
		EXPECT_LE(ask(self->fd, kind, payload, n), 0)
			TH_LOG("work %u of kind %u had no answer", i, kind);
	}
}

/* Where variables are is the client's word: a wrong one is its own fault, and nobody else's. */
TEST_F(raw, wild_variables)
{
	static const char text[] =
		".version 3.2\n.target sm_35\n.address_size 64\n.global .u32 v = 5;\n"
		".visible .entry store(.param .u64 p, .param .u32 v)\n{\n"
		".reg .b32 %r<2>;\nld.param.u32 %r1, [v];\nst.global.u32 [v], %r1;\nret;\n}\n";
	static const uint64_t bases[] = {
		0, 4096, BASE + BYTES, BASE - 4096, 1ull << 46, 1, BASE + 8, 1ull << 47,
		UINT64_MAX, UINT64_MAX - 4095,
	};

	for (unsigned int i = 0; i < ARRAY_SIZE(bases); i++) {
		struct load l = { .size = sizeof(l), .name = "wild", .global_base = bases[i] };
		struct launch k;

		l.module = load(self->fd, text, strlen(text));
		ASSERT_NE(0, l.module);
		EXPECT_LE(ask(self->fd, GPUEMU_WORK_LOAD, &l, sizeof(l)), 0)
			TH_LOG("base %u had no answer", i);
		k = good_launch(l.module);
		EXPECT_LT(ask(self->fd, GPUEMU_WORK_LAUNCH, &k, LAUNCH_BYTES), 0)
			TH_LOG("base %u was used", i);
	}
}

/*
 * Images that are not PTX, or nearly are: each byte of one is changed in turn. Each image gets a
 * process of its own, which takes long on a kernel that checks itself.
 */
TEST_F_TIMEOUT(raw, broken_images, 90)
{
	struct load l = { .size = sizeof(l), .name = "broken" };
	char text[sizeof(ptx)];
	uint64_t seed = 2;

	/* Each takes a third of a second in an emulated VM. The fuzzers change every byte. */
	for (unsigned int i = 0; i < sizeof(ptx) - 1; i += 3) {
		struct gpuemu_module_unload u = { .size = sizeof(u) };

		memcpy(text, ptx, sizeof(ptx));
		text[i] = next(&seed);
		l.module = u.id = load(self->fd, text, i % 4 ? sizeof(ptx) - 1 : i + 1);
		ASSERT_NE(0, l.module);
		EXPECT_LE(ask(self->fd, GPUEMU_WORK_LOAD, &l, sizeof(l)), 0)
			TH_LOG("image %u had no answer", i);
		ASSERT_EQ(0, ioctl(self->fd, GPUEMU_IOCTL_MODULE_UNLOAD, &u));
	}
}

TEST_F(raw, wild_configuration)
{
	static const char *const texts[] = {
		"paging.vram=999G\n", "paging.vram=4096\npaging.batch=1\n", "gpu.sms=257\n", "=\n",
		"\n\n\n", "a", "gpu.sms", "gpu.sms=1=2\n", "paging.evict=%s%s%s%n\n",
		"sm.schedulers=8\nsm.warps=1\n", "gpu.sms=256\nsm.warps=64\nsm.ctas=64\n",
		"tlb.entries=65536\ngpu.sms=256\n",
	};

	for (unsigned int i = 0; i < ARRAY_SIZE(texts); i++) {
		EXPECT_LE(ask(self->fd, GPUEMU_WORK_CONFIGURE, texts[i], strlen(texts[i]) + 1), 0)
			TH_LOG("configuration %u had no answer", i);
	}
}

TEST_HARNESS_MAIN
