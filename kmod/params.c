// SPDX-License-Identifier: GPL-2.0
/*
 * The module's parameters as a table: for the load, which takes the nearest
 * allowed value for a bad one and goes on, and for netlink, which lists them and
 * sets the live ones.
 */
#include <linux/kernel.h>
#include <linux/log2.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/string.h>

#include "params.h"

#undef pr_fmt
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

struct gpuemu_params gpuemu_params = {
#define X(name, def, min, max, when, doc) .name = def,
#include "params.def"
#undef X
};

#define FIXED false
#define LIVE true
static const struct gpuemu_param_row rows[] = {
#define X(_name, _def, _min, _max, when, _doc) \
	{ .name = #_name, .doc = _doc, .value = &gpuemu_params._name, \
	  .def = _def, .min = _min, .max = _max, .live = when },
#include "params.def"
#undef X
};
#undef FIXED
#undef LIVE

/* NULL past the end. */
const struct gpuemu_param_row *gpuemu_param_row(unsigned int n)
{
	return n < ARRAY_SIZE(rows) ? &rows[n] : NULL;
}

const struct gpuemu_param_row *gpuemu_param_find(const char *name)
{
	const struct gpuemu_param_row *row;

	for (row = rows; row < rows + ARRAY_SIZE(rows); row++)
		if (!strcmp(row->name, name))
			return row;
	return NULL;
}

/*
 * The memory that can be asked for at most, in MiB: what is too much is so much of
 * the memory there is that the other half of what main.c allows is left.
 */
static unsigned int most_of(const struct gpuemu_param_row *row)
{
	unsigned long mb = totalram_pages() / 8 * 3 >> (20 - PAGE_SHIFT);

	if (row->value != &gpuemu_params.vram_mb &&
	    row->value != &gpuemu_params.pt_mb)
		return row->max;
	return clamp_t(unsigned long, mb, row->min, row->max);
}

static bool is_allowed(const struct gpuemu_param_row *row, long long n)
{
	if (n < row->min || n > row->max)
		return false;
	return row->value != &gpuemu_params.fault_entries || is_power_of_2(n);
}

/* Of two powers of two that are as near, the larger. */
static unsigned int nearest_power(unsigned int n)
{
	unsigned int below = rounddown_pow_of_two(n), above = 2 * below;

	return n - below < above - n ? below : above;
}

static unsigned int nearest_allowed(const struct gpuemu_param_row *row,
				    long long n)
{
	if (n < row->min)
		return row->min;
	if (n > row->max)
		return most_of(row);
	return nearest_power(n);
}

/* At load, before anybody can read or set one. Never fails it. */
static int param_load(const char *text, const struct kernel_param *kp)
{
	const struct gpuemu_param_row *row = kp->arg;
	long long n;
	int ret = text ? kstrtoll(text, 0, &n) : -EINVAL;

	if (ret == -ERANGE) {
		n = *text == '-' ? LLONG_MIN : LLONG_MAX;
	} else if (ret) {
		pr_warn("%s=%s is not a number; using %u\n", row->name,
			text ?: "", *row->value);
		return 0;
	}
	if (is_allowed(row, n)) {
		*row->value = n;
		return 0;
	}
	*row->value = nearest_allowed(row, n);
	pr_warn("%s=%s is not %s%u .. %u; using %u\n", row->name, text,
		row->value == &gpuemu_params.fault_entries ?
		"a power of two in " : "in ", row->min, row->max, *row->value);
	return 0;
}

static int param_show(char *text, const struct kernel_param *kp)
{
	const struct gpuemu_param_row *row = kp->arg;

	return sysfs_emit(text, "%u\n", READ_ONCE(*row->value));
}

static const struct kernel_param_ops param_ops_row = {
	.flags = KERNEL_PARAM_OPS_FL_NOARG,
	.set = param_load,
	.get = param_show,
};

/* Where a row is in the table. */
enum {
#define X(_name, def, min, max, when, doc) ROW_##_name,
#include "params.def"
#undef X
};

#define X(_name, def, min, max, when, doc) \
	module_param_cb(_name, &param_ops_row, (void *)&rows[ROW_##_name], 0444); \
	__MODULE_PARM_TYPE(_name, "uint"); \
	MODULE_PARM_DESC(_name, doc);
#include "params.def"
#undef X
