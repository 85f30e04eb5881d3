/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Textures, surfaces and arrays as the runtime's functions take them, with the references that
 * CUDA 12 dropped. Programs include it through cuda_runtime.h; the library is built with it too.
 */
#ifndef GPUEMU_TEXTURE_TYPES_H
#define GPUEMU_TEXTURE_TYPES_H
#define __TEXTURE_TYPES_H__
#define __SURFACE_TYPES_H__

#include "driver_types.h"

#define cudaArrayDefault		0x00
#define cudaArrayLayered		0x01
#define cudaArraySurfaceLoadStore	0x02
#define cudaArrayCubemap		0x04
#define cudaArrayTextureGather		0x08

#define cudaTextureType1D		0x01
#define cudaTextureType2D		0x02
#define cudaTextureType3D		0x03
#define cudaTextureTypeCubemap		0x0C
#define cudaTextureType1DLayered	0xF1
#define cudaTextureType2DLayered	0xF2
#define cudaSurfaceType1D		0x01
#define cudaSurfaceType2D		0x02
#define cudaSurfaceType3D		0x03
#define cudaSurfaceType1DLayered	0xF1
#define cudaSurfaceType2DLayered	0xF2

enum cudaTextureAddressMode {
	cudaAddressModeWrap = 0, cudaAddressModeClamp = 1, cudaAddressModeMirror = 2,
	cudaAddressModeBorder = 3,
};
enum cudaTextureFilterMode { cudaFilterModePoint = 0, cudaFilterModeLinear = 1 };
enum cudaTextureReadMode { cudaReadModeElementType = 0, cudaReadModeNormalizedFloat = 1 };
enum cudaSurfaceBoundaryMode {
	cudaBoundaryModeZero = 0, cudaBoundaryModeClamp = 1, cudaBoundaryModeTrap = 2,
};
enum cudaSurfaceFormatMode { cudaFormatModeForced = 0, cudaFormatModeAuto = 1 };

struct textureReference {
	int normalized;
	enum cudaTextureFilterMode filterMode;
	enum cudaTextureAddressMode addressMode[3];
	struct cudaChannelFormatDesc channelDesc;
	int sRGB;
	unsigned int maxAnisotropy;
	enum cudaTextureFilterMode mipmapFilterMode;
	float mipmapLevelBias, minMipmapLevelClamp, maxMipmapLevelClamp;
	int disableTrilinearOptimization;
	int __cudaReserved[14];
};
struct surfaceReference {
	struct cudaChannelFormatDesc channelDesc;
};

enum cudaResourceType {
	cudaResourceTypeArray = 0, cudaResourceTypeMipmappedArray = 1, cudaResourceTypeLinear = 2,
	cudaResourceTypePitch2D = 3,
};
typedef struct cudaMipmappedArray *cudaMipmappedArray_t;
struct cudaResourceDesc {
	enum cudaResourceType resType;
	union {
		struct {
			cudaArray_t array;
		} array;
		struct {
			cudaMipmappedArray_t mipmap;
		} mipmap;
		struct {
			void *devPtr;
			struct cudaChannelFormatDesc desc;
			size_t sizeInBytes;
		} linear;
		struct {
			void *devPtr;
			struct cudaChannelFormatDesc desc;
			size_t width, height, pitchInBytes;
		} pitch2D;
	} res;
};
/* Of textures with such a view there are none yet. */
enum cudaResourceViewFormat { cudaResViewFormatNone = 0 };
struct cudaResourceViewDesc {
	enum cudaResourceViewFormat format;
	size_t width, height, depth;
	unsigned int firstMipmapLevel, lastMipmapLevel, firstLayer, lastLayer;
};

struct cudaTextureDesc {
	enum cudaTextureAddressMode addressMode[3];
	enum cudaTextureFilterMode filterMode;
	enum cudaTextureReadMode readMode;
	int sRGB;
	float borderColor[4];
	int normalizedCoords;
	unsigned int maxAnisotropy;
	enum cudaTextureFilterMode mipmapFilterMode;
	float mipmapLevelBias, minMipmapLevelClamp, maxMipmapLevelClamp;
	int disableTrilinearOptimization;
	int seamlessCubemap;
};

typedef unsigned long long cudaTextureObject_t;
typedef unsigned long long cudaSurfaceObject_t;

#ifdef __cplusplus
extern "C" {
#define GPUEMU_TEX_DV(value)	= value
#else
#define GPUEMU_TEX_DV(value)
#endif

cudaError_t cudaMallocArray(cudaArray_t *array, const struct cudaChannelFormatDesc *desc,
			    size_t width, size_t height GPUEMU_TEX_DV(0),
			    unsigned int flags GPUEMU_TEX_DV(0));
cudaError_t cudaMalloc3DArray(cudaArray_t *array, const struct cudaChannelFormatDesc *desc,
			      struct cudaExtent extent, unsigned int flags GPUEMU_TEX_DV(0));
cudaError_t cudaFreeArray(cudaArray_t array);
cudaError_t cudaArrayGetInfo(struct cudaChannelFormatDesc *desc, struct cudaExtent *extent,
			     unsigned int *flags, cudaArray_t array);
cudaError_t cudaGetChannelDesc(struct cudaChannelFormatDesc *desc, cudaArray_const_t array);
cudaError_t cudaMemcpyToArray(cudaArray_t dst, size_t x, size_t y, const void *src, size_t bytes,
			      enum cudaMemcpyKind kind);
cudaError_t cudaMemcpyToArrayAsync(cudaArray_t dst, size_t x, size_t y, const void *src,
				   size_t bytes, enum cudaMemcpyKind kind,
				   cudaStream_t stream GPUEMU_TEX_DV(0));
cudaError_t cudaMemcpyFromArray(void *dst, cudaArray_const_t src, size_t x, size_t y, size_t bytes,
				enum cudaMemcpyKind kind);
cudaError_t cudaMemcpyFromArrayAsync(void *dst, cudaArray_const_t src, size_t x, size_t y,
				     size_t bytes, enum cudaMemcpyKind kind,
				     cudaStream_t stream GPUEMU_TEX_DV(0));
cudaError_t cudaMemcpy2DToArray(cudaArray_t dst, size_t x, size_t y, const void *src,
				size_t spitch, size_t width, size_t height,
				enum cudaMemcpyKind kind);
cudaError_t cudaMemcpy2DToArrayAsync(cudaArray_t dst, size_t x, size_t y, const void *src,
				     size_t spitch, size_t width, size_t height,
				     enum cudaMemcpyKind kind,
				     cudaStream_t stream GPUEMU_TEX_DV(0));
cudaError_t cudaMemcpy2DFromArray(void *dst, size_t dpitch, cudaArray_const_t src, size_t x,
				  size_t y, size_t width, size_t height,
				  enum cudaMemcpyKind kind);
cudaError_t cudaMemcpy2DFromArrayAsync(void *dst, size_t dpitch, cudaArray_const_t src, size_t x,
				       size_t y, size_t width, size_t height,
				       enum cudaMemcpyKind kind,
				       cudaStream_t stream GPUEMU_TEX_DV(0));
cudaError_t cudaMemcpyArrayToArray(cudaArray_t dst, size_t dst_x, size_t dst_y,
				   cudaArray_const_t src, size_t src_x, size_t src_y, size_t bytes,
				   enum cudaMemcpyKind kind
				   GPUEMU_TEX_DV(cudaMemcpyDeviceToDevice));
cudaError_t cudaMemcpy2DArrayToArray(cudaArray_t dst, size_t dst_x, size_t dst_y,
				     cudaArray_const_t src, size_t src_x, size_t src_y,
				     size_t width, size_t height,
				     enum cudaMemcpyKind kind
				     GPUEMU_TEX_DV(cudaMemcpyDeviceToDevice));

cudaError_t cudaBindTexture(size_t *offset, const struct textureReference *texture,
			    const void *ptr, const struct cudaChannelFormatDesc *desc,
			    size_t bytes GPUEMU_TEX_DV(UINT_MAX));
cudaError_t cudaBindTexture2D(size_t *offset, const struct textureReference *texture,
			      const void *ptr, const struct cudaChannelFormatDesc *desc,
			      size_t width, size_t height, size_t pitch);
cudaError_t cudaBindTextureToArray(const struct textureReference *texture, cudaArray_const_t array,
				   const struct cudaChannelFormatDesc *desc);
cudaError_t cudaUnbindTexture(const struct textureReference *texture);
cudaError_t cudaGetTextureAlignmentOffset(size_t *offset, const struct textureReference *texture);
cudaError_t cudaGetTextureReference(const struct textureReference **texture, const void *symbol);
cudaError_t cudaBindSurfaceToArray(const struct surfaceReference *surface, cudaArray_const_t array,
				   const struct cudaChannelFormatDesc *desc);

cudaError_t cudaCreateTextureObject(cudaTextureObject_t *object,
				    const struct cudaResourceDesc *resource,
				    const struct cudaTextureDesc *texture,
				    const struct cudaResourceViewDesc *view);
cudaError_t cudaDestroyTextureObject(cudaTextureObject_t object);
cudaError_t cudaGetTextureObjectResourceDesc(struct cudaResourceDesc *resource,
					     cudaTextureObject_t object);
cudaError_t cudaGetTextureObjectTextureDesc(struct cudaTextureDesc *texture,
					    cudaTextureObject_t object);
cudaError_t cudaGetTextureObjectResourceViewDesc(struct cudaResourceViewDesc *view,
						 cudaTextureObject_t object);
cudaError_t cudaCreateSurfaceObject(cudaSurfaceObject_t *object,
				    const struct cudaResourceDesc *resource);
cudaError_t cudaDestroySurfaceObject(cudaSurfaceObject_t object);
cudaError_t cudaGetSurfaceObjectResourceDesc(struct cudaResourceDesc *resource,
					     cudaSurfaceObject_t object);

#ifdef __cplusplus
}
#endif
#undef GPUEMU_TEX_DV

#endif
