// SPDX-License-Identifier: GPL-2.0
/*
 * The workloads of gpuemu on the GPU of this machine: workloads [SIZE [NAME...]] runs them, with
 * their own host sides and checks, and prints for each the sums of its buffers, to compare with
 * those that gpuemu's engine leaves. The few calls of libgpuemu that a workload makes are
 * answered here by NVIDIA's driver: a launch copies all buffers there and back.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "driver.h"
#include "workload.h"

#define WORKLOAD_SECONDS	60

static struct {
	uint8_t *host;
	driver_address device;
	size_t bytes;
} memory[WORKLOAD_BUFFERS];
static unsigned int nmemory;
static char why[4096];

/* --- what a workload needs of libgpuemu ------------------------------------------------- */
const char *gpuemu_last_error(const struct gpuemu_ctx *ctx)
{
	(void)ctx;
	return why;
}

const char *gpuemu_strerror(int error)
{
	return strerror(-error);
}

int gpuemu_module_load_data(struct gpuemu_ctx *ctx, struct gpuemu_module **module,
			    const char *text, size_t bytes, const char *name)
{
	char *copy = strndup(text, bytes);
	bool ok = copy && driver_load(copy, 0, (void **)module, why, sizeof(why));

	(void)ctx;
	(void)name;
	free(copy);
	return ok ? 0 : -EINVAL;
}

int gpuemu_module_get_function(struct gpuemu_module *module, struct gpuemu_function **function,
			       const char *name)
{
	return driver_function(module, name, (void **)function, why, sizeof(why)) ? 0 : -ENOENT;
}

int gpuemu_mem_alloc_managed(struct gpuemu_ctx *ctx, void **ptr, size_t bytes)
{
	(void)ctx;
	*ptr = nmemory < WORKLOAD_BUFFERS ? calloc(1, bytes) : NULL;
	if (!*ptr || !driver_alloc(bytes, &memory[nmemory].device, why, sizeof(why)))
		return -ENOMEM;
	memory[nmemory].host = *ptr;
	memory[nmemory++].bytes = bytes;
	return 0;
}

static driver_address on_device(const void *ptr)
{
	const uint8_t *p = ptr;

	for (unsigned int i = 0; i < nmemory; i++) {
		if (p >= memory[i].host && p < memory[i].host + memory[i].bytes)
			return memory[i].device + (p - memory[i].host);
	}
	return (uintptr_t)p;
}

int gpuemu_launch(struct gpuemu_function *function, struct gpuemu_dim3 grid,
		  struct gpuemu_dim3 block, size_t dynamic_shared, struct gpuemu_stream *stream,
		  const struct gpuemu_arg *args, unsigned int nargs)
{
	uint64_t values[64];
	void *params[64];
	struct driver_launch launch = {
		.grid = { grid.x, grid.y, grid.z }, .block = { block.x, block.y, block.z },
		.shared = dynamic_shared, .params = params,
	};
	const char *error;
	char *printed;

	(void)stream;
	if (nargs > ARRAY_SIZE(values))
		return -EINVAL;
	for (unsigned int i = 0; i < nargs; i++) {
		values[i] = args[i].type == GPUEMU_ARG_PTR ? on_device(args[i].v.ptr) : args[i].v.u;
		params[i] = args[i].type == GPUEMU_ARG_BYTES ? (void *)(uintptr_t)args[i].v.ptr :
			    &values[i];
	}
	for (unsigned int i = 0; i < nmemory; i++) {
		if (!driver_write(memory[i].device, memory[i].host, memory[i].bytes, why,
				  sizeof(why)))
			return -EIO;
	}
	driver_run(function, &launch, &printed, &error);
	free(printed);
	if (error) {
		snprintf(why, sizeof(why), "%s", error);
		return -EIO;
	}
	for (unsigned int i = 0; i < nmemory; i++) {
		if (!driver_read(memory[i].host, memory[i].device, memory[i].bytes, why,
				 sizeof(why)))
			return -EIO;
	}
	return 0;
}

/* Launches have waited, and all is on both sides. */
int gpuemu_synchronize(struct gpuemu_ctx *ctx)
{
	(void)ctx;
	return 0;
}

int gpuemu_stream_synchronize(struct gpuemu_ctx *ctx, struct gpuemu_stream *stream)
{
	(void)ctx;
	(void)stream;
	return 0;
}

int gpuemu_mem_prefetch(struct gpuemu_ctx *ctx, const void *ptr, size_t bytes,
			struct gpuemu_stream *stream)
{
	(void)ctx;
	(void)ptr;
	(void)bytes;
	(void)stream;
	return 0;
}

int gpuemu_mem_prefetch_host(struct gpuemu_ctx *ctx, const void *ptr, size_t bytes,
			     struct gpuemu_stream *stream)
{
	return gpuemu_mem_prefetch(ctx, ptr, bytes, stream);
}

/* --- the runs ----------------------------------------------------------------------------- */
static uint64_t sum_of(const uint8_t *p, size_t bytes)
{
	uint64_t sum = 0xcbf29ce484222325;

	for (size_t i = 0; i < bytes; i++)
		sum = (sum ^ p[i]) * 0x100000001b3;
	return sum;
}

static void __attribute__((noreturn)) child(const struct workload_row *row,
					    enum workload_size size)
{
	struct workload w;
	int failed;

	alarm(WORKLOAD_SECONDS);
	workload_init(&w, row->ops, 1);
	workload_resize(&w, size);
	if (!driver_open(why, sizeof(why))) {
		printf("%s: %s\n", row->ops->name, why);
		exit(1);
	}
	failed = workload_begin(&w, row, NULL);
	if (!failed)
		failed = row->ops->run(&w);
	if (!failed)
		failed = row->ops->verify(&w);
	printf("%s: %s", row->ops->name, failed ? w.err.text : "as the CPU");
	for (unsigned int i = 0; i < nmemory; i++) {
		printf(" %016llx", (unsigned long long)sum_of(memory[i].host, memory[i].bytes));
		if (!failed && !driver_free(memory[i].device, memory[i].bytes, why, sizeof(why)))
			printf(" (%s)", why);
	}
	putchar('\n');
	exit(failed != 0);
}

int main(int argc, char **argv)
{
	enum workload_size size = WORKLOAD_TINY;
	const struct workload_row *row;
	struct err err;
	int bad = 0;

	if (argc > 1 && workload_size_parse(argv[1], &size, &err)) {
		fprintf(stderr, "workloads: %s\n", err.text);
		return 2;
	}
	for (unsigned int n = 0; (row = workload_row(n)); n++) {
		bool named = argc < 3;
		int status;

		for (int i = 2; i < argc; i++)
			named |= !strcmp(argv[i], row->ops->name);
		if (!named)
			continue;
		fflush(stdout);
		if (!fork())
			child(row, size);
		wait(&status);
		if (WIFSIGNALED(status))
			printf("%s: %s\n", row->ops->name, strsignal(WTERMSIG(status)));
		bad |= status;
	}
	return bad != 0;
}
