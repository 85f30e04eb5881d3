// SPDX-License-Identifier: GPL-2.0
//
// Kernels of the tests of ptx and exec, in the CUDA C that stock clang compiles
// without the CUDA toolkit. kernels_O*.ptx is what clang wrote; kernels.sh makes
// them again. test_exec_kernels.c has each one's reference.
#define __global__ __attribute__((global))
#define __device__ __attribute__((device))
#define __shared__ __attribute__((shared))
#define INLINE static inline __device__ __attribute__((always_inline))
typedef unsigned int u32;
typedef unsigned long long u64;

INLINE u32 tid() { return __nvvm_read_ptx_sreg_tid_x(); }
INLINE u32 tidy() { return __nvvm_read_ptx_sreg_tid_y(); }
INLINE u32 cta() { return __nvvm_read_ptx_sreg_ctaid_x(); }
INLINE u32 ctay() { return __nvvm_read_ptx_sreg_ctaid_y(); }
INLINE u32 ntid() { return __nvvm_read_ptx_sreg_ntid_x(); }
INLINE u32 nctas() { return __nvvm_read_ptx_sreg_nctaid_x(); }
INLINE u32 self() { return cta() * ntid() + tid(); }
INLINE float mul_rn(float a, float b) { return __nvvm_mul_rn_f(a, b); }
INLINE float add_rn(float a, float b) { return __nvvm_add_rn_f(a, b); }

extern "C" {

__global__ void vecadd(const float *a, const float *b, float *c, u32 n)
{
	u32 i = self();

	if (i < n)
		c[i] = a[i] + b[i];
}

__global__ void reduce(const float *in, float *out, u32 n)
{
	__shared__ float s[256];
	float sum = 0;

	for (u32 i = self(); i < n; i += ntid() * nctas())
		sum += in[i];
	s[tid()] = sum;
	__syncthreads();
	for (u32 k = ntid() / 2; k; k >>= 1) {
		if (tid() < k)
			s[tid()] += s[tid() + k];
		__syncthreads();
	}
	if (!tid())
		out[cta()] = s[0];
}

__global__ void gather(const u32 *idx, const float *tab, float *out, u32 n, u32 per)
{
	u32 i = self();
	float sum = 0;

	if (i >= n)
		return;
	for (u32 k = 0; k < per; k++)
		sum += tab[idx[i * per + k]];
	out[i] = sum;
}

__global__ void scan(const int *in, int *out, u32 n)
{
	__shared__ int buf[512];
	u32 t = tid(), i = cta() * 256 + t, from = 0;

	buf[t] = i < n ? in[i] : 0;
	__syncthreads();
	for (u32 d = 1; d < 256; d *= 2) {
		int v = buf[from + t];

		if (t >= d)
			v += buf[from + t - d];
		from ^= 256;
		buf[from + t] = v;
		__syncthreads();
	}
	if (i < n)
		out[i] = buf[from + t];
}

__global__ void histogram(const u32 *in, u32 *bins, u32 n)
{
	__shared__ u32 h[256];

	h[tid()] = 0;
	__syncthreads();
	for (u32 i = self(); i < n; i += ntid() * nctas())
		__nvvm_atom_add_gen_i((int *)&h[in[i] & 255], 1);
	__syncthreads();
	__nvvm_atom_add_gen_i((int *)&bins[tid()], h[tid()]);
}

__global__ void matmul(const float *a, const float *b, float *c, u32 n)
{
	__shared__ float ta[16][16], tb[16][16];
	u32 x = tid(), y = tidy(), row = ctay() * 16 + y, col = cta() * 16 + x;
	float sum = 0;

	for (u32 t = 0; t < n; t += 16) {
		ta[y][x] = a[row * n + t + x];
		tb[y][x] = b[(t + y) * n + col];
		__syncthreads();
		for (u32 k = 0; k < 16; k++)
			sum = __nvvm_fma_rn_f(ta[y][k], tb[k][x], sum);
		__syncthreads();
	}
	c[row * n + col] = sum;
}

__global__ void transpose(const float *in, float *out, u32 w, u32 h)
{
	__shared__ float tile[32][33];
	u32 x = cta() * 32 + tid(), y = ctay() * 32 + tidy();

	for (u32 j = 0; j < 32; j += 8)
		tile[tidy() + j][tid()] = in[(y + j) * w + x];
	__syncthreads();
	x = ctay() * 32 + tid();
	y = cta() * 32 + tidy();
	for (u32 j = 0; j < 32; j += 8)
		out[(y + j) * h + x] = tile[tid()][tidy() + j];
}

__global__ void mandel(int *out, u32 w, float x0, float y0, float dx, float dy, int most)
{
	u32 px = self(), py = ctay();
	float cx = add_rn(x0, mul_rn(dx, (float)px)), cy = add_rn(y0, mul_rn(dy, (float)py));
	float zx = 0, zy = 0;
	int n = 0;

	while (n < most) {
		float a = mul_rn(zx, zx), b = mul_rn(zy, zy), t = mul_rn(zx, zy);

		if (add_rn(a, b) > 4.0f)
			break;
		zx = add_rn(add_rn(a, -b), cx);
		zy = add_rn(add_rn(t, t), cy);
		n++;
	}
	out[py * w + px] = n;
}

// Nested and unstructured divergence, every thread its own way through.
__global__ void maze(const u32 *in, u32 *out, u32 n)
{
	u32 i = self(), v, steps = 0;

	if (i >= n)
		return;
	v = in[i];
	for (u32 round = 0; round < 200; round++) {
		if (v == 1)
			goto done;
		if (v & 1) {
			if (v % 3 == 0) {
				v /= 3;
				if (v % 5 == 2)
					continue;
				steps += 7;
			} else {
				v = 3 * v + 1;
			}
		} else {
			v >>= 1;
			for (u32 k = 0; k < (v & 3); k++) {
				if (k == (i & 3))
					break;
				steps += 2;
			}
		}
		switch (v & 7) {
		case 0: steps += 1; break;
		case 1: steps += 3; v += 2; break;
		case 3: steps ^= v; steps &= 0xff; break;
		case 4: if (i & 1) goto odd; break;
		case 5: v ^= 4; break;
		case 6: steps++; continue;
		}
		steps++;
		continue;
odd:
		steps += 5;
	}
done:
	out[i] = steps * 65536 + (v & 0xffff);
}

// Local arrays, indexed by data.
__global__ void local_sort(const int *in, int *out)
{
	int v[8];
	u32 i = self();

	for (u32 k = 0; k < 8; k++)
		v[k] = in[i * 8 + k];
	for (u32 k = 1; k < 8; k++) {
		int x = v[k];
		u32 j = k;

		for (; j > 0 && v[j - 1] > x; j--)
			v[j] = v[j - 1];
		v[j] = x;
	}
	for (u32 k = 0; k < 8; k++)
		out[i * 8 + k] = v[(k + i) & 7];
}

struct item {
	char c;
	short s;
	int i;
	long long l;
	float f;
	double d;
	unsigned char b[5];
};

// Every memory width, through a struct passed by value and pointers to one.
__global__ void widths(struct item p, const struct item *in, struct item *out)
{
	u32 i = self();
	struct item v = in[i];

	v.c = v.c + p.c;
	v.s = v.s * p.s;
	v.i = v.i - p.i;
	v.l = v.l ^ p.l;
	v.f = v.f * p.f;
	v.d = v.d + p.d;
	for (u32 k = 0; k < 5; k++)
		v.b[k] = v.b[(k + 1) % 5] + p.b[k];
	out[i] = v;
}

// 64-bit and double arithmetic, division, remainder, shifts, conversions.
__global__ void arithmetic(const long long *in, const double *din, long long *out, double *dout)
{
	u32 i = self();
	long long a = in[2 * i], b = in[2 * i + 1];
	double x = din[2 * i], y = din[2 * i + 1];
	u64 ua = a, ub = b;

	out[12 * i] = a * b;
	out[12 * i + 1] = b ? a / (b == -1 ? 1 : b) : 0;
	out[12 * i + 2] = b ? ua % ub : 0;
	out[12 * i + 3] = a >> (b & 63);
	out[12 * i + 4] = ua >> (b & 63);
	out[12 * i + 5] = a < b ? a : b;
	out[12 * i + 6] = (int)a / ((int)b | 1);
	out[12 * i + 7] = (short)a * (unsigned short)b;
	out[12 * i + 8] = __builtin_popcountll(a) + __builtin_clz((u32)b | 1);
	out[12 * i + 9] = (signed char)a - (unsigned char)b;
	out[12 * i + 10] = x < y ? -1 : x == y;
	out[12 * i + 11] = ua > ub;
	dout[4 * i] = x / y;
	dout[4 * i + 1] = (double)a - (double)ub;
	dout[4 * i + 2] = (float)x;
	dout[4 * i + 3] = __nvvm_sqrt_rn_d(x < 0 ? -x : x) + (float)(int)b;
}

// Generic pointers that are shared for some lanes, local or global for others.
__global__ void generic(u32 *mem, u32 *out)
{
	__shared__ u32 s[64];
	u32 l[4], t = tid();

	s[t] = t * 3;
	l[t & 3] = t * 5;
	l[(t + 1) & 3] = t * 7;
	__syncthreads();
	volatile u32 *p = t % 3 == 0 ? &s[(t + 1) & 63] : t % 3 == 1 ? &l[t & 3] : &mem[self()];

	out[self()] = *p;
	*p = t;
	__syncthreads();
	out[self() + ntid() * nctas()] = s[t] + l[t & 3];
}

__global__ void exits(u32 *out, u32 n)
{
	u32 i = self(), v = 0;

	for (u32 k = 0; k < 40; k++) {
		if (k == (i & 31)) {
			out[i] = v + 1000;
			return;
		}
		if ((i ^ k) % 7 == 3)
			v += k;
		if (v > n)
			return;
	}
	out[i] = v;
}

}
