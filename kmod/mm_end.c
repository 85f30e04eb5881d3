// SPDX-License-Identifier: GPL-2.0
/*
 * The end of a client's process. The OOM killer waits for its victim until the victim's page
 * table is empty (MMF_OOM_SKIP). The module's pages are behind device memory, not in that
 * table, and mappings are closed later still. So the module asks mm to be told before the table
 * is emptied, and frees all pages then: else the OOM killer would shoot a second process for
 * memory that is about to be free. Called by client.c.
 */
#include <linux/err.h>
#include <linux/mmu_notifier.h>
#include <linux/mutex.h>
#include <linux/slab.h>

#include "client.h"
#include "mm_end.h"
#include "objects.h"
#include "va_space.h"

/**
 * struct gpuemu_mm_end - one client's
 * @notifier: mm's; mm frees it when no task can be in it any more
 * @lock: see locks.h; protects @client
 * @client: whose; NULL when its file is released
 */
struct gpuemu_mm_end {
	struct mmu_notifier notifier;
	struct mutex lock;
	struct gpuemu_client *client;
};

static struct gpuemu_mm_end *end_of(struct mmu_notifier *notifier)
{
	return container_of(notifier, struct gpuemu_mm_end, notifier);
}

/* No task has the mm, so nobody touches its pages. Runs once for each client of it. */
static void mm_ends(struct mmu_notifier *notifier, struct mm_struct *mm)
{
	struct gpuemu_mm_end *end = end_of(notifier);

	mutex_lock(&end->lock);
	if (end->client)
		gpuemu_space_end(&end->client->space);
	mutex_unlock(&end->lock);
}

static void end_free(struct mmu_notifier *notifier)
{
	kfree(end_of(notifier));
	gpuemu_destroyed(ends);
}

static const struct mmu_notifier_ops mm_end_ops = {
	.release = mm_ends,
	.free_notifier = end_free,
};

/**
 * gpuemu_mm_end_watch() - the client's memory is of this mm
 * @client: has none yet; its lock is held
 * @mm: the current task's, with its mmap_lock for writing
 *
 * -ENOMEM; -ERESTARTNOINTR: a signal is pending, and the system call begins anew after it.
 */
int gpuemu_mm_end_watch(struct gpuemu_client *client, struct mm_struct *mm)
{
	struct gpuemu_mm_end *end = kzalloc(sizeof(*end), GFP_KERNEL_ACCOUNT);
	int ret;

	if (!end)
		return -ENOMEM;
	mutex_init(&end->lock);
	end->client = client;
	end->notifier.ops = &mm_end_ops;
	ret = __mmu_notifier_register(&end->notifier, mm);
	if (ret) {
		kfree(end);
		/* mm gives up for any signal, and no mmap() is documented to. */
		return ret == -EINTR ? -ERESTARTNOINTR : ret;
	}
	gpuemu_created(ends);
	client->mm_end = end;
	return 0;
}

/* The client's file is released. If its process is ending just now, waits for that. */
void gpuemu_mm_end_forget(struct gpuemu_client *client)
{
	struct gpuemu_mm_end *end = client->mm_end;

	if (!end)
		return;
	mutex_lock(&end->lock);
	end->client = NULL;
	mutex_unlock(&end->lock);
	mmu_notifier_put(&end->notifier);
}
