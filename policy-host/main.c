// SPDX-License-Identifier: GPL-2.0
/*
 * The process of one loaded policy. Started by the engine (daemon/plugin/), which
 * has this program in itself; nobody else has a use for it. Waits for a byte, does
 * the call that the channel has, sends a byte back.
 */
#include "host.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

/* --- what the policy sees --------------------------------------------------------- */

static bool view_resident(void *ctx, uint64_t addr)
{
	const struct host *host = ctx;

	return pages_here(&host->here, addr);
}

static bool view_next_range(void *ctx, uint64_t addr, struct gpuemu_policy_range *range)
{
	const struct host *host = ctx;
	unsigned int low = 0, high = host->nranges;

	while (low < high) {
		unsigned int mid = low + (high - low) / 2;

		if (host->ranges[mid].end > addr)
			high = mid;
		else
			low = mid + 1;
	}
	if (low == host->nranges)
		return false;
	*range = host->ranges[low];
	return true;
}

static uint64_t view_random(void *ctx)
{
	struct host *host = ctx;

	return rng_next(&host->rng);
}

static void view_count(void *ctx, unsigned int index, uint64_t n)
{
	struct host *host = ctx;

	if (index < host->ncounters)
		host->channel->counters[index] += n;
}

static void take_kept(struct host *host, const struct channel_kept *kept)
{
	struct pages_block *block = pages_find(&host->here, kept->block);

	if (!block)
		return;
	memcpy(block->kept, kept->pages, sizeof(block->kept));
	block->kept_in = host->picks;
}

static void ask_kept(struct host *host, uint64_t block)
{
	char byte = BYTE_KEPT;

	host->channel->kept[0].block = block;
	if (send(HOST_SOCKET, &byte, 1, MSG_NOSIGNAL) != 1 || recv(HOST_SOCKET, &byte, 1, 0) != 1)
		_exit(1);
	take_kept(host, &host->channel->kept[0]);
}

/* A page that is not there cannot go. */
static bool keep(void *ctx, uint64_t addr)
{
	struct host *host = ctx;
	const struct pages_block *block = pages_find(&host->here, addr);

	if (!block || !bitmap_test(block->here, pages_bit(addr)))
		return true;
	if (block->kept_in != host->picks)
		ask_kept(host, block->addr);
	return bitmap_test(block->kept, pages_bit(addr));
}

/* --- calls -------------------------------------------------------------------------- */

static void at(struct host *host, enum channel_place place)
{
	*(volatile uint32_t *)&host->channel->place = place;
}

static int tell(struct host *host, enum channel_event event, uint64_t addr, bool flag)
{
	const struct gpuemu_prefetch_ops *prefetch = host->prefetch;
	const struct gpuemu_evict_ops *evict = host->evict;

	switch (event) {
	case EVENT_ARRIVE:
		at(host, IN_ARRIVE);
		if (evict)
			return evict->insert(host->state, addr, flag);
		if (prefetch->on_arrive)
			prefetch->on_arrive(host->state, addr, flag);
		return 0;
	case EVENT_TOUCH:
		at(host, IN_TOUCH);
		if (evict && evict->touch)
			evict->touch(host->state, addr, flag);
		else if (prefetch && prefetch->on_touch)
			prefetch->on_touch(host->state, addr, flag);
		return 0;
	case EVENT_LEAVE:
		at(host, IN_LEAVE);
		if (evict)
			evict->remove(host->state, addr);
		else if (prefetch->on_leave)
			prefetch->on_leave(host->state, addr);
		return 0;
	default:
		return 0;
	}
}

static int do_events(struct host *host)
{
	const struct channel *channel = host->channel;

	for (unsigned int i = 0; i < channel->nevents; i++) {
		enum channel_event event = channel->events[i] & EVENT_MASK;
		uint64_t addr = channel->events[i] & ~(PAGE_BYTES - 1);
		int rc = 0;

		if (event == EVENT_HERE || event == EVENT_ARRIVE)
			rc = pages_add(&host->here, addr);
		else if (event == EVENT_LEAVE)
			pages_drop(&host->here, addr);
		if (!rc && host->created)
			rc = tell(host, event, addr, channel->events[i] & EVENT_FLAG);
		if (rc)
			return rc;
	}
	return 0;
}

static void take_ranges(struct host *host)
{
	if (!host->channel->new_ranges)
		return;
	host->nranges = host->channel->nranges;
	memcpy(host->ranges, host->channel->ranges, host->nranges * sizeof(*host->ranges));
}

static int map_record(struct host *host)
{
	size_t n = host->channel->record_length;
	void *record;

	if (!n)
		return 0;
	record = mmap(NULL, n * sizeof(*host->view.record), PROT_READ, MAP_PRIVATE, HOST_RECORD, 0);
	if (record == MAP_FAILED)
		return -errno;
	host->view.record = record;
	host->view.record_length = n;
	return 0;
}

static int do_create(struct host *host)
{
	int (*create)(const struct gpuemu_policy_view *view, void **state) =
		host->evict ? host->evict->create : host->prefetch->create;
	int rc = map_record(host);

	if (rc)
		return rc;
	memcpy(host->options, host->channel->options, sizeof(host->options));
	rng_seed(&host->rng, host->channel->seed);
	host->view.ctx = host;
	host->view.frames = host->channel->frames;
	host->view.options = host->options;
	host->view.resident = view_resident;
	host->view.next_range = view_next_range;
	host->view.random = view_random;
	host->view.count = view_count;
	take_ranges(host);
	at(host, IN_CREATE);
	rc = create ? create(&host->view, &host->state) : 0;
	host->created = !rc;
	return rc;
}

static unsigned int pick(struct host *host)
{
	struct channel *channel = host->channel;

	host->picks++;
	for (unsigned int i = 0; i < channel->nkept; i++)
		take_kept(host, &channel->kept[i]);
	at(host, IN_DECIDE);
	return host->evict->pick(host->state, &host->view, channel->need, keep, host,
				 channel->pages, channel->max);
}

static int do_decide(struct host *host)
{
	struct channel *channel = host->channel;

	take_ranges(host);
	if (host->evict) {
		channel->count = pick(host);
		return 0;
	}
	at(host, IN_DECIDE);
	channel->count = host->prefetch->on_batch(host->state, &host->view, channel->faults,
						  channel->nfaults, channel->pages, channel->max);
	return 0;
}

static int do_destroy(struct host *host)
{
	void (*destroy)(void *state) =
		host->evict ? host->evict->destroy : host->prefetch->destroy;

	at(host, IN_DESTROY);
	if (destroy && host->created)
		destroy(host->state);
	host->created = false;
	return 0;
}

static int do_load(struct host *host)
{
	int rc;

	at(host, IN_LOAD);
	rc = confine_user(host->channel->uid);
	if (rc) {
		snprintf(host->channel->message, sizeof(host->channel->message),
			 "its process cannot become user %u: %s", host->channel->uid, strerror(-rc));
		return rc;
	}
	/* What cannot be confined is not loaded. */
	rc = confine_calls();
	if (rc) {
		snprintf(host->channel->message, sizeof(host->channel->message),
			 "its process cannot be confined, which takes a kernel with seccomp filters: %s",
			 strerror(-rc));
		return rc;
	}
	return host_load(host);
}

static int do_call(struct host *host)
{
	int rc = do_events(host);

	if (rc)
		return rc;
	switch (host->channel->call) {
	case CALL_LOAD:
		return do_load(host);
	case CALL_CREATE:
		return do_create(host);
	case CALL_DECIDE:
		return do_decide(host);
	case CALL_DESTROY:
		return do_destroy(host);
	default:
		return 0;
	}
}

static int serve(struct host *host)
{
	char byte;

	while (recv(HOST_SOCKET, &byte, 1, 0) == 1) {
		host->channel->status = do_call(host);
		at(host, IN_WAIT);
		if (send(HOST_SOCKET, &byte, 1, MSG_NOSIGNAL) != 1)
			return 1;
	}
	return 0;
}

int main(void)
{
	static struct host host;

	host.channel = mmap(NULL, sizeof(*host.channel), PROT_READ | PROT_WRITE, MAP_SHARED,
			    HOST_CHANNEL, 0);
	if (host.channel == MAP_FAILED) {
		fprintf(stderr, "gpuemu-policy-host: started by gpuemu for --prefetch FILE.so and --evict FILE.so, "
			"not by hand\n");
		return 2;
	}
	confine_process();
	close(HOST_CHANNEL);
	return serve(&host);
}
