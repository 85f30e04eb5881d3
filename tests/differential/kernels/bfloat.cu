// SPDX-License-Identifier: GPL-2.0
// bf16 and bf16x2.
// arch: 90
#include "shim.h"

#define W(v) wide_of(BF16, v)
#define B2(name, text, ...) OP2(name, u16, "h", u16, "h", u16, "h", text, (u16)(__VA_ARGS__))
#define B3(name, text, ...) OP3(name, u16, "h", u16, "h", u16, "h", u16, "h", text, (u16)(__VA_ARGS__))
ON_CPU(static bool bnan(u64 v) { return (v & 0x7fff) > 0x7f80; }
static u64 bmin(u64 a, u64 b) { return narrow_of(BF16, soft_min(W(a), W(b))); }
static u64 bmax(u64 a, u64 b) { return narrow_of(BF16, soft_max(W(a), W(b))); }
static u64 relu(u64 v) { return bnan(v) ? 0x7fff : v & 0x8000 ? 0 : v; }
template <typename F> static u32 both(u32 a, u32 b, u32 c, F f) {
	return (u32)(f(a & 0xffff, b & 0xffff, c & 0xffff) & 0xffff) | (u32)f(a >> 16, b >> 16, c >> 16) << 16; })
B3(bfma, "fma.rn.bf16", small_fma(BF16, a, b, c))
B3(bfma_relu, "fma.rn.relu.bf16", relu(small_fma(BF16, a, b, c)))
B2(badd, "add.rn.bf16", small_add(BF16, a, b))
B2(bsub, "sub.rn.bf16", small_sub(BF16, a, b))
B2(bmul, "mul.rn.bf16", small_mul(BF16, a, b))
B2(bmin_ptx, "min.bf16", bmin(a, b))
B2(bmax_ptx, "max.NaN.bf16", bnan(a) || bnan(b) ? 0x7fff : bmax(a, b))
OP1(bneg, u16, "h", u16, "h", "neg.bf16", (u16)(a ^ 0x8000))
OP1(babs, u16, "h", u16, "h", "abs.bf16", (u16)(a & 0x7fff))
KERNEL(bf16_fma)(u16 *out, const u16 *x, const u16 *y, const u16 *z)
{
	u32 i = GID;

	out[2 * i] = bfma(x[i], y[i], z[i]);
	out[2 * i + 1] = bfma_relu(x[i], y[i], z[i]);
}
CASE(bf16_fma, d3(8), d3(128), 0, 1, "out:bf16:2048 in:bf16:1024 in:bf16:1024 in:bf16:1024")
KERNEL(bf16_arith)(u16 *out, const u16 *x, const u16 *y)
{
	u32 i = GID;
	u16 a = x[i], b = y[i], *o = out + 3 * i;

	o[0] = badd(a, b);
	o[1] = bsub(a, b);
	o[2] = bmul(a, b);
}
CASE(bf16_arith, d3(4), d3(128), 0, 2, "out:bf16:1536 in:bf16:512 in:bf16:512")
KERNEL(bf16_unary)(u16 *out, const u16 *x, const u16 *y)
{
	u32 i = GID;
	u16 a = x[i], b = y[i], *o = out + 4 * i;

	o[0] = bneg(a);
	o[1] = babs(a);
	o[2] = bmin_ptx(a, b);
	o[3] = bmax_ptx(a, b);
}
CASE(bf16_unary, d3(4), d3(128), 0, 3, "out:bf16:2048 in:bf16:512 in:bf16:512")
#define X3(name, text, ...) OP3(name, u32, "r", u32, "r", u32, "r", u32, "r", text,			\
	both(a, b, c, [](u64 a, u64 b, u64 c) -> u64 { return __VA_ARGS__; }))
#define X2(name, text, ...) OP2(name, u32, "r", u32, "r", u32, "r", text,				\
	both(a, b, 0, [](u64 a, u64 b, u64) -> u64 { return __VA_ARGS__; }))
X3(xfma, "fma.rn.bf16x2", small_fma(BF16, a, b, c))
X2(xmin, "min.NaN.bf16x2", bnan(a) || bnan(b) ? 0x7fff : bmin(a, b))
X2(xmax, "max.bf16x2", bmax(a, b))
OP1(xneg, u32, "r", u32, "r", "neg.bf16x2", a ^ 0x80008000)
OP1(xabs, u32, "r", u32, "r", "abs.bf16x2", a & 0x7fff7fff)
KERNEL(bf16x2_arith)(u32 *out, const u32 *x, const u32 *y, const u32 *z)
{
	u32 i = GID, a = x[i], b = y[i], *o = out + 5 * i;

	o[0] = xfma(a, b, z[i]);
	o[1] = xmin(a, b);
	o[2] = xmax(a, b);
	o[3] = xneg(a);
	o[4] = xabs(a);
}
CASE(bf16x2_arith, d3(4), d3(128), 0, 4, "out:bf16:5120 in:bf16:1024 in:bf16:1024 in:bf16:1024")
#define BCMP(op, ...) TEXT2(bset_##op, u32, "r", u16, "h", u16, "h",					\
	"{ .reg .pred p; setp." #op ".bf16 p, %1, %2; selp.u32 %0, 1, 0, p; }", (u32)(__VA_ARGS__))
BCMP(eq, W(a) == W(b))
BCMP(gt, W(a) > W(b))
BCMP(leu, !(W(a) > W(b)))
KERNEL(bf16_compare)(u32 *out, const u16 *x, const u16 *y)
{
	u32 i = GID;

	out[i] = bset_eq(x[i], y[i]) | bset_gt(x[i], y[i]) << 1 | bset_leu(x[i], y[i]) << 2;
}
CASE(bf16_compare, d3(4), d3(128), 0, 5, "out:u32:512 in:bf16:512 in:bf16:512")
OP1(bex2, u16, "h", u16, "h", "ex2.approx.ftz.bf16", (u16)narrow_of(BF16, exp2(W(a))))
OP1(btanh, u16, "h", u16, "h", "tanh.approx.bf16", (u16)narrow_of(BF16, tanh(W(a))))
MAP1(bf16_ex2, u16, u16, bex2(a))
CASE(bf16_ex2, d3(4), d3(128), 0, 6, "out:bf16:512:rel=0.0079,ulp=1 in:bf16:512:range=-20~20")
MAP1(bf16_tanh, u16, u16, btanh(a))
CASE(bf16_tanh, d3(4), d3(128), 0, 7, "out:bf16:512:abs=0.004,ulp=1 in:bf16:512:range=-4~4")
