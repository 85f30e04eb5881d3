// SPDX-License-Identifier: GPL-2.0
/*
 * Payloads and reports of GPUEMU_WORK_RUN: works of streams on their way from libgpuemu to the
 * daemon, and what became of them on the way back. The payload comes from a client that is not
 * trusted: all of it is checked before any of it is used, and lengths are added in 64 bits.
 * libgpuemu checks the report the same way.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "gpu/gpu.h"

static uint64_t padded(uint64_t bytes)
{
	return (bytes + 7) & ~7ull;
}

/* --- items that grow --------------------------------------------------------------- */

static int make_room(struct gpu_run_items *items, size_t bytes)
{
	return array_reserve(items->bytes, items->room, items->used + bytes);
}

/* There is room. */
static void append(struct gpu_run_items *items, const void *bytes, size_t n)
{
	if (n)
		memcpy(items->bytes + items->used, bytes, n);
	items->used += n;
}

static void pad(struct gpu_run_items *items)
{
	size_t to = padded(items->used);

	memset(items->bytes + items->used, 0, to - items->used);
	items->used = to;
}

int gpu_run_add(struct gpu_run_items *items, uint32_t kind, uint32_t stream, const void *data,
		size_t data_bytes)
{
	const struct gpu_run_item item = {
		.kind = kind, .stream = stream, .data_bytes = (uint32_t)data_bytes,
	};

	if (data_bytes > UINT32_MAX || make_room(items, sizeof(item) + padded(data_bytes)))
		return -ENOMEM;
	append(items, &item, sizeof(item));
	append(items, data, data_bytes);
	pad(items);
	items->count++;
	return 0;
}

int gpu_run_report_add(struct gpu_run_items *items, const struct gpu_run_ended *ended,
		       const char *message, const char *output)
{
	size_t bytes = sizeof(*ended) + ended->message_bytes + ended->output_bytes;

	if (make_room(items, padded(bytes)))
		return -ENOMEM;
	append(items, ended, sizeof(*ended));
	append(items, message, ended->message_bytes);
	append(items, output, ended->output_bytes);
	pad(items);
	items->count++;
	return 0;
}

/* --- a head, numbers, and items in one piece ----------------------------------------- */

static int encode(const void *head, size_t head_bytes, const uint32_t *numbers, unsigned int n,
		  const struct gpu_run_items *items, void **out, size_t *bytes)
{
	size_t at = padded(head_bytes + (uint64_t)n * sizeof(*numbers));
	char *p = calloc(1, at + items->used);

	if (!p)
		return -ENOMEM;
	memcpy(p, head, head_bytes);
	if (n)
		memcpy(p + head_bytes, numbers, n * sizeof(*numbers));
	if (items->used)
		memcpy(p + at, items->bytes, items->used);
	*out = p;
	*bytes = at + items->used;
	return 0;
}

int gpu_run_encode(const struct gpu_work_run *head, const uint32_t *streams,
		   const struct gpu_run_items *items, void **payload, size_t *bytes)
{
	struct gpu_work_run h = *head;

	h.size = sizeof(h);
	h.nitems = items->count;
	return encode(&h, sizeof(h), streams, h.nstreams, items, payload, bytes);
}

size_t gpu_run_bytes(unsigned int nstreams, const struct gpu_run_items *items)
{
	return padded(sizeof(struct gpu_work_run) + (uint64_t)nstreams * sizeof(uint32_t)) +
	       items->used;
}

int gpu_run_report_encode(const struct gpu_run_report *head, const uint32_t *busy,
			  const struct gpu_run_items *items, void **report, size_t *bytes)
{
	struct gpu_run_report h = *head;

	h.size = sizeof(h);
	h.nended = items->count;
	return encode(&h, sizeof(h), busy, h.nbusy, items, report, bytes);
}

/* --- payloads ------------------------------------------------------------------------- */

static bool move_valid(const void *data, size_t bytes, struct gpu_work_prefetch *move)
{
	if (bytes != sizeof(*move))
		return false;
	memcpy(move, data, sizeof(*move));
	return move->size == sizeof(*move) && move->to_host <= 1;
}

static bool number_valid(uint32_t kind, const void *data, size_t bytes, uint64_t *number)
{
	if (bytes != sizeof(*number))
		return false;
	memcpy(number, data, sizeof(*number));
	if (kind == GPU_RUN_COPY)
		return GPU_RUN_COPY_WAY(*number) <= GPU_COPY_INSIDE &&
		       GPU_RUN_COPY_CYCLES(*number) <= GPU_CYCLE_MAX;
	return *number || (kind != GPU_RUN_RECORD && kind != GPU_RUN_AWAIT);
}

static bool work_valid(const struct gpu_run_item *item, const void *data,
		       struct gpu_run_work *work)
{
	work->kind = item->kind;
	work->stream = item->stream;
	switch (item->kind) {
	case GPU_RUN_LAUNCH:
		return !gpu_work_decode_launch(data, item->data_bytes, &work->launch);
	case GPU_RUN_MOVE:
		return move_valid(data, item->data_bytes, &work->move);
	case GPU_RUN_DELAY:
	case GPU_RUN_RECORD:
	case GPU_RUN_AWAIT:
	case GPU_RUN_HALT:
	case GPU_RUN_HALT_AT:
	case GPU_RUN_COPY:
		return number_valid(item->kind, data, item->data_bytes, &work->number);
	default:
		return false;
	}
}

/* The item at *at, which is behind it then. False: there is none that is right. */
static bool take_item(const void *payload, uint64_t bytes, size_t *at, struct gpu_run_work *work)
{
	struct gpu_run_item item;

	if (bytes - *at < sizeof(item))
		return false;
	memcpy(&item, (const char *)payload + *at, sizeof(item));
	*at += sizeof(item);
	if (item.reserved || padded(item.data_bytes) > bytes - *at ||
	    !work_valid(&item, (const char *)payload + *at, work))
		return false;
	*at += padded(item.data_bytes);
	return true;
}

static bool head_valid(const struct gpu_work_run *h)
{
	return h->size == sizeof(*h) && !h->reserved &&
	       !(h->flags & ~(GPU_RUN_HOLD | GPU_RUN_DROP)) &&
	       h->nitems <= GPU_RUN_ITEMS && h->nstreams <= GPU_RUN_STREAMS &&
	       h->cycles <= GPU_CYCLE_MAX &&
	       (!(h->flags & GPU_RUN_HOLD) || !(h->nstreams || h->mark || h->cycles));
}

int gpu_run_decode(const void *payload, size_t bytes, struct gpu_work_run *head,
		   const uint32_t **streams, size_t *at)
{
	struct gpu_run_work work;
	size_t end;

	if (bytes < sizeof(*head))
		return -EINVAL;
	memcpy(head, payload, sizeof(*head));
	if (!head_valid(head))
		return -EINVAL;
	*streams = (const uint32_t *)((const char *)payload + sizeof(*head));
	*at = end = padded(sizeof(*head) + head->nstreams * sizeof(**streams));
	if (end > bytes)
		return -EINVAL;
	for (unsigned int i = 0; i < head->nitems; i++)
		if (!take_item(payload, bytes, &end, &work))
			return -EINVAL;
	/* No byte may follow. */
	return end == bytes ? 0 : -EINVAL;
}

void gpu_run_next(const void *payload, size_t *at, struct gpu_run_work *work)
{
	take_item(payload, UINT64_MAX, at, work);
}

/* --- reports ---------------------------------------------------------------------------- */

static bool take_ended(const void *report, uint64_t bytes, size_t *at,
		       struct gpu_run_ended *ended, const char **text)
{
	uint64_t both;

	if (bytes - *at < sizeof(*ended))
		return false;
	memcpy(ended, (const char *)report + *at, sizeof(*ended));
	*text = (const char *)report + *at + sizeof(*ended);
	both = sizeof(*ended) + (uint64_t)ended->message_bytes + ended->output_bytes;
	if (padded(both) > bytes - *at)
		return false;
	*at += padded(both);
	return true;
}

int gpu_run_report_decode(const void *report, size_t bytes, struct gpu_run_report *head,
			  const uint32_t **busy, size_t *at)
{
	struct gpu_run_ended ended;
	const char *text;
	uint64_t first;
	size_t end;

	if (bytes < sizeof(*head))
		return -EINVAL;
	memcpy(head, report, sizeof(*head));
	first = padded(sizeof(*head) + (uint64_t)head->nbusy * sizeof(**busy));
	if (head->size != sizeof(*head) || first > bytes)
		return -EINVAL;
	*busy = (const uint32_t *)((const char *)report + sizeof(*head));
	*at = end = first;
	for (unsigned int i = 0; i < head->nended; i++)
		if (!take_ended(report, bytes, &end, &ended, &text))
			return -EINVAL;
	return end == bytes ? 0 : -EINVAL;
}

void gpu_run_report_next(const void *report, size_t *at, struct gpu_run_ended *ended,
			 const char **text)
{
	take_ended(report, UINT64_MAX, at, ended, text);
}
