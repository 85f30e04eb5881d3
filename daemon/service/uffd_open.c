// SPDX-License-Identifier: GPL-2.0
/*
 * Getting a userfaultfd from this kernel: with the right to stop system calls
 * where the system grants it, else one for this process's own instructions
 * alone (userfaultfd(2), UFFD_USER_MODE_ONLY), which needs no privilege.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "service/uffd_device.h"

#ifndef USERFAULTFD_IOC_NEW
#define USERFAULTFD_IOC_NEW	_IO(0xAA, 0x00)	/* Linux 6.1; the libc's headers may be older */
#endif

#define FLAGS		(O_CLOEXEC | O_NONBLOCK)
#define FEATURES	(UFFD_FEATURE_PAGEFAULT_FLAG_WP | UFFD_FEATURE_THREAD_ID | \
			 UFFD_FEATURE_EVENT_UNMAP)

/* Linux 6.1 lets who may open the device have one; the system call asks for privilege. */
static int from_device(void)
{
	int device = open("/dev/userfaultfd", O_RDWR | O_CLOEXEC), fd;

	if (device < 0)
		return -1;
	fd = ioctl(device, USERFAULTFD_IOC_NEW, FLAGS);
	close(device);
	return fd;
}

static int refused(int error, struct err *err)
{
	switch (error) {
	case ENOSYS:
		return err_set(err, -ENOSYS, "this kernel has no userfaultfd (CONFIG_USERFAULTFD)");
	case EINVAL:
		return err_set(err, -EOPNOTSUPP, "userfaultfd without privilege needs Linux 5.11: "
			       "set vm.unprivileged_userfaultfd=1 or run as root");
	case EPERM:
		return err_set(err, -EPERM, "userfaultfd is not permitted here: a seccomp filter "
			       "(a container's, often) forbids it; allow the system call, "
			       "or give access to /dev/userfaultfd");
	default:
		return err_set(err, -error, "no userfaultfd: %s", strerror(error));
	}
}

int uffd_open(bool *kernel_faults, struct err *err)
{
	struct uffdio_api api = { .api = UFFD_API, .features = FEATURES };
	int fd = (int)syscall(SYS_userfaultfd, FLAGS);
	int ret;

	if (fd < 0)
		fd = from_device();
	*kernel_faults = fd >= 0;
	if (fd < 0)
		fd = (int)syscall(SYS_userfaultfd, FLAGS | UFFD_USER_MODE_ONLY);
	if (fd < 0)
		return refused(errno, err);
	if (!ioctl(fd, UFFDIO_API, &api))
		return fd;
	ret = errno == EINVAL ?
		err_set(err, -EOPNOTSUPP, "this kernel's userfaultfd cannot write-protect: "
			"it needs Linux 5.7 (on x86-64)") :
		err_set(err, -errno, "userfaultfd: %s", strerror(errno));
	close(fd);
	return ret;
}
