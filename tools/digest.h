/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The SHA-256 of several things, one after the other (libcrypto). Each goes in with its label
 * and its length, so that no two lists of things look the same.
 */
#ifndef GPUEMU_TOOLS_DIGEST_H
#define GPUEMU_TOOLS_DIGEST_H

#include <stddef.h>

#define DIGEST_BYTES	32u
#define DIGEST_TEXT	(2 * DIGEST_BYTES + 1)

struct digest;

struct digest *digest_begin(void);
void digest_add(struct digest *d, const char *label, const void *bytes, size_t n);
void digest_add_text(struct digest *d, const char *label, const char *text);
/* Hexadecimal digits; frees d. */
void digest_end(struct digest *d, char text[DIGEST_TEXT]);
/* The digest of only a file's bytes. -errno: the file cannot be read, and text is "". */
int digest_file(const char *file, char text[DIGEST_TEXT]);

#endif
