/* SPDX-License-Identifier: GPL-2.0 */
/* Into a range, as the device's conversions and its .sat have it; NaN is 0. */
#ifndef GPUEMU_SATURATE_H
#define GPUEMU_SATURATE_H

GPUEMU_BOTH float __gpuemu_saturate(float f) { return f > 0 ? (f < 1 ? f : 1) : 0; }

namespace gpuemu {

template <class T> GPUEMU_BOTH T clamp(float f, T least, T most)
{
	if (f != f)
		return 0;
	return f <= (float)least ? least : f >= (float)most ? most : (T)f;
}

}

#endif
