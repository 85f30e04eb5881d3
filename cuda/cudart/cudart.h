/* SPDX-License-Identifier: GPL-2.0 */
/*
 * libcudart's inside: one GPU for the process, opened by the first call that needs it. Every
 * public function takes the lock for its whole length, so that the rest need none; libgpuemu does
 * one call at a time anyway. The library knows libgpuemu by its public header alone.
 */
#ifndef GPUEMU_CUDART_CUDART_H
#define GPUEMU_CUDART_CUDART_H

#define GPUEMU_CUDART
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cuda_runtime_api.h"
#include "gpuemu.h"

#define API	__attribute__((visibility("default")))
#define ARRAY_SIZE(a)	(sizeof(a) / sizeof((a)[0]))

/* A configured GPU, as properties, attributes and occupancy tell it. */
struct device {
	uint64_t sms, warps, ctas, registers, shared, clock_mhz, vram, l2, bus_bits, mem_khz;
	uint64_t register_unit, shared_unit;
	bool functional;
};

/* --- runtime.c: the GPU ------------------------------------------------------------ */

struct gpuemu_ctx *runtime_ctx(void);	/* NULL until it is open */
const struct device *runtime_device(void);
/* The lock, and an open GPU: 0, the sticky error, or why there is none. Leave with leave(). */
cudaError_t enter(void);
/* Without a GPU: what only looks at the process. */
void enter_quietly(void);
/* Remembers an error as the thread's last one, unlocks, returns it. */
cudaError_t leave(cudaError_t error);
/* The same of an error that says nothing went wrong: cudaErrorNotReady. */
cudaError_t leave_quietly(cudaError_t error);
/* From a launch or a synchronization: the kernel's error is the process's from now on. */
cudaError_t runtime_failed(int ret);
/* A sentence for the user, once a line. */
void runtime_say(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
/* The report's facts beside the engine's statistics. */
struct copies {
	uint64_t h2d, h2d_bytes, d2h, d2h_bytes, d2d, d2d_bytes, memsets, memset_bytes;
};
extern struct copies runtime_copies;
void runtime_reset(void);		/* cudaDeviceReset */

/* --- error.c ----------------------------------------------------------------------- */

/* The thread's last error, and the process's, which no call clears. */
cudaError_t error_remember(cudaError_t error);
cudaError_t error_sticky(void);
void error_stick(cudaError_t error);
void error_unstick(void);

/* --- fatbin.c ------------------------------------------------------------------------ */

struct fatbin_text {
	char *text;			/* PTX, NUL terminated; the caller's */
	size_t bytes;
	unsigned int arch;		/* 70 of sm_70 */
};
/*
 * The PTX for the newest architecture in a fatbin of at most `limit` bytes (SIZE_MAX: it says
 * itself how large it is). -ENOENT: only machine code; -EINVAL: no fatbin, or a broken one;
 * -ENOMEM.
 */
int fatbin_ptx(const void *data, size_t limit, struct fatbin_text *text);

/* --- registry.c ---------------------------------------------------------------------- */

struct function {
	struct function *next;
	const void *host;		/* the stub that programs name it by */
	const char *name;
	struct module *module;
	struct gpuemu_function *function; /* NULL until its module is loaded */
};

struct variable {
	struct variable *next;
	const void *host;
	void **managed;			/* set to its place when the module is loaded; NULL: not managed */
	const char *name;
	struct module *module;
	bool constant;
	unsigned int asked; /* a constant's address: which request for one this was; 0: none */
	uint64_t address;   /* of such a one, in the GPU's window of constants */
	size_t room;	    /* of such a one: its bytes */
	bool in_place;	   /* __managed__ of gpuemu cc: host is where it lies */
	bool visible;	   /* to the module's other texts; of such a one */
	unsigned int text; /* which one defines it; of such a one */
	size_t bytes;	   /* of such a one */
};

struct module_image {
	const void *data;    /* the fatbin */
	const void *wrapper; /* what its object registered; NULL: nvcc linked it */
};

struct module {
	struct module *next;
	struct module_image *images; /* fatbins: several with -rdc=true */
	unsigned int nimages;
	const void *
		linked; /* the executable or library whose objects it has, of gpuemu cc -rdc=true */
	struct gpuemu_module *module;	/* NULL: not loaded */
	bool broken;
	cudaError_t why;
};

struct module *registry_modules(void);
struct variable *registry_variables(void);
struct function *registry_function(const void *host);
/* A managed variable of gpuemu cc lies at `host`; the object with the wrapper defines it. */
void registry_add_in_place(void *host, size_t bytes, const char *name, const void *wrapper,
			   bool visible);
void registry_forget(void);		/* the GPU is closed: nothing is loaded */

/* --- module.c ------------------------------------------------------------------------ */

/* Loads its module if need be. */
cudaError_t module_function(const void *host, struct function **function);
cudaError_t module_variable(const void *symbol, struct variable **variable);
/* All registered modules with managed variables: their pointers are used without a call. */
cudaError_t module_load_managed(void);

/* --- symbol.c ------------------------------------------------------------------------ */

/* Of constants at addresses that cudaGetSymbolAddress() gave. */
bool symbol_is_constant(const void *ptr);
cudaError_t symbol_read(const void *constant, void *to, size_t bytes);
cudaError_t symbol_write(void *constant, const void *from, size_t bytes);

/* --- memory.c ------------------------------------------------------------------------- */

enum kind { DEVICE, MANAGED, HOST, VARIABLE, REGISTERED };
struct range {
	struct range *next;
	uintptr_t addr;
	size_t bytes;
	enum kind kind;
	size_t before;		/* bytes of its margin, which begins the allocation */
	unsigned int flags;	/* of cudaHostAlloc() */
};
static inline bool memory_is_pinned(const struct range *r)
{
	return r->kind == HOST || r->kind == REGISTERED;
}

/* The allocation that has the address, or NULL. */
const struct range *memory_at(const void *ptr);
/* A variable of a module is device memory that nobody frees. */
void memory_add_variable(void *ptr, size_t bytes);
cudaError_t memory_add_managed(void *ptr, size_t bytes);
/* Memory of the program's own that cudaHostRegister() was told of. */
cudaError_t memory_add_registered(void *ptr, size_t bytes);
bool memory_remove_registered(const void *ptr);
bool memory_registered_in(uintptr_t from, uintptr_t to);
/* Is all of it in one allocation, or in the granules that one has? */
bool memory_holds(const void *ptr, size_t bytes);
/* Is any byte of it known? */
bool memory_in(const void *ptr, size_t bytes);
/* Where device memory begins; CUDA promises 256. */
#define MEMORY_ALIGN	512ull
cudaError_t memory_alloc_device(void **ptr, size_t bytes);
/* Managed, or of the host. */
cudaError_t memory_alloc(void **ptr, size_t bytes, enum kind kind, unsigned int flags);
/* Is it an allocation of the host, or one of the device or managed? No work uses it. */
bool memory_free(void *ptr, bool host);
void memory_forget_all(void);
uint64_t memory_device_bytes(void);
/* Device memory that the backend pages for want of another. */
bool memory_is_paged(const void *ptr);

/* --- managed.c ------------------------------------------------------------------------------ */

/*
 * __managed__ variables of gpuemu cc become managed memory where they lie, when the GPU is
 * opened.
 */
cudaError_t managed_register_all(void);

/* --- what else is forgotten when the GPU is closed ------------------------------------------ */

void register_forget_all(void);
void event_forget_all(void);
void array_forget_all(void);
void texture_forget_all(void);
void device_forget_all(void);

/* --- stream.c --------------------------------------------------------------------------- */

struct CUstream_st {
	struct CUstream_st *next;
	struct gpuemu_stream *stream;
	unsigned int flags;
	/* Attributes, which the model makes nothing of. */
	struct cudaAccessPolicyWindow window;
	enum cudaSynchronizationPolicy policy;
};
/* false: not a stream. *s NULL is the default stream. */
bool stream_of(cudaStream_t stream, struct gpuemu_stream **s);
/* One more, in the list; NULL: no memory. */
struct CUstream_st *stream_new(void);
/* Its works, or all where it is the default one, have ended. */
cudaError_t stream_settle(cudaStream_t stream);
void stream_forget_all(void);

/* per_thread.c: the thread's call is one of those whose stream 0 is the thread's own. */
extern __thread int per_thread_call
	__attribute__((visibility("hidden"), tls_model("initial-exec")));
/* That stream; NULL: no memory. Inside enter(). */
struct CUstream_st *per_thread_stream(void);
void per_thread_forget_all(void);

#endif
