/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Works: what clients ask of the engine. Queued by a client, taken and finished
 * by the engine, read by the client. The payload and report are opaque here.
 */
#ifndef _GPUEMU_WORK_H
#define _GPUEMU_WORK_H

#include <linux/list.h>
#include <linux/types.h>

struct gpuemu_client;
struct gpuemu_dev;
struct gpuemu_engine;

void gpuemu_work_client_gone(struct gpuemu_client *client);
void gpuemu_work_engine_lost(struct gpuemu_engine *e);

#endif
