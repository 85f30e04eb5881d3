// SPDX-License-Identifier: GPL-2.0
/* Of the study virtual-thread table I: the GPU as the paper has it, and this study's. */
#include "study_virtual_thread.h"

void vt_show_table1(struct study_ctx *c)
{
	const struct gpu_spec *s = &c->spec;
	/* A cycle here is two of the paper's: its pipelines are half as wide as a warp. */
	const struct {
		const char *name;
		double paper, ours;
	} rows[] = {
		{ "SMs", 15, (double)s->sms },
		{ "MHz (twice ours)", 1400, 2 * (double)s->clock_mhz },
		{ "CTAs", 8, (double)s->ctas },
		{ "threads", 1536, 32 * (double)s->warps },
		{ "warps", 48, (double)s->warps },
		{ "warp schedulers", 2, (double)s->schedulers },
		{ "registers", 32768, (double)s->registers },
		{ "active queue, loads", 30, (double)s->reexec_queue },
		{ "inactive queue, loads", 30, (double)s->reexec_queue },
		{ "L1D, KB", 16, (double)(s->l1d_sets * s->l1d_ways * s->l1d_line) / 1024 },
		{ "shared memory, KB", 48, (double)s->shared_bytes / 1024 },
		{ "bits of shared memory a cycle (half of ours)", 512, 32 * (double)s->shared_banks / 2 },
		{ "bits of a swap a cycle (half of ours)", 512, (double)s->vt_bits / 2 },
		{ "L1D MSHRs", 64, (double)s->l1d_mshrs },
	};
	struct study_table *t = study_table(c, "table1", "the GPU (table I)", 0, false);
	unsigned int differ = 0;

	study_column(t, "paper", NONE);
	study_column(t, "here", NONE);
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		size_t row = study_row_add(t, rows[i].name);

		study_cell(t, row, 0, rows[i].paper);
		study_cell(t, row, 1, rows[i].ours);
		differ += fabs(rows[i].paper - rows[i].ours) > 1e-9;
	}
	study_note(t, "%u values differ. Scheduler %s (LRR; figure 9 also GTO and two-level); CTAs go to SMs round robin. The paper's 256 "
		   "counters of a scoreboard have no limit here: a warp has a bit for each of its registers", differ,
		   s->scheduler);
}
