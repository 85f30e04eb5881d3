/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The memory system below an SM: the coalescer and the shared-memory banks as
 * pure functions, the cache that every level uses, and behind a request and
 * reply interface the crossbar, the L2 slices and DRAM. It knows lines and SMs; of a warp
 * it sees no more than the addresses of an instruction's lanes, which the coalescer and the
 * banks are handed. It moves no data, only time.
 *
 * Addresses are device addresses (GPU virtual, counted from MEM_BASE).
 *
 * Remote requests are what the GPU reads and writes of system memory where it is. Each is
 * one transaction on the link to the CPU, and nothing of it is cached: the CPU may write the same
 * bytes at any time, and no snoop of its caches reaches L1 or L2 over PCIe. (nvidia-uvm maps
 * system memory uncached in L2 for that reason where the link has no coherence.)
 *
 * Threads: the functions of one SM's port may be called by one thread an SM, and beside them
 * mem_advance() by one more. Everything else is one thread's while no other runs.
 */
#ifndef GPUEMU_MEM_MEM_H
#define GPUEMU_MEM_MEM_H

#include "base/base.h"
#include "base/spec.h"

#define MEM_SECTOR	32u	/* bytes; four make a line of 128 */
#define MEM_LINE	128u
#define MEM_SECTORS	(MEM_LINE / MEM_SECTOR)

/*
 * Where managed memory begins in device addresses, and what is beside it: GPGPU-Sim's map for
 * one module and one kernel at a time. Kernels that run together have parameters and local memory
 * by slot, modules have code and constants of their own. The distances between slots are
 * no multiple of a cache's sets, so that slots do not meet in the same sets.
 */
#define MEM_BASE	0xc0000000ull
#define MEM_CODE	0xf0000000ull	/* of the first module, 8 bytes each; gpu/addresses.c */
#define MEM_CODE_MORE	0x30000000000ull /* of the other modules; above all local memory */
#define MEM_PT_BASE	0x40000000ull	/* the page table; below managed memory, above constants */
#define MEM_VA_BASE	0x200000000000ull	/* the managed area's first virtual address */
#define MEM_PARAM_BASE	0x0ull		/* of kernel slot 0 */
#define MEM_PARAM_STEP	(65536u + 5 * 128)	/* to the next slot's */
#define MEM_CONST_BASE	0x1000000ull	/* of all modules; above all parameters */
/* Local memory of kernel slot 0, far above all that can be mapped. A slot has MEM_LOCAL_BYTES. */
#define MEM_LOCAL_BASE	0x10000000000ull
#define MEM_LOCAL_BYTES	(64ull << 30)
#define MEM_LOCAL_STEP	(MEM_LOCAL_BYTES + 13 * 128)

/* The SMs' mechanisms keep data here, between local memory and code. */
#define MEM_BACKGROUND_BASE	0x28000000000ull	/* of SM 0 */
#define MEM_BACKGROUND_STEP	((4ull << 30) + 13 * 128)	/* to the next SM's */
#define MEM_BACKGROUND_END	MEM_CODE_MORE

static inline uint64_t mem_background(unsigned int sm)
{
	return MEM_BACKGROUND_BASE + sm * MEM_BACKGROUND_STEP;
}

static inline uint64_t mem_device(uint64_t va)
{
	return va - MEM_VA_BASE + MEM_BASE;
}

/* --- one warp instruction ------------------------------------------------- */

/* One transaction of a warp instruction. */
struct mem_line {
	uint64_t addr;		/* of the first byte sent, `bytes` aligned */
	uint32_t lanes;		/* that it serves */
	uint8_t bytes;		/* 32, 64 or 128 */
};

/*
 * Coalesces an access of `bytes` a lane as compute capability 2.x does
 * (GPGPU-Sim, coalescing arch 20): one transaction a distinct segment of 128 bytes
 * (64 for 2-byte accesses, 32 for 1-byte ones), cut to the half or quarter that
 * is used. Highest address first. Returns how many (at most 2 * WARP_LANES).
 */
unsigned int mem_coalesce(const uint64_t addr[WARP_LANES], uint32_t lanes,
			  unsigned int bytes, struct mem_line lines[2 * WARP_LANES]);
/* Atomics: segments of 32 bytes, and a new one for each lane whose bytes are taken already. */
unsigned int mem_coalesce_atomic(const uint64_t addr[WARP_LANES], uint32_t lanes,
				 unsigned int bytes, struct mem_line lines[2 * WARP_LANES]);

/*
 * Cycles that shared memory is busy with an access: the most distinct words
 * that one bank has to give (lanes on the same word share it). At least 1.
 */
unsigned int mem_bank_cycles(const uint64_t addr[WARP_LANES], uint32_t lanes,
			     unsigned int bytes, unsigned int banks);

/* --- a cache: tags, sectors, MSHRs ------------------------------------------- */

enum cache_index { CACHE_LINEAR, CACHE_FERMI_HASH };

struct cache_shape {
	uint32_t sets, ways, line;	/* line in bytes */
	uint32_t sector;		/* bytes of a fetch: line, or less when sectored */
	uint32_t mshrs, merges;		/* outstanding fetches; waiters of each */
	enum cache_index index;
	/*
	 * A line is allocated when its fetch is back (L1I, L1C), not on the miss. Such caches
	 * count CACHE_PENDING (merged, nothing to send) as a miss in GPGPU-Sim's statistics.
	 */
	bool on_fill;
};

enum cache_outcome {
	CACHE_HIT,
	CACHE_PENDING,		/* the fetch is under way; the waiter was merged */
	CACHE_MISS,		/* line reserved, waiter noted: the caller sends the fetch */
	CACHE_SECTOR_MISS,	/* the same in a line that is there already */
	/* Nothing changed; try again later. */
	CACHE_NO_MSHR, CACHE_NO_MERGE, CACHE_NO_LINE, CACHE_NO_QUEUE,
	CACHE_OUTCOMES
};

/* The line that made room. dirty, a mask of sectors: they have to be written back. */
struct cache_victim {
	uint64_t addr;
	uint32_t dirty;
};

struct cache;
int cache_create(const struct cache_shape *shape, struct cache **cache);
void cache_destroy(struct cache *c);

/*
 * Reads the sector (or line) at addr. can_send: the caller's miss queue has
 * room; without it what would miss or merge is CACHE_NO_QUEUE. `waiter` is the caller's
 * and comes back with the fill on anything but CACHE_HIT. victim (or NULL) is set on every call.
 *
 * Room, as GPGPU-Sim counts it: data caches (L1D, L2) may have to send a victim too and ask
 * for `queued + 1 < size` on reads, `queued < size` on writes; L1I and L1C for `queued < size`.
 */
enum cache_outcome cache_read(struct cache *c, uint64_t addr, uint32_t waiter, bool can_send,
			      struct cache_victim *victim);
/* The same; *hint: where the line was found last, any number below the lines. */
enum cache_outcome cache_read_hint(struct cache *c, uint64_t addr, uint32_t waiter,
				   bool can_send, struct cache_victim *victim,
				   uint32_t *hint);
/* Write-evict: the line is dropped if it is there. HIT or MISS; PENDING: it is being fetched and stays. */
enum cache_outcome cache_write_evict(struct cache *c, uint64_t addr);
/* Write-back without allocation (L1D, local memory): HIT: dirty now; MISS, PENDING: goes through. */
enum cache_outcome cache_write_if_there(struct cache *c, uint64_t addr);
/*
 * Write-back with lazy fetch on read: the sector is dirty; readable when it was
 * written whole or was valid. Allocates on a miss, fetches nothing.
 */
enum cache_outcome cache_write_back(struct cache *c, uint64_t addr, uint32_t byte_mask,
				    bool can_send, struct cache_victim *victim);
/* The fetch of addr is back: the waiters, oldest first, at most shape.merges. */
unsigned int cache_fill(struct cache *c, uint64_t addr, uint32_t *waiters);
/* Clean and readable without a fetch (prefill, LRU replacement). */
void cache_install(struct cache *c, uint64_t addr);
/* Everything but what is being fetched; dirty lines are lost. */
void cache_clear(struct cache *c);
/* Everything, fetches included: their fills will find nobody (mem_cancel()). */
void cache_reset(struct cache *c);
/* Forgets fetches alone; what is valid or dirty stays. */
void cache_cancel(struct cache *c);
/* Drops clean and dirty lines of [start, end); fetches under way stay. */
void cache_drop(struct cache *c, uint64_t start, uint64_t end);
/* No fetch is under way (conservation). */
bool cache_idle(const struct cache *c);
/* MSHRs that no fetch has. */
unsigned int cache_mshrs_free(const struct cache *c);

/* --- the memory system -------------------------------------------------------- */

/* The purpose of a request; statistics are kept by class. */
enum mem_class {
	MEM_GLOBAL, MEM_LOCAL, MEM_CONST, MEM_INST, MEM_PT,
	MEM_BACKGROUND,		/* a mechanism's of the SM: none of the program's accesses */
	MEM_CLASSES
};
enum mem_kind { MEM_READ, MEM_WRITE, MEM_ATOMIC };

/* The tag of writes that nobody waits for (L1D's victims): they are not acknowledged. */
#define MEM_UNANSWERED	UINT32_MAX

struct mem_request {
	uint64_t addr;		/* of the first byte */
	uint32_t tag;		/* comes back with each reply */
	uint16_t sm;		/* or the page walker's port, mem_walker() */
	uint8_t kind;		/* enum mem_kind */
	uint8_t cls;		/* enum mem_class */
	uint8_t bytes;		/* 32, 64, 128 */
	uint8_t kernel;		/* slot of the kernel that it is counted for */
	bool remote;		/* in system memory: over the link, past crossbar, L2 and DRAM */
	/* Writes: which bytes of each sector (sector 0 of the request first). */
	uint32_t byte_mask[MEM_SECTORS];
};

/*
 * A read is answered once a sector of L2 (l2.sector); a write and an atomic as well (acknowledged).
 * A remote read or atomic is answered once.
 */
struct mem_reply {
	uint32_t tag;
	uint8_t kind, cls;
	uint8_t sector;		/* of its line: the first one, of 32 bytes */
	uint8_t sectors;	/* that it answers */
};

struct mem;

int mem_create(const struct gpu_spec *spec, struct mem **mem);
void mem_destroy(struct mem *mem);

/*
 * The page walker has a port of the crossbar of its own, behind the SMs', when there is
 * paging and walks are modelled (gmmu.walk_latency 0); UINT_MAX: it has none. It is used as a
 * SM's, by the thread that runs the memory.
 */
unsigned int mem_walker(const struct mem *mem);

/*
 * Cycles by which a port's request acts on others at the soonest, and a reply is
 * seen after the memory made it: the longest quantum that may be run apart.
 */
unsigned int mem_lookahead(const struct mem *mem);

/* Is there room for the request's flits, as far as this SM knows? mem_send() needs it. Monotonic `now`. */
bool mem_ready(const struct mem *mem, unsigned int sm, const struct mem_request *request,
	       uint64_t now);
/* The first cycle from `now` on in which mem_ready() may be true, as far as this SM knows. */
uint64_t mem_ready_at(const struct mem *mem, unsigned int sm, const struct mem_request *request,
		      uint64_t now);
void mem_send(struct mem *mem, const struct mem_request *request, uint64_t now);
/* First cycle in which nothing that was sent is on its way from the port into the crossbar. */
uint64_t mem_port_free(const struct mem *mem, unsigned int sm);
/* Takes the next packet that has arrived for the SM by `now`; false: none. The SM takes one a cycle. */
bool mem_receive(struct mem *mem, unsigned int sm, uint64_t now, struct mem_reply *reply);
/* The same without taking it, and taking the one that was seen so. */
bool mem_peek(const struct mem *mem, unsigned int sm, uint64_t now, struct mem_reply *reply);
void mem_take(struct mem *mem, unsigned int sm);
/* The SM's thread will soon call the functions above: its half of the port into the host's caches. */
void mem_fetch_port(const struct mem *mem, unsigned int sm);
/* Cycle in which the SM's next packet is there, UINT64_MAX: none that is known yet. */
uint64_t mem_next(const struct mem *mem, unsigned int sm);

/*
 * Runs the memory's own cycles up to, not including, `upto`; at most mem_lookahead() cycles after
 * the last mem_meet(). The memory does not see requests that were sent since then, and the
 * ports do not see its answers: none of them could act on the other side before `upto`.
 */
void mem_advance(struct mem *mem, uint64_t upto);
/* The same in two parts: the second one, which is short, has the replies enter and leave the crossbar. */
void mem_advance_begin(struct mem *mem, uint64_t upto);
void mem_advance_end(struct mem *mem);
/*
 * After mem_advance() and the SMs' cycles up to `upto`: the memory sees the requests, the ports see
 * the answers, and the link to the CPU runs.
 */
void mem_meet(struct mem *mem, uint64_t upto);
/* Next cycle in which it has something to do by itself, UINT64_MAX: nothing is in it. */
uint64_t mem_wake(const struct mem *mem);
/* Every request was answered and every answer taken. Victims may still be on their way to DRAM. */
bool mem_idle(const struct mem *mem);
/* The last cycle in which a request or a reply moved behind the SMs. */
uint64_t mem_last(const struct mem *mem);

/* L2 starts with these bytes, sector by sector in address order (design: l2.prefill). */
void mem_prefill(struct mem *mem, uint64_t addr, uint64_t bytes);
/* Drops cached lines of [start, end), which has left device memory. */
void mem_drop(struct mem *mem, uint64_t start, uint64_t end);
/* Forgets requests under way (a kernel was ended). */
void mem_cancel(struct mem *mem);

/*
 * Access counters (access_counters.enable): the next region whose counter of remote transactions
 * has reached the threshold; false: there is none. Its counter begins anew. Up to 256 regions
 * wait to be fetched; then further counters stop at the threshold.
 */
bool mem_notified(struct mem *mem, uint64_t *va);
/* The same without taking it. */
bool mem_notifies(const struct mem *mem);
/*
 * Migrations are on the link, to the device, to the host: remote transactions have half of that
 * direction from now on. And picoseconds of it that they took since the last call.
 */
void mem_share_link(struct mem *mem, const bool busy[2], uint64_t took[2]);

/* Transactions to system memory, by enum mem_kind. */
struct mem_remote_stats {
	uint64_t count[3], bytes[3];	/* bytes: without headers */
	uint64_t busy_ps[2];		/* of the link: to the device, to the host */
	uint64_t latency_sum, latency_max; /* of reads and atomics, send to receive, core cycles */
	uint64_t notifications;		/* of access counters, taken */
	uint64_t waits;			/* reads that found all of remote.reads on their way */
};

struct mem_stats {
	/* L2, sectors. Misses: those that fetch or allocate; pending hits are not misses. */
	uint64_t l2_accesses[MEM_CLASSES][2], l2_misses[MEM_CLASSES][2];	/* [..][write] */
	uint64_t l2_pending[MEM_CLASSES], l2_fails;
	/* DRAM, column commands of 64 bytes; requests, activates, precharges, cycles with data on the bus, all cycles. */
	uint64_t dram_reads, dram_writes, dram_requests, dram_activates, dram_precharges;
	uint64_t dram_busy, dram_cycles;
	/* Crossbar: packets and flits each way, cycles in which a packet was ready and had no grant. */
	uint64_t icnt_packets[2], icnt_flits[2], icnt_blocked[2];
	/* Core cycles from sending to receiving, of all answers but MEM_BACKGROUND's. */
	uint64_t latency_sum, latency_count, latency_max;
	struct mem_remote_stats remote;
};
/* Since creation. */
const struct mem_stats *mem_stats(const struct mem *mem);
/*
 * The part of it that the kernels in the slot had, but for dram_cycles and notifications, which
 * are the whole's and 0. All slots' parts together are mem_stats() (latency_max: the largest is). A
 * line that is written back to DRAM is counted for the kernel that takes its place in L2.
 */
void mem_stats_of(const struct mem *mem, unsigned int kernel, struct mem_stats *stats);

#endif
