// SPDX-License-Identifier: GPL-2.0
/*
 * gpuemud, the GPU behind a gpuemu device. This file attaches to the module,
 * takes works one after another, and ends cleanly on a signal. The engine runs
 * on this thread; the fault handler's thread is the service's own.
 */
#include <errno.h>
#include <malloc.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "gpu/gpu.h"
#include "loader.h"
#include "log.h"
#include "notify.h"
#include "options.h"
#include "plugin/plugin.h"
#include "service/kmod.h"
#include "works.h"

#define NOBODY			65534u	/* user and group of a loaded policy's process */
#define POLICY_TIMEOUT_MS	500u	/* the module's default */

#ifndef PR_SET_IO_FLUSHER
#define PR_SET_IO_FLUSHER	57
#endif

/* The signal handler reaches the one service of the process by this. */
static struct service *volatile stop_service;
static volatile sig_atomic_t stop_signal;

static void on_stop(int sig)
{
	struct service *service = stop_service;

	stop_signal = sig;
	if (service)
		service_kmod_stop(service);
}

/* The module revokes a lost engine's mappings: the next access ends here. */
static void on_bus_error(int sig)
{
	static const char text[] =
		"gpuemud: the device was lost: its memory was revoked by the module\n";

	/* Whether or not anyone reads it. */
	if (write(STDERR_FILENO, text, sizeof(text) - 1) < 0)
		_exit(1);
	_exit(1);
}

static void catch_signals(void)
{
	struct sigaction stop = { .sa_handler = on_stop };
	struct sigaction bus = { .sa_handler = on_bus_error };

	sigaction(SIGTERM, &stop, NULL);
	sigaction(SIGINT, &stop, NULL);
	sigaction(SIGBUS, &bus, NULL);
	signal(SIGPIPE, SIG_IGN);
}

/*
 * Serving a page must not wait for a page of this process: memory is kept,
 * and reclaim on its behalf does not come back to it. Both need rights that
 * a container may lack; all works without, more slowly under pressure.
 */
static void hold_memory(const struct log *log)
{
	if (mlockall(MCL_CURRENT | MCL_FUTURE | MCL_ONFAULT))
		log_line(log, LOG_DEBUG, "mlockall: %s", strerror(errno));
	if (prctl(PR_SET_IO_FLUSHER, 1, 0, 0, 0))
		log_line(log, LOG_DEBUG, "PR_SET_IO_FLUSHER: %s", strerror(errno));
}

/*
 * Engine and fault handler never run at the same time: one waits for the other
 * twice in every far fault. On one CPU that is a context switch; across two it
 * is an interrupt to a CPU that may sleep, several times as dear. Threads made
 * later inherit it.
 */
static void stay_on_one_cpu(const struct log *log)
{
	int cpu = sched_getcpu();
	cpu_set_t set;

	CPU_ZERO(&set);
	if (cpu >= 0)
		CPU_SET(cpu, &set);
	if (cpu < 0 || sched_setaffinity(0, sizeof(set), &set))
		log_line(log, LOG_DEBUG, "sched_setaffinity: %s", strerror(errno));
	else
		log_line(log, LOG_DEBUG, "on CPU %d", cpu);
}

static int device_lost(const struct log *log, const char *device)
{
	log_line(log, LOG_ERROR, "the device %s was lost: the module detached this engine", device);
	return 1;
}

/* How often it is asked whether clients live whose works are kept. */
#define LOOK_MS	1000
/* How often, whether PTX is parsed: what a load, and others' works beside it, may take longer. */
#define LOAD_US	200

/*
 * While PTX is parsed, the engine does not wait in the module. There it would be parked, and the
 * kernel whose text is ready could not raise a far fault before another work comes.
 */
static int turn_beside_load(struct works *works, struct gpu *gpu, struct service *service)
{
	struct service_work work;
	int ret = service_kmod_try(service, &work);

	if (!ret) {
		ret = gpu_poll(gpu);
		return ret ? ret : works_do(works, &work);
	}
	if (ret != -EAGAIN)
		return ret;
	usleep(LOAD_US);
	return gpu_poll(gpu);
}

/* One work's turn: of those that wait here, or of the next that comes. */
static int one_turn(struct works *works, struct gpu *gpu, struct service *service)
{
	struct service_work work;
	int ret = works_load(works) ? works_look_at_loads(works) : 0;

	if (ret)
		return ret;
	if (!works_wait(works)) {
		if (works_load(works))
			return turn_beside_load(works, gpu, service);
		ret = service_kmod_next(service, &work, works_kept(works) ? LOOK_MS : -1);
		if (ret == -ETIME) {
			works_forget_dead(works);
			return 0;
		}
		if (!ret)
			ret = gpu_poll(gpu);
		return ret ? ret : works_do(works, &work);
	}
	while (!(ret = service_kmod_try(service, &work)))
		works_add(works, &work);
	if (ret == -EAGAIN)
		ret = gpu_poll(gpu);
	return ret ? ret : works_next(works);
}

/* 0 ended by a signal, 1 the device was lost. */
static int run(struct works *works, struct gpu *gpu, struct service *service,
	       const struct log *log, const char *device)
{
	int ret;

	while (!stop_signal) {
		ret = one_turn(works, gpu, service);
		if (ret && !stop_signal)
			return device_lost(log, device);
	}
	log_line(log, LOG_INFO, "ends on %s", stop_signal == SIGINT ? "SIGINT" : "SIGTERM");
	return 0;
}

/*
 * A policy's call must end sooner than the module's patience with its engine when memory is
 * reclaimed.
 */
static uint32_t policy_limit_ms(void)
{
	FILE *file = fopen("/sys/module/gpuemu/parameters/invalidate_timeout_ms", "r");
	unsigned int timeout_ms;

	if (!file || fscanf(file, "%u", &timeout_ms) != 1)
		timeout_ms = POLICY_TIMEOUT_MS;
	if (file)
		fclose(file);
	return MAX(timeout_ms / 2, 1u);
}

static struct plugin_site policy_site(const struct options *options)
{
	static const char *const none[] = { NULL };

	return (struct plugin_site){
		.allowed = options->policies ? (const char *const *)options->policies : none,
		.uid = geteuid() ? 0 : NOBODY,
		.limit_ms = policy_limit_ms(),
	};
}

/* The machine's memory, or the limit of the daemon's own memory cgroup if that is less. */
static uint64_t memory(void)
{
	uint64_t bytes = (uint64_t)sysconf(_SC_PHYS_PAGES) * (uint64_t)sysconf(_SC_PAGESIZE);
	char line[256], path[320];
	FILE *file = fopen("/proc/self/cgroup", "r");
	unsigned long long most;

	if (!file)
		return bytes;
	/* cgroup v2's line is 0::/PATH. */
	while (fgets(line, sizeof(line), file)) {
		if (strncmp(line, "0::/", 4))
			continue;
		line[strcspn(line, "\n")] = '\0';
		snprintf(path, sizeof(path), "/sys/fs/cgroup%s/memory.max", line + 3);
		fclose(file);
		file = fopen(path, "r");
		if (file && fscanf(file, "%llu", &most) == 1)
			bytes = MIN(bytes, most);
		break;
	}
	if (file)
		fclose(file);
	return bytes;
}

/*
 * All clients together get half, since the engine's own memory and what clients map is there, too.
 * A limit that is given for one is taken at its word.
 */
static struct works_limits limits_of(const struct options *options)
{
	uint64_t half = memory() / 2, each = options->client_memory;

	return (struct works_limits){
		.slice_ms = options->slice_ms, .load_seconds = options->load_seconds,
		.client_bytes = each ? each : half / 2, .all_bytes = MAX(half, each),
	};
}

static int serve(const struct options *options, struct service *service, const struct log *log)
{
	const struct plugin_site site = policy_site(options);
	const struct works_limits limits = limits_of(options);
	struct gpu_spec spec = options->spec;
	struct works *works = NULL;
	struct gpu *gpu = NULL;
	struct err err = { "" };
	int ret;

	ret = works_check_vram(&spec, service, &err);
	if (ret) {
		log_line(log, LOG_ERROR, "%s", err.text);
		return 2;
	}
	ret = gpu_create(service, &gpu, &err);
	if (!ret)
		gpu_policy_site(gpu, &site);
	if (!ret && gpu_supports(gpu, &spec, &err)) {
		log_line(log, LOG_ERROR, "%s", err.text);
		gpu_destroy(gpu);
		return 2;
	}
	if (!ret)
		ret = works_create(gpu, service, &spec, log, &limits, &works);
	if (ret) {
		log_line(log, LOG_ERROR, "%s", err.text[0] ? err.text : strerror(-ret));
		ret = 1;
	} else {
		/* Always said, whatever the level: who started the daemon waits for it. */
		fprintf(stderr, "gpuemud: attached (generation %u, VRAM %llu MiB)\n",
			service_kmod_generation(service),
			(unsigned long long)(service->ops->frames(service) * PAGE_BYTES >> 20));
		notify_ready();
		ret = run(works, gpu, service, log, options->device);
	}
	works_destroy(works);
	gpu_destroy(gpu);
	return ret;
}

/* --help and --version have been printed: the exit status. */
static int told(void)
{
	if (!fflush(stdout) && !ferror(stdout))
		return 0;
	fprintf(stderr, "gpuemud: cannot write to standard output: %s\n", strerror(errno));
	return 1;
}

int main(int argc, char **argv)
{
	struct options options;
	struct service *service;
	struct err err = { "" };
	struct log log;
	int ret;

	loader_process(argc, argv);
	/* Large pieces are mappings of their own whatever was freed before: freed, they are gone. */
	mallopt(M_MMAP_THRESHOLD, 256 << 10);
	ret = options_parse(&options, argc, argv);
	if (ret < 0)
		return 2;
	if (ret)
		return told();
	log.level = options.log_level;
	catch_signals();
	stay_on_one_cpu(&log);
	ret = service_kmod_create(options.device, &service, &err);
	if (ret) {
		log_line(&log, LOG_ERROR, "%s", err.text);
		return 1;
	}
	stop_service = service;
	hold_memory(&log);
	ret = serve(&options, service, &log);
	stop_service = NULL;
	service->ops->destroy(service);
	return ret;
}
