// SPDX-License-Identifier: GPL-2.0
/* Reads a sweep's file (libconfig). A scalar is an array of one. */
#include <errno.h>
#include <libconfig.h>
#include <stdlib.h>
#include <string.h>

#include "memory.h"
#include "sweep.h"

static const char *const names[] = {
	"workloads", "config", "backend", "keys", "vram", "options", "repeats", "columns",
};

/* --- values -------------------------------------------------------------------------------- */

static int bad(const config_setting_t *at, const char *file, struct err *err, const char *what)
{
	return err_set(err, -EINVAL, "%s:%u: %s", file, config_setting_source_line(at), what);
}

/* The value as --set takes it. NULL: it is no scalar. */
static char *scalar(const config_setting_t *at)
{
	switch (config_setting_type(at)) {
	case CONFIG_TYPE_INT:
		return text_of("%d", config_setting_get_int(at));
	case CONFIG_TYPE_INT64:
		return text_of("%lld", config_setting_get_int64(at));
	case CONFIG_TYPE_FLOAT:
		return text_of("%.15g", config_setting_get_float(at));
	case CONFIG_TYPE_BOOL:
		return text_of("%s", config_setting_get_bool(at) ? "on" : "off");
	case CONFIG_TYPE_STRING:
		return text_of("%s", config_setting_get_string(at));
	default:
		return NULL;
	}
}

static void free_texts(char **texts, size_t n)
{
	for (size_t i = 0; i < n; i++)
		free(texts[i]);
	free(texts);
}

/* All values of a setting, in their order. */
static int values_of(const config_setting_t *at, char ***values, size_t *count, const char *file,
		     struct err *err)
{
	bool many = config_setting_is_aggregate(at) && !config_setting_is_group(at);
	size_t n = many ? (size_t)config_setting_length(at) : 1;
	char **texts;

	if (!n)
		return bad(at, file, err, "no value");
	texts = must(calloc(n, sizeof(*texts)));
	for (size_t i = 0; i < n; i++) {
		texts[i] = scalar(many ? config_setting_get_elem(at, (unsigned int)i) : at);
		if (!texts[i]) {
			free_texts(texts, i);
			return bad(at, file, err, "not a value, nor a list of values");
		}
		for (size_t k = 0; k < i; k++)
			if (!strcmp(texts[k], texts[i])) {
				free_texts(texts, i + 1);
				return bad(at, file, err, "a value stands twice");
			}
	}
	*values = texts;
	*count = n;
	return 0;
}

/* --- factors ----------------------------------------------------------------------------------- */

/* Takes the name. */
static struct sweep_factor *add_factor(struct sweep *s, enum sweep_kind kind, char *name)
{
	struct sweep_factor *f;

	s->factors = must(realloc(s->factors, (s->nfactors + 1) * sizeof(*s->factors)));
	f = &s->factors[s->nfactors++];
	*f = (struct sweep_factor){ .kind = kind, .name = name };
	return f;
}

static void add_value(struct sweep_factor *f, char *value)
{
	f->values = must(realloc(f->values, (f->count + 1) * sizeof(char *)));
	f->values[f->count++] = value;
}

/*
 * The setting of that name, or the given value if the file lacks it; NULL: then it is no
 * factor.
 */
static int read_factor(struct sweep *s, const config_setting_t *root, enum sweep_kind kind,
		       const char *setting, const char *column, const char *otherwise,
		       const char *file, struct err *err)
{
	config_setting_t *at = config_setting_lookup((config_setting_t *)root, setting);
	struct sweep_factor *f;

	if (!at && !otherwise)
		return 0;
	f = add_factor(s, kind, text_of("%s", column));
	if (at)
		return values_of(at, &f->values, &f->count, file, err);
	add_value(f, text_of("%s", otherwise));
	return 0;
}

/* keys: { gpu: { sms = [ 4, 8 ]; }; } is the key gpu.sms. */
static int read_keys(struct sweep *s, const config_setting_t *keys, const char *file,
		     struct err *err)
{
	int ret = 0;

	if (!config_setting_is_group(keys))
		return bad(keys, file, err, "keys is a group of groups: keys: { gpu: { sms = [ 4, 8 ]; }; };");
	for (int i = 0; !ret && i < config_setting_length(keys); i++) {
		config_setting_t *group = config_setting_get_elem(keys, (unsigned int)i);

		if (!config_setting_is_group(group))
			return bad(group, file, err, "the part of a key before the dot is a group: "
				   "gpu: { sms = [ 4, 8 ]; };");
		for (int k = 0; !ret && k < config_setting_length(group); k++) {
			config_setting_t *at = config_setting_get_elem(group, (unsigned int)k);
			struct sweep_factor *f = add_factor(s, SWEEP_KEY, text_of("%s.%s",
				config_setting_name(group), config_setting_name(at)));

			ret = values_of(at, &f->values, &f->count, file, err);
		}
	}
	return ret;
}

static int read_repeats(struct sweep *s, const config_setting_t *at, const char *file,
			struct err *err)
{
	int n = config_setting_get_int(at);
	struct sweep_factor *f;

	if (config_setting_type(at) != CONFIG_TYPE_INT || n < 1 || n > 10000)
		return bad(at, file, err, "repeats is a number from 1 to 10000");
	f = add_factor(s, SWEEP_REPEAT, text_of("repeat"));
	for (int i = 1; i <= n; i++)
		add_value(f, text_of("%d", i));
	return 0;
}

static int check_names(const config_setting_t *root, const char *file, struct err *err)
{
	for (int i = 0; i < config_setting_length(root); i++) {
		config_setting_t *at = config_setting_get_elem(root, (unsigned int)i);
		char known[256] = "";
		size_t k = 0, used = 0;

		while (k < ARRAY_SIZE(names) && strcmp(names[k], config_setting_name(at)))
			k++;
		if (k < ARRAY_SIZE(names))
			continue;
		for (k = 0; k < ARRAY_SIZE(names); k++)
			used += (size_t)snprintf(known + used, sizeof(known) - used, "%s%s",
						 k ? ", " : "", names[k]);
		return err_set(err, -EINVAL, "%s:%u: unknown setting '%s'; there are: %s", file,
			       config_setting_source_line(at), config_setting_name(at), known);
	}
	return 0;
}

static int read_all(struct sweep *s, const config_setting_t *root, const char *file,
		    struct err *err)
{
	config_setting_t *keys = config_setting_lookup((config_setting_t *)root, "keys");
	config_setting_t *repeats = config_setting_lookup((config_setting_t *)root, "repeats");
	config_setting_t *columns = config_setting_lookup((config_setting_t *)root, "columns");
	int ret = check_names(root, file, err);

	if (!ret && !config_setting_lookup((config_setting_t *)root, "workloads"))
		return err_set(err, -EINVAL, "%s: no workloads, as in: workloads = [ \"vecadd n=64K\" ];",
			       file);
	if (!ret)
		ret = read_factor(s, root, SWEEP_WORKLOADS, "workloads", "workload", NULL, file, err);
	if (!ret)
		ret = read_factor(s, root, SWEEP_CONFIG, "config", "config", "", file, err);
	if (!ret)
		ret = read_factor(s, root, SWEEP_BACKEND, "backend", "backend", "sim", file, err);
	if (!ret && keys)
		ret = read_keys(s, keys, file, err);
	if (!ret)
		ret = read_factor(s, root, SWEEP_VRAM, "vram", "vram", NULL, file, err);
	if (!ret)
		ret = read_factor(s, root, SWEEP_OPTIONS, "options", "options", NULL, file, err);
	if (!ret && repeats)
		ret = read_repeats(s, repeats, file, err);
	if (!ret && columns)
		ret = values_of(columns, &s->columns, &s->ncolumns, file, err);
	return ret;
}

int sweep_read(struct sweep *s, const char *file, struct err *err)
{
	FILE *in = fopen(file, "re");
	config_t config;
	int ret;

	*s = (struct sweep){ 0 };
	if (!in)
		return err_set(err, -errno, "%s: %s", file, strerror(errno));
	config_init(&config);
	if (config_read(&config, in))
		ret = read_all(s, config_root_setting(&config), file, err);
	else
		ret = err_set(err, -EINVAL, "%s:%d: %s%s", file, config_error_line(&config),
			      config_error_text(&config),
			      strcmp(config_error_text(&config), "syntax error") ? "" :
			      "; a sweep is settings, as in workloads = [ \"vecadd\" ]; with # for "
			      "comments");
	config_destroy(&config);
	fclose(in);
	if (ret)
		sweep_free(s);
	return ret;
}

size_t sweep_named(const char *workloads)
{
	const char *options = strstr(workloads, " --");

	return options ? (size_t)(options - workloads) : strlen(workloads);
}

/* "bfs degree=3 + lbm @9 --regs 20": "bfs size=tiny degree=3 + lbm size=tiny @9 --regs 20" */
static char *resized(const char *text, const char *size)
{
	size_t named = sweep_named(text);
	char *words = text_of("%.*s", (int)named, text), *all = text_of("%s", ""), *save, *whole;
	bool name = true;

	for (char *word = strtok_r(words, " ", &save); word; word = strtok_r(NULL, " ", &save)) {
		char *more = text_of("%s%s%s%s%s", all, *all ? " " : "", word,
				     name ? " size=" : "", name ? size : "");

		name = !strcmp(word, "+");
		free(all);
		all = more;
	}
	whole = text_of("%s%s", all, text + named);
	free(all);
	free(words);
	return whole;
}

void sweep_resize(struct sweep *s, const char *size)
{
	for (size_t i = 0; i < s->nfactors; i++) {
		struct sweep_factor *f = &s->factors[i];

		for (size_t k = 0; f->kind == SWEEP_WORKLOADS && k < f->count; k++) {
			char *text = resized(f->values[k], size);

			free(f->values[k]);
			f->values[k] = text;
		}
	}
}

void sweep_free(struct sweep *s)
{
	for (size_t i = 0; i < s->nfactors; i++) {
		free_texts(s->factors[i].values, s->factors[i].count);
		free(s->factors[i].name);
	}
	free(s->factors);
	free_texts(s->columns, s->ncolumns);
	*s = (struct sweep){ 0 };
}

const struct sweep_factor *sweep_factor(const struct sweep *s, enum sweep_kind kind)
{
	for (size_t i = 0; i < s->nfactors; i++)
		if (s->factors[i].kind == kind)
			return &s->factors[i];
	return NULL;
}
