// SPDX-License-Identifier: GPL-2.0
/*
 * The life of an open file: its VA space, its accounts, and what is undone when
 * it is closed. Which memory is managed is va_space.c's.
 */
#include <linux/pagemap.h>
#include <linux/sched/mm.h>
#include <linux/slab.h>
#include <linux/uaccess.h>

#include "client.h"
#include "cmd.h"
#include "dev.h"
#include "engine.h"
#include "image.h"
#include "mirror.h"
#include "mm_end.h"
#include "objects.h"
#include "reclaim.h"
#include "user.h"
#include "job.h"

static void mapping_init(struct address_space *mapping, struct inode *inode)
{
	address_space_init_once(mapping);
	mapping->host = inode;
	/* fadvise() and MADV_WILLNEED look at both. */
	mapping->a_ops = inode->i_mapping->a_ops;
	mapping_set_gfp_mask(mapping, GFP_USER);
}

int gpuemu_client_open(struct gpuemu_dev *dev, struct file *file)
{
	struct gpuemu_client *client;
	int ret;

	client = kzalloc(sizeof(*client), GFP_KERNEL_ACCOUNT);
	if (!client)
		return -ENOMEM;
	kref_init(&client->ref);
	client->dev = dev;
	mapping_init(&client->mapping, file_inode(file));
	mutex_init(&client->lock);
	xa_init_flags(&client->images, XA_FLAGS_ALLOC);
	client->next_image = 1;
	INIT_LIST_HEAD(&client->jobs);
	INIT_LIST_HEAD(&client->queued);
	INIT_LIST_HEAD(&client->turn);

	ret = gpuemu_space_init(&client->space, dev, &client->mapping);
	if (ret)
		goto out_client;
	/* The id comes first; the client is found by it only when complete. */
	ret = xa_alloc_cyclic(&dev->clients, &client->space.id, NULL,
			      XA_LIMIT(1, U32_MAX), &dev->next_space,
			      GFP_KERNEL_ACCOUNT);
	if (ret < 0)
		goto out_space;
	gpuemu_created(clients);
	client->opener = get_pid(task_tgid(current));
	client->uid = current_uid();
	xa_store(&dev->clients, client->space.id, client, GFP_KERNEL);
	gpuemu_count_dev(dev, CLIENTS_OPENED, 1);
	gpuemu_event_client(dev, GPUEMU_EVENT_TYPE_CLIENT_OPENED,
			    client->space.id);
	file->f_mapping = &client->mapping;
	file->private_data = client;
	return 0;

out_space:
	gpuemu_space_destroy(&client->space);
out_client:
	kfree(client);
	return ret;
}

static void client_free(struct kref *ref)
{
	struct gpuemu_client *client = container_of(ref, struct gpuemu_client,
						    ref);

	if (client->mm)
		mmdrop(client->mm);
	/* What was not given back one by one went with the images and jobs. */
	atomic64_sub(atomic64_read(&client->bytes), &client->space.user->bytes);
	put_pid(client->opener);
	gpuemu_space_destroy(&client->space);
	kfree(client);
	gpuemu_destroyed(clients);
}

void gpuemu_client_put(struct gpuemu_client *client)
{
	kref_put(&client->ref, client_free);
}

/* The client of a VA space, referenced, or NULL. */
struct gpuemu_client *gpuemu_client_get(struct gpuemu_dev *dev, u32 va_space)
{
	struct gpuemu_client *client;

	xa_lock(&dev->clients);
	client = xa_load(&dev->clients, va_space);
	if (client)
		kref_get(&client->ref);
	xa_unlock(&dev->clients);
	return client;
}

/* The first client from id *next on, referenced; NULL: none. */
struct gpuemu_client *gpuemu_client_next(struct gpuemu_dev *dev,
					 unsigned long *next)
{
	struct gpuemu_client *client;

	xa_lock(&dev->clients);
	client = xa_find(&dev->clients, next, U32_MAX, XA_PRESENT);
	if (client)
		kref_get(&client->ref);
	xa_unlock(&dev->clients);
	return client;
}

/*
 * The file's last reference is gone: so are all its mappings and commands. What
 * a concurrent COMMIT may still hold is the client itself, which by now manages
 * nothing.
 */
void gpuemu_client_release(struct gpuemu_client *client)
{
	struct gpuemu_engine *e = gpuemu_client_engine(client);

	xa_erase(&client->dev->clients, client->space.id);
	if (e)
		gpuemu_engine_release(e);
	gpuemu_job_client_gone(client);
	gpuemu_mm_end_forget(client);
	gpuemu_image_free_all(client);
	gpuemu_space_close(&client->space);
	gpuemu_event_client(client->dev, GPUEMU_EVENT_TYPE_CLIENT_CLOSED,
			    client->space.id);
	gpuemu_client_put(client);
}

/*
 * Managed memory has one owner: a second mm would need a second set of PTEs. The caller holds
 * the mm's mmap_lock for writing.
 */
int gpuemu_client_bind_mm(struct gpuemu_client *client, struct mm_struct *mm)
{
	int ret = 0;

	mutex_lock(&client->lock);
	if (client->engine) {
		ret = -EPERM;
	} else if (!client->mm) {
		ret = gpuemu_reclaim_mark(&client->space);
		if (!ret) {
			ret = gpuemu_mm_end_watch(client, mm);
			if (ret)
				gpuemu_reclaim_unmark(&client->space);
		}
		if (!ret) {
			gpuemu_space_charge_to(&client->space, mm);
			mmgrab(mm);
			client->mm = mm;
		}
	} else if (client->mm != mm) {
		ret = -EPERM;
	}
	mutex_unlock(&client->lock);
	return ret;
}

int gpuemu_client_charge(struct gpuemu_client *client, u64 bytes)
{
	struct gpuemu_user *user = client->space.user;

	if (atomic64_add_return(bytes, &client->bytes) > GPUEMU_CLIENT_BYTES)
		goto out_client;
	if (atomic64_add_return(bytes, &user->bytes) > GPUEMU_USER_BYTES &&
	    client->space.limited)
		goto out_user;
	return 0;

out_user:
	atomic64_sub(bytes, &user->bytes);
out_client:
	atomic64_sub(bytes, &client->bytes);
	return -ENOMEM;
}

void gpuemu_client_uncharge(struct gpuemu_client *client, u64 bytes)
{
	atomic64_sub(bytes, &client->bytes);
	atomic64_sub(bytes, &client->space.user->bytes);
}

/*
 * Memory on the client's account. The engine takes what the client's memory cgroup has
 * free. Where that is too little it pays itself, within GPUEMU_CLIENT_BYTES: it must
 * neither reclaim there, for which all clients would wait, nor have somebody killed.
 */
static void *alloc_for(struct gpuemu_client *client, u32 bytes, bool by_engine)
{
	/* Too little memory is the caller's to hear of, not the log's. */
	gfp_t gfp = by_engine ? GPUEMU_ENGINE_GFP :
				GFP_KERNEL_ACCOUNT | __GFP_NOWARN;
	struct mem_cgroup *old = set_active_memcg(READ_ONCE(client->space.memcg));
	void *data = by_engine ? kmalloc(bytes, gfp) : kvmalloc(bytes, gfp);

	set_active_memcg(old);
	if (!data && by_engine)
		data = kvmalloc(bytes, GFP_KERNEL_ACCOUNT | __GFP_NOWARN);
	return data;
}

/*
 * Copies a user buffer of the current process, which is the client or the engine,
 * charged to the client, into memory for kvfree(). NULL for no bytes. No lock may be
 * held.
 */
void *gpuemu_client_copy_in(struct gpuemu_client *client, u64 user, u32 bytes,
			    bool by_engine)
{
	void *data;
	int ret;

	if (!bytes)
		return NULL;
	ret = gpuemu_client_charge(client, bytes);
	if (ret)
		return ERR_PTR(ret);
	data = alloc_for(client, bytes, by_engine);
	if (!data) {
		gpuemu_client_uncharge(client, bytes);
		return ERR_PTR(-ENOMEM);
	}
	if (copy_from_user(data, u64_to_user_ptr(user), bytes)) {
		kvfree(data);
		gpuemu_client_uncharge(client, bytes);
		return ERR_PTR(-EFAULT);
	}
	return data;
}

int gpuemu_cmd_info(struct gpuemu_client *client, struct gpuemu_info *arg)
{
	struct gpuemu_dev *dev = client->dev;

	arg->abi = GPUEMU_ABI_VERSION;
	arg->va_space = client->space.id;
	spin_lock(&dev->lock);
	arg->engine_generation = dev->engine && !gpuemu_engine_lost(dev->engine) ?
		dev->engine->generation : 0;
	if (arg->engine_generation == client->told_by) {
		arg->launches = client->progress.launches;
		arg->ctas_done = client->progress.ctas_done;
		arg->ctas = client->progress.ctas;
	}
	spin_unlock(&dev->lock);
	arg->vram_bytes = (u64)dev->vram.frames << PAGE_SHIFT;
	arg->vram_free_bytes = (u64)gpuemu_vram_nfree(&dev->vram) << PAGE_SHIFT;
	return 0;
}

/* The program gives kernels all memory of its process. */
int gpuemu_cmd_pageable(struct gpuemu_client *client,
			struct gpuemu_pageable *arg)
{
	if (gpuemu_client_engine(client))
		return -EPERM;
	return arg->flags ? -EOPNOTSUPP : gpuemu_mirror_open(client);
}

/* The module only passes it on, to those that show it. */
int gpuemu_cmd_engine_progress(struct gpuemu_client *client,
			       struct gpuemu_engine_progress *arg)
{
	struct gpuemu_engine *e = gpuemu_client_engine(client);
	struct gpuemu_client *about;

	if (!e)
		return -EPERM;
	if (arg->ctas_done > arg->ctas)
		return -EINVAL;
	about = gpuemu_client_get(client->dev, arg->va_space);
	if (!about)
		return -ESRCH;
	spin_lock(&client->dev->lock);
	about->progress = *arg;
	about->told_by = e->generation;
	spin_unlock(&client->dev->lock);
	gpuemu_client_put(about);
	return 0;
}
