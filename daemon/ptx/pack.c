// SPDX-License-Identifier: GPL-2.0
/*
 * A parsed module as one piece of memory, so that a process can parse it and another one use
 * it: what pack writes is the module's structs and arrays one behind the other, with offsets
 * in the place of pointers. Called by gpuemud's loader and by the daemon.
 *
 * Instructions hold no pointer. A piece that is mapped privately from a file shares their pages
 * with every other mapping of the file.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/u64map.h"
#include "ptx/parser.h"

#define MAGIC	0x31787470756d6567ull
#define ALIGN	16u

struct head {
	uint64_t magic;
	uint64_t module;		/* where it is */
};

/* --- packing ---------------------------------------------------------------------- */

struct packer {
	ptx_put *put;
	void *ctx;
	uint64_t at;
	struct u64map strings;		/* where a string is that was packed, by its address */
	int ret;
};

/* Returns where it is, as a pointer. */
static void *put(struct packer *p, const void *data, uint64_t bytes)
{
	static const char zeros[ALIGN];
	uint64_t pad = -p->at % ALIGN, at = p->at + pad;

	if (!data || !bytes || p->ret)
		return NULL;
	if (!p->put(p->ctx, zeros, pad) || !p->put(p->ctx, data, bytes))
		p->ret = -ENOSPC;
	p->at = at + bytes;
	return (void *)(uintptr_t)at;
}

static const char *put_string(struct packer *p, const char *text)
{
	uint64_t known;
	char *at;

	if (!text)
		return NULL;
	if (u64map_get(&p->strings, (uintptr_t)text, &known))
		return (const char *)(uintptr_t)known;
	at = put(p, text, strlen(text) + 1);
	if (!p->ret && u64map_put(&p->strings, (uintptr_t)text, (uintptr_t)at))
		p->ret = -ENOMEM;
	return at;
}

/* A copy of an array whose elements get other pointers; NULL: there is none, or p->ret is set. */
static void *copy(struct packer *p, const void *data, uint64_t n, size_t bytes)
{
	void *to = n && data ? malloc(n * bytes) : NULL;

	if (to)
		memcpy(to, data, n * bytes);
	else if (n && data)
		p->ret = -ENOMEM;
	return to;
}

static void *put_copy(struct packer *p, void *data, uint64_t n, size_t bytes)
{
	void *at = put(p, data, n * bytes);

	free(data);
	return at;
}

#define PUT(p, array, n)	put(p, array, (uint64_t)(n) * sizeof(*(array)))

static void put_kernel(struct packer *p, struct ptx_kernel *k)
{
	struct ptx_reg *regs = copy(p, k->regs, k->nregs, sizeof(*regs));
	struct ptx_function *functions = copy(p, k->functions, k->nfunctions, sizeof(*functions));
	struct ptx_call *calls = copy(p, k->calls, k->ncalls, sizeof(*calls));
	struct ptx_table *tables = copy(p, k->tables, k->ntables, sizeof(*tables));
	uint32_t i;

	for (i = 0; !p->ret && i < k->nregs; i++)
		regs[i].name = put_string(p, regs[i].name);
	for (i = 0; !p->ret && i < k->nfunctions; i++) {
		functions[i].name = put_string(p, functions[i].name);
		functions[i].formals = PUT(p, functions[i].formals, functions[i].nformals);
		functions[i].results = PUT(p, functions[i].results, functions[i].nresults);
	}
	for (i = 0; !p->ret && i < k->ncalls; i++) {
		calls[i].args = PUT(p, calls[i].args, calls[i].nargs);
		calls[i].results = PUT(p, calls[i].results, calls[i].nresults);
	}
	for (i = 0; !p->ret && i < k->ntables; i++)
		tables[i].targets = PUT(p, tables[i].targets, tables[i].count);
	k->name = put_string(p, k->name);
	k->insns = PUT(p, k->insns, k->ninsns);
	k->phys = PUT(p, k->phys, k->nregs);
	k->params = PUT(p, k->params, k->nparams);
	k->live = PUT(p, k->live, k->ninsns);
	k->phases = PUT(p, k->phases, k->nphases);
	k->extents = PUT(p, k->extents, k->extents ? k->ninsns : 0);
	k->regs = put_copy(p, regs, k->nregs, sizeof(*regs));
	k->functions = put_copy(p, functions, k->nfunctions, sizeof(*functions));
	k->calls = put_copy(p, calls, k->ncalls, sizeof(*calls));
	k->tables = put_copy(p, tables, k->ntables, sizeof(*tables));
	/* The module's own. */
	k->module = NULL;
	k->const_data = NULL;
	k->owner = NULL;
}

static struct ptx_kernel **put_kernels(struct packer *p, const struct ptx_module *m)
{
	struct ptx_kernel **kernels = copy(p, m->kernels, m->nkernels, sizeof(*kernels));
	uint32_t i;

	for (i = 0; !p->ret && i < m->nkernels; i++) {
		struct ptx_kernel kernel = *m->kernels[i];

		put_kernel(p, &kernel);
		kernels[i] = put(p, &kernel, sizeof(kernel));
	}
	return put_copy(p, kernels, m->nkernels, sizeof(*kernels));
}

static struct ptx_variable *put_variables(struct packer *p, const struct ptx_variable *from,
					  uint32_t n)
{
	struct ptx_variable *to = copy(p, from, n, sizeof(*to));
	uint32_t i;

	for (i = 0; !p->ret && i < n; i++)
		to[i].name = put_string(p, to[i].name);
	return put_copy(p, to, n, sizeof(*to));
}

static struct refused *put_refused(struct packer *p, const struct ptx_module *m)
{
	struct refused *to = copy(p, m->refused, m->nrefused, sizeof(*to));
	uint32_t i;

	for (i = 0; !p->ret && i < m->nrefused; i++) {
		to[i].name = put_string(p, to[i].name);
		to[i].why = put_string(p, to[i].why);
	}
	return put_copy(p, to, m->nrefused, sizeof(*to));
}

int ptx_module_pack(const struct ptx_module *module, ptx_put *put_bytes, void *ctx)
{
	struct packer p = { .put = put_bytes, .ctx = ctx };
	struct ptx_module m = *module;
	struct head head = { .magic = MAGIC };

	/* First, so that nothing else is at 0. The head is at the end, when all has its place. */
	m.slab = (struct slab){ NULL };
	m.memory = NULL;
	m.memory_bytes = 0;
	m.name = put_string(&p, module->name);
	m.kernels = put_kernels(&p, module);
	m.variables = put_variables(&p, module->variables, module->nvariables);
	m.constants = put_variables(&p, module->constants, module->nconstants);
	m.refused = put_refused(&p, module);
	m.const_data = put(&p, module->const_data, module->const_bytes);
	m.global_image = put(&p, module->global_image, module->global_bytes);
	m.addresses = PUT(&p, module->addresses, module->naddresses);
	head.module = (uintptr_t)put(&p, &m, sizeof(m));
	put(&p, &head, sizeof(head));
	u64map_clear(&p.strings);
	return p.ret;
}

/* --- unpacking -------------------------------------------------------------------- */

struct unpacker {
	uint8_t *at;
	uint64_t bytes;
	bool bad;
};

static void *place(struct unpacker *u, const void *offset, uint64_t n, uint64_t bytes)
{
	uint64_t at = (uintptr_t)offset;

	if (!at && !n)
		return NULL;
	if (at > u->bytes || n > (u->bytes - at) / bytes || at % ALIGN) {
		u->bad = true;
		return NULL;
	}
	return n ? u->at + at : NULL;
}

/* Sets the pointer right; false: there is nothing to go through behind it. */
#define PLACE(u, array, n)	((array) = place(u, array, n, sizeof(*(array))), !(u)->bad)

static void place_string(struct unpacker *u, const char **text)
{
	*text = place(u, *text, 1, 1);
	if (!u->bad && !memchr(*text, '\0', u->bytes - (uint64_t)((const uint8_t *)*text - u->at)))
		u->bad = true;
}

static void place_kernel(struct unpacker *u, struct ptx_kernel *k, struct ptx_module *m)
{
	uint32_t i;

	place_string(u, &k->name);
	if (!PLACE(u, k->insns, k->ninsns) || !PLACE(u, k->phys, k->nregs) ||
	    !PLACE(u, k->params, k->nparams) || !PLACE(u, k->live, k->ninsns) ||
	    !PLACE(u, k->phases, k->nphases) || !PLACE(u, k->regs, k->nregs) ||
	    !PLACE(u, k->extents, k->nphases ? k->ninsns : 0) ||
	    !PLACE(u, k->functions, k->nfunctions) || !PLACE(u, k->calls, k->ncalls) ||
	    !PLACE(u, k->tables, k->ntables))
		return;
	for (i = 0; i < k->nregs && !u->bad; i++)
		if (k->regs[i].name)
			place_string(u, &k->regs[i].name);
	for (i = 0; i < k->nfunctions && !u->bad; i++) {
		place_string(u, &k->functions[i].name);
		PLACE(u, k->functions[i].formals, k->functions[i].nformals);
		PLACE(u, k->functions[i].results, k->functions[i].nresults);
	}
	for (i = 0; i < k->ncalls && !u->bad; i++) {
		PLACE(u, k->calls[i].args, k->calls[i].nargs);
		PLACE(u, k->calls[i].results, k->calls[i].nresults);
	}
	for (i = 0; i < k->ntables && !u->bad; i++)
		PLACE(u, k->tables[i].targets, k->tables[i].count);
	k->module = m->name;
	k->const_data = m->const_data;
	k->owner = m;
}

static void place_module(struct unpacker *u, struct ptx_module *m)
{
	uint32_t i;

	place_string(u, &m->name);
	if (!PLACE(u, m->kernels, m->nkernels) || !PLACE(u, m->variables, m->nvariables) ||
	    !PLACE(u, m->constants, m->nconstants) || !PLACE(u, m->refused, m->nrefused) ||
	    !PLACE(u, m->const_data, m->const_bytes) ||
	    !PLACE(u, m->global_image, m->global_bytes) ||
	    !PLACE(u, m->addresses, m->naddresses))
		return;
	for (i = 0; i < m->nkernels && !u->bad; i++)
		if (PLACE(u, m->kernels[i], 1))
			place_kernel(u, m->kernels[i], m);
	for (i = 0; i < m->nvariables && !u->bad; i++)
		place_string(u, &m->variables[i].name);
	for (i = 0; i < m->nconstants && !u->bad; i++)
		place_string(u, &m->constants[i].name);
	for (i = 0; i < m->nrefused && !u->bad; i++) {
		place_string(u, &m->refused[i].name);
		place_string(u, &m->refused[i].why);
	}
}

int ptx_module_unpack(void *memory, size_t bytes, struct ptx_module **out)
{
	struct unpacker u = { .at = memory, .bytes = bytes };
	const struct head *head;
	struct ptx_module *m;

	if (bytes < sizeof(*head) || bytes % ALIGN)
		return -EINVAL;
	head = (const struct head *)(u.at + bytes - sizeof(*head));
	if (head->magic != MAGIC)
		return -EINVAL;
	m = place(&u, (const void *)(uintptr_t)head->module, 1, sizeof(*m));
	if (u.bad)
		return -EINVAL;
	place_module(&u, m);
	if (u.bad)
		return -EINVAL;
	m->memory = memory;
	m->memory_bytes = bytes;
	*out = m;
	return 0;
}

void packed_free(struct ptx_module *module)
{
	munmap(module->memory, module->memory_bytes);
}
