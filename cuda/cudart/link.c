// SPDX-License-Identifier: GPL-2.0
/*
 * Links PTX texts: -rdc=true leaves a text for each source, and a kernel of one calls functions
 * and uses variables of another. The texts become one, which the engine parses. Called by module.c.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "link.h"
#include "pieces.h"

struct linker {
	struct pieces pieces;
	const struct link_place *places;
	unsigned int nplaces;
};

/* --- who stands for whom -------------------------------------------------------------------- */

/* clang gives a static variable's name an end with -rdc=true, so that it can be looked up. */
static bool has_static_end(const char *name, size_t bytes, size_t n)
{
	return bytes > n + 10 &&
	       (!memcmp(name + n, "__static__", 10) || !memcmp(name + n, "__intern__", 10));
}

static bool is_place(const struct link_place *place, const char *name, size_t bytes)
{
	size_t n = strlen(place->name);

	if (bytes < n || memcmp(place->name, name, n))
		return false;
	return bytes == n || (!place->visible && has_static_end(name, bytes, n));
}

/*
 * clang writes the plain name where it met a use before the host's use, which is what gives the
 * variable its end: the text then declares the one and defines the other.
 */
static void find_meaning(struct linker *l, struct piece *p)
{
	for (struct piece *q = l->pieces.first; q; q = q->next) {
		if (q->text == p->text && q->kind == VARIABLE && q->defined &&
		    q->name_bytes > p->name_bytes && !memcmp(q->name, p->name, p->name_bytes) &&
		    has_static_end(q->name, q->name_bytes, p->name_bytes)) {
			p->means = q;
			p->dropped = true;
		}
	}
}

/* What the name means in a text. */
static const struct link_place *place_of(const struct linker *l, const char *name, size_t bytes,
					 unsigned int text)
{
	const struct link_place *found = NULL;

	for (unsigned int i = 0; i < l->nplaces; i++) {
		const struct link_place *place = &l->places[i];

		if ((place->text == text || (place->visible && !found)) &&
		    is_place(place, name, bytes))
			found = place;
	}
	return found;
}

/*
 * The definition that all texts mean by the name, or NULL: what each has is its own, or nobody
 * has one.
 */
static struct piece *shared_definition(struct linker *l, const struct piece *of)
{
	struct piece *found = NULL;

	/* Newest first in the bucket, so that the first of the weak ones is taken. */
	for (struct piece *p = *pieces_named(&l->pieces, of->name, of->name_bytes); p; p = p->same)
		if (!p->local && p->defined && piece_same_name(p, of) &&
		    (!found || found->weak || !p->weak))
			found = p;
	return found;
}

static int choose(struct linker *l, char *why, size_t limit)
{
	for (struct piece *p = l->pieces.first; p; p = p->next)
		if (p->kind == VARIABLE && p->is_extern)
			find_meaning(l, p);
	for (struct piece *p = l->pieces.first; p; p = p->next) {
		struct piece *definition = shared_definition(l, p);

		if (p->means) {
			continue;
		} else if (p->kind == VARIABLE && place_of(l, p->name, p->name_bytes, p->text)) {
			p->dropped = true;
		} else if (p->local) {
			continue;
		} else if (p->defined) {
			p->dropped = p != definition;
			if (p->dropped && !p->weak && !definition->weak) {
				snprintf(why, limit, "%.*s is defined twice", (int)p->name_bytes,
					 p->name);
				return -EEXIST;
			}
		} else if (definition && definition->kind == KERNEL) {
			/* clang declares a kernel that the host launches and another text defines. */
			p->dropped = true;
		} else {
			/* One declaration is enough. */
			for (struct piece *q = *pieces_named(&l->pieces, p->name, p->name_bytes); q;
			     q = q->same)
				if (q != p && piece_same_name(q, p) && !q->local && !q->defined &&
				    !q->means && q->text < p->text)
					p->dropped = true;
		}
	}
	return 0;
}

/* A name that a text keeps to itself, and another text has too. */
static bool clashes(struct linker *l, const struct piece *of)
{
	for (const struct piece *p = *pieces_named(&l->pieces, of->name, of->name_bytes); p;
	     p = p->same)
		if (p->text != of->text && piece_same_name(p, of))
			return true;
	return false;
}

/* What the name means in a text that has a thing of its own by it: that thing, else NULL. */
static struct piece *own(struct linker *l, const struct word *word, unsigned int text)
{
	const struct piece like = { .name = word->text, .name_bytes = word->bytes };

	for (struct piece *p = *pieces_named(&l->pieces, word->text, word->bytes); p; p = p->same)
		if ((p->local || p->means) && p->text == text && piece_same_name(p, &like))
			return p->means ? p->means : p;
	return NULL;
}

/* --- the text ------------------------------------------------------------------------------- */

/* The address of a placed variable and what is added to it: [x+4] takes one number. */
static const char *write_place(FILE *out, uint64_t address, const char *after)
{
	const char *at = skip_space(after), *digits;
	char *end;

	if (*at == '+' || *at == '-') {
		digits = skip_space(at + 1);
		if (isdigit((unsigned char)*digits)) {
			uint64_t n = strtoull(digits, &end, 0);

			address += *at == '+' ? n : -n;
			after = end;
		}
	}
	fprintf(out, "%llu", (unsigned long long)address);
	return after;
}

static void write_part(struct linker *l, FILE *out, const struct piece *p, const char *to)
{
	const char *at = p->from, *next;
	struct word word;

	while (at < to) {
		next = skip_space(at);
		if (next > at) {
			/* Lines stay lines: .loc and .file end with theirs. */
			fputc(memchr(at, '\n', (size_t)(next - at)) ? '\n' : ' ', out);
			at = next;
			continue;
		}
		next = take_word(at, &word);
		if (begins_name(*word.text)) {
			const struct link_place *place =
				place_of(l, word.text, word.bytes, p->text);
			const struct piece *mine = own(l, &word, p->text);
			const char *open = skip_space(next),
				   *inside = skip_space(open + (*open == '('));
			struct word name;

			if (word_is(&word, "generic") && *open == '(') {
				const char *close = skip_space(take_word(inside, &name));

				place = place_of(l, name.text, name.bytes, p->text);
				if (place && *close == ')')
					next = close + 1;
				else
					place = NULL;
			}
			if (place) {
				at = write_place(out, place->address, next);
				continue;
			}
			if (mine)
				word = (struct word){ mine->name, mine->name_bytes };
			fwrite(word.text, 1, word.bytes, out);
			if (mine && clashes(l, mine))
				fprintf(out, "$%u", mine->text);
		} else {
			fwrite(word.text, 1, word.bytes, out);
		}
		at = next;
	}
}

static void write_line(FILE *out, const char *line)
{
	fprintf(out, "%.*s\n", (int)strcspn(line, "\r\n"), line);
}

/* Functions are declared before variables that hold their addresses; bodies come last. */
static void write_all(struct linker *l, FILE *out)
{
	write_line(out, l->pieces.version);
	write_line(out, l->pieces.target);
	fputs(".address_size 64\n", out);
	for (const struct piece *p = l->pieces.first; p; p = p->next) {
		if (p->kind != FUNCTION || p->defined || p->dropped)
			continue;
		write_part(l, out, p, p->to);
		fputc('\n', out);
	}
	for (struct piece *p = l->pieces.first; p; p = p->next) {
		struct piece *first = p;

		/*
		 * The engine knows no constants of elsewhere: the definition comes where it is
		 * named first.
		 */
		if (p->kind == VARIABLE && p->constant && p->is_extern)
			first = shared_definition(l, p);
		if (p->kind != VARIABLE || p->dropped || !first || first->written)
			continue;
		first->written = true;
		write_part(l, out, first, first->to);
		fputc('\n', out);
	}
	for (const struct piece *p = l->pieces.first; p; p = p->next) {
		if (p->kind == VARIABLE || !p->defined || p->dropped)
			continue;
		write_part(l, out, p, p->to);
		fputc('\n', out);
	}
}

int link_texts(const char *const *texts, unsigned int n, const struct link_place *places,
	       unsigned int nplaces, char **text, char *why, size_t limit)
{
	struct linker *l = calloc(1, sizeof(*l));
	int ret = l ? 0 : -ENOMEM;
	size_t bytes;
	FILE *out;

	*text = NULL;
	snprintf(why, limit, "%s", "");
	if (ret)
		return ret;
	l->pieces.end = &l->pieces.first;
	l->places = places;
	l->nplaces = nplaces;
	for (unsigned int i = 0; i < n && !ret; i++)
		ret = pieces_read(&l->pieces, texts[i], i);
	if (!ret)
		ret = l->pieces.version && l->pieces.target ? choose(l, why, limit) : -EINVAL;
	out = ret ? NULL : open_memstream(text, &bytes);
	if (out) {
		write_all(l, out);
		if (fclose(out))
			ret = -ENOMEM;
	} else if (!ret) {
		ret = -ENOMEM;
	}
	pieces_free(&l->pieces);
	free(l);
	return ret;
}
