// SPDX-License-Identifier: GPL-2.0
/*
 * A shrinker. When memory is short, the kernel takes back the system pages that the module
 * keeps ready for clients. It cannot take the pages behind device memory: each is the place to
 * which its content goes home. Those count for their process (gpuemu_sysmem_unmapped()).
 */
#include <linux/shrinker.h>

#include "client.h"
#include "dev.h"
#include "reclaim.h"
#include "sysmem.h"

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
	if (ret)
		kfree(shrinker);
	return ret;
}

void gpuemu_reclaim_stop(void)
{
	shrinker_free(shrinker);
}
