// SPDX-License-Identifier: GPL-2.0
/*
 * A workload's entry in the report of several side by side (corun.c). Its kernels are the
 * kernels of its stream. Each kernel has counters of its own (gpuemu-json(7)); this file
 * adds them up.
 */
#include <string.h>

#include "corun.h"
#include "output.h"

static uint64_t count(struct json_object *o, const char *path)
{
	return json_object_get_uint64(output_at(o, path));
}

static void add(struct json_object *o, const char *key, uint64_t value)
{
	json_object_object_add(o, key, json_object_new_uint64(value));
}

/* sum[key] += times * o[key] for each number that o has. */
static void add_numbers(struct json_object *sum, struct json_object *o, double times, bool whole)
{
	if (!o)
		return;
	json_object_object_foreach(o, key, value) {
		double v = output_number(sum, key) + times * json_object_get_double(value);

		json_object_object_add(sum, key, whole ? json_object_new_uint64(count(sum, key) +
				       json_object_get_uint64(value)) : json_object_new_double(v));
	}
}

/* Sums over the kernels of a workload. */
struct sums {
	struct json_object *stalls, *own_stalls, *utilization, *memory;
	uint64_t cycles;		/* of its kernels */
};

static void add_member(struct json_object *to, struct json_object *from, const char *path)
{
	add(to, strrchr(path, '.') + 1, count(to, strrchr(path, '.') + 1) + count(from, path));
}

static void add_cache(struct json_object *memory, struct json_object *k, const char *name)
{
	struct json_object *sum = output_at(memory, name), *o = output_at(k, "memory");

	if (!output_has(o, name))
		return;
	o = output_at(o, name);
	if (!sum) {
		sum = json_object_new_object();
		json_object_object_add(memory, name, sum);
	}
	add(sum, "accesses", count(sum, "accesses") + count(o, "accesses"));
	add(sum, "misses", count(sum, "misses") + count(o, "misses"));
}

static void add_kernel(struct sums *s, struct json_object *k)
{
	struct json_object *dram = output_at(s->memory, "dram");

	add_numbers(s->stalls, output_at(k, "stalls"), 1, true);
	/* A kernel that ran alone on the GPU has these counters too. */
	add_numbers(s->own_stalls, output_has(k, "own_stalls") ? output_at(k, "own_stalls") :
				   output_at(k, "stalls"), 1, true);
	add_numbers(s->utilization, output_at(k, "utilization"), (double)count(k, "cycles"), false);
	add_cache(s->memory, k, "l1d");
	add_cache(s->memory, k, "l2");
	if (!output_has(k, "memory.dram"))
		return;
	if (!dram) {
		dram = json_object_new_object();
		json_object_object_add(s->memory, "dram", dram);
	}
	add_member(dram, k, "memory.dram.reads");
	add_member(dram, k, "memory.dram.writes");
}

/* Means over the time that its kernels took. */
static struct json_object *means(struct json_object *sums, uint64_t cycles)
{
	struct json_object *o = json_object_new_object();

	json_object_object_foreach(sums, key, value)
		json_object_object_add(o, key, output_decimal(json_object_get_double(value) /
							      (double)cycles, 6));
	return o;
}

/* The launch of the entry's first kernel, for a reader who looks at the entry alone. */
static struct json_object *launch_of(struct json_object *k)
{
	static const char *const members[] = {
		"name", "grid", "block", "regs", "smem", "ctas_per_sm",
	};
	struct json_object *o = json_object_new_object();

	for (size_t i = 0; i < ARRAY_SIZE(members); i++)
		if (output_has(k, members[i]))
			json_object_object_add(o, members[i],
					       json_object_get(output_at(k, members[i])));
	return o;
}

static void add_sums(struct json_object *entry, const struct sums *s)
{
	json_object_object_add(entry, "stalls", json_object_get(s->stalls));
	json_object_object_add(entry, "own_stalls", json_object_get(s->own_stalls));
	json_object_object_add(entry, "utilization", means(s->utilization, s->cycles));
	json_object_object_add(entry, "memory", json_object_get(s->memory));
}

void corun_kernels(struct json_object *entry, struct json_object *kernels, uint32_t stream)
{
	struct json_object *own = json_object_new_array();
	struct sums s = {
		json_object_new_object(), json_object_new_object(), json_object_new_object(),
		json_object_new_object(), 0,
	};
	uint64_t start = UINT64_MAX, end = 0, warp = 0, thread = 0;

	for (size_t i = 0; kernels && i < json_object_array_length(kernels); i++) {
		struct json_object *k = json_object_array_get_idx(kernels, i);

		if (count(k, "stream") != stream)
			continue;
		if (!json_object_array_length(own))
			json_object_object_add(entry, "launch", launch_of(k));
		json_object_array_add(own, json_object_get(k));
		start = MIN(start, count(k, "start"));
		end = MAX(end, count(k, "start") + count(k, "cycles"));
		warp += count(k, "warp_instructions");
		thread += count(k, "thread_instructions");
		s.cycles += count(k, "cycles");
		add_kernel(&s, k);
		if (!output_has(k, "halted"))
			continue;
		add(entry, "halted_cycle", count(k, "halted_cycle"));
		add(entry, "halted_instructions", count(k, "halted_instructions"));
	}
	if (end) {
		add(entry, "start", start);
		add(entry, "end", end);
		add(entry, "cycles", end - start);
	}
	add(entry, "warp_instructions", warp);
	add(entry, "thread_instructions", thread);
	if (end > start)
		json_object_object_add(entry, "ipc", output_decimal((double)thread /
								    (double)(end - start), 6));
	if (s.cycles)
		add_sums(entry, &s);
	json_object_put(s.stalls);
	json_object_put(s.own_stalls);
	json_object_put(s.utilization);
	json_object_put(s.memory);
	json_object_object_add(entry, "kernels", own);
}
