/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Tracepoints: what happens to faults and pages, for perf, bpftrace and
 * trace-cmd. Times are nanoseconds; a range is an address and a page count.
 */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM gpuemu

#if !defined(_GPUEMU_TRACE_H) || defined(TRACE_HEADER_MULTI_READ)
#define _GPUEMU_TRACE_H

#include <linux/tracepoint.h>
#include <uapi/linux/gpuemu.h>

#include "migrate_ops.h"

#define gpuemu_show_access(access) __print_symbolic(access, \
	{ GPUEMU_ACCESS_PREFETCH, "prefetch" }, \
	{ GPUEMU_ACCESS_READ, "read" }, \
	{ GPUEMU_ACCESS_WRITE, "write" }, \
	{ GPUEMU_ACCESS_ATOMIC, "atomic" })

#define GPUEMU_OP_NAME(NUMBER, name)	{ GPUEMU_MIGRATE_##NUMBER, #name }
#define gpuemu_show_op(op) \
	__print_symbolic(op, GPUEMU_MIGRATION_OPS(GPUEMU_OP_NAME))

/* What the tracepoint thrash is about. */
#define GPUEMU_THRASH_DETECTED	1
#define GPUEMU_THRASH_THROTTLE	2
#define GPUEMU_THRASH_PIN	3
#define GPUEMU_THRASH_UNPIN	4

#define gpuemu_show_reason(reason) __print_symbolic(reason, \
	{ GPUEMU_INVAL_EVICT, "evict" }, \
	{ GPUEMU_INVAL_CPU_FAULT, "cpu_fault" }, \
	{ GPUEMU_INVAL_UNMAP, "unmap" }, \
	{ GPUEMU_INVAL_RECLAIM, "reclaim" }, \
	{ GPUEMU_INVAL_REMAP, "remap" })

/* A unique fault of a batch; merged: the records that it stands for. */
TRACE_EVENT(gpuemu_far_fault,
	TP_PROTO(const struct gpuemu_fault *fault),
	TP_ARGS(fault),
	TP_STRUCT__entry(
		__field(u64, addr)
		__field(u64, vtime)
		__field(u32, va_space)
		__field(u16, sm)
		__field(u16, warp)
		__field(u16, merged)
		__field(u8, access)
		__field(u8, flags)
	),
	TP_fast_assign(
		__entry->addr = fault->addr;
		__entry->vtime = fault->vtime;
		__entry->va_space = fault->va_space;
		__entry->sm = fault->sm;
		__entry->warp = fault->warp;
		__entry->merged = fault->merged;
		__entry->access = fault->access;
		__entry->flags = fault->flags;
	),
	TP_printk("va_space=%u addr=0x%llx access=%s sm=%u warp=%u vtime=%llu merged=%u flags=%u",
		  __entry->va_space, __entry->addr,
		  gpuemu_show_access(__entry->access), __entry->sm,
		  __entry->warp, __entry->vtime, __entry->merged,
		  __entry->flags)
);

TRACE_EVENT(gpuemu_batch,
	TP_PROTO(u32 gen, u32 raw, u32 unique, u32 dropped),
	TP_ARGS(gen, raw, unique, dropped),
	TP_STRUCT__entry(
		__field(u32, gen)
		__field(u32, raw)
		__field(u32, unique)
		__field(u32, dropped)
	),
	TP_fast_assign(
		__entry->gen = gen;
		__entry->raw = raw;
		__entry->unique = unique;
		__entry->dropped = dropped;
	),
	TP_printk("gen=%u raw=%u unique=%u dropped=%u", __entry->gen,
		  __entry->raw, __entry->unique, __entry->dropped)
);

/*
 * Every migration, evictions too. The cause is a text, so that tools that group by it show
 * it. A run of pages that the engine brings is "far_fault" if a fault of the batch is in it,
 * however large the run is, else "prefetch".
 */
TRACE_EVENT(gpuemu_migrate,
	TP_PROTO(u32 va_space, u64 addr, u32 pages, u8 op, const char *cause,
		 u32 moved, int status),
	TP_ARGS(va_space, addr, pages, op, cause, moved, status),
	TP_STRUCT__entry(
		__field(u64, addr)
		__field(u32, va_space)
		__field(u32, pages)
		__field(u32, moved)
		__field(int, status)
		__field(u8, op)
		__array(char, cause, 12)
	),
	TP_fast_assign(
		__entry->addr = addr;
		__entry->va_space = va_space;
		__entry->pages = pages;
		__entry->moved = moved;
		__entry->status = status;
		__entry->op = op;
		strscpy_pad(__entry->cause, cause, sizeof(__entry->cause));
	),
	TP_printk("va_space=%u addr=0x%llx pages=%u op=%s cause=%s moved=%u status=%d",
		  __entry->va_space, __entry->addr, __entry->pages,
		  gpuemu_show_op(__entry->op), __entry->cause, __entry->moved,
		  __entry->status)
);

/*
 * A D2H migration that the engine asked for, or by the module's own order (lru); a
 * migrate with cause "evict" too.
 */
TRACE_EVENT(gpuemu_evict,
	TP_PROTO(u32 va_space, u64 addr, u32 pages, const char *by, u32 moved,
		 int status),
	TP_ARGS(va_space, addr, pages, by, moved, status),
	TP_STRUCT__entry(
		__field(u64, addr)
		__field(u32, va_space)
		__field(u32, pages)
		__field(u32, moved)
		__field(int, status)
		__array(char, by, 8)
	),
	TP_fast_assign(
		__entry->addr = addr;
		__entry->va_space = va_space;
		__entry->pages = pages;
		__entry->moved = moved;
		__entry->status = status;
		strscpy_pad(__entry->by, by, sizeof(__entry->by));
	),
	TP_printk("va_space=%u addr=0x%llx pages=%u by=%s moved=%u status=%d",
		  __entry->va_space, __entry->addr, __entry->pages,
		  __entry->by, __entry->moved, __entry->status)
);

/* The end of a batch, with its stages. */
TRACE_EVENT(gpuemu_replay,
	TP_PROTO(const struct gpuemu_stamps *stamps),
	TP_ARGS(stamps),
	TP_STRUCT__entry(
		__field(u64, total_ns)
		__field(u64, fetch_ns)
		__field(u64, decide_ns)
		__field(u64, evict_ns)
		__field(u64, unmap_ns)
		__field(u64, copy_ns)
		__field(u64, map_ns)
		__field(u64, replay_ns)
		__field(u32, gen)
		__field(u32, faults)
		__field(u32, h2d_pages)
		__field(u32, d2h_pages)
	),
	TP_fast_assign(
		__entry->total_ns = stamps->replayed - stamps->raised;
		__entry->fetch_ns = stamps->fetched - stamps->raised;
		__entry->decide_ns = stamps->committed - stamps->fetched;
		__entry->evict_ns = stamps->evict_ns;
		__entry->unmap_ns = stamps->unmap_ns;
		__entry->copy_ns = stamps->copy_ns;
		__entry->map_ns = stamps->map_ns;
		__entry->replay_ns = stamps->replayed - stamps->done;
		__entry->gen = stamps->gen;
		__entry->faults = stamps->faults;
		__entry->h2d_pages = stamps->h2d_pages;
		__entry->d2h_pages = stamps->d2h_pages;
	),
	TP_printk("gen=%u faults=%u total_ns=%llu fetch_ns=%llu decide_ns=%llu evict_ns=%llu unmap_ns=%llu copy_ns=%llu map_ns=%llu replay_ns=%llu h2d_pages=%u d2h_pages=%u",
		  __entry->gen, __entry->faults, __entry->total_ns,
		  __entry->fetch_ns, __entry->decide_ns, __entry->evict_ns,
		  __entry->unmap_ns, __entry->copy_ns, __entry->map_ns,
		  __entry->replay_ns, __entry->h2d_pages, __entry->d2h_pages)
);

TRACE_EVENT(gpuemu_cpu_fault,
	TP_PROTO(u32 va_space, u64 addr, bool resident, u64 ns),
	TP_ARGS(va_space, addr, resident, ns),
	TP_STRUCT__entry(
		__field(u64, addr)
		__field(u64, ns)
		__field(u32, va_space)
		__field(bool, resident)
	),
	TP_fast_assign(
		__entry->addr = addr;
		__entry->ns = ns;
		__entry->va_space = va_space;
		__entry->resident = resident;
	),
	TP_printk("va_space=%u addr=0x%llx resident=%d ns=%llu",
		  __entry->va_space, __entry->addr, __entry->resident,
		  __entry->ns)
);

/* ns: until the engine had acknowledged. */
TRACE_EVENT(gpuemu_tlb_invalidate,
	TP_PROTO(u32 va_space, u64 start, u64 end, u32 reason, u64 ns, int status),
	TP_ARGS(va_space, start, end, reason, ns, status),
	TP_STRUCT__entry(
		__field(u64, start)
		__field(u64, end)
		__field(u64, ns)
		__field(u32, va_space)
		__field(u32, reason)
		__field(int, status)
	),
	TP_fast_assign(
		__entry->start = start;
		__entry->end = end;
		__entry->ns = ns;
		__entry->va_space = va_space;
		__entry->reason = reason;
		__entry->status = status;
	),
	TP_printk("va_space=%u start=0x%llx end=0x%llx reason=%s ns=%llu status=%d",
		  __entry->va_space, __entry->start, __entry->end,
		  gpuemu_show_reason(__entry->reason), __entry->ns,
		  __entry->status)
);

#define gpuemu_show_thrash(what) __print_symbolic(what, \
	{ GPUEMU_THRASH_DETECTED, "detected" }, \
	{ GPUEMU_THRASH_THROTTLE, "throttle" }, \
	{ GPUEMU_THRASH_PIN, "pin" }, \
	{ GPUEMU_THRASH_UNPIN, "unpin" })

/*
 * A page that thrashes; events: how often it changed sides. throttle is the CPU's;
 * the engine's is in the flags of its far_fault.
 */
TRACE_EVENT(gpuemu_thrash,
	TP_PROTO(u32 va_space, u64 addr, u8 what, u8 events),
	TP_ARGS(va_space, addr, what, events),
	TP_STRUCT__entry(
		__field(u64, addr)
		__field(u32, va_space)
		__field(u8, what)
		__field(u8, events)
	),
	TP_fast_assign(
		__entry->addr = addr;
		__entry->va_space = va_space;
		__entry->what = what;
		__entry->events = events;
	),
	TP_printk("va_space=%u addr=0x%llx what=%s events=%u", __entry->va_space,
		  __entry->addr, gpuemu_show_thrash(__entry->what),
		  __entry->events)
);

#endif

/* Found through -I$(src)/kmod, not relative to the kernel's own headers. */
#undef TRACE_INCLUDE_PATH
#define TRACE_INCLUDE_PATH .
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_FILE trace
#include <trace/define_trace.h>
