/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Events: what the module tells the listeners of its multicast group. Telling
 * never waits: what cannot be sent is counted as dropped, and the number of
 * each event lets a listener see what it missed.
 */
#ifndef _GPUEMU_EVENT_H
#define _GPUEMU_EVENT_H

#include <linux/skbuff.h>
#include <linux/spinlock.h>
#include <linux/types.h>
#include <linux/workqueue.h>
#include <uapi/linux/gpuemu_netlink.h>

struct gpuemu_dev;
struct gpuemu_space;

/**
 * struct gpuemu_events - the device's
 * @lock: see locks.h; protects @seq, @dropped and @queue
 * @queue: messages that are not sent yet, in order
 * @send: sends them
 * @seq: number of the last event
 * @dropped: events that no message could be made for
 * @pressure: when the next memory-pressure event may be, in jiffies; 0: at once
 */
struct gpuemu_events {
	spinlock_t lock;
	struct sk_buff_head queue;
	struct work_struct send;
	u64 seq;
	u64 dropped;
	unsigned long pressure;
};

void gpuemu_events_init(struct gpuemu_events *events);
void gpuemu_events_stop(struct gpuemu_events *events);

/* None with a spinlock held. */
void gpuemu_event_client(struct gpuemu_dev *dev, enum gpuemu_event_type type,
			 u32 va_space);
void gpuemu_event_engine(struct gpuemu_dev *dev, enum gpuemu_event_type type,
			 u32 generation, const char *reason);
void gpuemu_event_pressure(struct gpuemu_space *space, const char *what);
void gpuemu_event_param(struct gpuemu_dev *dev, const char *name, u32 value);
void gpuemu_event_reset(struct gpuemu_dev *dev, u32 va_space);

#endif
