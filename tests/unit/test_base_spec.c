// SPDX-License-Identifier: GPL-2.0
/* Options as text: defaults, values, errors' texts, round trips, configuration files. */
#include <limits.h>
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

#include "base/spec.h"

static struct gpu_spec spec;
static struct err err;

static void fresh(void)
{
	spec_defaults(&spec);
	err.text[0] = '\0';
}

static void defaults(void **state)
{
	struct spec_row row;
	unsigned int rows = 0;
	struct gpu_spec again;

	fresh();
	assert_int_equal(spec.sms, 15);
	assert_int_equal(spec.vram_bytes, 256 << 20);
	assert_string_equal(spec.scheduler, "gto");
	memset(&again, 0xff, sizeof(again));
	spec_defaults(&again);
	assert_memory_equal(&spec, &again, sizeof(spec));
	/* Each row's own default is accepted and is the default. */
	for (; spec_row(rows, &row); rows++) {
		assert_true(row.doc[0] && row.source[0]);
		assert_int_equal(spec_set(&again, row.key, row.default_text, &err), 0);
	}
	assert_true(rows > 40);
	assert_memory_equal(&spec, &again, sizeof(spec));
}

static void numbers(void **state)
{
	fresh();
	assert_int_equal(spec_set(&spec, "gpu.sms", "7", &err), 0);
	assert_int_equal(spec.sms, 7);
	assert_int_equal(spec_set(&spec, "gpu.seed", "0xfF", &err), 0);
	assert_int_equal(spec.seed, 255);
	assert_int_equal(spec_set(&spec, "gpu.seed", "18446744073709551615", &err), 0);
	assert_true(spec.seed == UINT64_MAX);
	assert_int_equal(spec_set(&spec, "paging.vram", "3M", &err), 0);
	assert_int_equal(spec.vram_bytes, 3 << 20);
	assert_int_equal(spec_set(&spec, "paging.vram", "2g", &err), 0);
	assert_true(spec.vram_bytes == 2ull << 30);
	assert_int_equal(spec_set(&spec, "sm.shared", "16K", &err), 0);
	assert_int_equal(spec.shared_bytes, 16384);
	assert_string_equal(err.text, "");
}

static void switches(void **state)
{
	static const char *const off[] = { "off", "false", "0", "no" };
	static const char *const on[] = { "on", "true", "1", "yes" };

	fresh();
	for (unsigned int i = 0; i < ARRAY_SIZE(on); i++) {
		assert_int_equal(spec_set(&spec, "paging.enabled", off[i], &err), 0);
		assert_int_equal(spec.paging, 0);
		assert_int_equal(spec_set(&spec, "paging.enabled", on[i], &err), 0);
		assert_int_equal(spec.paging, 1);
	}
}

static void bad_values(void **state)
{
	static const struct {
		const char *key, *value;
		int rc;
		const char *text;
	} cases[] = {
		{ "gpu.sms", "", -EINVAL, "gpu.sms: '' is not a whole number" },
		{ "gpu.sms", "-1", -EINVAL, "gpu.sms: '-1' is not a whole number" },
		{ "gpu.sms", "+1", -EINVAL, "gpu.sms: '+1' is not a whole number" },
		{ "gpu.sms", " 1", -EINVAL, "gpu.sms: ' 1' is not a whole number" },
		{ "gpu.sms", "1.5", -EINVAL, "gpu.sms: '1.5' is not a whole number" },
		{ "gpu.sms", "4K", -EINVAL, "gpu.sms: '4K' is not a whole number" },
		{ "gpu.sms", "on", -EINVAL, "gpu.sms: 'on' is not a whole number" },
		{ "gpu.sms", "0", -ERANGE, "gpu.sms: '0' is out of range, 1 to 64 SMs" },
		{ "gpu.sms", "65", -ERANGE, "gpu.sms: '65' is out of range, 1 to 64 SMs" },
		{ "paging.vram", "0", -ERANGE,
		  "paging.vram: '0' is out of range, at least 4096 bytes" },
		{ "paging.vram", "4KB", -EINVAL,
		  "paging.vram: '4KB' is not a size; a number, K, M or G may follow" },
		{ "paging.vram", "17179869184G", -ERANGE, "paging.vram: '17179869184G' is out of "
		  "range, 4096 to 18446744073709551615 bytes" },
		{ "gpu.seed", "18446744073709551616", -ERANGE,
		  "gpu.seed: '18446744073709551616' is out of range, 0 to 18446744073709551615" },
		{ "paging.enabled", "2", -EINVAL,
		  "paging.enabled: '2' is not a switch; on or off" },
		{ "paging.evict", "", -EINVAL,
		  "paging.evict: '' is not a name of 1 to 255 characters" },
		{ "paging.evict", "a b", -EINVAL,
		  "paging.evict: 'a b' is not a name: it has a blank or a #" },
		{ "paging.evict", "", -EINVAL,
		  "paging.evict: '' is not a name of 1 to 255 characters" },
		{ "paging.evcit", "lru", -ENOENT,
		  "unknown option 'paging.evcit'; did you mean 'paging.evict'?" },
		{ "clock_mhz", "1", -ENOENT,
		  "unknown option 'clock_mhz'; did you mean 'gpu.clock_mhz'?" },
		{ "sm.latency", "1", -ENOENT,
		  "unknown option 'sm.latency'; did you mean 'l1d.latency'?" },
	};
	char long_name[257] = "";
	struct gpu_spec before;

	fresh();
	before = spec;
	for (unsigned int i = 0; i < ARRAY_SIZE(cases); i++) {
		assert_int_equal(spec_set(&spec, cases[i].key, cases[i].value, &err),
				 cases[i].rc);
		assert_string_equal(err.text, cases[i].text);
		assert_memory_equal(&spec, &before, sizeof(spec));
	}
	memset(long_name, 'x', sizeof(long_name) - 1);
	assert_int_equal(spec_set(&spec, "paging.evict", long_name, NULL), -EINVAL);
	assert_int_equal(spec_set(&spec, "paging.evict", long_name + 1, NULL), 0);
	assert_int_equal(spec_set(&spec, "zzzzzzzzzzzz", "1", &err), -ENOENT);
	assert_non_null(strstr(err.text, "groups: gpu, slicer, compiler, occupancy, sm, vt, zorua, pipe, "));
	assert_int_equal(spec_set(&spec, "gpu.sms", "x", NULL), -EINVAL);
}

static void round_trip(void **state)
{
	struct gpu_spec copy;
	char *text, *again;

	fresh();
	assert_int_equal(spec_set(&spec, "gpu.seed", "18446744073709551615", &err), 0);
	assert_int_equal(spec_set(&spec, "paging.prefetch", "sequential", &err), 0);
	text = spec_to_text(&spec);
	assert_non_null(strstr(text, "\npaging.prefetch=sequential\n"));
	assert_true(strncmp(text, "gpu.sms=15\n", 11) == 0);
	spec_defaults(&copy);
	assert_int_equal(spec_from_text(&copy, text, &err), 0);
	assert_memory_equal(&copy, &spec, sizeof(spec));
	again = spec_to_text(&copy);
	assert_string_equal(text, again);
	free(text);
	free(again);
}

static void lines(void **state)
{
	struct gpu_spec before;

	fresh();
	assert_int_equal(spec_from_text(&spec, "# all of it\n\n gpu.sms = 3 # three\r\n"
					"paging.evict=random", &err), 0);
	assert_int_equal(spec.sms, 3);
	assert_string_equal(spec.evict, "random");
	before = spec;
	assert_int_equal(spec_from_text(&spec, "gpu.sms=4\nnonsense\n", &err), -EINVAL);
	assert_string_equal(err.text, "'nonsense' is not key=value");
	assert_int_equal(spec_from_text(&spec, "gpu.sms=4\ngpu.sns=5\n", &err), -ENOENT);
	/* A bad line leaves nothing of the good ones. */
	assert_memory_equal(&spec, &before, sizeof(spec));
}

/* --- files ------------------------------------------------------------------ */

static char folder[64];

static int make_folder(void **state)
{
	strcpy(folder, "/tmp/gpuemu-spec.XXXXXX");
	return mkdtemp(folder) ? 0 : -1;
}

static int remove_folder(void **state)
{
	static const char *const names[] = { "a.conf", "b.conf", "sub/c.conf", "sub" };
	char path[128];

	for (unsigned int i = 0; i < ARRAY_SIZE(names); i++) {
		snprintf(path, sizeof(path), "%s/%s", folder, names[i]);
		remove(path);
	}
	return rmdir(folder);
}

static void write_file(const char *name, const char *text)
{
	char path[128];
	FILE *file;

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	file = fopen(path, "w");
	assert_non_null(file);
	fputs(text, file);
	fclose(file);
}

static int load(const char *name)
{
	char path[128];

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	return spec_load_file(&spec, path, &err);
}

/* The message without the folder, which is another one each time. */
static const char *message(void)
{
	size_t n = strlen(folder) + 1;

	return strncmp(err.text, folder, n - 1) == 0 ? err.text + n : err.text;
}

static void file_values(void **state)
{
	fresh();
	write_file("a.conf", "/* @include \"no\" */ // @include \"no\"\n"
		   "gpu = { sms = 4; seed = 5000000000L; };\n"
		   "paging : { vram = \"8M\"; enabled = false; evict = \"random\" }\n");
	assert_int_equal(load("a.conf"), 0);
	assert_int_equal(spec.sms, 4);
	assert_true(spec.seed == 5000000000ull);
	assert_int_equal(spec.vram_bytes, 8 << 20);
	assert_int_equal(spec.paging, 0);
	assert_string_equal(spec.evict, "random");
	assert_int_equal(spec.clock_mhz, 700);
}

static void file_include(void **state)
{
	char path[128];

	fresh();
	snprintf(path, sizeof(path), "%s/sub", folder);
	assert_int_equal(mkdir(path, 0700), 0);
	/* Relative to the including file, and overridden by it. */
	write_file("sub/c.conf", "gpu = { sms = 9; clock_mhz = 900; };\n");
	write_file("b.conf", "@include \"sub/c.conf\"\ngpu = { clock_mhz = 800; };\n");
	write_file("a.conf", "# overlay\n@include \"b.conf\"\ngpu = { seed = 3; };\n");
	assert_int_equal(load("a.conf"), 0);
	assert_int_equal(spec.sms, 9);
	assert_int_equal(spec.clock_mhz, 800);
	assert_int_equal(spec.seed, 3);
}

static void file_errors(void **state)
{
	static const struct {
		const char *text;
		int rc;
		const char *message;
	} cases[] = {
		{ "gpu = {\n sms = 0;\n};", -ERANGE,
		  "a.conf:2: gpu.sms: '0' is out of range, 1 to 64 SMs" },
		{ "gpu = {\n sms = 2;\n clock_mhz = 0;\n};", -ERANGE,
		  "a.conf:3: gpu.clock_mhz: '0' is out of range, 1 to 10000 MHz" },
		{ "gpu = {\n\n smz = 1;\n};", -ENOENT,
		  "a.conf:3: unknown option 'gpu.smz'; did you mean 'gpu.sms'?" },
		{ "sms = 1;", -ENOENT, "a.conf:1: unknown option 'sms'; did you mean 'gpu.sms'?" },
		{ "gpu = { sms = 1.5; };", -EINVAL,
		  "a.conf:1: gpu.sms: '1.5' is not a whole number" },
		{ "gpu = { sms = [1, 2]; };", -EINVAL,
		  "a.conf:1: gpu.sms: wants one value, not a list or group" },
		{ "gpu = { sms = 1; sms = 2; };", -EINVAL, "a.conf:1: duplicate setting name" },
		{ "gpu = {\nsms 1\n};", -EINVAL, "a.conf:2: syntax error; settings "
		  "are groups of keys, as in gpu: { sms = 4; }; with # for comments" },
		{ "\n@include \"none.conf\"\n", -ENOENT, "none.conf: No such file or directory" },
		{ "@include none\n", -EINVAL, "a.conf:1: @include wants a file name in quotes" },
		{ "gpu = { sms = 1; };\n@include \"a.conf\"\n", -EINVAL,
		  "a.conf:2: @include must stand before the first setting" },
		{ "@include \"a.conf\"\n", -ELOOP,
		  "a.conf:1: includes nest deeper than 8; a circle?" },
	};
	struct gpu_spec before;

	fresh();
	before = spec;
	for (unsigned int i = 0; i < ARRAY_SIZE(cases); i++) {
		write_file("a.conf", cases[i].text);
		assert_int_equal(load("a.conf"), cases[i].rc);
		assert_string_equal(message(), cases[i].message);
		assert_memory_equal(&spec, &before, sizeof(spec));
	}
	assert_int_equal(spec_load_file(&spec, folder, &err), -EISDIR);
}

/* A copy of the spec with every value changed: what a file does not set shows. */
static void poison(void)
{
	struct spec_row row;
	char value[32];

	fresh();
	for (unsigned int i = 0; spec_row(i, &row); i++) {
		bool at_max = !row.is_name && strtoull(row.default_text, NULL, 0) == row.max;

		snprintf(value, sizeof(value), "%llu",
			 (unsigned long long)(at_max ? row.min : row.max));
		assert_int_equal(spec_set(&spec, row.key, row.is_name ? "poison" : value, &err), 0);
	}
}

static void shipped(const char *name)
{
	char path[512];
	const char *roots = GPUEMU_DATADIR;

	snprintf(path, sizeof(path), "%.*s/configs/%s", (int)strcspn(roots, ":"), roots, name);
	poison();
	if (spec_load_file(&spec, path, &err))
		fail_msg("%s", err.text);
}

static void shipped_gtx480(void **state)
{
	struct gpu_spec wanted;
	char *is, *should;

	shipped("gtx480.conf");
	spec_defaults(&wanted);
	is = spec_to_text(&spec);
	should = spec_to_text(&wanted);
	assert_string_equal(is, should);
	free(is);
	free(should);
}

/* The memory of GPGPU-Sim 3.2.2, which two papers of 2016 used. */
#define GPGPUSIM_322 \
	"latency.shared=3\nl1d.latency=1\nl1d.index=linear\nicnt.flit=32\nicnt.buffer=8\n" \
	"icnt.speedup=1\nicnt.ejection=8\nl2.sector=128\nl2.mshrs=32\nl2.write_miss=fetch\n" \
	"l2.queue_in=8\nl2.queue_dram=8\nl2.queue_out=8\ndram.queue=16\n"

/* What a shipped file changes of the defaults, as key=value lines; nothing else may differ. */
static void shipped_files(void **state)
{
	static const struct {
		const char *name, *differs;
	} files[] = {
		{ "gtx480-hpca16.conf", "gpu.clock_mhz=1400\nl2.slices=24\nl2.mshrs=128\n"
		  "dram.channels=12\ndram.clock_mhz=1000\npaging.handlers=0\n" },
		{ "gtx480-vt.conf", "sm.scheduler=lrr\n" GPGPUSIM_322 },
		{ "gtx480-ws.conf", "gpu.sms=16\ngpu.mixed_sms=1\nsm.units_dp=2\n"
		  "pipe.id_oc_dp=2\npipe.oc_ex_dp=2\ncollector.dp=6\ncollector.dp_in=2\n"
		  "collector.dp_out=2\n" },
		{ "gtx480-ws-3.2.2.conf", GPGPUSIM_322 "gpu.sms=16\ngpu.mixed_sms=1\nsm.units_dp=2\n"
		  "pipe.id_oc_dp=2\npipe.oc_ex_dp=2\ncollector.dp=6\ncollector.dp_in=2\n"
		  "collector.dp_out=2\n" },
		{ "ws-large.conf", "gpu.sms=16\ngpu.mixed_sms=1\nsm.warps=64\nsm.ctas=32\n"
		  "sm.registers=65536\nsm.shared=96K\nsm.units_dp=2\n"
		  "pipe.id_oc_dp=2\npipe.oc_ex_dp=2\ncollector.dp=6\ncollector.dp_in=2\n"
		  "collector.dp_out=2\n" },
		{ "gtx480-zorua.conf", "gpu.clock_mhz=1400\nl1d.sets=64\nl2.sets=32\nl2.ways=16\n" },
		{ "kepler.conf", "gpu.clock_mhz=1400\nl1d.sets=64\nl2.sets=32\nl2.ways=16\n"
		  "sm.warps=64\nsm.ctas=16\nsm.registers=65536\n" },
		{ "maxwell.conf", "gpu.clock_mhz=1400\nl1d.sets=64\nl2.sets=32\nl2.ways=16\n"
		  "sm.warps=64\nsm.ctas=32\nsm.registers=65536\nsm.shared=64K\n" },
	};

	for (unsigned int i = 0; i < ARRAY_SIZE(files); i++) {
		struct gpu_spec wanted;
		char *is, *should;

		shipped(files[i].name);
		assert_int_equal(spec_check(&spec, &err), 0);
		spec_defaults(&wanted);
		assert_int_equal(spec_from_text(&wanted, files[i].differs, &err), 0);
		is = spec_to_text(&spec);
		should = spec_to_text(&wanted);
		assert_string_equal(is, should);
		free(is);
		free(should);
	}
}

/* Every combination that is refused, alone: the message begins with the key. */
static void combinations(void **state)
{
	static const struct {
		const char *lines, *key;
	} cases[] = {
		{ "l1d.sets=33", "l1d.sets: 33 is not a power of two" },
		{ "l1c.line=96", "l1c.line: 96 is not a power of two" },
		{ "dram.banks=12", "dram.banks: 12 is not a power of two" },
		{ "dram.interleave=300", "dram.interleave: 300 is not a power of two" },
		{ "mem.shared_banks=24", "mem.shared_banks: 24 is not a power of two" },
		{ "latency.sfu=7", "initiation.sfu: 8 cycles, longer than latency.sfu, 7" },
		{ "initiation.int_add=5", "initiation.int_add: 5 cycles" },
		{ "collector.sp=64", "collector.sp, .sfu, .dp and .mem: 74 operand collectors together, at most 64" },
		{ "sm.schedulers=5", "sm.warps: 48 is not a multiple of the 5 schedulers" },
		{ "sm.units_dp=1", "pipe.id_oc_dp: 0, but there are 1 double precision units" },
		{ "sm.units_dp=1\npipe.id_oc_dp=1\npipe.oc_ex_dp=1\ncollector.dp=2\n"
		  "collector.dp_in=1", "collector.dp_out: 0" },
		{ "l1d.line=64", "l1d.line: 64 bytes; only lines of 128" },
		{ "l2.line=32", "l2.line: 32 bytes; only lines of 128" },
		{ "l2.sector=96", "l2.sector: 96 is not a power of two" },
		{ "l2.write_miss=never", "l2.write_miss: no 'never'; there are: lazy, fetch" },
		{ "l2.write_miss=fetch\nl2.miss_queue=2", "l2.miss_queue: 2; l2.write_miss=fetch" },
		{ "l1d.sets=128", "l1d.index: fermi is for 32 or 64 sets, l1d.sets is 128" },
		{ "l2.index=ipoly", "l2.index: no 'ipoly'; there are: linear, fermi" },
		{ "icnt.buffer=3", "icnt.buffer: 3 flits, a line is 4" },
		{ "icnt.injection=3", "icnt.injection: 3 flits, a line is 4" },
		{ "icnt.flit=8", "icnt.injection: 9 flits, a line is 17" },
		{ "l2.slices=9", "l2.slices: 9 is not 1, 2, 4, .. times the 6 channels" },
		{ "l2.slices=18", "l2.slices: 18 is not 1, 2, 4, .. times the 6 channels" },
		{ "dram.channels=8", "l2.slices: 12 is not 1, 2, 4, .. times the 8 channels" },
		{ "dram.interleave=64", "dram.interleave: 64 bytes, less than a line of L2" },
		{ "dram.burst=2", "dram.burst: a column command moves 16 bytes" },
		{ "dram.data_ratio=16", "dram.burst: 8 transfers, less than" },
		{ "paging.decide=soon", "paging.decide: 'soon' is not 'measured' nor a number of ns "
		  "from 0 to 1000000000" },
		{ "paging.decide=1000000001", "paging.decide: '1000000001' is not 'measured' nor a "
		  "number of ns from 0 to 1000000000" },
		{ "dram.groups=32", "dram.groups: 32 of 16 banks" },
		{ "dram.ccdl=1", "dram.ccdl: 1, less than dram.ccd, 2" },
		{ "dram.rcd=4", "dram.rcd: 4, not above dram.wl, 4" },
		{ "dram.wl=15\ndram.rcd=20", "dram.wl: 15, longer than a read takes" },
		{ "dram.rc=20", "dram.rc: 20, less than dram.ras, 28" },
		{ "dram.map=RRRXXX", "dram.map: 'RRRXXX' is not made of R" },
		{ "dram.map=BBBBCCSSSSSS", "dram.map: 'BBBBCCSSSSSS' is not made of R" },
		{ "dram.map=RRRBBBCCSSSSSS", "dram.map: 'RRRBBBCCSSSSSS' has 3 B, dram.banks needs 4" },
		{ "dram.bus=4", "dram.map: 'RRRRRRRRRRRRBBBCCCCBCCSSSSSS' has 6 S" },
		{ "dram.map=RRRBBBBSCCSSSSS", "dram.map: 'RRRBBBBSCCSSSSS' does not end in its S" },
		{ "gmmu.page=8192", "gmmu.page: 8192 bytes; there are: 4096, 65536, 2097152" },
		{ "gpu.dispatch=fixed", "gpu.dispatch: fixed needs the CTAs of each program" },
		{ "slicer.scale=half", "slicer.scale: no 'half'; there are: bandwidth, printed, off" },
		{ "slicer.fixed=4,", "slicer.fixed: '4,' is not up to 16 numbers" },
		{ "slicer.fixed=4,0", "slicer.fixed: '4,0' is not" },
		{ "slicer.fixed=1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1", "slicer.fixed: '1,1" },
		{ "gpu.sms=64", "gpu.sms: 64, but the page walker needs one of the 64 ports" },
	};

	fresh();
	assert_int_equal(spec_check(&spec, &err), 0);
	assert_string_equal(err.text, "");
	for (unsigned int i = 0; i < ARRAY_SIZE(cases); i++) {
		fresh();
		assert_int_equal(spec_from_text(&spec, cases[i].lines, &err), 0);
		assert_int_equal(spec_check(&spec, &err), -EINVAL);
		if (strncmp(err.text, cases[i].key, strlen(cases[i].key)))
			fail_msg("%s: '%s', not '%s'", cases[i].lines, err.text, cases[i].key);
	}
	fresh();
	assert_int_equal(spec_from_text(&spec, "gpu.dispatch=fixed\nslicer.fixed=4,12", &err), 0);
	assert_int_equal(spec_check(&spec, &err), 0);
	assert_int_equal(spec_fixed_ctas(&spec, 0), 4);
	assert_int_equal(spec_fixed_ctas(&spec, 1), 12);
	assert_int_equal(spec_fixed_ctas(&spec, 2), UINT_MAX);
	/* Double precision units that have all they need. */
	fresh();
	assert_int_equal(spec_from_text(&spec, "sm.units_dp=1\npipe.id_oc_dp=1\npipe.oc_ex_dp=1\n"
					"collector.dp=2\ncollector.dp_in=1\ncollector.dp_out=1",
					&err), 0);
	assert_int_equal(spec_check(&spec, &err), 0);
	/* 64 SMs, where the walker needs no port. */
	fresh();
	assert_int_equal(spec_from_text(&spec, "gpu.sms=64\ngmmu.walk_latency=100", &err), 0);
	assert_int_equal(spec_check(&spec, &err), 0);
	assert_int_equal(spec_from_text(&spec, "gmmu.walk_latency=0\npaging.enabled=0", &err), 0);
	assert_int_equal(spec_check(&spec, &err), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(defaults),
		cmocka_unit_test(numbers),
		cmocka_unit_test(switches),
		cmocka_unit_test(bad_values),
		cmocka_unit_test(round_trip),
		cmocka_unit_test(lines),
		cmocka_unit_test_setup_teardown(file_values, make_folder, remove_folder),
		cmocka_unit_test_setup_teardown(file_include, make_folder, remove_folder),
		cmocka_unit_test_setup_teardown(file_errors, make_folder, remove_folder),
		cmocka_unit_test(shipped_gtx480),
		cmocka_unit_test(shipped_files),
		cmocka_unit_test(combinations),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
