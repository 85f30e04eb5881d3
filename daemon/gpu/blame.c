// SPDX-License-Identifier: GPL-2.0
/*
 * Names the access at fault, which waits for a page that cannot come, in the words of the
 * program. Called where a kernel ends by it.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "gpu/machine.h"
#include "gpu/run.h"

/* A forbidden access is one error, with two texts. */
static int fault_status(int code)
{
	return code == -EACCES ? -EFAULT : code;
}

int blame_access(struct run *r, uint64_t page, int code)
{
	const struct ptx_kernel *kernel = r->kernel;
	struct machine *m = r->m;
	struct err *err = &r->err;
	struct sm_waiting lowest = { .addr = UINT64_MAX }, w;
	bool found = false;
	char why[128];

	for (unsigned int i = 0; i < m->nsms; i++) {
		if (!sm_find_waiting(m->sms[i], page, &w))
			continue;
		if (!found || w.addr < lowest.addr)
			lowest = w;
		found = true;
	}
	r->fault_addr = found ? lowest.addr : page;
	if (!found)
		return err_set(err, fault_status(code), "kernel '%s': page 0x%llx: %s", kernel->name,
			       (unsigned long long)page, strerror(-code));
	if (code == -EFAULT)
		snprintf(why, sizeof(why), "is outside managed memory");
	else if (code == -EACCES)
		snprintf(why, sizeof(why),
			 "is in managed memory that is not readable and writable (mprotect)");
	else
		snprintf(why, sizeof(why), "cannot be moved to device memory (%s)",
			 strerror(-code));
	return err_set(err, fault_status(code), "kernel '%s': %u-byte %s at 0x%llx %s (%s line %u, %s)",
		       kernel->name, lowest.bytes, lowest.what,
		       (unsigned long long)lowest.addr, why, kernel->module, lowest.line,
		       lowest.thread);
}
