// SPDX-License-Identifier: GPL-2.0
/* Processes that do what they are told; see puppet.h. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib/managed.h"
#include "lib/puppet.h"

/* Longer than anything takes that ends at all. */
enum { PATIENCE = 20000 };

struct thread {
	pthread_t id;
	int from, to;
	enum puppet_kind kind;
	struct engine e;	/* all share one file; each has its own ring */
	struct engine *acker;	/* the one that has the thread for it */
	int fd;
	uint8_t *mem;
};

static int64_t work_take(struct thread *t)
{
	static uint8_t payload[4096];
	struct gpuemu_work_take take = {
		.size = sizeof(take), .payload = (uintptr_t)payload,
		.payload_bytes = sizeof(payload),
	};
	int ret = call(t->fd, GPUEMU_IOCTL_WORK_TAKE, &take);

	return ret ? ret : (int64_t)take.id;
}

static int64_t work_submit(struct thread *t, const struct puppet_order *o)
{
	struct gpuemu_migration m = {
		.addr = (uintptr_t)t->mem + o->b * PAGE, .pages = o->c,
	};
	uint64_t id;
	int ret = client_submit(t->fd, o->a, &m, sizeof(m), &id);

	return ret ? ret : (int64_t)id;
}

static int64_t work_wait(struct thread *t, uint64_t id)
{
	struct gpuemu_wait wait;
	int ret;

	/* A process that was stopped goes on with -EINTR. */
	do {
		ret = client_wait(t->fd, id, PATIENCE, &wait);
	} while (ret == -EINTR);
	if (ret)
		return ret;
	/* A lost device says so in words, too. */
	if (wait.status == -EIO && strcmp((char *)wait.message, "device lost"))
		return -EPROTO;
	return wait.status;
}

static int64_t commit(struct thread *t, struct puppet_order *o)
{
	struct gpuemu_commit c = {
		.size = sizeof(c), .gen = t->e.control->batch.gen,
		.count = o->n, .flags = o->a,
		.migrations = (uintptr_t)o->list,
	};
	int res;

	engine_issue(&t->e, GPUEMU_URING_COMMIT, (uintptr_t)&c, 0);
	return engine_result(&t->e, GPUEMU_URING_COMMIT, PATIENCE, &res) ?
	       PUPPET_LATE : res;
}

static int64_t undo(struct thread *t, const struct puppet_order *o)
{
	uint32_t *w = (uint32_t *)(t->mem + o->b * PAGE);
	size_t i;

	for (i = 0; i < o->c * PAGE / sizeof(*w); i++)
		w[i]--;
	return 0;
}

/* A child that keeps the files, whatever becomes of this process. */
static int64_t keep_files(void)
{
	pid_t pid = fork();

	if (!pid) {
		prctl(PR_SET_PDEATHSIG, 0);
		sleep_ms(60000);
		_exit(0);
	}
	return pid;
}

static bool page_right(const struct thread *t, size_t page, size_t pages)
{
	static __thread uint32_t want[PUPPET_BYTES / sizeof(uint32_t)];

	fill(want, sizeof(want), PUPPET_SEED);
	return !memcmp(t->mem + page * PAGE, (uint8_t *)want + page * PAGE,
		       pages * PAGE);
}

/* False: there is no answer. */
static bool obey(struct thread *t, struct puppet_order *o, int64_t *answer)
{
	int res;

	*answer = 0;
	switch ((enum puppet_op)o->op) {
	case PUPPET_ISSUE:
		engine_issue(&t->e, o->a, 0, o->b);
		break;
	case PUPPET_RESULT:
		*answer = engine_result(&t->e, o->a, PATIENCE, &res) ?
			  PUPPET_LATE : res;
		break;
	case PUPPET_FAULT:
		engine_fault(&t->e, o->a, (void *)(uintptr_t)o->b,
			     GPUEMU_ACCESS_READ);
		break;
	case PUPPET_COMMIT:
		*answer = commit(t, o);
		break;
	case PUPPET_TAKE:
		*answer = work_take(t);
		break;
	case PUPPET_DONE: {
		struct gpuemu_work_done done = {
			.size = sizeof(done), .id = o->a,
		};

		*answer = call(t->fd, GPUEMU_IOCTL_WORK_DONE, &done);
		break;
	}
	case PUPPET_ACK:
		if (o->a)
			engine_acker_start(t->acker);
		else
			engine_acker_stop(t->acker);
		break;
	case PUPPET_PROBE:
		*answer = signal_of(t->e.vram, false);
		break;
	case PUPPET_RESIDENT:
		*answer = engine_resident(&t->e, o->a, (void *)(uintptr_t)o->b,
					  o->c);
		break;
	case PUPPET_SERVE:
		engine_serve_forever(&t->e);
		return false;
	case PUPPET_SUBMIT:
		*answer = work_submit(t, o);
		break;
	case PUPPET_WAIT:
		*answer = work_wait(t, o->a);
		break;
	case PUPPET_TOUCH:
		*answer = page_right(t, o->b, 1);
		break;
	case PUPPET_UNDO:
		*answer = undo(t, o);
		break;
	case PUPPET_VERIFY:
		*answer = page_right(t, 0, PUPPET_PAGES);
		break;
	case PUPPET_EXIT_THREAD:
		/* Not the C library's, which unwinds. */
		syscall(SYS_exit, 0);
		break;
	case PUPPET_FORK:
		*answer = keep_files();
		break;
	case PUPPET_EXEC:
		execl("/bin/sleep", "sleep", "60", NULL);
		*answer = -errno;
		break;
	case PUPPET_TID:
		*answer = syscall(SYS_gettid);
		break;
	case PUPPET_CLOSE:
		*answer = close(t->fd) ? -errno : 0;
		break;
	}
	return true;
}

static void *thread(void *arg)
{
	struct puppet_order order;
	struct thread *t = arg;
	int64_t answer;

	while (read(t->from, &order, sizeof(order)) == sizeof(order))
		if (obey(t, &order, &answer) &&
		    write(t->to, &answer, sizeof(answer)) != sizeof(answer))
			break;
	return NULL;
}

static int open_engine(struct thread *t)
{
	int ret = engine_open(&t[0].e), i;

	if (ret)
		return ret;
	for (i = 0; i < PUPPET_THREADS; i++) {
		t[i].e = t[0].e;
		t[i].fd = t[0].e.fd;
		t[i].acker = &t[0].e;
		ret = io_uring_queue_init(16, &t[i].e.ring, 0);
		if (ret)
			return ret;
	}
	engine_acker_start(&t[0].e);
	return 0;
}

/* Its memory goes across the border of two VA blocks. */
static int open_client(struct thread *t)
{
	uint8_t *at = reserve(2 * BLOCK);
	int fd = client_open(), i;
	uint8_t *mem;

	if (fd < 0)
		return fd;
	mem = map_managed_at(fd, at + BLOCK - PUPPET_BYTES / 2, PUPPET_BYTES);
	if (!mem)
		return -ENOMEM;
	fill(mem, PUPPET_BYTES, PUPPET_SEED);
	for (i = 0; i < PUPPET_THREADS; i++) {
		t[i].fd = fd;
		t[i].mem = mem;
	}
	return 0;
}

/* The new process: says how it went and where its memory is, then obeys. */
static void run(enum puppet_kind kind, struct thread *t)
{
	int ret, i;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	ret = kind == PUPPET_ENGINE ? open_engine(t) : open_client(t);
	engine_say(t[0].to, -ret);
	if (ret)
		_exit(1);
	if (kind == PUPPET_CLIENT) {
		engine_say(t[0].to, client_space(t[0].fd));
		engine_say(t[0].to, (uintptr_t)t[0].mem);
	}
	for (i = 1; i < PUPPET_THREADS; i++)
		if (pthread_create(&t[i].id, NULL, thread, &t[i]))
			_exit(2);
	thread(&t[0]);
	for (;;)
		pause();
}

int puppet_spawn(struct puppet *p, enum puppet_kind kind)
{
	struct thread *t = calloc(PUPPET_THREADS, sizeof(*t));
	int down[PUPPET_THREADS][2], up[PUPPET_THREADS][2], i, ret;
	uint64_t word = 0;

	if (!t)
		return -ENOMEM;
	memset(p, 0, sizeof(*p));
	p->kind = kind;
	for (i = 0; i < PUPPET_THREADS; i++) {
		if (pipe2(down[i], O_CLOEXEC) || pipe2(up[i], O_CLOEXEC))
			return -errno;
		t[i].from = down[i][0];
		t[i].to = up[i][1];
		t[i].kind = kind;
		p->thread[i].to = down[i][1];
		p->thread[i].from = up[i][0];
	}
	p->pid = fork();
	if (!p->pid)
		run(kind, t);
	for (i = 0; i < PUPPET_THREADS; i++) {
		close(down[i][0]);
		close(up[i][1]);
	}
	free(t);
	ret = engine_hear(p->thread[0].from, PATIENCE, &word);
	if (!ret && word)
		ret = -(int)word;
	if (!ret && kind == PUPPET_CLIENT) {
		ret = engine_hear(p->thread[0].from, PATIENCE, &word);
		p->space = word;
		if (!ret)
			ret = engine_hear(p->thread[0].from, PATIENCE, &word);
		p->mem = (uint8_t *)(uintptr_t)word;
	}
	for (i = 0; i < PUPPET_THREADS && !ret; i++) {
		p->thread[i].tid = puppet_do(p, i, ORDER(PUPPET_TID));
		if (p->thread[i].tid <= 0)
			ret = -EIO;
	}
	return ret;
}

bool in_call(pid_t pid, pid_t tid, long nr)
{
	uint64_t end = now_ms() + PATIENCE;
	char path[64], text[128];
	ssize_t n;
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/task/%d/syscall", pid, tid);
	do {
		fd = open(path, O_RDONLY | O_CLOEXEC);
		n = read(fd, text, sizeof(text) - 1);
		close(fd);
		/* "running", or the number and its arguments. */
		text[n < 0 ? 0 : n] = '\0';
		if (n > 0 && text[0] != 'r' && atol(text) == nr)
			return true;
		sleep_ms(1);
	} while (now_ms() < end);
	return false;
}

void puppet_kill(struct puppet *p)
{
	int i;

	if (p->pid <= 0)
		return;
	kill(p->pid, SIGKILL);
	waitpid(p->pid, NULL, 0);
	p->pid = 0;
	for (i = 0; i < PUPPET_THREADS; i++) {
		close(p->thread[i].to);
		close(p->thread[i].from);
	}
}

void puppet_tell(struct puppet *p, int thread, const struct puppet_order *order)
{
	if (write(p->thread[thread].to, order, sizeof(*order)) != sizeof(*order))
		abort();
}

int64_t puppet_hear(struct puppet *p, int thread, unsigned int timeout_ms)
{
	uint64_t word;

	if (engine_hear(p->thread[thread].from, timeout_ms, &word))
		return PUPPET_LATE;
	return word;
}

int64_t puppet_do(struct puppet *p, int thread, const struct puppet_order *order)
{
	puppet_tell(p, thread, order);
	return puppet_hear(p, thread, PATIENCE);
}
