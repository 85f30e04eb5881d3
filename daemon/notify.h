/* SPDX-License-Identifier: GPL-2.0 */
/* Tells who started the daemon, by the protocol of sd_notify(3), that clients can be served. */
#ifndef GPUEMU_NOTIFY_H
#define GPUEMU_NOTIFY_H

/* Does nothing where $NOTIFY_SOCKET is not set. Called once; started programs do not inherit it. */
void notify_ready(void);

#endif
