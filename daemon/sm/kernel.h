/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A kernel as the pipelines see it, decoded once (kernel.c). Private to the sm room.
 */
#ifndef GPUEMU_SM_KERNEL_H
#define GPUEMU_SM_KERNEL_H

#include "sm/limits.h"

/* One instruction of a kernel as the pipelines see it. */
struct sm_op {
	uint8_t unit;			/* enum sm_unit */
	uint8_t space;			/* enum ptx_space of memory instructions */
	bool memory;			/* ld, st, atom, red: goes through the load/store unit */
	bool store, atomic;		/* red is an atomic without results */
	bool fence;			/* membar, fence: through the load/store unit as well */
	bool point;			/* resources are acquired before it */
	bool specifier;			/* of a phase: none of the program's own */
	bool decoded;			/* and the decoder takes it: it is never issued */
	bool ordered;			/* atomic, volatile, fence, barrier, exit: not past an untranslated access */
	uint16_t latency, initiation;
	/*
	 * Its scoreboard slots, sm_kernel.slots from here on: first nwrite that it
	 * writes; none of the first ncheck may be pending when it issues.
	 */
	uint32_t slots;
	uint16_t ncheck, nwrite;
	/* The same as bits, for kernels with one word of slots (sm_kernel.words). */
	uint64_t check_mask, write_mask;
	/* The banks of them for warp 0: read, read more than once, written. */
	uint64_t bank_need, bank_more, bank_results;
	/* Register numbers for the banks, sm_kernel.banks from here on: distinct sources, results. */
	uint32_t banks;
	uint8_t nsource, nresult;
	uint8_t nread;			/* distinct registers that it reads, its guard left out */
	bool cached;			/* memory that L1D is asked for */
	bool is_long;			/* results come from memory (GPGPU-Sim: a long operation) */
	uint32_t pc;			/* its index */
};

struct sm_kernel {
	const struct exec_launch *launch;
	const struct gpu_spec *spec;
	struct sm_op *ops;
	uint32_t nops;			/* one more is there: a last exit */
	uint32_t decodable;		/* nops, and one more if the text falls off its end */
	uint16_t *slots;		/* of the scoreboard, what the ops check and write */
	uint32_t nslots, slot_room;
	uint32_t register_slots;	/* the slots below are registers */
	uint16_t *banks;		/* register numbers, kernel.c */
	uint32_t nbanks, bank_room;
	uint32_t warps_per_cta, threads;
	uint32_t ctas;			/* an empty SM holds, with slots for all */
	uint32_t places;		/* that its numbers, registers and shared memory allow */
	uint32_t resident;		/* CTAs of it that an SM has at once, at most */
	uint32_t registers;		/* a CTA takes, rounded */
	uint32_t shared_bytes;		/* static and dynamic */
	uint32_t shared_taken;		/* of the SM's, rounded */
	uint64_t local_bytes;		/* a CTA */
	uint64_t local_region;		/* of addresses: as many CTAs as `places` on each SM */
	/* Device addresses: instruction 0; constant 0 of its module; its parameters; its local memory. */
	uint64_t code, constants, params, local;
	size_t arena_bytes;		/* a warp */
	uint32_t words;			/* 64-bit words of a scoreboard row */
	/* With phases, by instruction: sets of registers read and written, the phase that begins. */
	uint64_t *sets_read, *sets_written;
	uint32_t *phase_of;
	unsigned int slot;		/* sm_kernel_set_slot() */
	uint64_t waiting;		/* sm_kernel_set_waiting() */
};

#endif
