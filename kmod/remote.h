/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The remote aperture: slots through which the engine reaches pages in system
 * memory. Owns the slots and the engine's mapping of them; which page has which
 * slot is the VA blocks'. A slot outlives its engine: the next one finds the
 * same page there.
 */
#ifndef _GPUEMU_REMOTE_H
#define _GPUEMU_REMOTE_H

#include <linux/mm.h>

#include "aperture.h"

struct gpuemu_dev;
struct gpuemu_space;

/**
 * struct gpuemu_remote - the device's
 * @slots: how many
 * @aperture: of the slots; its lock protects the rest
 * @pages: by slot: what the engine finds there, or NULL
 * @free: a stack of slots that are no page's
 * @nfree: how many
 */
struct gpuemu_remote {
	u32 slots;
	struct gpuemu_aperture aperture;
	struct page **pages;
	u32 *free;
	u32 nfree;
};

extern const struct vm_operations_struct gpuemu_remote_vm_ops;

int gpuemu_remote_init(struct gpuemu_remote *remote, u32 slots);
void gpuemu_remote_destroy(struct gpuemu_remote *remote);

u32 gpuemu_remote_alloc(struct gpuemu_space *space, u32 *slots,
			unsigned long *mask, u32 pages);
void gpuemu_remote_free(struct gpuemu_space *space, const u32 *slots,
			const unsigned long *mask, u32 pages);
void gpuemu_remote_show(struct gpuemu_remote *remote, const u32 *slots,
			struct page *const *page, const unsigned long *mask,
			u32 pages);
void gpuemu_remote_hide(struct gpuemu_dev *dev, const u32 *slots,
			const unsigned long *mask, u32 pages);

#endif
