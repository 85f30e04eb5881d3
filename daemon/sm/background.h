/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Bytes that a mechanism moves behind the program's own accesses: a CTA's context through the
 * port of shared memory, registers and scratchpad to memory and back. They have what the
 * program leaves: a bank cycle of shared memory in which no instruction is at the banks,
 * a cycle of the crossbar's port in which nothing else goes out or waits to. They are
 * counted on their own. Private to the sm room: sm_move() calls background_move(), sm.c and the
 * load/store unit the rest, and those only on an SM on which something was ever moved.
 */
#ifndef GPUEMU_SM_BACKGROUND_H
#define GPUEMU_SM_BACKGROUND_H

#include "sm/limits.h"

/* Does the work of sm_move(). */
int background_move(struct sm *sm, const struct background_job *job);

void background_fini(struct sm *sm);
/* Drops all jobs, and calls no done(). */
void background_cancel(struct sm *sm);
/* Is no job left? */
bool background_idle(const struct sm *sm);
/* Called at the end of a cycle that ran. */
void background_cycle(struct sm *sm, uint64_t now);
/* Next cycle > now with something to do; NEVER. */
uint64_t background_next(const struct sm *sm, uint64_t now);

/* An instruction is at the banks of shared memory from this cycle to before that. */
void background_banks(struct sm *sm, uint64_t from, uint64_t to);
/* Memory answered a sector of the job. */
void background_reply(struct sm *sm, uint32_t job, unsigned int sectors);
/* A line of L1D has come that the waiter of l1d.c, not an instruction, asked for. */
void background_filled(struct sm *sm, uint32_t waiter);

/* Waiters of L1D's lines that are jobs, not instructions. */
#define BACKGROUND_WAITER	0x80000000u

#endif
