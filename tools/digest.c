// SPDX-License-Identifier: GPL-2.0
/* See digest.h. */
#include <errno.h>
#include <openssl/evp.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "digest.h"
#include "memory.h"

/* libcrypto can fail only when memory is short: SHA-256 is always there. */
struct digest *digest_begin(void)
{
	EVP_MD_CTX *d = must(EVP_MD_CTX_new());

	must(EVP_DigestInit_ex(d, EVP_sha256(), NULL) ? d : NULL);
	return (struct digest *)d;
}

static void add(struct digest *d, const void *bytes, size_t n)
{
	must(EVP_DigestUpdate((EVP_MD_CTX *)d, bytes, n) ? d : NULL);
}

void digest_add(struct digest *d, const char *label, const void *bytes, size_t n)
{
	const uint64_t length = n;

	add(d, label, strlen(label) + 1);
	add(d, &length, sizeof(length));
	add(d, bytes, n);
}

void digest_add_text(struct digest *d, const char *label, const char *text)
{
	digest_add(d, label, text, strlen(text));
}

void digest_end(struct digest *d, char text[DIGEST_TEXT])
{
	unsigned char bytes[DIGEST_BYTES];

	must(EVP_DigestFinal_ex((EVP_MD_CTX *)d, bytes, NULL) ? d : NULL);
	EVP_MD_CTX_free((EVP_MD_CTX *)d);
	for (unsigned int i = 0; i < DIGEST_BYTES; i++)
		snprintf(text + (size_t)2 * i, 3, "%02x", bytes[i]);
}

int digest_file(const char *file, char text[DIGEST_TEXT])
{
	FILE *in = fopen(file, "re");
	struct digest *d;
	char bytes[65536];
	size_t n;
	int ret;

	text[0] = '\0';
	if (!in)
		return -errno;
	d = digest_begin();
	while ((n = fread(bytes, 1, sizeof(bytes), in)))
		add(d, bytes, n);
	ret = ferror(in) ? -EIO : 0;
	fclose(in);
	digest_end(d, text);
	if (ret)
		text[0] = '\0';
	return ret;
}
