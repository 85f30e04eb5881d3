// SPDX-License-Identifier: GPL-2.0
/*
 * What an ordinary user can do and how much of it, and that it is no way to
 * take the device from others. Everything here runs as nobody, in a child.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib/harness.h"
#include "lib/managed.h"

enum { NOBODY = 65534, OTHER = 1234 };

static bool become_nobody(void)
{
	return !setgid(NOBODY) && !setuid(NOBODY);
}

/* The step at which run() says it went wrong, 0 for none. */
static int as_nobody(int (*run)(void))
{
	int status = -1;
	pid_t pid = fork();

	if (!pid)
		_exit(become_nobody() ? run() : 100);
	waitpid(pid, &status, 0);
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static int attach(int fd)
{
	struct gpuemu_engine_attach attach;

	return engine_attach_fd(fd, &attach);
}

static int try_engine(void)
{
	struct gpuemu_engine_ack ack = { .size = sizeof(ack) };
	int fd = client_open();

	if (fd < 0)
		return 1;
	if (attach(fd) != -EPERM)
		return 2;
	/* CAP_SYS_ADMIN of a user namespace of one's own is not enough. */
	if (!unshare(CLONE_NEWUSER) && attach(fd) != -EPERM)
		return 3;
	if (call(fd, GPUEMU_IOCTL_ENGINE_ACK, &ack) != -EPERM)
		return 4;
	if (mmap(NULL, PAGE, PROT_READ, MAP_SHARED, fd, GPUEMU_MMAP_CONTROL) !=
	    MAP_FAILED)
		return 5;
	if (mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, fd,
		 GPUEMU_MMAP_VRAM) != MAP_FAILED)
		return 6;
	return 0;
}

TEST(no_engine)
{
	EXPECT_EQ(0, as_nobody(try_engine));
}

/* --- VA spaces: some are left for the administrator --- */

static int take_all_spaces(void)
{
	struct rlimit limit = { 1024, 1024 };
	int n, fd = 0;

	if (setrlimit(RLIMIT_NOFILE, &limit))
		return 1;
	for (n = 0; fd >= 0; n++)
		fd = client_open();
	if (fd != -ENOSPC)
		return 2;
	kill(getpid(), SIGSTOP);
	return 0;
}

/* Half of all are one user's, so another one has as many. */
static int other_opens(void)
{
	int n;

	for (n = 0; n < 100; n++)
		if (client_open() < 0)
			return 1;
	return 0;
}

static int as_another(int (*run)(void))
{
	int status = -1;
	pid_t pid = fork();

	if (!pid)
		_exit(setgid(OTHER) || setuid(OTHER) ? 100 : run());
	waitpid(pid, &status, 0);
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static bool write_map(pid_t pid, const char *map)
{
	char path[40];
	int fd;
	bool ok;

	snprintf(path, sizeof(path), "/proc/%d/uid_map", pid);
	fd = open(path, O_WRONLY | O_CLOEXEC);
	ok = fd >= 0 && write(fd, map, strlen(map)) == (ssize_t)strlen(map);
	close(fd);
	return ok;
}

/*
 * What opening the device says to user INSIDE of a user namespace that this user made, which is
 * another user outside: one of those that subuid(5) gives a user.
 */
static int open_in_namespace(uid_t maker)
{
	enum { INSIDE = 5, SUBORDINATE = 70000 };
	int made[2], mapped[2], status = -1;
	char map[60], go;
	pid_t pid;

	if (pipe(made) || pipe(mapped))
		return 1;
	pid = fork();
	if (!pid) {
		close(mapped[1]);
		if (maker && setresuid(maker, maker, maker))
			_exit(101);
		if (unshare(CLONE_NEWUSER) || write(made[1], "m", 1) != 1 ||
		    read(mapped[0], &go, 1) != 1)
			_exit(102);
		_exit(setresuid(INSIDE, INSIDE, INSIDE) ? 103 : client_open() < 0 ? 1 : 0);
	}
	snprintf(map, sizeof(map), "0 %u 1\n1 %u 1000\n", maker, SUBORDINATE);
	close(made[1]);
	if (read(made[0], &go, 1) == 1 && write_map(pid, map))
		(void)!write(mapped[1], "g", 1);
	close(mapped[1]);
	waitpid(pid, &status, 0);
	close(made[0]);
	close(mapped[0]);
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

TEST(spaces_for_others)
{
	struct engine e;
	int status, fd;
	pid_t pid = fork();

	if (!pid)
		_exit(become_nobody() ? take_all_spaces() : 100);
	ASSERT_EQ(pid, waitpid(pid, &status, WUNTRACED));
	ASSERT_TRUE(WIFSTOPPED(status)) TH_LOG("status %x", status);
	EXPECT_EQ(0, as_another(other_opens));
	/* Ids in a namespace of one's own give no more; those in root's are users of their own. */
	EXPECT_EQ(1, open_in_namespace(NOBODY));
	EXPECT_EQ(0, open_in_namespace(OTHER));
	EXPECT_EQ(0, open_in_namespace(0));
	/* The daemon finds its place, and root can look. */
	EXPECT_EQ(0, engine_open(&e));
	fd = client_open();
	EXPECT_LE(0, fd);
	close(fd);
	engine_close(&e);
	kill(pid, SIGKILL);
	waitpid(pid, &status, 0);
}

/* --- images and bytes, by several threads at once --- */

static struct race {
	int fd;
	uint32_t bytes;
	void *image;
	int loaded, failed;
} race;

static void *load_many(void *arg)
{
	struct gpuemu_module_load load = {
		.size = sizeof(load), .image = (uintptr_t)race.image,
		.image_bytes = race.bytes,
	};
	int i, ret;

	/* One more than all: a thread that is alone at first is refused, too. */
	for (i = 0; i <= (int)GPUEMU_CLIENT_MODULES; i++) {
		ret = call(race.fd, GPUEMU_IOCTL_MODULE_LOAD, &load);
		if (ret) {
			if (ret != -ENOMEM && ret != -ENOSPC)
				abort();
			__atomic_add_fetch(&race.failed, 1, __ATOMIC_RELAXED);
			break;
		}
		__atomic_add_fetch(&race.loaded, 1, __ATOMIC_RELAXED);
	}
	return arg;
}

static int race_to(uint32_t bytes, int want)
{
	pthread_t t[4];
	int i;

	race = (struct race){ .fd = client_open(), .bytes = bytes };
	race.image = calloc(1, bytes);
	if (race.fd < 0 || !race.image)
		return 1;
	for (i = 0; i < 4; i++)
		if (pthread_create(&t[i], NULL, load_many, NULL))
			return 2;
	for (i = 0; i < 4; i++)
		pthread_join(t[i], NULL);
	close(race.fd);
	/* A loser of the race may have been refused a moment too early. */
	if (race.loaded > want || race.loaded < want - 4)
		return 3;
	return race.failed == 4 ? 0 : 4;
}

static int many_images(void)
{
	return race_to(16, GPUEMU_CLIENT_MODULES);
}

static int many_bytes(void)
{
	return race_to(GPUEMU_MODULE_MAX,
		       GPUEMU_CLIENT_BYTES / GPUEMU_MODULE_MAX);
}

TEST(images)
{
	EXPECT_EQ(0, as_nobody(many_images));
}

TEST(bytes)
{
	EXPECT_EQ(0, as_nobody(many_bytes));
}

/* --- works, which need an engine to be submitted to --- */

static int many_works(void)
{
	int fd = client_open(), n, ret = 0;
	uint64_t id;

	for (n = 0; !ret; n++)
		ret = client_submit(fd, GPUEMU_WORK_LOAD, "x", 1, &id);
	return ret == -EAGAIN && n == (int)GPUEMU_WORK_MAX + 1 ? 0 : 1;
}

/* However often a user opens the device. */
static int many_works_of_many_files(void)
{
	int n = 0, ret = 0, file;
	uint64_t id;

	for (file = 0; file < 6; file++) {
		int fd = client_open();

		for (ret = 0; !ret; n++)
			ret = client_submit(fd, GPUEMU_WORK_LOAD, "x", 1, &id);
		n--;
		if (ret != -EAGAIN)
			return 1;
	}
	return n == 4 * GPUEMU_WORK_MAX ? 0 : 2;
}

/* Another's works and images are not to be had by guessing their numbers. */
static uint64_t others_work;
static uint32_t others_image;

static int guess(void)
{
	struct gpuemu_module_unload unload = {
		.size = sizeof(unload), .id = others_image,
	};
	struct gpuemu_wait wait;
	int fd = client_open();
	uint64_t id;

	for (id = others_work - 2; id < others_work + 2; id++)
		if (client_wait(fd, id, 0, &wait) != -ENOENT)
			return 1;
	if (call(fd, GPUEMU_IOCTL_MODULE_UNLOAD, &unload) != -ENOENT)
		return 2;
	return 0;
}

TEST(works_and_what_is_anothers)
{
	struct gpuemu_module_load load = {
		.size = sizeof(load), .image = (uintptr_t)"x", .image_bytes = 2,
	};
	int fd = client_open();
	struct gpuemu_wait wait;
	struct engine e;

	ASSERT_EQ(0, engine_open(&e));
	EXPECT_EQ(0, as_nobody(many_works));
	EXPECT_EQ(0, as_nobody(many_works_of_many_files));
	ASSERT_EQ(0, client_submit(fd, GPUEMU_WORK_LOAD, "x", 1, &others_work));
	ASSERT_EQ(0, call(fd, GPUEMU_IOCTL_MODULE_LOAD, &load));
	others_image = load.id;
	EXPECT_EQ(0, as_nobody(guess));
	EXPECT_EQ(-ETIMEDOUT, client_wait(fd, others_work, 0, &wait));
	close(fd);
	engine_close(&e);
}

TEST_HARNESS_MAIN
