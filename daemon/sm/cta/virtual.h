/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Zorua and WLM share this: an SM whose warps get slots, registers and scratchpad from a
 * coordinator, one by one. The ops of struct sm_mechanism that their rows name. Private to the sm
 * room.
 */
#ifndef GPUEMU_SM_CTA_VIRTUAL_H
#define GPUEMU_SM_CTA_VIRTUAL_H

#include "sm/cta/rows.h"

int virtual_zorua_create(const struct gpu_spec *spec, struct sm *sm, void *ctx, void **state);
int virtual_wlm_create(const struct gpu_spec *spec, struct sm *sm, void *ctx, void **state);
void virtual_destroy(void *state);
void virtual_reset(void *state);
bool virtual_zorua_has_room(void *state, const struct sm *sm, const struct sm_kernel *kernel);
bool virtual_wlm_has_room(void *state, const struct sm *sm, const struct sm_kernel *kernel);
void virtual_admitted(void *state, struct sm *sm, unsigned int cta, uint64_t now);
void virtual_cta_ended(void *state, struct sm *sm, unsigned int cta, uint64_t now);
void virtual_exited(void *state, struct sm *sm, unsigned int warp, uint64_t now);
void virtual_retired(void *state, struct sm *sm, unsigned int warp, uint64_t now);
bool virtual_acquire(void *state, struct sm *sm, unsigned int warp, uint32_t pc, uint64_t now);
/* Zorua's scratchpad: bytes of a set, such that 64 are enough for an SM's. */
unsigned int virtual_scratchpad_set(const struct gpu_spec *spec);
uint64_t virtual_shared_access(void *state, struct sm *sm, unsigned int warp, uint64_t sets,
			       uint64_t *swap);
void virtual_shared_done(void *state, struct sm *sm, unsigned int warp, uint64_t sets);
void virtual_finished(void *state, struct sm *sm, unsigned int warp, uint32_t pc);
void virtual_waits(void *state, struct sm *sm, unsigned int warp, uint64_t now);
void virtual_passed(void *state, struct sm *sm, unsigned int warp, uint64_t now);
/* zorua.slots=vt: a CTA that Virtual Thread would swap out lends its slots. */
void virtual_stalled(void *state, struct sm *sm, unsigned int cta, uint64_t now);
void virtual_resumed(void *state, struct sm *sm, unsigned int cta, uint64_t now);
void virtual_ready(void *state, struct sm *sm, unsigned int warp, uint64_t now);
void virtual_timer(void *state, struct sm *sm, uint64_t now);

#endif
