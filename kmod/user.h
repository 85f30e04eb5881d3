/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What all files of one user have together of what all users share. Opening the device
 * again gives a user nothing more.
 */
#ifndef _GPUEMU_USER_H
#define _GPUEMU_USER_H

#include <linux/atomic.h>
#include <linux/list.h>
#include <linux/spinlock.h>
#include <linux/uidgid.h>
#include <uapi/linux/gpuemu.h>

struct gpuemu_dev;
struct gpuemu_space;

/* Images, payloads and reports of a user, and its unfinished or unread jobs. */
#define GPUEMU_USER_BYTES	(2ull * GPUEMU_CLIENT_BYTES)
#define GPUEMU_USER_JOBS	(4 * GPUEMU_WORK_MAX)

/**
 * struct gpuemu_user - as long as it has a VA space
 * @users: the device's
 * @of_users: its place there
 * @uid: its id; of a task in a user namespace, the id of the namespace's maker
 * @spaces: VA spaces; under the lock of @users
 * @tables: page tables; changes under the page tables' lock
 * @slots: of the remote aperture; under its lock
 * @mirror_slots: of the mirror's aperture; under its lock
 * @device_frames: of device memory that is not paged; under the lock of @users
 * @bytes: charged against GPUEMU_USER_BYTES
 * @jobs: unfinished or unread; under the lock of jobs, like the next two
 * @turns: clients with jobs that no engine has taken, whose turn is next first
 * @turn: in the device's list of turns while there are some
 */
struct gpuemu_user {
	struct gpuemu_users *users;
	struct list_head of_users;
	kuid_t uid;
	u32 spaces;
	u32 tables;
	u32 slots;
	u32 mirror_slots;
	u32 device_frames;
	atomic64_t bytes;
	u32 jobs;
	struct list_head turns;
	struct list_head turn;
};

/**
 * struct gpuemu_users - of a device
 * @lock: see locks.h; protects @all, and each one's spaces and device_frames
 * @all: users
 */
struct gpuemu_users {
	spinlock_t lock;
	struct list_head all;
};

void gpuemu_users_init(struct gpuemu_users *users);
struct gpuemu_user *gpuemu_user_get(struct gpuemu_users *users, bool limited);
void gpuemu_user_put(struct gpuemu_user *user);

#endif
