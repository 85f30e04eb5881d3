/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The programs of the study character, and which of an SM's limits binds their CTAs. Private to
 * the study's files.
 */
#ifndef GPUEMU_TOOLS_STUDY_CHARACTER_H
#define GPUEMU_TOOLS_STUDY_CHARACTER_H

#include "study.h"
#include "study_kernel.h"

#define NONE	((double)NAN)

struct character_program {
	struct study_workload workload;
	const char *abbreviation;
	char type;			/* 'S', 'C', 0: not in Virtual Thread's table II */
};

/* The GPUs, by number, as a row of a table has them. */
enum { FERMI, KEPLER, GPUS };
extern const char *const character_gpus[GPUS];

enum { SLOTS, WARPS, REGISTERS, SHARED, LIMITS };

/* A program of no paper has no type. */
const struct character_program *character_program_of(const struct study_workload *w);
/* The study's own configuration is Fermi's. -1: Kepler's cannot be read. */
int character_read_gpus(const struct study_ctx *c, struct gpu_spec specs[GPUS]);
/* The run that the tables are made of. */
struct run *character_run(struct study_ctx *c, const struct study_workload *w);

/* What a CTA takes of an SM's registers and shared memory, in their units. */
uint64_t character_registers(const struct gpu_spec *s, const struct study_kernel *k, uint64_t regs);
uint64_t character_shared(const struct gpu_spec *s, const struct study_kernel *k);
/* CTAs that each of an SM's resources allows, as the SM counts them; UINT64_MAX: any number. */
void character_limits(const struct gpu_spec *s, const struct study_kernel *k, uint64_t regs,
		      uint64_t ctas[LIMITS]);
/* The limit that binds. Where capacity and scheduling allow as many, the capacity does. */
unsigned int character_binding(const uint64_t ctas[LIMITS]);
/* 'S' or 'C'. */
char character_type(unsigned int limit);
/*
 * The registers a thread, nearest to those it has, with which it is of that type; 0: none. Fewer
 * are --maxregs' to reach, by spilling; more are --regs', which the SM reserves.
 */
uint64_t character_restoring(const struct gpu_spec *s, const struct study_kernel *k, char type);

/* study_character_use.c: figures 2 and 3 of Virtual Thread. */
void character_show_use(struct study_ctx *c);
void character_show_threads(struct study_ctx *c);
/*
 * The type on Fermi of a program of table II, its main kernel, and the registers that it needs for
 * the paper's type. 0: another program, or its run has failed.
 */
char character_type_of(struct study_ctx *c, const struct study_workload *w, struct study_kernel *k,
		       uint64_t *regs);
/* study_character_shared.c */
void character_show_shared(struct study_ctx *c);

#endif
