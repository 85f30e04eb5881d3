// SPDX-License-Identifier: GPL-2.0
/*
 * Memory of grids without time: all of it is there, so every access is performed
 * at once. Mostly a warp's lanes are in one range, and one function of
 * lanes_memory.h does them all; what it refuses goes lane by lane, which also
 * finds the lane whose address is wrong. Called by pack.c.
 */
#include <assert.h>
#include <errno.h>
#include <inttypes.h>

#include "exec/grid.h"

int grid_fail(struct exec_grid *grid, uint64_t addr)
{
	grid->fault_addr = addr;
	return addr != NO_ADDR ? -EFAULT : -EINVAL;
}

/* The range of global memory that holds addr, or NULL. */
static const struct exec_range *range_of(const struct exec_grid *grid, uint64_t addr)
{
	uint32_t low = 0, high = grid->nranges, middle;

	while (low < high) {
		middle = (low + high) / 2;
		if (grid->ranges[middle].base > addr)
			high = middle;
		else
			low = middle + 1;
	}
	if (!low || addr - grid->ranges[low - 1].base >= grid->ranges[low - 1].bytes)
		return NULL;
	return &grid->ranges[low - 1];
}

/* The same, and what the owner finds there. */
static const struct exec_range *range_for(const struct exec_grid *grid,
					  const struct exec_access *access, uint64_t addr)
{
	const struct exec_range *range = range_of(grid, addr);
	bool read_only = false;

	if (range || !grid->find)
		return range;
	range = grid->find(grid->find_ctx, addr, &read_only);
	return read_only && (access->is_store || access->is_atomic) ? NULL : range;
}

static const struct exec_range *writable_range(const struct exec_grid *grid, uint64_t addr)
{
	const struct exec_range *range = range_of(grid, addr);
	bool read_only = false;

	if (range || !grid->find)
		return range;
	range = grid->find(grid->find_ctx, addr, &read_only);
	return read_only ? NULL : range;
}

static int outside(struct grid_cta *cta, const struct exec_warp *warp,
		   const struct exec_access *access, uint64_t addr, struct err *err)
{
	trap(warp, access->insn, access->lanes & -access->lanes, err,
	     "%u-byte %s at 0x%" PRIx64 " is outside global memory", access->bytes,
	     access->is_atomic ? "atomic" : access->is_store ? "store" : "load", addr);
	return grid_fail(cta->grid, addr);
}

static int lane_by_lane(struct grid_cta *cta, struct exec_warp *warp, const struct exec_op *op,
			uint32_t mask, struct err *err)
{
	uint64_t fault_addr = UINT64_MAX, addr;
	const struct exec_range *range;
	struct exec_access access;
	uint32_t lane, lanes, rest;

	access.lanes = 0;
	if (memory_step(warp, op, mask, &access, &fault_addr, err) == EXEC_TRAP)
		return grid_fail(cta->grid, fault_addr);
	while (access.lanes) {
		addr = access.addr[__builtin_ctz(access.lanes)];
		range = range_for(cta->grid, &access, addr);
		if (!range || range->bytes - (addr - range->base) < access.bytes)
			return outside(cta, warp, &access, addr, err);
		for (lanes = 0, rest = access.lanes; rest; rest &= rest - 1) {
			lane = __builtin_ctz(rest);
			addr = access.addr[lane] - range->base;
			if (addr < range->bytes && range->bytes - addr >= access.bytes)
				lanes |= 1u << lane;
		}
		exec_perform(warp, &access, lanes, range->base, range->host);
	}
	return 0;
}

int grid_texture(struct grid_cta *cta, struct exec_warp *warp, const struct exec_op *op,
		 uint32_t mask, struct err *err)
{
	const struct exec_range *range;
	struct exec_texels texels;
	struct exec_access access;
	enum exec_outcome outcome;
	uint64_t addr;
	uint32_t lane;

	access.texels = &texels;
	outcome = op->kind == OP_TEXEL ? texture_step(warp, op, mask, &access, err) :
		  op->kind == OP_QUERY ? texture_query(warp, op, mask, err) :
					 surface_step(warp, op, mask, err);
	if (outcome == EXEC_TRAP)
		return grid_fail(cta->grid, NO_ADDR);
	while (outcome == EXEC_ACCESS && access.lanes) {
		lane = __builtin_ctz(access.lanes);
		addr = texels.at[__builtin_ctz(texels.left[lane])][lane];
		range = range_for(cta->grid, &access, addr);
		if (!range || range->bytes - (addr - range->base) < access.bytes)
			return outside(cta, warp, &access, addr, err);
		texture_perform(warp, op, &access, access.lanes, range->base, range->bytes,
				range->host);
	}
	return 0;
}

/* In global memory. */
static uint64_t address_of(const struct exec_warp *warp, const struct exec_op *op, uint32_t lane)
{
	if (op->address >= ADDRESS_64)
		return row64(warp->arena, op->src[0])[lane] + op->offset;
	if (op->address != ADDRESS_NONE)
		return row32(warp->arena, op->src[0])[lane] + op->offset;
	return op->offset;
}

/* Where the lowest lane's address is; the others will be there, or it goes lane by lane. */
static bool find_window(struct grid_cta *cta, const struct exec_warp *warp,
			const struct exec_op *op, uint32_t mask, struct exec_window *window)
{
	const struct exec_range *range;
	uint8_t space = op->space;
	uint64_t addr = 0;

	if (space == PTX_SPACE_GLOBAL || space == PTX_SPACE_GENERIC) {
		addr = address_of(warp, op, __builtin_ctz(mask));
		space = space == PTX_SPACE_GENERIC ? space_at(addr) : space;
	}
	if (space != PTX_SPACE_GLOBAL) {
		*window = space_window(warp, space);
		window->base = op->space == PTX_SPACE_GENERIC ? space_start(space) : 0;
		return true;
	}
	range = cta->last;
	if (!range || addr - range->base >= range->bytes) {
		range = writable_range(cta->grid, addr);
		if (!range)
			return false;
		cta->last = range;
	}
	*window = (struct exec_window){ range->base, range->bytes, range->host, 0 };
	return true;
}

int grid_memory(struct grid_cta *cta, struct exec_warp *warp, const struct exec_op *op,
		uint32_t mask, struct err *err)
{
	const struct memory_lanes *memory = program_of(warp)->table->memory;
	uint64_t rel[WARP_LANES] __attribute__((aligned(64)));
	struct exec_window window;

	assert(!has_extent(warp, op) || extent_holds(warp, op, mask));
	if (!find_window(cta, warp, op, mask, &window))
		return lane_by_lane(cta, warp, op, mask, err);
	/* A frame's offsets count from where it is. */
	if (op->framed)
		window.base -= warp->local;
	if (op->kind == OP_ATOMIC) {
		if (!memory->locate(warp->arena, op, mask, &window, rel))
			return lane_by_lane(cta, warp, op, mask, err);
		atomic_rows(op, warp->arena, mask, (uintptr_t)window.host, rel,
			    window.base < PTX_SHARED_WINDOW && op->space != PTX_SPACE_SHARED);
		return 0;
	}
	if (op->access && op->access(warp->arena, op, mask, &window))
		return 0;
	return lane_by_lane(cta, warp, op, mask, err);
}
