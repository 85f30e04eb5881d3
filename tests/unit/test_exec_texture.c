// SPDX-License-Identifier: GPL-2.0
/*
 * Instructions of textures and surfaces, step by step and as a whole grid: what they read
 * through a descriptor, with guards, in both forms of a handle. Filters and formats are for
 * tests/cuda/textures.cu.
 */
#include "exec_runner.h"

#define HEAD ".version 7.0\n.target sm_70\n.address_size 64\n"
#define KERNEL ".visible .entry k(.param .u64 p, .param .u64 h) {\n" \
	".reg .pred %p<9>;\n.reg .b32 %r<99>;\n.reg .b64 %d<9>;\n.reg .f32 %f<9>;\n.reg .b16 %h<9>;\n" \
	"mov.u32 %r0, %tid.x;\nld.param.u64 %d2, [h];\n"
#define STORE(reg) "ld.param.u64 %d0, [p];\nmul.wide.u32 %d1, %r0, 4;\nadd.u64 %d0, %d0, %d1;\n" \
	"st.global.u32 [%d0], " reg ";\nret;\n}\n"

#define THREADS	32
#define WIDTH	8
#define HEIGHT	4

/* As daemon/ptx/texture.cu has it. */
struct descriptor {
	uint64_t base, slice;
	uint32_t width, height, depth, pitch, format, flags, border[4], unused[2];
};
enum { UINT_ONE = 1 | 4 << 4, FLOAT_ONE = 1 | 4 << 4 | 2 << 8 };
enum { LINEAR = 1, CLAMP_ALL = 1 << 4 | 1 << 6 | 1 << 8, BORDER_ALL = 3 << 4 | 3 << 6 | 3 << 8 };

static uint32_t cells[HEIGHT][WIDTH];

static struct descriptor plane(uint32_t format, uint32_t flags)
{
	for (uint32_t i = 0; i < WIDTH * HEIGHT; i++) {
		float f = i;

		cells[i / WIDTH][i % WIDTH] = i;
		if (format == FLOAT_ONE)
			memcpy(&cells[i / WIDTH][i % WIDTH], &f, sizeof(f));
	}
	return (struct descriptor){
		.base = (uintptr_t)cells, .width = WIDTH, .height = HEIGHT, .depth = 5,
		.pitch = sizeof(cells[0]), .format = format, .flags = flags,
		.border = { 77, 78, 79, 80 },
	};
}

static void check(const char *text, struct descriptor *d, uint32_t (*expect)(uint32_t thread))
{
	uint32_t out[THREADS], i;
	struct run run;
	int whole;

	for (whole = 0; whole < 2; whole++) {
		run_load(&run, text, NULL);
		run.whole = whole;
		memset(out, 0xee, sizeof(out));
		/* A reference's variable is its descriptor. */
		if (run.globals)
			memcpy(run.globals, d, sizeof(*d));
		run_ptr(&run, out);
		run_ptr(&run, d);
		if (run_grid(&run, 1, 1, THREADS, 1))
			fail_msg("%s", run.err.text);
		for (i = 0; i < THREADS; i++) {
			if (out[i] != expect(i))
				fail_msg("thread %u has %u and not %u%s", i, out[i], expect(i),
					 whole ? " as a grid" : "");
		}
		run_free(&run);
	}
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
	struct descriptor d = plane(UINT_ONE, BORDER_ALL);

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
	struct descriptor d = plane(FLOAT_ONE, LINEAR | CLAMP_ALL);

	check(HEAD ".global .texref t;\n" KERNEL "rem.u32 %r1, %r0, 7;\ncvt.rn.f32.u32 %f1, %r1;\n"
	      "add.f32 %f1, %f1, 0f3F800000;\nmov.f32 %f2, 0f40000000;\n"
	      "tex.2d.v4.f32.f32 {%f3, %f4, %f5, %f6}, [t, {%f1, %f2}];\nmov.b32 %r4, %f3;\n"
	      STORE("%r4"), &d, expect_linear);
}

/* What is written is read, not by who is outside; and how large it is. */
static uint32_t expect_surface(uint32_t t)
{
	return (t < WIDTH ? 500 + t : 0) + 10000 * WIDTH + 100 * HEIGHT + 5;
}
static void surface(void **state)
{
	struct descriptor d = plane(UINT_ONE, 0);

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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(point),
		cmocka_unit_test(linear),
		cmocka_unit_test(surface),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
