// SPDX-License-Identifier: GPL-2.0
/*
 * Instructions of textures and surfaces: what a handle means, which texels a lane reads, and what
 * it gets of them (CUDA C++ Programming Guide, "Texture Fetching": filters have 8 bits of
 * fraction). A fetch is one access of global memory, performed page by page like a load; a lane's
 * result is written when its last texel is there. A surface's address is arithmetic alone: the
 * load or store behind it is an instruction of its own. Called by warp.c, memory.c and
 * grid_memory.c.
 */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "exec/private.h"
#include "exec/approx.h"
#include "exec/half.h"

struct texel {
	uint32_t c[4];
};

/* The place that a lane fetches. */
struct place {
	float at[3];
	int layer;
	unsigned int dims;
	int whole[3];		/* of a fetch at whole numbers */
	bool is_whole, gathers;
};

/* --- descriptors ------------------------------------------------------------------------ */

static const struct texture *find(const struct exec_launch *launch, uint64_t handle)
{
	uint32_t low = 0, high = launch->ntextures;

	while (low < high) {
		uint32_t middle = (low + high) / 2;

		if (launch->textures[middle].handle == handle)
			return &launch->textures[middle];
		if (launch->textures[middle].handle < handle)
			low = middle + 1;
		else
			high = middle;
	}
	return NULL;
}

static uint32_t texel_bytes(const struct texture *t)
{
	return t->channels * t->channel_bytes;
}

/* The lane's; NULL: the kernel ends, and err says why. Lanes mostly have one in common: *last. */
static const struct texture *texture_of(const struct exec_warp *warp, const struct exec_op *op,
					uint32_t lane, const struct texture **last, struct err *err)
{
	uint64_t handle = row64(warp->arena, op->src[0])[lane];
	const struct texture *t = *last;

	if (t && t->handle == handle)
		return t;
	*last = t = find(warp->cta->launch, handle);
	if (!t)
		trap(warp, insn_of(warp, op), 1u << lane, err,
		     "0x%" PRIx64 " is no texture or surface", handle);
	else if ((t->base | t->slice | t->pitch) & (texel_bytes(t) - 1))
		trap(warp, insn_of(warp, op), 1u << lane, err,
		     "the rows of the texture are not aligned to its elements of %u bytes",
		     texel_bytes(t));
	else
		return t;
	return NULL;
}

/* --- texels -------------------------------------------------------------------------------- */

/* A channel as the program has it: a float where it reads so, else what is there. */
static uint32_t channel(const struct texture *t, const uint8_t *at)
{
	bool as_float = t->flags & TEXTURE_AS_FLOAT;
	uint16_t two;
	uint32_t raw;
	int value;

	if (t->channel_bytes == 4) {
		memcpy(&raw, at, sizeof(raw));
		return raw;
	}
	memcpy(&two, at, t->channel_bytes == 2 ? 2 : 1);
	raw = t->channel_bytes == 2 ? two : *at;
	if (t->kind == TEXEL_FLOAT)
		return f32_bits(half_to_float(raw));
	if (t->kind == TEXEL_UNSIGNED)
		return !as_float ? raw :
			f32_bits((float)raw / (t->channel_bytes == 2 ? 65535.0f : 255.0f));
	value = t->channel_bytes == 2 ? (int16_t)raw : (int8_t)raw;
	if (as_float) {
		float f = (float)value / (t->channel_bytes == 2 ? 32767.0f : 127.0f);

		return f32_bits(f < -1.0f ? -1.0f : f);
	}
	return (uint32_t)value;
}

static struct texel decode(const struct texture *t, const uint8_t *raw)
{
	bool is_float = t->flags & TEXTURE_AS_FLOAT || t->kind == TEXEL_FLOAT;
	struct texel x = { { 0, 0, 0, is_float ? f32_bits(1.0f) : 1 } };

	for (uint32_t i = 0; i < t->channels; i++)
		x.c[i] = channel(t, raw + i * t->channel_bytes);
	return x;
}

/* Where a place outside is; -1: nowhere, it has the border's colour. */
static int inside(int i, uint32_t size, uint32_t mode)
{
	int n = size && size <= INT32_MAX / 2 ? (int)size : 1;

	if (i >= 0 && i < n)
		return i;
	if (mode == TEXTURE_CLAMP)
		return i < 0 ? 0 : n - 1;
	if (mode == TEXTURE_BORDER)
		return -1;
	if (mode == TEXTURE_WRAP) {
		i %= n;
		return i < 0 ? i + n : i;
	}
	i %= 2 * n;
	i = i < 0 ? i + 2 * n : i;
	return i < n ? i : 2 * n - 1 - i;
}

/* The lane reads one texel more. */
static void want(struct exec_texels *x, const struct texture *t, uint32_t lane, int i, int j, int k,
		 unsigned int dims)
{
	uint32_t corner = x->corners[lane]++;

	i = inside(i, t->width, TEXTURE_MODE(t->flags, 0));
	j = dims > 1 ? inside(j, t->height, TEXTURE_MODE(t->flags, 1)) : 0;
	k = dims > 2 ? inside(k, t->depth, TEXTURE_MODE(t->flags, 2)) : k;
	if (i < 0 || j < 0 || k < 0)
		return;
	x->at[corner][lane] = t->base + (uint64_t)k * t->slice + (uint64_t)j * t->pitch +
			      (uint64_t)i * texel_bytes(t);
	x->inside[lane] |= 1u << corner;
	x->left[lane] |= 1u << corner;
}

/* As cvt.rmi.s32.f32. */
static int floor_of(float f)
{
	f = floorf(f);
	return f != f ? 0 : f >= 0x1p31f ? INT32_MAX : f < -0x1p31f ? INT32_MIN : (int)f;
}

/* The texel below a coordinate, and how far behind it that is, in 1/256. */
static int below(float f, float *part)
{
	int i;

	f -= 0.5f;
	i = floor_of(f);
	*part = (float)floor_of(fmaf(f - (float)i, 256.0f, 0.5f)) * (1.0f / 256);
	return i;
}

static int next_to(int i, uint32_t n)
{
	return (int)((uint32_t)i + n);
}

/* Which texels: of a filter the lower ones first, of a gather from the upper left one around. */
static void want_all(struct exec_texels *x, const struct texture *t, uint32_t lane, struct place *p)
{
	int at[3] = { 0, 0, p->layer };

	if (p->is_whole) {
		/* Linear memory has no texels outside its width. */
		if (!(t->flags & TEXTURE_MEMORY) || (uint32_t)p->whole[0] < t->width)
			want(x, t, lane, p->whole[0], p->whole[1], p->whole[2], p->dims);
		return;
	}
	if (t->flags & TEXTURE_NORMALIZED) {
		p->at[0] *= (float)t->width;
		p->at[1] *= (float)t->height;
		p->at[2] *= (float)t->depth;
	}
	for (unsigned int i = 0; i < p->dims; i++)
		at[i] = p->gathers || t->flags & TEXTURE_LINEAR ?
			below(p->at[i], &x->part[i][lane]) : floor_of(p->at[i]);
	if (p->gathers) {
		want(x, t, lane, at[0], next_to(at[1], 1), 0, 2);
		want(x, t, lane, next_to(at[0], 1), next_to(at[1], 1), 0, 2);
		want(x, t, lane, next_to(at[0], 1), at[1], 0, 2);
		want(x, t, lane, at[0], at[1], 0, 2);
	} else if (!(t->flags & TEXTURE_LINEAR)) {
		want(x, t, lane, at[0], at[1], at[2], p->dims);
	} else {
		for (uint32_t corner = 0; corner < 1u << p->dims; corner++)
			want(x, t, lane, next_to(at[0], corner & 1),
			     next_to(at[1], corner >> 1 & 1),
			     p->dims > 2 ? next_to(at[2], corner >> 2) : at[2], p->dims);
	}
}

static struct texel corner_of(const struct exec_texels *x, const struct texture *t, uint32_t lane,
			      uint32_t corner)
{
	struct texel border;

	if (x->inside[lane] >> corner & 1)
		return decode(t, x->raw[corner][lane]);
	memcpy(border.c, t->border, sizeof(border.c));
	return border;
}

static struct texel filtered(const struct exec_texels *x, const struct texture *t, uint32_t lane)
{
	float sum[4] = { 0, 0, 0, 0 };
	struct texel r;

	for (uint32_t corner = 0; corner < x->corners[lane]; corner++) {
		float weight = 1.0f;

		r = corner_of(x, t, lane, corner);
		for (uint32_t i = 0; 2u << i <= x->corners[lane]; i++)
			weight *= corner >> i & 1 ? x->part[i][lane] : 1.0f - x->part[i][lane];
		for (int n = 0; n < 4; n++)
			sum[n] = fmaf(weight, bits_f32(r.c[n]), sum[n]);
	}
	for (int n = 0; n < 4; n++)
		r.c[n] = f32_bits(canon_f32(sum[n]));
	return r;
}

/* The lane's texels are there. */
static void give(const struct exec_warp *warp, const struct exec_op *op,
		 const struct exec_texels *x, uint32_t lane)
{
	const struct texture *t = x->of[lane];
	struct texel r = { { 0, 0, 0, 0 } };
	uint32_t i;

	if ((op->atom & PTX_TEXEL_GEOMETRY) == PTX_TEXEL_GATHER) {
		for (i = 0; i < 4; i++)
			r.c[i] = corner_of(x, t, lane, i).c[op->atom >> PTX_TEXEL_CHANNEL & 3];
	} else if (x->corners[lane] > 1) {
		r = filtered(x, t, lane);
	} else if (x->corners[lane]) {
		r = corner_of(x, t, lane, 0);
	}
	for (i = 0; i < 4; i++) {
		if (op->dst[i] == NO_ROW)
			continue;
		if (op->wide >> i & 1)
			row64(warp->arena, op->dst[i])[lane] = r.c[i];
		else
			row32(warp->arena, op->dst[i])[lane] = r.c[i];
	}
}

/* --- a fetch ---------------------------------------------------------------------------------- */

static struct place place_of(const struct exec_warp *warp, const struct exec_op *op,
			     const struct texture *t, uint32_t lane)
{
	static const uint8_t dims[] = {
		[PTX_TEXEL_1D] = 1, [PTX_TEXEL_2D] = 2, [PTX_TEXEL_3D] = 3,
		[PTX_TEXEL_A1D] = 1, [PTX_TEXEL_A2D] = 2, [PTX_TEXEL_GATHER] = 2,
	};
	unsigned int geometry = op->atom & PTX_TEXEL_GEOMETRY, first = 0;
	struct place p = {
		.dims = dims[geometry], .gathers = geometry == PTX_TEXEL_GATHER,
		.is_whole = op->type != PTX_F32,
	};

	if (geometry == PTX_TEXEL_A1D || geometry == PTX_TEXEL_A2D) {
		int layer = (int)row32(warp->arena, op->src[1])[lane], last = (int)t->depth - 1;

		p.layer = layer < 0 || last < 0 ? 0 : layer > last ? last : layer;
		first = 1;
	}
	for (unsigned int i = 0; i < p.dims; i++) {
		uint32_t bits = row32(warp->arena, op->src[1 + first + i])[lane];

		p.at[i] = bits_f32(bits);
		p.whole[i] = (int)bits;
	}
	return p;
}

enum exec_outcome texture_step(struct exec_warp *warp, const struct exec_op *op, uint32_t mask,
			       struct exec_access *access, struct err *err)
{
	const struct texture *last = NULL;
	struct exec_texels *x = access->texels;

	access->insn = insn_of(warp, op);
	access->space = PTX_SPACE_TEXTURE;
	access->is_store = access->is_atomic = false;
	access->bytes = 0;
	access->lanes = access->touched = 0;
	for (uint32_t rest = mask; rest; rest &= rest - 1) {
		uint32_t lane = (uint32_t)__builtin_ctz(rest);
		const struct texture *t = texture_of(warp, op, lane, &last, err);
		struct place p;

		if (!t)
			return EXEC_TRAP;
		p = place_of(warp, op, t, lane);
		x->of[lane] = t;
		x->corners[lane] = x->inside[lane] = x->left[lane] = 0;
		want_all(x, t, lane, &p);
		if (!x->left[lane]) {
			give(warp, op, x, lane);
			continue;
		}
		access->addr[lane] = x->at[__builtin_ctz(x->inside[lane])][lane];
		access->bytes = MAX(access->bytes, texel_bytes(t));
		access->lanes |= 1u << lane;
	}
	access->touched = access->lanes;
	return access->lanes ? EXEC_ACCESS : EXEC_NEXT;
}

void texture_perform(struct exec_warp *warp, const struct exec_op *op, struct exec_access *access,
		     uint32_t lanes, uint64_t from, uint64_t bytes, const uint8_t *host)
{
	struct exec_texels *x = access->texels;

	for (uint32_t rest = lanes & access->lanes; rest; rest &= rest - 1) {
		uint32_t lane = (uint32_t)__builtin_ctz(rest), corner;

		for (corner = 0; corner < x->corners[lane]; corner++) {
			uint64_t at = x->at[corner][lane] - from;

			if (!(x->left[lane] >> corner & 1) || at >= bytes)
				continue;
			memcpy(x->raw[corner][lane], host + at, texel_bytes(x->of[lane]));
			x->left[lane] &= ~(1u << corner);
		}
		if (x->left[lane])
			continue;
		give(warp, op, x, lane);
		access->lanes &= ~(1u << lane);
	}
}

struct exec_texels *exec_texels_create(void)
{
	return calloc(1, sizeof(struct exec_texels));
}

uint32_t exec_texel_pages(const struct exec_access *access, uint64_t *pages, uint32_t *lanes)
{
	const struct exec_texels *x = access->texels;
	uint32_t n = 0, i;

	for (uint32_t rest = access->lanes; rest; rest &= rest - 1) {
		uint32_t lane = (uint32_t)__builtin_ctz(rest), corner;

		for (corner = 0; corner < x->corners[lane]; corner++) {
			uint64_t page = x->at[corner][lane] & ~(PAGE_BYTES - 1);

			if (!(x->inside[lane] >> corner & 1))
				continue;
			for (i = n; i && pages[i - 1] > page; i--)
				;
			if (i && pages[i - 1] == page) {
				lanes[i - 1] |= 1u << lane;
				continue;
			}
			memmove(&pages[i + 1], &pages[i], (n - i) * sizeof(*pages));
			memmove(&lanes[i + 1], &lanes[i], (n - i) * sizeof(*lanes));
			pages[i] = page;
			lanes[i] = 1u << lane;
			n++;
		}
	}
	return n;
}

/* --- queries and surfaces ------------------------------------------------------------------ */

enum exec_outcome texture_query(const struct exec_warp *warp, const struct exec_op *op,
				uint32_t mask, struct err *err)
{
	const struct texture *last = NULL;

	for (uint32_t rest = mask; rest; rest &= rest - 1) {
		uint32_t lane = (uint32_t)__builtin_ctz(rest);
		const struct texture *t = texture_of(warp, op, lane, &last, err);

		if (!t)
			return EXEC_TRAP;
		if (op->dst[0] != NO_ROW)
			row32(warp->arena, op->dst[0])[lane] =
				op->atom == PTX_TEXEL_1D ? t->width :
				op->atom == PTX_TEXEL_2D ? t->height : t->depth;
	}
	return EXEC_NEXT;
}

static int clamped(int i, int n)
{
	return i < 0 ? 0 : i >= n ? n - 1 : i;
}

/* Where a lane's bytes are; *outside: the kernel ends. 0: nothing is written, and zeros are read. */
static uint64_t surface_at(const struct texture *t, const int *p, int bytes, unsigned int mode,
			   bool *outside)
{
	int row = (int)(t->width * texel_bytes(t)), x = p[0], y = p[1], z = p[2];
	int rows = t->height ? (int)t->height : 1, slices = t->depth ? (int)t->depth : 1;

	*outside = x % bytes;
	if (x < 0 || (int64_t)x + bytes > row || y < 0 || y >= rows || z < 0 || z >= slices) {
		*outside |= mode == PTX_SURFACE_TRAP;
		if (mode == PTX_SURFACE_ZERO)
			return 0;
		x = x < 0 ? 0 : (int64_t)x + bytes > row ? row - bytes : x;
		y = clamped(y, rows);
		z = clamped(z, slices);
	}
	return t->base + (uint64_t)z * t->slice + (uint64_t)y * t->pitch + (uint64_t)x;
}

enum exec_outcome surface_step(const struct exec_warp *warp, const struct exec_op *op,
			       uint32_t mask, struct err *err)
{
	const struct texture *last = NULL;

	for (uint32_t rest = mask; rest; rest &= rest - 1) {
		uint32_t lane = (uint32_t)__builtin_ctz(rest);
		const struct texture *t = texture_of(warp, op, lane, &last, err);
		bool outside;
		uint64_t at;
		int p[3];

		if (!t)
			return EXEC_TRAP;
		for (unsigned int i = 0; i < 3; i++)
			p[i] = (int)row32(warp->arena, op->src[1 + i])[lane];
		at = surface_at(t, p, 1 << (op->atom >> PTX_SURFACE_BYTES),
				op->atom & PTX_SURFACE_MODE, &outside);
		if (outside)
			return trap(warp, insn_of(warp, op), 1u << lane, err,
				    "byte %d of row %d of slice %d is outside of the surface, or misaligned",
				    p[0], p[1], p[2]);
		if (op->dst[0] != NO_ROW)
			row64(warp->arena, op->dst[0])[lane] = at;
	}
	return EXEC_NEXT;
}
