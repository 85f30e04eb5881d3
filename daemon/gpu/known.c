// SPDX-License-Identifier: GPL-2.0
/*
 * What a client tells its paging policies: the record of an earlier run, and its managed ranges
 * where the service does not know them. What it gets back: the pages that this run touched. The
 * record comes in pieces, and the client is not trusted.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "gpu/session.h"

#define VA_END	(1ull << 47)	/* managed memory lies below */

void known_clear(struct known *k)
{
	free(k->record);
	free(k->arriving);
	free(k->ranges);
	free(k->advice);
	*k = (struct known){ .now = { NULL } };
}

void known_adopt(struct known *k)
{
	if (k->arriving) {
		free(k->record);
		k->record = k->arriving;
		k->now.record = k->record;
		k->now.record_length = k->narriving;
		k->arriving = NULL;
		k->narriving = 0;
		k->room = 0;
	}
}

int gpu_session_add_record(struct gpu_session *s, const uint64_t *pages, uint64_t n)
{
	struct known *k = &s->known;

	if (n > GPU_RECORD_MAX || k->narriving > GPU_RECORD_MAX - n)
		return -E2BIG;
	for (uint64_t i = 0; i < n; i++)
		if (pages[i] % PAGE_BYTES || pages[i] >= VA_END)
			return -EINVAL;
	/* An empty record is a record, so this never reserves 0 entries. */
	if (array_reserve(k->arriving, k->room, MAX(k->narriving + n, 1u)))
		return -ENOMEM;
	memcpy(k->arriving + k->narriving, pages, n * sizeof(*pages));
	k->narriving += n;
	return 0;
}

int gpu_session_set_ranges(struct gpu_session *s, const struct gpu_range *ranges, uint64_t n)
{
	struct known *k = &s->known;
	struct paging_range *copy;
	uint64_t end = 0;

	for (uint64_t i = 0; i < n; i++) {
		if (ranges[i].addr % PAGE_BYTES || ranges[i].bytes % PAGE_BYTES ||
		    !ranges[i].bytes || ranges[i].addr < end || ranges[i].addr >= VA_END ||
		    ranges[i].bytes > VA_END - ranges[i].addr)
			return -EINVAL;
		end = ranges[i].addr + ranges[i].bytes;
	}
	copy = calloc(MAX(n, 1u), sizeof(*copy));
	if (!copy)
		return -ENOMEM;
	for (uint64_t i = 0; i < n; i++)
		copy[i] = (struct paging_range){ ranges[i].addr, ranges[i].bytes };
	if (s->paging)
		paging_set_ranges(s->paging, copy, n);
	free(k->ranges);
	k->ranges = copy;
	k->now.ranges = copy;
	k->now.nranges = n;
	return 0;
}

static bool advice_valid(const struct advice_range *advice, uint64_t n)
{
	const uint32_t both = ADVICE_PREFER_DEVICE | ADVICE_PREFER_HOST;
	uint64_t end = 0;

	for (uint64_t i = 0; i < n; i++) {
		const struct advice_range *a = &advice[i];

		if (a->addr % PAGE_BYTES || a->bytes % PAGE_BYTES || !a->bytes || a->addr < end ||
		    a->addr >= VA_END || a->bytes > VA_END - a->addr || a->reserved ||
		    !a->flags || a->flags & ~ADVICE_ALL || (a->flags & both) == both)
			return false;
		end = a->addr + a->bytes;
	}
	return n <= ADVICE_MAX;
}

bool gpu_session_advised(const struct gpu_session *s, const struct advice_range *advice,
			 uint64_t n)
{
	const struct paging_known *now = &s->known.now;

	return n == now->nadvice && (!n || !memcmp(advice, now->advice, n * sizeof(*advice)));
}

int gpu_session_set_advice(struct gpu_session *s, const struct advice_range *advice, uint64_t n,
			   struct err *err)
{
	struct known *k = &s->known;
	struct advice_range *copy;
	int ret = 0;

	if (!advice_valid(advice, n))
		return err_set(err, -EINVAL, "malformed advice on managed memory");
	if (!n && !k->now.nadvice)
		return 0;
	if (s->queue && gpu_session_advised(s, advice, n))
		return 0;
	copy = calloc(MAX(n, 1u), sizeof(*copy));
	if (!copy)
		return err_set(err, -ENOMEM, "no memory for advice");
	if (n)
		memcpy(copy, advice, n * sizeof(*copy));
	session_finish(s);
	if (s->paging)
		ret = paging_set_advice(s->paging, copy, n);
	free(k->advice);
	k->advice = copy;
	k->now.advice = copy;
	k->now.nadvice = n;
	if (!ret)
		ret = gpu_poll(s->gpu);
	return ret ? err_set(err, ret, "advice on managed memory: %s", strerror(-ret)) : 0;
}

int gpu_session_touches(struct gpu_session *s, const uint64_t **pages, uint64_t *n,
			struct err *err)
{
	int ret;

	session_finish(s);
	if (!s->paging)
		return err_set(err, -ENOMEM, "the session has no fault handler: configure it");
	ret = paging_touches(s->paging, pages, n);
	if (ret == -EINVAL)
		return err_set(err, ret, "nothing was recorded: set paging.record");
	return ret ? err_set(err, ret, "the record has no memory for more than %llu touches",
			     (unsigned long long)*n) : 0;
}
