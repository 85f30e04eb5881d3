// SPDX-License-Identifier: GPL-2.0
/*
 * Reads what a PTX text declares and defines at its top: variables, functions, kernels, and how
 * each is visible. It knows where a directive begins and ends, and nothing of instructions. Called
 * by link.c.
 */
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "pieces.h"

/* --- words ---------------------------------------------------------------------------------- */

static const char *skip_line(const char *at)
{
	at += strcspn(at, "\n");
	return *at ? at + 1 : at;
}

const char *skip_space(const char *at)
{
	for (;;) {
		at += strspn(at, " \t\r\n");
		if (at[0] == '/' && at[1] == '/') {
			at = skip_line(at);
		} else if (at[0] == '/' && at[1] == '*') {
			const char *end = strstr(at + 2, "*/");

			at = end ? end + 2 : at + strlen(at);
		} else {
			return at;
		}
	}
}

const char *take_word(const char *at, struct word *word)
{
	const char *from = at;

	if (*at == '"') {
		at += 1 + strcspn(at + 1, "\"\n");
		at += *at != '\0';
	} else if (*at == '.' || *at == '%' || begins_name(*at) || isdigit((unsigned char)*at)) {
		at++;
		while (begins_name(*at) || isdigit((unsigned char)*at))
			at++;
	} else if (*at) {
		at++;
	}
	*word = (struct word){ from, (size_t)(at - from) };
	return at;
}

bool word_is(const struct word *word, const char *text)
{
	return word->bytes == strlen(text) && !memcmp(word->text, text, word->bytes);
}

/* Past the bracket that closes the one at `at`. */
static const char *skip_brackets(const char *at, char open, char close)
{
	unsigned int depth = 0;
	struct word word;

	while (*at) {
		at = take_word(skip_space(at), &word);
		if (word.bytes == 1 && *word.text == open)
			depth++;
		if (word.bytes == 1 && *word.text == close && !--depth)
			break;
	}
	return at;
}

/* --- what a text has ------------------------------------------------------------------------ */

struct piece **pieces_named(struct pieces *all, const char *name, size_t bytes)
{
	uint32_t hash = 2166136261u;

	for (size_t i = 0; i < bytes; i++)
		hash = (hash ^ (unsigned char)name[i]) * 16777619u;
	return &all->names[hash % PIECES_BUCKETS];
}

bool piece_same_name(const struct piece *a, const struct piece *b)
{
	return a->name_bytes == b->name_bytes && !memcmp(a->name, b->name, a->name_bytes);
}

/* From the directive's first word to its end. Returns NULL if it is none that this knows. */
static const char *read_piece(struct piece *p, const char *at)
{
	bool visible = false;
	struct word word = { at, 0 };

	p->from = at;
	p->kind = VARIABLE;
	while (*at && !p->name) {
		at = take_word(skip_space(at), &word);
		if (word_is(&word, ".extern"))
			p->is_extern = true;
		else if (word_is(&word, ".weak") || word_is(&word, ".common"))
			p->weak = true;
		else if (word_is(&word, ".visible"))
			visible = true;
		else if (word_is(&word, ".const"))
			p->constant = true;
		else if (word_is(&word, ".func"))
			p->kind = FUNCTION;
		else if (word_is(&word, ".entry"))
			p->kind = KERNEL;
		else if (word_is(&word, "(")) /* what a function returns, an attribute */
			at = skip_brackets(word.text, '(', ')');
		else if (word_is(&word, ";"))
			return NULL;
		else if (begins_name(*word.text))
			p->name = word.text;
	}
	p->name_bytes = word.bytes;
	p->local = !visible && !p->is_extern && !p->weak && p->kind != KERNEL;
	p->defined = p->kind == VARIABLE && !p->is_extern;
	while (*at) {
		at = take_word(skip_space(at), &word);
		p->to = at;
		if (word_is(&word, ";"))
			return at;
		if (word_is(&word, "{") && p->kind != VARIABLE) {
			p->to = skip_brackets(word.text, '{', '}');
			p->defined = true;
			return p->to;
		}
	}
	return NULL;
}

static void add(struct pieces *all, struct piece *p)
{
	struct piece **at = pieces_named(all, p->name, p->name_bytes);

	*all->end = p;
	all->end = &p->next;
	p->same = *at;
	*at = p;
}

int pieces_read(struct pieces *all, const char *text, unsigned int n)
{
	const char *at = skip_space(text);
	struct piece *p;
	struct word word;

	while (*at) {
		const char *after = take_word(at, &word);

		if (word_is(&word, ".version")) {
			if (strtod(after, NULL) > all->newest) {
				all->newest = strtod(after, NULL);
				all->version = at;
			}
			after = skip_line(at);
		} else if (word_is(&word, ".target")) {
			const char *sm = strstr(after, "sm_");

			if (sm && atoi(sm + 3) > all->newest_target) {
				all->newest_target = atoi(sm + 3);
				all->target = at;
			}
			after = skip_line(at);
		} else if (word_is(&word, ".address_size") || word_is(&word, ".file") || word_is(&word, ".loc") ||
			   *at == '@') {
			after = skip_line(at);
		} else if (word_is(&word, ".section")) {
			const char *open = strchr(at, '{');

			after = open ? skip_brackets(open, '{', '}') : skip_line(at);
		} else if (word_is(&word, ".pragma")) {
			while (*after && !word_is(&word, ";"))
				after = take_word(skip_space(after), &word);
		} else {
			p = calloc(1, sizeof(*p));
			if (!p)
				return -ENOMEM;
			p->text = n;
			after = read_piece(p, at);
			if (!after || !p->name) {
				free(p);
				return -EINVAL;
			}
			add(all, p);
		}
		at = skip_space(after);
	}
	return 0;
}

void pieces_free(struct pieces *all)
{
	for (struct piece *p = all->first, *next; p; p = next) {
		next = p->next;
		free(p);
	}
}
