/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What an SM's warp instructions use: activity.c. Only with sm.activity; sm->activity is NULL else.
 * Private to the sm room.
 */
#ifndef GPUEMU_SM_ACTIVITY_H
#define GPUEMU_SM_ACTIVITY_H

#include "sm/limits.h"

struct activity;
struct sm;
struct exec_access;

int activity_init(struct sm *sm);	/* -ENOMEM */
void activity_fini(struct sm *sm);
/* The head of the warp issues; access is what exec_step() said of it. */
void activity_issue(struct sm *sm, unsigned int w, const struct exec_access *access, uint64_t now);

#endif
