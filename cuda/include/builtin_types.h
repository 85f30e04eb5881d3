/* SPDX-License-Identifier: GPL-2.0 */
#include "driver_types.h"
#include "vector_types.h"
