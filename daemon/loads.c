// SPDX-License-Identifier: GPL-2.0
/*
 * Loads that go on, and the images that sessions have. Called by works.c on the engine's thread,
 * which never waits here.
 */
#include "loads.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "loader.h"

#define PROCESSES	4u	/* at a time */

/* A text that was parsed, as long as a session has a module of it. */
struct image {
	struct image *next;
	uint32_t va_space;
	uint64_t hash;
	size_t text_bytes;
	struct ptx_options options;
	char *name;
	int fd;
	uint64_t bytes;
	struct account *account;	/* pays for bytes */
	unsigned int uses;
};

struct load {
	struct load *next;
	struct load_wish wish;		/* text: a copy until its process has begun */
	char *name, *text;
	uint64_t hash;
	struct ptx_options options;
	struct loading *loading;	/* NULL: it waits for its turn, or needs no process */
	int status;			/* its process could not be started */
	struct err err;
};

struct loads {
	struct load *first;		/* the oldest first */
	struct image *images;
	unsigned int seconds, processes;
};

int loads_create(unsigned int seconds, struct loads **loads)
{
	*loads = calloc(1, sizeof(**loads));
	if (!*loads)
		return -ENOMEM;
	(*loads)->seconds = seconds;
	return 0;
}

void loads_destroy(struct loads *loads)
{
	if (!loads)
		return;
	while (loads->first)
		loads_abandon(loads, loads->first);
	free(loads);
}

/* --- images ------------------------------------------------------------------------ */

/* FNV-1a. A client that makes two texts meet gets the wrong one of its own. */
static uint64_t hash_of(const char *text, size_t bytes)
{
	uint64_t hash = 0xcbf29ce484222325ull;

	for (size_t i = 0; i < bytes; i++)
		hash = (hash ^ (uint8_t)text[i]) * 0x100000001b3ull;
	return hash;
}

static struct image *find_image(const struct loads *loads, const struct load *l)
{
	for (struct image *i = loads->images; i; i = i->next) {
		if (i->va_space == l->wish.va_space && i->hash == l->hash &&
		    i->text_bytes == l->wish.bytes && !strcmp(i->name, l->name) &&
		    !memcmp(&i->options, &l->options, sizeof(i->options)))
			return i;
	}
	return NULL;
}

static void free_image(struct image *image)
{
	close(image->fd);
	account_give(image->account, image->bytes);
	free(image->name);
	free(image);
}

/* Takes over the file. */
static struct image *make_image(struct loads *loads, const struct load *l, int fd, uint64_t bytes)
{
	struct image *image = calloc(1, sizeof(*image));

	if (!image || !account_take(l->wish.account, bytes)) {
		free(image);
		close(fd);
		return NULL;
	}
	*image = (struct image){
		.next = loads->images, .va_space = l->wish.va_space, .hash = l->hash,
		.text_bytes = l->wish.bytes, .options = l->options, .name = strdup(l->name),
		.fd = fd, .bytes = bytes, .account = l->wish.account,
	};
	if (!image->name) {
		free_image(image);
		return NULL;
	}
	loads->images = image;
	return image;
}

void image_put(struct loads *loads, struct image *image)
{
	struct image **at = &loads->images;

	if (--image->uses)
		return;
	while (*at != image)
		at = &(*at)->next;
	*at = image->next;
	free_image(image);
}

/* --- processes ----------------------------------------------------------------------- */

static void forget_text(struct load *l)
{
	free(l->text);
	l->text = NULL;
}

static void start(struct loads *loads, struct load *l)
{
	const struct load_limits limits = {
		.bytes = account_left(l->wish.account), .seconds = loads->seconds,
	};

	l->status = loader_start(l->text, l->wish.bytes, l->name, &l->options, &limits, &l->loading,
				 &l->err);
	loads->processes += l->loading != NULL;
	forget_text(l);
}

static void start_some(struct loads *loads)
{
	for (struct load *l = loads->first; l && loads->processes < PROCESSES; l = l->next)
		if (l->text)
			start(loads, l);
}

int loads_begin(struct loads *loads, const struct load_wish *wish, struct load **load,
		struct err *err)
{
	struct load *l = calloc(1, sizeof(*l)), **at = &loads->first;

	if (!l)
		return err_set(err, -ENOMEM, "%s: no memory to load it", wish->name);
	l->wish = *wish;
	l->hash = hash_of(wish->text, wish->bytes);
	gpu_session_ptx_options(wish->gpu, &l->options);
	l->name = strdup(wish->name);
	if (l->name && !find_image(loads, l)) {
		l->text = malloc(wish->bytes);
		if (l->text)
			memcpy(l->text, wish->text, wish->bytes);
	}
	if (!l->name || (!l->text && !find_image(loads, l))) {
		free(l->name);
		free(l);
		return err_set(err, -ENOMEM, "%s: no memory to load it", wish->name);
	}
	while (*at)
		at = &(*at)->next;
	*at = l;
	start_some(loads);
	*load = l;
	return 0;
}

bool loads_ready(struct loads *loads, struct load *l)
{
	if (l->loading)
		return loader_ended(l->loading);
	/* Its text was parsed for another load meanwhile, or it could not be started. */
	return l->status || !l->text;
}

void loads_abandon(struct loads *loads, struct load *l)
{
	struct load **at = &loads->first;

	while (*at != l)
		at = &(*at)->next;
	*at = l->next;
	loads->processes -= l->loading != NULL;
	loader_end(l->loading);
	forget_text(l);
	free(l->name);
	free(l);
	start_some(loads);
}

static int image_of(struct loads *loads, struct load *l, struct image **image, struct err *err)
{
	uint64_t bytes;
	int fd, ret;

	*image = l->loading ? NULL : find_image(loads, l);
	if (*image)
		return 0;
	if (l->status)
		return err_set(err, l->status, "%s", l->err.text);
	if (!l->loading)
		return err_set(err, -EAGAIN, "%s: was unloaded meanwhile: load it again", l->name);
	ret = loader_result(l->loading, &fd, &bytes, err);
	if (ret)
		return ret;
	*image = make_image(loads, l, fd, bytes);
	return *image ? 0 : err_set(err, -ENOMEM, "%s: no memory for the loaded module", l->name);
}

int loads_finish(struct loads *loads, struct load *l, struct image **image, struct err *err)
{
	struct ptx_module *module;
	int ret = image_of(loads, l, image, err);

	if (!ret) {
		(*image)->uses++;
		ret = loader_map((*image)->fd, (*image)->bytes, &module);
		ret = ret ? err_set(err, ret, "%s: the loaded module cannot be mapped: %s", l->name,
				    strerror(-ret)) :
		      gpu_session_adopt(l->wish.gpu, l->wish.id, module, l->wish.global_base, err);
		if (ret)
			image_put(loads, *image);
	}
	loads_abandon(loads, l);
	return ret;
}
