// SPDX-License-Identifier: GPL-2.0
/*
 * Textures and surfaces: objects, whose handle is the address of a descriptor on the device. What
 * a fetch does is device code's (daemon/ptx/texture.cu). References are reference.c's.
 */
#include <stdlib.h>
#include <string.h>

#include "texture.h"

enum { LINEAR = 1, NORMALIZED = 2, AS_FLOAT = 4, MEMORY = 8 };
#define MODE(mode, i)	((uint32_t)(mode) << (4 + 2 * (i)))

static cudaError_t describe_format(struct descriptor *d, const struct cudaChannelFormatDesc *desc)
{
	/* UNSIGNED, SIGNED, FLOAT of device code. */
	static const uint32_t kinds[] = { 1, 0, 2 };
	size_t bytes = channel_bytes(desc), one = (size_t)desc->x / 8;

	if (!bytes || (unsigned int)desc->f > cudaChannelFormatKindFloat ||
	    (desc->f == cudaChannelFormatKindFloat && one == 1))
		return cudaErrorInvalidChannelDescriptor;
	d->format = (uint32_t)(bytes / one) | (uint32_t)one << 4 | kinds[desc->f] << 8;
	return cudaSuccess;
}

static bool know(cudaArray_const_t array)
{
	bool is;

	enter_quietly();
	is = array_is(array);
	leave_quietly(cudaSuccess);
	return is;
}

cudaError_t texture_describe(struct descriptor *d, const struct cudaResourceDesc *r)
{
	const struct cudaArray *a = r->res.array.array;

	memset(d, 0, sizeof(*d));
	switch (r->resType) {
	case cudaResourceTypeArray:
		if (!know(a))
			return cudaErrorInvalidValue;
		d->base = (uintptr_t)a->base;
		d->width = (uint32_t)a->extent.width;
		d->height = (uint32_t)a->extent.height;
		d->depth = (uint32_t)a->extent.depth;
		d->pitch = (uint32_t)a->pitch;
		d->slice = a->pitch * (a->extent.height ? a->extent.height : 1);
		return describe_format(d, &a->desc);
	case cudaResourceTypeLinear:
		d->base = (uintptr_t)r->res.linear.devPtr;
		d->flags = MEMORY;
		if (!d->base || !channel_bytes(&r->res.linear.desc))
			return d->base ? cudaErrorInvalidChannelDescriptor : cudaErrorInvalidValue;
		d->width = (uint32_t)(r->res.linear.sizeInBytes /
				      channel_bytes(&r->res.linear.desc));
		return describe_format(d, &r->res.linear.desc);
	case cudaResourceTypePitch2D:
		d->base = (uintptr_t)r->res.pitch2D.devPtr;
		if (!d->base)
			return cudaErrorInvalidValue;
		d->width = (uint32_t)r->res.pitch2D.width;
		d->height = (uint32_t)r->res.pitch2D.height;
		d->pitch = (uint32_t)r->res.pitch2D.pitchInBytes;
		return describe_format(d, &r->res.pitch2D.desc);
	default:
		return cudaErrorNotSupported;
	}
}

cudaError_t texture_describe_sampler(struct descriptor *d, const struct cudaTextureDesc *t)
{
	bool normalized = t->readMode == cudaReadModeNormalizedFloat;
	bool is_float = d->format >> 8 == 2;

	if (t->sRGB || t->maxAnisotropy > 1)
		return cudaErrorNotSupported;
	if (normalized && !is_float && (d->format >> 4 & 15) == 4)
		return cudaErrorInvalidNormSetting;
	if (t->filterMode == cudaFilterModeLinear && !normalized && !is_float)
		return cudaErrorInvalidFilterSetting;
	d->flags |= (normalized ? AS_FLOAT : 0) | (t->normalizedCoords ? NORMALIZED : 0) |
		    (t->filterMode == cudaFilterModeLinear ? LINEAR : 0);
	/* Places repeat where coordinates are normalized, else they are clamped. */
	for (int i = 0; i < 3; i++) {
		unsigned int mode = t->addressMode[i];

		if (mode > cudaAddressModeBorder)
			return cudaErrorInvalidValue;
		if (!t->normalizedCoords && mode != cudaAddressModeBorder)
			mode = cudaAddressModeClamp;
		d->flags |= MODE(mode, i);
	}
	for (int i = 0; i < 4; i++) {
		if (is_float || normalized)
			memcpy(&d->border[i], &t->borderColor[i], sizeof(d->border[i]));
		else
			d->border[i] = (uint32_t)(int64_t)t->borderColor[i];
	}
	return cudaSuccess;
}

/* --- objects -------------------------------------------------------------------------------- */

/* One that was made and not destroyed, and what it was made of. */
static struct object {
	struct object *next;
	uintptr_t address;
	bool surface;
	struct cudaResourceDesc resource;
	struct cudaTextureDesc texture;
} *objects;

void texture_forget_all(void)
{
	while (objects) {
		struct object *o = objects;

		objects = o->next;
		free(o);
	}
}

/* The memory is nobody's yet: no kernel reads it. texture NULL: a surface. */
static cudaError_t make(unsigned long long *object, const struct descriptor *d,
			const struct cudaResourceDesc *resource,
			const struct cudaTextureDesc *texture)
{
	struct object *o = calloc(1, sizeof(*o));
	void *place;
	cudaError_t error = o ? cudaMalloc(&place, sizeof(*d)) :
				error_remember(cudaErrorMemoryAllocation);

	if (error) {
		free(o);
		return error;
	}
	memcpy(place, d, sizeof(*d));
	o->address = (uintptr_t)place;
	o->surface = !texture;
	o->resource = *resource;
	if (texture)
		o->texture = *texture;
	enter_quietly();
	o->next = objects;
	objects = o;
	*object = o->address;
	return leave_quietly(cudaSuccess);
}

static struct object **find(unsigned long long object, bool surface)
{
	struct object **at = &objects;

	while (*at && ((*at)->address != object || (*at)->surface != surface))
		at = &(*at)->next;
	return at;
}

static cudaError_t destroy(unsigned long long object, bool surface)
{
	cudaError_t error = enter();
	struct object **at, *o;

	if (error)
		return leave(error);
	at = find(object, surface);
	o = *at;
	if (!o)
		return leave(cudaErrorInvalidValue);
	*at = o->next;
	free(o);
	leave_quietly(cudaSuccess);
	return cudaFree((void *)(uintptr_t)object);
}

/* What it was made of; a pointer that is NULL is not asked for. */
static cudaError_t tell(unsigned long long object, bool surface, struct cudaResourceDesc *resource,
			struct cudaTextureDesc *texture)
{
	cudaError_t error = enter();
	const struct object *o = *find(object, surface);

	if (!error && (!o || !(resource || texture)))
		error = cudaErrorInvalidValue;
	if (!error && resource)
		*resource = o->resource;
	if (!error && texture)
		*texture = o->texture;
	return leave(error);
}

API cudaError_t cudaCreateTextureObject(cudaTextureObject_t *object,
					const struct cudaResourceDesc *resource,
					const struct cudaTextureDesc *texture,
					const struct cudaResourceViewDesc *view)
{
	struct descriptor d;
	cudaError_t error;

	if (!object || !resource || !texture)
		return error_remember(cudaErrorInvalidValue);
	if (view)
		return error_remember(cudaErrorNotSupported);
	error = texture_describe(&d, resource);
	if (!error)
		error = texture_describe_sampler(&d, texture);
	return error ? error_remember(error) : make(object, &d, resource, texture);
}

API cudaError_t cudaDestroyTextureObject(cudaTextureObject_t object)
{
	return destroy(object, false);
}

API cudaError_t cudaGetTextureObjectResourceDesc(struct cudaResourceDesc *resource,
						 cudaTextureObject_t object)
{
	return tell(object, false, resource, NULL);
}

API cudaError_t cudaGetTextureObjectTextureDesc(struct cudaTextureDesc *texture,
						cudaTextureObject_t object)
{
	return tell(object, false, NULL, texture);
}

/* No texture is made with a view. */
API cudaError_t cudaGetTextureObjectResourceViewDesc(struct cudaResourceViewDesc *view,
						     cudaTextureObject_t object)
{
	return error_remember(cudaErrorInvalidValue);
}

API cudaError_t cudaCreateSurfaceObject(cudaSurfaceObject_t *object,
					const struct cudaResourceDesc *resource)
{
	struct descriptor d;
	cudaError_t error;

	if (!object || !resource || resource->resType != cudaResourceTypeArray)
		return error_remember(cudaErrorInvalidValue);
	error = texture_describe(&d, resource);
	return error ? error_remember(error) : make(object, &d, resource, NULL);
}

API cudaError_t cudaDestroySurfaceObject(cudaSurfaceObject_t object)
{
	return destroy(object, true);
}

API cudaError_t cudaGetSurfaceObjectResourceDesc(struct cudaResourceDesc *resource,
						 cudaSurfaceObject_t object)
{
	return tell(object, true, resource, NULL);
}
