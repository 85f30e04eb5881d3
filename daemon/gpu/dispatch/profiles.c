// SPDX-License-Identifier: GPL-2.0
/* The profiles of kernels that have run, for dispatch dynamic; see profiles.h. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gpu/dispatch/profiles.h"

/* Kernels that are kept; the oldest goes. */
#define PROFILES	64u

/* A kernel of the same name and needs is the same kernel. */
struct profile {
	char name[64];
	struct sm_needs needs;
	struct sampled sampled;
};

struct profiles {
	struct profile all[PROFILES];
	unsigned int n, oldest;
};

void profiles_end_wait(struct sampled *p)
{
	p->waits = false;
	p->failed = p->calm = 0;
}

struct profiles *profiles_create(void)
{
	return calloc(1, sizeof(struct profiles));
}

void profiles_destroy(struct profiles *all)
{
	free(all);
}

/* Its number; all->n: it is not kept. */
static unsigned int find(const struct profiles *all, const struct dispatch_kernel *k)
{
	struct sm_needs needs = sm_kernel_needs(k->kernel);
	unsigned int i;

	for (i = 0; i < all->n; i++) {
		const struct profile *p = &all->all[i];

		if (!strncmp(p->name, k->name, sizeof(p->name) - 1) &&
		    p->needs.warps == needs.warps && p->needs.registers == needs.registers &&
		    p->needs.shared_bytes == needs.shared_bytes)
			break;
	}
	return i;
}

const struct sampled *profiles_find(const struct profiles *all, const struct dispatch_kernel *k)
{
	unsigned int i = find(all, k);

	return i < all->n ? &all->all[i].sampled : NULL;
}

void profiles_keep(struct profiles *all, const struct dispatch_kernel *k,
		   const struct sampled *sampled)
{
	unsigned int i = find(all, k);
	struct profile *p;

	if (i == all->n && all->n < PROFILES)
		all->n++;
	else if (i == all->n)
		i = all->oldest++ % PROFILES;
	p = &all->all[i];
	snprintf(p->name, sizeof(p->name), "%s", k->name);
	p->needs = sm_kernel_needs(k->kernel);
	p->sampled = *sampled;
}

void profiles_end_waits(struct profiles *all)
{
	for (unsigned int i = 0; i < all->n; i++)
		profiles_end_wait(&all->all[i].sampled);
}
