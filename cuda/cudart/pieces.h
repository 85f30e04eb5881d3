/* SPDX-License-Identifier: GPL-2.0 */
/* The words of a PTX text, and the directives at its top: what pieces.c reads and link.c links. */
#ifndef GPUEMU_CUDART_PIECES_H
#define GPUEMU_CUDART_PIECES_H

#include <ctype.h>
#include <stdbool.h>
#include <stddef.h>

#define PIECES_BUCKETS 4096

struct word {
	const char *text;
	size_t bytes;
};

static inline bool begins_name(char c)
{
	return isalpha((unsigned char)c) || c == '_' || c == '$';
}

/* Past space and comments. */
const char *skip_space(const char *at);
/* A name, a register (%r1), a directive (.func), a number, a string, or one character. */
const char *take_word(const char *at, struct word *word);
bool word_is(const struct word *word, const char *text);

enum kind { VARIABLE, FUNCTION, KERNEL };

/* One directive at a module's top: a variable, a function with or without its body, a kernel. */
struct piece {
	struct piece *next;	      /* in the order of the texts */
	struct piece *same;	      /* of the same name hash */
	struct piece *means;	      /* what its own text has under another name */
	const char *from, *to;
	const char *name;
	size_t name_bytes;
	unsigned int text;
	enum kind kind;
	bool is_extern, weak, local, defined, constant;
	bool dropped; /* another one stands for it */
	bool written;
};

/* What several texts have, in their order. */
struct pieces {
	struct piece *first, **end;
	struct piece *names[PIECES_BUCKETS];
	const char *version, *target; /* the newest */
	double newest;
	int newest_target;
};

/* Where the pieces of a name begin, the last that was read first. */
struct piece **pieces_named(struct pieces *p, const char *name, size_t bytes);
bool piece_same_name(const struct piece *a, const struct piece *b);
/* Adds what text number n has. -EINVAL: it is no PTX. -ENOMEM. */
int pieces_read(struct pieces *p, const char *text, unsigned int n);
void pieces_free(struct pieces *p);

#endif
