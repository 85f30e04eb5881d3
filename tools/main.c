// SPDX-License-Identifier: GPL-2.0
/*
 * The gpuemu command's entry, and nothing else: everything is in the verbs,
 * which the unit tests link without it.
 */
#include "cli.h"
#include "heap.h"

int main(int argc, char **argv)
{
	heap_huge_pages();
	return cli_main(argc, argv);
}
