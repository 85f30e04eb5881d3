// SPDX-License-Identifier: GPL-2.0
/*
 * Variables in constant memory. Their values are kept in the module that the library has parsed,
 * and the backend hands the whole bank to the engine; 64 KiB is the most that a module has. They
 * are no managed memory: the host reads and writes them by these calls.
 */
#include <errno.h>
#include <string.h>

#include "internal.h"

static const struct ptx_variable *find(const struct gpuemu_module *module, const char *name)
{
	const struct ptx_variable *v;

	for (unsigned int i = 0; (v = ptx_module_constant_at(module->ptx, i)); i++)
		if (!strcmp(v->name, name))
			return v;
	return NULL;
}

static int no_constant(const struct gpuemu_module *module, const char *name, struct err *err)
{
	return err_set(err, -ENOENT, "%s has no .const variable '%s'", module->name, name);
}

PUBLIC int gpuemu_module_get_constant(struct gpuemu_module *module, uint64_t *address,
				      size_t *bytes, const char *name)
{
	const struct ptx_variable *v;
	struct err err = { "" };
	int ret = 0;

	ctx_enter(module->ctx);
	v = find(module, name);
	if (!v)
		ret = no_constant(module, name, &err);
	if (address)
		*address = v ? PTX_CONST_WINDOW + v->offset : 0;
	if (bytes)
		*bytes = v ? v->bytes : 0;
	return ctx_leave(module->ctx, ret, &err);
}

/* The bytes of [offset, offset + bytes) of a variable in the bank; NULL with *ret. */
static char *part(struct gpuemu_module *module, const char *name, size_t offset, size_t bytes,
		  int *ret, struct err *err)
{
	const struct ptx_variable *v = find(module, name);
	uint32_t room;

	if (!v) {
		*ret = no_constant(module, name, err);
		return NULL;
	}
	if (offset > v->bytes || bytes > v->bytes - offset) {
		*ret = err_set(err, -EINVAL, "%s: %zu bytes at %zu of '%s', which has %llu",
			       module->name,
			       bytes, offset, name, (unsigned long long)v->bytes);
		return NULL;
	}
	*ret = 0;
	return (char *)ptx_module_constants(module->ptx, &room) + v->offset + offset;
}

PUBLIC int gpuemu_module_write_constant(struct gpuemu_module *module, const char *name,
					size_t offset, const void *data, size_t bytes)
{
	struct gpuemu_ctx *ctx = module->ctx;
	struct err err = { "" };
	char *to;
	int ret;

	ctx_enter(ctx);
	to = part(module, name, offset, bytes, &ret, &err);
	if (to && bytes) {
		stream_wait_all(ctx);
		memcpy(to, data, bytes);
		module->constants_written = true;
		ret = ctx->backend->constants(ctx, module, &err);
	}
	return ctx_leave(ctx, ret, &err);
}

PUBLIC int gpuemu_module_read_constant(struct gpuemu_module *module, const char *name,
				       size_t offset, void *data, size_t bytes)
{
	struct err err = { "" };
	char *from;
	int ret;

	ctx_enter(module->ctx);
	from = part(module, name, offset, bytes, &ret, &err);
	if (from && bytes)
		memcpy(data, from, bytes);
	return ctx_leave(module->ctx, ret, &err);
}
