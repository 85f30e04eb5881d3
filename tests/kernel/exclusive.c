// SPDX-License-Identifier: GPL-2.0
/* There is one engine at a time: a privileged process, with an unused file. */
#include <errno.h>
#include <linux/capability.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib/harness.h"
#include "lib/lib.h"

static int attach(int fd)
{
	struct gpuemu_engine_attach attach;

	return engine_attach_fd(fd, &attach);
}

TEST(second_engine)
{
	int a = client_open(), b = client_open();
	struct gpuemu_info info;

	ASSERT_EQ(0, attach(a));
	EXPECT_EQ(-EBUSY, attach(b));
	EXPECT_EQ(-EBUSY, attach(a));
	/* The refused one is still a client. */
	EXPECT_EQ(0, client_info(b, &info));
	EXPECT_NE(0, info.engine_generation);
	EXPECT_NE(NULL, map_managed(b, PAGE));
	close(a);
	EXPECT_EQ(-EBUSY, attach(b));
	close(b);
	a = client_open();
	EXPECT_EQ(0, attach(a));
	close(a);
}

static int drop_sys_admin(void)
{
	struct __user_cap_header_struct header = {
		.version = _LINUX_CAPABILITY_VERSION_3,
	};
	struct __user_cap_data_struct data[2];

	if (syscall(SYS_capget, &header, data))
		return -1;
	data[0].effective &= ~(1u << CAP_SYS_ADMIN);
	return syscall(SYS_capset, &header, data);
}

TEST(without_cap_sys_admin)
{
	int fd = client_open(), status, ok;
	pid_t pid = fork();

	if (!pid) {
		ok = !drop_sys_admin() && attach(fd) == -EPERM;
		_exit(!ok);
	}
	waitpid(pid, &status, 0);
	EXPECT_EQ(0, status);
	/* Nothing remained of it. */
	EXPECT_EQ(0, attach(fd));
	close(fd);
}

/* An ordinary user is a client like any other. */
TEST(unprivileged_client)
{
	int status, fd, ok;
	uint8_t *p;
	pid_t pid = fork();

	if (!pid) {
		if (setgid(65534) || setuid(65534))
			_exit(2);
		fd = client_open();
		p = fd < 0 ? NULL : map_managed(fd, 4 * PAGE);
		if (!p)
			_exit(3);
		fill(p, 4 * PAGE, 1);
		ok = filled(p, 4 * PAGE, 1) && attach(fd) == -EPERM;
		_exit(!ok);
	}
	waitpid(pid, &status, 0);
	EXPECT_EQ(0, status);
}

TEST(file_in_use)
{
	struct gpuemu_module_load load = {
		.size = sizeof(load), .image = (uintptr_t)"x", .image_bytes = 1,
	};
	struct gpuemu_wait wait;
	int fd = client_open();
	struct engine e;
	uint64_t id;
	void *p;

	p = map_managed(fd, PAGE);
	ASSERT_NE(NULL, p);
	EXPECT_EQ(-EBUSY, attach(fd));
	close(fd);
	fd = client_open();
	ASSERT_EQ(0, call(fd, GPUEMU_IOCTL_MODULE_LOAD, &load));
	EXPECT_EQ(-EBUSY, attach(fd));
	close(fd);
	/* An unread work, although its engine is gone. */
	fd = client_open();
	ASSERT_EQ(0, engine_open(&e));
	ASSERT_EQ(0, client_submit(fd, GPUEMU_WORK_LOAD, NULL, 0, &id));
	engine_close(&e);
	EXPECT_EQ(-EBUSY, attach(fd));
	EXPECT_EQ(0, client_wait(fd, id, 0, &wait));
	EXPECT_EQ(-EIO, wait.status);
	EXPECT_EQ(0, attach(fd));
	close(fd);
}

/* Each kind of file keeps to its own ioctls. */
TEST(wrong_kind_of_file)
{
	struct gpuemu_work_take take = { .size = sizeof(take) };
	struct gpuemu_work_done done = { .size = sizeof(done) };
	struct gpuemu_module_read read = { .size = sizeof(read) };
	struct gpuemu_engine_ack ack = { .size = sizeof(ack) };
	struct gpuemu_module_load load = {
		.size = sizeof(load), .image = (uintptr_t)"x", .image_bytes = 1,
	};
	struct gpuemu_module_unload unload = {
		.size = sizeof(unload), .id = 1,
	};
	struct gpuemu_wait wait;
	int fd = client_open();
	struct engine e;
	uint64_t id;
	void *at;

	ASSERT_EQ(0, engine_open(&e));
	EXPECT_EQ(-EPERM, call(fd, GPUEMU_IOCTL_WORK_TAKE, &take));
	EXPECT_EQ(-EPERM, call(fd, GPUEMU_IOCTL_WORK_DONE, &done));
	EXPECT_EQ(-EPERM, call(fd, GPUEMU_IOCTL_MODULE_READ, &read));
	EXPECT_EQ(-EPERM, call(fd, GPUEMU_IOCTL_ENGINE_ACK, &ack));
	EXPECT_EQ(-EPERM, call(e.fd, GPUEMU_IOCTL_MODULE_LOAD, &load));
	EXPECT_EQ(-EPERM, call(e.fd, GPUEMU_IOCTL_MODULE_UNLOAD, &unload));
	EXPECT_EQ(-EPERM, client_submit(e.fd, GPUEMU_WORK_LOAD, NULL, 0, &id));
	EXPECT_EQ(-EPERM, client_wait(e.fd, 1, 0, &wait));
	at = reserve(PAGE);
	EXPECT_EQ(NULL, map_managed_at(e.fd, at, PAGE));
	close(fd);
	engine_close(&e);
}

TEST_HARNESS_MAIN
