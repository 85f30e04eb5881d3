/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The lock order of the module: the documentation, and nothing else. A lock is
 * taken only while holding locks that stand above it. Two locks of one kind
 * are never held together; in particular never two VA blocks.
 *
 *  1. io_ring_ctx.uring_lock (mutex, io_uring's). Held while a command is
 *     issued, except by a worker of io_uring, which does the commands that sleep. The
 *     fault path never takes it: commands that were pending are completed through task
 *     work.
 *  2. mmap_lock (rwsem, mm's). Held by .fault, .mmap, .mprotect and .close; and
 *     a client's for a moment, to write, by the first COMMIT that duplicates pages
 *     of it, which tries for a few milliseconds and does without.
 *     Copying from or to user memory takes it, so no lock below is held across
 *     a copy.
 *  3. gpuemu_client.lock (mutex). Protects what a file is (client or engine),
 *     its mm, its images. May sleep; never held across user copies.
 *     gpuemu_mirror.ranges_lock (mutex), never together with it: which ranges of a
 *     process are mirrored. Its client's worker has it, and the closer; may sleep, also for
 *     an engine's acknowledgement.
 *     gpuemu_mirror_range.looks (rwsem), never together with these: nobody else looks for pages
 *     of the range while the engine's thread moves some. The client's worker waits for it, and
 *     then for anything, with mmap_lock inside it. The engine's threads only try to have it,
 *     and mmap_lock, too.
 *     gpuemu_mirror_pages.making (rwsem): no frames become a huge page while a task sends pages
 *     home by their frames. Such a task waits for locks of mm inside it, but not for mmap_lock.
 *     A worker that makes a huge page has mmap_lock. It only tries to get this lock, and waits
 *     for nobody while it has it.
 *     gpuemu_mm_end.lock (mutex), taken with none of these held: whether the client of an mm
 *     that ends is still there. May sleep, also for an engine's acknowledgement.
 *  4. gpuemu_block.lock (mutex). Protects the pages, frames and masks of one
 *     VA block, its leaf table's entries, and makes "is it managed?" stable
 *     against a migration. May sleep: allocation, unmapping, copies, and the
 *     wait for a TLB invalidate, which is bounded (invalidate_timeout_ms).
 *     An engine's acknowledgement never needs this lock, so the wait ends.
 *     The one exception to the rule above: a commit holds the blocks whose copies
 *     are in flight and locks the next; it only tries to, and lets them all land
 *     before it waits for one. It waits 200 us in all at most, and 0.1%
 *     of the time in the long run (patience.h), then does without the block.
 *     A copy engine reads the pages of a block that its committer has locked, and
 *     locks none.
 *     The OOM killer's notifier and the shrinkers (reclaim.c) only try to lock a block: their
 *     task allocates memory and may hold any lock of this list that may sleep, but 7, for which
 *     they wait.
 *  5. gpuemu_space.pt_lock (mutex). Protects the upper GPU page tables of one
 *     VA space. May sleep, though nothing under it does.
 *  6. gpuemu_engine.map_lock (mutex). Orders populating the engine's mappings
 *     against their revocation. May sleep (page-table allocation).
 *  7. i_mmap_rwsem (rwsem, mm's). Inside unmap_mapping_range(). mm may hold one of a client's
 *     file when it tells the mirror of a change, which then takes the one of an engine's
 *     file. No task that has the latter waits for a client.
 *  8. maple tree lock of gpuemu_space.managed; xa_lock of gpuemu_space.blocks,
 *     of gpuemu_space.protect.blocks, gpuemu_mirror.ranges and gpuemu_dev.clients
 *     (spinlocks).
 *     gpuemu_aperture.lock (spinlock), of each aperture: the owners of its slots, and what the
 *     engine has mapped of clients' processes. mm takes it while it changes a process' page
 *     table, in reclaim too. No lock is taken inside it. No task holds it while it maps a
 *     page in the aperture or unmaps one: a client that is put off there would keep all
 *     others from their COMMITs. A task that takes a page away waits for a fault of the engine
 *     that maps this very page. Such a fault waits for no client; it does not reclaim if the
 *     page is ordinary memory.
 *     gpuemu_mirror_pages.lock (spinlock), whose account the pages of ordinary memory in
 *     device memory are on, and the frames that mm has freed. mm frees such a page with a
 *     page table locked, so this lock has no page table's inside; it has 10 and 11. No task
 *     looks at more than 512 frames under it at a time.
 *  9. gpuemu_dev.jobs_lock (spinlock). Protects all jobs, their turns and the events
 *     that tell the engine of them. It has nothing to do with far faults and invalidates,
 *     so clients that queue jobs and wait for them keep nobody from these.
 * 10. gpuemu_dev.lock (spinlock). Protects the engine's batch, its pending commands,
 *     the invalidate ring and the acknowledged sequence. A task that changes the
 *     engine's attachment or state holds 9 and 10. A task that only reads them holds one
 *     of the two. No task sleeps under them.
 * 11. gpuemu_vram.lock, gpuemu_pt.lock (spinlocks), the free lists; and
 *     gpuemu_link.lock (spinlock), when the link is free; gpuemu_lru.lock (spinlock),
 *     which blocks are in device memory, in order; gpuemu_thrash.lock
 *     (spinlock), which have pinned pages; gpuemu_copies.lock (spinlock), what
 *     waits for a copy engine; gpuemu_sysmem.lock (spinlock), pages that are ready;
 *     gpuemu_users.lock (spinlock), the list of users; gpuemu_mirror.lock (spinlock), what
 *     an engine wants of a process. Leaves. A task
 *     that waits for the link holds its blocks and no spinlock; for a second at most.
 * 12. gpuemu_stats.lock (spinlock). The zero of a set of counters. A leaf;
 *     counting itself takes no lock.
 * 13. gpuemu_events.lock (spinlock). The order of the events, which a worker
 *     sends. Not taken under 9 and 10.
 */
#ifndef _GPUEMU_LOCKS_H
#define _GPUEMU_LOCKS_H
#endif
