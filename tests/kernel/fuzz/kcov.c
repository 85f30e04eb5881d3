// SPDX-License-Identifier: GPL-2.0
/*
 * KCOV gives each thread that asks a list of the places that it comes by in the kernel,
 * which are the module's alone: nothing else is built with it. A place is where one of
 * the compiler's calls returns to. Which were reached is in memory that all processes share.
 */
#include <elf.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <linux/kcov.h>

#include "fuzz/kcov.h"

enum {
	WORDS = 1 << 16,	/* places between two looks, with their number */
	TEXT_MAX = 4 << 20,	/* bytes */
};

struct places {
	uint64_t base, bytes;	/* of the module in memory */
	_Atomic uint8_t reached[TEXT_MAX];
};

static const char path[] = "/sys/kernel/debug/kcov";
static struct places *places;
static __thread uint64_t *list;

/* The kernel is not moved at boot, or KCOV would say other addresses than these. */
static void find_module(void)
{
	FILE *file = fopen("/proc/modules", "r");
	unsigned long long base, bytes;
	char line[512];

	while (file && fgets(line, sizeof(line), file)) {
		if (sscanf(line, "gpuemu %llu %*d %*s %*s %llx", &bytes, &base) != 2)
			continue;
		places->base = base;
		places->bytes = bytes < TEXT_MAX ? bytes : TEXT_MAX;
	}
	if (file)
		fclose(file);
}

void kcov_open(void)
{
	if (access(path, F_OK))
		return;
	places = mmap(NULL, sizeof(*places), PROT_READ | PROT_WRITE,
		      MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (places == MAP_FAILED)
		abort();
	find_module();
}

void kcov_begin(void)
{
	int fd;

	/* A parent's is not this thread's. */
	list = NULL;
	if (!places)
		return;
	fd = open(path, O_RDWR | O_CLOEXEC);
	if (fd < 0)
		return;
	if (!ioctl(fd, KCOV_INIT_TRACE, (unsigned long)WORDS)) {
		list = mmap(NULL, WORDS * sizeof(*list), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
		if (list == MAP_FAILED || ioctl(fd, KCOV_ENABLE, (unsigned long)KCOV_TRACE_PC))
			list = NULL;
	}
	/* The thread has it on its own from here. */
	close(fd);
}

void kcov_take(void)
{
	uint64_t i, n, at;

	if (!list)
		return;
	n = __atomic_load_n(&list[0], __ATOMIC_RELAXED);
	for (i = 1; i <= n && i < WORDS; i++) {
		at = list[i] - places->base;
		/* Most are there: to write each again would be slow. */
		if (at < places->bytes && !atomic_load(&places->reached[at]))
			atomic_store(&places->reached[at], 1);
	}
	__atomic_store_n(&list[0], 0, __ATOMIC_RELAXED);
}

/* --- what there is --- */

/* The calls that relocations say go to the compiler's hook; what runs at load and unload aside. */
static uint32_t count_calls(const uint8_t *file)
{
	const Elf64_Ehdr *header = (const void *)file;
	const Elf64_Shdr *section = (const void *)(file + header->e_shoff), *symbols;
	const char *names = (const char *)file + section[header->e_shstrndx].sh_offset, *name;
	const Elf64_Rela *rela;
	const Elf64_Sym *symbol;
	uint32_t n = 0, i;
	uint64_t k;

	for (i = 0; i < header->e_shnum; i++) {
		name = names + section[section[i].sh_info].sh_name;
		if (section[i].sh_type != SHT_RELA ||
		    (strcmp(name, ".text") && strcmp(name, ".text.unlikely")))
			continue;
		symbols = &section[section[i].sh_link];
		symbol = (const void *)(file + symbols->sh_offset);
		rela = (const void *)(file + section[i].sh_offset);
		for (k = 0; k < section[i].sh_size / sizeof(*rela); k++) {
			name = (const char *)file + section[symbols->sh_link].sh_offset +
			       symbol[ELF64_R_SYM(rela[k].r_info)].st_name;
			n += !strcmp(name, "__sanitizer_cov_trace_pc");
		}
	}
	return n;
}

static uint32_t places_in(const char *module)
{
	int fd = module ? open(module, O_RDONLY | O_CLOEXEC) : -1;
	uint8_t *file = MAP_FAILED;
	struct stat st = { };
	uint32_t n = 0;

	if (fd >= 0 && !fstat(fd, &st))
		file = mmap(NULL, st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	if (file != MAP_FAILED && st.st_size > (off_t)sizeof(Elf64_Ehdr) &&
	    !memcmp(file, ELFMAG, SELFMAG))
		n = count_calls(file);
	if (file != MAP_FAILED)
		munmap(file, st.st_size);
	if (fd >= 0)
		close(fd);
	return n;
}

bool kcov_reached(const char *module, uint32_t *reached, uint32_t *all)
{
	uint64_t i;

	if (!places)
		return false;
	*reached = 0;
	for (i = 0; i < places->bytes; i++)
		*reached += places->reached[i];
	*all = places_in(module);
	return true;
}
