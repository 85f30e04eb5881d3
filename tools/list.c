// SPDX-License-Identifier: GPL-2.0
/*
 * gpuemu list: what can be named on the command line, from the tables that
 * accept it.
 */
#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/spec.h"
#include "cli.h"
#include "gpu/gpu.h"
#include "output.h"
#include "workload.h"

enum { OPT_JSON = CLI_OWN, OPT_SIZE };

/* Parameters of workloads are shown for this size. */
static enum workload_size shown_size = WORKLOAD_MEDIUM;

struct kind {
	const char *name, *help;
	/* The rows, as an array of {"name":..,"help":..,...}; the caller owns it. */
	struct json_object *(*rows)(const struct kind *kind);
};

static struct json_object *row(const char *name, const char *help)
{
	struct json_object *o = json_object_new_object();

	json_object_object_add(o, "name", json_object_new_string(name));
	json_object_object_add(o, "help", json_object_new_string(help));
	return o;
}

static struct json_object *workload_rows(const struct kind *kind)
{
	struct json_object *rows = json_object_new_array();
	const struct workload_row *w;

	for (unsigned int n = 0; (w = workload_row(n)); n++) {
		struct json_object *o = row(w->ops->name, w->ops->help);
		struct json_object *options = json_object_new_array();

		json_object_object_add(o, "exercises", json_object_new_string(w->ops->exercises));
		for (unsigned int i = 0; i < WORKLOAD_OPTIONS && w->ops->options[i].key; i++) {
			const struct workload_option *opt = &w->ops->options[i];
			struct json_object *p = row(opt->key, opt->doc);

			json_object_object_add(p, "value", json_object_new_uint64(
				workload_option_at(w->ops, i, shown_size)));
			json_object_object_add(p, "default", json_object_new_uint64(opt->def));
			json_object_object_add(p, "min", json_object_new_uint64(opt->min));
			json_object_object_add(p, "max", json_object_new_uint64(opt->max));
			json_object_object_add(p, "quick", json_object_new_uint64(
				opt->quick ? opt->quick : opt->def));
			json_object_object_add(p, "tiny", json_object_new_uint64(
				opt->tiny ? opt->tiny : opt->def));
			json_object_object_add(p, "large", json_object_new_uint64(
				workload_option_at(w->ops, i, WORKLOAD_LARGE)));
			json_object_array_add(options, p);
		}
		json_object_object_add(o, "options", options);
		json_object_array_add(rows, o);
	}
	return rows;
}

static struct json_object *policy_options(const struct gpuemu_policy_option *opt)
{
	struct json_object *options = json_object_new_array();

	for (; opt->key; opt++) {
		struct json_object *p = row(opt->key, opt->doc);

		json_object_object_add(p, "default", json_object_new_uint64(opt->def));
		json_object_object_add(p, "min", json_object_new_uint64(opt->min));
		json_object_object_add(p, "max", json_object_new_uint64(opt->max));
		json_object_array_add(options, p);
	}
	return options;
}

static struct json_object *engine_rows(const struct kind *kind)
{
	struct json_object *rows = json_object_new_array();
	const char *name, *help;

	for (unsigned int n = 0; gpu_list_row(kind->name, n, &name, &help); n++) {
		const struct gpuemu_policy_option *opt = gpu_list_options(kind->name, n);
		struct json_object *o = row(name, help);

		if (opt)
			json_object_object_add(o, "options", policy_options(opt));
		json_object_array_add(rows, o);
	}
	return rows;
}

static struct json_object *key_rows(const struct kind *kind)
{
	struct json_object *rows = json_object_new_array();
	struct spec_row s;

	for (unsigned int n = 0; spec_row(n, &s); n++) {
		struct json_object *o = row(s.key, s.doc);

		json_object_object_add(o, "default", json_object_new_string(s.default_text));
		json_object_object_add(o, "unit", json_object_new_string(s.unit));
		json_object_object_add(o, "source", json_object_new_string(s.source));
		if (!s.is_name) {
			json_object_object_add(o, "min", json_object_new_uint64(s.min));
			json_object_object_add(o, "max", json_object_new_uint64(s.max));
		}
		json_object_array_add(rows, o);
	}
	return rows;
}

/* The first sentence of a configuration's opening comment, without the licence. */
static void config_help(const char *path, char *text, size_t size)
{
	FILE *file = fopen(path, "re");
	size_t used = 0;
	char line[256], *stop = NULL;

	text[0] = '\0';
	while (file && used < size && fgets(line, sizeof(line), file) && line[0] == '#') {
		char *s = line + strspn(line, "# \t");

		s[strcspn(s, "\n")] = '\0';
		if (strstr(s, "SPDX") || (!*s && !used))
			continue;
		if (!*s)
			break;
		stop = strstr(s, ". ");
		if (stop)
			*stop = '\0';
		used += (size_t)snprintf(text + used, size - used, "%s%s", used ? " " : "", s);
		if (stop)
			break;
	}
	/* The last sentence has no blank after its full stop. */
	used = strlen(text);
	if (!stop && used && text[used - 1] == '.')
		text[used - 1] = '\0';
	if (file)
		fclose(file);
}

static int is_config(const struct dirent *entry)
{
	const char *dot = strrchr(entry->d_name, '.');

	return dot && dot != entry->d_name && !strcmp(dot, ".conf");
}

static bool listed(struct json_object *rows, const char *name)
{
	for (size_t i = 0; i < json_object_array_length(rows); i++)
		if (!strcmp(output_string(json_object_array_get_idx(rows, i), "name"), name))
			return true;
	return false;
}

static void add_configs(struct json_object *rows, const char *dir)
{
	struct dirent **entries;
	char path[4096], help[400];
	int n;

	snprintf(path, sizeof(path), "%s/configs", dir);
	n = scandir(path, &entries, is_config, alphasort);
	for (int i = 0; i < n; i++) {
		snprintf(path, sizeof(path), "%s/configs/%s", dir, entries[i]->d_name);
		config_help(path, help, sizeof(help));
		*strrchr(entries[i]->d_name, '.') = '\0';
		if (!listed(rows, entries[i]->d_name))
			json_object_array_add(rows, row(entries[i]->d_name, help));
		free(entries[i]);
	}
	if (n >= 0)
		free(entries);
}

/* The first folder that has a name wins, as it does in libgpuemu. */
static struct json_object *config_rows(const struct kind *kind)
{
	struct json_object *rows = json_object_new_array();
	const char *lists[] = { getenv("GPUEMU_DATADIR"), GPUEMU_DATADIR };

	for (size_t i = 0; i < ARRAY_SIZE(lists); i++) {
		char *dirs = lists[i] ? strdup(lists[i]) : NULL, *rest = dirs, *dir;

		while (dirs && (dir = strsep(&rest, ":")))
			if (*dir)
				add_configs(rows, dir);
		free(dirs);
	}
	return rows;
}

static const struct kind kinds[] = {
	{ "workloads", "for gpuemu run", workload_rows },
	{ "configs", "for --config", config_rows },
	{ "schedulers", "for --sched", engine_rows },
	{ "dispatchers", "for --set gpu.dispatch=", engine_rows },
	{ "mechanisms", "for --set sm.cta=", engine_rows },
	{ "prefetchers", "for --prefetch", engine_rows },
	{ "evictors", "for --evict", engine_rows },
	{ "backends", "for --backend", engine_rows },
	{ "keys", "for --set", key_rows },
};

static void print_key(struct json_object *o)
{
	const char *unit = output_string(o, "unit"), *def = output_string(o, "default");
	char value[64];

	if (strcmp(unit, "switch"))
		snprintf(value, sizeof(value), "%s %s", def, unit);
	else
		snprintf(value, sizeof(value), "%s", strcmp(def, "0") ? "on" : "off");
	printf("  %-24s %-24s %s\n", output_string(o, "name"), value,
	       output_string(o, "help"));
}

static void print_text(const struct kind *kind, struct json_object *rows)
{
	printf("%s (%s)\n", kind->name, kind->help);
	for (size_t i = 0; i < json_object_array_length(rows); i++) {
		struct json_object *o = json_object_array_get_idx(rows, i);
		struct json_object *options = output_at(o, "options");

		if (output_has(o, "default"))
			print_key(o);
		else
			printf("  %-16s %s\n", output_string(o, "name"), output_string(o, "help"));
		for (size_t j = 0; options && j < json_object_array_length(options); j++) {
			struct json_object *p = json_object_array_get_idx(options, j);

			printf("      %s=%s  %s\n", output_string(p, "name"),
			       output_string(p, output_has(p, "value") ? "value" : "default"),
			       output_string(p, "help"));
		}
	}
}

static int unknown_kind(const struct verb *verb, const char *name)
{
	char known[256] = "";
	size_t used = 0;

	for (size_t i = 0; i < ARRAY_SIZE(kinds) && used < sizeof(known); i++)
		used += (size_t)snprintf(known + used, sizeof(known) - used, "%s%s",
					 i ? ", " : "", kinds[i].name);
	return cli_misused(verb, "unknown kind '%s'; there are: %s", name, known);
}

static int list(const struct verb *verb, int argc, char **argv)
{
	struct json_object *all;
	struct cli_parser p;
	const char *json = NULL, *only;
	struct err err;
	int c, found = 0, result = CLI_DONE;

	cli_parse(&p, verb, argc, argv);
	while ((c = cli_next(&p)) != -1) {
		if (c == 0)
			return CLI_DONE;
		if (c == -2)
			return CLI_MISUSED;
		if (c == OPT_SIZE) {
			if (workload_size_parse(optarg, &shown_size, &err))
				return cli_misused(verb, "%s", err.text);
			continue;
		}
		json = optarg ? optarg : "-";
	}
	if (argc - optind > 1)
		return cli_misused(verb, "one kind at a time, or none for all");
	only = argv[optind];
	all = json_object_new_object();
	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++) {
		struct json_object *rows;

		if (only && strcmp(only, kinds[i].name))
			continue;
		found++;
		rows = kinds[i].rows(&kinds[i]);
		json_object_object_add(all, kinds[i].name, rows);
		if (!json)
			print_text(&kinds[i], rows);
	}
	if (!found)
		result = unknown_kind(verb, only);
	else if (json && output_json(all, json, &err))
		result = cli_failed(verb, "%s", err.text);
	json_object_put(all);
	return result;
}

static void more(FILE *out)
{
	fprintf(out, "\nKinds:\n");
	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++)
		fprintf(out, "  %-12s %s\n", kinds[i].name, kinds[i].help);
}

static const struct cli_option options[] = {
	{ "json", "[FILE]", "as JSON, to FILE or stdout", OPT_JSON },
	{ "size", "SIZE", "workloads' parameters at that size: tiny, small, medium, large", OPT_SIZE },
	{ NULL }
};

const struct verb verb_list = {
	.name = "list",
	.usage = "[KIND] [OPTION]...",
	.help = "list workloads, GPUs, policies, backends, keys",
	.options = options,
	.more = more,
	.run = list,
};
