/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The ops table that each row of services.def defines, in <name>.c. Included
 * there and by services.c, so that the definitions are checked; no one else.
 */
#ifndef GPUEMU_SERVICE_ROWS_H
#define GPUEMU_SERVICE_ROWS_H

#include "service/service.h"

#define X(name) extern const struct service_ops service_##name##_ops;
#include "service/services.def"
#undef X

#endif
