// SPDX-License-Identifier: GPL-2.0
/* The samples' helper headers, and what nvcc's own header brings along: <time.h>, names of guards. */
#include <helper_cuda.h>
#include <helper_functions.h>

#include "check.h"

#if !defined(__DRIVER_TYPES_H__) || !defined(__CUDA_RUNTIME_H__)
#error the toolkit defines these
#endif

__global__ void none()
{
}

int main()
{
	const char *argv[] = { "helpers", "-device=0", "--size=42", "-scale=1.5", "--quick", "name=x" };
	StopWatchInterface *timer = NULL;
	const int argc = 6;
	time_t now = time(NULL);
	char *name;

	HOLDS(findCudaDevice(argc, argv) == 0 && gpuGetMaxGflopsDeviceId() == 0);
	HOLDS(checkCudaCapabilities(3, 0) && !checkCudaCapabilities(99, 0));
	HOLDS(_ConvertSMVer2Cores(2, 0) == 32 && _ConvertSMVer2Cores(6, 1) == 128 &&
	      _ConvertSMVer2Cores(7, 0) == 64);
	none<<<1, 1>>>();
	getLastCudaError("a launch");
	checkCudaErrors(cudaDeviceSynchronize());
	HOLDS(getCmdLineArgumentInt(argc, argv, "size") == 42);
	HOLDS(getCmdLineArgumentFloat(argc, argv, "scale") == 1.5f);
	HOLDS(checkCmdLineFlag(argc, argv, "quick") && !checkCmdLineFlag(argc, argv, "quic"));
	HOLDS(!getCmdLineArgumentString(argc, argv, "name", &name) && name == NULL);
	HOLDS(sdkCreateTimer(&timer) && sdkStartTimer(&timer) && sdkStopTimer(&timer));
	HOLDS(now > 0 && sdkGetTimerValue(&timer) >= 0 && timer->times == 1);
	HOLDS(sdkResetTimer(&timer) && sdkGetAverageTimerValue(&timer) == 0);
	HOLDS(sdkDeleteTimer(&timer) && timer == NULL);
	printf("helpers: passed\n");
	return 0;
}
