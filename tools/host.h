/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Where a report was made: the kernel and what the machine is. Absolute times
 * mean nothing without it.
 */
#ifndef GPUEMU_TOOLS_HOST_H
#define GPUEMU_TOOLS_HOST_H

struct json_object;

/*
 * "tcg", "icount" (TCG whose clock counts instructions), "kvm", "metal", another
 * hypervisor's name, or "vm"/"unknown".
 * $GPUEMU_VIRT decides, which the VM's starter sets; else the CPU says.
 */
const char *host_virt(void);
/* {"kernel":..,"virt":..}; the caller owns it. */
struct json_object *host_json(void);
/* One sentence: what virt means for absolute times. */
const char *host_meaning(const char *virt);

#endif
