/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The netlink end: what the module's family `gpuemu` says of the device, its
 * clients and parameters, and its events, as plain structs. Nobody else knows
 * netlink; the messages are specified in docs/gpuemu-netlink.yaml.
 */
#ifndef GPUEMU_CTL_CTL_H
#define GPUEMU_CTL_CTL_H

#include "base/base.h"

struct ctl;

/* In the order of stats.def. */
enum ctl_stat {
#define X(NAME, name, help) CTL_STAT_##NAME,
#include "ctl/stats.def"
#undef X
	CTL_STATS
};

/* "far_faults"; NULL past the end. */
const char *ctl_stat_name(unsigned int n);
const char *ctl_stat_help(unsigned int n);

struct ctl_stats {
	uint64_t value[CTL_STATS];
	bool has[CTL_STATS];	/* a client has not all, an older module neither */
};

struct ctl_device {
	uint32_t abi;
	uint32_t generation;		/* 0: no engine */
	uint32_t clients;		/* open files, the engine's among them */
	uint32_t tables, tables_free;	/* GPU page tables */
	uint64_t vram_bytes, vram_free_bytes;
	uint64_t events, events_dropped;
	struct ctl_stats stats;
};

struct ctl_client {
	uint32_t va_space;
	uint32_t pid;			/* of the opener; 0: not in this namespace */
	uint32_t uid;
	uint32_t works;			/* unfinished or unread */
	bool engine;
	uint64_t charged_bytes;		/* images, payloads, reports */
	struct ctl_stats stats;
};

struct ctl_block {
	uint32_t va_space;
	uint64_t addr;
	uint32_t resident_pages, cpu_mapped_pages, system_pages;
	uint64_t resident[BLOCK_PAGES / 64];
	uint64_t cpu_mapped[BLOCK_PAGES / 64];
	bool busy;			/* the counts may not belong together */
};

struct ctl_param {
	char name[32], doc[128];
	uint32_t value, min, max, def;
	bool settable;
};

struct ctl_event {
	const char *type;		/* "engine-lost"; "unknown" from a newer module */
	uint64_t seq, dropped, time_ns;
	uint32_t va_space, generation, value;	/* 0: not said */
	char reason[128], name[32];		/* "": not said */
	uint64_t missed;		/* events before this one that did not arrive */
};

/* -ENOENT: no such family, the module is not loaded. */
int ctl_open(struct ctl **ctl, struct err *err);
void ctl_close(struct ctl *ctl);

int ctl_device(struct ctl *ctl, struct ctl_device *device, struct err *err);

/* One call each, in ascending order; what it is handed is valid in the call alone. */
int ctl_clients(struct ctl *ctl, void (*each)(const struct ctl_client *client, void *arg),
		void *arg, struct err *err);
int ctl_blocks(struct ctl *ctl, uint32_t va_space,
	       void (*each)(const struct ctl_block *block, void *arg), void *arg, struct err *err);
int ctl_params(struct ctl *ctl, void (*each)(const struct ctl_param *param, void *arg),
	       void *arg, struct err *err);

int ctl_param_set(struct ctl *ctl, const char *name, uint32_t value, struct err *err);
/* va_space 0: of the device and all clients. */
int ctl_reset(struct ctl *ctl, uint32_t va_space, struct err *err);

/* From here on events are kept for ctl_event(); this ctl is good for nothing else. */
int ctl_listen(struct ctl *ctl, struct err *err);
/*
 * The next event. 1: there it is; 0: none in timeout_ms (negative: for ever) or
 * a signal came.
 */
int ctl_event(struct ctl *ctl, int timeout_ms, struct ctl_event *event, struct err *err);

#endif
