// SPDX-License-Identifier: GPL-2.0
/*
 * The assembly of a .cu file's host half, as clang leaves it. With -fgpu-rdc it expects a link
 * of nvcc's, which would define a function for each object; libcudart has one for all. And the
 * section of __managed__ variables must fill its pages, for libcudart makes them managed
 * memory, and be listed for it. Called by cc.c.
 */
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "cc_assembly.h"
#include "file.h"

#define OF_OBJECT "__cudaRegisterLinkedBinary__nv_" /* a hexadecimal number follows */
#define OF_ALL	  "__cudaRegisterLinkedBinary_gpuemu"
/*
 * The number is a digest of the file's name: two files of one name in two folders would
 * define the symbol twice.
 */
#define WRAPPER	    ".globl\t__fatbinwrap__nv_"
#define OWN_WRAPPER ".local\t__fatbinwrap__nv_"
#define SECTION	    "\t.section\tgpuemu_managed,"

/* A line's label, or NULL. */
static const char *label_of(const char *line, size_t *bytes)
{
	*bytes = strcspn(line, ":\n \t#");
	return *bytes && line[*bytes] == ':' && *line != '.' ? line : NULL;
}

/* The text after the name in a directive of its own line, or NULL. */
static const char *said_of(const char *text, const char *directive, const char *name, size_t bytes)
{
	for (const char *at = text; (at = strstr(at, directive));) {
		at += strlen(directive);
		if (!strncmp(at, name, bytes) && strchr(", \t\n#", at[bytes]))
			return at + bytes;
	}
	return NULL;
}

static void write_name(FILE *out, const char *text, const char *name, size_t bytes)
{
	const char *size = said_of(text, "\t.size\t", name, bytes);

	fprintf(out,
		"\t.section\tgpuemu_managed_text,\"a\",@progbits\n9:\t.asciz\t\"%.*s\"\n"
		"\t.section\tgpuemu_managed_names,\"aw\",@progbits\n\t.p2align\t3\n"
		"\t.quad\t%.*s, 9b, __cuda_fatbin_wrapper, %d, %llu\n",
		(int)bytes, name, (int)bytes, name,
		said_of(text, "\t.globl\t", name, bytes) != NULL,
		size ? strtoull(size + 1, NULL, 0) : 0);
}

/* For each variable of the section a `struct entry` of cuda/cudart/managed.c. */
static void write_names(FILE *out, const char *text)
{
	bool inside = false;
	size_t bytes;

	for (const char *line = text; *line; line += *line == '\n') {
		const char *name = label_of(line, &bytes);

		if (!strncmp(line, "\t.section\t", 10) || !strncmp(line, "\t.text", 6) ||
		    !strncmp(line, "\t.data", 6) || !strncmp(line, "\t.bss", 5))
			inside = !strncmp(line, SECTION, strlen(SECTION));
		else if (inside && name)
			write_name(out, text, name, bytes);
		line += strcspn(line, "\n");
	}
}

/* Launches go to the stream that the thread has of its own. */
static void write_launches(FILE *out, const char *text)
{
	static const char launch[] = "cudaLaunchKernel";
	const char *at = text, *next;

	for (; (next = strstr(at, launch)); at = next) {
		next += strlen(launch);
		fwrite(at, 1, (size_t)(next - at), out);
		/* Not a longer name. */
		if (next - strlen(launch) == text || !strchr("_$.", next[-(int)sizeof(launch)]))
			fputs(isalnum((unsigned char)*next) || *next == '_' ? "" : "_ptsz", out);
	}
	fputs(at, out);
}

static void write_mended(FILE *out, const char *text)
{
	const char *at = text, *next;

	for (; (next = strstr(at, OF_OBJECT)); at = next) {
		fwrite(at, 1, (size_t)(next - at), out);
		fputs(OF_ALL, out);
		next += strlen(OF_OBJECT);
		next += strspn(next, "0123456789abcdef");
	}
	fputs(at, out);
	if (strstr(text, SECTION)) {
		fputs(SECTION "\"aw\",@progbits\n\t.p2align\t12\n", out);
		write_names(out, text);
	}
}

int cc_mend_assembly(const char *file, bool per_thread, struct err *err)
{
	size_t bytes, mended_bytes = 0;
	char *text, *mended = NULL, *wrapper;
	FILE *out;
	int ret = file_read(file, &text, &bytes, err);

	if (ret)
		return ret;
	/* With -g clang writes bytes of 0 into comments. */
	for (size_t i = 0; i < bytes; i++)
		if (!text[i])
			text[i] = ' ';
	wrapper = strstr(text, WRAPPER);
	if (wrapper)
		memcpy(wrapper, OWN_WRAPPER, strlen(OWN_WRAPPER));
	if (per_thread) {
		out = open_memstream(&mended, &mended_bytes);
		if (out)
			write_launches(out, text);
		free(text);
		text = NULL;
		if (!out || fclose(out))
			return err_set(err, -ENOMEM, "no memory for %s", file);
		text = mended;
		mended = NULL;
	}
	out = open_memstream(&mended, &mended_bytes);
	if (out)
		write_mended(out, text);
	if (!out || fclose(out))
		ret = err_set(err, -ENOMEM, "no memory for %s", file);
	else
		ret = file_write(file, mended, mended_bytes, err);
	free(mended);
	free(text);
	return ret;
}
