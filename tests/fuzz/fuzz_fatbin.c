// SPDX-License-Identifier: GPL-2.0
/*
 * libFuzzer's view of the device code that a program carries: its fatbins, one behind the other,
 * as wrappers of version 1 (one) and 2 (several) name them. Any bytes must be taken or refused;
 * texts that are taken are linked, which reads PTX too. Built by scripts/mk/fuzz.mk;
 * tests/check.d/43-fuzz.sh and `make fuzz-fatbin` run it. FUZZ_SEEDS=DIR: writes what to begin
 * with instead.
 */
#include <errno.h>
#include <lz4.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zstd.h>

#include "cudart.h"
#include "link.h"

#define IMAGES	  4
#define HEAD	  16u
#define ENTRY	  64u
#define TEXT_ROOM 4096u
#define ROOM	  16384u

enum { PLAIN, LZ4 = 0x2000, ZSTD = 0x8000 };

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t max_size);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned int seed);

#define DEMAND(what) \
	do { \
		if (!(what)) { \
			fprintf(stderr, "unsound: %s (line %d)\n", #what, __LINE__); \
			abort(); \
		} \
	} while (0)

/* --- reading ------------------------------------------------------------------------------ */

/* The bytes of the fatbin that begins there, as its head says; all that are left if it lies. */
static size_t image_bytes(const uint8_t *data, size_t left)
{
	uint64_t bytes;

	if (left < HEAD)
		return left;
	memcpy(&bytes, data + 8, sizeof(bytes));
	return bytes <= left - HEAD ? HEAD + (size_t)bytes : left;
}

/* In a block of its own, so that a read past the end is seen. NULL: refused. */
static char *read_image(const uint8_t *data, size_t bytes)
{
	struct fatbin_text text = { 0 };
	void *copy = malloc(bytes ? bytes : 1);
	int ret;

	if (!copy)
		return NULL;
	memcpy(copy, data, bytes);
	ret = fatbin_ptx(copy, bytes, &text);
	free(copy);
	DEMAND(!ret || ret == -EINVAL || ret == -ENOENT || ret == -ENOMEM);
	DEMAND(ret || (text.text && strlen(text.text) == text.bytes));
	return ret ? NULL : text.text;
}

static char *link_all(char *const *texts, unsigned int n, const struct link_place *place)
{
	char *linked = NULL, why[64] = "";
	int ret = link_texts((const char *const *)texts, n, place, place ? 1 : 0, &linked, why,
			     sizeof(why));

	DEMAND(!ret || ret == -EEXIST || ret == -EINVAL || ret == -ENOMEM);
	DEMAND(ret != -EEXIST || *why);
	DEMAND(memchr(why, 0, sizeof(why)));
	DEMAND(ret || strlen(linked) + 1);
	return ret ? NULL : linked;
}

/* Also what one link made, which has names that no compiler gives. */
static void check_link(char *const *texts, unsigned int n)
{
	const struct link_place place = { "x", 0x200000001000, n - 1, true };
	char *once = link_all(texts, n, NULL);

	if (once)
		free(link_all(&once, 1, NULL));
	free(once);
	free(link_all(texts, n, &place));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const char *harm = getenv("FUZZ_HARM");
	char *texts[IMAGES];
	unsigned int n = 0;

	/* The test of the test. */
	if (harm && !strcmp(harm, "abort"))
		abort();
	for (size_t bytes; size && n < IMAGES; data += bytes, size -= bytes) {
		bytes = image_bytes(data, size);
		texts[n] = read_image(data, bytes);
		n += texts[n] != NULL;
	}
	if (n)
		check_link(texts, n);
	while (n)
		free(texts[--n]);
	return 0;
}

/* --- writing ------------------------------------------------------------------------------- */

static void put(uint8_t *at, uint64_t value, unsigned int bytes)
{
	memcpy(at, &value, bytes);
}

/* A fatbin of one text, with its NUL, behind what `out` has: 0 if there is no room. */
static size_t write_image(uint8_t *out, size_t room, const char *text, size_t bytes,
			  unsigned int how)
{
	size_t used = bytes, padded;
	char packed[2 * TEXT_ROOM];

	if (bytes > TEXT_ROOM)
		return 0;
	if (how == LZ4)
		used = (size_t)LZ4_compress_default(text, packed, (int)bytes, sizeof(packed));
	else if (how == ZSTD)
		used = ZSTD_compress(packed, sizeof(packed), text, bytes, 3);
	else
		memcpy(packed, text, bytes);
	padded = (used + 7) & ~(size_t)7;
	if (HEAD + ENTRY + padded > room)
		return 0;
	memset(out, 0, HEAD + ENTRY + padded);
	put(out, 0xba55ed50, 4);
	put(out + 4, 1, 2);
	put(out + 6, HEAD, 2);
	put(out + 8, ENTRY + padded, 8);
	put(out + 16, 1, 2);
	put(out + 18, 0x101, 2);
	put(out + 20, ENTRY, 4);
	put(out + 24, padded, 8);
	put(out + 32, how ? used : 0, 4);
	put(out + 44, 75, 4);
	put(out + 56, how, 8);
	put(out + 72, how ? bytes : 0, 8);
	memcpy(out + HEAD + ENTRY, packed, used);
	return HEAD + ENTRY + padded;
}

static uint32_t pick(uint64_t *seed, uint32_t n)
{
	*seed = *seed * 6364136223846793005ull + 1442695040888963407ull;
	return (uint32_t)(*seed >> 33) % n;
}

/* The bytes themselves; or one fatbin's text, which is packed anew; or one fatbin more. */
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned int seed_in)
{
	static const unsigned int forms[] = { PLAIN, LZ4, ZSTD };
	size_t bytes, at = 0, text_bytes, made;
	uint8_t image[ROOM], text[TEXT_ROOM];
	uint64_t seed = seed_in;
	char *found;

	if (!size || !pick(&seed, 3))
		return LLVMFuzzerMutate(data, size, max_size);
	bytes = image_bytes(data, size);
	/* Not always the first. */
	while (at + bytes < size && pick(&seed, 2)) {
		at += bytes;
		bytes = image_bytes(data + at, size - at);
	}
	found = read_image(data + at, bytes);
	if (!found)
		return LLVMFuzzerMutate(data, size, max_size);
	text_bytes = strlen(found);
	text_bytes = text_bytes < TEXT_ROOM - 1 ? text_bytes : TEXT_ROOM - 1;
	memcpy(text, found, text_bytes);
	free(found);
	text_bytes = LLVMFuzzerMutate(text, text_bytes, TEXT_ROOM - 1);
	text[text_bytes] = '\0';
	made = write_image(image, sizeof(image), (char *)text, text_bytes + 1,
			   forms[pick(&seed, 3)]);
	/* Beside it, or instead of it. */
	if (!pick(&seed, 4))
		bytes = 0;
	if (!made || size - bytes + made > max_size)
		return LLVMFuzzerMutate(data, size, max_size);
	memmove(data + at + made, data + at + bytes, size - at - bytes);
	memcpy(data + at, image, made);
	return size - bytes + made;
}

/* --- what to begin with ---------------------------------------------------------------------- */

#define PTX_HEAD ".version 7.0\n.target sm_70\n.address_size 64\n"

static void seed(const char *dir, const char *name, const char *const *texts, unsigned int how)
{
	uint8_t out[ROOM];
	char path[4096];
	size_t n = 0;
	FILE *f;

	for (; *texts; texts++)
		n += write_image(out + n, sizeof(out) - n, *texts, strlen(*texts) + 1, how);
	snprintf(path, sizeof(path), "%s/%s", dir, name);
	f = fopen(path, "w");
	if (!f || fwrite(out, 1, n, f) != n || fclose(f)) {
		perror(path);
		exit(1);
	}
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	static const char kernel[] = PTX_HEAD
		".extern .func (.param .b32 r) twice (.param .b32 a);\n"
		".extern .global .align 4 .b32 x;\n.weak .global .align 4 .b32 w = 1;\n"
		".shared .align 4 .b8 s[64];\n.global .align 8 .u64 table[2] = {x, 0};\n"
		".visible .entry k(.param .u64 p)\n.maxntid 64, 1, 1\n{\n.reg .b64 %rd<3>;\n"
		".reg .b32 %r<3>;\nmov.u64 %rd1, x;\nld.global.u32 %r1, [%rd1+4];\n"
		"{\n.param .b32 a;\nst.param.b32 [a], %r1;\n.param .b32 r;\n"
		"call.uni (r), twice, (a);\nld.param.b32 %r2, [r];\n}\n"
		"$L: st.shared.u32 [s+4], %r2;\nbra $L;\nret;\n}\n";
	static const char function[] = PTX_HEAD
		"// a comment, x\n.visible .global .align 4 .b32 x;\n"
		".weak .global .align 4 .b32 w = 2;\n"
		".global .align 1 .b8 $str[4] = {97, 98, 99, 0};\n"
		".visible .func (.param .b32 r) twice(.param .b32 a)\n{\n.reg .b32 %r<2>;\n"
		"ld.param.b32 %r1, [a];\nadd.u32 %r1, %r1, %r1;\nst.param.b32 [r], %r1;\nret;\n}\n";
	static const char *const one[] = { kernel, NULL };
	static const char *const two[] = { kernel, function, NULL };
	const char *dir = getenv("FUZZ_SEEDS");

	(void)argc;
	(void)argv;
	if (!dir)
		return 0;
	seed(dir, "plain", one, PLAIN);
	seed(dir, "lz4", one, LZ4);
	seed(dir, "zstd", one, ZSTD);
	seed(dir, "linked-plain", two, PLAIN);
	seed(dir, "linked-lz4", two, LZ4);
	seed(dir, "linked-zstd", two, ZSTD);
	exit(0);
}
