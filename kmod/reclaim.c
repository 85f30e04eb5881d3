// SPDX-License-Identifier: GPL-2.0
/*
 * When memory is short. A shrinker gives back the system pages that the module keeps ready for
 * clients. The kernel cannot take the others: they are content, or the place to which the
 * content of device memory goes home. They count for their process (gpuemu_sysmem_unmapped()),
 * and where MADV_DONTNEED has hidden some of them, they do again before an OOM killer chooses.
 * The machine's OOM killer has a notifier for that. A memory cgroup's has none, but it only
 * comes after the cgroup's shrinkers, and a second shrinker of the module is one of those.
 */
#include <linux/list_lru.h>
#include <linux/memcontrol.h>
#include <linux/notifier.h>
#include <linux/oom.h>
#include <linux/sched/mm.h>
#include <linux/shrinker.h>
#include <linux/slab.h>

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

/*
 * A memory cgroup asks a shrinker that has an object there. So each VA space has one, the mark:
 * charged to the cgroup that pays for the space, and in no other list than this.
 */
struct gpuemu_reclaim_mark {
	struct list_head lru;
};

static const char marks_name[] = "gpuemu-hidden";
static struct shrinker *marks_shrinker;
static struct kmem_cache *marks_cache;
static struct list_lru marks;

/* A look at all pages of a space costs something, and a full cgroup asks all the time. */
#define HIDDEN_PERIOD (HZ / 50)

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

/* The cgroup pays for the space, and no task has looked at its pages just now. */
static bool is_due(struct gpuemu_space *space, struct mem_cgroup *memcg)
{
	struct mem_cgroup *pays = READ_ONCE(space->memcg);

	if (!READ_ONCE(space->mark) || !pays || !mem_cgroup_is_descendant(pays, memcg) ||
	    time_before(jiffies, READ_ONCE(space->hidden_next)))
		return false;
	WRITE_ONCE(space->hidden_next, jiffies + HIDDEN_PERIOD);
	return true;
}

/*
 * A memory cgroup has too little memory, and its OOM killer may choose next. The task that is here
 * may have any lock of mm, as in before_oom(). There is nothing to free, so the count is 0.
 */
static unsigned long marks_count(struct shrinker *s, struct shrink_control *sc)
{
	struct gpuemu_client *client;
	unsigned long id = 0;

	/* The machine's OOM killer has the notifier. */
	if (!sc->memcg || !parent_mem_cgroup(sc->memcg))
		return 0;
	for (; (client = gpuemu_client_next(reclaim_dev, &id)); id++) {
		if (is_due(&client->space, sc->memcg))
			gpuemu_space_count_hidden(&client->space);
		gpuemu_client_put(client);
	}
	return 0;
}

static unsigned long marks_scan(struct shrinker *s, struct shrink_control *sc)
{
	return SHRINK_STOP;
}

/**
 * gpuemu_reclaim_mark() - the task's memory cgroup calls the shrinker from now on
 * @space: the cgroup pays for it; its client's lock is held
 *
 * -ENOMEM.
 */
int gpuemu_reclaim_mark(struct gpuemu_space *space)
{
	struct gpuemu_reclaim_mark *mark;

	mark = kmem_cache_alloc_lru(marks_cache, &marks, GFP_KERNEL);
	if (!mark)
		return -ENOMEM;
	INIT_LIST_HEAD(&mark->lru);
	list_lru_add_obj(&marks, &mark->lru);
	WRITE_ONCE(space->mark, mark);
	gpuemu_created(marks);
	return 0;
}

void gpuemu_reclaim_unmark(struct gpuemu_space *space)
{
	struct gpuemu_reclaim_mark *mark = space->mark;

	if (!mark)
		return;
	WRITE_ONCE(space->mark, NULL);
	list_lru_del_obj(&marks, &mark->lru);
	kmem_cache_free(marks_cache, mark);
	gpuemu_destroyed(marks);
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

static struct shrinker *
shrinker_of(const char *title, unsigned int flags,
	    unsigned long (*count)(struct shrinker *s, struct shrink_control *sc),
	    unsigned long (*scan)(struct shrinker *s, struct shrink_control *sc))
{
	struct shrinker *new = shrinker_alloc(flags, title);
	int ret;

	if (!new)
		return ERR_PTR(-ENOMEM);
	new->count_objects = count;
	new->scan_objects = scan;
	ret = compat_shrinker_register(new, title);
	if (!ret)
		return new;
	kfree(new);
	return ERR_PTR(ret);
}

static int marks_start(void)
{
	int ret;

	marks_cache = KMEM_CACHE(gpuemu_reclaim_mark, SLAB_ACCOUNT);
	if (!marks_cache)
		return -ENOMEM;
	marks_shrinker = shrinker_of(marks_name, SHRINKER_MEMCG_AWARE, marks_count, marks_scan);
	if (IS_ERR(marks_shrinker)) {
		ret = PTR_ERR(marks_shrinker);
		goto out_cache;
	}
	/* Before 6.7 a shrinker has its number only now, which the list needs. */
	ret = list_lru_init_memcg(&marks, marks_shrinker);
	if (!ret)
		return 0;
	shrinker_free(marks_shrinker);
out_cache:
	kmem_cache_destroy(marks_cache);
	return ret;
}

static void marks_stop(void)
{
	shrinker_free(marks_shrinker);
	list_lru_destroy(&marks);
	kmem_cache_destroy(marks_cache);
}

int gpuemu_reclaim_start(struct gpuemu_dev *dev)
{
	int ret;

	reclaim_dev = dev;
	ret = marks_start();
	if (ret)
		return ret;
	shrinker = shrinker_of(name, 0, reclaim_count, reclaim_scan);
	if (IS_ERR(shrinker)) {
		ret = PTR_ERR(shrinker);
		goto out_marks;
	}
	ret = register_oom_notifier(&oom_notifier);
	if (!ret)
		return 0;
	shrinker_free(shrinker);
out_marks:
	marks_stop();
	return ret;
}

void gpuemu_reclaim_stop(void)
{
	unregister_oom_notifier(&oom_notifier);
	shrinker_free(shrinker);
	marks_stop();
}
