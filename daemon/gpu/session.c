// SPDX-License-Identifier: GPL-2.0
/*
 * One client's VA space on the GPU: its options, its PTX modules, and what it
 * asks for besides launches.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "gpu/loop.h"

/* s->paging, or NULL. */
static int make_paging(struct gpu_session *s, struct machine *m, struct err *err)
{
	int ret = paging_create_knowing(s->gpu->pool, s->va_space, &m->spec, &s->known.now,
					&s->paging, err);

	if (ret) {
		s->paging = NULL;
		return ret;
	}
	paging_listen(s->paging, &handler_events, &m->handler);
	ret = paging_set_user(s->paging, s->user);
	if (ret) {
		paging_destroy(s->paging);
		s->paging = NULL;
		return err_set(err, ret, "out of memory");
	}
	return 0;
}

int gpu_session_set_user(struct gpu_session *s, uint32_t user)
{
	s->user = user;
	return s->paging ? paging_set_user(s->paging, user) : 0;
}

int gpu_session_create(struct gpu *gpu, uint32_t va_space,
		       const struct gpu_spec *spec,
		       struct gpu_session **out, struct err *err)
{
	struct gpu_session **link = &gpu->sessions;
	struct gpu_session *s;
	int ret = gpu_spec_check(spec, err);

	if (!ret)
		ret = gpu_supports(gpu, spec, err);
	if (ret)
		return ret;
	s = calloc(1, sizeof(*s));
	if (!s)
		return err_set(err, -ENOMEM, "out of memory");
	s->gpu = gpu;
	s->va_space = va_space;
	s->loop = malloc(sizeof(*s->loop));
	ret = s->loop ? machine_create(s, spec, &s->machine, err) :
	      err_set(err, -ENOMEM, "out of memory");
	if (!ret)
		ret = make_paging(s, s->machine, err);
	samples_reset(&s->samples, spec->interval, 0);
	fault_log_reset(&s->fault_log, spec);
	if (!ret && timeline_reset(&s->timeline, spec)) {
		paging_destroy(s->paging);
		ret = err_set(err, -ENOMEM, "gpu.trace: no memory for the timeline");
	}
	if (ret) {
		machine_destroy(s->machine);
		free(s->loop);
		free(s);
		return ret;
	}
	/* In the order of creation, so that nothing depends on addresses. */
	while (*link)
		link = &(*link)->next;
	*link = s;
	*out = s;
	return 0;
}

static void module_free(struct module *m)
{
	for (unsigned int i = 0; m->programs && i < m->nkernels; i++)
		exec_program_free(m->programs[i]);
	free(m->programs);
	for (struct stacked *s = m->stacked, *next; s; s = next) {
		next = s->next;
		exec_program_free(s->program);
		free(s);
	}
	ptx_module_free(m->ptx);
	free(m);
}

void gpu_session_destroy(struct gpu_session *s)
{
	struct gpu_session **link;

	if (!s)
		return;
	session_finish(s);
	for (link = &s->gpu->sessions; *link != s; link = &(*link)->next)
		;
	*link = s->next;
	while (s->modules)
		gpu_session_unload(s, s->modules->id);
	if (s->paging)
		paging_destroy(s->paging);
	known_clear(&s->known);
	machine_destroy(s->machine);
	timeline_reset(&s->timeline, NULL);
	fault_log_reset(&s->fault_log, NULL);
	link_use_reset(&s->link_use);
	samples_free(&s->samples);
	output_clear(&s->output);
	free(s->kernels);
	free(s->targets);
	free(s->loop);
	free(s);
}

int gpu_session_configure(struct gpu_session *s, const struct gpu_spec *spec,
			  struct err *err)
{
	struct machine *machine;
	int ret = gpu_spec_check(spec, err);

	session_finish(s);
	if (!ret)
		ret = gpu_supports(s->gpu, spec, err);
	if (!ret)
		ret = machine_create(s, spec, &machine, err);
	if (ret)
		return ret;
	if (s->paging)
		paging_destroy(s->paging);
	s->paging = NULL;
	known_adopt(&s->known);
	ret = make_paging(s, machine, err);
	if (ret) {
		/* Back to what worked. */
		machine_destroy(machine);
		make_paging(s, s->machine, NULL);
		return ret;
	}
	machine_destroy(s->machine);
	s->machine = machine;
	s->now = 0;
	memset(s->copy_free, 0, sizeof(s->copy_free));
	s->grids = 0;
	s->nkernels = 0;
	s->ntargets = 0;
	link_use_reset(&s->link_use);
	samples_reset(&s->samples, spec->interval, 0);
	fault_log_reset(&s->fault_log, spec);
	return timeline_reset(&s->timeline, spec) ?
		err_set(err, -ENOMEM, "gpu.trace: no memory for the timeline") : 0;
}

static struct module **module_link(struct gpu_session *s, uint32_t id)
{
	struct module **link = &s->modules;

	while (*link && (*link)->id != id)
		link = &(*link)->next;
	return link;
}

/*
 * CUDA's compilers take it that a CTA of 256 threads runs whatever the kernel has in registers. The
 * SM of a smaller register file has no room for 255 each.
 */
uint32_t gpu_maxregs(const struct gpu_spec *spec)
{
	if (spec->maxregs)
		return (uint32_t)spec->maxregs;
	return spec->registers < 256 * PTX_MAX_MAXREGS ? 128 : PTX_MAX_MAXREGS;
}

void gpu_session_ptx_options(const struct gpu_session *s, struct ptx_options *options)
{
	const struct gpu_spec *spec = &s->machine->spec;

	/* The padding too: the options are compared by their bytes. */
	memset(options, 0, sizeof(*options));
	options->maxregs = gpu_maxregs(spec);
	options->stack_bytes = (uint32_t)spec->stack_bytes;
	options->phases = (uint8_t)sm_phases(spec);
	options->plenty = (uint8_t)sm_plenty(spec);
	options->leave_out = true;
}

static int module_prepare(struct module *m, uint64_t global_base, struct err *err)
{
	uint32_t align;

	while (ptx_module_kernel_at(m->ptx, m->nkernels))
		m->nkernels++;
	m->programs = calloc(MAX(m->nkernels, 1u), sizeof(*m->programs));
	if (!m->programs)
		return err_set(err, -ENOMEM, "out of memory");
	if (!ptx_module_global_bytes(m->ptx, &align))
		return 0;
	if (!global_base)
		return err_set(err, -EINVAL,
			       "%s: nothing is known of the place of its .global variables: load it again",
			       ptx_module_name(m->ptx));
	ptx_module_place(m->ptx, global_base);
	return 0;
}

int gpu_session_adopt(struct gpu_session *s, uint32_t id, struct ptx_module *ptx,
		      uint64_t global_base, struct err *err)
{
	struct module **link = module_link(s, id);
	struct module *m = calloc(1, sizeof(*m));
	int ret;

	if (!m) {
		ptx_module_free(ptx);
		return err_set(err, -ENOMEM, "out of memory");
	}
	m->id = id;
	m->ptx = ptx;
	ret = *link ? err_set(err, -EEXIST, "%s: module %u is loaded already",
			      ptx_module_name(ptx), id) : module_prepare(m, global_base, err);
	if (!ret)
		ret = addresses_take(s, m, err);
	if (ret) {
		module_free(m);
		return ret;
	}
	*link = m;
	return 0;
}

int gpu_session_load(struct gpu_session *s, uint32_t id, const char *name,
		     const char *text, size_t bytes, uint64_t global_base, struct err *err)
{
	struct ptx_options options;
	struct ptx_module *ptx;
	int ret;

	if (gpu_session_loaded(s, id))
		return err_set(err, -EEXIST, "%s: module %u is loaded already", name, id);
	gpu_session_ptx_options(s, &options);
	ret = ptx_module_parse_with(text, bytes, name, &options, &ptx, err);
	return ret ? ret : gpu_session_adopt(s, id, ptx, global_base, err);
}

bool gpu_session_loaded(const struct gpu_session *s, uint32_t id)
{
	for (const struct module *m = s->modules; m; m = m->next) {
		if (m->id == id)
			return true;
	}
	return false;
}

int gpu_session_set_constants(struct gpu_session *s, uint32_t id, const void *data, size_t bytes)
{
	struct module *m = *module_link(s, id);
	uint32_t room;
	void *bank;

	if (!m)
		return -ENOENT;
	bank = ptx_module_constants(m->ptx, &room);
	if (bytes != room)
		return -EINVAL;
	if (bytes)
		memcpy(bank, data, bytes);
	return 0;
}

void gpu_session_unload(struct gpu_session *s, uint32_t id)
{
	struct module **link = module_link(s, id);
	struct module *m = *link;

	if (!m)
		return;
	/* Its kernels may be waiting. */
	session_finish(s);
	*link = m->next;
	addresses_give_back(s, m);
	module_free(m);
}

char *gpu_session_take_output(struct gpu_session *s, size_t *bytes)
{
	return output_take(&s->output, bytes);
}
