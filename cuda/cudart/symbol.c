// SPDX-License-Identifier: GPL-2.0
/*
 * Variables of device code by their symbols: where they are, how large, and copies of what is in
 * them. Those of constant memory are the engine's bank, others are memory as any.
 */
#include <string.h>

#include "cudart.h"

/* Where a variable that is no constant is, and how large any is. */
static cudaError_t place(const void *symbol, struct variable **v, char **ptr, size_t *bytes)
{
	cudaError_t error = module_variable(symbol, v);
	struct gpuemu_module *m;
	uint64_t address;
	void *where;
	int ret;

	if (error)
		return error;
	if ((*v)->in_place) {
		*ptr = (char *)(*v)->host;
		*bytes = (*v)->bytes;
		return cudaSuccess;
	}
	m = (*v)->module->module;
	/*
	 * The compiler's registration says less than the text: clang registers some constants
	 * as variables.
	 */
	ret = gpuemu_module_get_constant(m, &address, bytes, (*v)->name);
	(*v)->constant = !ret;
	*ptr = (char *)(uintptr_t)address;
	if (!ret) {
		(*v)->address = address;
		(*v)->room = *bytes;
		return cudaSuccess;
	}
	ret = gpuemu_module_get_global(m, &where, bytes, (*v)->name);
	if (ret)
		return cudaErrorInvalidSymbol;
	memory_add_variable(where, *bytes);
	*ptr = where;
	return cudaSuccess;
}

static cudaError_t symbol_copy(const void *symbol, void *host, size_t bytes, size_t offset,
			       bool write, enum cudaMemcpyKind kind, cudaStream_t stream)
{
	struct gpuemu_stream *s;
	struct gpuemu_module *m;
	struct variable *v;
	cudaError_t error;
	size_t room;
	char *ptr;
	int ret;

	error = place(symbol, &v, &ptr, &room);
	if (error)
		return error;
	if (!host || offset > room || bytes > room - offset)
		return cudaErrorInvalidValue;
	if (kind != cudaMemcpyDeviceToDevice && kind != cudaMemcpyDefault &&
	    kind != (write ? cudaMemcpyHostToDevice : cudaMemcpyDeviceToHost))
		return cudaErrorInvalidMemcpyDirection;
	error = stream_settle(stream);
	if (error)
		return error;
	m = v->module->module;
	if (v->constant) {
		ret = write ? gpuemu_module_write_constant(m, v->name, offset, host, bytes) :
			      gpuemu_module_read_constant(m, v->name, offset, host, bytes);
		return ret ? cudaErrorInvalidValue : cudaSuccess;
	}
	memmove(write ? ptr + offset : host, write ? host : ptr + offset, bytes);
	/* The copy took its pages to the CPU; a variable of the device is not there. */
	if (bytes && !v->managed && !v->in_place && stream_of(stream, &s))
		gpuemu_mem_prefetch(runtime_ctx(), ptr + offset, bytes, s);
	return cudaSuccess;
}

API cudaError_t cudaMemcpyToSymbolAsync(const void *symbol, const void *src, size_t bytes,
					size_t offset, enum cudaMemcpyKind kind,
					cudaStream_t stream)
{
	cudaError_t error = enter();

	return leave(error ? error : symbol_copy(symbol, (void *)src, bytes, offset, true, kind,
						 stream));
}

API cudaError_t cudaMemcpyToSymbol(const void *symbol, const void *src, size_t bytes, size_t offset,
				   enum cudaMemcpyKind kind)
{
	return cudaMemcpyToSymbolAsync(symbol, src, bytes, offset, kind, 0);
}

API cudaError_t cudaMemcpyFromSymbolAsync(void *dst, const void *symbol, size_t bytes,
					  size_t offset,
					  enum cudaMemcpyKind kind, cudaStream_t stream)
{
	cudaError_t error = enter();

	return leave(error ? error : symbol_copy(symbol, dst, bytes, offset, false, kind, stream));
}

API cudaError_t cudaMemcpyFromSymbol(void *dst, const void *symbol, size_t bytes, size_t offset,
				     enum cudaMemcpyKind kind)
{
	return cudaMemcpyFromSymbolAsync(dst, symbol, bytes, offset, kind, 0);
}

API cudaError_t cudaGetSymbolAddress(void **ptr, const void *symbol)
{
	static unsigned int asked;
	cudaError_t error = enter();
	struct variable *v;
	size_t bytes;

	if (!error)
		error = ptr ? place(symbol, &v, (char **)ptr, &bytes) : cudaErrorInvalidValue;
	if (!error && v->constant)
		v->asked = ++asked;
	return leave(error);
}

/*
 * The constant at an address that cudaGetSymbolAddress() gave, or NULL. Each module has its
 * constants in the same window. Of two at one address it is the one that was asked for last.
 */
static struct variable *constant_at(const void *ptr)
{
	struct variable *found = NULL;

	for (struct variable *v = registry_variables(); v; v = v->next) {
		if (v->constant && v->asked && (uintptr_t)ptr - v->address < v->room &&
		    (!found || v->asked > found->asked))
			found = v;
	}
	return found;
}

bool symbol_is_constant(const void *ptr)
{
	return constant_at(ptr);
}

cudaError_t symbol_read(const void *constant, void *to, size_t bytes)
{
	struct variable *v = constant_at(constant);

	return gpuemu_module_read_constant(v->module->module, v->name,
					   (uintptr_t)constant - v->address, to, bytes) ?
	       cudaErrorInvalidValue : cudaSuccess;
}

cudaError_t symbol_write(void *constant, const void *from, size_t bytes)
{
	struct variable *v = constant_at(constant);

	return gpuemu_module_write_constant(v->module->module, v->name,
					    (uintptr_t)constant - v->address, from, bytes) ?
	       cudaErrorInvalidValue : cudaSuccess;
}

API cudaError_t cudaGetSymbolSize(size_t *bytes, const void *symbol)
{
	cudaError_t error = enter();
	struct variable *v;
	char *ptr;

	if (!error)
		error = bytes ? place(symbol, &v, &ptr, bytes) : cudaErrorInvalidValue;
	return leave(error);
}
