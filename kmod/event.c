// SPDX-License-Identifier: GPL-2.0
/*
 * Making and sending events. Called where one happens; which sockets listen is
 * netlink's business. An event says nothing of a process but its VA space's id,
 * because everybody may listen.
 */
#include <linux/jiffies.h>
#include <linux/skbuff.h>
#include <linux/workqueue.h>
#include <net/genetlink.h>

#include "dev.h"
#include "event.h"
#include "netlink.h"
#include "params.h"
#include "va_space.h"

/* What an event may say besides its type; what is 0 or NULL is left out. */
struct event {
	enum gpuemu_event_type type;
	u32 va_space;
	u32 generation;
	const char *reason;
	const char *name;
	u32 value;
};

/* Longest text and all numbers fit. */
#define EVENT_BYTES 512

/* More are dropped, and the events' numbers tell a listener so. */
#define QUEUED_MAX 1024

static int event_put(struct sk_buff *skb, const struct gpuemu_events *events,
		     const struct event *e)
{
	void *hdr = genlmsg_put(skb, 0, 0, &gpuemu_family, 0, GPUEMU_CMD_EVENT);

	if (!hdr || nla_put_u32(skb, GPUEMU_A_EVENT_TYPE, e->type) ||
	    nla_put_u64_64bit(skb, GPUEMU_A_EVENT_SEQ, events->seq,
			      GPUEMU_A_EVENT_PAD) ||
	    nla_put_u64_64bit(skb, GPUEMU_A_EVENT_DROPPED, events->dropped,
			      GPUEMU_A_EVENT_PAD) ||
	    nla_put_u64_64bit(skb, GPUEMU_A_EVENT_TIME, ktime_get_ns(),
			      GPUEMU_A_EVENT_PAD))
		return -EMSGSIZE;
	if ((e->va_space &&
	     nla_put_u32(skb, GPUEMU_A_EVENT_VA_SPACE, e->va_space)) ||
	    (e->generation &&
	     nla_put_u32(skb, GPUEMU_A_EVENT_GENERATION, e->generation)) ||
	    (e->reason &&
	     nla_put_string(skb, GPUEMU_A_EVENT_REASON, e->reason)))
		return -EMSGSIZE;
	if (e->name && (nla_put_string(skb, GPUEMU_A_EVENT_NAME, e->name) ||
			nla_put_u32(skb, GPUEMU_A_EVENT_VALUE, e->value)))
		return -EMSGSIZE;
	genlmsg_end(skb, hdr);
	return 0;
}

static struct sk_buff *event_skb(const struct gpuemu_events *events,
				 const struct event *e)
{
	struct sk_buff *skb = genlmsg_new(EVENT_BYTES,
					  GFP_NOWAIT | __GFP_NOWARN);

	if (skb && event_put(skb, events, e)) {
		nlmsg_free(skb);
		skb = NULL;
	}
	return skb;
}

/* One lock for all, so that events are in the order of their numbers. */
static void event(struct gpuemu_dev *dev, const struct event *e)
{
	struct gpuemu_events *events = &dev->events;
	struct sk_buff *skb;

	spin_lock(&events->lock);
	events->seq++;
	if (genl_has_listeners(&gpuemu_family, &init_net, 0)) {
		skb = skb_queue_len(&events->queue) < QUEUED_MAX ?
		      event_skb(events, e) : NULL;
		if (skb) {
			__skb_queue_tail(&events->queue, skb);
			queue_work(system_unbound_wq, &events->send);
		} else {
			events->dropped++;
		}
	}
	spin_unlock(&events->lock);
}

/* Sends what is queued. A worker does, as there may be many listeners. */
static void events_send(struct work_struct *work)
{
	struct gpuemu_events *events = container_of(work, struct gpuemu_events,
						    send);
	struct sk_buff *skb;
	int ret = 0;

	for (;;) {
		spin_lock(&events->lock);
		/* -ESRCH: the last listener just left. */
		if (ret && ret != -ESRCH)
			events->dropped++;
		skb = __skb_dequeue(&events->queue);
		spin_unlock(&events->lock);
		if (!skb)
			break;
		ret = genlmsg_multicast(&gpuemu_family, skb, 0, 0, GFP_KERNEL);
	}
}

void gpuemu_events_init(struct gpuemu_events *events)
{
	spin_lock_init(&events->lock);
	__skb_queue_head_init(&events->queue);
	INIT_WORK(&events->send, events_send);
	events->seq = 0;
	events->dropped = 0;
	events->pressure = 0;
}

/* There are no more; while the family is still registered. */
void gpuemu_events_stop(struct gpuemu_events *events)
{
	flush_work(&events->send);
}

void gpuemu_event_client(struct gpuemu_dev *dev, enum gpuemu_event_type type,
			 u32 va_space)
{
	event(dev, &(struct event){ .type = type, .va_space = va_space });
}

void gpuemu_event_engine(struct gpuemu_dev *dev, enum gpuemu_event_type type,
			 u32 generation, const char *reason)
{
	event(dev, &(struct event){ .type = type, .generation = generation,
				    .reason = reason });
}

/*
 * There was no frame, or no page, for somebody. It may be so thousands of times
 * a second; the counters say how often, the event that it is so.
 */
void gpuemu_event_pressure(struct gpuemu_space *space, const char *what)
{
	struct gpuemu_events *events = &space->dev->events;
	unsigned long next = READ_ONCE(events->pressure), at;

	if (next && time_before(jiffies, next))
		return;
	/* Never 0, which is the beginning. Of several at once, one goes on. */
	at = (jiffies + msecs_to_jiffies(gpuemu_param(pressure_ms))) | 1;
	if (cmpxchg(&events->pressure, next, at) != next)
		return;
	event(space->dev, &(struct event){
		.type = GPUEMU_EVENT_TYPE_MEMORY_PRESSURE,
		.va_space = space->id, .reason = what });
}

void gpuemu_event_param(struct gpuemu_dev *dev, const char *name, u32 value)
{
	event(dev, &(struct event){ .type = GPUEMU_EVENT_TYPE_PARAM_CHANGED,
				    .name = name, .value = value });
}

/* va_space 0: of the device and all. */
void gpuemu_event_reset(struct gpuemu_dev *dev, u32 va_space)
{
	event(dev, &(struct event){ .type = GPUEMU_EVENT_TYPE_STATS_RESET,
				    .va_space = va_space });
}
