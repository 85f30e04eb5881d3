/* SPDX-License-Identifier: GPL-2.0 */
/* The samples' headers for the host, in one. */
#include "helper_string.h"
#include "helper_timer.h"
