// SPDX-License-Identifier: GPL-2.0
/*
 * From a linked kernel to one that can run: the passes of back.h in order.
 * Called once a kernel by the parser.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "ptx/back.h"

#define MAX_ROUNDS	48	/* of spilling; compilers' kernels take two or three */

/* The results of one look at the kernel's instructions; made anew when these change. */
struct view {
	struct cfg cfg;
	struct callgraph graph;
	struct ranges ranges;
};

static void view_free(struct view *v)
{
	cfg_free(&v->cfg);
	callgraph_free(&v->graph);
	ranges_free(&v->ranges);
}

static int view_make(struct view *v, const struct ptx_kernel *kernel)
{
	int ret;

	memset(v, 0, sizeof(*v));
	ret = cfg_build(kernel, &v->cfg);
	if (!ret)
		ret = callgraph_build(kernel, &v->graph);
	if (!ret)
		ret = liveness_ranges(kernel, &v->cfg, &v->ranges);
	if (ret)
		view_free(v);
	return ret;
}

/* One kernel on its way. */
struct finisher {
	struct ptx_kernel *kernel;
	struct slab *slab;
	struct err *err;
	uint32_t maxregs, stack_bytes;
	uint8_t phases;		/* enum ptx_phases */
	uint8_t plenty;
	struct view view;
	struct alloc alloc;
	struct spills spills;
	uint32_t slack;		/* registers below maxregs to spill down to */
	uint32_t nfailed;	/* webs without a place, the last time there were some */
};

static int fail(const struct ptx_kernel *kernel, int ret, struct err *err)
{
	if (ret == -E2BIG)
		return err_set(err, -EOPNOTSUPP,
			       "%s:%u: not supported: kernel '%s' is too large (%u instructions, %u registers)",
			       kernel->module, kernel->line, kernel->name, kernel->ninsns,
			       kernel->nregs);
	return err_set(err, ret, "%s: no memory for kernel '%s'", kernel->module, kernel->name);
}

static int does_not_fit(const struct finisher *f, uint32_t line)
{
	return err_set(f->err, -EOPNOTSUPP,
		       "%s:%u: not supported: kernel '%s' does not fit %u registers: this instruction needs more at once",
		       f->kernel->module, line, f->kernel->name, f->maxregs);
}

static int view_again(struct finisher *f)
{
	view_free(&f->view);
	return view_make(&f->view, f->kernel);
}

/* --- what is live ------------------------------------------------------------------------ */

int count_live(const struct ptx_kernel *kernel, const struct ranges *ranges, uint32_t *live)
{
	int64_t *change = calloc((size_t)kernel->ninsns + 1, sizeof(*change)), now = 0;
	uint32_t r, s, i;

	if (!change)
		return -ENOMEM;
	for (r = 0; r < kernel->nregs; r++) {
		for (s = ranges->start[r]; s < ranges->start[r + 1]; s++) {
			change[ranges->at[s].from] += reg_words(kernel, r);
			change[ranges->at[s].to] -= reg_words(kernel, r);
		}
	}
	for (i = 0; i < kernel->ninsns; i++) {
		now += change[i];
		live[i] = now;
	}
	free(change);
	return 0;
}

/* Live after the call but for what it returns: what callers keep while callees run. */
static uint32_t live_across(const struct ptx_kernel *kernel, const uint32_t *live, uint32_t call)
{
	const struct ptx_insn *insn = &kernel->insns[call];
	const struct ptx_call *c = &kernel->calls[insn->target];
	uint32_t i, n = live[call + 1], words = 0;

	for (i = 0; i < c->nresults; i++)
		words += c->results[i] == PTX_NO_REG ? 0 : reg_words(kernel, c->results[i]);
	return n - MIN(n, words);
}

/* max_live: what a function and those it calls need at least, callees first. */
static int measure(struct finisher *f)
{
	const struct ptx_kernel *kernel = f->kernel;
	uint32_t *live = calloc(kernel->ninsns, sizeof(*live)), i, k, across;
	uint32_t *most = calloc(kernel->nfunctions, sizeof(*most));
	int ret = live && most ? count_live(kernel, &f->view.ranges, live) : -ENOMEM;

	for (i = 0; i < kernel->nfunctions && !ret; i++) {
		uint32_t fn = f->view.graph.order[i];

		for (k = kernel->functions[fn].first; k < kernel->functions[fn].end; k++) {
			const struct ptx_function *callee = insn_callee(kernel, &kernel->insns[k]);

			most[fn] = MAX(most[fn], live[k]);
			if (!callee || call_recurs(&f->view.graph, kernel, fn, &kernel->insns[k]))
				continue;
			across = live_across(kernel, live, k);
			most[fn] = MAX(most[fn], across + most[callee - kernel->functions]);
		}
	}
	if (!ret)
		f->kernel->max_live = MAX(most[0], 1u);
	free(live);
	free(most);
	return ret;
}

static int tell_live(struct finisher *f)
{
	struct ptx_kernel *kernel = f->kernel;
	uint32_t *live = calloc(kernel->ninsns, sizeof(*live)), i;
	int ret = live ? count_live(kernel, &f->view.ranges, live) : -ENOMEM;

	kernel->live = slab_alloc(f->slab, kernel->ninsns * sizeof(*kernel->live));
	if (!kernel->live)
		ret = -ENOMEM;
	for (i = 0; i < kernel->ninsns && !ret; i++)
		kernel->live[i] = MIN(live[i], UINT16_MAX);
	free(live);
	return ret;
}

/* --- rounds ------------------------------------------------------------------------------ */

/* Every function of a cycle may run above any other: they take the same. */
static void level_cycle(struct finisher *f, uint32_t from, uint32_t to)
{
	const uint32_t *order = f->view.graph.order;
	uint32_t regs = 0, preds = 0, i;

	for (i = from; i < to; i++) {
		regs = MAX(regs, f->kernel->functions[order[i]].regs);
		preds = MAX(preds, f->alloc.preds[order[i]]);
	}
	for (i = from; i < to; i++) {
		f->kernel->functions[order[i]].regs = regs;
		f->alloc.preds[order[i]] = preds;
	}
}

/* There is no place for these: they go, and next time there is more room. */
static int drop(struct finisher *f, const uint32_t *failed, uint32_t nfailed)
{
	uint32_t i;

	if (!reg_words(f->kernel, failed[0]))
		return err_set(f->err, -EOPNOTSUPP,
			       "%s:%u: not supported: more than %u predicates of kernel '%s' are in use at once",
			       f->kernel->module, f->kernel->line, PTX_MAX_MAXREGS,
			       f->kernel->name);
	for (i = 0; i < nfailed; i++) {
		if (f->spills.pinned[failed[i]] || f->spills.victim[failed[i]])
			continue;
		f->spills.victim[failed[i]] = true;
		f->spills.nvictims++;
	}
	/*
	 * Places are not made by pressure alone: where too few give way, a little more room is left
	 * everywhere. More at once in a large kernel, because a round takes its time.
	 */
	if (f->nfailed && 2 * nfailed > f->nfailed)
		f->slack += f->kernel->ninsns >> 15 ? MAX(f->slack, 1u) : 1;
	f->nfailed = nfailed;
	if (f->slack < f->maxregs)
		return 0;
	return does_not_fit(f, f->kernel->insns[f->alloc.ranges->at[
		f->alloc.ranges->start[failed[0]]].from].line);
}

/* Allocates function fn, or finds out what must be spilled first. */
static int do_function(struct finisher *f, uint32_t fn, bool *again)
{
	uint32_t chosen, line, *failed, nfailed;
	int ret = alloc_floors(&f->alloc, fn);

	if (!ret)
		ret = spill_choose(&f->spills, &f->alloc, fn, f->maxregs - f->slack, &chosen,
				   &line);
	if (ret == -ENOSPC)
		return does_not_fit(f, line);
	if (ret)
		return fail(f->kernel, ret, f->err);
	*again |= chosen != 0;
	if (*again) {
		/* A function that spills takes all registers, so its callers can plan. */
		if (chosen)
			f->kernel->functions[fn].regs = f->maxregs;
		return 0;
	}
	ret = color_function(&f->alloc, fn, &failed, &nfailed);
	if (ret)
		ret = fail(f->kernel, ret, f->err);
	else if (nfailed)
		ret = drop(f, failed, nfailed);
	*again |= nfailed != 0;
	free(failed);
	return ret;
}

static int do_round(struct finisher *f, bool *again)
{
	uint32_t n = f->kernel->nfunctions, i, from = 0;
	const struct callgraph *graph = &f->view.graph;
	int ret;

	if (f->spills.round > MAX_ROUNDS)
		return fail(f->kernel, -E2BIG, f->err);
	ret = alloc_init(&f->alloc, f->kernel, &f->view.cfg, graph, &f->view.ranges, f->maxregs);

	if (ret)
		return fail(f->kernel, ret, f->err);
	free(f->spills.room);
	f->spills.room = calloc(f->kernel->ninsns, sizeof(*f->spills.room));
	if (!f->spills.room)
		return fail(f->kernel, -ENOMEM, f->err);
	for (i = 0; i < n; i++)
		f->kernel->functions[i].regs = 0;
	*again = false;
	for (i = 0; i < n && !ret; i++) {
		ret = do_function(f, graph->order[i], again);
		if (i + 1 < n && graph->cycle[graph->order[i]] == graph->cycle[graph->order[i + 1]])
			continue;
		level_cycle(f, from, i + 1);
		from = i + 1;
	}
	if (!ret && *again) {
		ret = spill_rewrite(&f->spills, &f->alloc);
		ret = ret ? ret : view_again(f);
		if (ret)
			ret = fail(f->kernel, ret, f->err);
	}
	return ret;
}

static int keep_allocation(struct finisher *f)
{
	struct ptx_kernel *kernel = f->kernel;

	kernel->regs_per_thread = MAX(kernel->functions[0].regs, 1u);
	kernel->preds_per_thread = f->alloc.preds[0];
	kernel->phys = slab_alloc(f->slab, kernel->nregs * sizeof(*kernel->phys) + 1);
	if (!kernel->phys)
		return -ENOMEM;
	memcpy(kernel->phys, f->alloc.phys, kernel->nregs * sizeof(*kernel->phys));
	return 0;
}

/* Registers renamed so that each holds one web, and saved around recursive calls. */
static int prepare(struct finisher *f)
{
	int ret = view_make(&f->view, f->kernel);

	if (!ret)
		ret = spills_init(&f->spills, f->kernel);
	if (!ret)
		ret = save_around_calls(&f->spills, &f->view.cfg, &f->view.graph, &f->view.ranges);
	view_free(&f->view);
	if (!ret)
		ret = cfg_build(f->kernel, &f->view.cfg);
	if (!ret)
		ret = webs_split(f->kernel, &f->view.cfg);
	if (!ret)
		ret = spills_sync(&f->spills);
	if (!ret)
		ret = view_again(f);
	if (!ret)
		callgraph_mark(&f->view.graph, f->kernel);
	return ret ? ret : measure(f);
}

/*
 * Phases: where they begin goes by what is live, so it is known before registers are renumbered
 * for them.
 */
static int find_phases(struct finisher *f, struct phases *p)
{
	struct view *v = &f->view;
	uint32_t *weight = calloc((size_t)f->kernel->nregs + 1, sizeof(*weight));
	int ret = weight ? postdom_solve(f->kernel, &v->cfg) : -ENOMEM;

	if (!ret)
		ret = phases_find(p, f->kernel, &v->cfg, &v->ranges, &f->spills);
	if (!ret) {
		phases_weigh(p, &v->ranges, f->kernel->nregs, weight);
		ret = color_again(&f->alloc, 0, weight);
	}
	free(weight);
	return ret;
}

/* Once registers have their places. */
static int settle_phases(struct finisher *f, struct phases *p)
{
	struct view *v = &f->view;
	int ret;

	p->plenty = f->plenty;
	ret = phases_compare(p, f->kernel, &v->cfg, &v->ranges);

	if (!ret && f->phases == PTX_PHASES_INSERT) {
		ret = phases_insert(p, &f->spills);
		ret = ret ? ret : view_again(f);
	}
	return ret ? ret : phases_tell(p, f->kernel, &v->cfg, &v->ranges, f->slab);
}

static int conclude(struct finisher *f)
{
	struct view *v = &f->view;
	struct phases phases = { 0 };
	int ret = f->phases ? find_phases(f, &phases) : 0;

	if (!ret)
		ret = keep_allocation(f);
	if (!ret && f->phases)
		ret = settle_phases(f, &phases);
	phases_free(&phases);
	if (!ret)
		ret = tell_live(f);
	if (!ret)
		ret = slots_place(&f->spills);
	if (!ret)
		ret = postdom_solve(f->kernel, &v->cfg);
	if (ret)
		return fail(f->kernel, ret, f->err);
	ret = frames_lay_out(f->kernel, &v->graph, f->stack_bytes);
	if (ret == -E2BIG)
		return err_set(f->err, -EOPNOTSUPP,
			       "%s:%u: not supported: kernel '%s' takes more than %u bytes of local memory a thread",
			       f->kernel->module, f->kernel->line, f->kernel->name, PTX_MAX_LOCAL);
	return ret ? fail(f->kernel, ret, f->err) : 0;
}

int kernel_finish(struct ptx_kernel *kernel, struct slab *slab,
		  const struct ptx_options *options, struct err *err)
{
	struct finisher f = {
		.kernel = kernel, .slab = slab, .err = err,
		.maxregs = options->maxregs ? options->maxregs : PTX_MAX_MAXREGS,
		.stack_bytes = options->stack_bytes ? options->stack_bytes : PTX_STACK_BYTES,
		.phases = options->phases, .plenty = options->plenty,
	};
	bool again = true;
	int ret;

	if (kernel->max_nreg)
		f.maxregs = MIN(f.maxregs, MAX(kernel->max_nreg, PTX_MIN_MAXREGS));
	f.maxregs = MIN(MAX(f.maxregs, PTX_MIN_MAXREGS), PTX_MAX_MAXREGS);
	ret = prepare(&f);
	if (ret)
		ret = fail(kernel, ret, err);
	while (!ret && again) {
		alloc_free(&f.alloc);
		ret = do_round(&f, &again);
	}
	if (!ret)
		ret = conclude(&f);
	alloc_free(&f.alloc);
	view_free(&f.view);
	spills_free(&f.spills);
	return ret;
}
