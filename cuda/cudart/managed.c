// SPDX-License-Identifier: GPL-2.0
/*
 * __managed__ variables of programs that gpuemu cc compiled. clang has no such variables, so
 * the header puts them into a section of the program's own, and the host uses them like any
 * others. `gpuemu cc` adds a table of them. When the GPU is opened the section becomes managed
 * memory where it lies, with the values that it has, and PTX that names such a variable gets
 * its address. nvcc's programs have pointers instead, which module.c sets.
 */
#include "cudart.h"

#define SECTIONS_MAX 64 /* an executable and its libraries */

/* tools/cc_assembly.c writes it. */
struct entry {
	void *host;
	const char *name;
	const void *wrapper; /* of the object that defines it */
	uint64_t visible, bytes;
};

static struct section {
	char *from, *to;
	const struct entry *entries, *end;
	bool added;
} sections[SECTIONS_MAX];
static unsigned int nsections;

API void __cudaRegisterManagedSection(char *from, char *to, const void *entries, const void *end);
API void __cudaRegisterManagedSection(char *from, char *to, const void *entries, const void *end)
{
	bool known = from == to;

	enter_quietly();
	/* Each object of a program names the section that they share. */
	for (unsigned int i = 0; i < nsections; i++)
		known |= sections[i].from == from;
	if (!known && nsections == SECTIONS_MAX)
		runtime_say("more than %d libraries with __managed__ variables", SECTIONS_MAX);
	else if (!known)
		sections[nsections++] = (struct section){ from, to, entries, end, false };
	leave_quietly(cudaSuccess);
}

cudaError_t managed_register_all(void)
{
	cudaError_t error = cudaSuccess;

	for (unsigned int i = 0; i < nsections && !error; i++) {
		struct section *s = &sections[i];

		for (const struct entry *e = s->added ? s->end : s->entries; e < s->end; e++)
			registry_add_in_place(e->host, e->bytes, e->name, e->wrapper, e->visible);
		s->added = true;
		if (gpuemu_mem_register(runtime_ctx(), s->from, (size_t)(s->to - s->from))) {
			runtime_say("%s", gpuemu_last_error(runtime_ctx()));
			error = cudaErrorMemoryAllocation;
		} else {
			error = memory_add_managed(s->from, (size_t)(s->to - s->from));
		}
	}
	return error;
}
