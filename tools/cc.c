// SPDX-License-Identifier: GPL-2.0
/*
 * gpuemu cc: CUDA C++ to an ordinary executable with stock clang and no toolkit. Each .cu file
 * goes through clang twice: the device's half becomes PTX, which is put into a fatbin, and the
 * host's half becomes an object that carries the fatbin. All else on the command line is clang's,
 * as it is.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/base.h"
#include "cc_assembly.h"
#include "cc_ptx.h"
#include "cc_source.h"
#include "cli.h"
#include "file.h"
#include "install.h"

#define WORDS_MAX	512
/* What a program of --default-stream per-thread is compiled with; the program may say it itself. */
#define PER_THREAD	"CUDA_API_PER_THREAD_DEFAULT_STREAM"

/* A command line for clang. */
struct words {
	const char *word[WORDS_MAX + 1];
	unsigned int n;
};

struct request {
	struct words flags;		/* of both halves, and of the link */
	struct words link;		/* only of the link: objects, libraries */
	struct words sources;		/* .cu */
	const char *clang, *output, *arch;
	char arch_option[64];
	char dir[PATH_MAX];		/* files that live until the link */
	char unit[64];			/* -cuid=: the same for both halves of one source */
	bool compile_only;		/* -c */
	bool rdc;			/* -rdc=true, -dc: device code of several files is linked */
	bool to_ptx;			/* --ptx: make only the device's half */
	bool optimized;			/* an -O was given */
	bool debug;			/* a -g */
	bool per_thread;		/* --default-stream per-thread */
	bool verbose;
};

static void add(struct words *w, const char *word)
{
	if (w->n < WORDS_MAX)
		w->word[w->n++] = word;
}

static void add_all(struct words *w, const struct words *more)
{
	for (unsigned int i = 0; i < more->n; i++)
		add(w, more->word[i]);
}

/* --- the command line: clang's and nvcc's, as far as programs' makefiles use it --------------- */

static bool ends_in(const char *name, const char *end)
{
	size_t n = strlen(name), m = strlen(end);

	return n > m && !strcmp(name + n - m, end);
}

/* nvcc's options about how nvcc works, which do not change the program: one word, or two. */
static bool of_nvcc(const char *word, bool *two)
{
	static const struct {
		const char *option;
		bool two;
	} rows[] = {
		{ "-gencode", true }, { "--generate-code", true }, { "-code", true },
		{ "-maxrregcount", true }, { "-cudart", true }, { "--cudart", true },
		{ "-ccbin", true }, { "-Xptxas", true }, { "--ptxas-options", true },
		{ "-lineinfo", false }, { "--generate-line-info", false }, { "--use_fast_math", false },
		{ "-use_fast_math", false }, { "-G", false }, { "--device-debug", false },
		{ "--extended-lambda", false }, { "-extended-lambda", false },
		{ "--expt-extended-lambda", false }, { "-expt-extended-lambda", false },
		{ "--expt-relaxed-constexpr", false }, { "-expt-relaxed-constexpr", false },
		{ "-dlink", false }, { "--device-link", false }, { "-m64", false }, { "--machine", true },
		{ "-ftz", true }, { "--ftz", true }, { "-prec-div", true }, { "--prec-div", true },
		{ "-prec-sqrt", true }, { "--prec-sqrt", true }, { "-dopt", true }, { "--dopt", true },
		{ "-restrict", false }, { "--restrict", false }, { "-keep", false }, { "--keep", false },
		{ "-keep-dir", true }, { "--keep-dir", true }, { "-src-in-ptx", false },
		{ "--source-in-ptx", false }, { "-res-usage", false }, { "--resource-usage", false },
		{ "-t", true }, { "-threads", true }, { "--threads", true }, { "--maxrregcount", true },
		{ "-Xfatbin", true }, { "--fatbin-options", true }, { "-Xnvlink", true },
		{ "--nvlink-options", true }, { "--gpu-code", true }, { "-cudadevrt", true },
		{ "--cudadevrt", true }, { "-diag-suppress", true }, { "--diag-suppress", true },
		{ "-Xcudafe", true }, { "--cudafe-options", true }, { "--display-error-number", false },
		{ "-Wno-deprecated-gpu-targets", false }, { "-allow-unsupported-compiler", false },
		{ "--allow-unsupported-compiler", false }, { "-forward-unknown-to-host-compiler", false },
		{ "--forward-unknown-to-host-compiler", false }, { "-extra-device-vectorization", false },
		{ "--extra-device-vectorization", false }, { "-split-compile", true },
		{ "--split-compile", true }, { "--compiler-bindir", true }, { "-lcudart", false }, { "-lcudart_static", false },
		{ "-lcudadevrt", false }, { "-lcuda", false },
	};
	size_t n;

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		n = strlen(rows[i].option);
		if (!strncmp(word, rows[i].option, n) && (!word[n] || word[n] == '=')) {
			*two = rows[i].two && !word[n];
			return true;
		}
	}
	return false;
}

/* The value of --default-stream, with one dash or two; NULL: another option. */
static const char *default_stream(const char *word, const char *next, bool *two)
{
	const char *rest = word + (word[0] == '-' && word[1] == '-');

	if (strncmp(rest, "-default-stream", 15))
		return NULL;
	*two = !rest[15];
	return rest[15] == '=' ? rest + 16 : *two ? next : NULL;
}

/* nvcc's long names of what clang has too, as clang calls them. NULL: clang's. */
static const char *short_name(const char *word)
{
	static const char *const rows[][2] = {
		{ "--compile", "-c" }, { "--device-c", "-dc" }, { "--debug", "-g" }, { "--output-file", "-o" },
		{ "--include-path", "-I" }, { "--define-macro", "-D" }, { "--undefine-macro", "-U" },
		{ "--library", "-l" }, { "--library-path", "-L" }, { "--pre-include", "-include" },
		{ "--system-include", "-isystem" }, { "--compiler-options", "-Xcompiler" },
		{ "--linker-options", "-Xlinker" }, { "--disable-warnings", "-w" },
		{ "-disable-warnings", "-w" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		if (!strcmp(word, rows[i][0]))
			return rows[i][1];
	return NULL;
}

/*
 * -fmad=false, -fmad false, with two dashes: the next word is its value when *two. Without it clang
 * makes a * b + c one instruction, as nvcc does.
 */
static const char *contraction(const char *word, const char *next, bool *two)
{
	const char *value;

	word += *word == '-' && word[1] == '-';
	if (strncmp(word, "-fmad", 5) || (word[5] && word[5] != '='))
		return NULL;
	*two = !word[5] && next;
	value = word[5] ? word + 6 : next;
	return value && !strcmp(value, "false") ? "-ffp-contract=off" : "-ffp-contract=fast";
}

/* "-arch" and "-arch=sm_70" are both the option -arch; "-archive" is not. */
static bool is_option(const char *word, const char *option)
{
	size_t n = strlen(option);

	return !strncmp(word, option, n) && (!word[n] || word[n] == '=');
}

/* sm_70, compute_70, sm_90a: clang says which of them it has. */
static bool arch_of(const char *text)
{
	size_t n = !strncmp(text, "sm_", 3) ? 3 : !strncmp(text, "compute_", 8) ? 8 : 0;
	size_t digits = n ? strspn(text + n, "0123456789") : 0;

	if (!digits)
		return false;
	text += n + digits;
	text += *text >= 'a' && *text <= 'z';
	return !*text;
}

/* The word's value is the next word. */
static bool takes_value(const char *word)
{
	static const char *const rows[] = {
		"-I", "-D", "-U", "-L", "-l", "-include", "-isystem", "-idirafter", "-iquote", "-x", "-std",
		"-MF", "-MT", "-MQ", "-Xclang", "-Xlinker", "-Xcompiler", "-T", "-u", "-framework", "-mllvm",
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		if (!strcmp(word, rows[i]))
			return true;
	return false;
}

static int parse_word(struct request *r, const struct verb *verb, int argc, char **argv, int *i)
{
	const char *word = argv[*i], *next = *i + 1 < argc ? argv[*i + 1] : NULL;
	const char *contract, *stream, *value;
	bool two = false;

	if (short_name(word))
		word = short_name(word);
	if (!strcmp(word, "-c") || !strcmp(word, "-dc") || !strcmp(word, "--ptx") || !strcmp(word, "-ptx")) {
		r->compile_only = true;
		r->rdc |= !strcmp(word, "-dc");
		r->to_ptx = word[1] != 'c' && word[1] != 'd';
	} else if (!strncmp(word, "-o", 2) && strcmp(word, "-openmp")) {
		r->output = word[2] ? word + 2 : next;
		*i += !word[2];
		if (!r->output)
			return cli_misused(verb, "-o needs a value");
	} else if (is_option(word, "-arch") || is_option(word, "--gpu-architecture")) {
		two = !strchr(word, '=');
		value = two ? next : strchr(word, '=') + 1;
		if (!value)
			return cli_misused(verb, "%s needs a value, as sm_70", word);
		if (arch_of(value))
			r->arch = value;
		else if (strcmp(value, "native") && strcmp(value, "all") && strcmp(value, "all-major"))
			return cli_misused(verb, "%s: %s is no architecture, as sm_70 or compute_70", word,
					   value);
		*i += two;
	} else if (!strncmp(word, "--clang=", 8)) {
		r->clang = word + 8;
	} else if (!strcmp(word, "-v") || !strcmp(word, "--verbose")) {
		r->verbose = true;
	} else if (!strcmp(word, "-rdc=true") || !strcmp(word, "--relocatable-device-code=true") ||
		   !strcmp(word, "-fgpu-rdc")) {
		r->rdc = true;
	} else if (!strncmp(word, "-rdc", 4) || !strncmp(word, "--relocatable-device-code", 25)) {
		;
	} else if ((stream = default_stream(word, next, &two))) {
		r->per_thread = !strcmp(stream, "per-thread");
		if (!r->per_thread && strcmp(stream, "legacy") && strcmp(stream, "null"))
			return cli_misused(verb, "--default-stream: %s is none of legacy, null, per-thread",
					   stream);
		*i += two;
	} else if (!strncmp(word, "-D" PER_THREAD, strlen("-D" PER_THREAD))) {
		r->per_thread = true;
	} else if (of_nvcc(word, &two)) {
		*i += two;
	} else if ((contract = contraction(word, next, &two))) {
		add(&r->flags, contract);
		*i += two;
	} else if (!strncmp(word, "-Xcompiler=", 11) || !strncmp(word, "--compiler-options=", 19)) {
		for (char *rest = strdup(strchr(word, '=') + 1), *part;
		     rest && (part = strsep(&rest, ","));)
			add(&r->flags, part);
	} else if (!strcmp(word, "-x") && next && !strcmp(next, "cu")) {
		++*i;
	} else if (!strcmp(word, "-Xcompiler") && next) {
		/* nvcc separates several values by commas. */
		for (char *rest = strdup(next), *part; rest && (part = strsep(&rest, ","));)
			add(&r->flags, part);
		++*i;
	} else if (takes_value(word) && next) {
		r->per_thread |= !strcmp(word, "-D") && !strncmp(next, PER_THREAD, strlen(PER_THREAD));
		add(!strcmp(word, "-L") || !strcmp(word, "-l") || !strcmp(word,
									  "-Xlinker") ? &r->link :
		    &r->flags, word);
		add(!strcmp(word, "-L") || !strcmp(word, "-l") || !strcmp(word,
									  "-Xlinker") ? &r->link :
		    &r->flags, next);
		++*i;
	} else if (*word != '-' && ends_in(word, ".cu")) {
		add(&r->sources, word);
	} else if (*word != '-' && ends_in(word, ".c")) {
		/* nvcc gives this option to the C compiler. */
		add(&r->link, "-xc");
		add(&r->link, word);
		add(&r->link, "-xnone");
	} else if (*word != '-' || !strncmp(word, "-l", 2) || !strncmp(word, "-L", 2) ||
		   !strncmp(word, "-Wl,", 4)) {
		add(&r->link, word);
	} else {
		r->optimized |= !strncmp(word, "-O", 2);
		if (!strncmp(word, "-g", 2))
			r->debug = strcmp(word, "-g0") != 0;
		add(&r->flags, word);
	}
	return 0;
}

/*
 * --- running clang -----------------------------------------------------------------------------
 */

/* What clang says goes to the file, if there is one. */
static int run_clang(const struct request *r, const struct verb *verb, struct words *w,
		     const char *said)
{
	int status, fd;
	pid_t pid;

	w->word[w->n] = NULL;
	if (w->n == WORDS_MAX)
		return cli_failed(verb, "more than %d words for clang", WORDS_MAX);
	if (r->verbose) {
		for (unsigned int i = 0; i < w->n; i++)
			fprintf(stderr, "%s%s", i ? " " : "", w->word[i]);
		fputc('\n', stderr);
	}
	pid = fork();
	if (!pid) {
		prctl(PR_SET_PDEATHSIG, SIGTERM);
		fd = said ? open(said, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600) : -1;
		if (fd >= 0)
			dup2(fd, STDERR_FILENO);
		execvp(w->word[0], (char *const *)w->word);
		fprintf(stderr, "gpuemu cc: %s: %s\n", w->word[0], strerror(errno));
		_exit(127);
	}
	if (pid < 0 || waitpid(pid, &status, 0) != pid)
		return cli_failed(verb, "%s cannot be run: %s", w->word[0], strerror(errno));
	/* clang has said what is wrong. */
	return WIFEXITED(status) && !WEXITSTATUS(status) ? CLI_DONE : CLI_FAILED;
}

static bool in_path(const char *name)
{
	const char *path = getenv("PATH");
	char file[PATH_MAX];

	while (path && *path) {
		size_t n = strcspn(path, ":");

		snprintf(file, sizeof(file), "%.*s/%s", (int)n, path, name);
		if (!access(file, X_OK))
			return true;
		path += n + (path[n] == ':');
	}
	return false;
}

/*
 * The newest clang that gpuemu cc was tried with. Older ones make mistakes that docs/cuda.md
 * lists.
 */
static const char *choose_clang(void)
{
	static const char *const names[] = { "clang++-16", "clang++-14", "clang++" };
	const char *given = getenv("GPUEMU_CLANG");

	if (given && *given)
		return given;
	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		if (in_path(names[i]))
			return names[i];
	return NULL;
}

/* The arguments that both halves share. */
static void begin(const struct request *r, struct words *w, const char *include,
		  const char *overlay)
{
	static const char *const always[] = {
		"-x", "cuda", "-nocudainc", "-nocudalib", "--cuda-path=/nonexistent",
		/* Without it clang-14 emits the launches of CUDA 8. */
		"-Xclang", "-target-sdk-version=11.5", "-Wno-unknown-cuda-version",
		/*
		 * gcc, and so nvcc, only warns of these: "..."NAME, which is a literal and a
		 * macro, and an int in the braces of a char.
		 */
		"-Wno-error=reserved-user-defined-literal", "-Wno-error=c++11-narrowing",
		"-D__CUDACC__=1",
		"-D__NVCC_GPUEMU__=1", "-include", "cuda_runtime.h", "-isystem",
	};

	add(w, r->clang);
	for (size_t i = 0; i < ARRAY_SIZE(always); i++)
		add(w, always[i]);
	add(w, include);
	if (r->per_thread)
		add(w, "-D" PER_THREAD "=1");
	if (*overlay) {
		add(w, "-ivfsoverlay");
		add(w, overlay);
	}
	if (r->rdc) {
		add(w, "-fgpu-rdc");
		add(w, "-fuse-cuid=none");
		/* clang applies this option to the device's half alone. */
		add(w, "-Xclang");
		add(w, r->unit);
	}
	add_all(w, &r->flags);
}

/*
 * --- one source --------------------------------------------------------------------------------
 */

static int mend_ptx(const char *file, struct err *err)
{
	char *text, *mended;
	size_t bytes;
	int ret = file_read(file, &text, &bytes, err);

	if (ret)
		return ret;
	mended = cc_mended_ptx(text);
	free(text);
	if (!mended)
		return err_set(err, -ENOMEM, "no memory for %s", file);
	ret = file_write(file, mended, strlen(mended), err);
	free(mended);
	return ret;
}

/* A fatbin of one PTX text, as cuda/cudart/fatbin.c reads them. */
static int write_fatbin(const char *ptx, const char *file, unsigned int arch, struct err *err)
{
	struct {
		uint32_t magic;
		uint16_t version, head_bytes;
		uint64_t bytes;
		uint16_t kind, entry_version;
		uint32_t entry_bytes;
		uint64_t payload_bytes;
		uint32_t compressed_bytes, unknown;
		uint16_t minor, major;
		uint32_t arch, name_at, name_bytes;
		uint64_t flags, zero, text_bytes;
	} head = {
		.magic = 0xba55ed50, .version = 1, .head_bytes = 16,
		.kind = 1, .entry_version = 0x101,
		.entry_bytes = 64, .unknown = 64, .minor = 4, .major = 7, .arch = arch,
	};
	size_t bytes, whole;
	char *text, *out;
	int ret;

	_Static_assert(sizeof(head) == 16 + 64, "a fatbin's head and an entry's");
	ret = file_read(ptx, &text, &bytes, err);
	if (ret)
		return ret;
	whole = (bytes + 1 + 7) & ~(size_t)7;
	head.payload_bytes = whole;
	head.bytes = 64 + whole;
	out = calloc(1, sizeof(head) + whole);
	if (!out) {
		free(text);
		return err_set(err, -ENOMEM, "no memory for %s", file);
	}
	memcpy(out, &head, sizeof(head));
	memcpy(out + sizeof(head), text, bytes);
	ret = file_write(file, out, sizeof(head) + whole, err);
	free(out);
	free(text);
	return ret;
}

static uint64_t mix(uint64_t hash, const char *word)
{
	do
		hash = (hash ^ (unsigned char)*word) * 0x100000001b3ull;
	while (*word++);
	return hash;
}

/*
 * With -fgpu-rdc clang appends a number to the names of static kernels and variables. The
 * number depends on the options, which differ between the halves.
 */
static void name_unit(struct request *r, const char *source)
{
	char whole[PATH_MAX];
	uint64_t hash = mix(0xcbf29ce484222325ull, realpath(source, whole) ? whole : source);

	for (unsigned int i = 0; i < r->flags.n; i++)
		hash = mix(hash, r->flags.word[i]);
	snprintf(r->unit, sizeof(r->unit), "-cuid=%016llx", (unsigned long long)hash);
}

/*
 * If clang must not see the source as it is, this makes a mended text and a table that gives
 * it the source's name (-ivfsoverlay). *overlay is empty if clang may see the source.
 */
static int mend_source(const struct request *r, unsigned int n, char *overlay, size_t limit,
		       struct err *err)
{
	char mended[PATH_MAX + 32], whole[PATH_MAX], *text, *table = NULL;
	size_t bytes;
	int ret;

	*overlay = '\0';
	/* clang says what is wrong with a file that cannot be read. */
	if (!realpath(r->sources.word[n], whole) || strpbrk(whole, "\"\\") ||
	    file_read(whole, &text, &bytes, err))
		return 0;
	if (strlen(text) != bytes || !cc_join_launches(text)) {
		free(text);
		return 0;
	}
	snprintf(mended, sizeof(mended), "%s/%u.cu", r->dir, n);
	ret = file_write(mended, text, bytes, err);
	free(text);
	if (!ret && asprintf(&table, "{ \"version\": 0, \"use-external-names\": false, \"roots\": [ "
			     "{ \"type\": \"file\", \"name\": \"%s\", \"external-contents\": \"%s\" } ] }\n",
			     whole, mended) < 0)
		ret = err_set(err, -ENOMEM, "no memory for %s", mended);
	snprintf(overlay, limit, "%s/%u.yaml", r->dir, n);
	if (!ret)
		ret = file_write(overlay, table, strlen(table), err);
	free(table);
	return ret;
}

/*
 * clang has no division of __int128 for a device, and ends with an internal error that names the
 * function which it looked for. The headers have these functions for those who need them.
 */
static int run_device(const struct request *r, const struct verb *verb, unsigned int n,
		      struct words *device)
{
	char said[PATH_MAX + 32], *text = NULL;
	const char *missing;
	struct err err;
	size_t bytes;
	int result;

	snprintf(said, sizeof(said), "%s/%u.said", r->dir, n);
	/* Else it leaves a copy of the source behind in /tmp when it ends so. */
	add(device, "-fno-crash-diagnostics");
	/* It does not see the terminal. */
	if (isatty(STDERR_FILENO))
		add(device, "-fcolor-diagnostics");
	result = run_clang(r, verb, device, said);
	if (file_read(said, &text, &bytes, &err))
		return result;
	missing = strstr(text, "Undefined external symbol \"__");
	if (!result || !missing) {
		fwrite(text, 1, bytes, stderr);
		free(text);
		return result;
	}
	add(device, "-DGPUEMU_INT128");
	result = run_clang(r, verb, device, said);
	free(text);
	if (file_read(said, &text, &bytes, &err))
		return result;
	missing = strstr(text, "Undefined external symbol \"");
	if (result && missing)
		fprintf(stderr, "gpuemu cc: %s: device code uses an operation of __int128 or long double "
			"that clang lacks (%.*s): write it with numbers of 64 bits\n",
			r->sources.word[n], (int)strcspn(missing + 27, "\""), missing + 27);
	else
		fwrite(text, 1, bytes, stderr);
	free(text);
	return result;
}

static int compile(struct request *r, const struct verb *verb, unsigned int n, const char *include,
		   const char *object)
{
	static char option[64];
	char ptx[PATH_MAX + 32], fatbin[PATH_MAX + 32], assembly[PATH_MAX + 32];
	char overlay[PATH_MAX + 32];
	struct words device = { 0 }, host = { 0 }, as = { 0 };
	struct err err;
	int result;

	snprintf(ptx, sizeof(ptx), "%s/%u.ptx", r->dir, n);
	snprintf(fatbin, sizeof(fatbin), "%s/%u.fatbin", r->dir, n);
	snprintf(assembly, sizeof(assembly), "%s/%u.s", r->dir, n);
	snprintf(option, sizeof(option), "--cuda-gpu-arch=%s", r->arch);
	name_unit(r, r->sources.word[n]);
	if (mend_source(r, n, overlay, sizeof(overlay), &err))
		return cli_failed(verb, "%s", err.text);
	begin(r, &device, include, overlay);
	add(&device, "--cuda-device-only");
	add(&device, option);
	/* nvcc optimizes the device's half even where the host half is not optimized. */
	if (!r->optimized)
		add(&device, "-O2");
	/* This PTX has the warp functions of sm_70. */
	add(&device, "-Xclang");
	add(&device, "-target-feature");
	add(&device, "-Xclang");
	add(&device, "+ptx70");
	add(&device, "-S");
	add(&device, "-o");
	add(&device, r->to_ptx ? object : ptx);
	add(&device, r->sources.word[n]);
	result = run_device(r, verb, n, &device);
	if (result)
		return result;
	if (mend_ptx(r->to_ptx ? object : ptx, &err))
		return cli_failed(verb, "%s", err.text);
	if (r->to_ptx)
		return CLI_DONE;
	if (write_fatbin(ptx, fatbin, (unsigned int)atoi(r->arch + 3), &err))
		return cli_failed(verb, "%s", err.text);
	begin(r, &host, include, overlay);
	add(&host, "--cuda-host-only");
	add(&host, option);
	add(&host, "-Xclang");
	add(&host, "-fcuda-include-gpubinary");
	add(&host, "-Xclang");
	add(&host, fatbin);
	/* clang's assembler warns of the sums of files that its compiler writes with DWARF 5. */
	if (r->debug)
		add(&host, "-gdwarf-4");
	add(&host, "-S");
	add(&host, "-o");
	add(&host, assembly);
	add(&host, r->sources.word[n]);
	result = run_clang(r, verb, &host, NULL);
	if (result)
		return result;
	if (cc_mend_assembly(assembly, r->per_thread, &err))
		return cli_failed(verb, "%s", err.text);
	add(&as, r->clang);
	add(&as, "-c");
	add(&as, "-o");
	add(&as, object);
	add(&as, assembly);
	return run_clang(r, verb, &as, NULL);
}

/* "dir/bfs.cu" to "bfs.o": the name that compilers give the object of -c. */
static char *object_name(const char *source, const char *end)
{
	const char *name = strrchr(source, '/');
	char *object;

	name = name ? name + 1 : source;
	return asprintf(&object, "%.*s%s", (int)strlen(name) - 3, name, end) < 0 ? NULL : object;
}

static int compile_all(struct request *r, const struct verb *verb, const char *include,
		       struct words *objects)
{
	int result = CLI_DONE;

	if (r->compile_only && r->output && r->sources.n > 1)
		return cli_misused(verb, "-o with -c or --ptx takes one source, here are %u",
				   r->sources.n);
	for (unsigned int i = 0; i < r->sources.n && !result; i++) {
		char *object = NULL;

		if (!r->compile_only) {
			if (asprintf(&object, "%s/%u.o", r->dir, i) < 0)
				object = NULL;
		} else {
			object = r->output ? strdup(r->output) :
				 object_name(r->sources.word[i], r->to_ptx ? ".ptx" : ".o");
		}
		if (!object)
			return cli_failed(verb, "no memory");
		result = compile(r, verb, i, include, object);
		add(objects, object);
	}
	return result;
}

/*
 * Sources that are not .cu see the headers too. C is compiled as gcc does it, which nvcc
 * calls: an undeclared function is a warning.
 */
static void add_host_words(struct words *w, const char *include)
{
	static const char *const always[] = {
		"-Wno-error=implicit-function-declaration", "-Wno-error=implicit-int",
		"-Wno-error=int-conversion", "-Wno-error=reserved-user-defined-literal",
		"-Wno-error=c++11-narrowing", "-Wno-unused-command-line-argument", "-isystem",
	};

	for (size_t i = 0; i < ARRAY_SIZE(always); i++)
		add(w, always[i]);
	add(w, include);
}

static int link_all(const struct request *r, const struct verb *verb, const char *include,
		    const char *libdir, const struct words *objects)
{
	char search[PATH_MAX + 2], rpath[PATH_MAX + 16];
	struct words w = { 0 };

	snprintf(search, sizeof(search), "-L%s", libdir);
	snprintf(rpath, sizeof(rpath), "-Wl,-rpath,%s", libdir);
	add(&w, r->clang);
	add_all(&w, &r->flags);
	add_host_words(&w, include);
	if (r->compile_only) {
		add(&w, "-c");
		if (r->output) {
			add(&w, "-o");
			add(&w, r->output);
		}
		add_all(&w, &r->link);
		return run_clang(r, verb, &w, NULL);
	}
	add(&w, "-o");
	add(&w, r->output ? r->output : "a.out");
	add_all(&w, objects);
	add_all(&w, &r->link);
	add(&w, search);
	add(&w, rpath);
	add(&w, "-lcudart");
	return run_clang(r, verb, &w, NULL);
}

static void remove_all(const struct request *r)
{
	static const char *const ends[] = { "ptx", "fatbin", "s", "o", "cu", "yaml", "said" };
	char file[PATH_MAX + 32];

	for (unsigned int i = 0; i < r->sources.n; i++) {
		for (size_t j = 0; j < ARRAY_SIZE(ends); j++) {
			snprintf(file, sizeof(file), "%s/%u.%s", r->dir, i, ends[j]);
			unlink(file);
		}
	}
	rmdir(r->dir);
}

/* clang, which runs for each half, would say it in two sentences. */
static int look_for_sources(const struct request *r, const struct verb *verb)
{
	for (unsigned int i = 0; i < r->sources.n; i++)
		if (access(r->sources.word[i], R_OK))
			return cli_failed(verb, "%s: %s", r->sources.word[i], strerror(errno));
	return CLI_DONE;
}

static int build(struct request *r, const struct verb *verb)
{
	const char *tmp = getenv("TMPDIR");
	char *include = NULL, *libdir = NULL;
	struct words objects = { 0 };
	struct err err;
	int result;

	if (install_find_headers(&include, &err) || install_find_cudart(&libdir, &err)) {
		free(include);
		return cli_failed(verb, "%s", err.text);
	}
	snprintf(r->dir, sizeof(r->dir), "%s/gpuemu-cc-XXXXXX", tmp && *tmp ? tmp : "/tmp");
	if (!mkdtemp(r->dir)) {
		result = cli_failed(verb, "%s: %s", r->dir, strerror(errno));
	} else {
		result = compile_all(r, verb, include, &objects);
		/* -c of a file that is not .cu: makefiles with one compiler do this. */
		if (!result && (!r->compile_only || (!r->sources.n && !r->to_ptx)))
			result = link_all(r, verb, include, libdir, &objects);
		remove_all(r);
	}
	for (unsigned int i = 0; i < objects.n; i++)
		free((char *)objects.word[i]);
	free(include);
	free(libdir);
	return result;
}

static int cc(const struct verb *verb, int argc, char **argv)
{
	struct request *r = calloc(1, sizeof(*r));
	struct cli_parser p;
	int result = CLI_DONE;

	if (!r)
		return cli_failed(verb, "no memory");
	r->arch = "sm_70";
	for (int i = 1; i < argc && !result; i++) {
		/*
		 * The rest of the command line is for the compiler, and getopt does not know
		 * it.
		 */
		if (!strcmp(argv[i], "--help") || !strcmp(argv[i], "-h")) {
			cli_parse(&p, verb, 2, (char *[]){ argv[0], (char *)"--help", NULL });
			cli_next(&p);
			free(r);
			return CLI_DONE;
		}
		result = parse_word(r, verb, argc, argv, &i);
	}
	if (!result && !strncmp(r->arch, "compute_", 8)) {
		snprintf(r->arch_option, sizeof(r->arch_option), "sm_%s", r->arch + 8);
		r->arch = r->arch_option;
	}
	if (!result && !r->sources.n && !r->link.n)
		result = cli_misused(verb, "no source, as in: gpuemu cc vecadd.cu -o vecadd");
	if (!result && !r->clang)
		r->clang = choose_clang();
	if (!result && !r->clang)
		result = cli_failed(verb, "there is no clang (Debian: apt-get install clang-16)");
	if (!result)
		result = look_for_sources(r, verb);
	if (!result)
		result = build(r, verb);
	free(r);
	return result;
}

static void more(FILE *out)
{
	fprintf(out, "\nAll other words are clang's (-I, -D, -O, -std, -l, ..); nvcc's -gencode and its like\n"
		"are taken and mean nothing.\n"
		"\nexample: gpuemu cc -O3 bfs.cu -o bfs && gpuemu exec ./bfs graph.txt\n");
}

static const struct cli_option options[] = {
	{ "ptx", NULL, "stop at the PTX of the device's half", CLI_OWN },
	{ "clang", "[FILE]", "the compiler, else $GPUEMU_CLANG, else clang++-16 or -14", CLI_OWN + 1 },
	{ "verbose", NULL, "print clang's command lines", CLI_OWN + 2 },
	{ NULL }
};

const struct verb verb_cc = {
	.name = "cc",
	.usage = "FILE.cu... [-o FILE] [-c] [-arch=sm_NN] [CLANG'S OPTIONS]",
	.help = "compile a CUDA program with clang, without a CUDA toolkit",
	.options = options,
	.more = more,
	.run = cc,
};
