// SPDX-License-Identifier: GPL-2.0
/*
 * The tables of policies, from prefetch.def and evict.def, and the text that
 * names one with its options: "sequential:pages=32". For paging_create(),
 * gpu_spec_check() and listings.
 */
#include "paging/rows.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const struct gpuemu_prefetch_ops *const prefetch_rows[] = {
#define X(name) &prefetch_##name##_ops,
#include "paging/prefetch.def"
#undef X
	NULL,
};

const struct gpuemu_evict_ops *const evict_rows[] = {
#define X(name) &evict_##name##_ops,
#include "paging/evict.def"
#undef X
	NULL,
};

const struct evict_runs *evict_runs_of(const struct gpuemu_evict_ops *ops)
{
	return ops == evict_lru_runs.ops ? &evict_lru_runs : NULL;
}

const struct prefetch_runs *prefetch_runs_of(const struct gpuemu_prefetch_ops *ops)
{
	return ops == prefetch_tree_runs.ops ? &prefetch_tree_runs : NULL;
}

/* The text that is being parsed, for the messages. */
struct parse {
	const char *key;			/* "paging.prefetch" */
	const char *name;			/* of the policy, NUL terminated */
	const struct gpuemu_policy_option *options;
	struct err *err;
};

/* "a, b, c": the row's names, or options, or "none". */
static void add_name(char *text, size_t room, const char *name)
{
	size_t used = strlen(text);

	snprintf(text + used, room - used, "%s%s", used ? ", " : "", name);
}

static int unknown_policy(const struct parse *p, enum policy_kind kind)
{
	char names[384] = "";

	if (kind == POLICY_PREFETCH)
		for (unsigned int i = 0; prefetch_rows[i]; i++)
			add_name(names, sizeof(names), prefetch_rows[i]->name);
	else
		for (unsigned int i = 0; evict_rows[i]; i++)
			add_name(names, sizeof(names), evict_rows[i]->name);
	return err_set(p->err, -EINVAL, "%s: no policy '%s'; there are: %s", p->key, p->name, names);
}

static int unknown_option(const struct parse *p, const char *option)
{
	char names[384] = "";

	for (unsigned int i = 0; p->options && p->options[i].key; i++)
		add_name(names, sizeof(names), p->options[i].key);
	if (!names[0])
		return err_set(p->err, -EINVAL, "%s: '%s' has no option '%s': it has none", p->key,
			       p->name, option);
	return err_set(p->err, -EINVAL, "%s: '%s' has no option '%s'; it has: %s", p->key, p->name,
		       option, names);
}

/* Decimal digits; K, M and G are powers of 1024. */
static bool parse_value(const char *text, uint64_t *value)
{
	unsigned int shift = 0;
	char *end;

	if (!isdigit((unsigned char)text[0]))
		return false;
	errno = 0;
	*value = strtoull(text, &end, 10);
	if (errno)
		return false;
	switch (*end) {
	case 'G':
		shift += 10;
		/* fall through */
	case 'M':
		shift += 10;
		/* fall through */
	case 'K':
		shift += 10;
		end++;
	}
	if (*end || *value > UINT64_MAX >> shift)
		return false;
	*value <<= shift;
	return true;
}

/* KEY=VALUE. */
static int parse_option(const struct parse *p, char *text, uint64_t *values)
{
	char *equals = strchr(text, '=');

	if (!equals)
		return err_set(p->err, -EINVAL, "%s: '%s' behind '%s:' is not KEY=VALUE", p->key, text,
			       p->name);
	*equals = '\0';
	for (unsigned int i = 0; p->options && p->options[i].key && i < POLICY_OPTIONS; i++) {
		const struct gpuemu_policy_option *o = &p->options[i];

		if (strcmp(o->key, text))
			continue;
		if (parse_value(equals + 1, &values[i]) && values[i] >= o->min &&
		    values[i] <= o->max)
			return 0;
		return err_set(p->err, -EINVAL, "%s: %s:%s=%s: a number from %llu to %llu is needed (%s)",
			       p->key, p->name, o->key, equals + 1, (unsigned long long)o->min,
			       (unsigned long long)o->max, o->doc);
	}
	return unknown_option(p, text);
}

/* Room for the value of paging.prefetch or paging.evict. */
#define TEXT_MAX	sizeof(((struct gpu_spec *)NULL)->prefetch)

/* Copies the policy's name to copy[] and sets *rest to the text behind the colon. */
static struct parse begin(const char *text, enum policy_kind kind, char *copy, char **rest,
			  struct err *err)
{
	struct parse p = {
		.key = kind == POLICY_PREFETCH ? "paging.prefetch" : "paging.evict",
		.err = err,
	};

	snprintf(copy, TEXT_MAX, "%s", text);
	*rest = copy;
	p.name = strsep(rest, ":");
	return p;
}

int policy_parse_options(const char *text, enum policy_kind kind, struct policy_choice *choice,
			 struct err *err)
{
	char copy[TEXT_MAX], *rest, *option;
	struct parse p = begin(text, kind, copy, &rest, err);
	int rc = 0;

	p.options = choice->prefetch ? choice->prefetch->options : choice->evict->options;
	for (unsigned int i = 0; p.options && p.options[i].key && i < POLICY_OPTIONS; i++)
		choice->values[i] = p.options[i].def;
	while (!rc && rest && (option = strsep(&rest, ",")))
		rc = parse_option(&p, option, choice->values);
	return rc;
}

int policy_parse(const char *text, enum policy_kind kind, struct policy_choice *choice,
		 struct err *err)
{
	char copy[TEXT_MAX], *rest;
	struct parse p = begin(text, kind, copy, &rest, err);

	*choice = (struct policy_choice){ NULL };
	for (unsigned int i = 0; kind == POLICY_PREFETCH && prefetch_rows[i]; i++)
		if (strcmp(prefetch_rows[i]->name, p.name) == 0)
			choice->prefetch = prefetch_rows[i];
	for (unsigned int i = 0; kind == POLICY_EVICT && evict_rows[i]; i++)
		if (strcmp(evict_rows[i]->name, p.name) == 0)
			choice->evict = evict_rows[i];
	if (!choice->prefetch && !choice->evict)
		return unknown_policy(&p, kind);
	return policy_parse_options(text, kind, choice, err);
}

/* An object of the user's is looked at when it is loaded, which may be elsewhere. */
static int check(const char *text, enum policy_kind kind, struct err *err)
{
	struct policy_choice choice;

	return plugin_is_path(text) ? 0 : policy_parse(text, kind, &choice, err);
}

int paging_check_policies(const struct gpu_spec *spec, struct err *err)
{
	int rc = check(spec->prefetch, POLICY_PREFETCH, err);

	return rc ? rc : check(spec->evict, POLICY_EVICT, err);
}
