// SPDX-License-Identifier: GPL-2.0
/*
 * The ABI's layout, number by number. Compiled for 32 and for 64 bits by
 * tests/check.d/61-abi.sh: a field that moves, a struct that shrinks, a hole, or a
 * difference between the two does not compile. A struct that begins with its
 * size may grow at the tail; one that lies in arrays or inside another may not.
 */
#include <linux/gpuemu.h>

#define AT(s, field, offset) \
	_Static_assert(__builtin_offsetof(struct s, field) == (offset), \
		       #s "." #field " is not at " #offset);
#define EXACT(s, bytes) \
	_Static_assert(sizeof(struct s) == (bytes), #s " is not " #bytes " bytes");
#define SIZE(s, bytes) \
	_Static_assert(sizeof(struct s) >= (bytes), #s " shrank"); \
	_Static_assert(sizeof(struct s) % _Alignof(struct s) == 0, #s); \
	extern const unsigned int sizeof_##s; \
	const unsigned int sizeof_##s = sizeof(struct s);

SIZE(gpuemu_info, 56)
AT(gpuemu_info, size, 0)
AT(gpuemu_info, abi, 4)
AT(gpuemu_info, va_space, 8)
AT(gpuemu_info, engine_generation, 12)
AT(gpuemu_info, vram_bytes, 16)
AT(gpuemu_info, vram_free_bytes, 24)
AT(gpuemu_info, launches, 32)
AT(gpuemu_info, ctas_done, 40)
AT(gpuemu_info, ctas, 48)

SIZE(gpuemu_module_load, 24)
AT(gpuemu_module_load, size, 0)
AT(gpuemu_module_load, flags, 4)
AT(gpuemu_module_load, image, 8)
AT(gpuemu_module_load, image_bytes, 16)
AT(gpuemu_module_load, id, 20)

SIZE(gpuemu_module_unload, 8)
AT(gpuemu_module_unload, size, 0)
AT(gpuemu_module_unload, id, 4)

SIZE(gpuemu_submit, 32)
AT(gpuemu_submit, size, 0)
AT(gpuemu_submit, kind, 4)
AT(gpuemu_submit, stream, 8)
AT(gpuemu_submit, payload_bytes, 12)
AT(gpuemu_submit, payload, 16)
AT(gpuemu_submit, id, 24)

SIZE(gpuemu_wait, 552)
AT(gpuemu_wait, size, 0)
AT(gpuemu_wait, timeout_ms, 4)
AT(gpuemu_wait, id, 8)
AT(gpuemu_wait, status, 16)
AT(gpuemu_wait, report_bytes, 20)
AT(gpuemu_wait, report, 24)
AT(gpuemu_wait, fault_addr, 32)
AT(gpuemu_wait, message, 40)

SIZE(gpuemu_pageable, 8)
AT(gpuemu_pageable, size, 0)
AT(gpuemu_pageable, flags, 4)

SIZE(gpuemu_engine_attach, 32)
AT(gpuemu_engine_attach, size, 0)
AT(gpuemu_engine_attach, abi, 4)
AT(gpuemu_engine_attach, flags, 8)
AT(gpuemu_engine_attach, generation, 12)
AT(gpuemu_engine_attach, vram_frames, 16)
AT(gpuemu_engine_attach, pt_tables, 20)
AT(gpuemu_engine_attach, fault_entries, 24)
AT(gpuemu_engine_attach, control_bytes, 28)
AT(gpuemu_engine_attach, remote_slots, 32)
AT(gpuemu_engine_attach, mirror_slots, 36)

SIZE(gpuemu_work_take, 48)
AT(gpuemu_work_take, size, 0)
AT(gpuemu_work_take, payload_bytes, 4)
AT(gpuemu_work_take, payload, 8)
AT(gpuemu_work_take, id, 16)
AT(gpuemu_work_take, va_space, 24)
AT(gpuemu_work_take, kind, 28)
AT(gpuemu_work_take, stream, 32)
AT(gpuemu_work_take, user, 36)
AT(gpuemu_work_take, flags, 40)
AT(gpuemu_work_take, reserved2, 44)

SIZE(gpuemu_work_done, 552)
AT(gpuemu_work_done, size, 0)
AT(gpuemu_work_done, status, 4)
AT(gpuemu_work_done, id, 8)
AT(gpuemu_work_done, report, 16)
AT(gpuemu_work_done, report_bytes, 24)
AT(gpuemu_work_done, reserved, 28)
AT(gpuemu_work_done, fault_addr, 32)
AT(gpuemu_work_done, message, 40)

SIZE(gpuemu_module_read, 24)
AT(gpuemu_module_read, size, 0)
AT(gpuemu_module_read, va_space, 4)
AT(gpuemu_module_read, id, 8)
AT(gpuemu_module_read, image_bytes, 12)
AT(gpuemu_module_read, image, 16)

SIZE(gpuemu_engine_ack, 8)
AT(gpuemu_engine_ack, size, 0)
AT(gpuemu_engine_ack, seq, 4)

SIZE(gpuemu_engine_progress, 32)
AT(gpuemu_engine_progress, size, 0)
AT(gpuemu_engine_progress, va_space, 4)
AT(gpuemu_engine_progress, launches, 8)
AT(gpuemu_engine_progress, ctas_done, 16)
AT(gpuemu_engine_progress, ctas, 24)

EXACT(gpuemu_fault, 32)
AT(gpuemu_fault, addr, 0)
AT(gpuemu_fault, vtime, 8)
AT(gpuemu_fault, va_space, 16)
AT(gpuemu_fault, sm, 20)
AT(gpuemu_fault, warp, 22)
AT(gpuemu_fault, access, 24)
AT(gpuemu_fault, valid, 25)
AT(gpuemu_fault, flags, 26)
AT(gpuemu_fault, reserved, 27)
AT(gpuemu_fault, merged, 28)
AT(gpuemu_fault, reserved2, 30)

EXACT(gpuemu_fault_buffer, 4096)
AT(gpuemu_fault_buffer, put, 0)
AT(gpuemu_fault_buffer, reserved0, 4)
AT(gpuemu_fault_buffer, get, 64)
AT(gpuemu_fault_buffer, reserved1, 68)
AT(gpuemu_fault_buffer, entries, 4096)

EXACT(gpuemu_invalidate, 24)
AT(gpuemu_invalidate, start, 0)
AT(gpuemu_invalidate, end, 8)
AT(gpuemu_invalidate, va_space, 16)
AT(gpuemu_invalidate, reason, 20)

EXACT(gpuemu_stamps, 88)
AT(gpuemu_stamps, gen, 0)
AT(gpuemu_stamps, faults, 4)
AT(gpuemu_stamps, raised, 8)
AT(gpuemu_stamps, fetched, 16)
AT(gpuemu_stamps, committed, 24)
AT(gpuemu_stamps, done, 32)
AT(gpuemu_stamps, replayed, 40)
AT(gpuemu_stamps, evict_ns, 48)
AT(gpuemu_stamps, unmap_ns, 56)
AT(gpuemu_stamps, copy_ns, 64)
AT(gpuemu_stamps, map_ns, 72)
AT(gpuemu_stamps, h2d_pages, 80)
AT(gpuemu_stamps, d2h_pages, 84)

EXACT(gpuemu_batch, 8208)
AT(gpuemu_batch, gen, 0)
AT(gpuemu_batch, count, 4)
AT(gpuemu_batch, raw, 8)
AT(gpuemu_batch, dropped, 12)
AT(gpuemu_batch, faults, 16)

SIZE(gpuemu_control, 32928)
AT(gpuemu_control, inval_put, 0)
AT(gpuemu_control, events, 4)
AT(gpuemu_control, cancelled, 8)
AT(gpuemu_control, vram_free, 16)
AT(gpuemu_control, lost, 20)
AT(gpuemu_control, client_frames, 24)
AT(gpuemu_control, left, 28)
AT(gpuemu_control, goes_on, 32)
AT(gpuemu_control, reserved, 36)
AT(gpuemu_control, stamps, 56)
AT(gpuemu_control, batch, 144)
AT(gpuemu_control, inval, 8352)

EXACT(gpuemu_uring_cmd, 16)
AT(gpuemu_uring_cmd, addr, 0)
AT(gpuemu_uring_cmd, arg, 8)
AT(gpuemu_uring_cmd, reserved, 12)

EXACT(gpuemu_migration, 24)
AT(gpuemu_migration, addr, 0)
AT(gpuemu_migration, va_space, 8)
AT(gpuemu_migration, pages, 12)
AT(gpuemu_migration, op, 14)
AT(gpuemu_migration, reserved, 15)
AT(gpuemu_migration, status, 16)
AT(gpuemu_migration, moved, 20)

SIZE(gpuemu_commit, 24)
AT(gpuemu_commit, size, 0)
AT(gpuemu_commit, gen, 4)
AT(gpuemu_commit, count, 8)
AT(gpuemu_commit, flags, 12)
AT(gpuemu_commit, migrations, 16)
