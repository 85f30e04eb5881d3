// SPDX-License-Identifier: GPL-2.0
/*
 * Finds the verb and runs it; help is printed from the same tables that parse.
 * Called by main.c and the tests.
 */
#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "base/nearest.h"
#include "cli.h"
#include "gpuemu.h"

#define X(name) extern const struct verb verb_##name;
#include "verbs.def"
#undef X

static const struct verb *const verbs[] = {
#define X(name) &verb_##name,
#include "verbs.def"
#undef X
};

const struct verb *cli_verb(unsigned int n)
{
	return n < ARRAY_SIZE(verbs) ? verbs[n] : NULL;
}

static struct err *captured;

void cli_capture(struct err *err)
{
	captured = err;
}

static void complain(const struct verb *verb, const char *fmt, va_list ap)
{
	if (captured) {
		vsnprintf(captured->text, sizeof(captured->text), fmt, ap);
		return;
	}
	fflush(stdout);
	fprintf(stderr, "gpuemu%s%s: ", verb ? " " : "", verb ? verb->name : "");
	vfprintf(stderr, fmt, ap);
	fputc('\n', stderr);
}

int cli_misused(const struct verb *verb, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	complain(verb, fmt, ap);
	va_end(ap);
	return CLI_MISUSED;
}

int cli_failed(const struct verb *verb, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	complain(verb, fmt, ap);
	va_end(ap);
	return CLI_FAILED;
}

static void print_options(const struct cli_option *o)
{
	char left[64];

	for (; o && o->name; o++) {
		/* "[FILE]" is an argument that = must tie to the option. */
		if (o->arg && o->arg[0] == '[')
			snprintf(left, sizeof(left), "--%s[=%.*s]", o->name,
				 (int)strlen(o->arg) - 2, o->arg + 1);
		else
			snprintf(left, sizeof(left), "--%s%s%s", o->name,
				 o->arg ? " " : "", o->arg ? o->arg : "");
		printf("  %-24s %s\n", left, o->doc);
	}
}

static void print_help(const struct verb *verb)
{
	printf("usage: gpuemu %s %s\n%s\n\n", verb->name, verb->usage, verb->help);
	print_options(verb->options);
	print_options(verb->shared);
	printf("  %-24s %s\n", "--help", "this text");
	if (verb->more)
		verb->more(stdout);
}

static unsigned int add_rows(struct option *rows, unsigned int n,
			     const struct cli_option *o)
{
	for (; o && o->name && n < CLI_OPTIONS_MAX; o++, n++) {
		rows[n].name = o->name;
		rows[n].val = o->id;
		if (o->arg)
			rows[n].has_arg = o->arg[0] == '[' ? optional_argument :
							     required_argument;
	}
	return n;
}

void cli_parse(struct cli_parser *p, const struct verb *verb, int argc,
	       char **argv)
{
	static const struct cli_option help[] = {
		{ "help", NULL, NULL, CLI_HELP }, { NULL }
	};
	unsigned int n;

	memset(p, 0, sizeof(*p));
	p->verb = verb;
	p->argc = argc;
	p->argv = argv;
	n = add_rows(p->rows, 0, help);
	n = add_rows(p->rows, n, verb->options);
	add_rows(p->rows, n, verb->shared);
	/* glibc: 0 makes getopt start again, with the argv of another verb or test. */
	optind = 0;
	opterr = 0;
}

/*
 * An option with an optional file takes it after =. It also takes the next word where that
 * can only be the file: "--json out.json", "--json -".
 */
static void take_file(const struct cli_parser *p, int id)
{
	const char *next = optind < p->argc ? p->argv[optind] : NULL;
	const struct option *row = p->rows;
	size_t n;

	while (row->name && row->val != id)
		row++;
	if (!row->name || row->has_arg != optional_argument || optarg || !next)
		return;
	n = strlen(next);
	if (strcmp(next, "-") && (n < 6 || strcmp(next + n - 5, ".json")))
		return;
	optarg = p->argv[optind++];
}

static void refuse_option(const struct cli_parser *p, const char *text)
{
	size_t n = strcspn(text, "=");
	char *word = strndup(text + 2, n > 2 ? n - 2 : 0);
	struct nearest near;

	nearest_begin(&near, word ? word : "");
	for (const struct option *row = p->rows; row->name; row++)
		nearest_try(&near, row->name);
	if (near.name)
		cli_misused(p->verb, "unknown option %s; did you mean --%s? gpuemu %s --help lists them",
			    text, near.name, p->verb->name);
	else
		cli_misused(p->verb, "unknown option %s; gpuemu %s --help lists them", text,
			    p->verb->name);
	free(word);
}

int cli_next(struct cli_parser *p)
{
	int c = getopt_long(p->argc, p->argv, ":h", p->rows, NULL);

	switch (c) {
	case 'h':
	case CLI_HELP:
		print_help(p->verb);
		return 0;
	case ':':
		cli_misused(p->verb, "%s needs a value", p->argv[optind - 1]);
		return -2;
	case '?':
		if (optopt > 0 && optopt < 128)
			cli_misused(p->verb, "unknown option -%c; gpuemu %s --help lists them",
				    optopt, p->verb->name);
		else if (optopt)
			cli_misused(p->verb, "%s takes no value", p->argv[optind - 1]);
		else
			refuse_option(p, p->argv[optind - 1]);
		return -2;
	}
	take_file(p, c);
	return c;
}

int cli_options(const struct verb *verb, int argc, char **argv,
		int (*take)(const struct verb *verb, int option, void *arg), void *arg)
{
	struct cli_parser p;
	int c, ret = 0;

	cli_parse(&p, verb, argc, argv);
	while (!ret && (c = cli_next(&p)) != -1) {
		if (c == 0)
			return -1;
		ret = c == -2 ? CLI_MISUSED : take(verb, c, arg);
	}
	return ret;
}

static void usage(FILE *out)
{
	fprintf(out, "usage: gpuemu VERB [ARGUMENT...]\n\n");
	for (size_t i = 0; i < ARRAY_SIZE(verbs); i++)
		fprintf(out, "  %-8s %s\n", verbs[i]->name, verbs[i]->help);
	fprintf(out, "\ngpuemu VERB --help says more. Exit status: 0 done, 1 failed, 2 misused.\n");
}

static int refuse_verb(const char *name)
{
	struct nearest near;

	nearest_begin(&near, name);
	for (size_t i = 0; i < ARRAY_SIZE(verbs); i++)
		nearest_try(&near, verbs[i]->name);
	if (near.name)
		return cli_misused(NULL, "unknown verb '%s'; did you mean '%s'? gpuemu --help lists them",
				   name, near.name);
	return cli_misused(NULL, "unknown verb '%s'; gpuemu --help lists them", name);
}

/* A report or a help that did not reach its reader is a failure. */
static int flushed(const struct verb *verb, int status)
{
	bool lost = ferror(stdout);

	if (fflush(stdout))
		return cli_failed(verb, "cannot write to standard output: %s", strerror(errno));
	return lost ? cli_failed(verb, "cannot write to standard output") : status;
}

int cli_main(int argc, char **argv)
{
	const char *name = argc > 1 ? argv[1] : NULL;

	if (!name) {
		usage(stderr);
		return CLI_MISUSED;
	}
	if (!strcmp(name, "--help") || !strcmp(name, "-h") || !strcmp(name, "help")) {
		usage(stdout);
		return flushed(NULL, CLI_DONE);
	}
	if (!strcmp(name, "--version")) {
		unsigned int v = gpuemu_version();

		printf("gpuemu %u.%u\n", v >> 16, v & 0xffff);
		return flushed(NULL, CLI_DONE);
	}
	for (size_t i = 0; i < ARRAY_SIZE(verbs); i++) {
		int status;

		if (strcmp(name, verbs[i]->name))
			continue;
		status = verbs[i]->run(verbs[i], argc - 1, argv + 1);
		return flushed(verbs[i], status);
	}
	return refuse_verb(name);
}
