/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Textures and surfaces in CUDA C++: fetches by objects and by references, binding with its C++
 * forms. A fetch is a PTX instruction, which the engine has as a function.
 */
#ifndef GPUEMU_TEXTURE_H
#define GPUEMU_TEXTURE_H

#include <string.h>

#include "gpuemu/channels.h"
#include "texture_types.h"
#include "vector_types.h"

/* --- references --------------------------------------------------------------------------- */

/* In device code it is a handle. */
template <class T, int dim = cudaTextureType1D, cudaTextureReadMode mode = cudaReadModeElementType>
struct __attribute__((device_builtin_texture_type)) texture : public textureReference {
#ifndef __CUDA_ARCH__
	__host__ texture(int norm = 0, cudaTextureFilterMode filter = cudaFilterModePoint,
			 cudaTextureAddressMode address = cudaAddressModeClamp)
		: textureReference()
	{
		normalized = norm;
		filterMode = filter;
		addressMode[0] = addressMode[1] = addressMode[2] = address;
		channelDesc = cudaCreateChannelDesc<T>();
	}
	__host__ texture(int norm, cudaTextureFilterMode filter, cudaTextureAddressMode address,
			 cudaChannelFormatDesc desc)
		: texture(norm, filter, address)
	{
		channelDesc = desc;
	}
#endif
};

template <class T, int dim, cudaTextureReadMode mode>
static inline __host__ cudaError_t cudaBindTexture(size_t *offset, const texture<T, dim, mode> &t,
						   const void *ptr,
						   const cudaChannelFormatDesc &desc,
						   size_t bytes = UINT_MAX)
{
	return cudaBindTexture(offset, (const textureReference *)&t, ptr, &desc, bytes);
}
template <class T, int dim, cudaTextureReadMode mode>
static inline __host__ cudaError_t cudaBindTexture(size_t *offset, const texture<T, dim, mode> &t,
						   const void *ptr, size_t bytes = UINT_MAX)
{
	return cudaBindTexture(offset, t, ptr, cudaCreateChannelDesc<T>(), bytes);
}
template <class T, int dim, cudaTextureReadMode mode>
static inline __host__ cudaError_t cudaBindTexture2D(size_t *offset, const texture<T, dim, mode> &t,
						     const void *ptr,
						     const cudaChannelFormatDesc &desc,
						     size_t width, size_t height, size_t pitch)
{
	return cudaBindTexture2D(offset, (const textureReference *)&t, ptr, &desc, width, height,
				 pitch);
}
template <class T, int dim, cudaTextureReadMode mode>
static inline __host__ cudaError_t cudaBindTexture2D(size_t *offset, const texture<T, dim, mode> &t,
						     const void *ptr, size_t width, size_t height,
						     size_t pitch)
{
	return cudaBindTexture2D(offset, t, ptr, cudaCreateChannelDesc<T>(), width, height, pitch);
}
template <class T, int dim, cudaTextureReadMode mode>
static inline __host__ cudaError_t cudaBindTextureToArray(const texture<T, dim, mode> &t,
							  cudaArray_const_t array,
							  const cudaChannelFormatDesc &desc)
{
	return cudaBindTextureToArray((const textureReference *)&t, array, &desc);
}
template <class T, int dim, cudaTextureReadMode mode>
static inline __host__ cudaError_t cudaBindTextureToArray(const texture<T, dim, mode> &t,
							  cudaArray_const_t array)
{
	return cudaBindTextureToArray(t, array, cudaCreateChannelDesc<T>());
}
template <class T, int dim, cudaTextureReadMode mode>
static inline __host__ cudaError_t cudaUnbindTexture(const texture<T, dim, mode> &t)
{
	return cudaUnbindTexture((const textureReference *)&t);
}
template <class T, int dim, cudaTextureReadMode mode>
static inline __host__ cudaError_t cudaGetTextureAlignmentOffset(size_t *offset,
								 const texture<T, dim, mode> &t)
{
	return cudaGetTextureAlignmentOffset(offset, (const textureReference *)&t);
}

/* --- fetches ---------------------------------------------------------------------------- */

struct gpuemu_texel {
	unsigned int c[4];
};

template <class T, int count> struct gpuemu_as;
template <class T> struct gpuemu_as<T, 1> {
	static __device__ T of(const gpuemu_texel &t)
	{
		T value;

		memcpy(&value, &t.c[0], sizeof(value));
		return value;
	}
};
template <class T> struct gpuemu_as<T, 2> {
	static __device__ T of(const gpuemu_texel &t)
	{
		T value;

		memcpy(&value.x, &t.c[0], sizeof(value.x));
		memcpy(&value.y, &t.c[1], sizeof(value.y));
		return value;
	}
};
template <class T> struct gpuemu_as<T, 4> {
	static __device__ T of(const gpuemu_texel &t)
	{
		T value;

		memcpy(&value.x, &t.c[0], sizeof(value.x));
		memcpy(&value.y, &t.c[1], sizeof(value.y));
		memcpy(&value.z, &t.c[2], sizeof(value.z));
		memcpy(&value.w, &t.c[3], sizeof(value.w));
		return value;
	}
};
template <class T> static inline __device__ T gpuemu_value(const gpuemu_texel &t)
{
	return gpuemu_as<T, gpuemu_channels<T>::count>::of(t);
}

#define GPUEMU_OUT(t)	"=r"(t.c[0]), "=r"(t.c[1]), "=r"(t.c[2]), "=r"(t.c[3])
#define GPUEMU_FETCH(name, op, operands, params, ...)						\
	static inline __device__ gpuemu_texel gpuemu_##name params				\
	{											\
		gpuemu_texel t;									\
												\
		asm(op " {%0, %1, %2, %3}, [%4, " operands "];" : GPUEMU_OUT(t) : "l"(o), __VA_ARGS__); \
		return t;									\
	}
GPUEMU_FETCH(fetch1, "tex.1d.v4.u32.s32", "{%5}", (cudaTextureObject_t o, int x), "r"(x))
GPUEMU_FETCH(tex1, "tex.1d.v4.u32.f32", "{%5}", (cudaTextureObject_t o, float x), "f"(x))
GPUEMU_FETCH(tex2, "tex.2d.v4.u32.f32", "{%5, %6}", (cudaTextureObject_t o, float x, float y),
	     "f"(x), "f"(y))
GPUEMU_FETCH(tex3, "tex.3d.v4.u32.f32", "{%5, %6, %7, %7}",
	     (cudaTextureObject_t o, float x, float y, float z), "f"(x), "f"(y), "f"(z))
GPUEMU_FETCH(layer1, "tex.a1d.v4.u32.f32", "{%5, %6}", (cudaTextureObject_t o, float x, int layer),
	     "r"(layer), "f"(x))
GPUEMU_FETCH(layer2, "tex.a2d.v4.u32.f32", "{%5, %6, %7, %7}",
	     (cudaTextureObject_t o, float x, float y, int layer), "r"(layer), "f"(x), "f"(y))
GPUEMU_FETCH(gather_r, "tld4.r.2d.v4.u32.f32", "{%5, %6}", (cudaTextureObject_t o, float x, float y),
	     "f"(x), "f"(y))
GPUEMU_FETCH(gather_g, "tld4.g.2d.v4.u32.f32", "{%5, %6}", (cudaTextureObject_t o, float x, float y),
	     "f"(x), "f"(y))
GPUEMU_FETCH(gather_b, "tld4.b.2d.v4.u32.f32", "{%5, %6}", (cudaTextureObject_t o, float x, float y),
	     "f"(x), "f"(y))
GPUEMU_FETCH(gather_a, "tld4.a.2d.v4.u32.f32", "{%5, %6}", (cudaTextureObject_t o, float x, float y),
	     "f"(x), "f"(y))
#undef GPUEMU_FETCH
#undef GPUEMU_OUT

/* What a reference reads is its own type, or fractions; its handle is where its variable is. */
template <class T, cudaTextureReadMode mode> struct gpuemu_read {
	typedef T type;
};
template <class T> struct gpuemu_read<T, cudaReadModeNormalizedFloat> {
	typedef typename gpuemu_channels<T>::float_type type;
};
template <class T, int dim, cudaTextureReadMode mode>
static inline __device__ cudaTextureObject_t gpuemu_handle(texture<T, dim, mode> &t)
{
	return *(const cudaTextureObject_t *)&t;
}

/* One function for objects, one that stores, one for references of that many dimensions. */
#define GPUEMU_TEX(name, how, dim, params, ...)							\
	template <class T>									\
	static inline __device__ T name(cudaTextureObject_t o, GPUEMU_LIST params)		\
	{											\
		return gpuemu_value<T>(gpuemu_##how(o, __VA_ARGS__));				\
	}											\
	template <class T>									\
	static inline __device__ void name(T *to, cudaTextureObject_t o, GPUEMU_LIST params)	\
	{											\
		*to = gpuemu_value<T>(gpuemu_##how(o, __VA_ARGS__));				\
	}											\
	template <class T, cudaTextureReadMode mode>						\
	static inline __device__ typename gpuemu_read<T, mode>::type				\
	name(texture<T, dim, mode> t, GPUEMU_LIST params)					\
	{											\
		typedef typename gpuemu_read<T, mode>::type type;				\
												\
		return gpuemu_value<type>(gpuemu_##how(gpuemu_handle(t), __VA_ARGS__));		\
	}
#define GPUEMU_LIST(...)	__VA_ARGS__
GPUEMU_TEX(tex1Dfetch, fetch1, cudaTextureType1D, (int x), x)
GPUEMU_TEX(tex1D, tex1, cudaTextureType1D, (float x), x)
GPUEMU_TEX(tex2D, tex2, cudaTextureType2D, (float x, float y), x, y)
GPUEMU_TEX(tex3D, tex3, cudaTextureType3D, (float x, float y, float z), x, y, z)
GPUEMU_TEX(tex1DLayered, layer1, cudaTextureType1DLayered, (float x, int layer), x, layer)
GPUEMU_TEX(tex2DLayered, layer2, cudaTextureType2DLayered, (float x, float y, int layer), x, y,
	   layer)
GPUEMU_TEX(tex1DLod, tex1, cudaTextureType1D, (float x, float level), x)
GPUEMU_TEX(tex2DLod, tex2, cudaTextureType2D, (float x, float y, float level), x, y)
GPUEMU_TEX(tex3DLod, tex3, cudaTextureType3D, (float x, float y, float z, float level), x, y, z)
#undef GPUEMU_TEX
#undef GPUEMU_LIST

template <class T>
static inline __device__ T tex2Dgather(cudaTextureObject_t o, float x, float y, int component = 0)
{
	return gpuemu_value<T>(component == 3 ? gpuemu_gather_a(o, x, y) :
			       component == 2 ? gpuemu_gather_b(o, x, y) :
			       component == 1 ? gpuemu_gather_g(o, x, y) :
						gpuemu_gather_r(o, x, y));
}

/* --- surfaces: x is in bytes ---------------------------------------------------------------- */

/*
 * Where the bytes are; 0 where nothing is read or written. The instruction is the engine's own, for
 * the boundary mode is a number here and a suffix of PTX' suld and sust.
 */
template <int bytes>
static inline __device__ unsigned long long
gpuemu_surface(unsigned long long o, int x, int y, int z, cudaSurfaceBoundaryMode mode)
{
	unsigned long long at;

#define GPUEMU_AT(number) asm volatile("_surface.b64 %0, %1, %2, %3, %4, %5;" : "=l"(at) :	\
	"n"((number) | __builtin_ctz(bytes) << 2), "l"(o), "r"(x), "r"(y), "r"(z))
	if (mode == cudaBoundaryModeTrap)
		GPUEMU_AT(0);
	else if (mode == cudaBoundaryModeClamp)
		GPUEMU_AT(1);
	else
		GPUEMU_AT(2);
#undef GPUEMU_AT
	return at;
}

template <class T>
static inline __device__ T gpuemu_surf_read(cudaSurfaceObject_t o, int x, int y, int z,
					    cudaSurfaceBoundaryMode mode)
{
	unsigned long long at = gpuemu_surface<sizeof(T)>(o, x, y, z, mode);
	T value;

	if (at)
		value = *(const T *)at;
	else
		memset(&value, 0, sizeof(value));
	return value;
}
template <class T>
static inline __device__ void gpuemu_surf_write(T value, cudaSurfaceObject_t o, int x, int y, int z,
						cudaSurfaceBoundaryMode mode)
{
	unsigned long long at = gpuemu_surface<sizeof(T)>(o, x, y, z, mode);

	if (at)
		*(T *)at = value;
}

/* References, as CUDA had them until 12. In device code one is a handle, as a texture's is. */
template <class T, int dim = cudaSurfaceType1D>
struct __attribute__((device_builtin_surface_type)) surface;
template <int dim>
struct __attribute__((device_builtin_surface_type)) surface<void, dim> : public surfaceReference {
#ifndef __CUDA_ARCH__
	__host__ surface() : surfaceReference()
	{
	}
#endif
};
template <int dim>
static inline __device__ cudaSurfaceObject_t gpuemu_handle(surface<void, dim> &s)
{
	return *(const cudaSurfaceObject_t *)&s;
}
template <int dim>
static inline __host__ cudaError_t cudaBindSurfaceToArray(const surface<void, dim> &s,
							  cudaArray_const_t array,
							  const cudaChannelFormatDesc &desc)
{
	return cudaBindSurfaceToArray((const surfaceReference *)&s, array, &desc);
}
template <int dim>
static inline __host__ cudaError_t cudaBindSurfaceToArray(const surface<void, dim> &s,
							  cudaArray_const_t array)
{
	cudaChannelFormatDesc desc;
	cudaError_t error = cudaGetChannelDesc(&desc, array);

	return error ? error : cudaBindSurfaceToArray(s, array, desc);
}

#define GPUEMU_BOUNDARY	cudaSurfaceBoundaryMode mode = cudaBoundaryModeTrap
#define GPUEMU_SURF(name, dim, params, x, y, z)						\
	template <class T>									\
	static inline __device__ T name##read(surface<void, dim> s, GPUEMU_LIST params,	\
					      GPUEMU_BOUNDARY)					\
	{											\
		return gpuemu_surf_read<T>(gpuemu_handle(s), x, y, z, mode);			\
	}											\
	template <class T>									\
	static inline __device__ void name##read(T *to, surface<void, dim> s,			\
						 GPUEMU_LIST params, GPUEMU_BOUNDARY)		\
	{											\
		*to = gpuemu_surf_read<T>(gpuemu_handle(s), x, y, z, mode);			\
	}											\
	template <class T>									\
	static inline __device__ void name##write(T value, surface<void, dim> s,		\
						  GPUEMU_LIST params, GPUEMU_BOUNDARY)		\
	{											\
		gpuemu_surf_write(value, gpuemu_handle(s), x, y, z, mode);			\
	}											\
	template <class T>									\
	static inline __device__ T name##read(cudaSurfaceObject_t o, GPUEMU_LIST params,	\
					      GPUEMU_BOUNDARY) \
	{											\
		return gpuemu_surf_read<T>(o, x, y, z, mode);					\
	}											\
	template <class T>									\
	static inline __device__ void name##read(T *to, cudaSurfaceObject_t o, GPUEMU_LIST params, \
						 GPUEMU_BOUNDARY) \
	{											\
		*to = gpuemu_surf_read<T>(o, x, y, z, mode);					\
	}											\
	template <class T>									\
	static inline __device__ void name##write(T value, cudaSurfaceObject_t o,		\
						  GPUEMU_LIST params, GPUEMU_BOUNDARY)		\
	{											\
		gpuemu_surf_write(value, o, x, y, z, mode);					\
	}
#define GPUEMU_LIST(...)	__VA_ARGS__
GPUEMU_SURF(surf1D, cudaSurfaceType1D, (int x), x, 0, 0)
GPUEMU_SURF(surf2D, cudaSurfaceType2D, (int x, int y), x, y, 0)
GPUEMU_SURF(surf3D, cudaSurfaceType3D, (int x, int y, int z), x, y, z)
GPUEMU_SURF(surf1DLayered, cudaSurfaceType1DLayered, (int x, int layer), x, 0, layer)
GPUEMU_SURF(surf2DLayered, cudaSurfaceType2DLayered, (int x, int y, int layer), x, y, layer)
#undef GPUEMU_SURF
#undef GPUEMU_BOUNDARY
#undef GPUEMU_LIST

#endif
