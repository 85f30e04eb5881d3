// SPDX-License-Identifier: GPL-2.0
/*
 * /dev/gpuemu: the file operations, which find the client or engine behind a
 * file and hand over to it. No logic of its own.
 */
#include <linux/fdtable.h>
#include <linux/fs.h>
#include <linux/mm.h>
#include <linux/mman.h>
#include <linux/module.h>
#include <linux/sched.h>

#include "client.h"
#include "cmd.h"
#include "dev.h"
#include "device_memory.h"
#include "engine.h"
#include "netlink.h"
#include "uring.h"

static int dev_open(struct inode *inode, struct file *file)
{
	struct gpuemu_dev *dev = container_of(file->private_data,
					      struct gpuemu_dev, misc);

	return gpuemu_client_open(dev, file);
}

static int is_file(const void *wanted, struct file *file, unsigned int fd)
{
	return file == wanted;
}

/*
 * Runs on each close of a descriptor. The last one of a dying process is the
 * first that the module hears of an engine's death; .release may be far away,
 * because a forked child has the file too, or because mappings or commands hold
 * it. A process that lives and closes its last descriptor is no engine either:
 * it can issue nothing, not even the end of a job that a client waits for.
 */
static int dev_flush(struct file *file, fl_owner_t id)
{
	struct gpuemu_engine *e = gpuemu_client_engine(file->private_data);

	if (!e || e->owner != id)
		return 0;
	if (current->flags & PF_EXITING)
		gpuemu_engine_kill(e, "its process died");
	else if (current->files == id &&
		 !iterate_fd(current->files, 0, is_file, file))
		gpuemu_engine_kill(e, "it closed the device");
	return 0;
}

static int dev_release(struct inode *inode, struct file *file)
{
	gpuemu_client_release(file->private_data);
	return 0;
}

static int dev_mmap(struct file *file, struct vm_area_struct *vma)
{
	struct gpuemu_client *client = file->private_data;
	struct gpuemu_engine *e = gpuemu_client_engine(client);

	if (e)
		return gpuemu_engine_mmap(e, vma);
	if (vma->vm_pgoff & (GPUEMU_MMAP_DEVICE >> PAGE_SHIFT))
		return gpuemu_device_mmap(&client->space, vma);
	return gpuemu_space_mmap(&client->space, vma);
}

/*
 * The kernel asks where a mapping may go before it unmaps what MAP_FIXED (or
 * remap_file_pages()) would replace: a mapping that is refused must not cost
 * the content of the one that it was to replace.
 */
static unsigned long dev_get_unmapped_area(struct file *file,
					   unsigned long addr,
					   unsigned long len,
					   unsigned long pgoff,
					   unsigned long flags)
{
	struct gpuemu_client *client = file->private_data;
	int ret = 0;

	if ((flags & MAP_FIXED) && !gpuemu_client_engine(client))
		ret = !(file->f_mode & FMODE_WRITE) ? -EACCES :
		      gpuemu_space_may_map(&client->space, addr, len, pgoff,
					   flags);
	if (ret)
		return ret;
	return compat_get_unmapped_area(file, addr, len, pgoff, flags);
}

static const struct file_operations dev_fops = {
	.owner = THIS_MODULE,
	.open = dev_open,
	.flush = dev_flush,
	.release = dev_release,
	.mmap = dev_mmap,
	.get_unmapped_area = dev_get_unmapped_area,
	/* msync() of memory that no file is behind: there is nothing to do. */
	.fsync = noop_fsync,
	.unlocked_ioctl = gpuemu_ioctl,
	.compat_ioctl = compat_ptr_ioctl,
	.uring_cmd = gpuemu_uring_cmd,
};

int gpuemu_dev_register(struct gpuemu_dev *dev)
{
	int ret;

	xa_init_flags(&dev->clients, XA_FLAGS_ALLOC);
	dev->next_space = 1;
	gpuemu_users_init(&dev->users);
	ida_init(&dev->slots);
	spin_lock_init(&dev->lock);
	spin_lock_init(&dev->jobs_lock);
	gpuemu_link_init(&dev->link);
	gpuemu_lru_init(&dev->lru);
	INIT_LIST_HEAD(&dev->turns);
	gpuemu_thrash_init(&dev->thrash);
	dev->next_job = 1;
	gpuemu_events_init(&dev->events);
	ret = gpuemu_stats_init(&dev->stats);
	if (ret)
		return ret;
	/* Before the first file, whose opening is an event. */
	ret = gpuemu_netlink_register(dev);
	if (ret)
		goto out_stats;

	dev->misc.minor = MISC_DYNAMIC_MINOR;
	dev->misc.name = "gpuemu";
	dev->misc.fops = &dev_fops;
	dev->misc.mode = 0666;
	ret = misc_register(&dev->misc);
	if (ret)
		goto out_netlink;
	return 0;

out_netlink:
	gpuemu_netlink_unregister();
out_stats:
	gpuemu_stats_destroy(&dev->stats);
	return ret;
}

void gpuemu_dev_unregister(struct gpuemu_dev *dev)
{
	misc_deregister(&dev->misc);
	/* A worker may have the last reference of a client. */
	gpuemu_mirror_flush(&dev->mirror);
	gpuemu_thrash_exit(&dev->thrash);
	gpuemu_events_stop(&dev->events);
	gpuemu_netlink_unregister();
	gpuemu_stats_destroy(&dev->stats);
	ida_destroy(&dev->slots);
	xa_destroy(&dev->clients);
}
