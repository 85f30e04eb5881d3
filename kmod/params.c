// SPDX-License-Identifier: GPL-2.0
/*
 * The module's parameters as a table: for the load, which replaces a bad value
 * by the default, and for netlink, which lists them and sets the live ones.
 */
#include <linux/log2.h>
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

#define X(_name, def, min, max, when, doc) \
	module_param_named(_name, gpuemu_params._name, uint, 0444); \
	MODULE_PARM_DESC(_name, doc);
#include "params.def"
#undef X

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

/* At load, before anybody can read or set one. */
void gpuemu_params_check(void)
{
	struct gpuemu_params *p = &gpuemu_params;
	const struct gpuemu_param_row *row;

	for (row = rows; row < rows + ARRAY_SIZE(rows); row++) {
		if (*row->value >= row->min && *row->value <= row->max)
			continue;
		pr_warn("%s=%u is not in %u .. %u; using %u\n", row->name,
			*row->value, row->min, row->max, row->def);
		*row->value = row->def;
	}
	row = gpuemu_param_find("fault_entries");
	if (row && !is_power_of_2(p->fault_entries)) {
		pr_warn("%s=%u is not a power of two; using %u\n", row->name,
			p->fault_entries, row->def);
		p->fault_entries = row->def;
	}
}
