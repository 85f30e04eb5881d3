// SPDX-License-Identifier: GPL-2.0
/*
 * The arguments' buffers: into managed memory before a launch, into files
 * after it. What the CPU writes here is on the CPU's side, so the GPU's first
 * touch of it is a far fault.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "arg.h"
#include "base/rng.h"
#include "file.h"
#include "output.h"

static void fill_words(const struct arg_buffer *b)
{
	uint32_t *words = b->memory;
	struct rng rng;

	rng_seed(&rng, b->seed);
	for (uint64_t i = 0; i < b->bytes / 4; i++) {
		uint32_t word = (uint32_t)i;
		float value;

		if (b->fill == ARG_RAND32) {
			word = (uint32_t)(rng_next(&rng) >> 32);
		} else if (b->fill == ARG_RANDF32) {
			/*
			 * As many bits as a float's fraction has, so that the number is
			 * below 1 and exact.
			 */
			value = (float)(rng_next(&rng) >> 40) * 0x1p-24f;
			memcpy(&word, &value, sizeof(word));
		}
		words[i] = word;
	}
}

static int place(struct arg_buffer *b, struct gpuemu_ctx *ctx, struct err *err)
{
	char *data = NULL;
	size_t bytes;
	int ret;

	if (b->fill == ARG_FILE) {
		ret = file_read(b->in, &data, &bytes, err);
		if (!ret && !bytes)
			ret = err_set(err, -EINVAL, "%s is empty: a buffer has one byte at least",
				      b->in);
		if (ret) {
			free(data);
			return ret;
		}
		b->bytes = bytes;
	}
	ret = gpuemu_mem_alloc_managed(ctx, &b->memory, b->bytes);
	if (ret)
		err_set(err, ret, "allocating %llu bytes: %s", (unsigned long long)b->bytes,
			gpuemu_last_error(ctx));
	else if (data)
		memcpy(b->memory, data, b->bytes);
	else if (b->fill != ARG_ZERO)
		fill_words(b);
	free(data);
	return ret;
}

int arg_place(struct arg_list *list, struct gpuemu_ctx *ctx, struct err *err)
{
	for (unsigned int i = 0; i < list->nbuffers; i++) {
		int ret = place(&list->buffers[i], ctx, err);

		if (ret)
			return ret;
	}
	for (unsigned int i = 0; i < list->count; i++) {
		struct arg *arg = &list->args[i];

		for (unsigned int j = 0; j < arg->nslots; j++) {
			const struct arg_slot *slot = &arg->slots[j];
			uint64_t address = (uintptr_t)list->buffers[slot->buffer].memory +
					   slot->add;

			memcpy(arg->image + slot->offset, &address, sizeof(address));
		}
	}
	return 0;
}

int arg_upload(const struct arg_list *list, struct gpuemu_ctx *ctx, struct err *err)
{
	for (unsigned int i = 0; i < list->nbuffers; i++) {
		const struct arg_buffer *b = &list->buffers[i];
		int ret;

		if (b->fill == ARG_ZERO)
			continue;
		ret = gpuemu_mem_prefetch(ctx, b->memory, b->bytes, NULL);
		if (ret)
			return err_set(err, ret, "uploading %llu bytes: %s",
				       (unsigned long long)b->bytes, gpuemu_last_error(ctx));
	}
	return 0;
}

int arg_check_files(const struct arg_list *list, struct err *err)
{
	int ret = 0;

	for (unsigned int i = 0; i < list->nbuffers && !ret; i++)
		ret = output_check(list->buffers[i].out, err);
	return ret;
}

int arg_write(const struct arg_list *list, struct err *err)
{
	for (unsigned int i = 0; i < list->nbuffers; i++) {
		const struct arg_buffer *b = &list->buffers[i];
		int ret = b->out ? file_write(b->out, b->memory, b->bytes, err) : 0;

		if (ret)
			return ret;
	}
	return 0;
}

uint64_t arg_footprint(const struct arg_list *list)
{
	uint64_t sum = 0;

	for (unsigned int i = 0; i < list->nbuffers; i++)
		sum += list->buffers[i].bytes;
	return sum;
}
