// SPDX-License-Identifier: GPL-2.0
/*
 * What a launch prints, and the strings in it that are in global memory (%s). A string is read
 * when its call is performed, wherever its page is then: that moves no page and takes no time.
 * Where pages outside device memory are out of reach (uffd, kmod), the text has a mark in its
 * place, and the client's library reads the string when it prints. Called by exec, by the SMs.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gpu/machine.h"
#include "gpu/run.h"

#define PIECE	256u		/* bytes that are read at a time; a page is a multiple */

void run_print(void *ctx, const char *text, size_t bytes)
{
	struct run *r = ctx;

	output_print(&r->output, text, bytes);
}

/* The managed memory that holds addr and is its own host address. False: there is none. */
static bool in_place(struct gpu_session *s, uint64_t addr)
{
	struct service *service = s->gpu->service;
	struct addr_ranges r = { 0 };
	struct system_range range;
	bool found = false;

	if (!service->ops->managed)
		return false;
	service_reachable(service, s->va_space, &r);
	for (size_t i = 0; i < r.count && !found; i++)
		found = addr >= r.at[i].start && addr < r.at[i].end;
	free(r.at);
	return found || service_adopt(service, s->va_space, addr, &range);
}

/* Where the page's bytes are. NULL: nowhere that can be read. */
static const char *page_at(struct gpu_session *s, uint64_t page)
{
	unsigned int flags;
	const char *host = service_entry(s->gpu->service, s->va_space, page, &flags);

	return host ? host : in_place(s, page) ? (const char *)(uintptr_t)page : NULL;
}

/* Stores that come before the string and are not performed, over the n bytes of addr. */
static void patch(const struct exec_string *string, uint64_t addr, char *to, size_t n)
{
	for (uint32_t i = 0; i < string->nstored; i++) {
		const struct exec_stored *stored = &string->stored[i];

		for (uint32_t k = 0; k < stored->bytes; k++)
			if (stored->addr + k - addr < n)
				to[stored->addr + k - addr] = (char)stored->data[k];
	}
}

/* Its length, or -1 when its first byte cannot be read. */
static int64_t read_string(struct gpu_session *s, const struct exec_string *string, char *to,
			   size_t most)
{
	uint64_t page = UINT64_MAX;
	const char *host = NULL;
	size_t n = 0, bytes, got;

	while (n < most) {
		uint64_t at = string->addr + n, offset = at % PAGE_BYTES;

		if (page != at - offset) {
			page = at - offset;
			host = page_at(s, page);
		}
		if (!host)
			break;
		bytes = MIN(most - n, PIECE - offset % PIECE);
		memcpy(to + n, host + offset, bytes);
		patch(string, at, to + n, bytes);
		got = strnlen(to + n, bytes);
		n += got;
		if (got < bytes)
			return (int64_t)n;
	}
	return n || !most ? (int64_t)n : -1;
}

static void pad(struct run *r, uint64_t bytes)
{
	char spaces[PIECE];

	memset(spaces, ' ', sizeof(spaces));
	for (; bytes && !r->output.lost; bytes -= MIN(bytes, PIECE))
		output_print(&r->output, spaces, MIN(bytes, PIECE));
}

void run_print_string(void *ctx, const struct exec_string *string)
{
	struct run *r = ctx;
	size_t most = MIN(string->most, GPU_OUTPUT_MAX);
	char none[100], *buffer;
	const char *text;
	int64_t n;

	if (r->output.lost)
		return;
	buffer = malloc(most + 1);
	text = buffer;
	n = buffer ? read_string(r->session, string, buffer, most) : -1;
	if (n < 0 && !r->session->gpu->service->ops->managed) {
		text = none;
		n = snprintf(none, sizeof(none), GPU_STRING_MARK, string->addr, (uint64_t)most,
			     MIN(string->width, GPU_OUTPUT_MAX), string->left ? 'l' : 'r');
		output_print(&r->output, text, (size_t)n);
		free(buffer);
		return;
	}
	if (n < 0) {
		text = none;
		n = snprintf(none, sizeof(none), "(string at 0x%" PRIx64 ")", string->addr);
	}
	if (!string->left && string->width > (uint64_t)n)
		pad(r, string->width - (uint64_t)n);
	if (n)
		output_print(&r->output, text, (size_t)n);
	if (string->left && string->width > (uint64_t)n)
		pad(r, string->width - (uint64_t)n);
	free(buffer);
}
