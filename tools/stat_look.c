// SPDX-License-Identifier: GPL-2.0
/* One look at the module, as text, as JSON, and against the look before. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "output.h"
#include "stat.h"

static void keep_client(const struct ctl_client *client, void *arg)
{
	struct stat_look *look = arg;
	struct ctl_client *more;

	more = realloc(look->clients, (look->nclients + 1) * sizeof(*more));
	if (!more) {
		look->no_memory = true;
		return;
	}
	look->clients = more;
	look->clients[look->nclients++] = *client;
}

int stat_look(struct ctl *ctl, struct stat_look *look, struct err *err)
{
	int ret;

	memset(look, 0, sizeof(*look));
	look->at_ns = now_ns();
	ret = ctl_device(ctl, &look->device, err);
	if (!ret)
		ret = ctl_clients(ctl, keep_client, look, err);
	if (!ret && look->no_memory)
		ret = err_set(err, -ENOMEM, "no memory for the clients");
	return ret;
}

void stat_look_free(struct stat_look *look)
{
	free(look->clients);
	memset(look, 0, sizeof(*look));
}

static void add(struct json_object *o, const char *name, uint64_t value)
{
	json_object_object_add(o, name, json_object_new_uint64(value));
}

static struct json_object *stats_json(const struct ctl_stats *stats)
{
	struct json_object *o = json_object_new_object();

	for (unsigned int i = 0; i < CTL_STATS; i++)
		if (stats->has[i])
			add(o, ctl_stat_name(i), stats->value[i]);
	return o;
}

/* "" if the process has ended or this user may not see it. */
static const char *command(uint32_t pid, char name[32])
{
	char path[64];
	FILE *file;

	name[0] = '\0';
	snprintf(path, sizeof(path), "/proc/%u/comm", pid);
	file = pid ? fopen(path, "re") : NULL;
	if (!file)
		return name;
	if (fgets(name, 32, file))
		name[strcspn(name, "\n")] = '\0';
	fclose(file);
	return name;
}

static struct json_object *client_json(const struct ctl_client *c)
{
	struct json_object *o = json_object_new_object();
	char name[32];

	add(o, "va_space", c->va_space);
	add(o, "pid", c->pid);
	add(o, "uid", c->uid);
	json_object_object_add(o, "command", json_object_new_string(command(c->pid, name)));
	json_object_object_add(o, "engine", json_object_new_boolean(c->engine));
	add(o, "works", c->works);
	add(o, "charged_bytes", c->charged_bytes);
	json_object_object_add(o, "statistics", stats_json(&c->stats));
	return o;
}

struct json_object *stat_json(const struct stat_look *look)
{
	struct json_object *o = json_object_new_object(), *d = json_object_new_object();
	struct json_object *clients = json_object_new_array();
	const struct ctl_device *dev = &look->device;

	add(o, "time_ns", look->at_ns);
	add(d, "abi", dev->abi);
	add(d, "engine_generation", dev->generation);
	add(d, "clients", dev->clients);
	add(d, "vram_bytes", dev->vram_bytes);
	add(d, "vram_free_bytes", dev->vram_free_bytes);
	add(d, "tables", dev->tables);
	add(d, "tables_free", dev->tables_free);
	add(d, "events", dev->events);
	add(d, "events_dropped", dev->events_dropped);
	json_object_object_add(d, "statistics", stats_json(&dev->stats));
	json_object_object_add(o, "device", d);
	for (unsigned int i = 0; i < look->nclients; i++)
		json_object_array_add(clients, client_json(&look->clients[i]));
	json_object_object_add(o, "clients", clients);
	return o;
}

void stat_text(FILE *out, const struct stat_look *look)
{
	const struct ctl_device *d = &look->device;
	char total[24], left[24], name[32];

	if (d->generation)
		fprintf(out, "engine         attached (number %u)\n", d->generation);
	else
		fprintf(out, "engine         none\n");
	fprintf(out, "device memory  %s, %s free\n", output_bytes(total, d->vram_bytes),
		output_bytes(left, d->vram_free_bytes));
	fprintf(out, "page tables    %u, %u free\n", d->tables, d->tables_free);
	fprintf(out, "events         %" PRIu64 ", %" PRIu64 " dropped\n\n", d->events,
		d->events_dropped);
	for (unsigned int i = 0; i < CTL_STATS; i++)
		if (d->stats.has[i])
			fprintf(out, "%-20s %14" PRIu64 "  %s\n", ctl_stat_name(i),
				d->stats.value[i], ctl_stat_help(i));
	fprintf(out, "\n%8s %8s %-15s %10s %10s %12s %12s %12s %12s %7s\n", "va_space", "pid",
		"command", "managed", "resident", "far_faults", "h2d_pages", "d2h_pages",
		"cpu_faults", "works");
	for (unsigned int i = 0; i < look->nclients; i++) {
		const struct ctl_client *c = &look->clients[i];
		const uint64_t *v = c->stats.value;

		fprintf(out, "%8u %8u %-15.15s %10s %10s %12" PRIu64 " %12" PRIu64
			" %12" PRIu64 " %12" PRIu64 " %7u%s\n",
			c->va_space, c->pid, command(c->pid, name),
			output_bytes(total, v[CTL_STAT_MANAGED_BYTES]),
			output_bytes(left, v[CTL_STAT_RESIDENT_PAGES] << PAGE_SHIFT),
			v[CTL_STAT_FAR_FAULTS], v[CTL_STAT_H2D_PAGES], v[CTL_STAT_D2H_PAGES],
			v[CTL_STAT_CPU_FAULTS], c->works, c->engine ? " engine" : "");
	}
}

void stat_watch_head(FILE *out)
{
	fprintf(out, "%7s %10s %10s %10s %10s %10s %10s %10s %10s\n", "clients", "faults/s",
		"batches/s", "h2d/s", "d2h/s", "evicted/s", "cpuflt/s", "resident", "free");
}

/* The rate a second. The counter is taken from zero if it was reset in between. */
static double rate(const struct stat_look *before, const struct stat_look *now,
		   enum ctl_stat stat)
{
	uint64_t a = before->device.stats.value[stat], b = now->device.stats.value[stat];
	double seconds = (double)(now->at_ns - before->at_ns) / 1e9;

	return seconds > 0 ? (double)(b >= a ? b - a : b) / seconds : 0;
}

void stat_watch_line(FILE *out, const struct stat_look *before, const struct stat_look *now)
{
	const uint64_t *v = now->device.stats.value;
	char h2d[24], d2h[24], resident[24], left[24];

	fprintf(out, "%7u %10.0f %10.0f %10s %10s %10.0f %10.0f %10s %10s\n",
		now->device.clients, rate(before, now, CTL_STAT_FAR_FAULTS),
		rate(before, now, CTL_STAT_BATCHES),
		output_bytes(h2d, (uint64_t)rate(before, now, CTL_STAT_H2D_BYTES)),
		output_bytes(d2h, (uint64_t)rate(before, now, CTL_STAT_D2H_BYTES)),
		rate(before, now, CTL_STAT_EVICTED_PAGES), rate(before, now, CTL_STAT_CPU_FAULTS),
		output_bytes(resident, v[CTL_STAT_RESIDENT_PAGES] << PAGE_SHIFT),
		output_bytes(left, now->device.vram_free_bytes));
}

static void add_param(const struct ctl_param *p, void *arg)
{
	struct json_object *o = json_object_new_object();

	json_object_object_add(o, "name", json_object_new_string(p->name));
	add(o, "value", p->value);
	add(o, "min", p->min);
	add(o, "max", p->max);
	add(o, "default", p->def);
	json_object_object_add(o, "settable", json_object_new_boolean(p->settable));
	json_object_object_add(o, "help", json_object_new_string(p->doc));
	json_object_array_add(arg, o);
}

int stat_params(struct ctl *ctl, struct json_object **json, struct err *err)
{
	*json = json_object_new_array();
	return ctl_params(ctl, add_param, *json, err);
}

void stat_params_text(FILE *out, struct json_object *params)
{
	for (size_t i = 0; i < json_object_array_length(params); i++) {
		struct json_object *p = json_object_array_get_idx(params, i);

		fprintf(out, "%-22s %10.0f  %-8s %s\n", output_string(p, "name"),
			output_number(p, "value"),
			json_object_get_boolean(output_at(p, "settable")) ? "settable" : "fixed",
			output_string(p, "help"));
	}
}

static void add_block(const struct ctl_block *b, void *arg)
{
	struct json_object *o = json_object_new_object();
	char text[24];

	snprintf(text, sizeof(text), "0x%" PRIx64, b->addr);
	json_object_object_add(o, "addr", json_object_new_string(text));
	add(o, "resident_pages", b->resident_pages);
	add(o, "cpu_mapped_pages", b->cpu_mapped_pages);
	add(o, "system_pages", b->system_pages);
	json_object_object_add(o, "busy", json_object_new_boolean(b->busy));
	json_object_array_add(arg, o);
}

int stat_blocks(struct ctl *ctl, uint32_t va_space, struct json_object **json, struct err *err)
{
	*json = json_object_new_array();
	return ctl_blocks(ctl, va_space, add_block, *json, err);
}

void stat_blocks_text(FILE *out, struct json_object *blocks)
{
	fprintf(out, "%-18s %10s %10s %10s\n", "block", "resident", "cpu_mapped", "system");
	for (size_t i = 0; i < json_object_array_length(blocks); i++) {
		struct json_object *b = json_object_array_get_idx(blocks, i);

		fprintf(out, "%-18s %10.0f %10.0f %10.0f%s\n", output_string(b, "addr"),
			output_number(b, "resident_pages"), output_number(b, "cpu_mapped_pages"),
			output_number(b, "system_pages"),
			json_object_get_boolean(output_at(b, "busy")) ? " busy" : "");
	}
}
