// SPDX-License-Identifier: GPL-2.0
//
// Functions that are called, module variables and printf, in the CUDA C that
// stock clang compiles without the CUDA toolkit; functions.ptx is what clang wrote.
// The parser's tests cut it up; nothing runs it.
#define __global__ __attribute__((global))
#define __device__ __attribute__((device))
#define __shared__ __attribute__((shared))
#define __constant__ __attribute__((constant))
#define CALLED __device__ __attribute__((noinline))

struct pair { int a; double b; };
struct table { long v[20]; };
struct item { char tag; int value; const char *name; };
extern "C" __device__ int vprintf(const char *, const char *);

__device__ int counter;
__device__ int rows[2][3] = { { 1 }, { 2, 3 } };
__device__ int *pointers[3] = { &counter, &rows[1][1], 0 };
__device__ item items[2] = { { 'a', 1, "first" }, { 'b', 2, "second" } };
__constant__ float weights[3] = { 1.5f, 2.5f, 3.5f };
__shared__ int common[32];
extern __shared__ double dynamic[];

CALLED int odd(int n);
CALLED int even(int n) { return n == 0 ? 1 : odd(n - 1); }
CALLED int odd(int n) { return n == 0 ? 0 : even(n - 1); }
CALLED int fib(int n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }
CALLED pair twice(pair p, char c, bool b) { p.a += c; p.b *= b ? 2 : 1; return p; }
CALLED table put(table t, int i) { t.v[i] = i; return t; }
CALLED unsigned char narrow(unsigned char a, signed char b, short c) { return a + b + c; }
CALLED long many(int a, int b, int c, int d, int e, int f, int g, int h, long i, double j)
{
	return a + b + c + d + e + f + g + h + i + (long)j;
}
CALLED int share(int i)
{
	__shared__ int own[7];

	own[i] = i;
	common[i] = i;
	return own[i ^ 1] + (int)dynamic[i];
}

__global__ void calls(int *p, pair q)
{
	int i = p[0];
	table t;

	p[1] = fib(i);
	p[2] = even(i);
	p[3] = twice(q, i, i > 3).a;
	p[4] = share(i);
	p[5] = narrow(i, i, i);
	p[6] = many(i, 2, 3, 4, 5, 6, 7, 8, 9, 10.0);
	for (int j = 0; j < 20; j++)
		t.v[j] = j;
	p[7] = put(t, i).v[3];
}

__global__ void variables(int *p)
{
	struct { int a; double b; } args = { p[0], weights[2] };

	*pointers[p[1]] = items[p[2]].name[0] + rows[0][p[3]];
	vprintf("%d %f\n", (const char *)&args);
}
