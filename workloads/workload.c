// SPDX-License-Identifier: GPL-2.0
/*
 * What all workloads share: the table, their options, and the life of a run.
 * Not a workload itself; called by the tool and the tests.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/nearest.h"
#include "workload.h"

/* Launches that a workload beside others has in its stream at most. */
#define LAUNCHES_AHEAD	32u

#define X(name)								\
	extern const struct workload_ops workload_##name;		\
	extern const char gpuemu_ptx_##name[], gpuemu_ptx_##name##_end[];
#include "workloads.def"
#undef X

static const struct workload_row rows[] = {
#define X(name) { &workload_##name, gpuemu_ptx_##name, gpuemu_ptx_##name##_end },
#include "workloads.def"
#undef X
};

const struct workload_row *workload_row(unsigned int n)
{
	return n < ARRAY_SIZE(rows) ? &rows[n] : NULL;
}

const struct workload_row *workload_find(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		if (!strcmp(rows[i].ops->name, name))
			return &rows[i];
	return NULL;
}

int workload_unknown(const char *name, struct err *err)
{
	struct nearest near;

	nearest_begin(&near, name);
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		nearest_try(&near, rows[i].ops->name);
	if (near.name)
		return err_set(err, -EINVAL, "unknown workload '%s'; did you mean '%s'? gpuemu list "
			       "workloads has all of them", name, near.name);
	return err_set(err, -EINVAL, "unknown workload '%s'; gpuemu list workloads has all of them", name);
}

int number_parse(const char *text, uint64_t *value)
{
	unsigned int shift = 0;
	uint64_t n;
	char *end;

	if (*text < '0' || *text > '9')
		return -EINVAL;
	errno = 0;
	n = strtoull(text, &end, 0);
	if (errno)
		return -ERANGE;
	switch (*end) {
	case 'k': case 'K':
		shift = 10;
		break;
	case 'm': case 'M':
		shift = 20;
		break;
	case 'g': case 'G':
		shift = 30;
		break;
	}
	if (end[shift > 0])
		return -EINVAL;
	if (n > UINT64_MAX >> shift)
		return -ERANGE;
	*value = n << shift;
	return 0;
}

void workload_init(struct workload *w, const struct workload_ops *ops,
		   uint64_t seed)
{
	memset(w, 0, sizeof(*w));
	w->ops = ops;
	w->seed = seed;
	workload_resize(w, WORKLOAD_MEDIUM);
}

/* SMALL lowers it, so it is what makes the workload large. */
static bool scales(const struct workload_option *o)
{
	return o->quick && o->quick < o->def;
}

uint64_t workload_option_at(const struct workload_ops *ops, unsigned int option,
			    enum workload_size size)
{
	const struct workload_option *o = &ops->options[option];
	unsigned int scaling = 0;

	if (size == WORKLOAD_TINY && o->tiny)
		return o->tiny;
	if (size == WORKLOAD_SMALL && o->quick)
		return o->quick;
	if (size != WORKLOAD_LARGE)
		return o->def;
	if (o->large || !scales(o))
		return o->large ? o->large : o->def;
	for (unsigned int i = 0; i < WORKLOAD_OPTIONS && ops->options[i].key; i++)
		scaling += scales(&ops->options[i]);
	return MIN(o->def * (scaling > 1 ? 2 : 4), o->max);
}

void workload_resize(struct workload *w, enum workload_size size)
{
	for (unsigned int i = 0; i < WORKLOAD_OPTIONS && w->ops->options[i].key; i++)
		w->option[i] = workload_option_at(w->ops, i, size);
}

int workload_size_parse(const char *name, enum workload_size *size, struct err *err)
{
	static const struct {
		const char *name;
		enum workload_size size;
	} sizes[] = {
		{ "tiny", WORKLOAD_TINY }, { "small", WORKLOAD_SMALL },
		{ "medium", WORKLOAD_MEDIUM }, { "large", WORKLOAD_LARGE },
		{ "quick", WORKLOAD_SMALL }, { "default", WORKLOAD_MEDIUM },
	};

	for (unsigned int i = 0; i < ARRAY_SIZE(sizes); i++) {
		if (!strcmp(sizes[i].name, name)) {
			*size = sizes[i].size;
			return 0;
		}
	}
	return err_set(err, -EINVAL, "size: no '%s'; there are: tiny, small (or quick), medium "
		       "(or default), large", name);
}

static int set_size(struct workload *w, const char *name, struct err *err)
{
	enum workload_size size;
	int ret = workload_size_parse(name, &size, err);

	if (!ret)
		workload_resize(w, size);
	return ret;
}

/* "n, block" */
static void option_keys(const struct workload_ops *ops, char *text, size_t size)
{
	size_t used = 0;

	text[0] = '\0';
	for (unsigned int i = 0; i < WORKLOAD_OPTIONS && ops->options[i].key; i++) {
		int n = snprintf(text + used, size - used, "%s%s",
				 i ? ", " : "", ops->options[i].key);

		if (n < 0 || (size_t)n >= size - used)
			return;
		used += (size_t)n;
	}
}

int workload_set(struct workload *w, const char *setting, struct err *err)
{
	const char *equals = strchr(setting, '=');
	size_t length = equals ? (size_t)(equals - setting) : 0;
	uint64_t value;
	char keys[256];

	if (!length)
		return err_set(err, -EINVAL, "'%s' is not key=value", setting);
	if (length == 4 && !strncmp(setting, "size", length))
		return set_size(w, equals + 1, err);
	for (unsigned int i = 0; i < WORKLOAD_OPTIONS; i++) {
		const struct workload_option *o = &w->ops->options[i];
		int ret;

		if (!o->key)
			break;
		if (strlen(o->key) != length || strncmp(o->key, setting, length))
			continue;
		ret = number_parse(equals + 1, &value);
		if (ret == -EINVAL)
			return err_set(err, ret, "%s: '%s' is not a number (as 4096, 64K, 1M)",
				       o->key, equals + 1);
		if (ret || value < o->min || value > o->max)
			return err_set(err, -ERANGE, "%s: %s is outside %" PRIu64 " to %" PRIu64,
				       o->key, equals + 1, o->min, o->max);
		w->option[i] = value;
		return 0;
	}
	option_keys(w->ops, keys, sizeof(keys));
	return err_set(err, -ENOENT, "%s has no option '%.*s'; it has: %s, size",
		       w->ops->name, (int)length, setting, keys);
}

int workload_failed(struct workload *w, int code, const char *what)
{
	const char *reason = gpuemu_last_error(w->ctx);

	if (reason && *reason)
		return err_set(&w->err, code, "%s: %s", what, reason);
	return err_set(&w->err, code, "%s: %s", what, gpuemu_strerror(code));
}

int workload_power_of_two(struct workload *w, unsigned int option)
{
	uint64_t n = w->option[option];

	if (!(n & (n - 1)))
		return 0;
	return err_set(&w->err, -EINVAL, "%s: %" PRIu64 " is not a power of two",
		       w->ops->options[option].key, n);
}

int workload_begin(struct workload *w, const struct workload_row *row,
		   struct gpuemu_ctx *ctx)
{
	char name[64];
	int ret;

	w->ctx = ctx;
	w->state = calloc(1, w->ops->state_bytes);
	if (!w->state)
		return err_set(&w->err, -ENOMEM, "no memory");
	snprintf(name, sizeof(name), "%s.ptx", w->ops->name);
	ret = gpuemu_module_load_data(ctx, &w->module, row->ptx,
				      (size_t)(row->ptx_end - row->ptx), name);
	if (ret)
		workload_failed(w, ret, "loading the PTX");
	else
		ret = w->ops->setup(w);
	if (ret)
		workload_end(w);
	return ret;
}

void workload_end(struct workload *w)
{
	free(w->state);
	w->state = NULL;
	w->module = NULL;
	w->ctx = NULL;
}

int workload_alloc(struct workload *w, void **ptr, size_t bytes,
		   enum workload_direction direction, const char *what)
{
	char text[96];
	int ret;

	if (w->nbuffers == WORKLOAD_BUFFERS)
		return err_set(&w->err, -EINVAL, "%s has more than %d buffers",
			       w->ops->name, WORKLOAD_BUFFERS);
	ret = gpuemu_mem_alloc_managed(w->ctx, ptr, bytes);
	if (!ret) {
		w->buffers[w->nbuffers++] = (struct workload_buffer){
			*ptr, bytes, direction
		};
		w->footprint += bytes;
		return 0;
	}
	snprintf(text, sizeof(text), "allocating %s (%zu bytes)", what, bytes);
	return workload_failed(w, ret, text);
}

int workload_launch(struct workload *w, const char *kernel, uint32_t ctas,
		    uint32_t threads, const struct gpuemu_arg *args,
		    unsigned int nargs)
{
	struct gpuemu_dim3 grid = { ctas, 1, 1 }, block = { threads, 1, 1 };

	return workload_launch_grid(w, kernel, grid, block, args, nargs);
}

int workload_launch_grid(struct workload *w, const char *kernel,
			 struct gpuemu_dim3 grid, struct gpuemu_dim3 block,
			 const struct gpuemu_arg *args, unsigned int nargs)
{
	struct gpuemu_function *function;
	int ret;

	ret = gpuemu_module_get_function(w->module, &function, kernel);
	if (ret)
		return workload_failed(w, ret, "looking up the kernel");
	ret = gpuemu_launch(function, grid, block, w->shared, w->stream, args, nargs);
	if (ret)
		return workload_failed(w, ret, "launching");
	/* A queue has an end, at which the library would wait, and nobody else have his turn. */
	return w->wait && ++w->launched == LAUNCHES_AHEAD ? workload_synchronize(w) : 0;
}

int workload_synchronize(struct workload *w)
{
	int ret;

	w->launched = 0;
	if (w->wait)
		w->wait(w);
	ret = w->stream ? gpuemu_stream_synchronize(w->ctx, w->stream) :
			  gpuemu_synchronize(w->ctx);
	return ret ? workload_failed(w, ret, "running") : 0;
}

int workload_to_host(struct workload *w, const void *ptr, size_t bytes)
{
	int ret = gpuemu_mem_prefetch_host(w->ctx, ptr, bytes, w->stream);

	return ret ? workload_failed(w, ret, "taking pages to the host") : workload_synchronize(w);
}

int workload_to_device(struct workload *w, const void *ptr, size_t bytes)
{
	int ret;

	if (!w->copies)
		return 0;
	ret = gpuemu_mem_prefetch(w->ctx, ptr, bytes, w->stream);
	return ret ? workload_failed(w, ret, "copying to the device") : 0;
}
