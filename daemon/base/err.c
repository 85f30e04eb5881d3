// SPDX-License-Identifier: GPL-2.0
/*
 * The one way an error text is set, so that it can stand in a return
 * statement. Every room calls it; nobody prints here.
 */
#include "base/base.h"

#include <stdio.h>

int err_set(struct err *err, int code, const char *fmt, ...)
{
	va_list args;

	if (!err)
		return code;
	va_start(args, fmt);
	vsnprintf(err->text, sizeof(err->text), fmt, args);
	va_end(args);
	return code;
}
