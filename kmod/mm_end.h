/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The end of a client's process: its memory is free before the kernel takes the process for
 * done.
 */
#ifndef _GPUEMU_MM_END_H
#define _GPUEMU_MM_END_H

struct gpuemu_client;
struct mm_struct;

int gpuemu_mm_end_watch(struct gpuemu_client *client, struct mm_struct *mm);
void gpuemu_mm_end_forget(struct gpuemu_client *client);

#endif
