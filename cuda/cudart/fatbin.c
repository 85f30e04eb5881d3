// SPDX-License-Identifier: GPL-2.0
/*
 * Fatbins: containers of device code for several architectures, as compilers embed them in
 * programs. Only PTX is of use here, plain or compressed by LZ4 or zstd. The container's size is
 * in its head; everything behind that is checked against it. Called by module.c and its fuzz
 * test.
 */
#include <errno.h>
#include <lz4.h>
#include <stdlib.h>
#include <string.h>
#include <zstd.h>

#include "cudart.h"

#define FATBIN_MAGIC	0xba55ed50u
#define KIND_PTX	1
#define FLAG_LZ4	0x2000u
#define FLAG_ZSTD	0x8000u
#define TEXT_MAX	(256u << 20)

struct fatbin_head {
	uint32_t magic;
	uint16_t version, head_bytes;
	uint64_t bytes;			/* behind the head */
};

struct fatbin_entry {
	uint16_t kind, version;
	uint32_t head_bytes;
	uint64_t bytes;			/* of the payload, padded */
	uint32_t compressed_bytes;	/* of the payload, if it is compressed */
	uint32_t unknown;
	uint16_t minor, major;
	uint32_t arch;
	uint32_t name_at, name_bytes;
	uint64_t flags;
	uint64_t zero;
	uint64_t text_bytes;		/* when it is no more compressed */
};

static int decompress(const struct fatbin_entry *e, const char *payload, char *text)
{
	size_t n;

	if (e->compressed_bytes > e->bytes)
		return -EINVAL;
	if (e->flags & FLAG_ZSTD) {
		n = ZSTD_decompress(text, e->text_bytes, payload, e->compressed_bytes);
		return ZSTD_isError(n) || n != e->text_bytes ? -EINVAL : 0;
	}
	return LZ4_decompress_safe(payload, text, (int)e->compressed_bytes, (int)e->text_bytes) ==
	       (int)e->text_bytes ? 0 : -EINVAL;
}

static int unpack(const struct fatbin_entry *e, const char *payload, struct fatbin_text *text)
{
	bool compressed = e->flags & (FLAG_LZ4 | FLAG_ZSTD);
	uint64_t bytes = compressed ? e->text_bytes : e->bytes;
	int ret = 0;
	char *p;

	if (bytes > TEXT_MAX)
		return -EINVAL;
	p = malloc(bytes + 1);
	if (!p)
		return -ENOMEM;
	if (compressed)
		ret = decompress(e, payload, p);
	else
		memcpy(p, payload, bytes);
	if (ret) {
		free(p);
		return ret;
	}
	p[bytes] = '\0';
	/* Padding is of zeros, and some compilers count the text's own NUL. */
	text->text = p;
	text->bytes = strlen(p);
	text->arch = e->arch;
	return 0;
}

int fatbin_ptx(const void *data, size_t limit, struct fatbin_text *text)
{
	const char *at = data, *best = NULL;
	struct fatbin_entry e, best_entry = { 0 };
	struct fatbin_head head;
	uint64_t left;

	if (limit < sizeof(head))
		return -EINVAL;
	memcpy(&head, data, sizeof(head));
	if (head.magic != FATBIN_MAGIC || head.head_bytes < sizeof(head) ||
	    head.head_bytes > limit ||
	    head.bytes > limit - head.head_bytes)
		return -EINVAL;
	at += head.head_bytes;
	for (left = head.bytes; left >= sizeof(e); left -= e.head_bytes + e.bytes) {
		memcpy(&e, at, sizeof(e));
		if (e.head_bytes < sizeof(e) || e.head_bytes > left ||
		    e.bytes > left - e.head_bytes)
			return -EINVAL;
		if (e.kind == KIND_PTX && (!best || e.arch > best_entry.arch)) {
			best = at + e.head_bytes;
			best_entry = e;
		}
		at += e.head_bytes + e.bytes;
	}
	return best ? unpack(&best_entry, best, text) : -ENOENT;
}
