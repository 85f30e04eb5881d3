// SPDX-License-Identifier: GPL-2.0
/* printf's %s: strings wherever they are in the kernel's memory, as they are when it prints. */
#include "check.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

__device__ char variable[32] = "before";
__constant__ char constant[32] = "constant";
__managed__ char managed[32] = "managed";

__global__ void all(const char *device, const char *pinned, const char *moved)
{
	__shared__ char shared[8];
	char local[4] = { 'l', 'o', (char)('a' + blockIdx.x), 0 };

	shared[0] = 's';
	shared[1] = 'h';
	shared[2] = 0;
	printf("%s|%s|%s|%s|%s|%s|%s|%s|%s\n", "literal", variable, constant, managed, device,
	       pinned, moved, shared, local);
}

/* What the string is at each call; the last one holds it no longer. */
__global__ void changes(char *text)
{
	for (int i = 0; i < 3; i++) {
		text[0] = (char)('a' + i);
		variable[0] = (char)('A' + i);
		printf("[%s %s]", text, variable);
	}
	text[0] = variable[0] = '-';
}

__global__ void padded(const char *text)
{
	printf("%8s|%-8s|%.2s|%*s|%-*.*s|\n", text, text, text, 7, text, 5, 3, text);
}

__global__ void whole(const char *text)
{
	printf("%s\n", text);
}

__global__ void lanes(const char *texts)
{
	printf("%d%s ", threadIdx.x, texts + 4 * threadIdx.x);
}

static char got[1 << 17];
static int saved;
static FILE *kept;

static void begin(void)
{
	fflush(stdout);
	saved = dup(1);
	kept = tmpfile();
	dup2(fileno(kept), 1);
}

static void end(void)
{
	size_t n;

	cudaDeviceSynchronize();
	fflush(stdout);
	dup2(saved, 1);
	close(saved);
	rewind(kept);
	n = fread(got, 1, sizeof(got) - 1, kept);
	got[n] = 0;
	fclose(kept);
}

#define EXPECT(text) \
	do { \
		if (strcmp(got, text)) { \
			printf("prints: line %d: %.300s\n", __LINE__, got); \
			failures++; \
		} \
	} while (0)

int main(void)
{
	static char wide[70000];
	char *device, *pinned, *moved;
	int failures = 0;

	/* The second page has the string's end. */
	OK(cudaMalloc(&device, 2 * 65536));
	OK(cudaMallocHost(&pinned, 64));
	OK(cudaMallocManaged(&moved, 64));
	OK(cudaMemcpy(device, "device", 7, cudaMemcpyHostToDevice));
	strcpy(pinned, "pinned");
	strcpy(moved, "moved");
	OK(cudaMemcpyToSymbol(variable, "after", 6));
	OK(cudaMemcpyToSymbol(constant, "other", 6));

	begin();
	all<<<2, 1>>>(device, pinned, moved);
	end();
	EXPECT("literal|after|other|managed|device|pinned|moved|sh|loa\n"
	       "literal|after|other|managed|device|pinned|moved|sh|lob\n");

	begin();
	changes<<<1, 1>>>(device);
	end();
	EXPECT("[aevice After][bevice Bfter][cevice Cfter]");

	OK(cudaMemcpy(device, "text", 5, cudaMemcpyHostToDevice));
	begin();
	padded<<<1, 1>>>(device);
	end();
	EXPECT("    text|text    |te|   text|tex  |\n");

	memset(wide, 'x', sizeof(wide) - 2);
	wide[sizeof(wide) - 2] = '\n';
	OK(cudaMemcpy(device, wide, sizeof(wide), cudaMemcpyHostToDevice));
	begin();
	whole<<<1, 1>>>(device + 3);
	end();
	failures += strlen(got) != sizeof(wide) - 3 || strncmp(got, wide + 3, sizeof(wide) - 4);

	for (int i = 0; i < 40; i++)
		snprintf(wide + 4 * i, 4, "%c", 'a' + i % 26);
	OK(cudaMemcpy(device, wide, 160, cudaMemcpyHostToDevice));
	begin();
	lanes<<<1, 40>>>(device);
	end();
	failures += !strstr(got, "0a 1b 2c ") || !strstr(got, " 25z 26a ") || !strstr(got, "38m 39n ");

	/* CUDA has no promise for these: they end neither the kernel nor the program. */
	begin();
	whole<<<1, 1>>>((const char *)8);
	whole<<<1, 1>>>((const char *)0xdead00000000);
	whole<<<1, 1>>>((const char *)-1);
	end();
	OK(cudaGetLastError());
	EXPECT("(string at 0x8)\n(string at 0xdead00000000)\n(string at 0xffffffffffffffff)\n");
	printf(failures ? "prints: failed\n" : "prints: passed\n");
	return failures != 0;
}
