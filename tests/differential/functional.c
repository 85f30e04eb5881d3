// SPDX-License-Identifier: GPL-2.0
/*
 * Kernels without time: each buffer is a range of its own at its host address,
 * with unmapped pages around it, so that an access outside is found.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "exec_tables.h"
#include "engine.h"

#define STACK_BYTES	8192	/* for what recurses at -O0 */
#define ARENA_BYTES	(64u << 20)

struct functional {
	struct ptx_module *module;
	uint8_t *arena;
	uint8_t *segment;	/* of the module's variables */
	uint64_t segment_bytes;
	char *printed;
	size_t printed_bytes;
};

const char *functional_lanes(unsigned int n)
{
	const struct lane_table *table = test_table(n);

	return table ? table->name : NULL;
}

void *functional_open(struct text ptx, const char *name, unsigned int maxregs, char *why,
		      size_t bytes)
{
	struct functional *f = calloc(1, sizeof(*f));
	/* With phases an assertion compares addresses with what the compiler says of them. */
	struct ptx_options options = {
		.maxregs = maxregs, .stack_bytes = STACK_BYTES, .phases = PTX_PHASES_MARK,
	};
	uint32_t align = 1;
	struct err err;

	if (!f)
		abort();
	if (ptx_module_parse_with(ptx.start, ptx.bytes, name, &options, &f->module, &err)) {
		snprintf(why, bytes, "%s", err.text);
		free(f);
		return NULL;
	}
	f->arena = mmap(NULL, ARENA_BYTES, PROT_NONE,
			MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (f->arena == MAP_FAILED)
		abort();
	f->segment_bytes = ptx_module_global_bytes(f->module, &align);
	return f;
}

void functional_close(void *engine)
{
	struct functional *f = engine;

	munmap(f->arena, ARENA_BYTES);
	ptx_module_free(f->module);
	free(f->printed);
	free(f);
}

/* Pages for `bytes` at the arena's *at, which moves past them and a page that faults. */
static void *place(struct functional *f, size_t *at, size_t bytes)
{
	uint8_t *p = f->arena + *at;
	size_t whole = DIV_ROUND_UP(bytes, PAGE_BYTES) * PAGE_BYTES;

	if (*at + whole + PAGE_BYTES > ARENA_BYTES || mprotect(p, whole, PROT_READ | PROT_WRITE))
		abort();
	*at += whole + PAGE_BYTES;
	return p;
}

static void take_print(void *ctx, const char *text, size_t bytes)
{
	struct functional *f = ctx;

	f->printed = realloc(f->printed, f->printed_bytes + bytes + 1);
	if (!f->printed)
		abort();
	memcpy(f->printed + f->printed_bytes, text, bytes);
	f->printed_bytes += bytes;
	f->printed[f->printed_bytes] = '\0';
}

static bool run_once(struct functional *f, const struct diff_case *c, const struct arguments *args,
		     const char *printed, const struct lane_table *lanes, char *why, size_t bytes)
{
	const struct ptx_kernel *kernel = ptx_module_kernel(f->module, c->name);
	struct exec_range ranges[MAX_ARGS + 1];
	void *buffers[MAX_ARGS] = { NULL };
	uint8_t params[MAX_PARAM_BYTES];
	struct exec_program *program;
	struct exec_launch launch;
	struct exec_grid grid = { 0 };
	struct err err = { "" };
	unsigned int n = 0;
	size_t at = 0;
	bool ok = true;
	int ret;

	if (!kernel) {
		snprintf(why, bytes, "the module has no such kernel");
		return false;
	}
	if (kernel->param_bytes != args->param_bytes) {
		snprintf(why, bytes, "%u bytes of parameters, the row has %u", kernel->param_bytes,
			 args->param_bytes);
		return false;
	}
	for (unsigned int i = 0; i < args->n; i++) {
		const struct argument *arg = &args->arg[i];

		if (!arg->is_buffer)
			continue;
		buffers[i] = place(f, &at, arg->bytes);
		argument_fill(arg, c, i, buffers[i]);
		ranges[n++] = (struct exec_range){ (uintptr_t)buffers[i], arg->bytes, buffers[i] };
	}
	if (f->segment_bytes) {
		f->segment = place(f, &at, f->segment_bytes);
		ptx_module_place(f->module, (uintptr_t)f->segment);
		memcpy(f->segment, ptx_module_global_image(f->module), f->segment_bytes);
		ranges[n++] = (struct exec_range){ (uintptr_t)f->segment, f->segment_bytes,
						   f->segment };
	}
	arguments_params(args, buffers, params);
	if (program_create_with(kernel, lanes, &program, &err)) {
		snprintf(why, bytes, "%s", err.text);
		return false;
	}
	f->printed_bytes = 0;
	launch = (struct exec_launch){
		.program = program, .grid = { c->grid.x, c->grid.y, c->grid.z },
		.block = { c->block.x, c->block.y, c->block.z }, .dynamic_shared = c->shared,
		.grid_id = 1, .params = params, .print = take_print, .print_ctx = f,
	};
	grid.launch = &launch;
	grid.ranges = ranges;
	grid.nranges = n;
	ret = exec_grid_run(&grid, &err);
	if (c->fails) {
		ok = failure_judge(c, ret, err.text, why, bytes);
	} else if (ret) {
		snprintf(why, bytes, "%d: %s", ret, err.text);
		ok = false;
	}
	for (unsigned int i = 0; i < args->n && ok && !c->fails; i++) {
		if (args->arg[i].is_buffer)
			ok = argument_judge(&args->arg[i], i, buffers[i], why, bytes);
	}
	if (ok && !c->fails)
		ok = printed_judge(printed, f->printed_bytes ? f->printed : "", why, bytes);
	exec_program_free(program);
	mprotect(f->arena, at, PROT_NONE);
	return ok;
}

bool functional_run(void *engine, const struct diff_case *c, const struct arguments *args,
		    const char *printed, int lanes, char *why, size_t bytes)
{
	const struct lane_table *table;
	char inner[400];

	for (unsigned int i = 0; (table = test_table(i)); i++) {
		if (lanes >= 0 && (int)i != lanes)
			continue;
		if (!run_once(engine, c, args, printed, table, inner, sizeof(inner))) {
			snprintf(why, bytes, "lanes %s: %s", table->name, inner);
			return false;
		}
	}
	return true;
}
