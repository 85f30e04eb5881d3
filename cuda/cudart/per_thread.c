// SPDX-License-Identifier: GPL-2.0
/*
 * The default stream that each thread has of its own: cudaStreamPerThread, and stream 0 in
 * programs that were compiled for it, which call NAME_ptsz and NAME_ptds. Such a function notes
 * that in a variable of the thread and goes on as NAME does, whatever its arguments are. It is
 * made when it is first used, and waits for the default stream as a created one does.
 */
#include <pthread.h>
#include <stdlib.h>

#include "cudart.h"

/* Is the call that the thread is in one of these? Until it ends. */
__thread int per_thread_call;

/* Registers that hold no argument, and the stack as it was. */
#if defined(__x86_64__)
#define JUMP(name)	"movq per_thread_call@gottpoff(%rip), %r11\n\tmovl $1, %fs:(%r11)\n\tjmp " name "@PLT\n"
#else
#error "per_thread.c: no jump for this processor"
#endif
#define X(name, ending)									\
	asm(".text\n\t.p2align 4\n\t.globl " #name "_" #ending "\n\t"			\
	    ".type " #name "_" #ending ", @function\n" #name "_" #ending ":\n\t"		\
	    JUMP(#name) "\t.size " #name "_" #ending ", . - " #name "_" #ending "\n");
#include "per_thread.def"
#undef X

static __thread struct CUstream_st *own;
static __thread unsigned int made;		/* when own was, of: */
static unsigned int generation = 1;
static pthread_key_t key;
static pthread_once_t once = PTHREAD_ONCE_INIT;

/* The thread ends. */
static void destroy(void *stream)
{
	if (made == generation && own == stream)
		cudaStreamDestroy(stream);
}

static void make_key(void)
{
	pthread_key_create(&key, destroy);
}

void per_thread_forget_all(void)
{
	generation++;
}

struct CUstream_st *per_thread_stream(void)
{
	if (own && made == generation)
		return own;
	own = stream_new();
	made = generation;
	pthread_once(&once, make_key);
	pthread_setspecific(key, own);
	return own;
}
