// SPDX-License-Identifier: GPL-2.0
/*
 * Device memory oversubscribed four times by programs of libgpuemu that write at
 * random on both sides, while the daemon is killed (SIGKILL) and started again
 * every second: afterwards, and at every look meanwhile, each byte is what its
 * program's own model says. Starts gpuemud itself; runs in the VM.
 *
 * A launch that is lost may have happened in part. So what a kernel stores is a
 * function of what no one writes meanwhile: each element that it was to write is
 * the old value or the new one, nothing else, and to launch again is no harm. A
 * program launches until it succeeds; then all are the new values.
 */
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <gpuemu.h>

#include "lib/nl.h"
#include "lib/number.h"
#include "lib/slow.h"

enum {
	CLIENTS_MAX = 32,
	OVERSUBSCRIBED = 4,
	BLOCK = 64,		/* threads of a CTA */
	LIFE_MS = 1000,		/* of a daemon, its start included */
	SERVE_MS = 500,		/* but so long it serves, on a slow machine too */
	BARREN_MS = 10000,	/* and so long at most without one launch */
	START_MS = 20000,
	END_MS = 60000,		/* to finish what is begun, at the end */
	MORE_MS = 60000,	/* than it was told to run, until much is done */
};

/* p[dst + i] = p[src + i] * 1664525 + i + key, i = (start + t * stride) & mask. */
static const char ptx[] =
	".version 3.2\n.target sm_35\n.address_size 64\n"
	".visible .entry mix(.param .u64 p, .param .u32 dst, .param .u32 src,\n"
	"	.param .u32 start, .param .u32 stride, .param .u32 mask, .param .u32 key)\n{\n"
	"	.reg .b32 %r<16>;\n	.reg .b64 %rd<8>;\n"
	"	ld.param.u64 %rd1, [p];\n"
	"	ld.param.u32 %r1, [dst];\n"
	"	ld.param.u32 %r2, [src];\n"
	"	ld.param.u32 %r3, [start];\n"
	"	ld.param.u32 %r4, [stride];\n"
	"	ld.param.u32 %r5, [mask];\n"
	"	ld.param.u32 %r6, [key];\n"
	"	cvta.to.global.u64 %rd2, %rd1;\n"
	"	mov.u32 %r7, %ctaid.x;\n"
	"	mov.u32 %r8, %ntid.x;\n"
	"	mov.u32 %r9, %tid.x;\n"
	"	mad.lo.s32 %r10, %r7, %r8, %r9;\n"
	"	mad.lo.s32 %r10, %r10, %r4, %r3;\n"
	"	and.b32 %r10, %r10, %r5;\n"
	"	add.s32 %r11, %r10, %r2;\n"
	"	mul.wide.u32 %rd3, %r11, 4;\n"
	"	add.s64 %rd4, %rd2, %rd3;\n"
	"	ld.global.u32 %r12, [%rd4];\n"
	"	mul.lo.s32 %r12, %r12, 1664525;\n"
	"	add.s32 %r12, %r12, %r10;\n"
	"	add.s32 %r12, %r12, %r6;\n"
	"	add.s32 %r13, %r10, %r1;\n"
	"	mul.wide.u32 %rd5, %r13, 4;\n"
	"	add.s64 %rd6, %rd2, %rd5;\n"
	"	st.global.u32 [%rd6], %r12;\n"
	"	ret;\n}\n";

/* What all processes see. */
struct shared {
	atomic_bool stop, wrong;
	char what[512];		/* of the first that was wrong */
	_Atomic uint64_t launches, lost, refused, elements, cpu_writes, looks, prefetches;
};

struct program {
	struct shared *s;
	unsigned int me;
	uint32_t x;		/* of the random numbers */
	struct gpuemu_ctx *ctx;
	struct gpuemu_module *module;
	struct gpuemu_function *mix;
	uint32_t *mem, *model;
	uint8_t *written;	/* by the launch that is not known to have ended */
	uint32_t words;		/* a power of two */
};

struct launch {
	uint32_t dst, src, start, stride, key, n;
};

static uint64_t now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000ull + t.tv_nsec / 1000000;
}

static uint32_t random_of(struct program *p, uint32_t below)
{
	p->x = p->x * 1664525 + 1013904223;
	return (uint64_t)p->x * below >> 32;
}

/* The first that fails says why; all end. */
__attribute__((format(printf, 2, 3), noreturn))
static void fail(struct program *p, const char *format, ...)
{
	va_list args;

	if (!atomic_exchange(&p->s->wrong, true)) {
		va_start(args, format);
		vsnprintf(p->s->what, sizeof(p->s->what), format, args);
		va_end(args);
	}
	_exit(1);
}

/* --- one program --- */

/* What a missing or lost device says: to be tried again. */
static bool lost(struct program *p, const char *what, int error)
{
	if (!error)
		return false;
	if (error != -EIO && error != -ENODEV)
		fail(p, "client %u: %s: %d, %s", p->me, what, error,
		     gpuemu_last_error(p->ctx));
	usleep(5000);
	return true;
}

static void start(struct program *p, uint32_t words)
{
	static const char *const settings[] = {
		"paging.prefetch=none\n", "paging.prefetch=sequential\n",
		"paging.evict=random\n", "",
	};
	const struct gpuemu_options options = {
		.size = sizeof(options), .backend = "kmod",
		.settings = settings[p->me % 4],
	};

	p->words = words;
	p->model = calloc(words, sizeof(*p->model));
	p->written = calloc(words, 1);
	if (!p->model || !p->written)
		fail(p, "client %u: no memory", p->me);
	while (lost(p, "open", gpuemu_open(&p->ctx, &options)))
		;
	while (lost(p, "module",
		    gpuemu_module_load_data(p->ctx, &p->module, ptx, sizeof(ptx) - 1, "soak.ptx")))
		;
	if (gpuemu_module_get_function(p->module, &p->mix, "mix") ||
	    gpuemu_mem_alloc_managed(p->ctx, (void **)&p->mem, words * sizeof(*p->mem)))
		fail(p, "client %u: %s", p->me, gpuemu_last_error(p->ctx));
}

static void check(struct program *p, uint32_t i, const char *when)
{
	const uint32_t is = *(volatile uint32_t *)&p->mem[i];

	if (is != p->model[i])
		fail(p, "client %u: word %u (page %u) is %08x and not %08x, %s", p->me, i,
		     i / 1024, is, p->model[i], when);
}

/* A page, whole; but for what is being written. */
static void look(struct program *p, const char *when)
{
	uint32_t page = random_of(p, p->words / 1024), i;

	for (i = page * 1024; i < (page + 1) * 1024; i++)
		if (!p->written[i])
			check(p, i, when);
	atomic_fetch_add(&p->s->looks, 1);
}

/* Words here and there that no launch reads or writes: the half is dst's. */
static void cpu_writes(struct program *p, uint32_t first, uint32_t words, uint32_t n,
		       const char *when)
{
	uint32_t i;

	for (; n; n--) {
		i = first + random_of(p, words);
		if (p->written[i])
			continue;
		check(p, i, when);
		p->model[i] = random_of(p, ~0u);
		*(volatile uint32_t *)&p->mem[i] = p->model[i];
		atomic_fetch_add(&p->s->cpu_writes, 1);
	}
}

static uint32_t element(const struct program *p, const struct launch *l, uint32_t t)
{
	return (l->start + t * l->stride) & (p->words / 2 - 1);
}

static uint32_t result(const struct program *p, const struct launch *l, uint32_t i)
{
	return p->model[l->src + i] * 1664525 + i + l->key;
}

static int run(struct program *p, const struct launch *l)
{
	const struct gpuemu_arg args[] = {
		gpuemu_arg_ptr(p->mem), gpuemu_arg_u32(l->dst), gpuemu_arg_u32(l->src),
		gpuemu_arg_u32(l->start), gpuemu_arg_u32(l->stride),
		gpuemu_arg_u32(p->words / 2 - 1), gpuemu_arg_u32(l->key),
	};
	const struct gpuemu_dim3 grid = { l->n / BLOCK, 1, 1 }, block = { BLOCK, 1, 1 };
	int ret = gpuemu_launch(p->mix, grid, block, 0, NULL, args, 7);

	if (ret)
		return ret;
	/* The CPU writes other words of the same pages meanwhile. */
	cpu_writes(p, l->dst, p->words / 2, random_of(p, 16), "while a kernel ran");
	return gpuemu_synchronize(p->ctx);
}

/* Lost: each of its elements is old or new, nothing else. */
static void check_lost(struct program *p, const struct launch *l)
{
	uint32_t t, i, is;

	for (t = 0; t < l->n; t++) {
		i = element(p, l, t);
		is = *(volatile uint32_t *)&p->mem[l->dst + i];
		if (is != p->model[l->dst + i] && is != result(p, l, i))
			fail(p, "client %u: element %u of a lost launch is %08x: neither %08x nor %08x",
			     p->me, l->dst + i, is, p->model[l->dst + i], result(p, l, i));
	}
	look(p, "after a lost launch");
}

/* Until it succeeded. */
static void launch(struct program *p)
{
	const uint32_t half = p->words / 2;
	bool up = random_of(p, 2);
	struct launch l = {
		.dst = up ? half : 0, .src = up ? 0 : half,
		.start = random_of(p, half), .stride = random_of(p, half) | 1,
		.key = random_of(p, ~0u), .n = BLOCK * (1 + random_of(p, 6)),
	};
	uint32_t t, i;
	int ret;

	/* Now and then neighbours, which share pages. */
	if (!random_of(p, 3))
		l.stride = 1 + 2 * random_of(p, 8);
	for (t = 0; t < l.n; t++)
		p->written[l.dst + element(p, &l, t)] = 1;
	while ((ret = run(p, &l))) {
		atomic_fetch_add(ret == -ENODEV ? &p->s->refused : &p->s->lost, 1);
		lost(p, "launch", ret);
		check_lost(p, &l);
	}
	for (t = 0; t < l.n; t++) {
		i = element(p, &l, t);
		p->model[l.dst + i] = result(p, &l, i);
		p->written[l.dst + i] = 0;
	}
	atomic_fetch_add(&p->s->launches, 1);
	atomic_fetch_add(&p->s->elements, l.n);
	/* Else they stay where they are, till somebody wants the frames. */
	for (t = 0; t < l.n && l.key & 1; t++)
		check(p, l.dst + element(p, &l, t), "after its launch");
}

static void prefetch(struct program *p)
{
	uint32_t pages = 1 + random_of(p, 64), first = random_of(p, p->words / 1024 - pages);
	int ret;

	if (random_of(p, 2))
		ret = gpuemu_mem_prefetch(p->ctx, p->mem + first * 1024, pages * 4096, NULL);
	else
		ret = gpuemu_mem_prefetch_host(p->ctx, p->mem + first * 1024, pages * 4096, NULL);
	if (!lost(p, "prefetch", ret))
		lost(p, "prefetch", gpuemu_synchronize(p->ctx));
	atomic_fetch_add(&p->s->prefetches, 1);
}

static void client(struct shared *s, unsigned int me, uint32_t seed, uint32_t words)
{
	struct program p = { .s = s, .me = me, .x = seed * 2654435761u + me };
	uint32_t i;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	start(&p, words);
	while (!atomic_load(&s->stop) && !atomic_load(&s->wrong)) {
		switch (random_of(&p, 8)) {
		case 0:
		case 1:
			cpu_writes(&p, 0, words, 64, "before a write");
			break;
		case 2:
			look(&p, "at a look");
			break;
		case 3:
			prefetch(&p);
			break;
		default:
			launch(&p);
		}
	}
	for (i = 0; i < words; i++)
		check(&p, i, "in the end");
	gpuemu_close(p.ctx);
	_exit(0);
}

/* --- the daemon --- */

#define LOG "/tmp/soak-gpuemud.log"

static pid_t start_daemon(void)
{
	pid_t pid = fork();

	if (!pid) {
		int fd = open(LOG, O_CREAT | O_TRUNC | O_WRONLY, 0600);

		prctl(PR_SET_PDEATHSIG, SIGKILL);
		dup2(fd, 1);
		dup2(fd, 2);
		execlp("gpuemud", "gpuemud", NULL);
		_exit(127);
	}
	return pid;
}

struct counts {
	uint64_t vram, attached, losses, h2d, d2h, evictions, evicted, cpu_faults;
	uint32_t generation;
};

static void take_counts(const struct nl_reply *reply, void *arg)
{
	const struct nlattr *stats[NL_ATTRS];
	struct counts *c = arg;

	nl_nested(reply->attrs[GPUEMU_A_DEVICE_STATS], stats);
	c->vram = nl_u64(reply->attrs[GPUEMU_A_DEVICE_VRAM_BYTES]);
	c->generation = nl_u32(reply->attrs[GPUEMU_A_DEVICE_GENERATION]);
	c->attached = nl_u64(stats[GPUEMU_A_STATS_ENGINE_ATTACHES]);
	c->losses = nl_u64(stats[GPUEMU_A_STATS_ENGINE_LOSSES]);
	c->h2d = nl_u64(stats[GPUEMU_A_STATS_H2D_PAGES]);
	c->d2h = nl_u64(stats[GPUEMU_A_STATS_D2H_PAGES]);
	c->evictions = nl_u64(stats[GPUEMU_A_STATS_EVICTIONS]);
	c->evicted = nl_u64(stats[GPUEMU_A_STATS_EVICTED_PAGES]);
	c->cpu_faults = nl_u64(stats[GPUEMU_A_STATS_CPU_FAULTS_DEVICE]);
}

static struct counts counts(struct nl *nl)
{
	struct counts c = { };
	struct nl_request r;

	nl_begin(nl, &r, GPUEMU_CMD_DEVICE_GET, 0);
	nl_talk(nl, &r, take_counts, &c);
	return c;
}

/*
 * A second of a daemon's life, and more where no launch comes to its end within it: killed
 * before, on a machine that has much else to do, it would never do anything.
 */
static void let_live(struct shared *s, struct nl *nl)
{
	uint64_t start = now_ms(), serves, launches;

	while (!counts(nl).generation && now_ms() < start + START_MS)
		usleep(5000);
	serves = now_ms();
	launches = atomic_load(&s->launches);
	while (now_ms() < start + LIFE_MS || now_ms() < serves + SERVE_MS * slowness() ||
	       (atomic_load(&s->launches) == launches &&
		now_ms() < serves + BARREN_MS * slowness()))
		usleep(5000);
}

/* --- all of it --- */

/* Whether all ended well in that time. */
static bool all_end(pid_t *pid, unsigned int n, unsigned int ms)
{
	uint64_t end = now_ms() + ms;
	unsigned int i, left = n;
	int status;
	bool ok = true;

	while (left && now_ms() < end) {
		for (i = 0; i < n; i++) {
			if (pid[i] <= 0 || waitpid(pid[i], &status, WNOHANG) != pid[i])
				continue;
			if (!WIFEXITED(status) || WEXITSTATUS(status)) {
				printf("# client %u ended with status %x\n", i, status);
				ok = false;
			}
			pid[i] = 0;
			left--;
		}
		usleep(10000);
	}
	for (i = 0; i < n; i++) {
		if (pid[i] <= 0)
			continue;
		printf("# client %u did not end\n", i);
		kill(pid[i], SIGKILL);
		waitpid(pid[i], NULL, 0);
		ok = false;
	}
	return ok;
}

/* In most lives: a busy machine may let one pass without. */
static bool is_much(struct shared *s, struct nl *nl, uint64_t kills)
{
	struct counts c = counts(nl);

	return kills && atomic_load(&s->launches) > kills / 2 && atomic_load(&s->lost) &&
	       c.evicted > kills && c.cpu_faults > kills && c.attached > kills / 2;
}

static int soak(struct shared *s, struct nl *nl, uint32_t seconds, uint32_t seed,
		uint32_t clients)
{
	uint64_t end = now_ms() + seconds * 1000ull, kills = 0, attached;
	pid_t daemon = start_daemon(), pid[CLIENTS_MAX];
	struct counts c = counts(nl);
	uint32_t words = 1024, i;
	bool ended, served;
	int status = 0;

	while ((uint64_t)words * sizeof(uint32_t) * clients < OVERSUBSCRIBED * c.vram)
		words *= 2;
	printf("# %u clients of %u pages, %llu frames\n", clients, words / 1024,
	       (unsigned long long)c.vram / 4096);
	fflush(stdout);
	for (i = 0; i < clients; i++) {
		pid[i] = fork();
		if (!pid[i])
			client(s, i, seed, words);
	}
	while (!atomic_load(&s->wrong) &&
	       (now_ms() < end ||
		(now_ms() < end + MORE_MS * slowness() && !is_much(s, nl, kills)))) {
		let_live(s, nl);
		kill(daemon, SIGKILL);
		waitpid(daemon, NULL, 0);
		kills++;
		daemon = start_daemon();
	}
	/* The last one lives, so that the last launches come to an end. */
	atomic_store(&s->stop, true);
	ended = all_end(pid, clients, END_MS);
	attached = counts(nl).attached;
	kill(daemon, SIGTERM);
	waitpid(daemon, &status, 0);
	c = counts(nl);
	if (atomic_load(&s->wrong))
		printf("# %s\n", s->what);
	printf("1..4\n%sok 1 - every byte is as its program's model says\n",
	       atomic_load(&s->wrong) ? "not " : "");
	printf("%sok 2 - every program ended well\n", ended ? "" : "not ");
	printf("# %llu kills, %llu daemons attached; %llu launches that succeeded, %llu lost,"
	       " %llu times there was no daemon, %llu elements; %llu CPU writes,"
	       " %llu looks at a page, %llu prefetches\n",
	       (unsigned long long)kills, (unsigned long long)attached,
	       (unsigned long long)s->launches, (unsigned long long)s->lost,
	       (unsigned long long)s->refused, (unsigned long long)s->elements,
	       (unsigned long long)s->cpu_writes,
	       (unsigned long long)s->looks, (unsigned long long)s->prefetches);
	printf("# pages moved: %llu to the device, %llu back, %llu of these in %llu evictions,"
	       " %llu for CPU faults\n",
	       (unsigned long long)c.h2d, (unsigned long long)c.d2h,
	       (unsigned long long)c.evicted, (unsigned long long)c.evictions,
	       (unsigned long long)c.cpu_faults);
	served = is_much(s, nl, kills);
	printf("%sok 3 - much was done, and lost\n",
	       served || atomic_load(&s->wrong) ? "" : "not ");
	/* What was cut short may have cut its start short, too. */
	printf("%sok 4 - the last daemon ended well\n",
	       !status || atomic_load(&s->wrong) ? "" : "not ");
	return !atomic_load(&s->wrong) && ended && served && !status ? 0 : 1;
}

int main(int argc, char **argv)
{
	static const struct option options[] = {
		{ "seconds", required_argument, NULL, 't' }, { "seed", required_argument, NULL, 's' },
		{ "clients", required_argument, NULL, 'c' }, { },
	};
	uint32_t seconds = 15, seed = time(NULL) ^ getpid() << 16, clients = 8;
	struct shared *s;
	struct nl nl;
	int o;

	while ((o = getopt_long(argc, argv, "", options, NULL)) != -1) {
		if (o == 't')
			seconds = number("soak", optarg);
		else if (o == 's')
			seed = number("soak", optarg);
		else if (o == 'c')
			clients = number("soak", optarg);
		else
			return 2;
	}
	if (!clients || clients > CLIENTS_MAX) {
		fprintf(stderr, "soak: %u clients; give 1 .. %d\n", clients, CLIENTS_MAX);
		return 2;
	}
	printf("TAP version 13\n# soak --seconds %u --seed %u --clients %u\n", seconds, seed,
	       clients);
	s = mmap(NULL, sizeof(*s), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (s == MAP_FAILED || nl_open(&nl)) {
		printf("Bail out! no memory, or no netlink family: is the module loaded?\n");
		return 1;
	}
	return soak(s, &nl, seconds, seed, clients);
}
