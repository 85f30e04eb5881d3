// SPDX-License-Identifier: GPL-2.0
/*
 * Which client's work an engine gets: clients take turns, however much one of them has queued,
 * and GPUEMU_TAKE_IDLE passes over clients whose work is being done already.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <pthread.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "lib/harness.h"
#include "lib/lib.h"

enum { CLIENTS = 3 };

FIXTURE(turns)
{
	struct engine e;
	int fd[CLIENTS];
	uint32_t space[CLIENTS];
	uint8_t buffer[64];
};

FIXTURE_SETUP(turns)
{
	int i;

	ASSERT_EQ(0, engine_open(&self->e));
	for (i = 0; i < CLIENTS; i++) {
		self->fd[i] = client_open();
		ASSERT_LE(0, self->fd[i]);
		self->space[i] = client_space(self->fd[i]);
	}
}

FIXTURE_TEARDOWN(turns)
{
	int i;

	for (i = 0; i < CLIENTS; i++)
		close(self->fd[i]);
	engine_close(&self->e);
}

static struct gpuemu_work_take take_of(FIXTURE_DATA(turns) *self, uint32_t flags)
{
	return (struct gpuemu_work_take){
		.size = sizeof(struct gpuemu_work_take), .flags = flags,
		.payload = (uintptr_t)self->buffer,
		.payload_bytes = sizeof(self->buffer),
	};
}

/* The number of the client whose work it is, or -errno. */
static int take(FIXTURE_DATA(turns) *self, uint32_t flags, uint64_t *id)
{
	struct gpuemu_work_take t = take_of(self, flags);
	int ret = call(self->e.fd, GPUEMU_IOCTL_WORK_TAKE, &t), i;

	if (ret)
		return ret;
	if (id)
		*id = t.id;
	for (i = 0; i < CLIENTS; i++)
		if (self->space[i] == t.va_space)
			return i;
	return -EINVAL;
}

static int done(FIXTURE_DATA(turns) *self, uint64_t id)
{
	struct gpuemu_work_done d = { .size = sizeof(d), .id = id };

	return call(self->e.fd, GPUEMU_IOCTL_WORK_DONE, &d);
}

static int queue(FIXTURE_DATA(turns) *self, int client, int n)
{
	uint64_t id;
	int ret = 0;

	while (n-- && !ret)
		ret = client_submit(self->fd[client], GPUEMU_WORK_TOUCH, "12345678",
				    8, &id);
	return ret;
}

TEST_F(turns, round_robin)
{
	static const int want[] = { 0, 1, 2, 0, 1, 0, 0, 1, 0 };
	unsigned int i;

	ASSERT_EQ(0, queue(self, 0, 5));
	ASSERT_EQ(0, queue(self, 1, 2));
	ASSERT_EQ(0, queue(self, 2, 1));
	for (i = 0; i < sizeof(want) / sizeof(want[0]); i++) {
		EXPECT_EQ(want[i], take(self, 0, NULL)) TH_LOG("take %u", i);
		/* A client that comes late comes behind those that wait. */
		if (i == 5)
			ASSERT_EQ(0, queue(self, 1, 1));
	}
	EXPECT_EQ(-EAGAIN, take(self, 0, NULL));
}

/* Two clients of a user have one user's turns. */
TEST_F(turns, by_user)
{
	static const int want[] = { 0, 2, 1, 2, 0, 2, 1, 0, 1 };
	unsigned int i;

	close(self->fd[2]);
	ASSERT_EQ(0, setreuid(65534, -1));
	self->fd[2] = client_open();
	ASSERT_EQ(0, setreuid(0, -1));
	ASSERT_LE(0, self->fd[2]);
	self->space[2] = client_space(self->fd[2]);
	for (i = 0; i < 3; i++)
		ASSERT_EQ(0, queue(self, i, 3));
	for (i = 0; i < sizeof(want) / sizeof(want[0]); i++)
		EXPECT_EQ(want[i], take(self, 0, NULL)) TH_LOG("take %u", i);
	EXPECT_EQ(-EAGAIN, take(self, 0, NULL));
}

/* A thousand works of one are one turn of the other's wait. */
TEST_F(turns, a_full_queue_starves_nobody)
{
	ASSERT_EQ(0, queue(self, 0, GPUEMU_WORK_MAX));
	ASSERT_EQ(0, take(self, 0, NULL));
	ASSERT_EQ(0, queue(self, 1, 1));
	EXPECT_EQ(0, take(self, 0, NULL));
	EXPECT_EQ(1, take(self, 0, NULL));
	EXPECT_EQ(0, take(self, 0, NULL));
}

TEST_F(turns, idle_only)
{
	uint64_t a, b, next;

	ASSERT_EQ(0, queue(self, 0, 2));
	ASSERT_EQ(0, queue(self, 1, 2));
	ASSERT_EQ(0, take(self, GPUEMU_TAKE_IDLE, &a));
	ASSERT_EQ(1, take(self, GPUEMU_TAKE_IDLE, &b));
	/* Both have one out, and both have one more. */
	EXPECT_EQ(-EAGAIN, take(self, GPUEMU_TAKE_IDLE, NULL));
	ASSERT_EQ(0, queue(self, 2, 1));
	EXPECT_EQ(2, take(self, GPUEMU_TAKE_IDLE, NULL));
	ASSERT_EQ(0, done(self, b));
	EXPECT_EQ(1, take(self, GPUEMU_TAKE_IDLE, NULL));
	EXPECT_EQ(-EAGAIN, take(self, GPUEMU_TAKE_IDLE, NULL));
	/* A caller that does not ask for it gets what is there. */
	EXPECT_EQ(0, take(self, 0, &next));
	ASSERT_EQ(0, done(self, a));
	ASSERT_EQ(0, queue(self, 0, 1));
	EXPECT_EQ(-EAGAIN, take(self, GPUEMU_TAKE_IDLE, NULL));
	ASSERT_EQ(0, done(self, next));
	EXPECT_EQ(0, take(self, GPUEMU_TAKE_IDLE, NULL));
}

/* A take that fails changes nobody's turn, and leaves nothing taken. */
TEST_F(turns, a_take_that_fails)
{
	struct gpuemu_work_take t;

	ASSERT_EQ(0, queue(self, 0, 2));
	ASSERT_EQ(0, queue(self, 1, 1));
	t = take_of(self, 0);
	t.payload_bytes = 1;
	EXPECT_EQ(-ENOSPC, call(self->e.fd, GPUEMU_IOCTL_WORK_TAKE, &t));
	EXPECT_EQ(8, t.payload_bytes);
	t = take_of(self, GPUEMU_TAKE_IDLE);
	t.payload = 8;
	EXPECT_EQ(-EFAULT, call(self->e.fd, GPUEMU_IOCTL_WORK_TAKE, &t));
	EXPECT_EQ(0, take(self, GPUEMU_TAKE_IDLE, NULL));
	EXPECT_EQ(1, take(self, 0, NULL));
	/* The last one of a client, too. */
	t = take_of(self, 0);
	t.payload = 8;
	EXPECT_EQ(-EFAULT, call(self->e.fd, GPUEMU_IOCTL_WORK_TAKE, &t));
	EXPECT_EQ(0, take(self, 0, NULL));
	EXPECT_EQ(-EAGAIN, take(self, 0, NULL));

	t = take_of(self, 2);
	EXPECT_EQ(-EOPNOTSUPP, call(self->e.fd, GPUEMU_IOCTL_WORK_TAKE, &t));
	t = take_of(self, 0);
	t.reserved2 = 1;
	EXPECT_EQ(-EINVAL, call(self->e.fd, GPUEMU_IOCTL_WORK_TAKE, &t));
	/* A program of the first version does not know the flags. */
	ASSERT_EQ(0, queue(self, 1, 1));
	t = take_of(self, 0);
	t.size = 40;
	t.flags = ~0u;
	EXPECT_EQ(0, call(self->e.fd, GPUEMU_IOCTL_WORK_TAKE, &t));
}

/* A page that the kernel reads a submission from, and cannot write the answer to. */
static struct gpuemu_submit *submission(void)
{
	struct gpuemu_submit *s = mmap(NULL, PAGE, PROT_READ | PROT_WRITE,
				       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (s != MAP_FAILED)
		*s = (struct gpuemu_submit){
			.size = sizeof(*s), .kind = GPUEMU_WORK_TOUCH,
		};
	return s;
}

/* A work whose number the client did not hear is no turn of its own. */
TEST_F(turns, a_submit_that_fails)
{
	struct gpuemu_submit *s = submission();

	ASSERT_NE(MAP_FAILED, s);
	ASSERT_EQ(0, mprotect(s, PAGE, PROT_READ));
	ASSERT_EQ(-EFAULT, call(self->fd[0], GPUEMU_IOCTL_SUBMIT, s));
	EXPECT_EQ(-EAGAIN, take(self, 0, NULL));
	ASSERT_EQ(0, queue(self, 1, 1));
	ASSERT_EQ(-EFAULT, call(self->fd[0], GPUEMU_IOCTL_SUBMIT, s));
	EXPECT_EQ(1, take(self, 0, NULL));
	EXPECT_EQ(-EAGAIN, take(self, 0, NULL));
	/* What is queued before it keeps its turn. */
	ASSERT_EQ(0, queue(self, 0, 1));
	ASSERT_EQ(-EFAULT, call(self->fd[0], GPUEMU_IOCTL_SUBMIT, s));
	ASSERT_EQ(0, queue(self, 1, 1));
	EXPECT_EQ(0, take(self, 0, NULL));
	EXPECT_EQ(1, take(self, 0, NULL));
	EXPECT_EQ(-EAGAIN, take(self, 0, NULL));
	munmap(s, PAGE);
}

struct late {
	int fd, ret;
	struct gpuemu_submit *s;
};

static void *submit_late(void *arg)
{
	struct late *late = arg;

	late->ret = call(late->fd, GPUEMU_IOCTL_SUBMIT, late->s);
	return NULL;
}

/* The same, if an engine has it already: its client is idle again, and heard of. */
TEST_F(turns, a_submit_that_fails_late)
{
	struct uffdio_api api = { .api = UFFD_API };
	struct late late = { self->fd[0], 0, submission() };
	struct uffdio_register reg = {
		.range = { (uintptr_t)late.s, PAGE },
		.mode = UFFDIO_REGISTER_MODE_WP,
	};
	struct uffdio_writeprotect wp = {
		.range = reg.range, .mode = UFFDIO_WRITEPROTECT_MODE_WP,
	};
	int fd = syscall(SYS_userfaultfd, O_CLOEXEC);
	struct uffd_msg msg;
	pthread_t thread;
	uint64_t id;

	ASSERT_NE(MAP_FAILED, late.s);
	ASSERT_LE(0, fd);
	ASSERT_EQ(0, ioctl(fd, UFFDIO_API, &api));
	ASSERT_EQ(0, ioctl(fd, UFFDIO_REGISTER, &reg));
	ASSERT_EQ(0, ioctl(fd, UFFDIO_WRITEPROTECT, &wp));
	ASSERT_EQ(0, pthread_create(&thread, NULL, submit_late, &late));
	/* It is queued, and the answer is on its way. */
	ASSERT_EQ(sizeof(msg), read(fd, &msg, sizeof(msg)));
	ASSERT_EQ(0, take(self, GPUEMU_TAKE_IDLE, &id));
	ASSERT_EQ(0, mprotect(late.s, PAGE, PROT_READ));
	close(fd);
	ASSERT_EQ(0, pthread_join(thread, NULL));
	EXPECT_EQ(-EFAULT, late.ret);
	EXPECT_EQ(id, self->e.control->cancelled);
	ASSERT_EQ(0, queue(self, 0, 1));
	EXPECT_EQ(-ENOENT, done(self, id));
	EXPECT_EQ(0, take(self, GPUEMU_TAKE_IDLE, NULL));
	munmap(late.s, PAGE);
}

TEST_F(turns, a_client_ends)
{
	ASSERT_EQ(0, queue(self, 0, 3));
	ASSERT_EQ(0, queue(self, 1, 3));
	ASSERT_EQ(0, queue(self, 2, 3));
	ASSERT_EQ(0, take(self, 0, NULL));
	close(self->fd[1]);
	self->fd[1] = -1;
	EXPECT_EQ(2, take(self, 0, NULL));
	EXPECT_EQ(0, take(self, 0, NULL));
	EXPECT_EQ(2, take(self, 0, NULL));
	EXPECT_EQ(0, take(self, 0, NULL));
	EXPECT_EQ(2, take(self, 0, NULL));
	EXPECT_EQ(-EAGAIN, take(self, 0, NULL));
}

/* What a lost engine had taken does not count against its client at the next. */
TEST_F(turns, an_engine_is_lost)
{
	ASSERT_EQ(0, queue(self, 0, 2));
	ASSERT_EQ(0, queue(self, 1, 2));
	ASSERT_EQ(0, take(self, 0, NULL));
	engine_close(&self->e);
	ASSERT_EQ(0, engine_open(&self->e));
	EXPECT_EQ(-EAGAIN, take(self, 0, NULL));
	ASSERT_EQ(0, queue(self, 1, 1));
	ASSERT_EQ(0, queue(self, 0, 1));
	EXPECT_EQ(1, take(self, GPUEMU_TAKE_IDLE, NULL));
	EXPECT_EQ(0, take(self, GPUEMU_TAKE_IDLE, NULL));
}

TEST_HARNESS_MAIN
