/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The module of a daemon's test: a few functions in the place of daemon/service/kmod_work.c, that
 * keep what the daemon told it. The test says what its images are.
 */
#ifndef TESTS_UNIT_DAEMON_MODULE_H
#define TESTS_UNIT_DAEMON_MODULE_H

#include "gpu_bench.h"
#include "service/kmod.h"

#define CLIENT	7u
#define OTHER	8u
#define DONE_MAX	24u

static struct {
	unsigned int ndone;
	struct { uint64_t id; int status; char message[160]; char *report; size_t bytes; }
		done[DONE_MAX];
	bool news, dead[OTHER + 2];	/* dead: by VA space */
	const char *text;		/* image 1 */
	const char *image;		/* all others; NULL: there are none */
	unsigned int ntold;		/* how often it was told how far kernels are */
	struct { uint32_t va_space; uint64_t launches, ctas_done, ctas; } first, last;
} module;

bool service_kmod_alive(struct service *s, uint32_t va_space)
{
	return !module.dead[va_space];
}

void service_kmod_away(struct service *s)
{
}

void service_kmod_back(struct service *s)
{
}

void service_kmod_current(struct service *s, uint64_t id)
{
}

bool service_kmod_news(struct service *s)
{
	return module.news;
}

bool service_kmod_has_image(struct service *s, uint32_t va_space, uint32_t id)
{
	return id == 1 || module.image;
}

int service_kmod_image(struct service *s, uint32_t va_space, uint32_t id, char **image,
		       size_t *bytes)
{
	if (id != 1 && !module.image)
		return -ENOENT;
	*image = strdup(id == 1 ? module.text : module.image);
	*bytes = strlen(*image);
	return *image ? 0 : -ENOMEM;
}

int service_kmod_done(struct service *s, uint64_t id, int status, uint64_t fault_addr,
		      const char *message, const void *report, size_t report_bytes)
{
	assert_true(module.ndone < DONE_MAX);
	module.done[module.ndone].id = id;
	module.done[module.ndone].status = status;
	snprintf(module.done[module.ndone].message, 160, "%s", message ? message : "");
	module.done[module.ndone].bytes = report_bytes;
	module.done[module.ndone].report = report ? malloc(report_bytes + 1) : NULL;
	if (report) {
		memcpy(module.done[module.ndone].report, report, report_bytes);
		module.done[module.ndone].report[report_bytes] = '\0';
	}
	module.ndone++;
	return 0;
}

void service_kmod_progress(struct service *s, uint32_t va_space, uint64_t launches,
			   uint64_t ctas_done, uint64_t ctas)
{
	module.last.va_space = va_space;
	module.last.launches = launches;
	module.last.ctas_done = ctas_done;
	module.last.ctas = ctas;
	if (!module.ntold++)
		module.first = module.last;
}

uint32_t service_kmod_generation(struct service *s)
{
	return 3;
}

#endif
