/* SPDX-License-Identifier: GPL-2.0 */
/* Surfaces are with textures. */
#include "texture_types.h"
