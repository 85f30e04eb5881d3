/* SPDX-License-Identifier: GPL-2.0 */
/*
 * How a process of nobody begins and ends to filter its system calls (libseccomp). Which calls
 * it allows or refuses is its own: the loader's (daemon/loader_process.c) and a policy's
 * (policy-host/confine.c).
 */
#ifndef BASE_FILTER_H
#define BASE_FILTER_H

#include <errno.h>
#include <seccomp.h>
#include <stdint.h>

/* action: for the calls that no rule names. 0 or -errno; filter_end() takes both. */
static inline int filter_begin(scmp_filter_ctx *filter, uint32_t action)
{
	int rc;

	*filter = seccomp_init(action);
	if (!*filter)
		return -ENOMEM;
	/* Calls by another architecture's numbers, x32's too. */
	rc = seccomp_attr_set(*filter, SCMP_FLTATR_ACT_BADARCH, SCMP_ACT_KILL_PROCESS);
	/* The kernel's reason, not the library's. */
	return rc ? rc : seccomp_attr_set(*filter, SCMP_FLTATR_API_SYSRAWRC, 1);
}

/* From here on it holds, if it was made without an error (rc is 0). Returns 0 or the error. */
static inline int filter_end(scmp_filter_ctx filter, int rc)
{
	if (!rc)
		rc = seccomp_load(filter);
	seccomp_release(filter);
	return rc;
}

#endif
