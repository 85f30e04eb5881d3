/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A warp's chains of stack entries, of the running function: chains.c. Which of them wait at an
 * instruction of the whole warp: sync.c. Included by these and by spin.c.
 */
#ifndef EXEC_CHAINS_H
#define EXEC_CHAINS_H

#include "exec/private.h"

uint32_t spin_first_entry(const struct exec_warp *warp);
/* Lanes that have neither exited nor left the function. */
uint32_t spin_alive(const struct exec_warp *warp);
/* The stack's top says where the warp is. */
void spin_keep(struct exec_warp *warp);
/* The lowest entry of the chains that are beside that of entry i; *lanes: those of all of them. */
uint32_t spin_lowest(const struct exec_warp *warp, uint32_t i, uint32_t *lanes);
/* The lanes that wait below chains [from, depth) go on at once. */
void spin_release(struct exec_warp *warp, uint32_t from, uint32_t lanes);
/* The chain that begins at i goes below those from `lowest` on. */
void spin_rotate(struct exec_warp *warp, uint32_t lowest, uint32_t i);

/* The entry's lanes are at an instruction of the warp, and others have not met them yet. */
bool sync_stands(const struct exec_warp *warp, const struct exec_stack_entry *entry);
/* Lanes that the instruction at pc, done by `mask`, waits for; some may have exited. */
uint32_t sync_members(const struct exec_warp *warp, uint32_t pc, uint32_t mask);

#endif
