// SPDX-License-Identifier: GPL-2.0
/*
 * fuzz [--seconds N] [--seed S] [--clients N] [--calm] [--places N]
 *
 * Starts the processes, each second client as another user without rights, kills and stops
 * them, and at each round's end lets them rest, has every byte compared with the model and
 * looks at the counters. Prints
 * the seed, then TAP; a failure with what happened to the page before. --calm
 * kills and injects nothing. N is what KCOV can see of the module, where the kernel has it
 * (tests/vm/image.sh counts): then coverage is told of so much.
 * Run as root, the module loaded with enable_tests=1, no daemon attached: make fuzz-kernel.
 */
#include <dirent.h>
#include <errno.h>
#include <getopt.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "fuzz/fuzz.h"
#include "fuzz/kcov.h"
#include "lib/mirrors.h"
#include "lib/nl.h"
#include "lib/number.h"

struct fuzz {
	struct shared *s;
	uint64_t x;
	pid_t client[CLIENTS_MAX], engine, garbage;
	bool client_killed[CLIENTS_MAX], engine_killed;
	pid_t stopped;
	uint64_t stopped_until, begun;
	uint32_t engines, lives;
	struct nl nl;
	uint32_t places;
	/* What vm.unprivileged_userfaultfd was; -1: it was left alone. */
	int watched;
};

/* --- processes --- */

static pid_t spawn(struct fuzz *f, void (*run)(struct shared *s, uint64_t seed))
{
	uint64_t seed = (uint64_t)next_random(&f->x) << 32 | next_random(&f->x);
	pid_t pid = fork();

	if (!pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		run(f->s, seed);
	}
	return pid;
}

static void spawn_client(struct fuzz *f, int i)
{
	struct client_model *m = &f->s->client[i];
	uint64_t seed = (uint64_t)next_random(&f->x) << 32 | next_random(&f->x);
	int k;

	/* This is of the last life, and nothing of that is left. */
	atomic_store(&m->space, 0);
	atomic_store(&m->dying, false);
	for (k = 0; k < IMAGES; k++)
		atomic_store(&m->image[k].id, 0);
	remap_begin(f->s, i, 0, f->s->pages, LEFT_ZERO);
	f->client_killed[i] = false;
	f->lives++;
	f->client[i] = fork();
	if (!f->client[i]) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		client_run(f->s, i, seed);
	}
}

static void spawn_engine(struct fuzz *f)
{
	f->engine_killed = false;
	f->engines++;
	f->engine = spawn(f, engine_run);
}

/* A process that has ended begins anew; one that should not have has failed. */
static void reap(struct fuzz *f)
{
	bool killed;
	int status, i;
	pid_t pid;

	while ((pid = waitpid(-1, &status, WNOHANG)) > 0) {
		killed = WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL;
		if (pid == f->stopped)
			f->stopped = 0;
		if (pid == f->engine) {
			if (!(killed && f->engine_killed) && status)
				fail(f->s, -1, -1, "the engine ended with %#x", status);
			spawn_engine(f);
		}
		for (i = 0; i < f->s->clients; i++) {
			if (pid != f->client[i])
				continue;
			if (!killed || !f->client_killed[i])
				fail(f->s, i, -1, "client %d ended with %#x", i, status);
			spawn_client(f, i);
		}
		if (pid == f->garbage)
			fail(f->s, -1, -1, "the garbage ended with %#x", status);
	}
}

static void let_go(struct fuzz *f)
{
	if (f->stopped)
		kill(f->stopped, SIGCONT);
	f->stopped = 0;
}

static void harm(struct fuzz *f)
{
	int i = below(&f->x, f->s->clients);

	if (f->stopped && now_ms() > f->stopped_until)
		let_go(f);
	if (f->s->calm || !one_in(&f->x, 40))
		return;
	switch (below(&f->x, 6)) {
	case 0:
	case 1:
		note(f->s, OP_CLIENT_KILLED, i, 0, PAGES, 0);
		f->client_killed[i] = true;
		atomic_store(&f->s->client[i].dying, true);
		kill(f->client[i], SIGKILL);
		break;
	case 2:
	case 3:
		note(f->s, OP_ENGINE_KILLED, 0, 0, 0, 0);
		f->engine_killed = true;
		kill(f->engine, SIGKILL);
		break;
	default:
		if (f->stopped)
			break;
		f->stopped = one_in(&f->x, 2) ? f->engine : f->client[i];
		f->stopped_until = now_ms() + below(&f->x, 900);
		note(f->s, f->stopped == f->engine ? OP_ENGINE_STOPPED : OP_CLIENT_STOPPED, i, 0,
		     0, 0);
		kill(f->stopped, SIGSTOP);
	}
}

/* --- what hangs --- */

/* Where each of its threads sleeps in the kernel. */
static void print_stack(const char *who, int i, pid_t pid, enum op doing)
{
	char path[300], line[256];
	struct dirent *task;
	FILE *file;
	DIR *dir;

	printf("# %s %d (%s):\n", who, i, op_name(doing));
	snprintf(path, sizeof(path), "/proc/%d/task", pid);
	dir = opendir(path);
	while (dir && (task = readdir(dir))) {
		snprintf(path, sizeof(path), "/proc/%d/task/%.20s/stack", pid, task->d_name);
		file = task->d_name[0] == '.' ? NULL : fopen(path, "r");
		while (file && fgets(line, sizeof(line), file))
			printf("#   %.20s %s", task->d_name, line);
		if (file)
			fclose(file);
	}
	if (dir)
		closedir(dir);
}

static void print_stacks(struct fuzz *f)
{
	int i;

	for (i = 0; i < f->s->clients; i++)
		print_stack("client", i, f->client[i], f->s->client[i].doing);
	print_stack("engine", 0, f->engine, f->s->doing);
}

static bool all_rest(struct shared *s, uint32_t round)
{
	int i;

	for (i = 0; i < s->clients; i++)
		if (s->client[i].idle != round)
			return false;
	return s->engine_idle == round;
}

static bool all_checked(struct shared *s, uint32_t round)
{
	int i;

	(void)round;
	for (i = 0; i < s->clients; i++)
		if (s->client[i].checked != s->checks)
			return false;
	return true;
}

static void await(struct fuzz *f, bool (*done)(struct shared *s, uint32_t round), const char *what)
{
	uint64_t end = now_ms() + 2 * HANG_MS;

	while (!f->s->failed && !done(f->s, f->s->round)) {
		reap(f);
		sleep_ms(2);
		if (now_ms() < end)
			continue;
		fail(f->s, -1, -1, "hang: %s does not end", what);
	}
}

/* --- counters --- */

struct counted {
	uint64_t managed, resident, system, remote, duplicated, vram, vram_free;
	uint32_t clients;
};

static void on_counters(const struct nl_reply *reply, void *arg)
{
	const struct nlattr *stats[NL_ATTRS];
	struct counted *c = arg;
	bool device = reply->cmd == GPUEMU_CMD_DEVICE_GET;

	nl_nested(reply->attrs[device ? GPUEMU_A_DEVICE_STATS : GPUEMU_A_CLIENT_STATS], stats);
	c->managed = nl_u64(stats[GPUEMU_A_STATS_MANAGED_BYTES]);
	c->resident = nl_u64(stats[GPUEMU_A_STATS_RESIDENT_PAGES]);
	c->system = nl_u64(stats[GPUEMU_A_STATS_SYSTEM_PAGES]);
	c->remote = nl_u64(stats[GPUEMU_A_STATS_REMOTE_MAPPED]);
	c->duplicated = nl_u64(stats[GPUEMU_A_STATS_DUPLICATED]);
	if (!device)
		return;
	c->vram = nl_u64(reply->attrs[GPUEMU_A_DEVICE_VRAM_BYTES]);
	c->vram_free = nl_u64(reply->attrs[GPUEMU_A_DEVICE_VRAM_FREE_BYTES]);
	c->clients = nl_u32(reply->attrs[GPUEMU_A_DEVICE_CLIENTS]);
}

static void counters(struct fuzz *f, uint32_t space, struct counted *c)
{
	struct nl_request r;
	int ret;

	memset(c, 0, sizeof(*c));
	nl_begin(&f->nl, &r, space ? GPUEMU_CMD_CLIENT_GET : GPUEMU_CMD_DEVICE_GET, NLM_F_ACK);
	if (space)
		nl_put_u32(&r, GPUEMU_A_CLIENT_VA_SPACE, space);
	ret = nl_talk(&f->nl, &r, on_counters, c);
	if (ret)
		fail(f->s, -1, -1, "netlink tells nothing of VA space %u: %d", space, ret);
}

/*
 * The CPUs have written all pages, so all is at home, each has its page, and what the
 * engine has mapped is among these; of ordinary memory that is all that is counted. tell:
 * what is not so is a failure.
 */
static bool check_client(struct fuzz *f, int i, struct counted *sum, bool tell)
{
	uint64_t mapped = f->s->client[i].mapped;
	struct counted c;

	counters(f, f->s->client[i].space, &c);
	sum->system += mapped;
	sum->remote += c.remote;
	if (c.managed == mapped * PAGE && !c.resident && c.system == mapped && !c.duplicated &&
	    c.remote <= mapped + f->s->pages - PAGES)
		return true;
	if (tell)
		fail(f->s, i, -1,
		     "counters of client %d, %llu pages at home: managed_bytes %llu, resident_pages %llu, system_pages %llu, remote_mapped %llu, duplicated %llu",
		     i, (unsigned long long)mapped, (unsigned long long)c.managed,
		     (unsigned long long)c.resident, (unsigned long long)c.system,
		     (unsigned long long)c.remote, (unsigned long long)c.duplicated);
	return false;
}

static bool check_counters(struct fuzz *f, bool tell)
{
	struct counted c, sum = { };
	struct shared *s = f->s;
	int i;

	for (i = 0; i < s->clients && !s->failed; i++)
		if (!check_client(f, i, &sum, tell))
			return false;
	counters(f, 0, &c);
	if (c.vram_free == c.vram && c.managed == sum.system * PAGE && !c.resident &&
	    c.system == sum.system && !c.duplicated && c.remote == sum.remote)
		return true;
	if (tell)
		fail(s, -1, -1,
		     "counters of the device, %llu pages at home: %llu of %llu bytes of VRAM free, managed_bytes %llu, resident_pages %llu, system_pages %llu, remote_mapped %llu of %llu, duplicated %llu",
		     (unsigned long long)sum.system, (unsigned long long)c.vram_free,
		     (unsigned long long)c.vram, (unsigned long long)c.managed,
		     (unsigned long long)c.resident, (unsigned long long)c.system,
		     (unsigned long long)c.remote, (unsigned long long)sum.remote,
		     (unsigned long long)c.duplicated);
	return false;
}

/*
 * A worker of the module may still bring ordinary memory to the device that a batch before
 * asked for, and then all come home once more.
 */
static void check(struct fuzz *f)
{
	enum { TRIES = 20 };
	struct shared *s = f->s;
	bool right = false;
	int tries;

	for (tries = 0; !right && !s->failed && tries < TRIES; tries++) {
		if (tries)
			sleep_ms(50);
		atomic_fetch_add(&s->checks, 1);
		atomic_store(&s->phase, PHASE_CHECK);
		await(f, all_checked, "the comparison");
		if (!s->failed)
			right = check_counters(f, s->pages == PAGES || tries == TRIES - 1);
	}
}

/* --- rounds --- */

static void one_round(struct fuzz *f)
{
	struct shared *s = f->s;
	/* A slow kernel takes 20 s to compare all pages, and should do something in between. */
	uint64_t end = now_ms() + (300 + below(&f->x, 2000)) * slowness();

	atomic_fetch_add(&s->round, 1);
	atomic_store(&s->phase, PHASE_RUN);
	while (!s->failed && now_ms() < end) {
		reap(f);
		harm(f);
		sleep_ms(10);
	}
	let_go(f);
	atomic_store(&s->phase, PHASE_STOP);
	await(f, all_rest, "an operation");
	check(f);
	kcov_take();
	atomic_store(&s->phase, PHASE_STOP);
}

static void kill_all(struct fuzz *f)
{
	int i;

	let_go(f);
	/* The finder may still be writing it down. */
	for (i = 0; f->s->failed == 1 && i < 2000; i++)
		sleep_ms(1);
	if (!strncmp(f->s->why, "hang", 4))
		print_stacks(f);
	for (i = 0; i < f->s->clients; i++)
		kill(f->client[i], SIGKILL);
	kill(f->engine, SIGKILL);
	kill(f->garbage, SIGKILL);
	while (waitpid(-1, NULL, 0) > 0 || errno == EINTR)
		;
}

/* Files end a little later than their processes. */
static bool nothing_left(struct fuzz *f)
{
	uint64_t end = now_ms() + 5000;
	struct counted c;

	do {
		sleep_ms(20);
		counters(f, 0, &c);
	} while ((c.clients || c.managed || c.vram_free != c.vram) && now_ms() < end);
	if (!c.clients && !c.managed && !c.resident && !c.system && !c.remote && !c.duplicated &&
	    c.vram_free == c.vram)
		return true;
	printf("# left: %u clients, %llu bytes managed, %llu pages resident, %llu in system memory, %llu remote mapped, %llu duplicated, %llu of %llu bytes of VRAM free\n",
	       c.clients, (unsigned long long)c.managed, (unsigned long long)c.resident,
	       (unsigned long long)c.system, (unsigned long long)c.remote,
	       (unsigned long long)c.duplicated, (unsigned long long)c.vram_free,
	       (unsigned long long)c.vram);
	return false;
}

/* Where there is coverage at all, none is a failure. */
static bool report_coverage(uint32_t reached, uint32_t all)
{
	printf("# coverage: %u", reached);
	if (all)
		printf(" of %u", all);
	printf(" places in the module\n");
	printf("%sok 4 - the module's code was seen to run\n", reached ? "" : "not ");
	return reached;
}

static int report(struct fuzz *f, uint32_t seconds)
{
	struct shared *s = f->s;
	bool left, busy, same = !s->failed, covered;
	/* A kernel that checks itself is slower still than its times are longer. */
	uint32_t slow = slowness(), much = seconds / (slow * slow * slow);
	uint32_t reached;
	int i;

	if (s->failed)
		print_failure(s);
	left = nothing_left(f);
	printf("# %u rounds, %u lives of clients, %llu of them another user's, %u engines, %llu pages moved, %llu faults, %llu times garbage\n",
	       s->round, f->lives, (unsigned long long)s->rightless, f->engines,
	       (unsigned long long)s->moved, (unsigned long long)s->faults,
	       (unsigned long long)s->garbage);
	for (i = 0; i < OP_KINDS; i++)
		printf("%s%s %llu", i % 8 ? ", " : i ? "\n# " : "# ", op_name(i),
		       (unsigned long long)s->count[i]);
	printf("\n# %llu commands by ioctl, %llu of them without a signal\n",
	       (unsigned long long)s->stays, (unsigned long long)s->stayed);
	printf("# ordinary memory: %llu pages moved, %llu accesses of the GPU compared, %llu of them on the device, %llu not, %llu works too late, %llu children compared\n",
	       (unsigned long long)s->heap_moved, (unsigned long long)s->sure,
	       (unsigned long long)s->sure_on_device, (unsigned long long)s->unsure,
	       (unsigned long long)s->late, (unsigned long long)s->children);
	busy = s->round > seconds / (20 * slow) && s->moved > 20 * much && s->faults > 10 * much &&
	       (s->rightless || s->clients < 2) && s->count[OP_REMOTE] > much &&
	       s->count[OP_DUPLICATE] > much &&
	       (s->pages == PAGES || s->sure_on_device > much) &&
	       s->count[OP_CPU_WRITE] > 20 * much && s->count[OP_GPU_WRITE] > 20 * much &&
	       s->stayed > much && (s->calm || s->stays - s->stayed > much / 10);
	kcov_take();
	covered = kcov_reached(&reached);
	printf("1..%d\n%sok 1 - each round every byte and counter is as the model says\n",
	       covered ? 4 : 3, same ? "" : "not ");
	printf("%sok 2 - nothing is left of who died\n", left ? "" : "not ");
	/* What was cut short has not done much. */
	printf("%sok 3 - much was done\n", busy || !same ? "" : "not ");
	if (covered && !report_coverage(reached, f->places))
		return 1;
	return same && left && busy ? 0 : 1;
}

/* Sets vm.unprivileged_userfaultfd and returns what it was; -1: this kernel has none. */
static int let_any_user_watch(int let)
{
	FILE *f = fopen("/proc/sys/vm/unprivileged_userfaultfd", "r+");
	int was = -1;

	if (!f)
		return -1;
	if (fscanf(f, "%d", &was) == 1) {
		rewind(f);
		fprintf(f, "%d", let);
	}
	fclose(f);
	return was;
}

/*
 * Where the kernel mirrors processes: places for ordinary memory of the clients, and any user may
 * watch its memory until heap_end().
 */
static bool heap_begin(struct fuzz *f)
{
	f->watched = -1;
	if (!kernel_mirrors())
		return false;
	f->s->heap = reserve(8 * BLOCK);
	f->s->alias = reserve(BLOCK);
	f->watched = let_any_user_watch(1);
	return f->s->heap && f->s->alias;
}

static void heap_end(const struct fuzz *f)
{
	if (f->watched >= 0)
		let_any_user_watch(f->watched);
}

int main(int argc, char **argv)
{
	static const struct option options[] = {
		{ "seconds", required_argument, NULL, 't' }, { "seed", required_argument, NULL, 's' },
		{ "clients", required_argument, NULL, 'c' }, { "calm", no_argument, NULL, 'q' },
		{ "places", required_argument, NULL, 'p' },
		{ },
	};
	uint32_t seconds = 10, seed = time(NULL) ^ getpid() << 16, clients = 4;
	struct fuzz f = { };
	bool calm = false;
	int o, i;

	while ((o = getopt_long(argc, argv, "", options, NULL)) != -1) {
		if (o == 't')
			seconds = number("fuzz", optarg);
		else if (o == 's')
			seed = number("fuzz", optarg);
		else if (o == 'c')
			clients = number("fuzz", optarg);
		else if (o == 'q')
			calm = true;
		else if (o == 'p')
			f.places = number("fuzz", optarg);
		else
			return 2;
	}
	if (!clients || clients > CLIENTS_MAX) {
		fprintf(stderr, "fuzz: %u clients; give 1 .. %d\n", clients, CLIENTS_MAX);
		return 2;
	}
	printf("TAP version 13\n# fuzz --seconds %u --seed %u --clients %u%s\n", seconds, seed,
	       clients, calm ? " --calm" : "");
	fflush(stdout);
	f.s = mmap(NULL, sizeof(*f.s), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (f.s == MAP_FAILED || nl_open(&f.nl)) {
		printf("Bail out! no memory, or no netlink family: is the module loaded?\n");
		return 1;
	}
	kcov_open();
	kcov_begin();
	f.x = seed;
	f.s->seed = seed;
	f.s->clients = clients;
	f.s->calm = calm;
	/* Not on a block's border, and room behind that nothing is ever mapped to. */
	f.s->mem = (uint8_t *)reserve(8 * BLOCK) + BLOCK - 150 * PAGE;
	f.s->pages = heap_begin(&f) ? ALL_PAGES : PAGES;
	atomic_store(&f.s->phase, PHASE_STOP);
	for (i = 0; i < (int)clients; i++)
		spawn_client(&f, i);
	spawn_engine(&f);
	f.garbage = spawn(&f, garbage_run);
	f.begun = now_ms();
	while (!f.s->failed && now_ms() < f.begun + seconds * 1000ull)
		one_round(&f);
	kill_all(&f);
	heap_end(&f);
	return report(&f, seconds);
}
