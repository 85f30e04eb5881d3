// SPDX-License-Identifier: GPL-2.0
/* Measures targets and computes the metrics; see speedup.h. Called by run.c. */
#include <errno.h>
#include <stdio.h>

#include "output.h"
#include "speedup.h"

/* When the entry's workload had executed its target: when it was halted, or when it ended. */
static double reached(struct json_object *entry)
{
	return output_number(entry, output_has(entry, "halted_cycle") ? "halted_cycle" : "end") -
	       output_number(entry, "arrival");
}

int speedup_alone(struct corun_member *member, const struct target *target, uint64_t cycles,
		  struct speedup_alone *alone, struct err *err)
{
	struct workload w = *member->w;
	struct corun_member one = { .w = &w, .row = member->row, .until = cycles,
				    .repeat = member->repeat };
	struct target own = *target;
	struct json_object *report, *entry;
	struct gpuemu_ctx *ctx;
	int status;

	own.trace = NULL;
	own.record = NULL;
	/* Nobody is beside it; with `fixed` a single limit would hold all the same. */
	status = target_set(&own, "gpu.dispatch", "left_over", err);
	if (!status)
		status = target_open(&own, &ctx, err);
	if (status)
		return status;
	report = corun(&one, 1, &own, ctx, &status, err);
	gpuemu_close(ctx);
	if (status)
		err_set(err, status, "%s alone: %s", w.ops->name, w.err.text);
	entry = output_at(report, "workloads.0");
	alone->instructions = (uint64_t)output_number(entry, output_has(entry, "halted_instructions") ?
						      "halted_instructions" : "thread_instructions");
	alone->cycles = (uint64_t)reached(entry);
	/* One that ends sooner ends beside others, too: its time is to its end in both runs. */
	member->halt = output_has(entry, "halted_instructions") ? alone->instructions : 0;
	json_object_put(report);
	if (!status && (!alone->instructions || !alone->cycles))
		status = err_set(err, -ENODATA, "%s executes nothing in %llu cycles alone", w.ops->name,
				 (unsigned long long)cycles);
	return status;
}

static void add(struct json_object *o, const char *key, double value)
{
	json_object_object_add(o, key, output_decimal(value, 6));
}

void speedup_add(struct json_object *report, const struct speedup_alone *alone, unsigned int n)
{
	struct json_object *metrics = json_object_new_object(), *all = json_object_new_array();
	double instructions = 0, time = 0, antt = 0, stp = 0, least = 0;

	for (unsigned int i = 0; i < n; i++) {
		struct json_object *o = json_object_new_object();
		double cycles, speedup;
		char path[32];

		snprintf(path, sizeof(path), "workloads.%u", i);
		cycles = reached(output_at(report, path));
		speedup = cycles > 0 ? (double)alone[i].cycles / cycles : 0;
		instructions += (double)alone[i].instructions;
		time = MAX(time, cycles + output_number(output_at(report, path), "arrival"));
		antt += speedup > 0 ? 1 / speedup / n : 0;
		stp += speedup;
		least = i ? MIN(least, speedup) : speedup;
		json_object_object_add(o, "target_instructions",
				       json_object_new_uint64(alone[i].instructions));
		json_object_object_add(o, "alone_cycles", json_object_new_uint64(alone[i].cycles));
		json_object_object_add(o, "cycles", json_object_new_uint64((uint64_t)cycles));
		add(o, "speedup", speedup);
		json_object_array_add(all, o);
	}
	add(metrics, "combined_ipc", time > 0 ? instructions / time : 0);
	add(metrics, "antt", antt);
	add(metrics, "stp", stp);
	add(metrics, "fairness", least);
	json_object_object_add(metrics, "workloads", all);
	json_object_object_add(report, "metrics", metrics);
}
