// SPDX-License-Identifier: GPL-2.0
/* gpuemud's command line: what each option sets, in which order, and what a misuse is told. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "options.h"

static struct options options;
/* What the last command line printed on stdout and stderr. */
static char said[8192];

static void forget(void)
{
	for (unsigned int i = 0; options.policies && options.policies[i]; i++)
		free((void *)(uintptr_t)options.policies[i]);
	free(options.policies);
	memset(&options, 0, sizeof(options));
}

/* options_parse() of the words of LINE; what it prints is in said[]. */
static int parse(const char *line)
{
	char *words = strdup(line), *argv[32] = { "gpuemud" }, *save = NULL;
	int argc = 1, out = dup(1), error = dup(2), ret;
	FILE *f = tmpfile();
	size_t n;

	assert_non_null(words);
	assert_non_null(f);
	for (char *w = strtok_r(words, " ", &save); w && argc < 31; w = strtok_r(NULL, " ", &save))
		argv[argc++] = w;
	argv[argc] = NULL;
	forget();
	fflush(stdout);
	dup2(fileno(f), 1);
	dup2(fileno(f), 2);
	optind = 0;
	ret = options_parse(&options, argc, argv);
	fflush(stdout);
	dup2(out, 1);
	dup2(error, 2);
	close(out);
	close(error);
	rewind(f);
	n = fread(said, 1, sizeof(said) - 1, f);
	said[n] = '\0';
	fclose(f);
	/* The device's name is a word of the line. */
	if (strcmp(options.device, "/dev/gpuemu"))
		options.device = NULL;
	free(words);
	return ret;
}

/* Refused: one line, which says TEXT. */
static void refused(const char *line, const char *text)
{
	char *end;

	if (parse(line) != -EINVAL)
		fail_msg("'%s' is not refused", line);
	end = strchr(said, '\n');
	if (strncmp(said, "gpuemud: ", 9) || !strstr(said, text) || !end || end[1])
		fail_msg("'%s': '%s' is not one line that has '%s'", line, said, text);
}

static void defaults(void **state)
{
	struct gpu_spec spec;

	spec_defaults(&spec);
	assert_int_equal(parse(""), 0);
	assert_string_equal(said, "");
	assert_string_equal(options.device, "/dev/gpuemu");
	assert_int_equal(options.log_level, LOG_INFO);
	assert_int_equal(options.slice_ms, 10);
	assert_null(options.policies);
	/* All of the device's memory; else as built in. */
	assert_int_equal(options.spec.vram_bytes, 0);
	options.spec.vram_bytes = spec.vram_bytes;
	assert_memory_equal(&options.spec, &spec, sizeof(spec));
}

static void each_option(void **state)
{
	char *words[] = { "gpuemud", "--device", "/dev/other", NULL };
	static const char *const levels[] = { "error", "warning", "info", "debug" };
	char line[64];

	forget();
	optind = 0;
	assert_int_equal(options_parse(&options, 3, words), 0);
	assert_string_equal(options.device, "/dev/other");
	for (unsigned int i = 0; i < 4; i++) {
		snprintf(line, sizeof(line), "--log-level %s", levels[i]);
		assert_int_equal(parse(line), 0);
		assert_int_equal(options.log_level, i);
	}
	assert_int_equal(options.load_seconds, 30);
	assert_int_equal(options.client_memory, 0);
	assert_int_equal(parse("--load-time 7 --client-memory 256M"), 0);
	assert_int_equal(options.load_seconds, 7);
	assert_int_equal(options.client_memory, 256 << 20);
	assert_int_equal(parse("--client-memory 1G"), 0);
	assert_int_equal(options.client_memory, 1 << 30);
	assert_int_equal(parse("--client-memory 16777216"), 0);
	assert_int_equal(options.client_memory, 16 << 20);
	assert_int_equal(parse("--slice 0"), 0);
	assert_int_equal(options.slice_ms, 0);
	assert_int_equal(parse("--slice=10000"), 0);
	assert_int_equal(options.slice_ms, 10000);
	assert_int_equal(parse("--slice 3 --slice 7"), 0);
	assert_int_equal(options.slice_ms, 7);
	assert_int_equal(parse("--set gpu.sms=3 --set paging.vram=8M --set gpu.sms=4"), 0);
	assert_int_equal(options.spec.sms, 4);
	assert_int_equal(options.spec.vram_bytes, 8 << 20);
	/* What is behind the first = is the value. */
	assert_int_equal(parse("--set paging.prefetch=tree:threshold=40"), 0);
	assert_string_equal(options.spec.prefetch, "tree:threshold=40");
}

/* Settings go over the file, wherever the file stands on the line; of two files the last counts. */
static void settings_go_over_the_file(void **state)
{
	char path[] = "/tmp/gpuemud-XXXXXX", line[128];
	int fd = mkstemp(path);

	assert_true(fd >= 0);
	assert_int_equal(dprintf(fd, "gpu = { sms = 6; };\nsm = { ctas = 5; };\n"), 40);
	close(fd);
	for (int first = 0; first < 2; first++) {
		snprintf(line, sizeof(line), first ? "--config %s --set gpu.sms=9" :
			 "--set gpu.sms=9 --config %s", path);
		assert_int_equal(parse(line), 0);
		assert_int_equal(options.spec.sms, 9);
		assert_int_equal(options.spec.ctas, 5);
		assert_int_equal(options.spec.vram_bytes, 0);
	}
	snprintf(line, sizeof(line), "--config kepler --config %s", path);
	assert_int_equal(parse(line), 0);
	assert_int_equal(options.spec.sms, 6);
	assert_int_equal(options.spec.warps, 48);
	unlink(path);
}

/* A configuration is found by its name, in GPUEMU_DATADIR first. */
static void a_configuration_by_name(void **state)
{
	char root[] = "/tmp/gpuemud-XXXXXX", folder[64], path[96];
	FILE *f;

	assert_int_equal(parse("--config kepler"), 0);
	assert_int_equal(options.spec.warps, 64);
	assert_int_equal(options.spec.ctas, 16);
	refused("--config no-such-gpu", "no-such-gpu");
	assert_non_null(mkdtemp(root));
	snprintf(folder, sizeof(folder), "%s/configs", root);
	snprintf(path, sizeof(path), "%s/kepler.conf", folder);
	assert_int_equal(mkdir(folder, 0700), 0);
	f = fopen(path, "w");
	assert_non_null(f);
	fputs("sm = { warps = 8; };\n", f);
	fclose(f);
	setenv("GPUEMU_DATADIR", root, 1);
	assert_int_equal(parse("--config kepler"), 0);
	assert_int_equal(options.spec.warps, 8);
	unsetenv("GPUEMU_DATADIR");
	unlink(path);
	rmdir(folder);
	rmdir(root);
}

/* Policies that clients may load are known by what realpath() makes of them. */
static void policies(void **state)
{
	assert_int_equal(parse("--policy . --policy /tmp/../tmp"), 0);
	assert_int_equal(options.policies[0][0], '/');
	assert_string_equal(options.policies[1], "/tmp");
	assert_null(options.policies[2]);
	refused("--policy /no/such.so", "--policy '/no/such.so': No such file or directory");
	forget();
}

static void help_and_version(void **state)
{
	assert_int_equal(parse("--help"), 1);
	assert_non_null(strstr(said, "Usage: gpuemud"));
	assert_non_null(strstr(said, "--slice MS"));
	assert_int_equal(parse("--version"), 1);
	assert_int_equal(strncmp(said, "gpuemud ", 8), 0);
	/* They answer before what stands behind them is looked at. */
	assert_int_equal(parse("--version --nonsense"), 1);
	refused("--nonsense --version", "--nonsense");
}

static void misuse(void **state)
{
	refused("--nonsense", "unknown option '--nonsense'; see gpuemud --help");
	refused("--device", "no value for option '--device'; see gpuemud --help");
	refused("gpu0", "unexpected argument 'gpu0'");
	refused("--log-level loud", "--log-level 'loud': not error, warning, info or debug");
	refused("--log-level", "no value for option '--log-level'");
	refused("--set gpu.sms", "--set 'gpu.sms': not KEY=VALUE");
	refused("--set gpu.smms=3", "gpu.smms");
	refused("--set gpu.sms=0", "gpu.sms");
	refused("--set gpu.sms=65", "gpu.sms");
	refused("--load-time 0", "--load-time '0': not a number of seconds from 1 to 86400");
	refused("--load-time 5s", "--load-time '5s'");
	refused("--client-memory 16383K", "--client-memory '16383K': not a size of at least 16M");
	refused("--client-memory 99999999999G", "--client-memory '99999999999G'");
	refused("--client-memory -1", "--client-memory '-1'");
	refused("--slice 10001", "--slice '10001': not a number of milliseconds from 0 to 10000");
	refused("--slice -1", "--slice '-1': not a number");
	refused("--slice +1", "--slice '+1': not a number");
	refused("--slice 3x", "--slice '3x': not a number");
	refused("--slice x", "--slice 'x': not a number");
	refused("--slice 99999999999999999999", "not a number");
	refused("--slice=", "--slice '': not a number");
	/* Each key is right, both together are not. */
	refused("--set l2.slices=7", "l2.slices");
}

static int tear_down(void **state)
{
	forget();
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(defaults),
		cmocka_unit_test(each_option),
		cmocka_unit_test(settings_go_over_the_file),
		cmocka_unit_test(a_configuration_by_name),
		cmocka_unit_test(policies),
		cmocka_unit_test(help_and_version),
		cmocka_unit_test(misuse),
	};

	unsetenv("GPUEMU_DATADIR");
	return cmocka_run_group_tests(tests, NULL, tear_down);
}
