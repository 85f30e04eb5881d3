/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What kernels print: print.c. Private to the sm room.
 */
#ifndef GPUEMU_SM_PRINT_H
#define GPUEMU_SM_PRINT_H

#include "sm/limits.h"

/* printf's text, until the GPU takes it in the order of cycles. */
struct sm_text {
	uint64_t cycle;
	const struct exec_launch *launch;
	uint32_t bytes, at;		/* in print.text */
	bool string;			/* what is there is a struct exec_string, not text, and its stores */
};

struct print {
	char *text;
	size_t text_size, text_used;
	struct sm_text *texts;
	uint32_t texts_size, texts_used, texts_told;
};

void sm_print_text(void *ctx, const char *text, size_t bytes);
void sm_print_string(void *ctx, const struct exec_string *string);
void sm_print_perform(struct sm *sm, uint64_t cycle);
uint64_t sm_print_next(const struct sm *sm);

#endif
