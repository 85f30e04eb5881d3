// SPDX-License-Identifier: GPL-2.0
/* The arguments of a kernel: see buffers.h. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "base/rng.h"
#include "buffers.h"

static const struct {
	const char *name;
	unsigned int bytes;
	int precision;		/* floats: with the hidden bit */
} elements[] = {
	[E_U8] = { "u8", 1 }, [E_S8] = { "s8", 1 }, [E_U16] = { "u16", 2 }, [E_S16] = { "s16", 2 },
	[E_U32] = { "u32", 4 }, [E_S32] = { "s32", 4 }, [E_U64] = { "u64", 8 }, [E_S64] = { "s64", 8 },
	[E_F16] = { "f16", 2, 11 }, [E_BF16] = { "bf16", 2, 8 },
	[E_F32] = { "f32", 4, 24 }, [E_F64] = { "f64", 8, 53 },
};

static bool is_signed(enum element e)
{
	return e == E_S8 || e == E_S16 || e == E_S32 || e == E_S64;
}

static bool element_of(const char *text, size_t length, enum element *e)
{
	for (size_t i = 0; i < ARRAY_SIZE(elements); i++) {
		if (strlen(elements[i].name) == length && !memcmp(text, elements[i].name, length)) {
			*e = i;
			return true;
		}
	}
	return false;
}

static bool tolerance(struct argument *arg, char *text)
{
	char *end;

	for (char *t = strtok_r(text, ",", &end); t; t = strtok_r(NULL, ",", &end)) {
		double v = strchr(t, '=') ? atof(strchr(t, '=') + 1) : -1;

		if (v < 0)
			return false;
		if (!strncmp(t, "ulp=", 4))
			arg->ulp = v;
		else if (!strncmp(t, "abs=", 4))
			arg->absolute = v;
		else if (!strncmp(t, "rel=", 4))
			arg->relative = v;
		else
			return false;
	}
	return true;
}

static bool is_fill(const char *t)
{
	static const char *const names[] = { "iota", "zero", "small", "unit", "int", "fin", "full" };
	double low, high;

	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		if (!strcmp(t, names[i]))
			return true;
	}
	return !strncmp(t, "lt=", 3) || sscanf(t, "range=%lf~%lf", &low, &high) == 2;
}

static bool is_tolerance(const char *t)
{
	return !strncmp(t, "ulp=", 4) || !strncmp(t, "abs=", 4) || !strncmp(t, "rel=", 4);
}

static void store(enum element e, void *at, uint64_t v)
{
	memcpy(at, &v, elements[e].bytes);
}

static bool scalar(struct argument *arg, char *text)
{
	char *equals = strchr(text, '=');

	if (!equals || !element_of(text, equals - text, &arg->element))
		return false;
	arg->bytes = elements[arg->element].bytes;
	if (arg->element == E_F32) {
		float v = strtof(equals + 1, NULL);

		memcpy(arg->value, &v, 4);
	} else if (arg->element == E_F64) {
		double v = strtod(equals + 1, NULL);

		memcpy(arg->value, &v, 8);
	} else {
		store(arg->element, arg->value, equals[1] == '-' ?
		      (uint64_t)strtoll(equals + 1, NULL, 0) : strtoull(equals + 1, NULL, 0));
	}
	return true;
}

static void row_rng(struct rng *rng, const struct diff_case *c, unsigned int index)
{
	uint64_t seed = c->seed * 1000003 + index;

	for (const char *p = c->name; *p; p++)
		seed = seed * 131 + (unsigned char)*p;
	rng_seed(rng, seed);
}

static bool parse_one(struct arguments *args, const struct diff_case *c, char *text)
{
	struct argument *arg = &args->arg[args->n];
	unsigned int align;
	struct rng rng;
	char *end, *t;

	arg->ulp = arg->absolute = arg->relative = -1;
	if (!strncmp(text, "struct:", 7)) {
		arg->bytes = strtoul(text + 7, &end, 10);
		align = *end == ':' ? atoi(end + 1) : 0;
		if (!align || !arg->bytes || arg->bytes > sizeof(arg->value))
			return false;
		row_rng(&rng, c, args->n);
		for (size_t i = 0; i < arg->bytes; i++)
			arg->value[i] = rng_next(&rng);
	} else if (!strchr(text, ':')) {
		if (!scalar(arg, text))
			return false;
		align = arg->bytes;
	} else {
		t = strtok_r(text, ":", &end);
		arg->is_buffer = true;
		arg->is_input = strcmp(t, "out") != 0;
		if (arg->is_input && strcmp(t, "in") && strcmp(t, "io"))
			return false;
		t = strtok_r(NULL, ":", &end);
		if (!t || !element_of(t, strlen(t), &arg->element))
			return false;
		t = strtok_r(NULL, ":", &end);
		if (!t || !(arg->count = atoi(t)))
			return false;
		arg->bytes = (size_t)arg->count * elements[arg->element].bytes;
		while ((t = strtok_r(NULL, ":", &end))) {
			if (is_fill(t))
				snprintf(arg->fill, sizeof(arg->fill), "%s", t);
			else if (!is_tolerance(t) || !tolerance(arg, t))
				return false;
		}
		align = 8;
	}
	args->param_bytes = DIV_ROUND_UP(args->param_bytes, align) * align;
	arg->offset = args->param_bytes;
	args->param_bytes += arg->is_buffer ? 8 : arg->bytes;
	args->n++;
	return args->param_bytes <= MAX_PARAM_BYTES;
}

bool arguments_parse(struct arguments *args, const struct diff_case *c, char *why, size_t bytes)
{
	char text[1024], one[256], *end;

	memset(args, 0, sizeof(*args));
	snprintf(text, sizeof(text), "%s", c->args);
	for (char *t = strtok_r(text, " ", &end); t; t = strtok_r(NULL, " ", &end)) {
		snprintf(one, sizeof(one), "%s", t);
		if (args->n == MAX_ARGS || !parse_one(args, c, t)) {
			snprintf(why, bytes, "the row's argument `%s` cannot be read", one);
			return false;
		}
	}
	return true;
}

void arguments_free(struct arguments *args)
{
	for (unsigned int i = 0; i < args->n; i++)
		free(args->arg[i].expected);
}

/* Values where things go wrong: the edges of the type, powers of two and their neighbours. */
static uint64_t edge_integer(struct rng *rng, unsigned int bits)
{
	static const uint64_t edges[] = { 0, 1, 2, ~0ull, ~1ull, 0x7fffffffffffffff,
					  0x8000000000000000, 31, 32, 33, 63, 64 };
	uint64_t v;

	switch (rng_below(rng, 4)) {
	case 0:
		v = edges[rng_below(rng, ARRAY_SIZE(edges))];
		/* The edges of the narrow type are the top ones, shifted down. */
		return v == 0x7fffffffffffffff ? v >> (64 - bits) : v == 0x8000000000000000 ?
			v >> (64 - bits) : v;
	case 1:
		v = 1ull << rng_below(rng, bits);
		return v + rng_below(rng, 3) - 1;
	case 2:
		v = rng_next(rng) >> rng_below(rng, 64);
		return rng_below(rng, 2) ? v : -v;
	default:
		return rng_next(rng);
	}
}

static uint64_t fill_integer(const struct argument *arg, struct rng *rng, unsigned int i)
{
	if (!strcmp(arg->fill, "iota"))
		return i;
	if (!strcmp(arg->fill, "zero"))
		return 0;
	if (!strcmp(arg->fill, "small"))
		return rng_below(rng, 16);
	if (!strncmp(arg->fill, "lt=", 3))
		return rng_below(rng, atoi(arg->fill + 3));
	return edge_integer(rng, 8 * elements[arg->element].bytes);
}

static double uniform(struct rng *rng)
{
	return (rng_next(rng) >> 11) * 0x1p-53;
}

/* Bits of a float of `total` bits: NaN, infinities, zeros, subnormals, ties, anything. */
static uint64_t any_float(struct rng *rng, unsigned int total, int precision, bool finite)
{
	uint64_t sign = rng_below(rng, 2) << (total - 1), fraction, field;
	uint64_t top = (1ull << (total - precision)) - 1, bias = top / 2;
	uint64_t mask = (1ull << (precision - 1)) - 1;

	fraction = rng_next(rng) & mask;
	switch (rng_below(rng, 10)) {
	case 0: field = 0; fraction = 0; break;
	case 1: field = 0; break;
	case 2: field = 1 + rng_below(rng, 3); break;
	case 3: field = top - 1 - rng_below(rng, 3); break;
	case 4:
		field = finite ? bias : top;
		fraction = rng_below(rng, 2) ? fraction : 0;
		break;
	case 5: field = 1 + rng_below(rng, top - 1); break;
	case 6: /* few bits: exact results and ties */
		field = bias - 4 + rng_below(rng, 8);
		fraction &= mask ^ (mask >> (1 + rng_below(rng, 4)));
		break;
	default: field = bias - 6 + rng_below(rng, 12); break;
	}
	return sign | field << (precision - 1) | fraction;
}

static void fill_float(const struct argument *arg, struct rng *rng, unsigned int i, void *at)
{
	unsigned int bits = 8 * elements[arg->element].bytes;
	double low, high, v;
	float f;

	if (!strcmp(arg->fill, "unit"))
		v = uniform(rng);
	else if (!strcmp(arg->fill, "int"))
		v = (double)rng_below(rng, 64) - 32;
	else if (!strcmp(arg->fill, "zero"))
		v = 0;
	else if (!strcmp(arg->fill, "iota"))
		v = i;
	else if (sscanf(arg->fill, "range=%lf~%lf", &low, &high) == 2)
		v = low + (high - low) * uniform(rng);
	else {
		store(arg->element, at, any_float(rng, bits, elements[arg->element].precision,
						  !strcmp(arg->fill, "fin")));
		return;
	}
	f = v;
	if (arg->element == E_F64) {
		memcpy(at, &v, 8);
	} else if (arg->element == E_F32) {
		memcpy(at, &f, 4);
	} else if (arg->element == E_BF16) {
		memcpy(at, (char *)&f + 2, 2);
	} else {
		/* f16, truncated: f32's bits but for three of the exponent's. */
		uint32_t bits32;
		int exponent;

		memcpy(&bits32, &f, 4);
		exponent = (int)(bits32 >> 23 & 255) - 112;
		bits32 = (bits32 >> 16 & 0x8000) |
			 (exponent <= 0 ? 0 : exponent > 30 ? 0x7bff :
			  (unsigned int)exponent << 10 | (bits32 >> 13 & 0x3ff));
		store(E_F16, at, bits32);
	}
}

void argument_fill(const struct argument *arg, const struct diff_case *c, unsigned int index,
		   void *buffer)
{
	unsigned int bytes = elements[arg->element].bytes;
	struct rng rng;

	row_rng(&rng, c, index);
	if (!arg->is_input) {
		memset(buffer, 0xa5, arg->bytes);
		return;
	}
	for (unsigned int i = 0; i < arg->count; i++) {
		uint8_t *at = (uint8_t *)buffer + (size_t)i * bytes;

		if (elements[arg->element].precision)
			fill_float(arg, &rng, i, at);
		else
			store(arg->element, at, fill_integer(arg, &rng, i));
	}
}

static uint64_t load(enum element e, const void *at)
{
	uint64_t v = 0;

	memcpy(&v, at, elements[e].bytes);
	return v;
}

static bool float_is_nan(enum element e, uint64_t v)
{
	unsigned int bits = 8 * elements[e].bytes;
	uint64_t infinity = ((1ull << (bits - elements[e].precision)) - 1) <<
			    (elements[e].precision - 1);

	return (v & ~(1ull << (bits - 1))) > infinity;
}

static double float_value(enum element e, uint64_t v)
{
	unsigned int bits = 8 * elements[e].bytes;
	int precision = elements[e].precision;
	uint64_t top = (1ull << (bits - precision)) - 1, field = v >> (precision - 1) & top;
	double fraction = v & ((1ull << (precision - 1)) - 1);
	int exponent = (field ? (int)field : 1) - (int)(top / 2) - (precision - 1);
	double r;

	if (float_is_nan(e, v))
		return NAN;
	r = field == top ? INFINITY :
	    ldexp(fraction + (field ? ldexp(1, precision - 1) : 0), exponent);
	return v >> (bits - 1) ? -r : r;
}

static bool near_enough(const struct argument *arg, uint64_t want, uint64_t got)
{
	enum element e = arg->element;
	unsigned int bits = 8 * elements[e].bytes;
	double w = float_value(e, want), g = float_value(e, got);
	uint64_t magnitude = ~(1ull << (bits - 1)) & (bits == 64 ? ~0ull : (1ull << bits) - 1);

	if (float_is_nan(e, want) || float_is_nan(e, got))
		return float_is_nan(e, want) && float_is_nan(e, got);
	/* Neighbours in a format are neighbours as integers, infinity included. */
	if (arg->ulp >= 0 && want >> (bits - 1) == got >> (bits - 1) &&
	    fabs((double)(want & magnitude) - (double)(got & magnitude)) <= arg->ulp)
		return true;
	if (isinf(w) || isinf(g))
		return w == g;
	return w == g || (arg->absolute >= 0 && fabs(w - g) <= arg->absolute) ||
	       (arg->relative >= 0 && fabs(w - g) <= arg->relative * fabs(w));
}

bool argument_judge(const struct argument *arg, unsigned int index, const void *got, char *why,
		    size_t size)
{
	enum element e = arg->element;
	unsigned int bytes = elements[e].bytes, wrong = 0, first = 0, shift;
	bool is_float = elements[e].precision, loose;
	uint64_t w, g;

	loose = arg->ulp >= 0 || arg->absolute >= 0 || arg->relative >= 0;
	for (unsigned int i = 0; i < arg->count; i++) {
		w = load(e, arg->expected + (size_t)i * bytes);
		g = load(e, (const uint8_t *)got + (size_t)i * bytes);
		if (w == g || (is_float && float_is_nan(e, w) && float_is_nan(e, g)) ||
		    (loose && is_float && near_enough(arg, w, g)))
			continue;
		if (!wrong++)
			first = i;
	}
	if (!wrong)
		return true;
	w = load(e, arg->expected + (size_t)first * bytes);
	g = load(e, (const uint8_t *)got + (size_t)first * bytes);
	shift = 64 - 8 * bytes;
	if (is_float)
		snprintf(why, size, "argument %u [%u] %s: expected 0x%llx (%.9g), got 0x%llx (%.9g); %u of %u differ",
			 index, first, elements[e].name, (unsigned long long)w, float_value(e, w),
			 (unsigned long long)g, float_value(e, g), wrong, arg->count);
	else
		snprintf(why, size, "argument %u [%u] %s: expected 0x%llx (%lld), got 0x%llx (%lld); %u of %u differ",
			 index, first, elements[e].name, (unsigned long long)w,
			 is_signed(e) ? (long long)(w << shift) >> shift : (long long)w,
			 (unsigned long long)g,
			 is_signed(e) ? (long long)(g << shift) >> shift : (long long)g,
			 wrong, arg->count);
	return false;
}

void arguments_params(const struct arguments *args, void *const *buffers, uint8_t *params)
{
	memset(params, 0, MAX_PARAM_BYTES);
	for (unsigned int i = 0; i < args->n; i++) {
		const struct argument *arg = &args->arg[i];

		if (arg->is_buffer)
			memcpy(params + arg->offset, &buffers[i], 8);
		else
			memcpy(params + arg->offset, arg->value, arg->bytes);
	}
}
