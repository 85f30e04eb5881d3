// SPDX-License-Identifier: GPL-2.0
/*
 * Loads and stores: addresses, the checks on them, which space a generic one
 * is in, and the bytes themselves. Shared, local, parameter and constant memory
 * are performed when the instruction is; global memory is handed to the caller
 * and performed by exec_perform(), page by page.
 */
#include <assert.h>
#include <inttypes.h>
#include <string.h>

#include "exec/private.h"

/* Local addresses count from the start of the thread's part, as a frame's operands do. */
static void addresses(const struct exec_warp *warp, const struct exec_op *op, uint64_t *addr)
{
	uint64_t offset = op->offset + (op->framed ? warp->local : 0);
	const uint8_t *arena = warp->arena;
	uint32_t i;

	if (op->address >= ADDRESS_64) {
		const uint64_t *row = row64((uint8_t *)arena, op->src[0]);

		for (i = 0; i < WARP_LANES; i++)
			addr[i] = row[i] + offset;
	} else if (op->address == ADDRESS_32) {
		const uint32_t *row = row32((uint8_t *)arena, op->src[0]);
		const uint32_t low = (uint32_t)offset;

		for (i = 0; i < WARP_LANES; i++)
			addr[i] = row[i] + low;
	} else if (op->address == ADDRESS_32_IN_64) {
		const uint32_t *row = row32((uint8_t *)arena, op->src[0]);

		for (i = 0; i < WARP_LANES; i++)
			addr[i] = row[i] + offset;
	} else {
		for (i = 0; i < WARP_LANES; i++)
			addr[i] = offset;
	}
}

/*
 * A 64-bit register may hold more than an address of the space. Few do, so this is done
 * once the fast ways have refused: what they take is as it should be.
 */
static void cut_addresses(const struct exec_op *op, uint64_t *addr)
{
	uint32_t i;

	for (i = 0; op->address == ADDRESS_64_IN_32 && i < WARP_LANES; i++)
		addr[i] = (uint32_t)addr[i];
}

/* --- the bytes ------------------------------------------------------------------------- */

#define EACH_LANE(mask, lane) \
	for (uint32_t rest_ = (mask), lane; \
	     rest_ && (lane = __builtin_ctz(rest_), true); rest_ &= rest_ - 1)

/* One element of all lanes: memory of type M, extended as type V, into a row of type R. */
#define LOAD_LANE(M, V, R) \
	do { \
		M m; \
		memcpy(&m, (const void *)(base + addr[lane]), sizeof(m)); \
		((R *)row)[lane] = (R)(V)m; \
	} while (0)
#define LOAD_ROW(M, V, R) \
	do { \
		if (mask == ALL_LANES) \
			for (uint32_t lane = 0; lane < WARP_LANES; lane++) \
				LOAD_LANE(M, V, R); \
		else \
			EACH_LANE(mask, lane) \
				LOAD_LANE(M, V, R); \
	} while (0)

static void load_row(void *row, const struct exec_op *op, bool wide, uint32_t mask,
		     uintptr_t base, const uint64_t *addr)
{
	switch (op->elem) {
	case 1:
		if (wide && op->extend)
			LOAD_ROW(int8_t, int64_t, uint64_t);
		else if (wide)
			LOAD_ROW(uint8_t, uint64_t, uint64_t);
		else if (op->extend)
			LOAD_ROW(int8_t, int32_t, uint32_t);
		else
			LOAD_ROW(uint8_t, uint32_t, uint32_t);
		break;
	case 2:
		if (wide && op->extend)
			LOAD_ROW(int16_t, int64_t, uint64_t);
		else if (wide)
			LOAD_ROW(uint16_t, uint64_t, uint64_t);
		else if (op->extend)
			LOAD_ROW(int16_t, int32_t, uint32_t);
		else
			LOAD_ROW(uint16_t, uint32_t, uint32_t);
		break;
	case 4:
		if (wide && op->extend)
			LOAD_ROW(int32_t, int64_t, uint64_t);
		else if (wide)
			LOAD_ROW(uint32_t, uint64_t, uint64_t);
		else
			LOAD_ROW(uint32_t, uint32_t, uint32_t);
		break;
	default:
		LOAD_ROW(uint64_t, uint64_t, uint64_t);
		break;
	}
}

/* Little endian: the low bytes of the value are the element. */
#define STORE_ROW(bytes) \
	do { \
		EACH_LANE(mask, lane) \
			memcpy((void *)(base + addr[lane]), &data[lane], bytes); \
	} while (0)

static void store_row(const uint64_t *data, uint32_t bytes, uint32_t mask, uintptr_t base,
		      const uint64_t *addr)
{
	switch (bytes) {
	case 1:
		STORE_ROW(1);
		break;
	case 2:
		STORE_ROW(2);
		break;
	case 4:
		STORE_ROW(4);
		break;
	default:
		STORE_ROW(8);
		break;
	}
}

/* Lane i's bytes are at base + addr[i], which may wrap: base is a number, not a pointer. */
static void perform(struct exec_warp *warp, const struct exec_op *op, struct exec_access *access,
		    uint32_t mask, uintptr_t base, const uint64_t *addr, bool global)
{
	uint32_t e;

	if (op->kind == OP_ATOMIC) {
		atomic_lanes(op, warp->arena, access, mask, base, addr, global);
		return;
	}
	for (e = 0; e < op->vec; e++, base += op->elem) {
		if (op->kind == OP_LOAD)
			load_row(warp->arena + op->dst[e], op, op->wide >> e & 1, mask, base, addr);
		else
			store_row(access->data[e], op->elem, mask, base, addr);
	}
}

void exec_perform(struct exec_warp *warp, struct exec_access *access, uint32_t lanes,
		  uint64_t page_addr, void *host)
{
	const struct exec_program *program = warp->cta->launch->program;
	const struct exec_op *op = &program->ops[access->insn - program->kernel->insns];

	if (op->kind == OP_TEXEL) {
		texture_perform(warp, op, access, lanes, page_addr, PAGE_BYTES, host);
		return;
	}
	perform(warp, op, access, lanes, (uintptr_t)host - page_addr, access->addr, true);
	access->lanes &= ~lanes;
}

void exec_stored(const struct exec_warp *warp, const struct exec_access *access, uint32_t lane,
		 struct exec_stored *stored)
{
	const struct exec_program *program = warp->cta->launch->program;
	const struct exec_op *op = &program->ops[access->insn - program->kernel->insns];

	*stored = (struct exec_stored){ .addr = access->addr[lane], .bytes = access->bytes };
	for (uint32_t e = 0; e < op->vec; e++)
		memcpy(stored->data + (size_t)e * op->elem, &access->data[e][lane], op->elem);
}

/* The values of a store or an atomic, as they are now. */
static void capture(const uint8_t *arena, const struct exec_op *op, uint32_t n,
		    struct exec_access *access)
{
	uint32_t e, i;

	for (e = 0; e < n; e++) {
		if (op->wide >> e & 1) {
			memcpy(access->data[e], arena + op->src[1 + e], sizeof(access->data[e]));
			continue;
		}
		const uint32_t *row = row32((uint8_t *)arena, op->src[1 + e]);

		for (i = 0; i < WARP_LANES; i++)
			access->data[e][i] = row[i];
	}
}

/* --- checks ----------------------------------------------------------------------------- */

static const char *verb(const struct exec_op *op)
{
	return op->kind == OP_LOAD ? "load" : op->kind == OP_STORE ? "store" : "atomic";
}

static uint32_t misaligned_lanes(const uint64_t *addr, uint32_t bytes, uint32_t mask)
{
	uint64_t any = 0;
	uint32_t i, bad = 0;

	for (i = 0; i < WARP_LANES; i++)
		any |= addr[i];
	/* Lanes that are not active may hold anything; look again if one does. */
	if (!(any & (bytes - 1)))
		return 0;
	EACH_LANE(mask, lane)
		bad |= (uint32_t)((addr[lane] & (bytes - 1)) != 0) << lane;
	return bad;
}

static uint32_t lanes_outside(const uint64_t *addr, uint32_t bytes, uint64_t limit, uint32_t mask)
{
	uint64_t most = 0;
	uint32_t i, bad = 0;

	/* The bits of all together are no less than any: if that is inside, each is. */
	for (i = 0; i < WARP_LANES; i++)
		most |= addr[i];
	if (most < limit && limit - most >= bytes)
		return 0;
	EACH_LANE(mask, lane)
		bad |= (uint32_t)(addr[lane] > limit || limit - addr[lane] < bytes) << lane;
	return bad;
}

static enum exec_outcome bad_address(const struct exec_warp *warp, const struct exec_op *op,
				     const struct exec_access *access, uint32_t lanes,
				     const char *space, uint64_t limit, uint64_t *fault_addr,
				     struct err *err)
{
	uint64_t addr = access->addr[__builtin_ctz(lanes)];

	if (fault_addr)
		*fault_addr = addr;
	if (!space)
		return trap(warp, access->insn, lanes, err, "misaligned %u-byte %s at 0x%" PRIx64,
			    access->bytes, verb(op), addr);
	return trap(warp, access->insn, lanes, err,
		    "%u-byte %s at 0x%" PRIx64 " is outside %s memory (%" PRIu64 " bytes)",
		    access->bytes, verb(op), addr, space, limit);
}

/* --- spaces ------------------------------------------------------------------------------ */

/* The spaces that are performed at once. Generic addresses of them are from `start` on. */
static const struct {
	uint8_t space;
	uint64_t start;
	const char *name;
} spaces[] = {
	{ PTX_SPACE_SHARED, PTX_SHARED_WINDOW, "shared" },
	{ PTX_SPACE_LOCAL, PTX_LOCAL_WINDOW, "local" },
	{ PTX_SPACE_CONST, PTX_CONST_WINDOW, "constant" },
	{ PTX_SPACE_PARAM, PTX_PARAM_WINDOW, "parameter" },
};

static const char *space_name(uint8_t space)
{
	size_t i = 0;

	while (spaces[i].space != space)
		i++;
	return spaces[i].name;
}

uint64_t space_start(uint8_t space)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(spaces); i++) {
		if (spaces[i].space == space)
			return spaces[i].start;
	}
	return 0;
}

uint8_t space_at(uint64_t addr)
{
	size_t i;

	for (i = 0; addr >= PTX_SHARED_WINDOW && i < ARRAY_SIZE(spaces); i++) {
		if (addr - spaces[i].start < PTX_WINDOW_BYTES)
			return spaces[i].space;
	}
	return PTX_SPACE_GLOBAL;
}

struct exec_window space_window(const struct exec_warp *warp, uint8_t space)
{
	const struct exec_cta *cta = warp->cta;
	const struct ptx_kernel *kernel = cta->launch->program->kernel;
	uint64_t bytes = cta->local ? kernel->local_bytes : 0;

	switch (space) {
	case PTX_SPACE_SHARED:
		return (struct exec_window){ 0, cta->shared_bytes, cta->shared, 0 };
	case PTX_SPACE_LOCAL:
		return (struct exec_window){
			0, bytes, cta->local + warp->index * WARP_LANES * bytes, bytes
		};
	case PTX_SPACE_PARAM:
		return (struct exec_window){
			0, kernel->param_bytes, (uint8_t *)cta->launch->params, 0
		};
	default:
		return (struct exec_window){
			0, kernel->const_bytes, (uint8_t *)kernel->const_data, 0
		};
	}
}

static enum exec_outcome perform_now(struct exec_warp *warp, const struct exec_op *op,
				     struct exec_access *access, uint8_t space, uint32_t mask,
				     uint64_t *fault_addr, struct err *err)
{
	struct exec_window window = space_window(warp, space);
	uint32_t bad = lanes_outside(access->addr, access->bytes, window.bytes, mask);
	uint64_t addr[WARP_LANES];

	if (bad)
		return bad_address(warp, op, access, bad, space_name(space), window.bytes,
				   fault_addr, err);
	EACH_LANE(mask, lane)
		addr[lane] = access->addr[lane] + lane * window.stride;
	perform(warp, op, access, mask, (uintptr_t)window.host, addr, false);
	return EXEC_NEXT;
}

static uint32_t in_window(const uint64_t *addr, uint64_t window, uint32_t mask)
{
	uint32_t i, in = 0;

	for (i = 0; i < WARP_LANES; i++)
		in |= (uint32_t)(addr[i] - window < EXEC_WINDOW_BYTES) << i;
	return in & mask;
}

/*
 * Lanes of a generic access go where their addresses say, each to its own space.
 * So do those of a global load, constant memory alone: hardware keeps it within
 * global memory, and nvcc reads what a constant's own pointers lead to by ld.global.
 */
static bool reaches(const struct exec_op *op, uint8_t space)
{
	return op->space == PTX_SPACE_GENERIC ||
	       (op->kind == OP_LOAD && space == PTX_SPACE_CONST);
}

static enum exec_outcome by_address(struct exec_warp *warp, const struct exec_op *op,
				      uint32_t mask, struct exec_access *access,
				      uint64_t *fault_addr, struct err *err)
{
	uint32_t global = mask, lanes;
	enum exec_outcome outcome;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(spaces) && global; i++) {
		if (!reaches(op, spaces[i].space))
			continue;
		lanes = in_window(access->addr, spaces[i].start, global);
		if (!lanes)
			continue;
		/* Both are the launch's and the module's own, and not this kernel's alone. */
		if (op->kind != OP_LOAD && spaces[i].space != PTX_SPACE_SHARED &&
		    spaces[i].space != PTX_SPACE_LOCAL) {
			if (fault_addr)
				*fault_addr = access->addr[__builtin_ctz(lanes)];
			return trap(warp, access->insn, lanes, err,
				    "%u-byte %s at 0x%" PRIx64 " is in %s memory, which kernels only read",
				    access->bytes, verb(op), access->addr[__builtin_ctz(lanes)],
				    spaces[i].name);
		}
		EACH_LANE(lanes, lane)
			access->addr[lane] -= spaces[i].start;
		outcome = perform_now(warp, op, access, spaces[i].space, lanes, fault_addr, err);
		if (outcome != EXEC_NEXT)
			return outcome;
		global &= ~lanes;
		/* The timing model sees global memory, or else the first of the spaces. */
		if (!access->touched) {
			access->space = spaces[i].space;
			access->touched = lanes;
		}
	}
	if (!global)
		return EXEC_NEXT;
	access->space = PTX_SPACE_GLOBAL;
	access->touched = access->lanes = global;
	return EXEC_ACCESS;
}

/* An access outside of the allocation traps, and need not be in the extent. */
bool extent_holds(const struct exec_warp *warp, const struct exec_op *op, uint32_t mask)
{
	const struct ptx_kernel *kernel = program_of(warp)->kernel;
	const struct ptx_extent *extent = &kernel->extents[op - program_of(warp)->ops];
	uint32_t bytes = op->elem * op->vec, most = warp->cta->shared_bytes;
	uint64_t addr[WARP_LANES], window = 0;

	addresses(warp, op, addr);
	cut_addresses(op, addr);
	if (op->space == PTX_SPACE_GENERIC) {
		window = PTX_SHARED_WINDOW;
		mask = in_window(addr, window, mask);
	}
	EACH_LANE(mask, lane) {
		uint64_t at = addr[lane] - window;

		if (at <= most && most - at >= bytes &&
		    (at < extent->from || at + bytes > extent->to))
			return false;
	}
	return true;
}

enum exec_outcome memory_step(struct exec_warp *warp, const struct exec_op *op, uint32_t mask,
			      struct exec_access *access, uint64_t *fault_addr, struct err *err)
{
	struct exec_window window;
	uint32_t bad;

	assert(!has_extent(warp, op) || extent_holds(warp, op, mask));
	access->insn = insn_of(warp, op);
	access->lanes = access->touched = 0;
	access->bytes = op->elem * op->vec;
	access->is_store = op->kind == OP_STORE;
	access->is_atomic = op->kind == OP_ATOMIC;
	access->space = op->space;
	addresses(warp, op, access->addr);
	if (op->access && op->space != PTX_SPACE_GLOBAL && op->space != PTX_SPACE_GENERIC) {
		window = space_window(warp, op->space);
		if (op->framed)
			window.base -= warp->local;
		if (op->access(warp->arena, op, mask, &window)) {
			access->touched = mask;
			return EXEC_NEXT;
		}
	}
	cut_addresses(op, access->addr);
	bad = misaligned_lanes(access->addr, access->bytes, mask);
	if (bad)
		return bad_address(warp, op, access, bad, NULL, 0, fault_addr, err);
	if (op->kind != OP_LOAD)
		capture(warp->arena, op, access->insn->nsrc - 1, access);
	if (op->space == PTX_SPACE_GENERIC || op->space == PTX_SPACE_GLOBAL)
		return by_address(warp, op, mask, access, fault_addr, err);
	access->touched = mask;
	return perform_now(warp, op, access, op->space, mask, fault_addr, err);
}
