// SPDX-License-Identifier: GPL-2.0
/*
 * Loads and stores of every width with addresses in every order and any lanes
 * on: the fast ways of each instruction set, and the one lane by lane, leave what a
 * loop over the lanes leaves; and the lane whose address is wrong is told.
 */
#include "exec_runner.h"

#include <inttypes.h>

#define HEAD ".version 7.0\n.target sm_70\n.address_size 64\n"
#define AREA	4096u	/* bytes that are loaded from; as many behind it are stored to */

/* One lane's offsets and results, as the kernel has them. */
static struct {
	uint64_t load[32], store[32];
	uint32_t on[32];
	uint64_t out[32][4];
	uint8_t area[2 * AREA];
} now, start;

static uint64_t seed = 1;

static uint32_t next_random(uint32_t limit)
{
	seed = seed * 6364136223846793005ull + 1442695040888963407ull;
	return (uint32_t)(seed >> 33) % limit;
}

static const struct type {
	const char *name, *reg;
	uint32_t bytes;
	bool is_signed;
} types[] = {
	{ "u8", "r", 1, false }, { "s8", "r", 1, true }, { "u16", "r", 2, false },
	{ "s16", "r", 2, true }, { "b32", "r", 4, false }, { "u8", "d", 1, false },
	{ "s8", "d", 1, true }, { "u16", "d", 2, false }, { "s16", "d", 2, true },
	{ "u32", "d", 4, false }, { "s32", "d", 4, true }, { "b64", "d", 8, false },
};

/* In elements. Offsets stay below 256. */
static uint32_t position(uint32_t pattern, uint32_t lane)
{
	switch (pattern) {
	case 0:
		return 7 + lane;
	case 1:
		return 9;
	case 2:
		return 200 - lane;
	case 3:
		return next_random(256);
	case 4:
		return lane / 8 * 40 + lane % 8;
	case 5:
		return lane / 8 * 5 + 3;
	case 6:
		return lane / 16 * 64 + lane % 16 + 1;
	case 7:
		return lane / 16 * 50;
	case 8:
		return lane * 2;
	case 9:
		return next_random(4);
	case 10:
		return lane < 16 ? lane : 77;
	case 11:
		return lane == 31 ? 250 : lane;
	default:
		return lane == 8 ? 0 : 3;
	}
}
#define PATTERNS 13

static uint32_t lanes_on(uint32_t which)
{
	switch (which) {
	case 0:
		return ~0u;
	case 1:
		return next_random(UINT32_MAX);
	case 2:
		return 1u << next_random(32);
	case 3:
		return 0x00f00ff1;
	default:
		return 0xfffffffe;
	}
}
#define MASKS 5

static char *kernel_text(const struct type *t, uint32_t vec, const char *space)
{
	static char text[8192];
	char loads[64], stores[64], *p = text;
	uint32_t e;

	snprintf(loads, sizeof(loads), vec == 1 ? "%%%s10" : vec == 2 ? "{%%%s10, %%%s11}" :
		 "{%%%s10, %%%s11, %%%s12, %%%s13}", t->reg, t->reg, t->reg, t->reg);
	snprintf(stores, sizeof(stores), vec == 1 ? "%%%s20" : vec == 2 ? "{%%%s20, %%%s21}" :
		 "{%%%s20, %%%s21, %%%s22, %%%s23}", t->reg, t->reg, t->reg, t->reg);
	p += sprintf(p, HEAD ".visible .entry k(.param .u64 p) {\n"
		     ".shared .align 16 .b8 s[%u];\n.local .align 16 .b8 l[%u];\n"
		     ".reg .pred %%p<2>;\n.reg .b32 %%r<40>;\n.reg .b64 %%d<40>;\n"
		     "ld.param.u64 %%d0, [p];\nmov.u32 %%r0, %%tid.x;\nmul.wide.u32 %%d1, %%r0, 8;\n"
		     "add.u64 %%d2, %%d0, %%d1;\nld.global.u64 %%d3, [%%d2];\nld.global.u64 %%d4, [%%d2+256];\n"
		     "mul.wide.u32 %%d1, %%r0, 4;\nadd.u64 %%d2, %%d0, %%d1;\nld.global.u32 %%r1, [%%d2+512];\n"
		     "setp.ne.u32 %%p0, %%r1, 0;\nadd.u64 %%d5, %%d0, %u;\nmov.u64 %%d6, %%d5;\n",
		     2 * AREA, 2 * AREA, (uint32_t)offsetof(__typeof__(now), area));
	/* The area where the space is; of local memory what the lane loads, byte by byte. */
	if (!strcmp(space, ".local"))
		p += sprintf(p, "mov.u64 %%d6, l;\nadd.u64 %%d7, %%d5, %%d3;\nadd.u64 %%d8, %%d6, %%d3;\n"
			     "mov.u32 %%r2, 0;\ncopy:\nld.global.u8 %%r3, [%%d7];\nst.local.u8 [%%d8], %%r3;\n"
			     "add.u64 %%d7, %%d7, 1;\nadd.u64 %%d8, %%d8, 1;\nadd.u32 %%r2, %%r2, 1;\n"
			     "setp.lt.u32 %%p1, %%r2, %u;\n@%%p1 bra copy;\n", vec * t->bytes);
	else if (strcmp(space, ".global"))
		p += sprintf(p, "mov.u64 %%d6, s;\nshl.b32 %%r2, %%r0, 3;\n"
			     "copy:\ncvt.u64.u32 %%d7, %%r2;\nadd.u64 %%d8, %%d5, %%d7;\n"
			     "ld.global.u64 %%d9, [%%d8];\nadd.u64 %%d8, %%d6, %%d7;\nst.shared.u64 [%%d8], %%d9;\n"
			     "add.u32 %%r2, %%r2, 256;\nsetp.lt.u32 %%p1, %%r2, %u;\n@%%p1 bra copy;\n%s",
			     2 * AREA, *space ? "" : "cvta.shared.u64 %d6, %d6;\n");
	p += sprintf(p, "add.u64 %%d3, %%d6, %%d3;\nadd.u64 %%d4, %%d6, %%d4;\n");
	for (e = 0; e < vec; e++)
		p += sprintf(p, "mov.u64 %%d%u, -1;\nmov.u32 %%r%u, -1;\nmul.lo.u32 %%r%u, %%r0, %u;\n"
			     "mul.wide.u32 %%d%u, %%r%u, 65537;\n",
			     10 + e, 10 + e, 20 + e, 16843009 * (e + 3), 20 + e, 20 + e);
	p += sprintf(p, "@%%p0 ld%s%s.%s %s, [%%d3];\n", space, vec == 1 ? "" : vec == 2 ? ".v2" : ".v4",
		     t->name, loads);
	p += sprintf(p, "@%%p0 st%s%s.%s [%%d4+%u], %s;\n", space, vec == 1 ? "" : vec == 2 ? ".v2" : ".v4",
		     t->name, AREA, stores);
	if (!strcmp(space, ".shared") || !*space)
		p += sprintf(p, "shl.b32 %%r2, %%r0, 3;\nmov.u64 %%d6, s;\nback:\ncvt.u64.u32 %%d7, %%r2;\n"
			     "add.u64 %%d8, %%d6, %%d7;\nld.shared.u64 %%d9, [%%d8];\nadd.u64 %%d8, %%d5, %%d7;\n"
			     "st.global.u64 [%%d8], %%d9;\nadd.u32 %%r2, %%r2, 256;\n"
			     "setp.lt.u32 %%p1, %%r2, %u;\n@%%p1 bra back;\n", 2 * AREA);
	/* A lane's own local memory: what it stored, read back as bytes of its vector. */
	if (!strcmp(space, ".local"))
		p += sprintf(p, "@%%p0 ld.local%s.%s %s, [%%d4+%u];\n",
			     vec == 1 ? "" : vec == 2 ? ".v2" : ".v4", t->name, loads, AREA);
	p += sprintf(p, "mul.wide.u32 %%d1, %%r0, 32;\nadd.u64 %%d2, %%d0, %%d1;\n");
	for (e = 0; e < vec; e++)
		p += sprintf(p, "st.global.%s [%%d2+%u], %%%s%u;\n", *t->reg == 'd' ? "u64" : "u32",
			     (uint32_t)offsetof(__typeof__(now), out) + 8 * e, t->reg, 10 + e);
	sprintf(p, "ret;\n}\n");
	return text;
}

/* The value that the kernel stores as element e of a lane. */
static uint64_t stored(const struct type *t, uint32_t lane, uint32_t e)
{
	uint32_t r = lane * 16843009u * (e + 3);

	return *t->reg == 'd' ? (uint64_t)r * 65537 : r;
}

static uint64_t extended(const struct type *t, uint64_t v)
{
	uint32_t shift = 64 - 8 * t->bytes;

	v <<= shift;
	v = t->is_signed ? (uint64_t)((int64_t)v >> shift) : v >> shift;
	return *t->reg == 'd' ? v : (uint32_t)v;
}

static void reference(const struct type *t, uint32_t vec, const char *space)
{
	bool local = !strcmp(space, ".local");
	uint32_t lane, e;

	for (lane = 0; lane < 32; lane++) {
		for (e = 0; e < vec; e++) {
			uint64_t v = 0;

			memcpy(&v, start.area + start.load[lane] + e * t->bytes, t->bytes);
			if (local)
				v = stored(t, lane, e);
			v = start.on[lane] ? extended(t, v) : *t->reg == 'd' ? ~0ull : UINT32_MAX;
			memcpy(&start.out[lane][e], &v, *t->reg == 'd' ? 8 : 4);
		}
	}
	for (lane = 0; lane < 32 && !local; lane++) {
		for (e = 0; e < vec && start.on[lane]; e++) {
			uint64_t v = stored(t, lane, e);

			memcpy(start.area + AREA + start.store[lane] + e * t->bytes, &v, t->bytes);
		}
	}
}

static void new_case(uint32_t size, uint32_t load, uint32_t store, uint32_t mask)
{
	uint32_t lane, i;

	mask = lanes_on(mask);
	for (i = 0; i < sizeof(start.area); i++)
		start.area[i] = (uint8_t)next_random(256);
	memset(start.out, 0x5a, sizeof(start.out));
	for (lane = 0; lane < 32; lane++) {
		start.load[lane] = position(load, lane) * size;
		start.store[lane] = position(store, lane) * size;
		start.on[lane] = mask >> lane & 1;
	}
}

/* A kernel, bound to each of the tables; the last one goes step by step. */
struct ways {
	struct run runs[4];
	const struct lane_table *tables[3];
	size_t n;
};

static void open_ways(struct ways *w, const char *text)
{
	size_t tables = run_tables(w->tables), i;

	w->n = tables + 1;
	for (i = 0; i < w->n; i++) {
		run_load_with(&w->runs[i], text, NULL, w->tables[i % tables]);
		run_ptr(&w->runs[i], &now);
		w->runs[i].whole = i < tables;
	}
}

static const char *way_name(const struct ways *w, size_t i)
{
	return w->runs[i].whole ? w->tables[i]->name : "step by step";
}

static void close_ways(struct ways *w)
{
	size_t i;

	for (i = 0; i < w->n; i++)
		run_free(&w->runs[i]);
}

static void check_type(const struct type *t, uint32_t vec, const char *space)
{
	static __typeof__(now) before;
	uint32_t load, mask;
	struct ways w;
	size_t i;

	open_ways(&w, kernel_text(t, vec, space));
	for (load = 0; load < PATTERNS; load++) {
		for (mask = 0; mask < MASKS; mask++) {
			new_case(vec * t->bytes, load, (load * 5 + 2 + mask) % PATTERNS, mask);
			before = start;
			reference(t, vec, space);
			for (i = 0; i < w.n; i++) {
				now = before;
				if (run_grid(&w.runs[i], 1, 1, 32, 1))
					fail_msg("%s", w.runs[i].err.text);
				if (memcmp(&now, &start, sizeof(now)))
					fail_msg("%s%s of %u by %u: loads %u, lanes %u, %s", t->name, space,
						 vec, t->bytes, load, mask, way_name(&w, i));
			}
		}
	}
	close_ways(&w);
}

static void check_space(const char *space)
{
	uint32_t k, vec;

	for (k = 0; k < ARRAY_SIZE(types); k++) {
		for (vec = 1; vec * types[k].bytes <= 16 && vec <= 4; vec *= 2)
			check_type(&types[k], vec, space);
	}
}

static void global(void **state)
{
	check_space(".global");
}

static void shared(void **state)
{
	check_space(".shared");
}

static void generic(void **state)
{
	check_space("");
}

static void local(void **state)
{
	check_space(".local");
}

/* One lane is wrong, at the end of a window or off its alignment; only when it is on. */
static void wrong_lanes(void **state)
{
	static const struct {
		uint32_t pattern, lane;
		uint64_t load;
		const char *why;
	} cases[] = {
		{ 0, 31, 2 * AREA, "4-byte load at 0x2000 is outside shared memory (8192 bytes)" },
		{ 0, 4, 2 * AREA - 3, "misaligned 4-byte load at 0x1ffd" },
		{ 1, 0, 2 * AREA - 2, "misaligned 4-byte load at 0x1ffe" },
		{ 3, 17, (1ull << 40) + 2 * AREA, "4-byte load at 0x2000 is outside shared memory (8192 bytes)" },
		{ 4, 9, -4ull, "4-byte load at 0xfffffffc is outside shared memory (8192 bytes)" },
	};
	char message[256];
	struct ways w;
	size_t i, c;

	open_ways(&w, kernel_text(&types[4], 1, ".shared"));
	for (c = 0; c < ARRAY_SIZE(cases); c++) {
		new_case(4, cases[c].pattern, 0, 0);
		start.load[cases[c].lane] = cases[c].load;
		for (i = 0; i < w.n; i++) {
			now = start;
			assert_int_equal(run_grid(&w.runs[i], 1, 1, 32, 1), -EFAULT);
			snprintf(message, sizeof(message), "kernel 'k': %s (test.ptx line %u, thread (%u,0,0) of CTA (0,0,0))",
				 cases[c].why, 39, cases[c].lane);
			assert_string_equal(w.runs[i].err.text, message);
			assert_true(w.runs[i].fault_addr == (uint32_t)cases[c].load);
			now = start;
			now.on[cases[c].lane] = 0;
			assert_int_equal(run_grid(&w.runs[i], 1, 1, 32, 1), 0);
		}
	}
	/* Whole rows: the last one that fits, and the first that does not. */
	for (c = 0; c < 2; c++) {
		new_case(4, 0, 0, 0);
		for (i = 0; i < 32; i++)
			start.load[i] = 2 * AREA - 128 + 4 * (i + c);
		for (i = 0; i < w.n; i++) {
			now = start;
			assert_int_equal(run_grid(&w.runs[i], 1, 1, 32, 1), c ? -EFAULT : 0);
		}
	}
	close_ways(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(global),
		cmocka_unit_test(shared),
		cmocka_unit_test(generic),
		cmocka_unit_test(local),
		cmocka_unit_test(wrong_lanes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
