// SPDX-License-Identifier: GPL-2.0
/*
 * Where the output of kernels goes. A backend hands it over when a launch is
 * done, launch by launch, under the context's lock. Strings that the engine could not
 * reach are read here.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

#include "internal.h"

static void put(struct gpuemu_ctx *ctx, const char *text, size_t bytes)
{
	if (ctx->print)
		ctx->print(ctx->print_arg, text, bytes);
	else
		/* stdio keeps its place among the program's own output. */
		fwrite(text, 1, bytes, stdout);
}

/* The address is a kernel's, so it may be any. False: nothing can be read there. */
static bool read_piece(const struct gpuemu_ctx *ctx, uint64_t addr, char *to, size_t bytes)
{
	const void *from = (const void *)(uintptr_t)addr;
	struct iovec here = { to, bytes }, there = { (void *)(uintptr_t)addr, bytes };

	/* System calls may not reach managed memory (userfaultfd without privilege). */
	if (mem_is_managed(ctx, from, bytes)) {
		memcpy(to, from, bytes);
		return true;
	}
	return process_vm_readv(getpid(), &here, 1, &there, 1, 0) == (ssize_t)bytes;
}

#define PIECE	256u		/* a page is a multiple */

/* The string's length, or -1. */
static int64_t read_string(const struct gpuemu_ctx *ctx, uint64_t addr, char *to, size_t most)
{
	size_t n = 0, bytes, got;

	while (n < most) {
		bytes = MIN(most - n, PIECE - (addr + n) % PIECE);
		if (!read_piece(ctx, addr + n, to + n, bytes))
			break;
		got = strnlen(to + n, bytes);
		n += got;
		if (got < bytes)
			return (int64_t)n;
	}
	return n || !most ? (int64_t)n : -1;
}

static void pad(struct gpuemu_ctx *ctx, uint64_t width, uint64_t taken)
{
	while (width-- > taken)
		put(ctx, " ", 1);
}

static void put_string(struct gpuemu_ctx *ctx, uint64_t addr, uint64_t most, uint64_t width,
		       bool left)
{
	char none[40], *buffer = malloc(most + 1);
	const char *text = buffer;
	int64_t n = buffer ? read_string(ctx, addr, buffer, most) : -1;

	if (n < 0) {
		text = none;
		n = snprintf(none, sizeof(none), "(string at 0x%" PRIx64 ")", addr);
	}
	if (!left)
		pad(ctx, width, (uint64_t)n);
	put(ctx, text, (size_t)n);
	if (left)
		pad(ctx, width, (uint64_t)n);
	free(buffer);
}

/* Prints the string of a mark at text; the mark's length, or 0 when there is none. */
static size_t put_mark(struct gpuemu_ctx *ctx, const char *text, size_t bytes)
{
	const size_t room = bytes;
	uint64_t addr, most, width;
	char mark[100], side;

	snprintf(mark, sizeof(mark), "%.*s", (int)MIN(bytes, sizeof(mark) - 1), text);
	/* What a kernel wrote itself is text, unless it is what an engine would have written. */
	if (sscanf(mark, "\033]gpuemu-string:%" SCNx64 ",%" SCNx64 ",%" SCNx64 ",%c\a", &addr,
		   &most, &width, &side) != 4 || most > GPU_OUTPUT_MAX || width > GPU_OUTPUT_MAX)
		return 0;
	bytes = (size_t)snprintf(mark, sizeof(mark), GPU_STRING_MARK, addr, most, width, side);
	if (bytes > room || memcmp(mark, text, bytes))
		return 0;
	put_string(ctx, addr, most, width, side == 'l');
	return bytes;
}

void print_text(struct gpuemu_ctx *ctx, const char *text, size_t bytes)
{
	const char *end = text + bytes, *from = text, *at = text;
	size_t n;

	while ((at = memchr(at, '\033', (size_t)(end - at)))) {
		if (at > from)
			put(ctx, from, (size_t)(at - from));
		from = at;
		n = put_mark(ctx, at, (size_t)(end - at));
		from += n;
		at += MAX(n, 1u);
	}
	if (end > from)
		put(ctx, from, (size_t)(end - from));
}

PUBLIC int gpuemu_set_printf(struct gpuemu_ctx *ctx,
			     void (*print)(void *arg, const char *text, size_t bytes), void *arg)
{
	struct err err = { "" };

	ctx_enter(ctx);
	/* Works that were submitted before print by the old function. */
	stream_wait_all(ctx);
	ctx->print = print;
	ctx->print_arg = arg;
	return ctx_leave(ctx, 0, &err);
}
