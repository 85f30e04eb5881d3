// SPDX-License-Identifier: GPL-2.0
/*
 * The tables that a spec can name a row of: schedulers, dispatchers, mechanisms, policies,
 * backends. Listings read them, and a spec is checked against them before anything is built.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "gpu/dispatch.h"
#include "gpu/session.h"

bool gpu_list_row(const char *kind, unsigned int n, const char **name,
		  const char **help)
{
#define TABLE(word, rows)						\
	if (!strcmp(kind, word)) {					\
		for (unsigned int i = 0; rows[i]; i++) {		\
			if (i != n)					\
				continue;				\
			*name = rows[i]->name;				\
			*help = rows[i]->help;				\
			return true;					\
		}							\
		return false;						\
	}
	if (!strcmp(kind, "schedulers"))
		return sm_scheduler(n, name, help);
	TABLE("dispatchers", dispatch_rows)
	TABLE("mechanisms", sm_mechanism_rows)
	TABLE("prefetchers", prefetch_rows)
	TABLE("evictors", evict_rows)
	TABLE("backends", service_rows)
#undef TABLE
	return false;
}

const struct gpuemu_policy_option *gpu_list_options(const char *kind, unsigned int n)
{
	if (!strcmp(kind, "prefetchers"))
		return prefetch_rows[n]->options;
	if (!strcmp(kind, "evictors"))
		return evict_rows[n]->options;
	return NULL;
}

static int check_name(const char *kind, const char *key, const char *value,
		      struct err *err)
{
	const char *name, *help;
	char all[256] = "";
	size_t used = 0;

	for (unsigned int n = 0; gpu_list_row(kind, n, &name, &help); n++) {
		if (!strcmp(name, value))
			return 0;
		if (used < sizeof(all))
			used += (size_t)snprintf(all + used, sizeof(all) - used, "%s%s",
						 n ? ", " : "", name);
	}
	return err_set(err, -EINVAL, "%s: no %.*s '%s'; there are: %s", key,
		       (int)strlen(kind) - 1, kind, value, all);
}

int gpu_supports(const struct gpu *gpu, const struct gpu_spec *spec, struct err *err)
{
	const struct service_ops *ops = gpu->service->ops;

	if (spec->functional && !ops->managed)
		return err_set(err, -EOPNOTSUPP,
			       "gpu.functional: not with backend %s, whose pages have to move to be "
			       "used; use backend sim", ops->name);
	return 0;
}

int gpu_spec_check(const struct gpu_spec *spec, struct err *err)
{
	int ret;

	ret = check_name("schedulers", "sm.scheduler", spec->scheduler, err);
	if (!ret)
		ret = check_name("dispatchers", "gpu.dispatch", spec->dispatch, err);
	if (!ret)
		ret = check_name("mechanisms", "sm.cta", spec->cta, err);
	if (!ret && sm_mechanism_find(spec->cta)->check)
		ret = sm_mechanism_find(spec->cta)->check(spec, err);
	if (!ret)
		ret = paging_check_policies(spec, err);
	if (ret)
		return ret;
	if (spec->maxregs && spec->maxregs < PTX_MIN_MAXREGS)
		return err_set(err, -EINVAL,
			       "compiler.maxregs: %llu; %u to %u are possible, or 0",
			       (unsigned long long)spec->maxregs, PTX_MIN_MAXREGS,
			       PTX_MAX_MAXREGS);
	ret = spec_check(spec, err);
	if (ret)
		return ret;
	return 0;
}
