/* SPDX-License-Identifier: GPL-2.0 */
/* --advise: what a run says of its workload's buffers before its kernels run. */
#ifndef GPUEMU_TOOLS_ADVISE_H
#define GPUEMU_TOOLS_ADVISE_H

#include "workload.h"

#define ADVISE_MAX	8u	/* options of one run */

struct advise {
	unsigned int count;
	struct advise_rule {
		enum gpuemu_advice advice;
		int location;
		bool inputs, others;	/* the buffers that get it */
	} rules[ADVISE_MAX];
};

/* "accessed-by", or "read-mostly=inputs". -EINVAL: err lists what there is. */
int advise_parse(struct advise *a, const char *text, struct err *err);
/* Behind setup: w->err. */
int advise_workload(const struct advise *a, struct workload *w);

#endif
