// SPDX-License-Identifier: GPL-2.0
/* The table of backends, from services.def. For listings and who picks one by name. */
#include "service/rows.h"

const struct service_ops *const service_rows[] = {
#define X(name) &service_##name##_ops,
#include "service/services.def"
#undef X
	NULL,
};
