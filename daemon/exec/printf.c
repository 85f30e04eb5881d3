// SPDX-License-Identifier: GPL-2.0
/*
 * What the device runtime gives a kernel: vprintf and __assertfail (CUDA C++
 * Programming Guide, "Formatted Output" and "Assertion"). Called by warp.c for
 * a call of one of these; what is written goes to the launch's print, lane by lane.
 *
 * The arguments are in a buffer that the caller laid out as a C structure: 4 or
 * 8 bytes each, naturally aligned; float became double. Here is read what can be without
 * touching global memory: the initial values of the module's own variables (formats, and what
 * assert says), constant, shared and local memory. Strings in global memory are the launch's
 * print_string to read.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "exec/private.h"

/* The calling lane, and the text that it has written so far. */
struct writer {
	const struct exec_warp *warp;
	uint32_t lane;
	char text[1024];
	size_t n;
};

static void flush(struct writer *w)
{
	const struct exec_launch *launch = w->warp->cta->launch;

	if (w->n && launch->print)
		launch->print(launch->print_ctx, w->text, w->n);
	w->n = 0;
}

static void put(struct writer *w, char c)
{
	if (w->n == sizeof(w->text))
		flush(w);
	w->text[w->n++] = c;
}

static void put_text(struct writer *w, const char *text, size_t n)
{
	while (n--)
		put(w, *text++);
}

static void put_spaces(struct writer *w, size_t width, size_t taken)
{
	while (width-- > taken)
		put(w, ' ');
}

/* --- the kernel's memory -------------------------------------------------------------- */

/* The host's address of a generic address and the bytes from there on; NULL: not readable here. */
static const uint8_t *look_at(const struct writer *w, uint64_t addr, uint64_t *bytes)
{
	const struct exec_cta *cta = w->warp->cta;
	const struct ptx_kernel *kernel = cta->launch->program->kernel;
	uint64_t thread = (uint64_t)w->warp->index * WARP_LANES + w->lane;
	const uint8_t *base = NULL;
	uint64_t limit = 0, start;

	if (addr - PTX_LOCAL_WINDOW < PTX_WINDOW_BYTES) {
		start = PTX_LOCAL_WINDOW;
		limit = cta->local ? kernel->local_bytes : 0;
		base = cta->local ? cta->local + thread * limit : NULL;
	} else if (addr - PTX_SHARED_WINDOW < PTX_WINDOW_BYTES) {
		start = PTX_SHARED_WINDOW;
		limit = cta->shared_bytes;
		base = cta->shared;
	} else if (addr - PTX_CONST_WINDOW < PTX_WINDOW_BYTES) {
		start = PTX_CONST_WINDOW;
		limit = kernel->const_bytes;
		base = kernel->const_data;
	} else if (kernel->owner) {
		start = ptx_module_global_base(kernel->owner);
		limit = ptx_module_global_bytes(kernel->owner, NULL);
		base = ptx_module_global_image(kernel->owner);
	} else {
		return NULL;
	}
	if (!base || addr - start >= limit)
		return NULL;
	*bytes = limit - (addr - start);
	return base + (addr - start);
}

/* Copies a string of the kernel's, cut to `size`; says where it is when it cannot be read. */
static void read_string(const struct writer *w, uint64_t addr, char *buf, size_t size)
{
	uint64_t limit = 0;
	const uint8_t *text = look_at(w, addr, &limit);
	size_t n;

	if (!text) {
		snprintf(buf, size, addr ? "(string at 0x%" PRIx64 ")" : "(null)", addr);
		return;
	}
	n = strnlen((const char *)text, MIN(limit, size - 1));
	memcpy(buf, text, n);
	buf[n] = '\0';
}

struct arguments {
	uint64_t addr;
	uint32_t offset, taken;
};

/* 0 when the buffer cannot be read: a kernel that brings too few arguments. */
static uint64_t next_argument(const struct writer *w, struct arguments *args, uint32_t bytes)
{
	uint64_t value = 0, limit = 0;
	const uint8_t *at;

	args->offset = (args->offset + bytes - 1) & ~(bytes - 1);
	at = look_at(w, args->addr + args->offset, &limit);
	if (at && limit >= bytes)
		memcpy(&value, at, bytes);
	args->offset += bytes;
	args->taken++;
	return value;
}

/* --- formats --------------------------------------------------------------------------- */

/* One conversion: %[flags][width][.precision][size]type. */
struct conversion {
	char flags[8];
	int width, precision;	/* -1: none */
	bool wide;
	uint8_t halved;		/* how many h: short, char */
	char type;
};

static int number(const struct writer *w, const char **p, struct arguments *args)
{
	int n = 0;

	if (**p == '*') {
		(*p)++;
		return (int32_t)next_argument(w, args, 4);
	}
	while (**p >= '0' && **p <= '9' && n < 100000)
		n = n * 10 + *(*p)++ - '0';
	return n;
}

/* Behind the conversion; its type is 0 when it is none that is known. */
static const char *parse(const struct writer *w, const char *p, struct conversion *c,
			 struct arguments *args)
{
	size_t n = 0;

	*c = (struct conversion){ .width = -1, .precision = -1 };
	for (; *p && strchr("-+ #0", *p); p++) {
		if (n + 1 < sizeof(c->flags) && !strchr(c->flags, *p))
			c->flags[n++] = *p;
	}
	if (*p == '*' || (*p >= '1' && *p <= '9')) {
		c->width = number(w, &p, args);
		/* C: a negative width of * is the flag and its size. */
		if (c->width < 0) {
			if (n + 1 < sizeof(c->flags))
				c->flags[n++] = '-';
			c->width = c->width == INT32_MIN ? INT32_MAX : -c->width;
		}
	}
	if (*p == '.') {
		p++;
		c->precision = number(w, &p, args);
		c->precision = MAX(c->precision, -1);
	}
	for (; *p && strchr("hlzjtL", *p); p++) {
		c->wide |= *p != 'h' && *p != 'L';
		c->halved += *p == 'h';
	}
	c->type = *p && strchr("diuoxXcspfFeEgGaA", *p) ? *p++ : 0;
	return p;
}

#define FORMATTED	512	/* bytes of one conversion at most; more is cut */

static bool is_global(uint64_t addr)
{
	return addr && addr - PTX_LOCAL_WINDOW >= PTX_WINDOW_BYTES &&
	       addr - PTX_SHARED_WINDOW >= PTX_WINDOW_BYTES &&
	       addr - PTX_CONST_WINDOW >= PTX_WINDOW_BYTES;
}

/* Writes a string of the kernel's, whole: it may be longer than what is formatted at once. */
static void put_string(struct writer *w, const struct conversion *c, uint64_t addr)
{
	const struct exec_launch *launch = w->warp->cta->launch;
	uint64_t limit = 0;
	const char *text = (const char *)look_at(w, addr, &limit);
	size_t n, width = MAX(c->width, 0);
	char none[40];

	if (launch->print_string && is_global(addr)) {
		const struct exec_string string = {
			.addr = addr, .width = width, .left = strchr(c->flags, '-'),
			.most = c->precision < 0 ? UINT64_MAX : (uint64_t)c->precision,
		};

		flush(w);
		launch->print_string(launch->print_ctx, &string);
		return;
	}
	if (!text) {
		/* Of NULL, nothing rather than a part. */
		limit = snprintf(none, sizeof(none), addr ? "(string at 0x%" PRIx64 ")" :
				 c->precision >= 0 && c->precision < 6 ? "" : "(null)", addr);
		text = none;
	}
	n = strnlen(text, c->precision < 0 ? limit : MIN(limit, (uint64_t)c->precision));
	if (!strchr(c->flags, '-'))
		put_spaces(w, width, n);
	put_text(w, text, n);
	if (strchr(c->flags, '-'))
		put_spaces(w, width, n);
}

static long long signed_of(const struct conversion *c, uint64_t value)
{
	if (c->wide)
		return (long long)value;
	return c->halved > 1 ? (int8_t)value : c->halved ? (int16_t)value : (int32_t)value;
}

static void convert(struct writer *w, const struct conversion *c, struct arguments *args)
{
	char format[24], buf[FORMATTED];
	int width = MIN(MAX(c->width, 0), FORMATTED - 1);
	int precision = MIN(c->precision, FORMATTED - 64);
	uint64_t value;
	double real;
	int n;

	snprintf(format, sizeof(format), "%%%s*.*%s%c", c->flags,
		 strchr("diuoxX", c->type) ? "ll" : "", c->type);
	switch (c->type) {
	case 'd':
	case 'i':
		value = next_argument(w, args, c->wide ? 8 : 4);
		n = snprintf(buf, sizeof(buf), format, width, precision, signed_of(c, value));
		break;
	case 'u':
	case 'o':
	case 'x':
	case 'X':
		value = next_argument(w, args, c->wide ? 8 : 4);
		value &= c->halved > 1 ? 0xff : c->halved ? 0xffff : UINT64_MAX;
		n = snprintf(buf, sizeof(buf), format, width, precision, (unsigned long long)value);
		break;
	case 'c':
		snprintf(format, sizeof(format), "%%%s*c", c->flags);
		n = snprintf(buf, sizeof(buf), format, width, (int)next_argument(w, args, 4));
		break;
	case 'p':
		snprintf(format, sizeof(format), "%%%s*p", c->flags);
		n = snprintf(buf, sizeof(buf), format, width,
			     (void *)(uintptr_t)next_argument(w, args, 8));
		break;
	case 's':
		put_string(w, c, next_argument(w, args, 8));
		return;
	default:
		value = next_argument(w, args, 8);
		memcpy(&real, &value, sizeof(real));
		n = snprintf(buf, sizeof(buf), format, width, precision, real);
		break;
	}
	put_text(w, buf, MIN(MAX(n, 0), FORMATTED - 1));
}

static uint32_t print_lane(struct writer *w, uint64_t format, uint64_t buffer)
{
	struct arguments args = { .addr = buffer };
	struct conversion conversion;
	char text[4096];
	const char *p = text, *start;

	if (!format)
		return -1;
	read_string(w, format, text, sizeof(text));
	while (*p) {
		if (*p != '%') {
			put(w, *p++);
			continue;
		}
		if (p[1] == '%') {
			put(w, '%');
			p += 2;
			continue;
		}
		start = p;
		p = parse(w, p + 1, &conversion, &args);
		if (conversion.type)
			convert(w, &conversion, &args);
		else
			put_text(w, start, p - start);
	}
	return args.taken;
}

/* --- calls ------------------------------------------------------------------------------ */

static uint64_t argument(const struct exec_warp *warp, const struct ptx_call *call, uint32_t i,
			 uint32_t lane)
{
	const struct exec_program *program = program_of(warp);
	const struct ptx_operand *arg = &call->args[i];

	if (i >= call->nargs)
		return 0;
	if (arg->kind != PTX_OPND_REG)
		return arg->value;
	if (ptx_type_bytes(program->kernel->regs[arg->reg].type) > 4)
		return row64(warp->arena, program->reg_row[arg->reg])[lane];
	return row32(warp->arena, program->reg_row[arg->reg])[lane];
}

static void print(struct exec_warp *warp, const struct ptx_call *call, uint32_t mask)
{
	const struct exec_program *program = program_of(warp);
	struct writer w = { .warp = warp };
	uint32_t rest, result, row = NO_ROW;

	if (call->nresults && call->results[0] != PTX_NO_REG)
		row = program->reg_row[call->results[0]];
	for (rest = mask; rest; rest &= rest - 1) {
		w.lane = __builtin_ctz(rest);
		result = print_lane(&w, argument(warp, call, 0, w.lane),
				    argument(warp, call, 1, w.lane));
		/* A result that nobody reads goes to the row that nobody reads. */
		row32(warp->arena, row)[w.lane] = result;
	}
	flush(&w);
}

static enum exec_outcome assertion(struct exec_warp *warp, const struct ptx_call *call,
				   uint32_t mask, struct err *err)
{
	const uint32_t *block = warp->cta->launch->block, *ctaid = warp->cta->ctaid;
	struct writer w = { .warp = warp };
	char what[160], file[120], function[120], text[512];
	uint32_t rest, thread;
	bool first = true;
	int n;

	for (rest = mask; rest; rest &= rest - 1) {
		w.lane = __builtin_ctz(rest);
		thread = warp->index * WARP_LANES + w.lane;
		read_string(&w, argument(warp, call, 0, w.lane), what, sizeof(what));
		read_string(&w, argument(warp, call, 1, w.lane), file, sizeof(file));
		read_string(&w, argument(warp, call, 3, w.lane), function, sizeof(function));
		n = snprintf(text, sizeof(text),
			     "%s:%u: %s: block: [%u,%u,%u], thread: [%u,%u,%u] Assertion `%s` failed.",
			     file, (uint32_t)argument(warp, call, 2, w.lane), function, ctaid[0],
			     ctaid[1], ctaid[2], thread % block[0], thread / block[0] % block[1],
			     thread / block[0] / block[1], what);
		/* The first ends the kernel; the others would be lost. */
		if (first)
			err_set(err, 0, "%s", text);
		first = false;
		put_text(&w, text, MIN((size_t)n, sizeof(text) - 1));
		put(&w, '\n');
	}
	flush(&w);
	return EXEC_TRAP;
}

enum exec_outcome builtin_step(struct exec_warp *warp, const struct exec_op *op, uint32_t mask,
			       struct err *err)
{
	const struct ptx_call *call = &program_of(warp)->kernel->calls[op->target];

	if (call->builtin == PTX_BUILTIN_ASSERTFAIL)
		return assertion(warp, call, mask, err);
	print(warp, call, mask);
	stack_advance(warp);
	return EXEC_NEXT;
}
