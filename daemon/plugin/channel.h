/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The memory that the engine and a policy's process share. The engine fills the
 * first part, sends a byte, and gets one back when the second part is filled. It
 * believes nothing it reads here: counts are bounded, texts are cut, pages are looked up.
 * Included by plugin/ and by policy-host/, built together: no version is needed.
 */
#ifndef GPUEMU_PLUGIN_CHANNEL_H
#define GPUEMU_PLUGIN_CHANNEL_H

#include <stdint.h>

#include "gpuemu_policy.h"

/* Descriptors of the process. */
#define HOST_SOCKET	3
#define HOST_CHANNEL	4	/* memfd of struct channel */
#define HOST_RECORD	5	/* memfd of the recorded run, filled before CALL_CREATE */

#define CHANNEL_EVENTS	65536u
#define CHANNEL_FAULTS	4096u
#define CHANNEL_PAGES	8192u	/* in an answer */
#define CHANNEL_RANGES	4096u
#define CHANNEL_KEPT	64u	/* VA blocks whose kept pages come with a call */
#define CHANNEL_OPTIONS	16u
#define CHANNEL_COUNTERS 16u
#define BLOCK_WORDS	8u	/* 512 pages, a bit each */

enum channel_call {
	CALL_LOAD,
	CALL_CREATE,
	CALL_EVENTS,		/* nothing but the events */
	CALL_DECIDE,		/* on_batch() or pick() */
	CALL_DESTROY,
};

/* The byte that says what it is. A call and what was asked for are answered with the same. */
#define BYTE_CALL	'c'
#define BYTE_KEPT	'k'	/* from the process, in pick(): the kept pages of kept[0].block */

/* In the low bits of an event's page address. */
enum channel_event {
	EVENT_HERE,		/* was there before the policy */
	EVENT_ARRIVE,		/* insert(), on_arrive() */
	EVENT_TOUCH,
	EVENT_LEAVE,		/* remove(), on_leave() */
	EVENT_MASK = 7,
	EVENT_FLAG = 8,		/* prefetched; write */
};

/* The call that the process is in, for the sentence about its end. */
enum channel_place {
	IN_WAIT, IN_LOAD, IN_CREATE, IN_ARRIVE, IN_TOUCH, IN_LEAVE, IN_DECIDE, IN_DESTROY,
	IN_PLACES
};

struct channel_option {
	char key[32];
	char doc[160];
	uint64_t def, min, max;
};

/* An object's description of one of its policies. */
struct channel_policy {
	char name[32];
	char help[160];
	struct channel_option options[CHANNEL_OPTIONS];
	char counters[CHANNEL_COUNTERS][32];
	uint32_t noptions, ncounters;
	uint32_t needs_record, touches;
};

struct channel_kept {
	uint64_t block;			/* address of the VA block */
	uint64_t pages[BLOCK_WORDS];
};

struct channel {
	/* --- from the engine --- */
	uint32_t call;			/* enum channel_call */
	uint32_t kind;			/* enum policy_kind */
	uint32_t uid;			/* CALL_LOAD: to become; 0: stay */
	uint32_t need, max;		/* of pick(); max of on_batch() too */
	uint32_t nevents, nfaults, nkept;
	uint32_t nranges, new_ranges;	/* new_ranges: they changed since the last call */
	uint64_t seed, frames, record_length;
	uint64_t options[CHANNEL_OPTIONS];
	char path[4096];
	/* --- from the process --- */
	int32_t status;			/* 0 or -errno */
	uint32_t count;			/* pages */
	uint32_t place;			/* enum channel_place */
	char message[384];		/* CALL_LOAD: why not */
	struct channel_policy policy;
	uint64_t counters[CHANNEL_COUNTERS];
	uint64_t pages[CHANNEL_PAGES];
	/* --- from the engine, long --- */
	struct gpuemu_policy_fault faults[CHANNEL_FAULTS];
	struct gpuemu_policy_range ranges[CHANNEL_RANGES];
	uint64_t events[CHANNEL_EVENTS];
	struct channel_kept kept[CHANNEL_KEPT];
};

#endif
