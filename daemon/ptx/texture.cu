// SPDX-License-Identifier: GPL-2.0
/*
 * What instructions of textures and surfaces do, as device functions: compiled to PTX when the
 * engine is built, carried in it, and linked into kernels with such instructions
 * (daemon/ptx/texture.c). CUDA C++ Programming Guide, "Texture Fetching": filters have 8 bits of
 * fraction. The descriptor is libcudart's to fill: cuda/cudart/texture.h has the same one.
 */
#define DEVICE	extern "C" __attribute__((device))
#define INSIDE	static __attribute__((device, always_inline))
#define GLOBAL	__attribute__((address_space(1)))

typedef unsigned int u32;
typedef unsigned long long u64;

struct descriptor {
	u64 base, slice;
	u32 width, height, depth, pitch;
	u32 format;		/* channels, bytes of one << 4, kind << 8 */
	u32 flags;
	u32 border[4];
};

enum { UNSIGNED, SIGNED, FLOAT };
/* Address modes are from bit 4 on. */
enum { LINEAR = 1, NORMALIZED = 2, AS_FLOAT = 4, MEMORY = 8 };
enum { WRAP, CLAMP, MIRROR, BORDER };
enum { TRAP, CLAMPED, ZERO };

struct __attribute__((aligned(16))) texel {
	u32 c[4];
};

typedef const GLOBAL descriptor *handle;

INSIDE u32 bits(float f) { return __builtin_bit_cast(u32, f); }
INSIDE float number(u32 u) { return __builtin_bit_cast(float, u); }

/* A channel as the program has it: a float where it reads so, else what is there. */
INSIDE u32 channel(u64 at, u32 bytes, u32 kind, bool as_float)
{
	u32 raw;
	int value;

	if (bytes == 4)
		return *(const GLOBAL u32 *)at;
	raw = bytes == 2 ? *(const GLOBAL unsigned short *)at : *(const GLOBAL unsigned char *)at;
	if (kind == FLOAT) {
		float f;

		asm("{ .reg .b16 h; cvt.u16.u32 h, %1; cvt.f32.f16 %0, h; }" : "=f"(f) : "r"(raw));
		return bits(f);
	}
	if (kind == UNSIGNED)
		return as_float ? bits((float)raw / (bytes == 2 ? 65535.0f : 255.0f)) : raw;
	value = bytes == 2 ? (int)(short)raw : (int)(signed char)raw;
	if (as_float) {
		float f = (float)value / (bytes == 2 ? 32767.0f : 127.0f);

		return bits(f < -1.0f ? -1.0f : f);
	}
	return (u32)value;
}

/* Where a place outside is; -1: nowhere, it has the border's colour. */
INSIDE int place(int i, int n, u32 mode)
{
	if (i >= 0 && i < n)
		return i;
	if (mode == CLAMP)
		return i < 0 ? 0 : n - 1;
	if (mode == BORDER)
		return -1;
	if (mode == WRAP) {
		i %= n;
		return i < 0 ? i + n : i;
	}
	i %= 2 * n;
	i = i < 0 ? i + 2 * n : i;
	return i < n ? i : 2 * n - 1 - i;
}

/* Called, not copied: a filter of three dimensions has eight. */
static __attribute__((device, noinline)) texel at(handle d, int x, int y, int z, u32 dims)
{
	u32 flags = d->flags, format = d->format, channels = format & 15;
	u32 bytes = format >> 4 & 15, kind = format >> 8 & 3;
	bool as_float = flags & AS_FLOAT;
	texel t;
	u64 from;

	x = place(x, d->width, flags >> 4 & 3);
	y = dims > 1 ? place(y, d->height, flags >> 6 & 3) : 0;
	z = dims > 2 ? place(z, d->depth, flags >> 8 & 3) : z;
	if (x < 0 || y < 0 || z < 0) {
		for (int i = 0; i < 4; i++)
			t.c[i] = d->border[i];
		return t;
	}
	from = d->base + (u64)z * d->slice + (u64)y * d->pitch + (u64)x * (channels * bytes);
	t.c[0] = channel(from, bytes, kind, as_float);
	t.c[1] = t.c[2] = 0;
	t.c[3] = as_float || kind == FLOAT ? bits(1.0f) : 1;
	if (channels > 1)
		t.c[1] = channel(from + bytes, bytes, kind, as_float);
	if (channels > 2) {
		t.c[2] = channel(from + 2 * bytes, bytes, kind, as_float);
		t.c[3] = channel(from + 3 * bytes, bytes, kind, as_float);
	}
	return t;
}

INSIDE texel fetch(handle d, int x, int y, int z, u32 dims)
{
	texel none = { { 0, 0, 0, 0 } };

	if (d->flags & MEMORY && (u32)x >= d->width)
		return none;
	return at(d, x, y, z, dims);
}

INSIDE int floor_of(float f)
{
	int i;

	asm("cvt.rmi.s32.f32 %0, %1;" : "=r"(i) : "f"(f));
	return i;
}

/* The texel below a coordinate, and how far behind it that is, in 1/256. */
INSIDE int below(float f, float *part)
{
	int i;

	f -= 0.5f;
	i = floor_of(f);
	*part = (float)floor_of((f - (float)i) * 256.0f + 0.5f) * (1.0f / 256);
	return i;
}

INSIDE texel sample(handle d, float x, float y, float z, int layer, u32 dims)
{
	float a = 0, b = 0, c = 0, sum[4] = { 0, 0, 0, 0 };
	int i, j = 0, k = layer;
	texel t;

	if (d->flags & NORMALIZED) {
		x *= (float)d->width;
		y *= (float)d->height;
		z *= (float)d->depth;
	}
	if (!(d->flags & LINEAR)) {
		if (dims > 1)
			j = floor_of(y);
		if (dims > 2)
			k = floor_of(z);
		return at(d, floor_of(x), j, k, dims);
	}
	i = below(x, &a);
	if (dims > 1)
		j = below(y, &b);
	if (dims > 2)
		k = below(z, &c);
	for (u32 corner = 0; corner < 1u << dims; corner++) {
		u32 right = corner & 1, down = corner >> 1 & 1, deep = corner >> 2;
		float weight = right ? a : 1 - a;

		if (dims > 1)
			weight *= down ? b : 1 - b;
		if (dims > 2)
			weight *= deep ? c : 1 - c;
		t = at(d, i + right, j + down, k + deep, dims);
		for (int n = 0; n < 4; n++)
			sum[n] += weight * number(t.c[n]);
	}
	for (int n = 0; n < 4; n++)
		t.c[n] = bits(sum[n]);
	return t;
}

INSIDE int layer_of(handle d, int layer)
{
	int last = (int)d->depth - 1;

	return layer < 0 ? 0 : layer > last ? last : layer;
}

DEVICE texel __gpuemu_tex_1d_s(handle d, int x) { return fetch(d, x, 0, 0, 1); }
DEVICE texel __gpuemu_tex_2d_s(handle d, int x, int y) { return fetch(d, x, y, 0, 2); }
DEVICE texel __gpuemu_tex_3d_s(handle d, int x, int y, int z) { return fetch(d, x, y, z, 3); }
DEVICE texel __gpuemu_tex_1d_f(handle d, float x) { return sample(d, x, 0, 0, 0, 1); }
DEVICE texel __gpuemu_tex_2d_f(handle d, float x, float y) { return sample(d, x, y, 0, 0, 2); }
DEVICE texel __gpuemu_tex_3d_f(handle d, float x, float y, float z)
{
	return sample(d, x, y, z, 0, 3);
}
DEVICE texel __gpuemu_tex_a1d_f(handle d, int layer, float x)
{
	return sample(d, x, 0, 0, layer_of(d, layer), 1);
}
DEVICE texel __gpuemu_tex_a2d_f(handle d, int layer, float x, float y)
{
	return sample(d, x, y, 0, layer_of(d, layer), 2);
}

/* One channel of the four texels that a filter would use, from the lower left one on. */
DEVICE texel __gpuemu_tld4(handle d, float x, float y, int of)
{
	float part;
	texel t;
	int i, j;

	if (d->flags & NORMALIZED) {
		x *= (float)d->width;
		y *= (float)d->height;
	}
	i = below(x, &part);
	j = below(y, &part);
	t.c[0] = at(d, i, j + 1, 0, 2).c[of & 3];
	t.c[1] = at(d, i + 1, j + 1, 0, 2).c[of & 3];
	t.c[2] = at(d, i + 1, j, 0, 2).c[of & 3];
	t.c[3] = at(d, i, j, 0, 2).c[of & 3];
	return t;
}

/* Where a surface's bytes at x are; 0: outside, where nothing is written and zeros are read. */
DEVICE u64 __gpuemu_surface(handle d, int x, int y, int z, u32 bytes, u32 mode)
{
	u32 size = (d->format & 15) * (d->format >> 4 & 15);
	int row = (int)(d->width * size), rows = d->height, slices = d->depth;

	if (x % (int)bytes)
		__builtin_trap();
	rows = rows ? rows : 1;
	slices = slices ? slices : 1;
	if (x < 0 || x + (int)bytes > row || y < 0 || y >= rows || z < 0 || z >= slices) {
		if (mode == TRAP)
			__builtin_trap();
		if (mode == ZERO)
			return 0;
		x = x < 0 ? 0 : x + (int)bytes > row ? row - (int)bytes : x;
		y = y < 0 ? 0 : y >= rows ? rows - 1 : y;
		z = z < 0 ? 0 : z >= slices ? slices - 1 : z;
	}
	return d->base + (u64)z * d->slice + (u64)y * d->pitch + (u64)x;
}
