/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The device: what all files of /dev/gpuemu share. Created by main.c; every
 * other object points back at it.
 */
#ifndef _GPUEMU_DEV_H
#define _GPUEMU_DEV_H

#include <linux/atomic.h>
#include <linux/idr.h>
#include <linux/list.h>
#include <linux/miscdevice.h>
#include <linux/mutex.h>
#include <linux/spinlock.h>
#include <linux/xarray.h>

#include "copy.h"
#include "event.h"
#include "gpu_pt.h"
#include "link.h"
#include "lru.h"
#include "mirror.h"
#include "mirror_pages.h"
#include "remote.h"
#include "stats.h"
#include "thrash.h"
#include "user.h"
#include "vram.h"

struct gpuemu_engine;

/**
 * struct gpuemu_dev - the one device
 * @misc: /dev/gpuemu
 * @vram: its memory
 * @device_frames: of it, what clients have for themselves, or are being given;
 *	under the lock of @users
 * @link: how fast pages go there and back
 * @lru: what is in its memory, and how long
 * @thrash: which pages are better left in system memory
 * @copies: its copy engines
 * @pt: its page-table aperture
 * @remote: through which the engine reaches system memory
 * @mirror: the same of ordinary memory of clients' processes
 * @mirror_pages: ordinary memory that is in device memory
 * @clients: every open file's client, by VA space id
 * @next_space: where the search for a VA space id goes on (under the xa_lock)
 * @users: those that have a client
 * @slots: entries in use of the directory of VA spaces
 * @fault_entries: size of an engine's fault buffer, a power of two
 * @lock: see locks.h
 * @engine: the attached engine, until its mappings are revoked; the engine's
 *	file holds the reference
 * @generation: counts attachments, skips 0
 * @jobs_lock: see locks.h
 * @turns: users with jobs that no engine has taken, whose turn is next first
 * @next_job: id of the next job
 * @stats: what all VA spaces count, and what only the device does
 * @events: what was told to those that listen
 */
struct gpuemu_dev {
	struct miscdevice misc;
	struct gpuemu_vram vram;
	u32 device_frames;
	struct gpuemu_link link;
	struct gpuemu_lru lru;
	struct gpuemu_thrash thrash;
	struct gpuemu_copies copies;
	struct gpuemu_pt pt;
	struct gpuemu_remote remote;
	struct gpuemu_mirror_slots mirror;
	struct gpuemu_mirror_pages mirror_pages;
	struct xarray clients;
	u32 next_space;
	struct gpuemu_users users;
	struct ida slots;
	u32 fault_entries;
	spinlock_t lock;
	struct gpuemu_engine *engine;
	u32 generation;
	spinlock_t jobs_lock;
	struct list_head turns;
	u64 next_job;
	struct gpuemu_stats stats;
	struct gpuemu_events events;
};

int gpuemu_dev_register(struct gpuemu_dev *dev);
void gpuemu_dev_unregister(struct gpuemu_dev *dev);

#endif
