// SPDX-License-Identifier: GPL-2.0
/*
 * Recorded runs: the order in which a run touched its pages, in a text file that any
 * later run of the same program can be given, whichever backend moves its pages:
 * pages are numbered from where managed addresses start. gpuemu-record(5) has the format.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "internal.h"

#define FIRST_LINE	"# gpuemu record 1"
#define PAGES_MAX	((ARENA_END - ARENA_START) / PAGE_BYTES)

void record_free(struct record *record)
{
	free(record->pages);
	*record = (struct record){ NULL };
}

int record_add(struct record *record, uint64_t addr)
{
	if (array_grow(record->pages, record->room, record->count))
		return -ENOMEM;
	record->pages[record->count++] = addr;
	return 0;
}

/* --- reading ------------------------------------------------------------------- */

/* "PAGE" or "PAGE+MORE", in decimal digits. */
static bool parse_line(const char *line, uint64_t *page, uint64_t *more)
{
	char *end;

	*more = 0;
	if (*line < '0' || *line > '9')
		return false;
	errno = 0;
	*page = strtoull(line, &end, 10);
	if (*end == '+' && end[1] >= '0' && end[1] <= '9')
		*more = strtoull(end + 1, &end, 10);
	end += strspn(end, " \t\r\n");
	return !errno && !*end && *page < PAGES_MAX && *more < PAGES_MAX - *page;
}

static int add_line(struct record *record, uint64_t page, uint64_t more)
{
	int ret = 0;

	if (more >= GPU_RECORD_MAX || record->count + more >= GPU_RECORD_MAX)
		return -E2BIG;
	for (uint64_t i = 0; !ret && i <= more; i++)
		ret = record_add(record, ARENA_START + (page + i) * PAGE_BYTES);
	return ret;
}

static int read_lines(FILE *file, const char *path, struct record *record, struct err *err)
{
	unsigned int number = 0;
	uint64_t page, more;
	char line[128];
	int ret;

	while (fgets(line, sizeof(line), file)) {
		if (!number++ && strncmp(line, FIRST_LINE, strlen(FIRST_LINE)))
			return err_set(err, -EINVAL,
				       "%s: not a recorded run: its first line is not \"%s\" "
				       "(gpuemu run --record FILE writes one)", path, FIRST_LINE);
		if (line[0] == '#' || line[0] == '\n')
			continue;
		if (!parse_line(line, &page, &more))
			return err_set(err, -EINVAL, "%s line %u: not PAGE or PAGE+MORE", path,
				       number);
		ret = add_line(record, page, more);
		if (ret == -E2BIG)
			return err_set(err, ret, "%s line %u: more than %u touches", path, number,
				       GPU_RECORD_MAX);
		if (ret)
			return err_set(err, ret, "%s: no memory for the recorded run", path);
	}
	if (ferror(file))
		return err_set(err, -EINVAL, "%s: %s", path, strerror(errno));
	return number ? 0 : err_set(err, -EINVAL, "%s: not a recorded run: it is empty", path);
}

int record_read(const char *path, struct record *record, struct err *err)
{
	FILE *file = fopen(path, "re");
	int ret;

	*record = (struct record){ NULL };
	if (!file)
		return err_set(err, -EINVAL, "%s: %s", path, strerror(errno));
	/* A run that touched nothing is a record too: pages is not NULL. */
	ret = record_add(record, 0);
	record->count = 0;
	if (!ret)
		ret = read_lines(file, path, record, err);
	fclose(file);
	if (ret)
		record_free(record);
	return ret;
}

/* --- writing -------------------------------------------------------------------- */

static bool in_arena(uint64_t addr)
{
	return addr >= ARENA_START && addr < ARENA_END;
}

/* Neighbours that follow one another share a line. */
static void write_lines(FILE *file, const struct record *record)
{
	uint64_t i = 0, more;

	fprintf(file, "%s\n# %" PRIu64 " touches: page, from the first managed address\n",
		FIRST_LINE, record->count);
	while (i < record->count) {
		uint64_t page = (record->pages[i] - ARENA_START) / PAGE_BYTES;

		for (more = 0; i + more + 1 < record->count &&
		     record->pages[i + more + 1] == record->pages[i + more] + PAGE_BYTES; more++)
			;
		fprintf(file, "%" PRIu64, page);
		if (more)
			fprintf(file, "+%" PRIu64, more);
		fputc('\n', file);
		i += more + 1;
	}
}

static int record_write(const char *path, const struct record *record, struct err *err)
{
	FILE *file;
	bool bad;

	for (uint64_t i = 0; i < record->count; i++)
		if (!in_arena(record->pages[i]))
			return err_set(err, -ERANGE,
				       "managed memory at 0x%" PRIx64 " is not where other runs have "
				       "it: this run cannot be recorded", record->pages[i]);
	file = fopen(path, "we");
	if (!file)
		return err_set(err, -errno, "%s: %s", path, strerror(errno));
	write_lines(file, record);
	bad = ferror(file);
	if (fclose(file) || bad)
		return err_set(err, -EIO, "%s: %s", path, strerror(errno));
	return 0;
}

PUBLIC int gpuemu_record(struct gpuemu_ctx *ctx, const char *path)
{
	struct record record = { NULL };
	struct err err = { "" };
	int ret;

	ctx_enter(ctx);
	stream_wait_all(ctx);
	ret = ctx->backend->touches(ctx, &record, &err);
	if (!ret)
		ret = record_write(path, &record, &err);
	record_free(&record);
	return ctx_leave(ctx, ret, &err);
}
