// SPDX-License-Identifier: GPL-2.0
/*
 * gpuemu.ko: init, exit, parameters. A bad value of a parameter is reported
 * and replaced by the default; only memory that is not there fails the load.
 */
#include <linux/log2.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <uapi/linux/gpuemu.h>

#include "dev.h"
#include "objects.h"

#undef pr_fmt
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#define VRAM_MB_DEFAULT		64u
#define PT_MB_DEFAULT		16u
#define FAULT_ENTRIES_DEFAULT	4096u
#define INVAL_TIMEOUT_MS_DEFAULT 500u

static unsigned int vram_mb = VRAM_MB_DEFAULT;
module_param(vram_mb, uint, 0444);
MODULE_PARM_DESC(vram_mb, "device memory in MiB, 1 .. 1048576 (64)");

static unsigned int pt_mb = PT_MB_DEFAULT;
module_param(pt_mb, uint, 0444);
MODULE_PARM_DESC(pt_mb, "GPU page tables in MiB, 1 .. 4096 (16)");

static unsigned int fault_entries = FAULT_ENTRIES_DEFAULT;
module_param(fault_entries, uint, 0444);
MODULE_PARM_DESC(fault_entries,
		 "fault buffer entries, a power of two, 64 .. 65536 (4096)");

static unsigned int invalidate_timeout_ms = INVAL_TIMEOUT_MS_DEFAULT;
module_param(invalidate_timeout_ms, uint, 0444);
MODULE_PARM_DESC(invalidate_timeout_ms,
		 "time for an engine to acknowledge a TLB invalidate, 10 .. 10000 (500)");

atomic_t gpuemu_live[GPUEMU_OBJ_KINDS];

static struct gpuemu_dev the_device;

static void check_param(unsigned int *value, const char *name, unsigned int min,
			unsigned int max, unsigned int def)
{
	if (*value >= min && *value <= max)
		return;
	pr_warn("%s=%u is not in %u .. %u; using %u\n", name, *value, min, max,
		def);
	*value = def;
}

static void check_params(void)
{
	check_param(&vram_mb, "vram_mb", 1, 1u << 20, VRAM_MB_DEFAULT);
	check_param(&pt_mb, "pt_mb", 1, 1u << 12, PT_MB_DEFAULT);
	check_param(&invalidate_timeout_ms, "invalidate_timeout_ms", 10, 10000,
		    INVAL_TIMEOUT_MS_DEFAULT);
	check_param(&fault_entries, "fault_entries", 64, 65536,
		    FAULT_ENTRIES_DEFAULT);
	if (!is_power_of_2(fault_entries)) {
		pr_warn("fault_entries=%u is not a power of two; using %u\n",
			fault_entries, FAULT_ENTRIES_DEFAULT);
		fault_entries = FAULT_ENTRIES_DEFAULT;
	}
}

static u32 pages_of(unsigned int mb)
{
	return mb << (20 - PAGE_SHIFT);
}

static int __init gpuemu_init(void)
{
	struct gpuemu_dev *dev = &the_device;
	int ret;

	BUILD_BUG_ON(PAGE_SIZE != GPUEMU_PAGE_SIZE);

	check_params();
	/* It would take what programs need, and bring the OOM killer on them. */
	if (((u64)vram_mb + pt_mb) << (20 - PAGE_SHIFT) >
	    totalram_pages() / 4 * 3) {
		pr_err("vram_mb=%u and pt_mb=%u are more than three quarters of the memory; try smaller values\n",
		       vram_mb, pt_mb);
		return -ENOMEM;
	}
	ret = gpuemu_vram_init(&dev->vram, pages_of(vram_mb));
	if (ret) {
		pr_err("no memory for vram_mb=%u; try a smaller value\n",
		       vram_mb);
		return ret;
	}
	ret = gpuemu_pt_init(&dev->pt, pages_of(pt_mb));
	if (ret) {
		pr_err("no memory for pt_mb=%u; try a smaller value\n", pt_mb);
		goto out_vram;
	}
	dev->fault_entries = fault_entries;
	dev->inval_timeout_ms = invalidate_timeout_ms;
	ret = gpuemu_dev_register(dev);
	if (ret) {
		pr_err("cannot create /dev/gpuemu: error %d\n", ret);
		goto out_pt;
	}
	return 0;

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
	gpuemu_pt_destroy(&the_device.pt);
	gpuemu_vram_destroy(&the_device.vram);
	print_live();
}

module_init(gpuemu_init);
module_exit(gpuemu_exit);

MODULE_DESCRIPTION("A GPU that pages, without a GPU");
MODULE_LICENSE("GPL");
