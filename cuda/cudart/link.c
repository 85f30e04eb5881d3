// SPDX-License-Identifier: GPL-2.0
/*
 * Links PTX texts: -rdc=true leaves a text for each source, and a kernel of one calls functions
 * and uses variables of another. The texts become one, which the engine parses. This works on
 * words: it knows where a directive of the module's begins and ends, what it declares and how
 * it is visible, and nothing of instructions. Called by module.c.
 */
#include <ctype.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "link.h"

#define BUCKETS 4096

enum kind { VARIABLE, FUNCTION, KERNEL };

/* One directive at a module's top: a variable, a function with or without its body, a kernel. */
struct piece {
	struct piece *next;	      /* in the order of the texts */
	struct piece *same;	      /* of the same name hash */
	const char *from, *to;
	const char *name;
	size_t name_bytes;
	unsigned int text;
	enum kind kind;
	bool is_extern, weak, local, defined, constant;
	bool dropped; /* another one stands for it */
	bool written;
};

struct linker {
	struct piece *first, **end;
	struct piece *names[BUCKETS];
	const struct link_place *places;
	unsigned int nplaces;
	const char *version, *target; /* the newest */
	double newest;
	int newest_target;
};

struct word {
	const char *text;
	size_t bytes;
};

/* --- words ---------------------------------------------------------------------------------- */

static bool begins_name(char c)
{
	return isalpha((unsigned char)c) || c == '_' || c == '$';
}

static const char *skip_line(const char *at)
{
	at += strcspn(at, "\n");
	return *at ? at + 1 : at;
}

/* Past space and comments. */
static const char *skip_space(const char *at)
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

/* A name, a register (%r1), a directive (.func), a number, a string, or one character. */
static const char *take_word(const char *at, struct word *word)
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

static bool is(const struct word *word, const char *text)
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

/*
 * --- what a text has
 * ----------------------------------------------------------------------------
 */

static struct piece **bucket(struct linker *l, const char *name, size_t bytes)
{
	uint32_t hash = 2166136261u;

	for (size_t i = 0; i < bytes; i++)
		hash = (hash ^ (unsigned char)name[i]) * 16777619u;
	return &l->names[hash % BUCKETS];
}

static bool same_name(const struct piece *a, const struct piece *b)
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
		if (is(&word, ".extern"))
			p->is_extern = true;
		else if (is(&word, ".weak") || is(&word, ".common"))
			p->weak = true;
		else if (is(&word, ".visible"))
			visible = true;
		else if (is(&word, ".const"))
			p->constant = true;
		else if (is(&word, ".func"))
			p->kind = FUNCTION;
		else if (is(&word, ".entry"))
			p->kind = KERNEL;
		else if (is(&word, "(")) /* what a function returns, an attribute */
			at = skip_brackets(word.text, '(', ')');
		else if (is(&word, ";"))
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
		if (is(&word, ";"))
			return at;
		if (is(&word, "{") && p->kind != VARIABLE) {
			p->to = skip_brackets(word.text, '{', '}');
			p->defined = true;
			return p->to;
		}
	}
	return NULL;
}

static void add(struct linker *l, struct piece *p)
{
	struct piece **at = bucket(l, p->name, p->name_bytes);

	*l->end = p;
	l->end = &p->next;
	p->same = *at;
	*at = p;
}

static int read_text(struct linker *l, const char *text, unsigned int n)
{
	const char *at = skip_space(text);
	struct piece *p;
	struct word word;

	while (*at) {
		const char *after = take_word(at, &word);

		if (is(&word, ".version")) {
			if (strtod(after, NULL) > l->newest) {
				l->newest = strtod(after, NULL);
				l->version = at;
			}
			after = skip_line(at);
		} else if (is(&word, ".target")) {
			const char *sm = strstr(after, "sm_");

			if (sm && atoi(sm + 3) > l->newest_target) {
				l->newest_target = atoi(sm + 3);
				l->target = at;
			}
			after = skip_line(at);
		} else if (is(&word, ".address_size") || is(&word, ".file") || is(&word, ".loc") ||
			   *at == '@') {
			after = skip_line(at);
		} else if (is(&word, ".section")) {
			const char *open = strchr(at, '{');

			after = open ? skip_brackets(open, '{', '}') : skip_line(at);
		} else if (is(&word, ".pragma")) {
			while (*after && !is(&word, ";"))
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
			add(l, p);
		}
		at = skip_space(after);
	}
	return 0;
}

/*
 * --- who stands for whom
 * ------------------------------------------------------------------------
 */

/* clang gives a static variable's name an end with -rdc=true, so that it can be looked up. */
static bool is_place(const struct link_place *place, const char *name, size_t bytes)
{
	size_t n = strlen(place->name);

	if (bytes < n || memcmp(place->name, name, n))
		return false;
	return bytes == n || (!place->visible && (!strncmp(name + n, "__static__", 10) ||
						  !strncmp(name + n, "__intern__", 10)));
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
	for (struct piece *p = *bucket(l, of->name, of->name_bytes); p; p = p->same)
		if (!p->local && p->defined && same_name(p, of) &&
		    (!found || found->weak || !p->weak))
			found = p;
	return found;
}

static int choose(struct linker *l, char *why, size_t limit)
{
	for (struct piece *p = l->first; p; p = p->next) {
		struct piece *definition = shared_definition(l, p);

		if (p->kind == VARIABLE && place_of(l, p->name, p->name_bytes, p->text)) {
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
		} else {
			/* One declaration is enough. */
			for (struct piece *q = *bucket(l, p->name, p->name_bytes); q; q = q->same)
				if (q != p && same_name(q, p) && !q->local && !q->defined &&
				    q->text < p->text)
					p->dropped = true;
		}
	}
	return 0;
}

/* A name that a text keeps to itself, and another text has too. */
static bool clashes(struct linker *l, const struct piece *of)
{
	for (const struct piece *p = *bucket(l, of->name, of->name_bytes); p; p = p->same)
		if (p->text != of->text && same_name(p, of))
			return true;
	return false;
}

/* What the name means in a text that has a thing of its own by it: that thing, else NULL. */
static struct piece *own(struct linker *l, const struct word *word, unsigned int text)
{
	const struct piece like = { .name = word->text, .name_bytes = word->bytes };

	for (struct piece *p = *bucket(l, word->text, word->bytes); p; p = p->same)
		if (p->local && p->text == text && same_name(p, &like))
			return p;
	return NULL;
}

/*
 * --- the text
 * ---------------------------------------------------------------------------------------
 */

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

			if (is(&word, "generic") && *open == '(') {
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
	write_line(out, l->version);
	write_line(out, l->target);
	fputs(".address_size 64\n", out);
	for (const struct piece *p = l->first; p; p = p->next) {
		if (p->kind != FUNCTION || p->defined || p->dropped)
			continue;
		write_part(l, out, p, p->to);
		fputc('\n', out);
	}
	for (struct piece *p = l->first; p; p = p->next) {
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
	for (const struct piece *p = l->first; p; p = p->next) {
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
	struct piece *next;
	int ret = l ? 0 : -ENOMEM;
	size_t bytes;
	FILE *out;

	*text = NULL;
	snprintf(why, limit, "%s", "");
	if (ret)
		return ret;
	l->end = &l->first;
	l->places = places;
	l->nplaces = nplaces;
	for (unsigned int i = 0; i < n && !ret; i++)
		ret = read_text(l, texts[i], i);
	if (!ret)
		ret = l->version && l->target ? choose(l, why, limit) : -EINVAL;
	out = ret ? NULL : open_memstream(text, &bytes);
	if (out) {
		write_all(l, out);
		if (fclose(out))
			ret = -ENOMEM;
	} else if (!ret) {
		ret = -ENOMEM;
	}
	for (struct piece *p = l->first; p; p = next) {
		next = p->next;
		free(p);
	}
	free(l);
	return ret;
}
