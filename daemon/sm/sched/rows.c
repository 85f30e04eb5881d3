// SPDX-License-Identifier: GPL-2.0
/*
 * The table of warp schedulers, from sm/sched.def. Looked up by the SM when it
 * is created and by listings.
 */
#include <string.h>

#include "sm/build.h"
#include "sm/sched/rows.h"
#include "sm/sm.h"

const struct sched_ops *const sched_rows[] = {
#define X(name) &sched_##name,
#include "sm/sched.def"
#undef X
	NULL
};

const struct sched_ops *sched_find(const char *name)
{
	for (unsigned int i = 0; sched_rows[i]; i++) {
		if (!strcmp(sched_rows[i]->name, name))
			return sched_rows[i];
	}
	return NULL;
}

bool sm_scheduler(unsigned int n, const char **name, const char **help)
{
	if (n >= ARRAY_SIZE(sched_rows) - 1)
		return false;
	*name = sched_rows[n]->name;
	*help = sched_rows[n]->help;
	return true;
}
