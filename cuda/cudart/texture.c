// SPDX-License-Identifier: GPL-2.0
/*
 * Textures and surfaces: objects, whose handle is a number. libgpuemu is told what it means, and
 * kernels that are launched from then on use it so. References are reference.c's.
 */
#include <stdlib.h>
#include <string.h>

#include "texture.h"

static cudaError_t describe_format(struct gpuemu_texture *d,
				   const struct cudaChannelFormatDesc *desc)
{
	static const enum gpuemu_texel kinds[] = {
		[cudaChannelFormatKindSigned] = GPUEMU_TEXEL_SIGNED,
		[cudaChannelFormatKindUnsigned] = GPUEMU_TEXEL_UNSIGNED,
		[cudaChannelFormatKindFloat] = GPUEMU_TEXEL_FLOAT,
	};
	size_t bytes = channel_bytes(desc), one = (size_t)desc->x / 8;

	if (!bytes || (unsigned int)desc->f > cudaChannelFormatKindFloat ||
	    (desc->f == cudaChannelFormatKindFloat && one == 1))
		return cudaErrorInvalidChannelDescriptor;
	d->channels = (unsigned int)(bytes / one);
	d->channel_bytes = (unsigned int)one;
	d->kind = kinds[desc->f];
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

cudaError_t texture_describe(struct gpuemu_texture *d, const struct cudaResourceDesc *r)
{
	const struct cudaArray *a = r->res.array.array;

	memset(d, 0, sizeof(*d));
	switch (r->resType) {
	case cudaResourceTypeArray:
		if (!know(a))
			return cudaErrorInvalidValue;
		d->base = a->base;
		d->width = (uint32_t)a->extent.width;
		d->height = (uint32_t)a->extent.height;
		d->depth = (uint32_t)a->extent.depth;
		d->pitch = a->pitch;
		d->slice = a->pitch * (a->extent.height ? a->extent.height : 1);
		return describe_format(d, &a->desc);
	case cudaResourceTypeLinear:
		d->base = r->res.linear.devPtr;
		d->flags = GPUEMU_TEXTURE_MEMORY;
		if (!d->base || !channel_bytes(&r->res.linear.desc))
			return d->base ? cudaErrorInvalidChannelDescriptor : cudaErrorInvalidValue;
		d->width = (uint32_t)(r->res.linear.sizeInBytes /
				      channel_bytes(&r->res.linear.desc));
		return describe_format(d, &r->res.linear.desc);
	case cudaResourceTypePitch2D:
		d->base = r->res.pitch2D.devPtr;
		if (!d->base)
			return cudaErrorInvalidValue;
		d->width = (uint32_t)r->res.pitch2D.width;
		d->height = (uint32_t)r->res.pitch2D.height;
		d->pitch = r->res.pitch2D.pitchInBytes;
		return describe_format(d, &r->res.pitch2D.desc);
	default:
		return cudaErrorNotSupported;
	}
}

cudaError_t texture_describe_sampler(struct gpuemu_texture *d, const struct cudaTextureDesc *t)
{
	bool normalized = t->readMode == cudaReadModeNormalizedFloat;
	bool is_float = d->kind == GPUEMU_TEXEL_FLOAT;

	if (t->sRGB || t->maxAnisotropy > 1)
		return cudaErrorNotSupported;
	if (normalized && !is_float && d->channel_bytes == 4)
		return cudaErrorInvalidNormSetting;
	if (t->filterMode == cudaFilterModeLinear && !normalized && !is_float)
		return cudaErrorInvalidFilterSetting;
	d->flags |= (normalized ? GPUEMU_TEXTURE_AS_FLOAT : 0) |
		    (t->normalizedCoords ? GPUEMU_TEXTURE_NORMALIZED : 0) |
		    (t->filterMode == cudaFilterModeLinear ? GPUEMU_TEXTURE_LINEAR : 0);
	/* Places repeat where coordinates are normalized, else they are clamped. */
	for (int i = 0; i < 3; i++) {
		unsigned int mode = t->addressMode[i];

		if (mode > cudaAddressModeBorder)
			return cudaErrorInvalidValue;
		if (!t->normalizedCoords && mode != cudaAddressModeBorder)
			mode = cudaAddressModeClamp;
		d->flags |= GPUEMU_TEXTURE_MODE(mode, i);
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
	unsigned long long handle;
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

/* Handles count from here on: no address of the device's, so no reference's either. */
static unsigned long long next_handle = 1ull << 48;

cudaError_t texture_mean(unsigned long long handle, const struct gpuemu_texture *d)
{
	return gpuemu_texture_set(runtime_ctx(), handle, d) ? cudaErrorMemoryAllocation :
							      cudaSuccess;
}

/* texture NULL: a surface. */
static cudaError_t make(unsigned long long *object, const struct gpuemu_texture *d,
			const struct cudaResourceDesc *resource,
			const struct cudaTextureDesc *texture)
{
	struct object *o = calloc(1, sizeof(*o));
	cudaError_t error = enter();

	if (!error)
		error = o ? texture_mean(next_handle, d) : cudaErrorMemoryAllocation;
	if (error) {
		free(o);
		return leave(error);
	}
	o->handle = next_handle++;
	o->surface = !texture;
	o->resource = *resource;
	if (texture)
		o->texture = *texture;
	o->next = objects;
	objects = o;
	*object = o->handle;
	return leave(cudaSuccess);
}

static struct object **find(unsigned long long object, bool surface)
{
	struct object **at = &objects;

	while (*at && ((*at)->handle != object || (*at)->surface != surface))
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
	return leave(texture_mean(object, NULL));
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
	struct gpuemu_texture d;
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
	struct gpuemu_texture d;
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
