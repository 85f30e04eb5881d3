// SPDX-License-Identifier: GPL-2.0
/*
 * When memory is short. A shrinker gives back the system pages that the module keeps ready for
 * clients. The kernel cannot take the others: they are content, or the place to which the
 * content of device memory goes home. They count for their process (gpuemu_sysmem_unmapped()),
 * and where MADV_DONTNEED has hidden some of them, they do again before the OOM killer chooses.
 */
#include <linux/notifier.h>
#include <linux/oom.h>
#include <linux/shrinker.h>

#include "client.h"
#include "dev.h"
#include "objects.h"
#include "reclaim.h"
#include "sysmem.h"
#include "va_space.h"

static const char name[] = "gpuemu";

/* Linux before 6.7 hands over nothing of ours; there is one device. */
static struct gpuemu_dev *reclaim_dev;
static struct shrinker *shrinker;

static unsigned long reclaim_count(struct shrinker *s, struct shrink_control *sc)
{
	return gpuemu_sysmem_ready() ?: SHRINK_EMPTY;
}

static unsigned long reclaim_scan(struct shrinker *s, struct shrink_control *sc)
{
	struct gpuemu_client *client;
	unsigned long id = 0, freed = 0;

	while (freed < sc->nr_to_scan &&
	       (client = gpuemu_client_next(reclaim_dev, &id))) {
		freed += gpuemu_sysmem_give_back(&client->space,
						 sc->nr_to_scan - freed);
		gpuemu_client_put(client);
		id++;
	}
	return freed ?: SHRINK_STOP;
}

/*
 * The machine has no memory, and the OOM killer chooses next, by what processes have mapped.
 * The task that is here may have any lock of mm, so none of the module's is waited for.
 */
static int before_oom(struct notifier_block *block, unsigned long action, void *freed)
{
	struct gpuemu_client *client;
	unsigned long id = 0;

	/* The module may be loading, or going. */
	if (!atomic_read(&gpuemu_live[GPUEMU_OBJ_clients]))
		return NOTIFY_OK;
	for (; (client = gpuemu_client_next(reclaim_dev, &id)); id++) {
		gpuemu_space_count_hidden(&client->space);
		gpuemu_client_put(client);
	}
	return NOTIFY_OK;
}

static struct notifier_block oom_notifier = {
	.notifier_call = before_oom,
};

int gpuemu_reclaim_start(struct gpuemu_dev *dev)
{
	int ret;

	shrinker = shrinker_alloc(0, name);
	if (!shrinker)
		return -ENOMEM;
	shrinker->count_objects = reclaim_count;
	shrinker->scan_objects = reclaim_scan;
	reclaim_dev = dev;
	ret = compat_shrinker_register(shrinker, name);
	if (ret) {
		kfree(shrinker);
		return ret;
	}
	ret = register_oom_notifier(&oom_notifier);
	if (ret)
		shrinker_free(shrinker);
	return ret;
}

void gpuemu_reclaim_stop(void)
{
	unregister_oom_notifier(&oom_notifier);
	shrinker_free(shrinker);
}
