/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Jobs: what clients ask of the engine. Queued by a client, taken and finished
 * by the engine, read by the client. The payload and report are opaque here. The ABI calls
 * a job a work; in the kernel a work is a workqueue's.
 */
#ifndef _GPUEMU_JOB_H
#define _GPUEMU_JOB_H

#include <linux/list.h>
#include <linux/types.h>

struct gpuemu_client;
struct gpuemu_dev;
struct gpuemu_engine;

void gpuemu_job_client_gone(struct gpuemu_client *client);
void gpuemu_job_engine_lost(struct gpuemu_engine *e);

#endif
