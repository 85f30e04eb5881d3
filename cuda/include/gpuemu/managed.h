/* SPDX-License-Identifier: GPL-2.0 */
/*
 * __managed__ for clang, which has no such variables in CUDA: in the host's half they are plain
 * variables in a section, which libcudart makes managed memory; in the device's half they are
 * __device__ variables, whose names become those addresses. `gpuemu cc` fills the section's
 * last page up and writes a table of what is in it. host_defines.h defines the word;
 * cuda_runtime.h includes this.
 */
#ifndef GPUEMU_MANAGED_H
#define GPUEMU_MANAGED_H

#ifndef __CUDA_ARCH__
extern "C" {
extern char __start_gpuemu_managed[] __attribute__((weak, visibility("hidden")));
extern char __stop_gpuemu_managed[] __attribute__((weak, visibility("hidden")));
extern char __start_gpuemu_managed_names[] __attribute__((weak, visibility("hidden")));
extern char __stop_gpuemu_managed_names[] __attribute__((weak, visibility("hidden")));
void __cudaRegisterManagedSection(char *from, char *to, const void *names, const void *end);
}

__attribute__((constructor)) static void __gpuemu_register_managed(void)
{
	if (__start_gpuemu_managed)
		__cudaRegisterManagedSection(__start_gpuemu_managed, __stop_gpuemu_managed,
					     __start_gpuemu_managed_names,
					     __stop_gpuemu_managed_names);
}
#endif

#endif
