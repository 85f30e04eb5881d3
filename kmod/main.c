// SPDX-License-Identifier: GPL-2.0
/*
 * gpuemu.ko: init and exit. For a bad value of a parameter the nearest allowed one is
 * taken, and reported (params.c); only memory that is not there fails the load.
 */
#include <linux/mm.h>
#include <linux/mmu_notifier.h>
#include <linux/module.h>
#include <uapi/linux/gpuemu.h>

#include "dev.h"
#include "objects.h"
#include "params.h"
#include "reclaim.h"

#undef pr_fmt
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

atomic_t gpuemu_live[GPUEMU_OBJ_KINDS];

static struct gpuemu_dev the_device;

static u32 pages_of(unsigned int mb)
{
	return mb << (20 - PAGE_SHIFT);
}

static int __init gpuemu_init(void)
{
	const struct gpuemu_params *p = &gpuemu_params;
	struct gpuemu_dev *dev = &the_device;
	int ret;

	BUILD_BUG_ON(PAGE_SIZE != GPUEMU_PAGE_SIZE);

	/* It would take what programs need, and bring the OOM killer on them. */
	if (((u64)p->vram_mb + p->pt_mb) << (20 - PAGE_SHIFT) >
	    totalram_pages() / 4 * 3) {
		pr_err("vram_mb=%u and pt_mb=%u are more than three quarters of the memory; try smaller values\n",
		       p->vram_mb, p->pt_mb);
		return -ENOMEM;
	}
	ret = gpuemu_vram_init(&dev->vram, pages_of(p->vram_mb));
	if (ret) {
		pr_err("no memory for vram_mb=%u; try a smaller value\n",
		       p->vram_mb);
		return ret;
	}
	ret = gpuemu_pt_init(&dev->pt, pages_of(p->pt_mb));
	if (ret) {
		pr_err("no memory for pt_mb=%u; try a smaller value\n",
		       p->pt_mb);
		goto out_vram;
	}
	ret = gpuemu_remote_init(&dev->remote, pages_of(p->remote_mb));
	if (ret) {
		pr_err("no memory for the slots of remote_mb=%u; try a smaller value\n",
		       p->remote_mb);
		goto out_pt;
	}
	ret = gpuemu_mirror_slots_init(&dev->mirror, pages_of(p->remote_mb));
	if (ret) {
		pr_err("no memory for the slots of remote_mb=%u; try a smaller value\n",
		       p->remote_mb);
		goto out_remote;
	}
	ret = gpuemu_mirror_pages_init(dev);
	if (ret) {
		pr_err("no memory for the pages of vram_mb=%u, error %d; try a smaller value\n",
		       p->vram_mb, ret);
		goto out_mirror;
	}
	ret = gpuemu_copies_start(&dev->copies, p->copy_engines);
	if (ret) {
		pr_err("no thread for copy_engines=%u: error %d\n",
		       p->copy_engines, ret);
		goto out_pages;
	}
	ret = gpuemu_reclaim_start(dev);
	if (ret) {
		pr_err("no memory for what reclaims memory: error %d\n", ret);
		goto out_copies;
	}
	dev->fault_entries = p->fault_entries;
	/* The last: from here on programs open the device. */
	ret = gpuemu_dev_register(dev);
	if (ret) {
		pr_err("cannot create /dev/gpuemu and its netlink family: error %d\n",
		       ret);
		goto out_reclaim;
	}
	return 0;

out_reclaim:
	gpuemu_reclaim_stop();
out_copies:
	gpuemu_copies_stop(&dev->copies);
out_pages:
	gpuemu_mirror_pages_destroy(dev);
out_mirror:
	gpuemu_mirror_slots_destroy(&dev->mirror);
out_remote:
	gpuemu_remote_destroy(&dev->remote);
out_pt:
	gpuemu_pt_destroy(&dev->pt);
out_vram:
	gpuemu_vram_destroy(&dev->vram);
	return ret;
}

/* The balance of objects, in one line that the tests read. */
static void print_live(void)
{
	static const char *const names[] = {
#define X(name) #name,
		GPUEMU_OBJECTS(X)
#undef X
	};
	char line[256];
	int total = 0, at = 0, n, i;

	for (i = 0; i < GPUEMU_OBJ_KINDS; i++) {
		n = atomic_read(&gpuemu_live[i]);
		at += scnprintf(line + at, sizeof(line) - at, "%s=%d ",
				names[i], n);
		/* A missing and a superfluous destroy must not cancel out. */
		total += abs(n);
	}
	pr_info("live objects: %stotal=%d\n", line, total);
}

static void __exit gpuemu_exit(void)
{
	gpuemu_dev_unregister(&the_device);
	gpuemu_reclaim_stop();
	/* Some memory of mm_end.c may be free only now. */
	mmu_notifier_synchronize();
	gpuemu_copies_stop(&the_device.copies);
	gpuemu_mirror_pages_destroy(&the_device);
	gpuemu_mirror_slots_destroy(&the_device.mirror);
	gpuemu_remote_destroy(&the_device.remote);
	gpuemu_pt_destroy(&the_device.pt);
	gpuemu_vram_destroy(&the_device.vram);
	print_live();
}

module_init(gpuemu_init);
module_exit(gpuemu_exit);

MODULE_DESCRIPTION("A GPU that pages, without a GPU");
MODULE_LICENSE("GPL");
