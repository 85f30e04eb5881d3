/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _GPUEMU_RECLAIM_H
#define _GPUEMU_RECLAIM_H

struct gpuemu_dev;
struct gpuemu_space;

int gpuemu_reclaim_start(struct gpuemu_dev *dev);
void gpuemu_reclaim_stop(void);
int gpuemu_reclaim_mark(struct gpuemu_space *space);
void gpuemu_reclaim_unmark(struct gpuemu_space *space);

#endif
