// SPDX-License-Identifier: GPL-2.0
// Approximate functions, each within the error that the PTX ISA documents.
// arch: 75
// ptx: 7.0
#include "shim.h"

#define A1(name, text, fill, tol, ...)									\
	OP1(ptx_##name, f32, "f", f32, "f", text, (f32)(__VA_ARGS__))					\
	MAP1(name, f32, f32, ptx_##name(a))								\
	CASE(name, d3(4), d3(128), 0, 1, "out:f32:512:" tol " in:f32:512:" fill)
A1(rcp_approx, "rcp.approx.f32", "fin", "ulp=1", 1 / (f64)a)
A1(rcp_approx_ftz, "rcp.approx.ftz.f32", "full", "ulp=1", ftz((f32)(1 / (f64)ftz(a))))
A1(sqrt_approx, "sqrt.approx.f32", "full", "rel=1.2e-7,ulp=1", sqrt((f64)a))
A1(sqrt_approx_ftz, "sqrt.approx.ftz.f32", "full", "rel=1.2e-7,ulp=1", sqrt((f64)ftz(a)))
A1(rsqrt_approx, "rsqrt.approx.f32", "full", "rel=1.28e-7", a == 0 ? copysign(INFINITY, a) : 1 / sqrt((f64)a))
A1(rsqrt_approx_ftz, "rsqrt.approx.ftz.f32", "full", "rel=1.28e-7",
   ftz(a) == 0 ? copysign(INFINITY, a) : 1 / sqrt((f64)a))
A1(sin_approx, "sin.approx.f32", "range=-3.14159~3.14159", "abs=6.75e-7", sin((f64)a))
A1(cos_approx, "cos.approx.f32", "range=-3.14159~3.14159", "abs=6.75e-7", cos((f64)a))
A1(sin_far, "sin.approx.ftz.f32", "range=-314~314", "abs=3.76e-5", sin((f64)a))
A1(cos_far, "cos.approx.ftz.f32", "range=-314~314", "abs=3.76e-5", cos((f64)a))
A1(lg2_approx, "lg2.approx.f32", "full", "abs=2.39e-7,rel=2.39e-7", log2((f64)a))
A1(lg2_near_one, "lg2.approx.f32", "range=0.5~2", "abs=2.39e-7", log2((f64)a))
A1(ex2_approx, "ex2.approx.f32", "range=-150~130", "rel=2.39e-7,ulp=2", exp2((f64)a))
A1(ex2_approx_ftz, "ex2.approx.ftz.f32", "full", "rel=2.39e-7,ulp=2", ftz((f32)exp2((f64)ftz(a))))
A1(tanh_approx, "tanh.approx.f32", "range=-10~10", "rel=4.9e-4", tanh((f64)a))
A1(tanh_special, "tanh.approx.f32", "full", "rel=4.9e-4", tanh((f64)a))

#define A2(name, text, fill, tol, ...)									\
	OP2(ptx_##name, f32, "f", f32, "f", f32, "f", text, (f32)(__VA_ARGS__))				\
	MAP2(name, f32, f32, f32, ptx_##name(a, b))							\
	CASE(name, d3(4), d3(128), 0, 1, "out:f32:512:" tol " in:f32:512:" fill " in:f32:512:" fill)
A2(div_approx, "div.approx.f32", "range=-1e15~1e15", "ulp=2", (f64)a / b)
A2(div_approx_ftz, "div.approx.ftz.f32", "range=-1e15~1e15", "ulp=2", (f64)a / b)
A2(div_full, "div.full.f32", "range=-1e15~1e15", "ulp=2", (f64)a / b)
A2(div_full_ftz, "div.full.ftz.f32", "range=-1~1", "ulp=2", (f64)a / b)

#define D1(name, text, tol, ...)									\
	OP1(ptx_##name, f64, "d", f64, "d", text, __VA_ARGS__)						\
	MAP1(name, f64, f64, ptx_##name(a))								\
	CASE(name, d3(2), d3(128), 0, 1, "out:f64:256:" tol " in:f64:256:range=0.0001~100000")
D1(rcp_approx_f64, "rcp.approx.ftz.f64", "rel=2e-6", 1 / a)
D1(rsqrt_approx_f64, "rsqrt.approx.f64", "rel=2e-6", 1 / sqrt(a))
D1(rsqrt_approx_ftz_f64, "rsqrt.approx.ftz.f64", "rel=2e-6", 1 / sqrt(a))
