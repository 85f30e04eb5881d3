// SPDX-License-Identifier: GPL-2.0
/* Calls through addresses: function pointers, virtual functions, recursion through them. */
#include "check.h"

struct triple {
	int a, b, c;
};

class shape {
public:
	__device__ shape(int scale) : scale(scale) {}
	__device__ virtual int area(int x) const = 0;
	__device__ virtual triple move(triple at, char by) const
	{
		at.a += by;
		return at;
	}
	__device__ virtual double half(double x) const { return x / 2; }

protected:
	int scale;
};

class square : public shape {
public:
	__device__ square(int scale) : shape(scale) {}
	__device__ int area(int x) const override { return scale * x * x; }
};

class line : public shape {
public:
	__device__ line(int scale) : shape(scale) {}
	__device__ int area(int x) const override { return scale + x; }
	__device__ triple move(triple at, char by) const override
	{
		at.b -= by;
		at.c *= 2;
		return at;
	}
};

class point : public line {
public:
	__device__ point(int scale) : line(scale) {}
	__device__ double half(double x) const override { return -x; }
};

/* Each lane another class: calls diverge, and meet again. */
__global__ void shapes(int *areas, triple *at, double *halves)
{
	int i = threadIdx.x, kind = i % 3;
	square s(i);
	line l(i);
	point p(i);
	shape *one = kind == 0 ? (shape *)&s : kind == 1 ? (shape *)&l : (shape *)&p;

	areas[i] = one->area(7);
	at[i] = one->move(triple{ i, 100, 3 }, 5);
	halves[i] = one->half(i);
}

typedef float (*binary)(float, float);
__device__ float add(float a, float b) { return a + b; }
__device__ float sub(float a, float b) { return a - b; }
__device__ float mul(float a, float b) { return a * b; }
__device__ binary table[3] = { add, sub, mul };
__device__ binary one = mul;
__constant__ binary constant = sub;

__global__ void calls(float *out, binary given)
{
	int i = threadIdx.x;

	out[i] = table[i % 3](i, 2);
	out[32 + i] = one(i, 3) + constant(i, 4);
	out[64 + i] = given(i, 5);
}

/* The host asks the device for an address, and gives it to a kernel. */
__global__ void tell(binary *where)
{
	*where = add;
}

/* Through an address and back into itself. */
typedef int (*step)(int, void *);
__device__ __noinline__ int countdown(int n, void *next)
{
	return n ? n + ((step)next)(n - 1, next) : 0;
}

__global__ void recursion(int *out, int n)
{
	step volatile next = countdown;

	out[threadIdx.x] = next(n + threadIdx.x % 4, (void *)next);
}

__global__ void nowhere(int *out, unsigned long long at)
{
	out[0] = ((step)at)(1, out);
}

int main()
{
	int *areas;
	triple *at;
	double *halves;
	float *out;
	binary *where;

	OK(cudaMallocManaged(&areas, 64 * sizeof(int)));
	OK(cudaMallocManaged(&at, 64 * sizeof(triple)));
	OK(cudaMallocManaged(&halves, 64 * sizeof(double)));
	OK(cudaMallocManaged(&out, 96 * sizeof(float)));
	OK(cudaMallocManaged(&where, sizeof(binary)));

	shapes<<<1, 64>>>(areas, at, halves);
	OK(cudaDeviceSynchronize());
	for (int i = 0; i < 64; i++) {
		int kind = i % 3;

		HOLDS(areas[i] == (kind == 0 ? i * 49 : i + 7));
		HOLDS(at[i].a == (kind == 0 ? i + 5 : i));
		HOLDS(at[i].b == (kind == 0 ? 100 : 95) && at[i].c == (kind == 0 ? 3 : 6));
		HOLDS(halves[i] == (kind == 2 ? -i : i / 2.0));
	}

	tell<<<1, 1>>>(where);
	OK(cudaDeviceSynchronize());
	calls<<<1, 32>>>(out, *where);
	OK(cudaDeviceSynchronize());
	for (int i = 0; i < 32; i++) {
		HOLDS(out[i] == (i % 3 == 0 ? i + 2.0f : i % 3 == 1 ? i - 2.0f : i * 2.0f));
		HOLDS(out[32 + i] == i * 3.0f + (i - 4.0f));
		HOLDS(out[64 + i] == i + 5.0f);
	}

	recursion<<<1, 32>>>(areas, 5);
	OK(cudaDeviceSynchronize());
	for (int i = 0; i < 32; i++) {
		int n = 5 + i % 4;

		HOLDS(areas[i] == n * (n + 1) / 2);
	}

	/* No function is there. */
	nowhere<<<1, 1>>>(areas, 0);
	IS(cudaDeviceSynchronize(), cudaErrorLaunchFailure);
	printf("pointers: passed\n");
	return 0;
}
