/* SPDX-License-Identifier: GPL-2.0 */
/*
 * PTX images kept in a VA space, so that any engine, also a later one, can
 * read them.
 */
#ifndef _GPUEMU_IMAGE_H
#define _GPUEMU_IMAGE_H

struct gpuemu_client;

void gpuemu_image_free_all(struct gpuemu_client *client);

#endif
