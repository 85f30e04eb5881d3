# SPDX-License-Identifier: GPL-2.0
"""expressions.py SEED: a CUDA program of 100 expressions at random, each computed by the host and by the device.

Integers of all widths and signs, comparisons, choices, shifts, loops that end by a comparison. The program says what
differs. Seeds 2 and 18 have what clang-14 gets wrong, the second also 16, without tools/cc_ptx.c. Build it with -fwrapv -ffp-contract=off."""
import random
import sys

COUNT = 100
TYPES = ["signed char", "unsigned char", "short", "unsigned short", "int", "unsigned", "long long", "unsigned long long"]
WIDE = TYPES[4:]
CONSTANTS = ["0", "1", "-1", "7", "31", "32", "127", "128", "255", "-128", "65535", "0x7fffffff", "0x80000000u",
             "0xffffffffu", "0x100000000ll", "-2", "3", "100", "1000"]
r = random.Random(int(sys.argv[1]))


def constant():
    return r.choice(CONSTANTS + [str(r.randint(-300, 300))])


def number(depth):
    if depth <= 0:
        return r.choice(["a%d" % r.randrange(8)] * 8 + ["b0", "b1", "b2"]) if r.random() < .75 else constant()
    k, a, b = r.random(), number(depth - 1), number(depth - 1)
    if k < .16:
        return "((%s) %s (%s))" % (a, r.choice("&|^+-"), b)
    if k < .22:
        return "((unsigned long long)(%s) * (unsigned long long)(%s))" % (a, b)
    if k < .36:
        return "((%s)(%s))" % (r.choice(TYPES), a)
    if k < .46:
        return "((%s)(%s) >> %d)" % (r.choice(WIDE), a, r.choice([1, 3, 7, 8, 15, 16, 24, 31]))
    if k < .50:
        return "((%s)((unsigned long long)(%s) << %d))" % (r.choice(TYPES), a, r.choice([1, 3, 8, 16, 31, 32]))
    if k < .72:
        return "(%s)" % comparison(depth - 1)
    if k < .86:
        return "((%s) ? (%s) : (%s))" % (comparison(depth - 1), a, b)
    if k < .90:
        return "(~(long long)(%s))" % a
    if k < .95:
        return "smaller<%s>((%s), (%s))" % (r.choice(WIDE), a, b)
    return "((int)(%s) %% 7)" % a


def comparison(depth):
    k, op = r.random(), r.choice(["<", "<=", ">", ">=", "==", "!="])
    if k < .12:
        return "%s %s %s" % (r.choice(["f", "d", "(f + 1.0f)", "-f", "(float)d"]), op, r.choice(["f", "d", "0.0f", "1.5", "(float)a4"]))
    if k < .22 and depth > 0:
        return "(%s) %s (%s)" % (comparison(depth - 1), r.choice(["&&", "||"]), comparison(depth - 1))
    if k < .26:
        return "!(%s)" % (comparison(depth - 1) if depth > 0 else "a4")
    kind = r.choice(TYPES)
    a, b = number(depth), constant() if r.random() < .5 else number(depth)
    return "(%s)(%s) %s (%s)(%s)" % (kind, a, op, r.choice([kind, kind, r.choice(TYPES)]), b)


def statement(i):
    k = r.random()
    if k < .5:
        return "out[%d] = (long long)(%s);" % (i, number(3))
    if k < .7:
        return "{ long long s = 0; if (%s) s += %s; else if (%s) s -= %s; out[%d] = s; }" % (
            comparison(2), number(1), comparison(2), number(1), i)
    if k < .85:
        return "{ int s = 0; for (int i = 0; i < %d; i++) { if (%s) break; if ((%s)(i * 37 + %s) %s %s) s += i; else s ^= %d; } out[%d] = s; }" % (
            r.choice([5, 8, 16, 33]), comparison(1).replace("a4", "(a4 + i)"), r.choice(TYPES), number(1),
            r.choice(["<", ">", "==", "<="]), r.choice([constant(), number(1)]), r.randint(1, 99), i)
    if k < .93:
        return "{ unsigned s = 0; int lo = 0, hi = 16; while (lo < hi) { int m = (lo + hi) / 2; if ((%s)(%s) > (m * %d)) lo = m + 1; else hi = m; s = s * 3 + lo; } out[%d] = s; }" % (
            r.choice(TYPES), number(1), r.randint(1, 500), i)
    return "{ bool p = %s, q = %s; b0 = p != q; out[%d] = p * 2 + q + (p ^ q ? b0 : b1); }" % (comparison(2), comparison(2), i)


fields = ["%s a%d" % (kind, i) for i, kind in enumerate(TYPES)] + ["float f", "double d", "bool b0", "bool b1", "bool b2"]
print("""#include "check.h"
template <class T> __host__ __device__ static inline T smaller(T a, T b) { return b < a ? b : a; }
struct given { %s; };
__host__ __device__ static inline void all(const given &v, long long *out)
{
	%s
	%s
}
__global__ void device(const given *v, long long *out) { all(v[threadIdx.x], out + threadIdx.x * %d); }""" % (
    "; ".join(fields), " ".join("%s = v.%s;" % (field, field.split()[-1]) for field in fields),
    "\n\t".join(statement(i) for i in range(COUNT)), COUNT))
print("""
int main()
{
	enum { INPUTS = 64, COUNT = %d };
	unsigned long long s = 88172645463325252ull, w[8];
	long long *out, host[COUNT];
	given *v;

	OK(cudaMallocManaged(&v, INPUTS * sizeof(*v)));
	OK(cudaMallocManaged(&out, INPUTS * COUNT * sizeof(*out)));
	for (int i = 0; i < INPUTS; i++) {
		for (int j = 0; j < 8; j++) {
			s ^= s << 13, s ^= s >> 7, s ^= s << 17;
			w[j] = i < 20 ? (unsigned long long)(long long)((int)(s %% 9) - 4) : i < 40 ? s >> (s & 63) : s;
		}
		v[i] = { (signed char)w[0], (unsigned char)w[1], (short)w[2], (unsigned short)w[3], (int)w[4], (unsigned)w[5],
			 (long long)w[6], w[7], (float)(int)w[1], (double)(int)w[2], (w[3] & 1) != 0, (w[4] & 1) != 0, (w[5] & 1) != 0 };
		if (i %% 9 == 5)
			v[i].f = __builtin_nanf("");
	}
	device<<<1, INPUTS>>>(v, out);
	OK(cudaDeviceSynchronize());
	for (int i = 0; i < INPUTS; i++) {
		all(v[i], host);
		for (int j = 0; j < COUNT; j++) {
			if (out[i * COUNT + j] != host[j])
				printf("expression %%d, input %%d: %%llx, the host has %%llx\\n", j, i, out[i * COUNT + j], host[j]);
			HOLDS(out[i * COUNT + j] == host[j]);
		}
	}
	printf("expressions: passed\\n");
	return 0;
}""" % COUNT)
