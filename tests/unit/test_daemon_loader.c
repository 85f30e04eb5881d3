// SPDX-License-Identifier: GPL-2.0
/*
 * The process that parses a client's PTX gets every option of the caller: what it makes of a text
 * is what the caller's own parser makes of it.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "loader.h"

/*
 * A kernel that calls itself, whose registers fall from 24 to 2, and another that this parser
 * refuses. What is parsed of it depends on each option.
 */
#define OF_OPTIONS(line)	line(1) line(2) line(3) line(4) line(5) line(6) line(7) line(8) \
				line(9) line(10) line(11) line(12) line(13) line(14) line(15) \
				line(16) line(17) line(18) line(19) line(20)
#define LOAD(n)			"ld.global.u32 %r" #n ", [%d1+" #n "*4];\n"
#define STORE(n)		"st.global.u32 [%d1+" #n "*4], %r" #n ";\n"
static const char options_text[] =
	".version 7.0\n.target sm_70\n.address_size 64\n"
	".func again() {\ncall again;\nret;\n}\n"
	".entry k(.param .u64 p) {\n.reg .b32 %r<32>; .reg .b64 %d<4>;\n"
	"ld.param.u64 %d1, [p];\n" OF_OPTIONS(LOAD) OF_OPTIONS(STORE)
	"mov.u32 %r21, 1;\n" OF_OPTIONS(LOAD) OF_OPTIONS(STORE) "call again;\nret;\n}\n"
	".entry refused() {\nfoo.bar;\n}\n";

/* What the parser makes of the text with the options, in words. */
static void words_of(struct ptx_module *module, char *words, size_t bytes)
{
	const struct ptx_kernel *k = ptx_module_kernel(module, "k");
	size_t at;

	assert_non_null(k);
	at = (size_t)snprintf(words, bytes, "%u registers, %u bytes of a thread, phases:",
			      k->regs_per_thread, k->local_bytes);
	for (uint32_t i = 0; i < k->nphases && at < bytes; i++)
		at += (size_t)snprintf(words + at, bytes - at, " %llx",
				       (unsigned long long)k->phases[i].sets);
	ptx_module_free(module);
}

static int load_apart(const struct ptx_options *options, char *words, size_t bytes)
{
	const struct load_limits limits = { .bytes = 1 << 30, .seconds = 60 };
	struct ptx_module *module;
	struct loading *loading;
	uint64_t file_bytes;
	struct err err;
	int fd, ret;

	assert_int_equal(loader_start(options_text, strlen(options_text), "o.ptx", options, &limits,
				      &loading, &err), 0);
	while (!loader_ended(loading))
		loader_wait(&loading, 1, 1000);
	ret = loader_result(loading, &fd, &file_bytes, &err);
	loader_end(loading);
	if (ret)
		return ret;
	assert_int_equal(loader_map(fd, file_bytes, &module), 0);
	close(fd);
	words_of(module, words, bytes);
	return 0;
}

/* The process parses with each of the caller's options. */
static void test_loading_options(void **state)
{
	static const struct ptx_options options[] = {
		{ .leave_out = true },
		{ .leave_out = true, .maxregs = 16 },
		{ .leave_out = true, .stack_bytes = 4096 },
		{ .leave_out = true, .phases = PTX_PHASES_MARK },
		{ .leave_out = true, .phases = PTX_PHASES_MARK, .plenty = 255 },
	};
	char apart[ARRAY_SIZE(options)][512], here[512];
	struct ptx_module *module;
	struct err err;

	for (size_t i = 0; i < ARRAY_SIZE(options); i++) {
		assert_int_equal(load_apart(&options[i], apart[i], sizeof(apart[i])), 0);
		assert_int_equal(ptx_module_parse_with(options_text, strlen(options_text), "o.ptx",
						       &options[i], &module, &err), 0);
		words_of(module, here, sizeof(here));
		assert_string_equal(apart[i], here);
		for (size_t j = 0; j < i; j++)
			assert_string_not_equal(apart[i], apart[j]);
	}
	assert_int_not_equal(load_apart(&(struct ptx_options){ .maxregs = 0 }, here, sizeof(here)),
			     0);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_loading_options),
	};

	loader_process(argc, argv);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
