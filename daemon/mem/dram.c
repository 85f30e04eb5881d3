// SPDX-License-Identifier: GPL-2.0
/*
 * One DRAM channel: the queue from its L2 slices, the FR-FCFS scheduler and the
 * banks with their timing. The order within a tick of the command clock is
 * GPGPU-Sim's (memory_partition_unit::dram_cycle, dram_t::cycle): answers out, new
 * requests to the scheduler, one bank gets a request, commands, one request from
 * the slices, one out of the fixed delay.
 *
 * A timing constraint is the first tick in which a command may go. Ticks in which
 * nothing can happen are not run.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "mem/internal.h"

struct bank {
	uint64_t read, write;	/* RCD, RCDWR */
	uint64_t precharge;	/* RAS, WTP, RTP */
	uint64_t activate;	/* RP, RC */
	uint32_t row;		/* open, or last open */
	uint32_t current;	/* slot being served, if its busy bit is set */
	uint32_t atoms;		/* that it still needs */
	uint32_t first, last;	/* bins, in order of their oldest request */
	uint32_t serving;	/* the bin that is served until it is empty, or NONE */
};

/* A request from the slice on. */
struct slot {
	uint32_t fetch;
	uint32_t row;
	uint32_t next;		/* of its bin; free list */
	uint8_t bank, bytes, write, slice, kernel;
};

/* The requests of one bank for one row, oldest first. */
struct bin {
	uint32_t row;
	uint32_t head, tail;	/* slots */
	uint32_t next;
};

/* A request whose last column command was given. */
struct flight {
	uint64_t due;		/* tick */
	uint32_t fetch;
	uint8_t write, slice;
};

/* A request in the fixed delay. */
struct delayed {
	uint64_t due;
	uint32_t slot;
};

struct channel_state {
	struct slice *slices;
	uint32_t nslices, nbanks, ngroups;
	uint32_t all;		/* mask of banks */
	/* Masks of banks. */
	uint32_t queued;	/* have bins */
	uint32_t busy;		/* serve a request */
	uint32_t active;	/* have a row open */
	uint32_t match;		/* serve a request of the open row */
	uint32_t reading;	/* serve a read */
	unsigned int prio;
	/* No column or row command can go before these; lower bounds. */
	uint64_t column_at, row_at;
	uint64_t ccd, rrd, rtw, wtr;
	uint64_t ccdl[MAX_BANKS], rtpl[MAX_BANKS];	/* by group */
	struct bank bank[MAX_BANKS];
	struct slot *slots;
	struct bin *bins;
	uint32_t nslots, free_slot, free_bin, pending;

	struct delayed *delay;	/* dram.latency */
	uint32_t delay_mask, delay_head, delay_tail;
	struct flight *flight;
	uint32_t flight_mask, flight_head, flight_tail;
	/* Credits: one of its own for each slice, and shared ones. */
	uint32_t own[MAX_BANKS], shared, shared_limit;
	uint32_t last_slice;

	uint32_t t_ccd, t_ccdl, t_rrd, t_rcd, t_rcdwr, t_ras, t_rp, t_rc, t_cl, t_wl;
	uint32_t t_rtw, t_wtr, t_wtp, t_rtp, t_rtpl;
	uint32_t atom, data, queue;
	struct channel_counts {
		uint64_t reads, writes, requests, activates, precharges;
	} counts[KERNEL_SLOTS];
};

int channel_create(const struct gpu_spec *spec, struct slice *slices, struct channel *out)
{
	struct channel_state *ch;
	uint64_t most;

	if (spec->dram_groups & (spec->dram_groups - 1) || !spec->dram_groups ||
	    spec->dram_groups > MAX_BANKS)
		return -EINVAL;
	ch = calloc(1, sizeof(*ch));
	if (!ch)
		return -ENOMEM;
	ch->slices = slices;
	ch->nslices = (uint32_t)(spec->l2_slices / spec->dram_channels);
	ch->nbanks = (uint32_t)spec->dram_banks;
	ch->ngroups = (uint32_t)spec->dram_groups;
	ch->all = ch->nbanks == 32 ? UINT32_MAX : (1u << ch->nbanks) - 1;
	ch->atom = (uint32_t)(spec->dram_bus * spec->dram_burst);
	ch->data = (uint32_t)MAX(spec->dram_burst / spec->dram_ratio, 1u);
	ch->queue = (uint32_t)spec->dram_queue;
	ch->t_ccd = (uint32_t)spec->dram_ccd;
	ch->t_ccdl = (uint32_t)spec->dram_ccdl;
	ch->t_rrd = (uint32_t)spec->dram_rrd;
	ch->t_rcd = (uint32_t)spec->dram_rcd;
	ch->t_ras = (uint32_t)spec->dram_ras;
	ch->t_rp = (uint32_t)spec->dram_rp;
	ch->t_rc = (uint32_t)spec->dram_rc;
	ch->t_cl = (uint32_t)spec->dram_cl;
	ch->t_wl = (uint32_t)spec->dram_wl;
	ch->t_rtpl = (uint32_t)spec->dram_rtpl;
	/* Derived as GPGPU-Sim does (gpu-sim.h, memory_config::init). */
	ch->t_rcdwr = ch->t_rcd > ch->t_wl + 1 ? ch->t_rcd - (ch->t_wl + 1) : 0;
	ch->t_rtw = ch->t_cl + ch->data + 2 > ch->t_wl ? ch->t_cl + ch->data + 2 - ch->t_wl : 0;
	ch->t_wtr = ch->t_wl + ch->data + (uint32_t)spec->dram_cdlr;
	ch->t_wtp = ch->t_wl + ch->data + (uint32_t)spec->dram_wr;
	ch->t_rtp = ch->data;
	most = spec->dram_queue + spec->dram_return_queue;
	ch->shared_limit = most > ch->nslices ? (uint32_t)most - (ch->nslices - 1) : 1;
	/* All that credits allow can be anywhere. */
	most = ch->shared_limit + ch->nslices + 4;
	ch->delay_mask = ring_size(most) - 1;
	ch->flight_mask = ring_size(most) - 1;
	ch->nslots = ch->shared_limit + ch->nslices + 4;
	ch->delay = calloc(ch->delay_mask + 1, sizeof(*ch->delay));
	ch->flight = calloc(ch->flight_mask + 1, sizeof(*ch->flight));
	ch->slots = calloc(ch->nslots, sizeof(*ch->slots));
	ch->bins = calloc(ch->nslots, sizeof(*ch->bins));
	out->state = ch;
	if (!ch->delay || !ch->flight || !ch->slots || !ch->bins)
		return -ENOMEM;
	channel_cancel(out);
	return 0;
}

void channel_destroy(struct channel *channel)
{
	struct channel_state *ch = channel->state;

	if (!ch)
		return;
	free(ch->delay);
	free(ch->flight);
	free(ch->slots);
	free(ch->bins);
	free(ch);
}

/* Rows stay open: only requests are forgotten. */
void channel_cancel(struct channel *channel)
{
	struct channel_state *ch = channel->state;

	channel->wake = NEVER;
	ch->column_at = ch->row_at = 0;
	ch->queued = ch->busy = ch->match = ch->reading = 0;
	for (uint32_t b = 0; b < ch->nbanks; b++) {
		ch->bank[b].first = ch->bank[b].last = NONE;
		ch->bank[b].serving = NONE;
	}
	for (uint32_t i = 0; i < ch->nslots; i++)
		ch->slots[i].next = ch->bins[i].next = i + 1 < ch->nslots ? i + 1 : NONE;
	ch->free_slot = ch->free_bin = 0;
	ch->pending = 0;
	ch->delay_head = ch->delay_tail;
	ch->flight_head = ch->flight_tail;
	memset(ch->own, 0, sizeof(ch->own));
	ch->shared = 0;
	ch->last_slice = ch->nslices - 1;
}

static void credit_back(struct channel_state *ch, unsigned int slice)
{
	if (ch->own[slice])
		ch->own[slice]--;
	else
		ch->shared--;
}

/* Data that have come go to their slice, one read a tick; writes are done. */
static void answer(struct channel_state *ch, uint64_t tick, uint64_t now)
{
	while (ch->flight_head != ch->flight_tail) {
		struct flight *f = &ch->flight[ch->flight_head & ch->flight_mask];

		if (f->due > tick)
			return;
		if (f->write) {
			credit_back(ch, f->slice);
			ch->flight_head++;
			continue;
		}
		slice_fill(&ch->slices[f->slice], f->fetch, now);
		credit_back(ch, f->slice);
		ch->flight_head++;
		return;
	}
}

/* Into the scheduler: the bin of its row, behind those that are older. */
static void schedule_add(struct channel_state *ch, uint32_t slot)
{
	struct slot *r = &ch->slots[slot];
	struct bank *bank = &ch->bank[r->bank];
	uint32_t bin;

	r->next = NONE;
	ch->pending++;
	ch->counts[r->kernel].requests++;
	ch->queued |= 1u << r->bank;
	for (bin = bank->first; bin != NONE; bin = ch->bins[bin].next) {
		if (ch->bins[bin].row == r->row) {
			ch->slots[ch->bins[bin].tail].next = slot;
			ch->bins[bin].tail = slot;
			return;
		}
	}
	bin = ch->free_bin;
	ch->free_bin = ch->bins[bin].next;
	ch->bins[bin] = (struct bin){ .row = r->row, .head = slot, .tail = slot, .next = NONE };
	if (bank->first == NONE)
		bank->first = bin;
	else
		ch->bins[bank->last].next = bin;
	bank->last = bin;
}

static void bin_remove(struct channel_state *ch, struct bank *bank, unsigned int b, uint32_t bin)
{
	uint32_t *link = &bank->first, before = NONE;

	while (*link != bin) {
		before = *link;
		link = &ch->bins[before].next;
	}
	*link = ch->bins[bin].next;
	if (bank->last == bin)
		bank->last = before;
	if (bank->first == NONE)
		ch->queued &= ~(1u << b);
	ch->bins[bin].next = ch->free_bin;
	ch->free_bin = bin;
}

/* First set bit of mask at or after prio, round. */
static inline unsigned int first_from(uint32_t mask, unsigned int prio)
{
	uint32_t from = mask & (UINT32_MAX << prio);

	return (unsigned int)__builtin_ctz(from ? from : mask);
}

/* When a bank may give its next command, at the soonest. */
static uint64_t bank_next(const struct channel_state *ch, unsigned int b)
{
	const struct bank *bank = &ch->bank[b];
	unsigned int group = b & (ch->ngroups - 1);
	uint32_t bit = 1u << b;
	uint64_t at;

	if (ch->match & bit) {
		at = MAX(ch->ccd, ch->ccdl[group]);
		if (ch->reading & bit)
			return MAX(at, MAX(ch->wtr, bank->read));
		return MAX(at, MAX(ch->rtw, bank->write));
	}
	if (ch->active & bit)
		return MAX(bank->precharge, ch->rtpl[group]);
	return MAX(ch->rrd, bank->activate);
}

static uint64_t soonest(const struct channel_state *ch, uint32_t banks)
{
	uint64_t at = NEVER;

	for (uint32_t m = banks; m; m &= m - 1)
		at = MIN(at, bank_next(ch, (unsigned int)__builtin_ctz(m)));
	return at;
}

/* One bank without a request gets one: of the row that it serves, until there is none. */
static void schedule(struct channel_state *ch)
{
	uint32_t able = ch->queued & ~ch->busy;
	struct bank *bank;
	struct bin *bin;
	struct slot *slot;
	unsigned int b;
	uint32_t bit;

	if (!able)
		return;
	b = first_from(able, ch->prio);
	bit = 1u << b;
	ch->prio = ch->prio + 1 == ch->nbanks ? 0 : ch->prio + 1;
	bank = &ch->bank[b];
	if (bank->serving == NONE) {
		uint32_t i = bank->first;

		while (i != NONE && ch->bins[i].row != bank->row)
			i = ch->bins[i].next;
		bank->serving = i == NONE ? bank->first : i;
	}
	bin = &ch->bins[bank->serving];
	bank->current = bin->head;
	slot = &ch->slots[bank->current];
	bin->head = slot->next;
	if (bin->head == NONE) {
		bin_remove(ch, bank, b, bank->serving);
		bank->serving = NONE;
	}
	ch->pending--;
	bank->atoms = slot->bytes <= ch->atom ? 1 : DIV_ROUND_UP(slot->bytes, ch->atom);
	ch->busy |= bit;
	ch->reading = slot->write ? ch->reading & ~bit : ch->reading | bit;
	if (ch->active & bit && bank->row == slot->row) {
		ch->match |= bit;
		ch->column_at = MIN(ch->column_at, bank_next(ch, b));
	} else {
		ch->row_at = MIN(ch->row_at, bank_next(ch, b));
	}
}

static inline bool column(struct channel_state *ch, unsigned int b, uint64_t tick)
{
	struct bank *bank = &ch->bank[b];
	unsigned int group = b & (ch->ngroups - 1);
	uint32_t bit = 1u << b;
	struct slot *slot = &ch->slots[bank->current];
	bool read = ch->reading & bit;

	if (tick < ch->ccdl[group])
		return false;
	if (read ? tick < ch->wtr || tick < bank->read : tick < ch->rtw || tick < bank->write)
		return false;
	ch->ccd = tick + ch->t_ccd;
	ch->ccdl[group] = tick + ch->t_ccdl;
	if (read) {
		ch->rtw = tick + ch->t_rtw;
		bank->precharge = MAX(bank->precharge, tick + ch->t_rtp);
		ch->rtpl[group] = tick + ch->t_rtpl;
		ch->counts[slot->kernel].reads++;
	} else {
		ch->wtr = tick + ch->t_wtr;
		bank->precharge = MAX(bank->precharge, tick + ch->t_wtp);
		ch->counts[slot->kernel].writes++;
	}
	if (--bank->atoms)
		return true;
	/* Read data pass the return queue: one tick more. */
	ch->flight[ch->flight_tail++ & ch->flight_mask] = (struct flight){
		.due = tick + (read ? ch->t_cl + 1 : ch->t_wl), .fetch = slot->fetch,
		.write = slot->write, .slice = slot->slice };
	slot->next = ch->free_slot;
	ch->free_slot = bank->current;
	ch->busy &= ~bit;
	ch->match &= ~bit;
	return true;
}

static bool row(struct channel_state *ch, unsigned int b, uint64_t tick)
{
	struct bank *bank = &ch->bank[b];
	struct channel_counts *counts = &ch->counts[ch->slots[bank->current].kernel];
	uint32_t bit = 1u << b;

	if (!(ch->active & bit)) {
		if (tick < ch->rrd || tick < bank->activate)
			return false;
		bank->row = ch->slots[bank->current].row;
		ch->active |= bit;
		ch->match |= bit;
		ch->rrd = tick + ch->t_rrd;
		bank->read = tick + ch->t_rcd;
		bank->write = tick + ch->t_rcdwr;
		bank->precharge = MAX(bank->precharge, tick + ch->t_ras);
		bank->activate = tick + ch->t_rc;
		counts->activates++;
	} else {
		if (tick < bank->precharge || tick < ch->rtpl[b & (ch->ngroups - 1)])
			return false;
		ch->active &= ~bit;
		bank->activate = MAX(bank->activate, tick + ch->t_rp);
		counts->precharges++;
	}
	ch->prio = b + 1 == ch->nbanks ? 0 : b + 1;
	return true;
}

/*
 * Banks in order of priority: column commands first, else one row command; after
 * it a later bank may still give a column command, counted from the new priority
 * (dram_t::cycle moves `prio` while it goes through the banks).
 */
static void commands(struct channel_state *ch, uint64_t tick)
{
	uint32_t columns = tick >= ch->column_at ? ch->match : 0;
	uint32_t rows = tick >= ch->row_at ? ch->busy & ~ch->match : 0;
	bool given = false;

	if (!(columns | rows))
		return;
	for (unsigned int i = 0; i < ch->nbanks; i++) {
		uint32_t able = columns | rows, from;
		unsigned int b, prio = ch->prio;

		/* The i-th bank from the priority, or the next that may do something. */
		from = prio ? (able >> prio | able << (ch->nbanks - prio)) & ch->all : able;
		from >>= i;
		if (!from)
			break;
		i += (unsigned int)__builtin_ctz(from);
		b = (i + prio) & (ch->nbanks - 1);
		if (columns & (1u << b)) {
			if (column(ch, b, tick)) {
				columns = 0;
				given = true;
				break;
			}
		} else if (row(ch, b, tick)) {
			rows = 0;
			given = true;
		}
	}
	/* When the next command may go: no bank was ready, or a command changed that. */
	if (given) {
		ch->column_at = ch->ccd;
		ch->row_at = tick + 1;
	} else {
		if (columns)
			ch->column_at = soonest(ch, columns);
		if (rows)
			ch->row_at = soonest(ch, rows);
	}
}

/* One request from a slice, round robin, into the fixed delay. Returns: look again in the next tick. */
static bool take(struct channel_state *ch, uint64_t now, uint64_t delayed)
{
	bool soon = false;

	/* The next tick in which a bank gets a request looks again. */
	if (ch->pending >= ch->queue)
		return false;
	for (uint32_t i = 1; i <= ch->nslices; i++) {
		uint32_t n = (ch->last_slice + i) & (ch->nslices - 1);
		struct slice *s = &ch->slices[n];
		struct dram_request *r;
		struct delayed *d;
		struct slot *slot;

		if (s->miss_head == s->miss_tail)
			continue;
		r = &s->miss[s->miss_head & s->miss_mask];
		if (r->at >= now) {
			soon = true;
			continue;
		}
		if (ch->own[n] && ch->shared >= ch->shared_limit)
			continue;
		if (!ch->own[n])
			ch->own[n]++;
		else
			ch->shared++;
		ch->last_slice = n;
		slice_taken(s, now);
		d = &ch->delay[ch->delay_tail++ & ch->delay_mask];
		d->due = delayed;
		d->slot = ch->free_slot;
		slot = &ch->slots[d->slot];
		ch->free_slot = slot->next;
		slot->fetch = r->fetch;
		slot->row = r->row;
		slot->bank = r->bank;
		slot->bytes = r->bytes;
		slot->write = r->write;
		slot->slice = (uint8_t)n;
		slot->kernel = r->kernel;
		return true;
	}
	return soon;
}

static uint64_t run_tick(struct channel_state *ch, uint64_t tick, uint64_t now,
			 uint64_t delayed)
{
	uint64_t wake = NEVER;

	if (ch->flight_head != ch->flight_tail &&
	    ch->flight[ch->flight_head & ch->flight_mask].due <= tick)
		answer(ch, tick, now);
	schedule(ch);
	if (ch->busy)
		commands(ch, tick);
	if (take(ch, now, delayed))
		wake = 0;
	if (ch->delay_head != ch->delay_tail && ch->pending < ch->queue) {
		struct delayed *d = &ch->delay[ch->delay_head & ch->delay_mask];

		/* Seen by the scheduler in the next tick. */
		if (d->due <= tick) {
			schedule_add(ch, d->slot);
			ch->delay_head++;
			d = &ch->delay[ch->delay_head & ch->delay_mask];
		}
		if (ch->delay_head != ch->delay_tail && ch->pending < ch->queue)
			wake = MIN(wake, d->due);
	}
	if (ch->queued & ~ch->busy)
		return tick + 1;
	if (ch->match)
		wake = MIN(wake, ch->column_at);
	if (ch->busy & ~ch->match)
		wake = MIN(wake, ch->row_at);
	if (ch->flight_head != ch->flight_tail)
		wake = MIN(wake, ch->flight[ch->flight_head & ch->flight_mask].due);
	return MAX(wake, tick + 1);
}

void channel_run(struct channel *channel, uint64_t last, uint64_t now, uint64_t delayed)
{
	struct channel_state *ch = channel->state;
	uint64_t wake = channel->wake;

	while (wake <= last)
		wake = run_tick(ch, wake, now, delayed);
	channel->wake = wake;
}

void channel_stats(const struct channel *channel, unsigned int kernel, struct mem_stats *sum)
{
	const struct channel_state *ch = channel->state;
	const struct channel_counts *c = &ch->counts[kernel];

	sum->dram_reads += c->reads;
	sum->dram_writes += c->writes;
	sum->dram_requests += c->requests;
	sum->dram_activates += c->activates;
	sum->dram_precharges += c->precharges;
	sum->dram_busy += (c->reads + c->writes) * ch->data;
}
