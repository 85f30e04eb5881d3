/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The CUDA driver of a real GPU, by dlopen and without a toolkit's headers: only what it takes to
 * load PTX, to copy and to launch. One context a process, since a kernel that fails breaks it.
 * Used by the runner of tests/differential and by facts.
 */
#ifndef TESTS_SILICON_DRIVER_H
#define TESTS_SILICON_DRIVER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef uint64_t driver_address;

struct driver_launch {
	unsigned int grid[3], block[3], shared; /* shared: dynamic bytes */
	void **params;
};

/* All of them: false, and `why` says which call failed and with what error. */
bool driver_open(char *why, size_t bytes);
/* "NVIDIA H100 80GB HBM3, sm_90, driver API 13.0" */
void driver_describe(char *text, size_t bytes);
/* maxregs 0: no limit. $SILICON_LEVEL is the driver's level of optimization, 0 to 4. */
bool driver_load(const char *ptx, unsigned int maxregs, void **module, char *why, size_t bytes);
void driver_unload(void *module);
bool driver_function(void *module, const char *name, void **function, char *why, size_t bytes);

/* With a guard on both sides, which driver_free() looks at: false if a kernel wrote there. */
bool driver_alloc(size_t size, driver_address *address, char *why, size_t bytes);
bool driver_free(driver_address address, size_t size, char *why, size_t bytes);
bool driver_write(driver_address to, const void *from, size_t size, char *why, size_t bytes);
bool driver_read(void *to, driver_address from, size_t size, char *why, size_t bytes);

/*
 * Launches and waits. *printed is what the kernel printed, malloc'd. The error's name, for instance
 * CUDA_ERROR_ILLEGAL_ADDRESS, is in *error, NULL for none; no other call works after one.
 */
void driver_run(void *function, const struct driver_launch *launch, char **printed,
		const char **error);

#endif
