// SPDX-License-Identifier: GPL-2.0
/*
 * Finds out what the machine is. The test harness' variable decides; without it the
 * hypervisor's signature in CPUID does (leaf 0x40000000; Intel SDM: leaf 1 ECX bit 31 is
 * never set on metal).
 */
#include <json-c/json.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#if defined(__x86_64__) || defined(__i386__)
#include <cpuid.h>
#define HAVE_CPUID 1
#endif

#include "base/base.h"
#include "host.h"

#ifdef HAVE_CPUID
static const struct {
	const char *signature, *name;
} hypervisors[] = {
	{ "TCGTCGTCGTCG", "tcg" },
	{ "KVMKVMKVM", "kvm" },
	{ "Microsoft Hv", "hyperv" },
	{ "VMwareVMware", "vmware" },
	{ "XenVMMXenVMM", "xen" },
};
#endif

const char *host_virt(void)
{
	const char *told = getenv("GPUEMU_VIRT");

	if (told && *told)
		return told;
#ifdef HAVE_CPUID
	uint32_t a, b, c, d, signature[4] = { 0 };

	if (!__get_cpuid(1, &a, &b, &c, &d))
		return "unknown";
	if (!(c & (1u << 31)))
		return "metal";
	__cpuid(0x40000000, a, signature[0], signature[1], signature[2]);
	for (size_t i = 0; i < ARRAY_SIZE(hypervisors); i++)
		if (!strcmp((const char *)signature, hypervisors[i].signature))
			return hypervisors[i].name;
	return "vm";
#else
	return "unknown";
#endif
}

struct json_object *host_json(void)
{
	struct json_object *host = json_object_new_object();
	struct utsname name;

	if (uname(&name))
		strcpy(name.release, "unknown");
	json_object_object_add(host, "kernel", json_object_new_string(name.release));
	json_object_object_add(host, "virt", json_object_new_string(host_virt()));
	return host;
}

const char *host_meaning(const char *virt)
{
	if (!strcmp(virt, "tcg"))
		return "emulated by TCG, every instruction translated: absolute times are many "
		       "times the metal's; compare the ratios, measured in the same run.";
	if (!strcmp(virt, "icount"))
		return "emulated with a clock that counts instructions, 1 ns each, one CPU at a time: "
		       "times are path lengths, the same in each run.";
	if (!strcmp(virt, "metal"))
		return "on the metal: absolute times are this machine's.";
	if (!strcmp(virt, "unknown"))
		return "a machine of unknown kind: trust the ratios, measured in the same run, "
		       "before absolute times.";
	return "a virtual machine on hardware support: page faults and interrupts cost more than "
	       "on the metal; compare the ratios, measured in the same run.";
}
