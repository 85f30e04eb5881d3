// SPDX-License-Identifier: GPL-2.0
/* reference.json and its PTX as launches: buffers, arguments, settings of the variant. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <json-c/json.h>

#include "reference.h"

static const char *text_of(struct json_object *o, const char *key)
{
	struct json_object *value;

	if (!json_object_object_get_ex(o, key, &value)) {
		fprintf(stderr, "reference.json: an object has no '%s'\n", key);
		exit(1);
	}
	return json_object_get_string(value);
}

const char *reference_text(const struct reference *reference, unsigned int i, const char *key)
{
	return text_of(reference->numbers[i], key);
}

static bool selected(const char *select, const struct run *run, const char *variant)
{
	char *words, *word, *save, both[128];
	bool yes = false;

	if (!select || !*select)
		return true;
	words = strdup(select);
	snprintf(both, sizeof(both), "%s/%s", variant, run->kernel);
	for (word = strtok_r(words, " ,", &save); word; word = strtok_r(NULL, " ,", &save))
		yes |= !strcmp(word, run->kernel) || !strcmp(word, run->name) ||
		       !strcmp(word, both);
	free(words);
	return yes;
}

static struct gpuemu_dim3 dim3_of(const char *text)
{
	struct gpuemu_dim3 d = { 1, 1, 1 };

	sscanf(text, "%u,%u,%u", &d.x, &d.y, &d.z);
	return d;
}

/* "a=0xc0000000:2097152 b=..." */
static void read_buffers(struct run *run, const char *text)
{
	char name[16];
	unsigned long addr, bytes;
	int used;

	for (; sscanf(text, " %15[^=]=%lx:%lu%n", name, &addr, &bytes, &used) == 3; text += used) {
		run_buffer(run, name, bytes, input_uploaded(run->kernel, name));
		if (run->buffer[run->nbuffers - 1].offset != addr - 0xc0000000ul) {
			fprintf(stderr, "%s: buffer %s is at 0x%lx, not behind the last\n", run->name,
				name, addr);
			exit(1);
		}
	}
}

/* "in,out,n=98304,m=0.5f": a buffer's name, or a number. */
static void read_args(struct run *run, const char *text)
{
	char *words = strdup(text), *word, *save, *value;

	for (word = strtok_r(words, ",", &save); word; word = strtok_r(NULL, ",", &save)) {
		value = strchr(word, '=');
		if (value && strchr(value, '.')) {
			run_arg(run, gpuemu_arg_f32(strtof(value + 1, NULL)));
		} else if (value) {
			run_arg(run, gpuemu_arg_u32(strtoul(value + 1, NULL, 10)));
		} else {
			unsigned int b = 0;

			while (b < run->nbuffers && strcmp(run->buffer[b].name, word))
				b++;
			if (b == run->nbuffers) {
				fprintf(stderr, "%s: no buffer is called %s\n", run->name, word);
				exit(1);
			}
			run_arg_buffer(run, b);
		}
	}
	free(words);
}

void reference_load(struct reference *reference, const char *folder, const char *select)
{
	char path[512];
	size_t all;

	memset(reference, 0, sizeof(*reference));
	snprintf(path, sizeof(path), "%s/reference.json", folder);
	reference->file = json_object_from_file(path);
	if (!reference->file) {
		fprintf(stderr, "cannot read %s\n", path);
		exit(1);
	}
	all = json_object_array_length(reference->file);
	reference->runs = calloc(all, sizeof(*reference->runs));
	reference->numbers = calloc(all, sizeof(*reference->numbers));
	for (size_t i = 0; i < all; i++) {
		struct json_object *o = json_object_array_get_idx(reference->file, i);
		struct run *run = &reference->runs[reference->n];

		memset(run, 0, sizeof(*run));
		snprintf(run->name, sizeof(run->name), "%s", text_of(o, "run"));
		snprintf(run->kernel, sizeof(run->kernel), "%s", text_of(o, "kernel"));
		if (!selected(select, run, text_of(o, "variant")))
			continue;
		if (!input_known(run->kernel)) {
			fprintf(stderr, "%s: nobody knows this kernel's inputs\n", run->name);
			exit(1);
		}
		snprintf(run->ptx, sizeof(run->ptx), "%s/ptx/%s.ptx", folder, run->kernel);
		run->n = json_number(o, "host_n");
		run->p = json_number(o, "host_p");
		run->grid = dim3_of(text_of(o, "grid"));
		run->block = dim3_of(text_of(o, "block"));
		read_buffers(run, text_of(o, "buffers"));
		read_args(run, text_of(o, "args"));
		run->fill = input_fill;
		run->judge = input_judge;
		run_setting(run, "config", "gtx480");
		run_setting(run, "sm.scheduler", text_of(o, "scheduler"));
		run_setting(run, "paging.enabled", "0");
		run_setting_u(run, "l2.prefill", json_number(o, "perf_sim_memcpy"));
		run_setting_u(run, "occupancy.regs", json_number(o, "regs_per_thread"));
		reference->numbers[reference->n++] = o;
	}
	if (!reference->n) {
		fprintf(stderr, "no run of %s is meant by '%s'\n", path, select);
		exit(1);
	}
}

void reference_free(struct reference *reference)
{
	json_object_put(reference->file);
	free(reference->runs);
	free(reference->numbers);
}
