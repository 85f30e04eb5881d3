// SPDX-License-Identifier: GPL-2.0
/*
 * Lanes of one warp that wait for each other: locks, flags on both sides of a branch, loops in
 * loops, and what the whole warp does behind them; instructions that name lanes which come another
 * way. Step by step and as a whole grid.
 */
#include "exec_threads.h"

#define THREADS	MAX_THREADS

/* What %d2 points to. */
static uint32_t memory[16];

static void clear(struct run *run, struct given *given)
{
	memset(memory, 0, sizeof(memory));
}

static void check(const char *text, uint32_t threads, uint32_t (*expect)(uint32_t thread))
{
	check_threads(text, (struct given){ threads, (uintptr_t)memory, clear }, expect);
}

/* All lanes of two warps want one lock, which each holds while it adds one. */
#define LOCKED \
	"LOCK: atom.global.cas.b32 %r1, [%d2], 0, 1;\nsetp.ne.u32 %p1, %r1, 0;\n@%p1 bra LOCK;\n" \
	"ld.volatile.global.u32 %r2, [%d2+4];\nadd.u32 %r2, %r2, 1;\n" \
	"st.volatile.global.u32 [%d2+4], %r2;\natom.global.exch.b32 %r3, [%d2], 0;\n"
static uint32_t expect_lock(uint32_t t)
{
	return 17;
}
static void lock(void **state)
{
	check(HEAD KERNEL LOCKED "mov.u32 %r4, 17;\n" STORE("%r4"), THREADS, expect_lock);
	assert_int_equal(memory[1], THREADS);
}

/* Behind the lock the warp is one again: each lane has its neighbour's number, all are counted. */
static uint32_t expect_after(uint32_t t)
{
	return (t ^ 1) * 1000 + 32 + THREADS;
}
static void after(void **state)
{
	check(HEAD KERNEL LOCKED
	      "shfl.sync.bfly.b32 %r4, %r0, 1, 31, -1;\nvote.sync.ballot.b32 %r5, 1, -1;\n"
	      "popc.b32 %r5, %r5;\nmad.lo.u32 %r4, %r4, 1000, %r5;\nbar.sync 0;\n"
	      "ld.volatile.global.u32 %r6, [%d2+4];\nadd.u32 %r4, %r4, %r6;\n" STORE("%r4"),
	      THREADS, expect_after);
}

/* One lane waits for what another stores on the other side of a branch, each side first once. */
static uint32_t expect_flag(uint32_t t)
{
	return t + 5;
}
#define FLAG(first, second) \
	"setp.eq.u32 %p1, %r0, 3;\n@%p1 bra A;\n" first "bra JOIN;\nA:\n" second "JOIN:\n"
#define WAIT(name) \
	name ": ld.volatile.global.u32 %r2, [%d2];\nsetp.eq.u32 %p2, %r2, 0;\n@%p2 bra " name ";\n"
#define SET	"st.volatile.global.u32 [%d2], 5;\nmov.u32 %r2, 5;\n"
static void flag(void **state)
{
	check(HEAD KERNEL FLAG(WAIT("W"), SET) "add.u32 %r2, %r2, %r0;\n" STORE("%r2"), 32,
	      expect_flag);
	check(HEAD KERNEL FLAG(SET, WAIT("W")) "add.u32 %r2, %r2, %r0;\n" STORE("%r2"), 32,
	      expect_flag);
}

/* Lanes wait in turn, each for the one before it, in a loop in a loop. */
static uint32_t expect_turns(uint32_t t)
{
	return 3 * 32;
}
static void turns(void **state)
{
	check(HEAD KERNEL "mov.u32 %r5, 0;\nROUND:\nmad.lo.u32 %r6, %r5, 32, %r0;\n"
	      "W: ld.volatile.global.u32 %r2, [%d2];\nsetp.ne.u32 %p2, %r2, %r6;\n@%p2 bra W;\n"
	      "add.u32 %r2, %r2, 1;\nst.volatile.global.u32 [%d2], %r2;\n"
	      "add.u32 %r5, %r5, 1;\nsetp.lt.u32 %p3, %r5, 3;\n@%p3 bra ROUND;\n"
	      "bar.warp.sync -1;\nld.volatile.global.u32 %r7, [%d2];\n" STORE("%r7"), 32,
	      expect_turns);
}

/*
 * As in turns(), but a round of waiting looks 8, 40 or 100 times, in a loop of its own or in
 * one with it.
 */
static uint32_t expect_looks(uint32_t t)
{
	return 32;
}
#define LOOK(times) \
	"mov.u32 %r5, 0;\nmov.u32 %r6, 0;\n" \
	"LOOK: ld.volatile.global.u32 %r2, [%d2];\nadd.u32 %r6, %r6, %r2;\n" \
	"add.u32 %r5, %r5, 1;\nsetp.lt.u32 %p1, %r5, " times ";\n"
#define LOOKED \
	"add.u32 %r2, %r0, 1;\nst.volatile.global.u32 [%d2], %r2;\n" \
	"bar.warp.sync -1;\nld.volatile.global.u32 %r7, [%d2];\n"
#define LOOKS(times) \
	HEAD KERNEL "mul.lo.u32 %r8, %r0, " times ";\nWAIT:\n" LOOK(times) "@%p1 bra LOOK;\n" \
	"setp.ne.u32 %p2, %r6, %r8;\n@%p2 bra WAIT;\n" LOOKED STORE("%r7")
static void looks(void **state)
{
	check(LOOKS("8"), 32, expect_looks);
	check(LOOKS("40"), 32, expect_looks);
	/* Five rounds are as many instructions as a warp executes until another one's turn. */
	check(LOOKS("100"), 32, expect_looks);
	check(HEAD KERNEL "mul.lo.u32 %r8, %r0, 8;\n" LOOK("8") "@%p1 bra LOOK;\n"
	      "setp.ne.u32 %p2, %r6, %r8;\nmov.u32 %r5, 0;\nmov.u32 %r6, 0;\n@%p2 bra LOOK;\n"
	      LOOKED STORE("%r7"), 32, expect_looks);
}

/* The inner loop's lanes leave it one after the other, so each of its ways back has other lanes. */
static void apart(void **state)
{
	check(HEAD KERNEL "add.u32 %r9, %r0, 1;\nWAIT:\n"
	      "mov.u32 %r5, 0;\n"
	      "LOOK: ld.volatile.global.u32 %r2, [%d2];\nadd.u32 %r5, %r5, 1;\n"
	      "setp.lt.u32 %p1, %r5, %r9;\n@%p1 bra LOOK;\n"
	      "setp.ne.u32 %p2, %r2, %r0;\n@%p2 bra WAIT;\n" LOOKED STORE("%r7"), 32,
	      expect_looks);
}

/* The fourth lane stores on its side of a branch, the others read on theirs: one barrier, each first. */
static uint32_t expect_produced(uint32_t t)
{
	return t == 3 ? 1 : 5;
}
#define PRODUCED \
	"st.volatile.global.u32 [%d2], 5;\nbar.warp.sync -1;\nmov.u32 %r2, 1;\n"
#define TAKEN	"bar.warp.sync -1;\nld.volatile.global.u32 %r2, [%d2];\n"
static void produced(void **state)
{
	/* FLAG's second side is the fourth lane's. */
	check(HEAD KERNEL FLAG(TAKEN, PRODUCED) STORE("%r2"), 32, expect_produced);
	check(HEAD KERNEL "setp.ne.u32 %p1, %r0, 3;\n@%p1 bra A;\n" PRODUCED "bra JOIN;\nA:\n" TAKEN
	      "JOIN:\n" STORE("%r2"), 32, expect_produced);
}

/* Sixteen lanes and sixteen pass five pairs of barriers, each on its side: a number goes to and fro. */
static uint32_t expect_pairs(uint32_t t)
{
	return t < 16 ? 100 : 10;
}
#define ROUNDS(name, body) \
	"mov.u32 %r5, 0;\nmov.u32 %r6, 0;\n" name ":\n" body \
	"add.u32 %r5, %r5, 1;\nsetp.lt.u32 %p3, %r5, 5;\n@%p3 bra " name ";\n"
static void pairs(void **state)
{
	check(HEAD KERNEL "mov.u32 %r8, -1;\nsetp.ge.u32 %p1, %r0, 16;\n@%p1 bra TAKE;\n"
	      ROUNDS("G", "setp.eq.u32 %p2, %r0, 0;\n@%p2 st.volatile.global.u32 [%d2], %r5;\n"
		     "bar.warp.sync %r8;\nbar.warp.sync -1;\nld.volatile.global.u32 %r7, [%d2];\n"
		     "add.u32 %r6, %r6, %r7;\n")
	      "bra JOIN;\nTAKE:\n"
	      ROUNDS("T", "bar.warp.sync -1;\nld.volatile.global.u32 %r7, [%d2];\n"
		     "add.u32 %r6, %r6, %r7;\nmul.lo.u32 %r7, %r7, 10;\nsetp.eq.u32 %p2, %r0, 16;\n"
		     "@%p2 st.volatile.global.u32 [%d2], %r7;\nbar.warp.sync %r8;\n")
	      "JOIN:\n" STORE("%r6"), 32, expect_pairs);
}

/* Each side of a branch shuffles, votes and matches: it is one instruction, with what all bring. */
static uint32_t expect_sides(uint32_t t)
{
	uint32_t lane = t & 31, other = lane ^ 16, v = other < 16 ? other + 100 : 2 * other;

	return v + (lane < 16 ? 8 : 16) * 1000 + 32 * 100000;
}
#define SIDE(value, voter, shuffled, count) \
	value "setp.lt.u32 %p2, %r0, " voter ";\nmov.b32 %r9, -1;\n" \
	"shfl.sync.bfly.b32 " shuffled ", %r1, 16, 31, -1;\n" \
	"vote.sync.ballot.b32 %r3, %p2, %r9;\npopc.b32 %r3, %r3;\n" count \
	"match.any.sync.b32 %r4, %r9, -1;\npopc.b32 %r4, %r4;\n"
static void sides(void **state)
{
	check(HEAD KERNEL "setp.ge.u32 %p1, %r0, 16;\n@%p1 bra HIGH;\n"
	      SIDE("add.u32 %r1, %r0, 100;\n", "8", "%r2", "mul.lo.u32 %r5, %r3, 1;\n")
	      "bra JOIN;\nHIGH:\n"
	      SIDE("shl.b32 %r1, %r0, 1;\n", "0", "%r1", "shl.b32 %r5, %r3, 1;\n")
	      "mov.u32 %r2, %r1;\n"
	      "JOIN:\nmad.lo.u32 %r2, %r5, 1000, %r2;\nmad.lo.u32 %r2, %r4, 100000, %r2;\n"
	      STORE("%r2"), 32, expect_sides);
}

/* `a || b` by branches: lanes come to the shuffle two ways, others never do, and their mask says so. */
static uint32_t expect_ways(uint32_t t)
{
	return t % 3 == 0 || t % 8 > 5 ? 278 : 7;
}
static void ways(void **state)
{
	check(HEAD KERNEL "mov.u32 %r2, 7;\nrem.u32 %r3, %r0, 3;\nsetp.eq.u32 %p1, %r3, 0;\n"
	      "and.b32 %r4, %r0, 7;\nsetp.gt.u32 %p2, %r4, 5;\nor.pred %p3, %p1, %p2;\n"
	      "vote.sync.ballot.b32 %r5, %p3, -1;\n@%p1 bra BODY;\nadd.u32 %r8, %r0, 3;\n"
	      "@!%p2 bra JOIN;\nBODY:\nadd.u32 %r6, %r0, 1;\nmov.u32 %r2, 0;\nmov.b32 %r7, %r5;\n"
	      "NEXT:\nbrev.b32 %r8, %r7;\nclz.b32 %r8, %r8;\n"
	      "shfl.sync.idx.b32 %r9, %r6, %r8, 31, %r5;\nadd.u32 %r2, %r2, %r9;\n"
	      "sub.u32 %r9, %r7, 1;\nand.b32 %r7, %r7, %r9;\nsetp.ne.u32 %p4, %r7, 0;\n"
	      "@%p4 bra NEXT;\nJOIN:\n" STORE("%r2"), 32, expect_ways);
}

/* The rest waits behind the branch for those whose barrier names it: it goes on to its own. */
static uint32_t expect_behind(uint32_t t)
{
	return t < 4 ? 9 : t;
}
static void behind(void **state)
{
	check(HEAD KERNEL "mov.u32 %r2, %r0;\nsetp.ge.u32 %p1, %r0, 4;\n@%p1 bra BEHIND;\n"
	      "bar.warp.sync -1;\nld.volatile.global.u32 %r2, [%d2];\nBEHIND:\n"
	      "@%p1 st.volatile.global.u32 [%d2], 9;\nadd.u32 %r3, %r0, 1;\nbar.warp.sync -1;\n"
	      STORE("%r2"), 32, expect_behind);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(lock),
		cmocka_unit_test(after),
		cmocka_unit_test(flag),
		cmocka_unit_test(turns),
		cmocka_unit_test(looks),
		cmocka_unit_test(apart),
		cmocka_unit_test(produced),
		cmocka_unit_test(pairs),
		cmocka_unit_test(sides),
		cmocka_unit_test(ways),
		cmocka_unit_test(behind),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
