// SPDX-License-Identifier: GPL-2.0
/*
 * gpuemu exec: runs a CUDA program with gpuemu's libcudart in the place of CUDA's. Options
 * go to the library through the environment; the GPU's reports come back through a file in memory,
 * a line for each process that used one. Exit status, stdin and stdout are the
 * program's.
 */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli.h"
#include "install.h"
#include "output.h"
#include "report.h"
#include "target.h"
#include "trace.h"
#include "trouble.h"

enum { OPT_JSON = CLI_OWN, OPT_TRACE, OPT_QUIET, OPT_DETAILS };

struct request {
	struct target target;
	const char *json, *trace;
	bool quiet, details;
	char **program;
};

/* gpuemu's options end at the program's name: the program's own follow it. */
static int parse(struct request *r, const struct verb *verb, int argc, char **argv)
{
	struct cli_parser p;
	struct err err = { "" };
	int c, words = 1;

	target_init(&r->target);
	while (words < argc && argv[words][0] == '-') {
		const char *name = argv[words++];
		bool value = false;

		if (!strcmp(name, "--"))
			break;
		for (const struct cli_option *o = verb->options; o->name; o++)
			value |= o->arg && *o->arg != '[' && !strcmp(name + 2, o->name);
		for (const struct cli_option *o = verb->shared; o->name; o++)
			value |= o->arg && *o->arg != '[' && !strcmp(name + 2, o->name);
		words += value;
	}
	cli_parse(&p, verb, words < argc ? words : argc, argv);
	while ((c = cli_next(&p)) != -1) {
		if (c == 0)
			return -1;
		if (c == -2)
			return CLI_MISUSED;
		if (c == OPT_JSON)
			r->json = optarg;
		else if (c == OPT_TRACE)
			r->trace = optarg;
		else if (c == OPT_QUIET)
			r->quiet = true;
		else if (c == OPT_DETAILS)
			r->details = true;
		else if (target_option(&r->target, c, optarg, &err))
			return cli_misused(verb, "%s", err.text);
	}
	if (output_apart((struct output_option[]){ { "--json", r->json }, { "--trace", r->trace },
			 { "--record", r->target.record } }, 3, &err))
		return cli_misused(verb, "%s", err.text);
	if (words >= argc)
		return cli_misused(verb, "no program, as in: gpuemu exec ./vecadd");
	r->program = argv + words;
	if (target_check(&r->target, &err) || (r->trace && trace_ask(&r->target, &err)))
		return cli_misused(verb, "%s", err.text);
	return 0;
}

/* Exit statuses of a program that cannot be run, as a shell gives them. */
#define NOT_RUN		126
#define NOT_FOUND	127

/* --- the program ------------------------------------------------------------------------------ */

static void put(const char *name, const char *value)
{
	if (value)
		setenv(name, value, 1);
}

/* In the child. */
static void start(const struct request *r, const char *libdir, int fd)
{
	const char *path = getenv("LD_LIBRARY_PATH");
	char number[16], *search;
	int error;

	snprintf(number, sizeof(number), "%d", fd);
	put("GPUEMU_REPORT_FD", number);
	put("GPUEMU_BACKEND", r->target.backend);
	put("GPUEMU_CONFIG", r->target.config);
	put("GPUEMU_SETTINGS", r->target.lines);
	put("GPUEMU_DEVICE", r->target.device);
	put("GPUEMU_RECORD", r->target.record);
	put("GPUEMU_RECORDED", r->target.recorded);
	if (asprintf(&search, "%s%s%s", libdir, path && *path ? ":" : "", path ? path : "") < 0)
		_exit(NOT_RUN);
	put("LD_LIBRARY_PATH", search);
	/*
	 * The program's variables, heap and stack get the same addresses in every run, so
	 * that kernels that use them meet the same sets of the caches.
	 */
	personality((unsigned long)personality(0xffffffff) | ADDR_NO_RANDOMIZE);
	execvp(r->program[0], r->program);
	error = errno;
	fprintf(stderr, "gpuemu exec: %s: %s\n", r->program[0], strerror(error));
	_exit(error == ENOENT ? NOT_FOUND : NOT_RUN);
}

static volatile sig_atomic_t program;	/* that runs */

static void send_on(int sig)
{
	kill((pid_t)program, sig);
}

/* The status that a shell returns: the program's, or 128 and the signal. */
static int wait_for(pid_t pid)
{
	int status;

	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			return CLI_FAILED;
	return WIFSIGNALED(status) ? CLI_STOPPED + WTERMSIG(status) : WEXITSTATUS(status);
}

/* --- the report ----------------------------------------------------------------------- */

static struct json_object *report_one(const struct request *r, struct json_object *told,
				      double seconds, struct err *err)
{
	struct report_facts facts = {
		.target = &r->target,
		.backend = output_string(told, "backend"),
		.host_seconds = seconds,
	};
	struct json_object *about = json_object_new_object(), *value;

	json_object_object_add(about, "name",
			       json_object_new_string(output_string(told, "program")));
	json_object_object_add(about, "error",
			       json_object_new_string(output_string(told, "error")));
	if (json_object_object_get_ex(told, "copies", &value))
		json_object_object_add(about, "copies", json_object_get(value));
	if (json_object_object_get_ex(told, "statistics", &value) && value)
		facts.statistics = json_object_to_json_string_ext(value, JSON_C_TO_STRING_PLAIN);
	return report_json(&facts, "program", about, err);
}

/* Each line of the file is the report of one process. */
static int report_all(const struct request *r, const struct verb *verb, char *text, double seconds,
		      int status)
{
	struct json_object *reports = json_object_new_array();
	struct err err = { "" };
	int result = CLI_DONE;

	for (char *rest = text, *line; (line = strsep(&rest, "\n"));) {
		struct json_object *told = *line ? json_tokener_parse(line) : NULL;
		struct json_object *report = told ? report_one(r, told, seconds, &err) : NULL;

		if (*line && !report)
			result = cli_failed(verb, "%s",
					    told ? err.text : "the library's report is not JSON");
		json_object_put(told);
		if (!report)
			continue;
		if (!r->json && !r->quiet)
			(r->details ? report_text : report_short)(stderr, report);
		if (trouble_print(verb, &r->target, report))
			result = CLI_FAILED;
		json_object_array_add(reports, report);
	}
	/* The child has printed why the program could not be run. */
	if (!json_object_array_length(reports) && !r->quiet && status != NOT_FOUND &&
	    status != NOT_RUN)
		fprintf(stderr, "gpuemu exec: %s used no GPU, or did not end by exit(): there is no report\n",
			r->program[0]);
	if (r->json && json_object_array_length(reports) &&
	    output_json(json_object_array_length(reports) == 1 ?
			json_object_array_get_idx(reports, 0) : reports, r->json, &err))
		result = cli_failed(verb, "%s", err.text);
	json_object_put(reports);
	return result;
}

static char *read_all(int fd)
{
	off_t bytes = lseek(fd, 0, SEEK_END);
	char *text = bytes >= 0 ? calloc(1, (size_t)bytes + 1) : NULL;
	off_t at = 0;

	while (text && at < bytes) {
		ssize_t n = pread(fd, text + at, (size_t)(bytes - at), at);

		if (n <= 0)
			break;
		at += n;
	}
	return text;
}

static int run_program(struct request *r, const struct verb *verb)
{
	struct err err = { "" };
	char *libdir, *text;
	int fd, status, result = CLI_DONE;
	uint64_t begin;
	pid_t pid;

	if (install_find_cudart(&libdir, &err) || output_check(r->json, &err) ||
	    target_record_check(&r->target, &err))
		return cli_failed(verb, "%s", err.text);
	/* Several processes append lines; the program inherits the descriptor. */
	fd = memfd_create("gpuemu-report", 0);
	if (fd < 0)
		return cli_failed(verb, "no file for the report: %s", strerror(errno));
	begin = now_ns();
	fflush(NULL);
	/*
	 * The terminal sends its signals to the program itself; a signal sent to this
	 * process alone is passed on.
	 */
	signal(SIGINT, SIG_IGN);
	signal(SIGQUIT, SIG_IGN);
	pid = fork();
	if (pid > 0) {
		program = pid;
		signal(SIGTERM, send_on);
		signal(SIGHUP, send_on);
	}
	if (!pid) {
		prctl(PR_SET_PDEATHSIG, SIGTERM);
		signal(SIGINT, SIG_DFL);
		signal(SIGQUIT, SIG_DFL);
		start(r, libdir, fd);
	}
	free(libdir);
	if (pid < 0) {
		close(fd);
		return cli_failed(verb, "%s", strerror(errno));
	}
	status = wait_for(pid);
	text = read_all(fd);
	close(fd);
	if (text)
		result = report_all(r, verb, text, (double)(now_ns() - begin) * 1e-9, status);
	free(text);
	return status ? status : result;
}

static int exec(const struct verb *verb, int argc, char **argv)
{
	struct request *r = calloc(1, sizeof(*r));
	struct trace trace = { 0 };
	struct err err;
	int result;

	if (!r)
		return cli_failed(verb, "no memory");
	result = parse(r, verb, argc, argv);
	r->target.argc = argc;
	r->target.argv = argv;
	if (!result && r->trace) {
		if (trace_open(&trace, r->trace, &err))
			result = cli_failed(verb, "%s", err.text);
		else
			r->target.trace = &trace;
	}
	if (!result) {
		result = run_program(r, verb);
		if (trace_close(&trace, &err) && !result)
			result = cli_failed(verb, "%s", err.text);
	}
	free(r);
	return result < 0 ? CLI_DONE : result;
}

static void more(FILE *out)
{
	fprintf(out, "\nThe program is built by gpuemu cc, or by nvcc -cudart shared with PTX (-arch=sm_75).\n"
		"The report goes to stderr, or to --json's file; exit status and output are the program's.\n"
		"\nexample: gpuemu exec --vram 16M --prefetch tree ./bfs graph.txt\n");
}

static const struct cli_option options[] = {
	TARGET_LAUNCH_OPTIONS,
	{ "trace", "FILE", "write when kernels and fault batches ran, for ui.perfetto.dev", OPT_TRACE },
	{ "json", "FILE", "write the report as JSON, not as text; - is stdout, behind the program's output", OPT_JSON },
	{ "details", NULL, "print all of the report, not the short one", OPT_DETAILS },
	{ "quiet", NULL, "no report on stderr", OPT_QUIET },
	{ NULL }
};

const struct verb verb_exec = {
	.name = "exec",
	.usage = "[OPTION]... PROGRAM [ARGUMENT]...",
	.help = "run a CUDA program on the emulated GPU",
	.options = options,
	.shared = target_options,
	.more = more,
	.run = exec,
};
