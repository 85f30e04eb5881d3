// SPDX-License-Identifier: GPL-2.0
/*
 * vm: vram_mb=1 pt_mb=1 enable_tests=1 timeout=300
 *
 * The death matrix: an engine or a client, in each state that it can be in, dies
 * in each way that there is, while a second client lives on. Each time waits end
 * in time, the survivor loses no byte, the next one is served, and nothing
 * stays behind. The one that dies is a puppet (lib/puppet.h), brought into its state for
 * certain: by injected pauses where the module is at work.
 *
 * No cell is impossible, but some need saying what they are. A thread that is in
 * the module cannot exit; so the thread that exits is one that waits for it: of
 * the engine the one whose RAISE or WAIT is pending, and the one that has fetched
 * the batch; of the client the one that opened the file. What is closed is the
 * process' last descriptor, by a thread that is not in the module.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib/harness.h"
#include "lib/nl.h"
#include "lib/puppet.h"

/* --- the table --- */

enum victim { ENGINE, CLIENT };

enum state {
	IDLE,			/* WAIT and FETCH pending */
	FAULT_RAISED,		/* RAISE pending, nothing fetched */
	BATCH_FETCHED,
	MID_COMMIT,		/* between two migrations */
	MID_COPY,		/* copied to the device, not mapped */
	MID_EVICTION,		/* copied from the device, not free */
	NOT_ACKNOWLEDGED,	/* a CPU's fault waits for an invalidate */
};

enum way {
	SIGKILLED,
	STOPPED,		/* SIGSTOP; in the end SIGCONT */
	THREAD_EXITS,
	FORKED,			/* killed, but a child has the files */
	EXECS,
	CLOSES,
};

/* Threads of a puppet. Of the engine: for ioctls; RAISE, WAIT; FETCH, COMMIT. */
enum { CONTROL, RAISER, SERVER };
/* Of a client: the first; the one that waits for works; the one that touches. */
enum { FIRST, WAITER, TOUCHER };

/*
 * Pages of each client on the device: in most states SOME of both; before an
 * eviction the victim of it has all of them there and no frame is free.
 */
enum { FRAMES = 256, SOME = 96, NEW = SOME + 4, NEW_PAGES = 8, SERVED = 8 };

enum {
	SECOND = 1000,
	INVALIDATE_TIMEOUT = 500,	/* the module's defaults */
	MONITOR = 250,
	PAUSE = 5000,			/* it is taken back long before */
};

FIXTURE(death)
{
	struct nl nl;
	struct puppet e, c, s;	/* the engine, the client, and another client */
	enum victim victim;
	enum state state;
	enum way way;
	pid_t child;
	int64_t c_work, s_work, queued;
	uint64_t begin, died, cancelled;
	uint64_t generation;
};

FIXTURE_VARIANT(death)
{
	enum victim victim;
	enum state state;
	enum way way;
};

#define CELL(who, WHO, state_, STATE, way_, WAY) \
	FIXTURE_VARIANT_ADD(death, who##_##state_##_##way_) { \
		.victim = WHO, .state = STATE, .way = WAY \
	};
#define WAYS(who, WHO, state, STATE) \
	CELL(who, WHO, state, STATE, sigkill, SIGKILLED) \
	CELL(who, WHO, state, STATE, sigstop, STOPPED) \
	CELL(who, WHO, state, STATE, thread_exit, THREAD_EXITS) \
	CELL(who, WHO, state, STATE, forked, FORKED) \
	CELL(who, WHO, state, STATE, exec, EXECS) \
	CELL(who, WHO, state, STATE, close, CLOSES)
#define STATES(who, WHO) \
	WAYS(who, WHO, idle, IDLE) \
	WAYS(who, WHO, fault_raised, FAULT_RAISED) \
	WAYS(who, WHO, batch_fetched, BATCH_FETCHED) \
	WAYS(who, WHO, mid_commit, MID_COMMIT) \
	WAYS(who, WHO, mid_copy, MID_COPY) \
	WAYS(who, WHO, mid_eviction, MID_EVICTION) \
	WAYS(who, WHO, not_acknowledged, NOT_ACKNOWLEDGED)
STATES(engine, ENGINE)
STATES(client, CLIENT)

/* --- what the module says of itself --- */

struct device {
	uint32_t generation, clients, tables, tables_free;
	uint64_t vram, vram_free, managed, resident, system;
	uint64_t injected, invalidates, cancelled;
};

static void take_device(const struct nl_reply *reply, void *arg)
{
	const struct nlattr *const *a = reply->attrs;
	const struct nlattr *stats[NL_ATTRS];
	struct device *d = arg;

	nl_nested(a[GPUEMU_A_DEVICE_STATS], stats);
	d->generation = nl_u32(a[GPUEMU_A_DEVICE_GENERATION]);
	d->clients = nl_u32(a[GPUEMU_A_DEVICE_CLIENTS]);
	d->tables = nl_u32(a[GPUEMU_A_DEVICE_TABLES]);
	d->tables_free = nl_u32(a[GPUEMU_A_DEVICE_TABLES_FREE]);
	d->vram = nl_u64(a[GPUEMU_A_DEVICE_VRAM_BYTES]);
	d->vram_free = nl_u64(a[GPUEMU_A_DEVICE_VRAM_FREE_BYTES]);
	d->managed = nl_u64(stats[GPUEMU_A_STATS_MANAGED_BYTES]);
	d->resident = nl_u64(stats[GPUEMU_A_STATS_RESIDENT_PAGES]);
	d->system = nl_u64(stats[GPUEMU_A_STATS_SYSTEM_PAGES]);
	d->injected = nl_u64(stats[GPUEMU_A_STATS_INJECTED]);
	d->invalidates = nl_u64(stats[GPUEMU_A_STATS_INVALIDATES]);
	d->cancelled = nl_u64(stats[GPUEMU_A_STATS_WORKS_CANCELLED]);
}

static struct device device(FIXTURE_DATA(death) *self)
{
	struct device d = { .generation = ~0u };
	struct nl_request r;

	nl_begin(&self->nl, &r, GPUEMU_CMD_DEVICE_GET, 0);
	nl_talk(&self->nl, &r, take_device, &d);
	return d;
}

static int inject(FIXTURE_DATA(death) *self, uint32_t what, uint32_t count)
{
	return nl_inject(&self->nl, what, count);
}

/* Whether it comes true of the device in that time. */
static bool becomes(FIXTURE_DATA(death) *self, unsigned int ms,
		    bool (*what)(const struct device *d, uint64_t arg),
		    uint64_t arg)
{
	uint64_t end = now_ms() + ms;
	struct device d;

	do {
		d = device(self);
		if (what(&d, arg))
			return true;
		sleep_ms(2);
	} while (now_ms() < end);
	return false;
}

static bool lost(const struct device *d, uint64_t unused)
{
	(void)unused;
	return !d->generation;
}

static bool injected(const struct device *d, uint64_t before)
{
	return d->injected > before;
}

static bool invalidated(const struct device *d, uint64_t before)
{
	return d->invalidates > before;
}

static bool cancelled(const struct device *d, uint64_t before)
{
	return d->cancelled > before;
}

static bool system_pages(const struct device *d, uint64_t n)
{
	return d->system == n;
}

static bool clients(const struct device *d, uint64_t n)
{
	return d->clients == n;
}

/* The directory of VA spaces is a table that is always there. */
static bool empty(const struct device *d, uint64_t unused)
{
	(void)unused;
	return !d->generation && !d->clients && !d->managed && !d->resident &&
	       !d->system && d->vram == d->vram_free &&
	       d->tables == d->tables_free + 1;
}

/* --- into the state --- */

/* A run of a client's pages, in pieces of one block each. Returns how many. */
static int pieces(const struct puppet *p, uint32_t first, uint32_t n,
		  struct gpuemu_migration *list)
{
	const uint32_t border = PUPPET_PAGES / 2;
	uint32_t part;
	int k = 0;

	for (; n; first += part, n -= part, k++) {
		part = first < border && first + n > border ? border - first : n;
		list[k] = (struct gpuemu_migration){
			.addr = (uintptr_t)p->mem + first * PAGE,
			.va_space = p->space, .pages = part,
			.op = GPUEMU_MIGRATE_H2D,
		};
	}
	return k;
}

/* What the state's batch asks for: new pages, of the client if they can be. */
static struct puppet_order asked(const FIXTURE_DATA(death) *self)
{
	struct puppet_order o = { .op = PUPPET_COMMIT };

	if (self->state == MID_EVICTION) {
		o.n = pieces(&self->s, NEW, NEW_PAGES, o.list);
		o.a = GPUEMU_COMMIT_EVICT;
	} else {
		o.n = pieces(&self->c, NEW, NEW_PAGES, o.list);
		o.n += pieces(&self->s, NEW, NEW_PAGES, o.list + o.n);
	}
	return o;
}

/* One batch without faults, from raise to replay; the fetch may be pending. */
static int64_t batch(FIXTURE_DATA(death) *self, const struct puppet_order *commit,
		     bool fetching)
{
	int64_t n;

	puppet_do(&self->e, RAISER, ORDER(PUPPET_ISSUE, .a = GPUEMU_URING_RAISE,
					  .b = GPUEMU_RAISE_EMPTY_OK));
	if (!fetching)
		puppet_do(&self->e, SERVER,
			  ORDER(PUPPET_ISSUE, .a = GPUEMU_URING_FETCH));
	if (puppet_do(&self->e, SERVER,
		      ORDER(PUPPET_RESULT, .a = GPUEMU_URING_FETCH)))
		return PUPPET_LATE;
	n = puppet_do(&self->e, SERVER, commit);
	if (puppet_do(&self->e, RAISER,
		      ORDER(PUPPET_RESULT, .a = GPUEMU_URING_RAISE)))
		return PUPPET_LATE;
	return n;
}

/* Both have a work that the engine took and wait for it; one more is queued. */
static void begin_works(struct __test_metadata *_metadata,
			FIXTURE_DATA(death) *self)
{
	const struct puppet_order *launch =
		ORDER(PUPPET_SUBMIT, .a = GPUEMU_WORK_LAUNCH);

	self->c_work = puppet_do(&self->c, WAITER, launch);
	self->s_work = puppet_do(&self->s, WAITER, launch);
	ASSERT_LT(0, self->c_work);
	ASSERT_EQ(self->c_work, puppet_do(&self->e, CONTROL, ORDER(PUPPET_TAKE)));
	ASSERT_EQ(self->s_work, puppet_do(&self->e, CONTROL, ORDER(PUPPET_TAKE)));
	puppet_tell(&self->c, WAITER, ORDER(PUPPET_WAIT, .a = self->c_work));
	puppet_tell(&self->s, WAITER, ORDER(PUPPET_WAIT, .a = self->s_work));
	ASSERT_TRUE(in_call(self->c.pid, self->c.thread[WAITER].tid, SYS_ioctl));
	ASSERT_TRUE(in_call(self->s.pid, self->s.thread[WAITER].tid, SYS_ioctl));
	if (self->state == IDLE)
		return;
	self->queued = puppet_do(&self->s, FIRST, launch);
	ASSERT_LT(0, self->queued);
}

static void fetch(struct __test_metadata *_metadata, FIXTURE_DATA(death) *self)
{
	ASSERT_EQ(0, puppet_do(&self->e, SERVER,
			       ORDER(PUPPET_ISSUE, .a = GPUEMU_URING_FETCH)));
	ASSERT_EQ(1, puppet_do(&self->e, SERVER,
			       ORDER(PUPPET_RESULT, .a = GPUEMU_URING_FETCH)));
}

static const uint32_t pause_of[] = {
	[MID_COMMIT] = GPUEMU_INJECT_WHAT_PAUSE_COMMIT,
	[MID_COPY] = GPUEMU_INJECT_WHAT_PAUSE_COPY,
	[MID_EVICTION] = GPUEMU_INJECT_WHAT_PAUSE_EVICT,
	[NOT_ACKNOWLEDGED] = 0,
};

static void enter(struct __test_metadata *_metadata, FIXTURE_DATA(death) *self)
{
	struct device before = device(self);
	struct puppet_order commit = asked(self);

	if (self->state == IDLE) {
		ASSERT_EQ(0, puppet_do(&self->e, RAISER,
			ORDER(PUPPET_ISSUE, .a = GPUEMU_URING_WAIT)));
		ASSERT_EQ(0, puppet_do(&self->e, SERVER,
			ORDER(PUPPET_ISSUE, .a = GPUEMU_URING_FETCH)));
		return;
	}
	if (self->state == NOT_ACKNOWLEDGED) {
		ASSERT_EQ(0, puppet_do(&self->e, CONTROL,
				       ORDER(PUPPET_ACK, .a = false)));
		puppet_tell(&self->c, TOUCHER, ORDER(PUPPET_TOUCH, .b = 3));
		ASSERT_TRUE(becomes(self, SECOND, invalidated,
				    before.invalidates));
		return;
	}
	ASSERT_EQ(0, puppet_do(&self->e, RAISER,
		ORDER(PUPPET_FAULT, .a = commit.list[0].va_space,
		      .b = commit.list[0].addr)));
	ASSERT_EQ(0, puppet_do(&self->e, RAISER,
		ORDER(PUPPET_ISSUE, .a = GPUEMU_URING_RAISE)));
	if (self->state == FAULT_RAISED)
		return;
	fetch(_metadata, self);
	if (self->state == BATCH_FETCHED)
		return;
	ASSERT_EQ(0, inject(self, pause_of[self->state], PAUSE));
	puppet_tell(&self->e, SERVER, &commit);
	ASSERT_TRUE(becomes(self, SECOND, injected, before.injected));
}

FIXTURE_SETUP(death)
{
	struct puppet_order place = { .op = PUPPET_COMMIT };
	bool full = variant->state == MID_EVICTION;

	signal(SIGPIPE, SIG_IGN);
	/* What a child of the dead keeps is this process' to end. */
	prctl(PR_SET_CHILD_SUBREAPER, 1);
	self->victim = variant->victim;
	self->state = variant->state;
	self->way = variant->way;
	self->begin = now_ms();
	ASSERT_EQ(0, nl_open(&self->nl));
	ASSERT_EQ(0, nl_set_param(&self->nl, "invalidate_timeout_ms", INVALIDATE_TIMEOUT));
	ASSERT_TRUE(becomes(self, SECOND, empty, 0));
	/* Where the time-out is not what ends the wait, it must not. */
	if (self->victim != ENGINE || self->way != STOPPED)
		ASSERT_EQ(0, nl_set_param(&self->nl, "invalidate_timeout_ms", 5000));
	ASSERT_EQ(0, puppet_spawn(&self->e, PUPPET_ENGINE));
	ASSERT_EQ(0, puppet_spawn(&self->c, PUPPET_CLIENT));
	ASSERT_EQ(0, puppet_spawn(&self->s, PUPPET_CLIENT));
	place.n = pieces(&self->c, 0, full ? PUPPET_PAGES : SOME, place.list);
	place.n += pieces(&self->s, 0, SOME, place.list + place.n);
	ASSERT_EQ((int)place.n, batch(self, &place, false));
	begin_works(_metadata, self);
	/* While a CPU's fault waits, its process cannot fork. */
	if (self->way == FORKED) {
		self->child = puppet_do(self->victim == ENGINE ? &self->e :
					&self->c, CONTROL, ORDER(PUPPET_FORK));
		ASSERT_LT(0, self->child);
	}
	enter(_metadata, self);
	self->generation = device(self).generation;
	ASSERT_NE(0, self->generation);
}

/*
 * A block that is being copied stays locked for as long as that takes. A task
 * that only waits behind it, here to look at a page as a debugger does, can be killed.
 */
static void kill_onlooker(struct __test_metadata *_metadata,
			  FIXTURE_DATA(death) *self)
{
	const uint32_t page = self->state == MID_COPY ? NEW : 0;
	pid_t pid = fork();
	uint64_t begin;
	char path[32];
	int fd;

	if (!pid) {
		snprintf(path, sizeof(path), "/proc/%d/mem", self->c.pid);
		fd = open(path, O_RDONLY);
		pread(fd, path, 1, (uintptr_t)self->c.mem + page * PAGE);
		_exit(0);
	}
	ASSERT_LT(0, pid);
	ASSERT_TRUE(in_call(pid, pid, SYS_pread64));
	begin = now_ms();
	ASSERT_EQ(0, kill(pid, SIGKILL));
	ASSERT_EQ(pid, waitpid(pid, NULL, 0));
	EXPECT_GT(SECOND, now_ms() - begin);
}

/* --- death --- */

static void die(struct __test_metadata *_metadata, FIXTURE_DATA(death) *self)
{
	const int exits = self->victim == CLIENT ? FIRST :
			  self->state == BATCH_FETCHED ? SERVER : RAISER;
	struct puppet *p = self->victim == ENGINE ? &self->e : &self->c;

	/* Its acknowledging thread would touch what is taken away. */
	if (self->victim == ENGINE &&
	    (self->way == THREAD_EXITS || self->way == CLOSES))
		ASSERT_EQ(0, puppet_do(p, CONTROL,
				       ORDER(PUPPET_ACK, .a = false)));
	self->cancelled = device(self).cancelled;
	self->died = now_ms();
	switch (self->way) {
	case FORKED:
	case SIGKILLED:
		ASSERT_EQ(0, kill(p->pid, SIGKILL));
		break;
	case STOPPED:
		ASSERT_EQ(0, kill(p->pid, SIGSTOP));
		break;
	case THREAD_EXITS:
		puppet_tell(p, exits, ORDER(PUPPET_EXIT_THREAD));
		break;
	case EXECS:
		puppet_tell(p, CONTROL, ORDER(PUPPET_EXEC));
		break;
	case CLOSES:
		ASSERT_EQ(0, puppet_do(p, CONTROL, ORDER(PUPPET_CLOSE)));
		break;
	}
}

/* What was made to last has lasted long enough. */
static void release(FIXTURE_DATA(death) *self)
{
	if (pause_of[self->state])
		inject(self, pause_of[self->state], 0);
}

/* A wait that began before the death: it ends so long after it, at most. */
static int64_t ends(FIXTURE_DATA(death) *self, struct puppet *p, int thread,
		    unsigned int limit)
{
	uint64_t now = now_ms(), end = self->died + limit;

	return puppet_hear(p, thread, now < end ? end - now : 0);
}

static void verify(struct __test_metadata *_metadata, struct puppet *p)
{
	puppet_tell(p, TOUCHER, ORDER(PUPPET_VERIFY));
	EXPECT_EQ(1, puppet_hear(p, TOUCHER, SECOND));
}

/* A work that changes pages on the device, of an engine that serves. */
static void served(struct __test_metadata *_metadata, struct puppet *p, int64_t id)
{
	EXPECT_EQ(0, puppet_do(p, WAITER, ORDER(PUPPET_WAIT, .a = id)));
	EXPECT_EQ(0, puppet_do(p, WAITER,
			       ORDER(PUPPET_UNDO, .b = 0, .c = SERVED)));
	verify(_metadata, p);
}

static int64_t submit(struct puppet *p)
{
	return puppet_do(p, WAITER, ORDER(PUPPET_SUBMIT,
		.a = GPUEMU_WORK_TOUCH, .b = 0, .c = SERVED));
}

/* --- the engine is the victim --- */

/* What it still can do, it does without the device. */
static void check_harmless(struct __test_metadata *_metadata,
			   FIXTURE_DATA(death) *self)
{
	if (self->way == STOPPED) {
		ASSERT_EQ(0, kill(self->e.pid, SIGCONT));
	} else if (self->way != THREAD_EXITS && self->way != CLOSES) {
		return;
	}
	EXPECT_EQ(SIGBUS, puppet_do(&self->e, CONTROL, ORDER(PUPPET_PROBE)));
	if (pause_of[self->state])
		EXPECT_EQ(-ENODEV, puppet_hear(&self->e, SERVER, SECOND));
}

static void check_lost(struct __test_metadata *_metadata,
		       FIXTURE_DATA(death) *self)
{
	const unsigned int limit = self->way == STOPPED ?
				   INVALIDATE_TIMEOUT + MONITOR : SECOND;
	static struct puppet next;

	if (self->state == NOT_ACKNOWLEDGED)
		EXPECT_EQ(1, ends(self, &self->c, TOUCHER, limit));
	EXPECT_EQ(-EIO, ends(self, &self->c, WAITER, limit));
	EXPECT_EQ(-EIO, ends(self, &self->s, WAITER, limit));
	if (self->queued) {
		puppet_tell(&self->s, FIRST, ORDER(PUPPET_WAIT, .a = self->queued));
		EXPECT_EQ(-EIO, ends(self, &self->s, FIRST, limit));
	}
	EXPECT_TRUE(becomes(self, 0, lost, 0));
	TH_LOG("lost after %d ms", (int)(now_ms() - self->died));
	release(self);
	verify(_metadata, &self->c);
	verify(_metadata, &self->s);

	ASSERT_EQ(0, puppet_spawn(&next, PUPPET_ENGINE));
	puppet_tell(&next, CONTROL, ORDER(PUPPET_SERVE));
	served(_metadata, &self->c, submit(&self->c));
	check_harmless(_metadata, self);
	served(_metadata, &self->s, submit(&self->s));
	puppet_kill(&next);
}

/* --- the engine goes on --- */

static bool client_gone(const FIXTURE_DATA(death) *self)
{
	return self->victim == CLIENT &&
	       (self->way == SIGKILLED || self->way == FORKED ||
		self->way == EXECS);
}

/* Ends what the state had begun. */
static void finish_batch(struct __test_metadata *_metadata,
			 FIXTURE_DATA(death) *self)
{
	struct puppet_order commit = asked(self);
	struct puppet_order nothing = { .op = PUPPET_COMMIT };
	int64_t n;

	switch (self->state) {
	case NOT_ACKNOWLEDGED:
		return;
	case IDLE:
		EXPECT_EQ(0, puppet_do(&self->e, RAISER,
			ORDER(PUPPET_RESULT, .a = GPUEMU_URING_WAIT)));
		/* The thread that serves also fetches. */
		EXPECT_EQ(0, batch(self, &nothing, true));
		return;
	case FAULT_RAISED:
		fetch(_metadata, self);
		/* fallthrough */
	case BATCH_FETCHED:
		n = puppet_do(&self->e, SERVER, &commit);
		EXPECT_EQ(client_gone(self) ? 1 : 2, n);
		break;
	default:
		n = puppet_hear(&self->e, SERVER, SECOND);
		EXPECT_LE(1, n);
		EXPECT_GE((int)commit.n, n);
	}
	EXPECT_EQ(0, puppet_do(&self->e, RAISER,
			       ORDER(PUPPET_RESULT, .a = GPUEMU_URING_RAISE)));
}

/* The works that it took, and the one that was still queued. */
static void finish_works(struct __test_metadata *_metadata,
			 FIXTURE_DATA(death) *self)
{
	/* A child that has the file keeps the work, too. */
	bool gone = client_gone(self) && self->way != FORKED;

	EXPECT_EQ(gone ? -ENOENT : 0,
		  puppet_do(&self->e, CONTROL,
			    ORDER(PUPPET_DONE, .a = self->c_work)));
	EXPECT_EQ(0, puppet_do(&self->e, CONTROL,
			       ORDER(PUPPET_DONE, .a = self->s_work)));
	EXPECT_EQ(0, puppet_hear(&self->s, WAITER, SECOND));
	if (!self->queued)
		return;
	EXPECT_EQ(self->queued,
		  puppet_do(&self->e, CONTROL, ORDER(PUPPET_TAKE)));
	EXPECT_EQ(0, puppet_do(&self->e, CONTROL,
			       ORDER(PUPPET_DONE, .a = self->queued)));
	EXPECT_EQ(0, puppet_do(&self->s, FIRST,
			       ORDER(PUPPET_WAIT, .a = self->queued)));
}

static void check_goes_on(struct __test_metadata *_metadata,
			  FIXTURE_DATA(death) *self)
{
	int64_t id;

	if (self->state != IDLE)
		finish_batch(_metadata, self);
	finish_works(_metadata, self);
	id = submit(&self->s);
	if (self->state == IDLE)
		finish_batch(_metadata, self);
	puppet_tell(&self->e, CONTROL, ORDER(PUPPET_SERVE));
	served(_metadata, &self->s, id);
	EXPECT_EQ(self->generation, device(self).generation);

	if (client_gone(self))
		return;
	if (self->victim == CLIENT && self->way == STOPPED) {
		EXPECT_EQ(PUPPET_LATE, puppet_hear(&self->c, WAITER, 0));
		ASSERT_EQ(0, kill(self->c.pid, SIGCONT));
	}
	if (self->state == NOT_ACKNOWLEDGED)
		EXPECT_EQ(1, puppet_hear(&self->c, TOUCHER, SECOND));
	EXPECT_EQ(0, puppet_hear(&self->c, WAITER, SECOND));
	if (self->victim == CLIENT && self->way == CLOSES)
		verify(_metadata, &self->c);
	else
		served(_metadata, &self->c, submit(&self->c));
}

/* How many of its threads have not stopped. */
static int running_threads(pid_t pid)
{
	char path[64], line[512], *state;
	struct dirent *task;
	FILE *file;
	DIR *dir;
	int n = 0;

	snprintf(path, sizeof(path), "/proc/%d/task", pid);
	dir = opendir(path);
	while (dir && (task = readdir(dir))) {
		snprintf(path, sizeof(path), "/proc/%d/task/%.20s/stat", pid, task->d_name);
		file = task->d_name[0] == '.' ? NULL : fopen(path, "r");
		if (!file)
			continue;
		state = fgets(line, sizeof(line), file) ? strrchr(line, ')') : NULL;
		n += !state || state[2] != 'T';
		fclose(file);
	}
	if (dir)
		closedir(dir);
	return n;
}

/*
 * Stopped while a RAISE or WAIT is pending it is parked: it touches no frame, so
 * no invalidate is due, nobody waits for it, and it stays.
 */
static void check_parked(struct __test_metadata *_metadata,
			 FIXTURE_DATA(death) *self)
{
	const int paused = !!pause_of[self->state];
	uint64_t end = now_ms() + SECOND * slowness();
	int status;

	/* A RAISE that ends in a thread on its way to the stop is not pending there. */
	while (running_threads(self->e.pid) > paused && now_ms() < end)
		sleep_ms(1);
	ASSERT_GE(paused, running_threads(self->e.pid));
	release(self);
	ASSERT_EQ(self->e.pid, waitpid(self->e.pid, &status, WUNTRACED));
	ASSERT_TRUE(WIFSTOPPED(status));
	sleep_ms(MONITOR + 50);
	EXPECT_EQ(self->generation, device(self).generation);
	verify(_metadata, &self->c);
	verify(_metadata, &self->s);
	EXPECT_EQ(self->generation, device(self).generation);
	EXPECT_EQ(PUPPET_LATE, puppet_hear(&self->s, WAITER, 0));
	ASSERT_EQ(0, kill(self->e.pid, SIGCONT));
	check_goes_on(_metadata, self);
}

/* --- the client is the victim --- */

static void check_gone(struct __test_metadata *_metadata,
		       FIXTURE_DATA(death) *self)
{
	const uint32_t files = self->way == FORKED ? 3 : 2;

	/* All memory that is left is the other client's. */
	EXPECT_TRUE(becomes(self, SECOND, system_pages, PUPPET_PAGES));
	TH_LOG("gone after %d ms", (int)(now_ms() - self->died));
	EXPECT_TRUE(becomes(self, SECOND, clients, files));
	/* It leaves the list first, and then gives up its works. */
	if (self->way != FORKED)
		EXPECT_TRUE(becomes(self, SECOND, cancelled, self->cancelled));
	EXPECT_EQ(0, puppet_do(&self->e, CONTROL,
		ORDER(PUPPET_RESIDENT, .a = self->c.space,
		      .b = (uintptr_t)self->c.mem, .c = PUPPET_PAGES)));
}

static void check_client(struct __test_metadata *_metadata,
			 FIXTURE_DATA(death) *self)
{
	/* What it was in the middle of is still going on when it dies. */
	sleep_ms(30);
	if (self->state == NOT_ACKNOWLEDGED)
		EXPECT_EQ(0, puppet_do(&self->e, CONTROL,
				       ORDER(PUPPET_ACK, .a = true)));
	release(self);
	if (client_gone(self))
		check_gone(_metadata, self);
	check_goes_on(_metadata, self);
}

static void end_child(FIXTURE_DATA(death) *self)
{
	if (self->child <= 0)
		return;
	kill(self->child, SIGKILL);
	waitpid(self->child, NULL, 0);
	self->child = 0;
}

FIXTURE_TEARDOWN(death)
{
	release(self);
	end_child(self);
	puppet_kill(&self->e);
	puppet_kill(&self->c);
	puppet_kill(&self->s);
	nl_set_param(&self->nl, "invalidate_timeout_ms", INVALIDATE_TIMEOUT);
	nl_close(&self->nl);
}

TEST_F(death, cell)
{
	if (self->state == MID_COPY || self->state == MID_EVICTION)
		kill_onlooker(_metadata, self);
	die(_metadata, self);
	if (self->victim == CLIENT)
		check_client(_metadata, self);
	else if (self->way == STOPPED && self->state != NOT_ACKNOWLEDGED)
		check_parked(_metadata, self);
	else
		check_lost(_metadata, self);
	/* And nothing stays behind. */
	end_child(self);
	puppet_kill(&self->e);
	puppet_kill(&self->c);
	puppet_kill(&self->s);
	EXPECT_TRUE(becomes(self, SECOND, empty, 0));
	TH_LOG("%d ms", (int)(now_ms() - self->begin));
}

TEST_HARNESS_MAIN
