// SPDX-License-Identifier: GPL-2.0
/*
 * Text that means harm: cut off and mutated programs, and large ones made to
 * cost more than their size. Nothing may crash, leak or take long; the process
 * is killed when it does not come back.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

#include "ptx/ptx.h"

#define HEAD ".version 7.0\n.target sm_70\n.address_size 64\n"

/*
 * Parses exactly these bytes from a block of their size, so that a read past
 * the end is seen. An error must come with one line of text.
 */
static int parse(const char *text, size_t len, struct err *err)
{
	struct ptx_module *module;
	char *copy = malloc(len ? len : 1);
	int ret;

	assert_non_null(copy);
	memcpy(copy, text, len);
	memset(err, 0, sizeof(*err));
	ret = ptx_module_parse(copy, len, "t.ptx", &module, err);
	free(copy);
	if (!ret) {
		ptx_module_free(module);
		return 0;
	}
	assert_true(ret == -EINVAL || ret == -EOPNOTSUPP);
	assert_true(strlen(err->text) > 6 && !strncmp(err->text, "t.ptx:", 6));
	assert_null(strchr(err->text, '\n'));
	return ret;
}

/* What clang wrote for kernels.cu at -O0 to -O3, and for functions.cu. */
enum { TEXTS = 5 };
static char *texts[TEXTS];

static int load_texts(void **state)
{
	char path[512];
	size_t i;

	alarm(300);
	for (i = 0; i < TEXTS; i++) {
		FILE *file;

		snprintf(path, sizeof(path), "%s", __FILE__);
		if (i < 4)
			snprintf(strrchr(path, '/'), 64, "/data/kernels_O%zu.ptx", i);
		else
			strcpy(strrchr(path, '/'), "/data/functions.ptx");
		file = fopen(path, "rb");
		assert_non_null(file);
		texts[i] = calloc(1, 1 << 17);
		assert_true(fread(texts[i], 1, (1 << 17) - 1, file) > 1000);
		fclose(file);
	}
	return 0;
}

static int free_texts(void **state)
{
	size_t i;

	for (i = 0; i < TEXTS; i++)
		free(texts[i]);
	return 0;
}

static void prefixes(void **state)
{
	size_t len = strlen(texts[0]), at;
	struct err err;

	assert_int_equal(parse(texts[0], len, &err), 0);
	for (at = 0; at < 6000; at++)
		parse(texts[0], at, &err);
	for (at = 6000; at < len; at += 97)
		parse(texts[0], at, &err);
}

static uint32_t pick(uint64_t *seed, uint32_t n)
{
	*seed = *seed * 6364136223846793005ull + 1442695040888963407ull;
	return (*seed >> 33) % n;
}

static const char *const pieces[] = {
	"{", "}", "(", ")", "[", "]", "<", ">", ",", ";", ":", "|", "@", "!", "\"", "/*", "//", "\n",
	".reg .b32 %q<4294967295>;", ".pred", ".v4", ".f64", ".s8", ".u64", ".sat", ".ftz", ".rz",
	"0x", "0f", "0d0", "99999999999999999999999", "-", "+", "%r1", "%rd1", "%p1", "%f1", "%tid.x",
	"LBB0_1", "bra", "ret;", "exit;", "trap;", "@%p1 ret;", ".shared .align 8 .b8 zz[99];",
	"mov.b64 {%r1,%r2}, %rd1;", "cvt.rn.f32.u64 %f1, %rd1;", "setp.lt.and.u32 %p1|%p2, %r1, %r2, !%p1;",
	".param .b32 q0; st.param.b32 [q0], %r1; call f0, (q0);", "call", "T0: .branchtargets LBB0_1; brx.idx %r1, T0;",
	".func f0(.param .b32 a) { ret; }", ".global .u64 g0 = generic(g0)+4;", "ld.param.b64 %rd1, [param0+4];",
	".const .u32 c[3] = {1,2,3};", ".entry", ".func", ".param", ".local", "_", "$", "\377", "",
};

static void mutations(void **state)
{
	static char text[1 << 18];
	uint32_t round, edit, edits, good = 0;
	struct err err;

	for (round = 0; round < 4000; round++) {
		uint64_t seed = round * 7919 + 1;
		const char *from = texts[pick(&seed, TEXTS)];
		/* Whole kernels, so that some rounds reach the end. */
		const char *end = strstr(from + pick(&seed, 8000), "\n}\n");
		size_t len = end ? (size_t)(end - from) + 3 : strlen(from), at, cut, add;

		memcpy(text, from, len);
		edits = 1 + pick(&seed, 4);
		for (edit = 0; edit < edits; edit++) {
			const char *piece = pieces[pick(&seed, ARRAY_SIZE(pieces))];

			at = pick(&seed, len);
			switch (pick(&seed, 4)) {
			case 0:
				text[at] = pick(&seed, 256);
				break;
			case 1:
				cut = pick(&seed, 40);
				cut = MIN(len - at, cut);
				memmove(text + at, text + at + cut, len - at - cut);
				len -= cut;
				break;
			case 2:
				add = strlen(piece);
				memmove(text + at + add, text + at, len - at);
				memcpy(text + at, piece, add);
				len += add;
				break;
			default:
				add = pick(&seed, 400);
				add = MIN(len - at, add);
				memmove(text + at + add, text + at, len - at);
				len += add;
			}
		}
		good += !parse(text, len, &err);
	}
	/* Some must get through, or what follows the parser is not tried. */
	assert_true(good > 50);
}

struct text {
	char *bytes;
	size_t len, cap;
};

static void add(struct text *t, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
static void add(struct text *t, const char *fmt, ...)
{
	va_list args;

	if (t->cap - t->len < 512) {
		t->cap = t->cap ? 2 * t->cap : 1 << 16;
		t->bytes = realloc(t->bytes, t->cap);
		assert_non_null(t->bytes);
	}
	va_start(args, fmt);
	t->len += vsnprintf(t->bytes + t->len, t->cap - t->len, fmt, args);
	va_end(args);
}

static void expect(struct text *t, int code, const char *part)
{
	struct err err;
	int ret = parse(t->bytes, t->len, &err);

	if (ret != code || !strstr(err.text, part))
		fail_msg("%d %s", ret, err.text);
	free(t->bytes);
	memset(t, 0, sizeof(*t));
}

enum { MANY = 200000 };

static void large(void **state)
{
	struct text t = { 0 };
	uint32_t i;

	/* Blocks in blocks. */
	add(&t, HEAD ".entry k() {");
	for (i = 0; i < MANY; i++)
		add(&t, "{ ");
	expect(&t, -EOPNOTSUPP, "blocks are nested more than 64 deep");

	/* Braces that are only skipped: the function is refused, and nobody calls it. */
	add(&t, HEAD ".func f() ");
	for (i = 0; i < MANY; i++)
		add(&t, "{ ");
	expect(&t, -EINVAL, "'}' is missing");
	add(&t, HEAD ".func f() ");
	for (i = 0; i < MANY; i++)
		add(&t, "{ ");
	for (i = 0; i < MANY; i++)
		add(&t, "} ");
	expect(&t, 0, "");

	/* Names by the million. */
	add(&t, HEAD ".entry k() { .reg .b32 a");
	for (i = 0; i < 1100000; i++)
		add(&t, ",a%u", i);
	add(&t, "; ret; }");
	expect(&t, -EOPNOTSUPP, "a module of more than 1048576 names");

	/* One long name, one long number, one long comment. */
	add(&t, HEAD ".entry k");
	for (i = 0; i < MANY; i++)
		add(&t, "kkkkkkkk");
	add(&t, "() { add.s32 %%");
	for (i = 0; i < MANY; i++)
		add(&t, "99999999");
	add(&t, ", 1, 1; }");
	expect(&t, -EINVAL, "is not a register");
	add(&t, HEAD "/*");
	for (i = 0; i < MANY; i++)
		add(&t, "*/*/ /* \n");
	expect(&t, -EINVAL, "a directive is expected");

	/* Kernels by the hundred thousand, each with the same names. */
	add(&t, HEAD);
	for (i = 0; i < 100000; i++)
		add(&t, ".entry k%u(.param .u32 a) {L: ret; }\n", i);
	expect(&t, 0, "");

	/* A vector without end. */
	add(&t, HEAD ".entry k() { .reg .b32 r; .reg .b64 d; mov.b64 {r");
	for (i = 0; i < MANY; i++)
		add(&t, ",r");
	add(&t, "}, d; }");
	expect(&t, -EINVAL, "vectors of mov");

	/* More instructions than a module may have. */
	add(&t, HEAD ".entry k() { ");
	for (i = 0; i < 1100000; i++)
		add(&t, "ret;");
	add(&t, "}");
	expect(&t, -EOPNOTSUPP, "a module of more than 1048576 instructions");
}

/* Control flow that makes simple algorithms recurse deep or run in squares. */
static void control_flow(void **state)
{
	struct text t = { 0 };
	uint32_t i;

	/* A chain of blocks, and loops in loops around all of it. */
	add(&t, HEAD ".entry k() { .reg .pred p;\n");
	for (i = 0; i < MANY; i++)
		add(&t, "L%u: @p bra M%u;\n", i, MANY - 1 - i);
	for (i = 0; i < MANY; i++)
		add(&t, "M%u: @p bra L%u;\n", i, i);
	add(&t, "ret; }\n");
	expect(&t, 0, "");

	/* Every branch to one place. */
	add(&t, HEAD ".entry k() { .reg .pred p;\n");
	for (i = 0; i < MANY; i++)
		add(&t, "@p bra END;\n");
	add(&t, "END: ret; }\n");
	expect(&t, 0, "");

	/* No way to the exit from anywhere. */
	add(&t, HEAD ".entry k() { .reg .pred p;\n");
	for (i = 0; i < MANY; i++)
		add(&t, "L%u: @p bra L%u;\n", i, (i * 7919u) % MANY);
	add(&t, "bra L0; }\n");
	expect(&t, 0, "");

	/* Few registers that live through many blocks cost little a block. */
	add(&t, HEAD ".entry k() { .reg .pred p; .reg .b32 r<40>;\n");
	for (i = 0; i < 40; i++)
		add(&t, "mov.b32 r%u, 1;\n", i);
	for (i = 0; i < 40000; i++)
		add(&t, "@p bra L%u; add.s32 r%u, r%u, 1; L%u: add.s32 r%u, r%u, r%u;\n", i,
		    i % 40, (i * 7 + 3) % 40, i, (i * 7 + 3) % 40, (i * 7 + 3) % 40, i % 40);
	for (i = 0; i < 40; i++)
		add(&t, "st.global.b32 [0], r%u;\n", i);
	add(&t, "ret; }\n");
	expect(&t, 0, "");

	/* Registers that live through everything: the product of both is refused. */
	add(&t, HEAD ".entry k() { .reg .pred p; .reg .b32 r<60000>;\n");
	for (i = 0; i < 60000; i++)
		add(&t, "mov.b32 r%u, 1;\n", i);
	for (i = 0; i < 60000; i++)
		add(&t, "@p bra L%u; L%u:\n", i, i);
	for (i = 0; i < 60000; i++)
		add(&t, "st.global.b32 [0], r%u;\n", i);
	add(&t, "ret; }\n");
	expect(&t, -EOPNOTSUPP, "t.ptx:4: not supported: kernel 'k' is too large (180001 instructions, 60001 registers)");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(prefixes),
		cmocka_unit_test(mutations),
		cmocka_unit_test(large),
		cmocka_unit_test(control_flow),
	};

	return cmocka_run_group_tests(tests, load_texts, free_texts);
}
