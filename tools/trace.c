// SPDX-License-Identifier: GPL-2.0
/* The timeline of run and ptx: asked for by a key, delivered with the statistics. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "output.h"
#include "trace.h"

/* What the module's reports have room for, 4 MiB, and what people can still look at. */
#define EVENTS_MODULE	"12288"
#define EVENTS		"1000000"

/* Is it, or may it be, the daemon that has to send it? */
static bool through_module(const struct target *t)
{
	const char *backend = t->backend ? t->backend : getenv("GPUEMU_BACKEND");

	if (backend && *backend)
		return !strcmp(backend, "kmod");
	return !access(t->device ? t->device : "/dev/gpuemu", F_OK);
}

int trace_ask(struct target *t, struct err *err)
{
	struct err why = { "" };
	int ret;

	/* A smaller one that was set stays. */
	if (t->spec.trace_spans)
		return 0;
	ret = target_set(t, "gpu.trace", through_module(t) ? EVENTS_MODULE : EVENTS, &why);
	return ret ? err_set(err, ret, "--trace: %s", why.text) : 0;
}

/* The end of the JSON value at s. */
static char *skip_value(char *s)
{
	unsigned int depth = 0;
	bool quoted = false;

	for (; *s; s++) {
		if (quoted) {
			if (*s == '\\' && s[1])
				s++;
			else if (*s == '"')
				quoted = false;
			continue;
		}
		if (!depth && (*s == ',' || *s == '}' || *s == ']'))
			break;
		if (*s == '"')
			quoted = true;
		else if (*s == '{' || *s == '[')
			depth++;
		else if (*s == '}' || *s == ']')
			depth--;
	}
	return s;
}

static int print_raw(struct json_object *o, struct printbuf *to, int level, int flags)
{
	const char *text = json_object_get_userdata(o);

	(void)level;
	(void)flags;
	return printbuf_memappend(to, text, (int)strlen(text));
}

static void free_raw(struct json_object *o, void *text)
{
	(void)o;
	free(text);
}

struct json_object *trace_cut(char *statistics)
{
	static const char key[] = "\"trace\":";
	struct json_object *o;
	char *at = statistics;

	/* Members of the object, one after the other. */
	while (*at && (*at == '{' || *at == ',')) {
		char *member = at + 1, *end = skip_value(member), *text;

		if (strncmp(member, key, sizeof(key) - 1)) {
			at = end;
			continue;
		}
		text = strndup(member + sizeof(key) - 1, (size_t)(end - member) - sizeof(key) + 1);
		o = text ? json_object_new_object() : NULL;
		if (!o) {
			free(text);
			return NULL;
		}
		json_object_set_serializer(o, print_raw, text, free_raw);
		/* With the comma before it, or behind it. */
		if (*at == ',')
			memmove(at, end, strlen(end) + 1);
		else
			memmove(member, end + (*end == ','), strlen(end + (*end == ',')) + 1);
		return o;
	}
	return NULL;
}

int trace_write(struct json_object *report, const char *file, struct err *err)
{
	struct json_object *trace = json_object_get(output_at(report, "trace"));
	unsigned long long dropped;
	int ret;

	if (!trace)
		return err_set(err, -EPROTO, "--trace: the library's statistics have no timeline");
	json_object_object_del(report, "trace");
	if (sscanf(json_object_to_json_string_ext(trace, JSON_C_TO_STRING_PLAIN),
		   "{\"dropped\":%llu", &dropped) == 1 && dropped)
		fprintf(stderr, "gpuemu: --trace: the last %llu events are left out (gpu.trace)\n",
			dropped);
	ret = output_json(trace, file, err);
	json_object_put(trace);
	return ret;
}
