// SPDX-License-Identifier: GPL-2.0
/*
 * The phases of a run. Programmer-directed copy (HPCA'16 section 2, figure 2) is made of
 * explicit migrations of whole buffers in both directions, so it works, and is measured,
 * on every backend.
 */
#include <errno.h>

#include "output.h"
#include "phases.h"

/* The bytes moved so far. It is called before the kernels run, while statistics are short. */
struct moved {
	bool paged;
	uint64_t h2d_bytes, evicted_pages;
};

static uint64_t count(struct json_object *o, const char *path)
{
	return json_object_get_uint64(output_at(o, path));
}

static int moved_so_far(struct workload *w, struct moved *moved)
{
	struct json_object *o;
	char *text;
	int ret = gpuemu_statistics(w->ctx, &text);

	if (ret)
		return workload_failed(w, ret, "statistics");
	o = json_tokener_parse(text);
	gpuemu_free(text);
	moved->paged = output_has(o, "paging");
	moved->h2d_bytes = count(o, "paging.h2d_bytes");
	moved->evicted_pages = count(o, "paging.evicted_pages");
	json_object_put(o);
	return 0;
}

static bool is_input(const struct workload_buffer *b)
{
	return b->direction == WORKLOAD_IN || b->direction == WORKLOAD_INOUT;
}

static bool is_result(const struct workload_buffer *b)
{
	return b->direction == WORKLOAD_OUT || b->direction == WORKLOAD_INOUT;
}

/* Brings the inputs, or all other buffers. */
static int to_device(struct workload *w, bool inputs)
{
	for (unsigned int i = 0; i < w->nbuffers; i++) {
		const struct workload_buffer *b = &w->buffers[i];
		int ret;

		if (is_input(b) != inputs)
			continue;
		ret = gpuemu_mem_prefetch(w->ctx, b->memory, b->bytes, NULL);
		if (ret)
			return workload_failed(w, ret, "copying to the device");
	}
	return workload_synchronize(w);
}

static int to_host(struct workload *w)
{
	for (unsigned int i = 0; i < w->nbuffers; i++) {
		const struct workload_buffer *b = &w->buffers[i];
		int ret;

		if (!is_result(b))
			continue;
		ret = gpuemu_mem_prefetch_host(w->ctx, b->memory, b->bytes, NULL);
		if (ret)
			return workload_failed(w, ret, "taking the results back");
	}
	return workload_synchronize(w);
}

/*
 * Gives buffers that are not copied their device memory before time begins, as cudaMalloc()
 * does. Statistics start again after that. *held: the bytes moved for it.
 */
static int allocate(struct workload *w, struct moved *held)
{
	int ret = 0;

	if (w->copies == WORKLOAD_COPIES_INPUTS)
		ret = to_device(w, false);
	if (!ret)
		ret = moved_so_far(w, held);
	if (ret)
		return ret;
	ret = gpuemu_configure(w->ctx, "");
	return ret ? workload_failed(w, ret, "starting the clock") : 0;
}

/* Brings all buffers into device memory, or returns an error that says how much they need. */
static int copy_in(struct workload *w)
{
	struct moved held, copied;
	uint64_t need = 0;
	char size[24];
	int ret = allocate(w, &held);

	if (!ret)
		ret = to_device(w, true);
	if (!ret && w->copies == WORKLOAD_COPIES_ALL)
		ret = to_device(w, false);
	if (!ret)
		ret = moved_so_far(w, &copied);
	if (ret)
		return ret;
	for (unsigned int i = 0; i < w->nbuffers; i++)
		need += DIV_ROUND_UP(w->buffers[i].bytes, PAGE_BYTES) * PAGE_BYTES;
	if (held.h2d_bytes + copied.h2d_bytes >= need &&
	    !held.evicted_pages && !copied.evicted_pages)
		return 0;
	return err_set(&w->err, -ENOSPC,
		       "device memory does not hold the %s that the buffers take: "
		       "give it more (--vram), or do without --copy", output_bytes(size, need));
}

int phases_run(struct workload *w)
{
	struct moved start;
	int ret = moved_so_far(w, &start);

	if (!ret && w->copies)
		ret = start.paged ? copy_in(w) :
		      err_set(&w->err, -EINVAL, "without paging there is nothing to copy: "
			      "all pages are in device memory from the start");
	if (!ret)
		ret = w->ops->run(w);
	return !ret && start.paged ? to_host(w) : ret;
}

/* --- the report --------------------------------------------------------------- */

struct phases {
	uint64_t h2d, kernel, d2h;	/* core cycles, one after the other */
};

/*
 * Times by the session's clock: until the first kernel, until the end of the last one, and
 * the rest.
 */
static struct phases phases_of(struct json_object *report)
{
	struct json_object *kernels = output_at(report, "kernels");
	uint64_t first = UINT64_MAX, last = 0;

	for (size_t i = 0; i < json_object_array_length(kernels); i++) {
		struct json_object *k = json_object_array_get_idx(kernels, i);

		first = MIN(first, count(k, "start"));
		last = MAX(last, count(k, "start") + count(k, "cycles"));
	}
	return (struct phases){ first, last - first, count(report, "totals.cycles") - last };
}

static struct json_object *cycles_json(const struct phases *p)
{
	struct json_object *o = json_object_new_object();

	json_object_object_add(o, "h2d_cycles", json_object_new_uint64(p->h2d));
	json_object_object_add(o, "kernel_cycles", json_object_new_uint64(p->kernel));
	json_object_object_add(o, "d2h_cycles", json_object_new_uint64(p->d2h));
	return o;
}

void phases_report(const struct workload *w, struct json_object *report)
{
	struct json_object *about = output_at(report, "workload"), *copy;
	struct phases p;

	if (!output_has(report, "paging") ||
	    !json_object_array_length(output_at(report, "kernels")))
		return;
	p = phases_of(report);
	json_object_object_add(about, "phases", cycles_json(&p));
	if (!w->copies)
		return;
	copy = cycles_json(&p);
	json_object_object_add(copy, "buffers", json_object_new_string(
			       w->copies == WORKLOAD_COPIES_ALL ? "all" : "inputs"));
	json_object_object_add(copy, "overlap_bound_cycles",
			       json_object_new_uint64(MAX(p.h2d + p.d2h, p.kernel)));
	json_object_object_add(about, "copy", copy);
}
