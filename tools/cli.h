/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The command line's frame: the table of verbs, one table of options for both
 * parsing and --help, messages, exit statuses. A verb includes this and knows
 * no other verb.
 */
#ifndef GPUEMU_TOOLS_CLI_H
#define GPUEMU_TOOLS_CLI_H

#include <getopt.h>
#include <stdbool.h>
#include <stdio.h>

/* Exit statuses of every verb; CLI_STOPPED plus the number of the signal that stopped it. */
enum { CLI_DONE = 0, CLI_FAILED = 1, CLI_MISUSED = 2, CLI_STOPPED = 128 };

struct cli_option {
	const char *name;
	const char *arg;	/* NULL: takes none; "[...]": may be left out */
	const char *doc;
	int id;			/* >= CLI_OWN for a verb's own */
};

/* Ids in shared tables start at CLI_SHARED, those of a verb's own at CLI_OWN. */
enum { CLI_HELP = 255, CLI_SHARED = 256, CLI_OWN = 512 };

struct verb {
	const char *name;
	const char *usage;	/* what --help shows after the name */
	const char *help;	/* one line */
	const struct cli_option *options;	/* end with a NULL name, NULL: none */
	const struct cli_option *shared;	/* likewise */
	void (*more)(FILE *out);		/* the rest of --help, or NULL */
	int (*run)(const struct verb *verb, int argc, char **argv);
};

/* The n-th verb, NULL past the end. */
const struct verb *cli_verb(unsigned int n);

int cli_main(int argc, char **argv);

#define CLI_OPTIONS_MAX	32

struct cli_parser {
	const struct verb *verb;
	int argc;
	char **argv;
	struct option rows[CLI_OPTIONS_MAX + 1];
};

void cli_parse(struct cli_parser *p, const struct verb *verb, int argc,
	       char **argv);
/*
 * The next option's id, its argument in optarg; -1 at the end (operands are
 * argv[optind ..]); 0 when --help was printed; -2 when the user was told what
 * was wrong.
 */
int cli_next(struct cli_parser *p);
/*
 * Hands each option to take() with its id. 0, or the first status that is not 0, or -1 when
 * --help was printed. Operands are argv[optind ..].
 */
int cli_options(const struct verb *verb, int argc, char **argv,
		int (*take)(const struct verb *verb, int option, void *arg), void *arg);

struct err;

/* Until NULL is given, what a verb complains of goes to err, without the verb's name. */
void cli_capture(struct err *err);

/* "gpuemu run: ..." and a newline, on stderr; return CLI_MISUSED and CLI_FAILED. */
int cli_misused(const struct verb *verb, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
int cli_failed(const struct verb *verb, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

#endif
