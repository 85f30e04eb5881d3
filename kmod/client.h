/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A client: one open file of /dev/gpuemu. It owns a VA space, images and
 * jobs, until it attaches as an engine, after which it owns that.
 */
#ifndef _GPUEMU_CLIENT_H
#define _GPUEMU_CLIENT_H

#include <linux/fs.h>
#include <linux/kref.h>
#include <linux/mutex.h>
#include <linux/wait.h>
#include <linux/xarray.h>
#include <uapi/linux/gpuemu.h>

#include "va_space.h"

/**
 * struct gpuemu_client - one open file
 * @ref: one for the file, one for each user that found it by VA space id
 * @dev: the device
 * @mapping: the file's own f_mapping, so that unmapping hits this file alone
 * @space: its VA space
 * @lock: see locks.h; protects @mm, @engine, @mm_end, @images, @next_image,
 *	@nimages
 * @mm: the first mm that mapped managed memory; no other may
 * @mm_end: hears of its end; NULL: there is no mm
 * @engine: set once, by attach; read with acquire
 * @images: PTX images by id
 * @bytes: charged against GPUEMU_CLIENT_BYTES
 * @jobs: all its jobs; under the lock of jobs, like @njobs
 * @njobs: unfinished or unread jobs
 * @queued: of @jobs, those that no engine has taken, oldest first; under the
 *	lock of jobs, like the next two
 * @turn: in the device's list of turns while anything is queued
 * @ntaken: of @jobs, how many an engine has
 * @nwaiters: tasks that wait for some of @jobs
 * @progress: what an engine told of its launches; under the device's lock, like
 *	@told_by, that engine's generation
 * @opener: the process that opened the file, for netlink
 * @uid: its user, to whom netlink shows the client
 */
struct gpuemu_client {
	struct kref ref;
	struct gpuemu_dev *dev;
	struct address_space mapping;
	struct gpuemu_space space;
	struct mutex lock;
	struct mm_struct *mm;
	struct gpuemu_mm_end *mm_end;
	struct gpuemu_engine *engine;
	struct xarray images;
	u32 next_image;
	u32 nimages;
	atomic64_t bytes;
	struct list_head jobs;
	u32 njobs;
	struct list_head queued;
	struct list_head turn;
	u32 ntaken;
	u32 nwaiters;
	struct gpuemu_engine_progress progress;
	u32 told_by;
	struct pid *opener;
	kuid_t uid;
};

int gpuemu_client_open(struct gpuemu_dev *dev, struct file *file);
void gpuemu_client_release(struct gpuemu_client *client);
struct gpuemu_client *gpuemu_client_get(struct gpuemu_dev *dev, u32 va_space);
struct gpuemu_client *gpuemu_client_next(struct gpuemu_dev *dev,
					 unsigned long *next);
void gpuemu_client_put(struct gpuemu_client *client);
int gpuemu_client_bind_mm(struct gpuemu_client *client, struct mm_struct *mm);
int gpuemu_client_charge(struct gpuemu_client *client, u64 bytes);
void gpuemu_client_uncharge(struct gpuemu_client *client, u64 bytes);
void *gpuemu_client_copy_in(struct gpuemu_client *client, u64 user, u32 bytes,
			    bool by_engine);

/* The file's engine, or NULL: what tells the two kinds of file apart. */
static inline struct gpuemu_engine *
gpuemu_client_engine(struct gpuemu_client *client)
{
	/* Pairs with gpuemu_cmd_engine_attach(): the engine is seen whole. */
	return smp_load_acquire(&client->engine);
}

#endif
