// SPDX-License-Identifier: GPL-2.0
/*
 * Instructions of textures and surfaces, step by step and as a whole grid: what they read
 * by a handle, with guards, of both kinds; texels on several pages; handles that mean nothing.
 * Formats are for tests/cuda/textures.cu.
 */
#include "exec_threads.h"

#define THREADS	32
#define WIDTH	8
#define HEIGHT	4

enum {
	CLAMP_ALL = TEXTURE_CLAMP << 4 | TEXTURE_CLAMP << 6 | TEXTURE_CLAMP << 8,
	BORDER_ALL = TEXTURE_BORDER << 4 | TEXTURE_BORDER << 6 | TEXTURE_BORDER << 8,
};

static uint32_t cells[HEIGHT][WIDTH];

static struct texture plane(enum texel_kind kind, uint32_t flags)
{
	for (uint32_t i = 0; i < WIDTH * HEIGHT; i++) {
		float f = i;

		cells[i / WIDTH][i % WIDTH] = i;
		if (kind == TEXEL_FLOAT)
			memcpy(&cells[i / WIDTH][i % WIDTH], &f, sizeof(f));
	}
	return (struct texture){
		.handle = 0x1234, .base = (uintptr_t)cells, .width = WIDTH, .height = HEIGHT,
		.depth = 5, .pitch = sizeof(cells[0]), .channels = 1, .channel_bytes = 4,
		.kind = kind, .flags = flags, .border = { 77, 78, 79, 80 },
	};
}

/* The texture that %d2 is the handle of, or of a reference, whose variable's address is one. */
static struct texture *given_texture;

static void give(struct run *run, struct given *given)
{
	if (run->globals)
		given_texture->handle = (uintptr_t)run->globals;
	run->textures = given_texture;
	run->ntextures = 1;
	given->more = given_texture->handle;
}

static void check(const char *text, struct texture *t, uint32_t (*expect)(uint32_t thread))
{
	given_texture = t;
	check_threads(text, (struct given){ .threads = THREADS, .before = give }, expect);
}

/* Rows up and down, places outside have the border's colour; a guard leaves the others alone. */
static uint32_t expect_point(uint32_t t)
{
	uint32_t x = t % 16 - 4, y = t / 16 + 1;

	if (t % 3 == 0)
		return 1000 + t;
	return x < WIDTH ? y * WIDTH + x : 77;
}
static void point(void **state)
{
	struct texture d = plane(TEXEL_UNSIGNED, BORDER_ALL);

	check(HEAD KERNEL "rem.u32 %r1, %r0, 16;\nsub.u32 %r1, %r1, 4;\ndiv.u32 %r2, %r0, 16;\n"
	      "add.u32 %r2, %r2, 1;\nrem.u32 %r3, %r0, 3;\nsetp.eq.u32 %p1, %r3, 0;\n"
	      "add.u32 %r4, %r0, 1000;\n"
	      "@!%p1 tex.2d.v4.u32.s32 {%r4, _, _, _}, [%d2, {%r1, %r2}];\n" STORE("%r4"), &d,
	      expect_point);
}

/* Halfway between two of a row, and of two rows, by a reference. */
static uint32_t expect_linear(uint32_t t)
{
	float f = t % (WIDTH - 1) + WIDTH + 0.5f + WIDTH / 2.0f;
	uint32_t bits;

	memcpy(&bits, &f, sizeof(bits));
	return bits;
}
static void linear(void **state)
{
	struct texture d = plane(TEXEL_FLOAT, TEXTURE_LINEAR | CLAMP_ALL);

	check(HEAD ".global .texref t;\n" KERNEL "rem.u32 %r1, %r0, 7;\ncvt.rn.f32.u32 %f1, %r1;\n"
	      "add.f32 %f1, %f1, 0f3F800000;\nmov.f32 %f2, 0f40000000;\n"
	      "tex.2d.v4.f32.f32 {%f3, %f4, %f5, %f6}, [t, {%f1, %f2}];\nmov.b32 %r4, %f3;\n"
	      STORE("%r4"), &d, expect_linear);
}

/* A thread inside reads what is written, one outside does not; and how large it is. */
static uint32_t expect_surface(uint32_t t)
{
	return (t < WIDTH ? 500 + t : 0) + 10000 * WIDTH + 100 * HEIGHT + 5;
}
static void surface(void **state)
{
	struct texture d = plane(TEXEL_UNSIGNED, 0);

	check(HEAD KERNEL "add.u32 %r1, %r0, 500;\nshl.b32 %r2, %r0, 2;\nmov.u32 %r3, 2;\n"
	      "setp.lt.u32 %p1, %r0, 100;\n"
	      "@%p1 sust.b.2d.b32.zero [%d2, {%r2, %r3}], {%r1};\n"
	      "@!%p1 sust.b.2d.b32.trap [%d2, {%r2, 99}], {%r1};\n"
	      "suld.b.2d.b32.zero {%r4}, [%d2, {%r2, %r3}];\n"
	      "txq.width.b32 %r5, [%d2];\nsuq.height.b32 %r6, [%d2];\ntxq.depth.b32 %r7, [%d2];\n"
	      "mad.lo.u32 %r4, %r5, 10000, %r4;\nmad.lo.u32 %r4, %r6, 100, %r4;\n"
	      "add.u32 %r4, %r4, %r7;\n" STORE("%r4"), &d, expect_surface);
	assert_int_equal(cells[2][WIDTH - 1], 500 + WIDTH - 1);
	assert_int_equal(cells[3][0], 3 * WIDTH);
}

/* A filter whose rows are on pages of their own: each comes by itself, the last one first. */
static float far_apart[2][4096 / sizeof(float)] __attribute__((aligned(4096)));
static uint32_t expect_pages(uint32_t t)
{
	float f = t * 10 + 2.5f;
	uint32_t bits;

	memcpy(&bits, &f, sizeof(bits));
	return bits;
}
static void pages(void **state)
{
	struct texture d = {
		.handle = 9, .base = (uintptr_t)far_apart, .width = THREADS, .height = 2,
		.pitch = 4096, .channels = 1, .channel_bytes = 4, .kind = TEXEL_FLOAT,
		.flags = TEXTURE_LINEAR | CLAMP_ALL,
	};

	for (uint32_t i = 0; i < THREADS; i++) {
		far_apart[0][i] = i * 10;
		far_apart[1][i] = i * 10 + 5;
	}
	check(HEAD KERNEL "cvt.rn.f32.u32 %f1, %r0;\nadd.f32 %f1, %f1, 0f3F000000;\n"
	      "tex.2d.v4.f32.f32 {%f3, %f4, %f5, %f6}, [%d2, {%f1, 0f3F800000}];\nmov.b32 %r4, %f3;\n"
	      STORE("%r4"), &d, expect_pages);
}

/* Half of the lanes read another texture than the others; a number that is no handle is said. */
static const struct texture *two_textures;
static void give_two(struct run *run, struct given *given)
{
	run->textures = two_textures;
	run->ntextures = 2;
	given->more = two_textures[0].handle;
}
static uint32_t expect_two(uint32_t t)
{
	return t % 2 ? 10 : 3;
}
static void handles(void **state)
{
	struct texture d[2] = {
		plane(TEXEL_UNSIGNED, CLAMP_ALL), plane(TEXEL_UNSIGNED, CLAMP_ALL),
	};
	const struct given given = { .threads = THREADS, .before = give_two };

	d[0].handle = 100;
	d[1].handle = 101;
	d[1].base = (uintptr_t)cells[1] - sizeof(cells[0][0]);
	two_textures = d;
	check_threads(HEAD KERNEL "and.b32 %r1, %r0, 1;\ncvt.u64.u32 %d3, %r1;\nadd.u64 %d2, %d2, %d3;\n"
		      "tex.1d.v4.u32.s32 {%r4, _, _, _}, [%d2, {3}];\n" STORE("%r4"), given,
		      expect_two);
	check_trap(HEAD KERNEL "add.u64 %d2, %d2, 5;\n"
		   "tex.1d.v4.u32.s32 {%r4, _, _, _}, [%d2, {3}];\n" STORE("%r4"), given,
		   "kernel 'k': 0x69 is no texture or surface (test.ptx line 10, thread (0,0,0) of CTA (0,0,0))");
	d[0].base++;
	check_trap(HEAD KERNEL "txq.width.b32 %r4, [%d2];\n" STORE("%r4"), given,
		   "kernel 'k': the rows of the texture are not aligned to its elements of 4 bytes (test.ptx line 9, thread (0,0,0) of CTA (0,0,0))");
}

/* A gather's four corners, one channel each; a filter of three dimensions has eight. */
static uint32_t expect_gather(uint32_t t)
{
	return 16 << 24 | 17 << 16 | 9 << 8 | 8;
}
static void gather(void **state)
{
	struct texture d = plane(TEXEL_UNSIGNED, CLAMP_ALL);

	check(HEAD KERNEL "tld4.r.2d.v4.u32.f32 {%r1, %r2, %r3, %r4}, [%d2, {0f3F800000, 0f40000000}];\n"
	      "shl.b32 %r1, %r1, 24;\nshl.b32 %r2, %r2, 16;\nshl.b32 %r3, %r3, 8;\n"
	      "or.b32 %r1, %r1, %r2;\nor.b32 %r3, %r3, %r4;\nor.b32 %r4, %r1, %r3;\n"
	      STORE("%r4"), &d, expect_gather);
}

static uint32_t expect_volume(uint32_t t)
{
	/* Halfway between two of a row, two rows of 8, and slices 1 and 2 of 16. */
	float f = t % 7 + 0.5f + 4 + 24;
	uint32_t bits;

	memcpy(&bits, &f, sizeof(bits));
	return bits;
}
static void volume(void **state)
{
	static float cube[4][2][8];
	struct texture d = {
		.handle = 3, .base = (uintptr_t)cube, .width = 8, .height = 2, .depth = 4,
		.pitch = 32, .slice = 64, .channels = 1, .channel_bytes = 4, .kind = TEXEL_FLOAT,
		.flags = TEXTURE_LINEAR | CLAMP_ALL,
	};

	for (uint32_t i = 0; i < 64; i++)
		cube[i / 16][i / 8 % 2][i % 8] = i;
	check(HEAD KERNEL "rem.u32 %r1, %r0, 7;\ncvt.rn.f32.u32 %f1, %r1;\nadd.f32 %f1, %f1, 0f3F800000;\n"
	      "tex.3d.v4.f32.f32 {%f3, %f4, %f5, %f6}, [%d2, {%f1, 0f3F800000, 0f40000000, 0f40000000}];\n"
	      "mov.b32 %r4, %f3;\n" STORE("%r4"), &d, expect_volume);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(point),
		cmocka_unit_test(linear),
		cmocka_unit_test(surface),
		cmocka_unit_test(pages),
		cmocka_unit_test(handles),
		cmocka_unit_test(gather),
		cmocka_unit_test(volume),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
