/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The way to system memory, private to this room: each SM's queue of remote transactions, the
 * link's two directions, the answers, and the access counters. mem.c calls it at the SMs'
 * ports and in mem_meet(). It knows addresses, not pages.
 */
#ifndef GPUEMU_MEM_REMOTE_H
#define GPUEMU_MEM_REMOTE_H

#include "mem/internal.h"

struct remote;

/* -ENOMEM. */
int remote_create(const struct gpu_spec *spec, unsigned int ports, struct remote **remote);
void remote_destroy(struct remote *r);

/* The port's transactions that are sent and not answered. Its SM's thread, as the next four. */
uint32_t remote_live(const struct remote *r, unsigned int port);
bool remote_ready(const struct remote *r, unsigned int port);
void remote_send(struct remote *r, const struct mem_request *request, uint64_t now);
/* When the port's next answer is there; NEVER: none that is known yet. */
uint64_t remote_next(const struct remote *r, unsigned int port);
struct mem_reply remote_head(const struct remote *r, unsigned int port);
/* That answer is taken. */
void remote_take(struct remote *r, unsigned int port);

/* Puts on the link what begins before cycle `upto`; answers come in it or later. */
void remote_run(struct remote *r, uint64_t upto);
/* The next cycle with something to put there; NEVER. */
uint64_t remote_wake(const struct remote *r);
/* The last cycle in which something is known to move. */
uint64_t remote_last(const struct remote *r);
bool remote_idle(const struct remote *r);
void remote_cancel(struct remote *r);

void remote_share(struct remote *r, const bool busy[2], uint64_t took[2]);
bool remote_notifies(const struct remote *r);
bool remote_notified(struct remote *r, uint64_t *va);
/* Counts of the kernels in the slot; notifications are counted for the whole alone. */
void remote_stats_of(const struct remote *r, unsigned int kernel, struct mem_remote_stats *stats);
void remote_stats(const struct remote *r, struct mem_remote_stats *stats);

#endif
