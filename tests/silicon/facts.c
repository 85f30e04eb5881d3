// SPDX-License-Identifier: GPL-2.0
/*
 * What the GPU of this machine computes where PTX is silent or loose:
 * facts [--binary DIR | --ptx] TABLE.txt
 *
 * A table has rows of three kinds ('#' begins a comment, \ at the end of a line goes on):
 *
 *   set NAME b16|b32|b64 VALUE...         values in hex, or spread:COUNT:FIRST:LAST, or iota:COUNT
 *   INSTRUCTION DEST SET|#TEXT... [= PTX]  the instruction on every combination of its sources
 *   kernel NAME grid=N block=N words=N shared=N    a kernel, up to a line `end`
 *
 * An instruction is written with alternatives, add{.rn,.rz}{,.ftz}.f32 being four of them. DEST
 * is b16, b32 or b64; #TEXT stands in the instruction as it is. PTX, where it is given, takes the
 * place of the usual "INSN %d, %a, %b, %c;". A kernel's body finds %tid.x in %r0, its thread of
 * the grid in %r1 and the address of its `words` words of 32 bits in %rd1; lines that begin
 * with '!' stand before the kernel in the module.
 *
 * Each row gives a line: its name, a colon, and the results in hex without blanks. A kernel's
 * line has what it printed and its error. Rows run in a child that is made anew after an error.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "driver.h"
#include "table.h"

#define ROW_SECONDS	20
#define UNTOUCHED	0xa5

static const struct row *rows;
static unsigned int nrows;
static const char *path, *binary;

/* --- running ---------------------------------------------------------------------------- */
static void __attribute__((noreturn)) failed(const struct row *row, const char *why)
{
	printf("%s: cannot run: %s\n", row->name, why);
	exit(3);
}

static unsigned int combinations(const struct row *row)
{
	unsigned int n = 1;

	for (unsigned int i = 0; i < row->nsources; i++)
		n *= row->source[i] ? row->source[i]->n : 1;
	return n;
}

/* The source's value in each combination; the last source changes fastest. */
static uint8_t *inputs(const struct row *row, unsigned int source, unsigned int n)
{
	const struct set *set = row->source[source];
	unsigned int inner = 1;
	uint8_t *image = must(malloc((size_t)n * set->bits / 8));

	for (unsigned int i = source + 1; i < row->nsources; i++)
		inner *= row->source[i] ? row->source[i]->n : 1;
	for (unsigned int i = 0; i < n; i++)
		memcpy(image + (size_t)i * set->bits / 8, &set->value[i / inner % set->n],
		       set->bits / 8);
	return image;
}

static void print_results(const struct row *row, const uint8_t *got, unsigned int n,
			  unsigned int bytes)
{
	if (binary) {
		char name[1024];
		FILE *f;

		snprintf(name, sizeof(name), "%s/%s.bin", binary, row->name);
		for (char *p = name + strlen(binary) + 1; *p; p++)
			*p = *p == ' ' ? '_' : *p;
		f = fopen(name, "wb");
		if (!f || fwrite(got, bytes, n, f) != n || fclose(f))
			failed(row, "its file cannot be written");
		return;
	}
	printf("%s: ", row->name);
	for (unsigned int i = 0; i < n; i++) {
		uint64_t v = 0;

		memcpy(&v, got + (size_t)i * bytes, bytes);
		printf("%0*llx", (int)(2 * bytes), (unsigned long long)v);
	}
	putchar('\n');
}

static void run_instruction(const struct row *row, unsigned int number, void *module)
{
	unsigned int n = combinations(row);
	size_t out_bytes = (size_t)n * row->bits / 8;
	driver_address at[MAX_SOURCES] = { 0 }, out;
	void *params[] = { &out, &at[0], &at[1], &at[2], &at[3], &n }, *function;
	struct driver_launch launch = {
		.grid = { (n + BLOCK - 1) / BLOCK, 1, 1 }, .block = { BLOCK, 1, 1 },
		.params = params,
	};
	uint8_t *got = must(malloc(out_bytes));
	char name[32], why[1024], *printed;
	const char *error;

	snprintf(name, sizeof(name), "k%u", number);
	if (!driver_function(module, name, &function, why, sizeof(why)) ||
	    !driver_alloc(out_bytes, &out, why, sizeof(why)))
		failed(row, why);
	for (unsigned int i = 0; i < row->nsources; i++) {
		size_t bytes = row->source[i] ? (size_t)n * row->source[i]->bits / 8 : 0;
		uint8_t *image;

		if (!bytes)
			continue;
		image = inputs(row, i, n);
		if (!driver_alloc(bytes, &at[i], why, sizeof(why)) ||
		    !driver_write(at[i], image, bytes, why, sizeof(why)))
			failed(row, why);
		free(image);
	}
	driver_run(function, &launch, &printed, &error);
	if (error || !driver_read(got, out, out_bytes, why, sizeof(why)) ||
	    !driver_free(out, out_bytes, why, sizeof(why)))
		failed(row, error ? error : why);
	for (unsigned int i = 0; i < row->nsources; i++) {
		size_t bytes = row->source[i] ? (size_t)n * row->source[i]->bits / 8 : 0;

		if (bytes && !driver_free(at[i], bytes, why, sizeof(why)))
			failed(row, why);
	}
	print_results(row, got, n, row->bits / 8);
	free(printed);
	free(got);
}

static bool run_kernel(const struct row *row)
{
	size_t bytes = (size_t)row->grid * row->block * row->words * 4;
	void *module, *function;
	driver_address out;
	void *params[] = { &out };
	struct driver_launch launch = {
		.grid = { row->grid, 1, 1 }, .block = { row->block, 1, 1 }, .shared = row->shared,
		.params = params,
	};
	uint8_t *got = must(malloc(bytes));
	char why[4096], *printed;
	const char *error;

	memset(got, UNTOUCHED, bytes);
	if (!driver_load(row->ptx, 0, &module, why, sizeof(why))) {
		for (char *p = why; *p; p++)
			*p = *p == '\n' ? ' ' : *p;
		printf("%s: does not load: %s\n", row->name, why);
		return true;
	}
	if (!driver_function(module, "k", &function, why, sizeof(why)) ||
	    !driver_alloc(bytes, &out, why, sizeof(why)) ||
	    !driver_write(out, got, bytes, why, sizeof(why)))
		failed(row, why);
	driver_run(function, &launch, &printed, &error);
	if (*printed) {
		size_t length = strlen(printed);

		printf("%s printed: ", row->name);
		/* What overflows a buffer is told by how much is left of it. */
		if (length > 4000)
			printf("%zu bytes: ", length);
		for (size_t i = 0; i < length && i < 4000; i++) {
			unsigned char c = printed[i];

			if (c == '\n')
				fputs("\\n", stdout);
			else if (c < ' ' || c > '~')
				printf("\\x%02x", c);
			else
				putchar(c);
		}
		putchar('\n');
	}
	if (error) {
		printf("%s: %s\n", row->name, error);
		return false;
	}
	if (!driver_read(got, out, bytes, why, sizeof(why)))
		failed(row, why);
	print_results(row, got, bytes / 4, 4);
	driver_free(out, bytes, why, sizeof(why));
	driver_unload(module);
	free(printed);
	free(got);
	return true;
}

static void __attribute__((noreturn)) child(volatile unsigned int *next)
{
	void *module = NULL;
	char why[4096];

	if (!driver_open(why, sizeof(why))) {
		fprintf(stderr, "facts: %s\n", why);
		exit(4);
	}
	while (*next < nrows) {
		const struct row *row = &rows[*next];
		unsigned int number = (*next)++;
		bool goes_on = true;

		alarm(ROW_SECONDS);
		if (row->is_kernel) {
			goes_on = run_kernel(row);
		} else {
			if (!module) {
				char *text = table_module();

				if (!driver_load(text, 0, &module, why, sizeof(why))) {
					fprintf(stderr, "facts: %s: %s\n", path, why);
					exit(4);
				}
				free(text);
			}
			run_instruction(row, number, module);
		}
		fflush(stdout);
		if (!goes_on)
			exit(0);
	}
	exit(0);
}

int main(int argc, char **argv)
{
	volatile unsigned int *next = mmap(NULL, 4096, PROT_READ | PROT_WRITE,
					   MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	bool only_ptx = false;
	int at = 1, bad = 0;

	if (at + 1 < argc && !strcmp(argv[at], "--binary")) {
		binary = argv[at + 1];
		at += 2;
	} else if (at < argc && !strcmp(argv[at], "--ptx")) {
		only_ptx = true;
		at++;
	}
	if (at + 1 != argc || next == MAP_FAILED) {
		fprintf(stderr, "usage: facts [--binary DIR | --ptx] TABLE.txt\n");
		return 2;
	}
	path = argv[at];
	rows = table_read(path, &nrows);
	if (only_ptx) {
		fputs(table_module(), stdout);
		for (unsigned int i = 0; i < nrows; i++) {
			if (rows[i].is_kernel)
				printf("//@ %s\n%s", rows[i].name, rows[i].ptx);
		}
		return 0;
	}
	while (*next < nrows) {
		unsigned int before = *next;
		int status;
		pid_t pid;

		fflush(stdout);
		pid = fork();
		if (pid < 0)
			return 2;
		if (!pid)
			child(next);
		waitpid(pid, &status, 0);
		if (WIFEXITED(status) && WEXITSTATUS(status) == 4)
			return 2;
		if (WIFSIGNALED(status))
			printf("%s: no end: %s\n", rows[*next - (*next > before)].name, strsignal(WTERMSIG(status)));
		bad |= WIFEXITED(status) && WEXITSTATUS(status);
		if (*next == before)
			(*next)++;
	}
	return bad;
}
