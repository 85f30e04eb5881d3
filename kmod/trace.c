// SPDX-License-Identifier: GPL-2.0
/* The one file that instantiates the tracepoints of trace.h. */
#include <uapi/linux/gpuemu.h>

#define CREATE_TRACE_POINTS
#include "trace.h"
