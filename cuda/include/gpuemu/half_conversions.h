/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Conversions of __half and __nv_bfloat16, whose names have the type's in them: GPUEMU_N, half or
 * bfloat16. Included once for each type, behind half_functions.h.
 */

#define GPUEMU_PASTE_NOW(a, b, c)	a##b##c
#define GPUEMU_PASTE(a, b, c)		GPUEMU_PASTE_NOW(a, b, c)
#define GPUEMU_F(before, behind)	GPUEMU_PASTE(before, GPUEMU_N, behind)

GPUEMU_BOTH GPUEMU_H GPUEMU_F(__float2, _rn)(float f) { return GPUEMU_H(f); }
GPUEMU_BOTH GPUEMU_H GPUEMU_F(__double2, )(double d) { return GPUEMU_H(d); }
GPUEMU_BOTH GPUEMU_H2 GPUEMU_F(__float2, 2_rn)(float f)
{
	return GPUEMU_H2(GPUEMU_H(f), GPUEMU_H(f));
}
GPUEMU_BOTH GPUEMU_H2 GPUEMU_F(__floats2, 2_rn)(float a, float b)
{
	return GPUEMU_H2(GPUEMU_H(a), GPUEMU_H(b));
}
GPUEMU_BOTH GPUEMU_H2 GPUEMU_F(__float22, 2_rn)(float2 f)
{
	return GPUEMU_H2(GPUEMU_H(f.x), GPUEMU_H(f.y));
}
GPUEMU_BOTH float2 GPUEMU_F(__, 22float2)(GPUEMU_H2 h)
{
	return make_float2(GPUEMU_VALUE(h.x), GPUEMU_VALUE(h.y));
}
GPUEMU_BOTH float __low2float(GPUEMU_H2 h) { return GPUEMU_VALUE(h.x); }
GPUEMU_BOTH float __high2float(GPUEMU_H2 h) { return GPUEMU_VALUE(h.y); }
GPUEMU_BOTH GPUEMU_H GPUEMU_F(__low2, )(GPUEMU_H2 h) { return h.x; }
GPUEMU_BOTH GPUEMU_H GPUEMU_F(__high2, )(GPUEMU_H2 h) { return h.y; }
GPUEMU_BOTH GPUEMU_H2 GPUEMU_PASTE(GPUEMU_F(__, 2), GPUEMU_N, 2)(GPUEMU_H h)
{
	return GPUEMU_H2(h, h);
}
GPUEMU_BOTH GPUEMU_H2 GPUEMU_F(__halves2, 2)(GPUEMU_H a, GPUEMU_H b) { return GPUEMU_H2(a, b); }
GPUEMU_BOTH GPUEMU_H2 GPUEMU_F(make_, 2)(GPUEMU_H a, GPUEMU_H b) { return GPUEMU_H2(a, b); }
GPUEMU_BOTH GPUEMU_H2 GPUEMU_F(__low2, 2)(GPUEMU_H2 h) { return GPUEMU_H2(h.x, h.x); }
GPUEMU_BOTH GPUEMU_H2 GPUEMU_F(__high2, 2)(GPUEMU_H2 h) { return GPUEMU_H2(h.y, h.y); }
GPUEMU_BOTH GPUEMU_H2 __lowhigh2highlow(GPUEMU_H2 h) { return GPUEMU_H2(h.y, h.x); }
GPUEMU_BOTH GPUEMU_H2 GPUEMU_F(__lows2, 2)(GPUEMU_H2 a, GPUEMU_H2 b)
{
	return GPUEMU_H2(a.x, b.x);
}
GPUEMU_BOTH GPUEMU_H2 GPUEMU_F(__highs2, 2)(GPUEMU_H2 a, GPUEMU_H2 b)
{
	return GPUEMU_H2(a.y, b.y);
}
GPUEMU_BOTH unsigned short GPUEMU_F(__, _as_ushort)(GPUEMU_H h) { return h.__x; }
GPUEMU_BOTH short GPUEMU_F(__, _as_short)(GPUEMU_H h) { return (short)h.__x; }
GPUEMU_BOTH GPUEMU_H GPUEMU_F(__ushort_as_, )(unsigned short n)
{
	return GPUEMU_H(GPUEMU_RAW{ n });
}
GPUEMU_BOTH GPUEMU_H GPUEMU_F(__short_as_, )(short n)
{
	return GPUEMU_H(GPUEMU_RAW{ (unsigned short)n });
}

/* To integers: to nearest even, towards zero, down, up; out of range is the nearest there is. */
#define GPUEMU_ROUNDED(name, type, least, most, how, round)					\
	GPUEMU_BOTH type GPUEMU_F(__, 2##name##how)(GPUEMU_H h)					\
	{											\
		return gpuemu::clamp<type>(round(GPUEMU_VALUE(h)), least, most);		\
	}
#define GPUEMU_INTEGER(name, type, least, most)							\
	GPUEMU_ROUNDED(name, type, least, most, _rn, rintf)					\
	GPUEMU_ROUNDED(name, type, least, most, _rz, truncf)					\
	GPUEMU_ROUNDED(name, type, least, most, _rd, floorf)					\
	GPUEMU_ROUNDED(name, type, least, most, _ru, ceilf)					\
	GPUEMU_BOTH GPUEMU_H GPUEMU_F(__##name##2, _rn)(type n) { return GPUEMU_H(n); }
GPUEMU_INTEGER(int, int, -0x7fffffff - 1, 0x7fffffff)
GPUEMU_INTEGER(uint, unsigned int, 0, 0xffffffffu)
GPUEMU_INTEGER(short, short, -32768, 32767)
GPUEMU_INTEGER(ushort, unsigned short, 0, 65535)
GPUEMU_INTEGER(ll, long long, -0x7fffffffffffffffll - 1, 0x7fffffffffffffffll)
GPUEMU_INTEGER(ull, unsigned long long, 0, 0xffffffffffffffffull)
#undef GPUEMU_INTEGER
#undef GPUEMU_ROUNDED
#undef GPUEMU_F
#undef GPUEMU_PASTE
#undef GPUEMU_PASTE_NOW
