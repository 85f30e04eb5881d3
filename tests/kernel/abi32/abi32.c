// SPDX-License-Identifier: GPL-2.0
/*
 * A 32-bit client, without any library: opens the device, asks, maps managed
 * memory below 4 GiB, loads an image and submits a work. Run by ../compat.c,
 * which is the engine: it is told the VA space through stdout, and answers
 * through stdin when the pages have been to the device and back.
 *
 * Exit status: the number of the step that went wrong, 0 for none.
 */
#include <linux/gpuemu.h>

#define NR_EXIT		1
#define NR_READ		3
#define NR_WRITE	4
#define NR_OPEN		5
#define NR_IOCTL	54
#define NR_MMAP2	192

#define O_RDWR		2
#define PROT_RW		3
#define MAP_SHARED_FIXED 0x11
#define ENODEV		19

#define AT		((unsigned char *)0x20000000)
#define PAGES		16u

static long call6(long nr, long a, long b, long c, long d, long e, long f)
{
	long args[2] = { nr, f };
	long ret;

	/* The sixth argument is in ebp, which gcc cannot name. */
	__asm__ volatile("push %%ebp\n\t"
			 "mov 4(%%eax), %%ebp\n\t"
			 "mov (%%eax), %%eax\n\t"
			 "int $0x80\n\t"
			 "pop %%ebp"
			 : "=a"(ret)
			 : "0"(args), "b"(a), "c"(b), "d"(c), "S"(d), "D"(e)
			 : "memory");
	return ret;
}

static long call3(long nr, long a, long b, long c)
{
	return call6(nr, a, b, c, 0, 0, 0);
}

static int run(void)
{
	struct gpuemu_info info = { .size = sizeof(info) };
	struct gpuemu_module_load load = { .size = sizeof(load) };
	struct gpuemu_submit submit = { .size = sizeof(submit) };
	struct gpuemu_wait wait = { .size = sizeof(wait) };
	struct gpuemu_engine_ack ack = { .size = sizeof(ack) };
	unsigned int i;
	char byte;
	long fd;

	fd = call3(NR_OPEN, (long)"/dev/gpuemu", O_RDWR, 0);
	if (fd < 0)
		return 1;
	if (call3(NR_IOCTL, fd, (long)GPUEMU_IOCTL_INFO, (long)&info) ||
	    info.abi != GPUEMU_ABI_VERSION || !info.va_space ||
	    !info.vram_bytes || info.vram_free_bytes > info.vram_bytes)
		return 2;
	if (call6(NR_MMAP2, (long)AT, PAGES * GPUEMU_PAGE_SIZE, PROT_RW,
		  MAP_SHARED_FIXED, fd, (long)AT >> GPUEMU_PAGE_SHIFT) !=
	    (long)AT)
		return 3;
	for (i = 0; i < PAGES * GPUEMU_PAGE_SIZE; i++)
		AT[i] = i * 7 + i / 251;
	load.image = (unsigned long)"some text";
	load.image_bytes = 10;
	if (call3(NR_IOCTL, fd, (long)GPUEMU_IOCTL_MODULE_LOAD, (long)&load) ||
	    !load.id)
		return 4;
	submit.kind = GPUEMU_WORK_LOAD;
	submit.payload = (unsigned long)AT;
	submit.payload_bytes = 4;
	if (call3(NR_IOCTL, fd, (long)GPUEMU_IOCTL_SUBMIT, (long)&submit) ||
	    !submit.id)
		return 5;
	/* The engine takes it, and adds one to each byte of the pages. */
	if (call3(NR_WRITE, 1, (long)&info.va_space, 4) != 4 ||
	    call3(NR_READ, 0, (long)&byte, 1) != 1)
		return 6;
	wait.id = submit.id;
	wait.timeout_ms = 5000;
	if (call3(NR_IOCTL, fd, (long)GPUEMU_IOCTL_WAIT, (long)&wait) ||
	    wait.status != -5 || wait.fault_addr != 0x123456789abcull ||
	    wait.message[0] != 'm')
		return 7;
	for (i = 0; i < PAGES * GPUEMU_PAGE_SIZE; i++)
		if (AT[i] != (unsigned char)(i * 7 + i / 251 + 1))
			return 8;
	if (call3(NR_IOCTL, fd, (long)GPUEMU_IOCTL_ENGINE_ACK, (long)&ack) != -1)
		return 9;
	return 0;
}

void _start(void);
void _start(void)
{
	call3(NR_EXIT, run(), 0, 0);
	__builtin_unreachable();
}
