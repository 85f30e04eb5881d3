/* SPDX-License-Identifier: GPL-2.0 WITH Linux-syscall-note */
/*
 * The ABI of /dev/gpuemu: ioctls, io_uring commands, shared mappings, fault
 * records. Read by the module, the daemon (daemon/service), libgpuemu and the
 * kernel tests; nobody else needs it.
 *
 * Two kinds of file: a *client* owns one VA space, maps managed memory, and
 * submits work; an *engine* (one at a time, CAP_SYS_ADMIN) is the GPU behind
 * them. A file becomes an engine by GPUEMU_IOCTL_ENGINE_ATTACH, else it is a
 * client.
 *
 * Every struct is fixed-width, has no holes, and begins with its size so that
 * it can grow at the tail; fields named reserved must be zero. Unknown flags
 * are -EOPNOTSUPP, a non-zero reserved field is -EINVAL. All times are
 * nanoseconds of CLOCK_MONOTONIC.
 */
#ifndef _UAPI_LINUX_GPUEMU_H
#define _UAPI_LINUX_GPUEMU_H

#include <linux/ioctl.h>
#include <linux/types.h>

#define GPUEMU_ABI_VERSION	1

#define GPUEMU_PAGE_SHIFT	12	/* frame and page: 4 KiB */
#define GPUEMU_PAGE_SIZE	(1u << GPUEMU_PAGE_SHIFT)
#define GPUEMU_BLOCK_SHIFT	21	/* VA block: 2 MiB */
#define GPUEMU_BLOCK_PAGES	(1u << (GPUEMU_BLOCK_SHIFT - GPUEMU_PAGE_SHIFT))
#define GPUEMU_VA_BITS		47	/* managed memory lies below 2^47 */

#define GPUEMU_MODULE_MAX	(16u << 20)	/* bytes of one PTX image */
#define GPUEMU_PAYLOAD_MAX	(256u << 10)	/* bytes of one work's payload */
#define GPUEMU_REPORT_MAX	(4u << 20)	/* bytes of one work's report */
#define GPUEMU_MESSAGE_MAX	512		/* with its NUL */
#define GPUEMU_WORK_MAX		1024		/* unfinished or unread works of a client */
#define GPUEMU_CLIENT_MODULES	1024		/* PTX images of a client */
#define GPUEMU_CLIENT_BYTES	(256u << 20)	/* images, payloads and reports of a client */
#define GPUEMU_BATCH_MAX	256		/* raw fault records in one batch */
#define GPUEMU_COMMIT_MAX	4096		/* migrations in one commit */
#define GPUEMU_INVAL_RING	1024		/* entries of the invalidate ring */
#define GPUEMU_SPACES_MAX	511		/* VA spaces at a time */
#define GPUEMU_SPACES_RESERVED	15		/* the last of them: with CAP_SYS_RESOURCE */

/*
 * Managed memory: mmap() of a client file with offset == address (MAP_FIXED
 * over a reservation), MAP_SHARED, PROT_READ|PROT_WRITE, page aligned. Pointers
 * are therefore the same on both sides. mremap() is refused; munmap() of any
 * part frees that part; a forked child does not inherit it. What mprotect() made
 * other than readable and writable is the CPU's alone. docs/managed-memory.md.
 */

/*
 * Device memory: the same, with GPUEMU_MMAP_DEVICE added to the offset. Address
 * and length are multiples of a VA block. It is readable and writable, has its frames from
 * mmap() on, zeroed, and is not managed: nothing moves it, and no access faults. The CPU
 * reaches the frames themselves, without order between it and kernels that run. munmap()
 * takes the whole; mprotect() and mremap() are refused. Managed pages leave the device for
 * it. -ENOMEM: others' device memory leaves too few frames, or the client may not have as
 * many (user_device_pct, client_vram_pct).
 */
#define GPUEMU_MMAP_DEVICE	0x800000000000ull

/* --- client ioctls ------------------------------------------------------ */

struct gpuemu_info {
	__u32 size;
	__u32 abi;			/* out: GPUEMU_ABI_VERSION */
	__u32 va_space;			/* out: this file's VA space id, never 0 */
	__u32 engine_generation;	/* out: 0 = no engine attached now */
	__aligned_u64 vram_bytes;	/* out */
	__aligned_u64 vram_free_bytes;	/* out */
	/* What the engine that is attached now told of this client (ENGINE_PROGRESS); 0: nothing. */
	__aligned_u64 launches;		/* out */
	__aligned_u64 ctas_done;	/* out */
	__aligned_u64 ctas;		/* out */
};

/*
 * Keeps a PTX image in the VA space; any engine, also a later one, can read it. (CUDA calls it
 * a module. What the kernel calls a module is gpuemu.ko alone.)
 */
struct gpuemu_module_load {
	__u32 size;
	__u32 flags;			/* 0 */
	__aligned_u64 image;		/* user pointer */
	__u32 image_bytes;		/* 1 .. GPUEMU_MODULE_MAX */
	__u32 id;			/* out: never 0 */
};

struct gpuemu_module_unload {
	__u32 size;
	__u32 id;
};

/* What a work asks of the engine. The payload is opaque to the module. */
enum gpuemu_work_kind {
	GPUEMU_WORK_LOAD = 1,		/* check a PTX image: errors come back in message */
	GPUEMU_WORK_LAUNCH = 2,		/* run a kernel; report := what it printed */
	GPUEMU_WORK_PREFETCH = 3,	/* bring a range to device memory */
	GPUEMU_WORK_TOUCH = 4,		/* wall time: raise faults, no SM model */
	GPUEMU_WORK_CONFIGURE = 5,	/* options of this client's GPU */
	GPUEMU_WORK_STATISTICS = 6,	/* report := statistics as JSON */
	GPUEMU_WORK_RANGES = 7,		/* managed ranges of this client, for policies */
	GPUEMU_WORK_RECORD = 8,		/* a recorded run for policies; or report := this run's touches */
	GPUEMU_WORK_RUN = 9,		/* works of any streams, to be kept and run side by side; report := what ended */
	GPUEMU_WORK_KINDS,
};

/*
 * Queues one work. Works of one stream run in the order of submission; the
 * engine may interleave streams. -ENODEV: no engine; -EAGAIN: GPUEMU_WORK_MAX
 * reached. A GPUEMU_WORK_RUN names the streams of its works in its payload, and its
 * own stream is not looked at; an engine that knows no such kind answers -EOPNOTSUPP.
 */
struct gpuemu_submit {
	__u32 size;
	__u32 kind;			/* enum gpuemu_work_kind */
	__u32 stream;
	__u32 payload_bytes;		/* 0 .. GPUEMU_PAYLOAD_MAX */
	__aligned_u64 payload;
	__aligned_u64 id;		/* out: never 0 */
};

/*
 * Waits (killable, interruptible) until a work is done, then frees it.
 * -ETIMEDOUT: not done yet; -ENOSPC: report does not fit, report_bytes says how
 * much it needs, nothing is freed; -EFAULT: nothing is freed; -ENOENT: no such
 * work; -EAGAIN: GPUEMU_WORK_MAX tasks of the client wait already. The ioctl returns 0
 * when the work is done; how it went is in status.
 */
struct gpuemu_wait {
	__u32 size;
	__u32 timeout_ms;		/* 0 = poll, ~0 = for ever */
	__aligned_u64 id;
	__s32 status;			/* out: 0 or -errno; -EIO = device lost */
	__u32 report_bytes;		/* in: room at report; out: the report's length */
	__aligned_u64 report;		/* user pointer or 0 */
	__aligned_u64 fault_addr;	/* out: with -EFAULT, the address */
	__u8 message[GPUEMU_MESSAGE_MAX]; /* out: text for the user, NUL terminated */
};

/*
 * Gives kernels all memory of the process that it may read: heap, stack, variables, mapped
 * files; what it may write they may, too. Works are then this process' alone to submit
 * (-EPERM). It lasts as long as the file. -EOPNOTSUPP: the kernel was built without
 * CONFIG_DEVICE_PRIVATE; -EPERM: the VA space is another process'; -EBUSY: there are works.
 */
struct gpuemu_pageable {
	__u32 size;
	__u32 flags;			/* 0 */
};

/* --- engine ioctls ------------------------------------------------------ */

/*
 * -EPERM without CAP_SYS_ADMIN, -EBUSY while an engine is attached or this
 * file already is a client in use (has mappings, modules or works). The engine is
 * lost when a thread that issued its commands or the process that attached ends, when
 * that process becomes another program or closes its last descriptor of the file,
 * and when it does not acknowledge an invalidate in time.
 */
struct gpuemu_engine_attach {
	__u32 size;
	__u32 abi;			/* in: GPUEMU_ABI_VERSION, else -EOPNOTSUPP */
	__u32 flags;			/* 0 */
	__u32 generation;		/* out: counts attachments, never 0 */
	__u32 vram_frames;		/* out */
	__u32 pt_tables;		/* out: 4 KiB tables in the page-table aperture */
	__u32 fault_entries;		/* out: power of two */
	__u32 control_bytes;		/* out: length of GPUEMU_MMAP_CONTROL */
	__u32 remote_slots;		/* out: pages of GPUEMU_MMAP_REMOTE */
	__u32 mirror_slots;		/* in: 0; out: pages of GPUEMU_MMAP_MIRROR, 0: there is none */
};

/*
 * Takes a queued work. Clients take turns: it is the oldest of the client whose
 * turn it is, which comes behind all others then. -EAGAIN: none; -ENOSPC: payload
 * does not fit, and it is the same client's turn.
 * GPUEMU_TAKE_IDLE: only of a client that has no taken work, for an engine that sets works
 * aside.
 */
#define GPUEMU_TAKE_IDLE	1u

struct gpuemu_work_take {
	__u32 size;
	__u32 payload_bytes;		/* in: room at payload; out: the payload's length */
	__aligned_u64 payload;		/* user pointer */
	__aligned_u64 id;		/* out */
	__u32 va_space;			/* out */
	__u32 kind;			/* out: enum gpuemu_work_kind */
	__u32 stream;			/* out */
	__u32 user;			/* in: 0; out: id of the user who has the VA space's account */
	__u32 flags;			/* GPUEMU_TAKE_* */
	__u32 reserved2;
};

/* Finishes a taken work. -ENOENT: not taken, or its client died meanwhile. */
struct gpuemu_work_done {
	__u32 size;
	__s32 status;			/* 0 or -errno (-4095..-1) */
	__aligned_u64 id;
	__aligned_u64 report;		/* user pointer or 0 */
	__u32 report_bytes;		/* 0 .. GPUEMU_REPORT_MAX */
	__u32 reserved;
	__aligned_u64 fault_addr;
	__u8 message[GPUEMU_MESSAGE_MAX];
};

/*
 * -ESRCH: no such VA space (its client is gone); -ENOENT: no such image;
 * -ENOSPC: does not fit, image_bytes says the length.
 */
struct gpuemu_module_read {
	__u32 size;
	__u32 va_space;
	__u32 id;
	__u32 image_bytes;		/* in: room; out: length */
	__aligned_u64 image;
};

/*
 * The engine uses no translation that it read before the invalidates up to
 * seq (a value of gpuemu_control.inval_put). Wakes the tasks that wait for that.
 */
struct gpuemu_engine_ack {
	__u32 size;
	__u32 seq;
};

/*
 * How far the engine is with what the client of a VA space launched, for the client's
 * INFO. -ESRCH: no such VA space; -EINVAL: more CTAs are done than there are.
 */
struct gpuemu_engine_progress {
	__u32 size;
	__u32 va_space;
	__aligned_u64 launches;		/* that have begun */
	__aligned_u64 ctas_done;	/* of the kernels that run */
	__aligned_u64 ctas;		/* theirs; 0: none runs */
};

/*
 * RAISE, COMMIT and FETCH (io_uring commands, below) in calls that sleep until the command
 * would complete: for threads that have nothing else to wait for, which it costs less. A signal
 * ends the sleep (-EINTR, or the call begins anew), and not the command. The thread's next
 * such call goes on with it and does nothing else. -EBUSY: it is another thread's.
 */
struct gpuemu_engine_raise {
	__u32 size;
	__u32 flags;			/* GPUEMU_RAISE_* */
};

/*
 * At least one of commit and GPUEMU_SERVE_FETCH. With both, -EBUSY also says that the commit was
 * done and that the next batch is another thread's, whose FETCH came meanwhile: the commit's
 * statuses are written then, and its gen is stale.
 */
struct gpuemu_engine_serve {
	__u32 size;
	__u32 flags;			/* GPUEMU_SERVE_* */
	__aligned_u64 commit;		/* user pointer: struct gpuemu_commit, or 0 */
	__u32 committed;		/* out: migrations whose status is 0 */
	__u32 faults;			/* out: unique faults of the next batch */
};

#define GPUEMU_SERVE_FETCH	1u	/* afterwards waits for the next batch */

#define GPUEMU_IOCTL_BASE	'G'
#define GPUEMU_IOCTL_INFO		_IOWR('G', 0x80, struct gpuemu_info)
#define GPUEMU_IOCTL_MODULE_LOAD	_IOWR('G', 0x81, struct gpuemu_module_load)
#define GPUEMU_IOCTL_MODULE_UNLOAD	_IOWR('G', 0x82, struct gpuemu_module_unload)
#define GPUEMU_IOCTL_SUBMIT		_IOWR('G', 0x83, struct gpuemu_submit)
#define GPUEMU_IOCTL_WAIT		_IOWR('G', 0x84, struct gpuemu_wait)
#define GPUEMU_IOCTL_PAGEABLE		_IOWR('G', 0x85, struct gpuemu_pageable)
#define GPUEMU_IOCTL_ENGINE_ATTACH	_IOWR('G', 0xa0, struct gpuemu_engine_attach)
#define GPUEMU_IOCTL_WORK_TAKE		_IOWR('G', 0xa1, struct gpuemu_work_take)
#define GPUEMU_IOCTL_WORK_DONE		_IOWR('G', 0xa2, struct gpuemu_work_done)
#define GPUEMU_IOCTL_MODULE_READ	_IOWR('G', 0xa3, struct gpuemu_module_read)
#define GPUEMU_IOCTL_ENGINE_ACK		_IOWR('G', 0xa4, struct gpuemu_engine_ack)
#define GPUEMU_IOCTL_ENGINE_PROGRESS	_IOWR('G', 0xa5, struct gpuemu_engine_progress)
#define GPUEMU_IOCTL_ENGINE_RAISE	_IOWR('G', 0xa6, struct gpuemu_engine_raise)
#define GPUEMU_IOCTL_ENGINE_SERVE	_IOWR('G', 0xa7, struct gpuemu_engine_serve)

/* --- engine mappings ---------------------------------------------------- */

/*
 * mmap() offsets of an engine file, whole length only, MAP_SHARED. All are
 * revoked (SIGBUS) when the engine is lost.
 */
#define GPUEMU_MMAP_VRAM	0x100000000000ull /* read-write: vram_frames * 4 KiB */
#define GPUEMU_MMAP_PAGE_TABLE	0x200000000000ull /* read-only: pt_tables * 4 KiB */
#define GPUEMU_MMAP_FAULTS	0x300000000000ull /* read-write: struct gpuemu_fault_buffer */
#define GPUEMU_MMAP_CONTROL	0x400000000000ull /* read-only: struct gpuemu_control */
#define GPUEMU_MMAP_REMOTE	0x500000000000ull /* read-write: remote_slots * 4 KiB */
#define GPUEMU_MMAP_MIRROR	0x600000000000ull /* read-write: mirror_slots * 4 KiB */

/*
 * GPU page table: 4 levels of 512 entries (VA bits 47:39, 38:30, 29:21, 20:12)
 * in one aperture of 4 KiB tables. Table 0 is the directory of VA spaces: entry
 * n (0 .. GPUEMU_SPACES_MAX-1) is va_space << 32 | root table, or 0. In the upper levels
 * an entry is (table number << GPUEMU_PTE_SHIFT) | GPUEMU_PTE_VALID, in the last
 * one (frame number << GPUEMU_PTE_SHIFT) | GPUEMU_PTE_VALID. The module writes
 * entries with release semantics; read them with acquire. A table is reused
 * only after an acknowledged invalidate.
 *
 * In a last-level entry four more bits. GPUEMU_PTE_REMOTE: the number is a slot
 * of GPUEMU_MMAP_REMOTE, behind which is the page in system memory; the CPU may
 * use it at the same time. GPUEMU_PTE_READ_ONLY: a duplicate; the engine may not
 * write it, a write or atomic is a far fault, whose H2D makes the frame the
 * page's only place. GPUEMU_PTE_DEVICE: the frame is a client's device memory, and
 * nobody's to migrate. GPUEMU_PTE_MIRROR, with REMOTE: the slot is one of GPUEMU_MMAP_MIRROR,
 * behind which is ordinary memory of the client's process; with READ_ONLY the process itself
 * may not write it now, and a write is a far fault. mm takes such entries away at any time,
 * and waits for nobody: an access that comes after that finds what the process has there now.
 */
#define GPUEMU_PTE_VALID	1ull
#define GPUEMU_PTE_REMOTE	2ull
#define GPUEMU_PTE_READ_ONLY	4ull
#define GPUEMU_PTE_DEVICE	8ull
#define GPUEMU_PTE_MIRROR	16ull
#define GPUEMU_PTE_SHIFT	12

/* Access types in order of strength. */
enum gpuemu_access {
	GPUEMU_ACCESS_PREFETCH = 0,
	GPUEMU_ACCESS_READ = 1,
	GPUEMU_ACCESS_WRITE = 2,
	GPUEMU_ACCESS_ATOMIC = 3,
};

/*
 * Set by the module in the records of a batch, when it is made.
 * UNMANAGED is fatal, unless the access is a PREFETCH. mmap() may have made it managed
 * meanwhile: raise it once more before a kernel is ended for it.
 */
#define GPUEMU_FAULT_UNMANAGED	1u	/* no managed memory there, or the CPU's alone */
#define GPUEMU_FAULT_RESIDENT	2u	/* the page's entry allows the access: replay is enough */
#define GPUEMU_FAULT_PIN	4u	/* thrashing: best left in system memory, mapped remotely */
#define GPUEMU_FAULT_THROTTLE	8u	/* thrashing: best left alone now; replay raises it again */
#define GPUEMU_FAULT_PROTECTED	16u	/* with UNMANAGED: managed, but the CPU's alone (mprotect) */
#define GPUEMU_FAULT_PAGEABLE	32u	/* ordinary memory of the process: REMOTE is what it takes */
#define GPUEMU_FAULT_MOVES	64u	/* with PAGEABLE: an H2D may bring it to the device, too */

struct gpuemu_fault {
	__aligned_u64 addr;		/* the page's address */
	__aligned_u64 vtime;		/* core cycles */
	__u32 va_space;
	__u16 sm;
	__u16 warp;
	__u8 access;			/* enum gpuemu_access */
	__u8 valid;			/* producer: 1, written last (release) */
	__u8 flags;			/* GPUEMU_FAULT_*, 0 from the producer */
	__u8 reserved;
	__u16 merged;			/* module: raw records that this one stands for */
	__u16 reserved2;
};

/*
 * The fault buffer. The engine writes records at put % fault_entries, then put
 * (free running, release); the module consumes, then publishes get. It keeps
 * its own get and trusts nothing here. put - get may not exceed fault_entries:
 * a full buffer drops, and replay regenerates.
 *
 * An engine with several producers may move put over an entry that is still being written:
 * its valid is 0 until then. A batch ends before such an entry. If a batch would begin with
 * it, the module waits a millisecond at most, then passes it over and counts it as dropped.
 * The replay makes the access of an entry that is passed over or flushed (the module's
 * parameter replay_policy) fault again.
 */
struct gpuemu_fault_buffer {
	__u32 put;
	__u32 reserved0[15];
	__u32 get;
	__u32 reserved1[1007];
	struct gpuemu_fault entries[];	/* at byte 4096 */
};

enum gpuemu_inval_reason {
	GPUEMU_INVAL_EVICT = 1,		/* the engine's own D2H migration */
	GPUEMU_INVAL_CPU_FAULT = 2,	/* the CPU touched the page */
	GPUEMU_INVAL_UNMAP = 3,		/* munmap() or the client's end */
	GPUEMU_INVAL_RECLAIM = 4,	/* the module made room, GPUEMU_COMMIT_EVICT */
	GPUEMU_INVAL_REMAP = 5,		/* another of the engine's own migrations changed the entry */
};

struct gpuemu_invalidate {
	__aligned_u64 start;		/* first page's address */
	__aligned_u64 end;		/* one past the last byte */
	__u32 va_space;
	__u32 reason;			/* enum gpuemu_inval_reason */
};

/*
 * What a served batch cost: time stamps, and sums of the work between them. A copy engine
 * works while other stages run; the sums have only the waits for it.
 */
struct gpuemu_stamps {
	__u32 gen;			/* of the batch */
	__u32 faults;			/* unique */
	__aligned_u64 raised;		/* RAISE entered the module */
	__aligned_u64 fetched;		/* the (first) batch reached the service thread */
	__aligned_u64 committed;	/* COMMIT entered the module; fetched and all deciding */
	__aligned_u64 done;		/* the last page is mapped */
	__aligned_u64 replayed;		/* the replay reached the engine thread */
	__aligned_u64 evict_ns;		/* D2H migrations */
	__aligned_u64 unmap_ns;		/* revoking the CPU's mappings, H2D */
	__aligned_u64 copy_ns;		/* H2D, with allocation and zeroing */
	__aligned_u64 map_ns;		/* GPU page-table entries */
	__u32 h2d_pages;
	__u32 d2h_pages;
};

struct gpuemu_batch {
	__u32 gen;			/* counts batches, never 0 */
	__u32 count;			/* unique faults below */
	__u32 raw;			/* records taken from the fault buffer, at most fault_batch */
	__u32 dropped;			/* invalid records among them */
	struct gpuemu_fault faults[GPUEMU_BATCH_MAX]; /* by (va_space, addr), strongest access */
};

/* Read-only for the engine. Sequence numbers are free running. */
struct gpuemu_control {
	__u32 inval_put;		/* invalidates posted (release) */
	__u32 events;			/* changes when work is queued or cancelled, or the engine lost */
	__aligned_u64 cancelled;	/* id of the taken work whose client died, or 0 */
	__u32 vram_free;		/* frames */
	__u32 lost;			/* 1: this engine was detached */
	__u32 client_frames;		/* that one VA space may have, as of the last batch; 0: all */
	__u32 left;			/* records and faults that the module has for later batches */
	__u32 goes_on;			/* 1: the batch's COMMIT brings another batch, no replay yet */
	__u32 reserved[5];
	struct gpuemu_stamps stamps;	/* of the last batch; stable until the next RAISE */
	struct gpuemu_batch batch;	/* stable from FETCH's completion to COMMIT */
	/* Entry seq % GPUEMU_INVAL_RING; overrun (more than GPUEMU_INVAL_RING behind) means all. */
	struct gpuemu_invalidate inval[GPUEMU_INVAL_RING];
};

/* --- io_uring commands of an engine file -------------------------------- */

/*
 * In the SQE: cmd_op one of GPUEMU_URING_*, cmd[] a struct gpuemu_uring_cmd.
 * Each command is pending at most once, and RAISE and WAIT not at the same time
 * (-EBUSY). All end with -ENODEV when the engine is lost.
 *
 * RAISE: takes what is in the fault buffer as one batch, hands it to the
 *   pending FETCH, and completes (0) when the batch is replayed. arg:
 *   GPUEMU_RAISE_EMPTY_OK hands over a batch also when no record is there (else
 *   it completes at once with -EAGAIN). -EBUSY: a batch is being served.
 * WAIT: completes (0) when work is queued; at once if some is.
 *   Between issuing RAISE or WAIT and their completion the engine is *parked*:
 *   it touches no frame, so invalidates need no acknowledgement; it applies
 *   them (inval_put) before it goes on. It is parked from attaching, too, until
 *   the first of them completes or until it touches the page table or a frame.
 * FETCH: completes with the number of unique faults of the next batch, which
 *   is in gpuemu_control.batch.
 * COMMIT: does the migrations of the batch `gen` and replays; completes with the number
 *   of migrations whose status is 0. -ESTALE: not the batch being served (nothing is done).
 *   When gpuemu_control.goes_on said so, another batch follows (FETCH) instead of the
 *   replay: the module's parameter replay_policy is `once'.
 * COMMIT_AND_FETCH: the same, then waits for the next batch as FETCH does. If
 *   the commit itself is refused, completes at once with that error.
 *
 * A worker of io_uring does what may sleep, a COMMIT among it, and the ring's other commands
 * go on. GPUEMU_IOCTL_ENGINE_SERVE needs no worker. Commands of an SQPOLL thread are refused
 * (-EOPNOTSUPP), and so are those with IOSQE_ASYNC, other than a RAISE or COMMIT of an engine
 * whose threads have issued one before.
 */
#define GPUEMU_URING_RAISE		_IOWR('G', 0xc0, struct gpuemu_uring_cmd)
#define GPUEMU_URING_WAIT		_IOWR('G', 0xc1, struct gpuemu_uring_cmd)
#define GPUEMU_URING_FETCH		_IOWR('G', 0xc2, struct gpuemu_uring_cmd)
#define GPUEMU_URING_COMMIT		_IOWR('G', 0xc3, struct gpuemu_uring_cmd)
#define GPUEMU_URING_COMMIT_AND_FETCH	_IOWR('G', 0xc4, struct gpuemu_uring_cmd)

#define GPUEMU_RAISE_EMPTY_OK	1u

struct gpuemu_uring_cmd {
	__aligned_u64 addr;		/* COMMIT*: struct gpuemu_commit, else 0 */
	__u32 arg;			/* RAISE: GPUEMU_RAISE_*, else 0 */
	__u32 reserved;
};

enum gpuemu_migration_op {
	GPUEMU_MIGRATE_H2D = 1,		/* to device memory: the faulted or prefetched */
	GPUEMU_MIGRATE_D2H = 2,		/* to system memory: eviction */
	GPUEMU_MIGRATE_REMOTE = 3,	/* to system memory, and mapped for the engine there */
	GPUEMU_MIGRATE_DUPLICATE = 4,	/* a read-only copy to device memory, for the CPU the other */
};

/*
 * A run of pages inside one VA block. Done in the order given, so evictions
 * come before what needs their frames. status: 0 all pages are where they were
 * asked to be; -ENOSPC no free frame, or the client has its share of them, or
 * (REMOTE) no slot; -EBUSY a page has another reference (pinned), or (DUPLICATE)
 * somebody uses the client's mappings; -EAGAIN the client's CPU works on pages of the
 * VA block, and another try may find it idle; -EFAULT not managed, or (not D2H) the
 * CPU's alone; -ENXIO no page can be had of ordinary memory; -ENOMEM, or (not D2H) no
 * page table; -EINVAL; -ESRCH no such VA space.
 * The pages that were not moved stay as they were. A D2H also ends remote
 * mappings, and duplicates without a copy.
 *
 * Ordinary memory: an H2D of faulted pages brings those that may move (GPUEMU_FAULT_MOVES), and
 * REMOTE maps the others, and those without a frame, where they are: then its status is
 * -EBUSY or -ENOSPC, and the replay gets on all the same. Pages that nobody faulted on move only if
 * they exist. mm may free such a page, and its frame, at any time.
 */
struct gpuemu_migration {
	__aligned_u64 addr;
	__u32 va_space;
	__u16 pages;			/* 1 .. GPUEMU_BLOCK_PAGES */
	__u8 op;			/* enum gpuemu_migration_op */
	__u8 reserved;
	__s32 status;			/* out */
	__u32 moved;			/* out: pages really moved; newly mapped or duplicated */
};

/*
 * Where an H2D or DUPLICATE migration finds no frame, the module evicts whole VA blocks, of any
 * VA space, that this commit has not asked for, the one asked for longest ago
 * first, before it gives up with -ENOSPC. The engine hears of them by invalidates
 * (GPUEMU_INVAL_RECLAIM).
 */
#define GPUEMU_COMMIT_EVICT	1u

struct gpuemu_commit {
	__u32 size;
	__u32 gen;			/* gpuemu_batch.gen */
	__u32 count;			/* 0 .. GPUEMU_COMMIT_MAX */
	__u32 flags;			/* GPUEMU_COMMIT_* */
	/* User pointer: struct gpuemu_migration[count], in and out; written before RAISE completes. */
	__aligned_u64 migrations;
};

#endif /* _UAPI_LINUX_GPUEMU_H */
