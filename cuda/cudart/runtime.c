// SPDX-License-Identifier: GPL-2.0
/*
 * The process's GPU: opened by the first call that needs one, with what `gpuemu exec` put into
 * the environment, and closed when the process ends; then the statistics go to the descriptor
 * that exec reads them from. A call that finds something broken says so in a sentence on stderr,
 * for CUDA has numbers alone.
 */
#include <errno.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cudart.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct gpuemu_ctx *ctx;
static struct device device;
static int open_error;			/* -errno; nothing is tried again */
static pid_t owner;			/* a child after fork() reports nothing */
struct copies runtime_copies;

struct gpuemu_ctx *runtime_ctx(void)
{
	return ctx;
}

const struct device *runtime_device(void)
{
	return &device;
}

void runtime_say(const char *fmt, ...)
{
	va_list args;

	fflush(stdout);
	fputs("gpuemu: ", stderr);
	va_start(args, fmt);
	vfprintf(stderr, fmt, args);
	va_end(args);
	fputc('\n', stderr);
}

/* --- what the GPU is -------------------------------------------------------------------- */

static uint64_t number(const char *key)
{
	char text[64];

	return gpuemu_get_setting(ctx, key, text, sizeof(text)) ? 0 : strtoull(text, NULL, 0);
}

static void look(void)
{
	device = (struct device){
		.sms = number("gpu.sms"),
		.warps = number("sm.warps"),
		.ctas = number("sm.ctas"),
		.registers = number("sm.registers"),
		.shared = number("sm.shared"),
		.clock_mhz = number("gpu.clock_mhz"),
		.vram = number("paging.vram"),
		.l2 = number("l2.slices") * number("l2.sets") * number("l2.ways") * number("l2.line"),
		.bus_bits = 8 * number("dram.bus") * number("dram.channels"),
		.mem_khz = 1000 * number("dram.clock_mhz"),
		.register_unit = number("occupancy.register_unit"),
		.shared_unit = number("occupancy.shared_unit"),
		.functional = number("gpu.functional") && !strcmp(gpuemu_backend(ctx), "sim"),
	};
}

static void open_gpu(void)
{
	const struct gpuemu_options options = {
		.size = sizeof(options),
		.config = getenv("GPUEMU_CONFIG"),
		.settings = getenv("GPUEMU_SETTINGS"),
		.device = getenv("GPUEMU_DEVICE"),
		.recorded = getenv("GPUEMU_RECORDED"),
	};

	open_error = gpuemu_open(&ctx, &options);
	if (open_error) {
		runtime_say("%s", gpuemu_last_error(NULL));
		return;
	}
	owner = getpid();
	look();
}

/* --- entering and leaving ------------------------------------------------------------------ */

void enter_quietly(void)
{
	pthread_mutex_lock(&lock);
}

cudaError_t enter(void)
{
	pthread_mutex_lock(&lock);
	if (error_sticky())
		return error_sticky();
	if (!ctx && !open_error) {
		open_gpu();
		if (ctx) {
			cudaError_t error = managed_register_all();

			return error ? error : module_load_managed();
		}
	}
	return open_error ? cudaErrorNoDevice : cudaSuccess;
}

cudaError_t leave_quietly(cudaError_t error)
{
	per_thread_call = 0;
	pthread_mutex_unlock(&lock);
	return error;
}

cudaError_t leave(cudaError_t error)
{
	error_remember(error);
	return leave_quietly(error);
}

/* A kernel's error, as CUDA's number. */
static cudaError_t kernel_error(int ret, const char *text)
{
	switch (ret) {
	case -EFAULT:
		if (strstr(text, "misaligned"))
			return cudaErrorMisalignedAddress;
		return cudaErrorIllegalAddress;
	case -ECANCELED:
		/* A GPU finds a stack that is too deep when it leaves local memory. */
		if (strstr(text, "overflows the stack"))
			return cudaErrorIllegalAddress;
		return strstr(text, "ssert") ? cudaErrorAssert : cudaErrorLaunchFailure;
	case -EDEADLK:
	case -ETIMEDOUT:
		return cudaErrorLaunchTimeout;
	case -EINVAL:
		return cudaErrorInvalidConfiguration;
	case -EOPNOTSUPP:
		return cudaErrorNotSupported;
	case -ENOMEM:
		return cudaErrorMemoryAllocation;
	case -ENODEV:
	case -EIO:
		return cudaErrorDevicesUnavailable;
	default:
		return cudaErrorLaunchFailure;
	}
}

cudaError_t runtime_failed(int ret)
{
	const char *text;
	cudaError_t error;

	if (!ret)
		return cudaSuccess;
	text = gpuemu_last_error(ctx);
	error = kernel_error(ret, text);
	runtime_say("%s", *text ? text : gpuemu_strerror(ret));
	/*
	 * Resources that the launch lacked do no harm to what comes next; the rest broke the
	 * context.
	 */
	if (error != cudaErrorInvalidConfiguration && error != cudaErrorNotSupported &&
	    error != cudaErrorMemoryAllocation)
		error_stick(error);
	return error;
}

/* --- the end ----------------------------------------------------------------------------- */

static void write_report(int fd)
{
	char name[256] = "program", *statistics = NULL;
	FILE *out = fdopen(dup(fd), "w");
	const struct copies *c = &runtime_copies;

	if (!out)
		return;
	/* In the JSON only what needs no escape. */
	for (const char *from = program_invocation_short_name, *at = from; *at &&
	     at - from < 255; at++) {
		name[at - from] = *at == '"' || *at == '\\' || (unsigned char)*at < ' ' ? '_' : *at;
		name[at - from + 1] = '\0';
	}
	gpuemu_statistics(ctx, &statistics);
	fprintf(out, "{\"program\":\"%s\",\"backend\":\"%s\",\"error\":\"%s\",\"copies\":{"
		"\"h2d\":%llu,\"h2d_bytes\":%llu,\"d2h\":%llu,\"d2h_bytes\":%llu,"
		"\"d2d\":%llu,\"d2d_bytes\":%llu,\"memsets\":%llu,\"memset_bytes\":%llu},"
		"\"statistics\":%s}\n", name, gpuemu_backend(ctx), cudaGetErrorName(error_sticky()),
		(unsigned long long)c->h2d, (unsigned long long)c->h2d_bytes,
		(unsigned long long)c->d2h, (unsigned long long)c->d2h_bytes,
		(unsigned long long)c->d2d, (unsigned long long)c->d2d_bytes,
		(unsigned long long)c->memsets, (unsigned long long)c->memset_bytes,
		statistics ? statistics : "null");
	gpuemu_free(statistics);
	fclose(out);
}

static void close_gpu(void)
{
	const char *fd = getenv("GPUEMU_REPORT_FD");
	const char *record = getenv("GPUEMU_RECORD");

	if (!ctx || owner != getpid())
		return;
	/* The kernels' output comes before the end. */
	gpuemu_synchronize(ctx);
	if (record && gpuemu_record(ctx, record))
		runtime_say("%s", gpuemu_last_error(ctx));
	if (fd && *fd)
		write_report(atoi(fd));
	registry_forget();
	memory_forget_all();
	register_forget_all();
	array_forget_all();
	texture_forget_all();
	device_forget_all();
	stream_forget_all();
	event_forget_all();
	gpuemu_close(ctx);
	ctx = NULL;
}

/*
 * The next call opens a GPU anew, with statistics from zero; the report has one object for each. A
 * program that resets twice loses nothing.
 */
void runtime_reset(void)
{
	close_gpu();
	error_unstick();
	runtime_copies = (struct copies){ 0 };
}

__attribute__((destructor)) static void end(void)
{
	/* A thread that is in a call keeps the GPU: the process ends around it. */
	if (pthread_mutex_trylock(&lock))
		return;
	close_gpu();
	pthread_mutex_unlock(&lock);
}
