// SPDX-License-Identifier: GPL-2.0
/*
 * A launch as the SMs see it: every instruction with its unit, latency and
 * registers in one dense array, and how many CTAs fit an SM. Made once a
 * launch, read by all SMs.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "sm/state.h"

/*
 * The threads of all SMs together have that much local memory. It is the
 * engine's own memory, and a client names the size.
 */
#define LOCAL_MAX	(2ull << 30)

struct timing {
	uint8_t unit;
	uint16_t latency, initiation;
};

/*
 * Routing as GPGPU-Sim's GTX480: divisions and special functions go to the
 * SFU, f64 as well where there are no DP units, memory and fences to the load/store
 * unit, everything else, branches and integers, to the SPs.
 */
static struct timing timing_of(const struct gpu_spec *s, enum ptx_class cls)
{
	const uint8_t dp = s->units_dp ? UNIT_DP : UNIT_SFU;

	switch (cls) {
#define ROW(cls, unit, row)							\
	case PTX_CLASS_##cls:							\
		return (struct timing){ unit, (uint16_t)s->lat_##row,		\
					(uint16_t)s->ini_##row };
	ROW(INT_ADD, UNIT_SP, int_add)
	ROW(INT_MINMAX, UNIT_SP, int_minmax)
	ROW(INT_MUL, UNIT_SP, int_mul)
	ROW(INT_MAD, UNIT_SP, int_mad)
	ROW(INT_DIV, UNIT_SFU, int_div)
	ROW(F32_ADD, UNIT_SP, f32_add)
	ROW(F32_MINMAX, UNIT_SP, f32_minmax)
	ROW(F32_FMA, UNIT_SP, f32_fma)
	ROW(F32_DIV, UNIT_SFU, f32_div)
	ROW(F64_ADD, dp, f64_add)
	ROW(F64_MINMAX, dp, f64_minmax)
	ROW(F64_DIV, dp, f64_div)
	ROW(SFU, UNIT_SFU, sfu)
	ROW(SHUFFLE, UNIT_SP, shuffle)
#undef ROW
	case PTX_CLASS_MEMORY:
		return (struct timing){ UNIT_LDST, 1, 1 };
	case PTX_CLASS_MOVE:
	case PTX_CLASS_BARRIER:
	case PTX_CLASS_EXIT:
	case PTX_CLASS_CALL:
	case PTX_CLASSES:
		break;
	}
	return (struct timing){ UNIT_SP, (uint16_t)s->lat_move, (uint16_t)s->ini_move };
}

static bool is_integer(uint8_t type)
{
	return type < PTX_F16 || type > PTX_F64;
}

/* A cvt of integers, of integers to f32 and between f32 and halves is a move. */
static bool converts(const struct ptx_insn *insn)
{
	uint8_t from = insn->stype ? insn->stype : insn->type;

	if (insn->opcode != PTX_OP_cvt)
		return true;
	return (is_integer(insn->type) && !is_integer(from)) || insn->type == PTX_F64 ||
	       from == PTX_F64;
}

static struct timing timing_of_f64_root(const struct gpu_spec *s)
{
	return (struct timing){ s->units_dp ? UNIT_DP : UNIT_SFU, (uint16_t)s->lat_f64_root,
				(uint16_t)s->ini_f64_root };
}

/* Finds the unit and times of an instruction that its class alone does not tell. */
static struct timing timing(const struct gpu_spec *s, const struct ptx_insn *insn)
{
	struct timing t = timing_of(s, insn->cls);

#define TIMES(row)								\
	(t.latency = (uint16_t)s->lat_##row, t.initiation = (uint16_t)s->ini_##row)
	switch (insn->opcode) {
	case PTX_OP_membar:
	case PTX_OP_fence:
		return (struct timing){ UNIT_LDST, 1, 1 };
	/* They take one cycle more than mul and mad (GPGPU-Sim, cuda-sim). */
	case PTX_OP_mul24:
	case PTX_OP_mad24:
		t.latency++;
		t.initiation++;
		break;
	case PTX_OP_mul:
		if (insn->cls == PTX_CLASS_F32_ADD)
			TIMES(f32_mul);
		else if (insn->cls == PTX_CLASS_F64_ADD)
			TIMES(f64_mul);
		break;
	case PTX_OP_fma:
	case PTX_OP_mad:
		if (insn->cls == PTX_CLASS_F64_ADD)
			TIMES(f64_fma);
		break;
	case PTX_OP_sqrt:
	case PTX_OP_rcp:
		if (!insn->rnd)
			break;
		if (insn->type == PTX_F32 && s->lat_f32_root)
			TIMES(f32_root);
		else if (insn->type == PTX_F64 && s->lat_f64_root)
			return timing_of_f64_root(s);
		break;
	case PTX_OP_cvt:
	case PTX_OP_popc:
	case PTX_OP_clz:
	case PTX_OP_bfind:
	case PTX_OP_brev:
		if (s->lat_convert && converts(insn))
			return (struct timing){ UNIT_SFU, (uint16_t)s->lat_convert,
						(uint16_t)s->ini_convert };
		break;
	default:
		break;
	}
#undef TIMES
	return t;
}

/*
 * Scoreboard slots: the physical 32-bit registers, a pair's both, then the
 * predicates. Physical as in hardware: two values in one register must not be
 * under way at a time, whichever virtual registers they are. A kernel without
 * an allocation has a slot a register.
 */
struct slots {
	const struct ptx_kernel *ptx;
	uint32_t regs, preds;
};

static struct slots slots_of(const struct ptx_kernel *ptx)
{
	struct slots s = { ptx, 0, 0 };

	if (!ptx->phys)
		s.regs = ptx->nregs;
	for (uint32_t i = 0; ptx->phys && i < ptx->nregs; i++) {
		unsigned int bytes = ptx_type_bytes(ptx->regs[i].type);

		if (ptx->phys[i] == PTX_NO_REG)
			continue;
		if (ptx->regs[i].type == PTX_PRED)
			s.preds = MAX(s.preds, ptx->phys[i] + 1);
		else
			s.regs = MAX(s.regs, ptx->phys[i] + (bytes > 4 ? 2 : 1));
	}
	return s;
}

static void add_slots(struct sm_kernel *k, const struct slots *s, uint32_t reg)
{
	uint32_t phys = s->ptx->phys ? s->ptx->phys[reg] : reg;

	/* Never live: nobody waits for it. */
	if (phys == PTX_NO_REG)
		return;
	if (s->ptx->phys && s->ptx->regs[reg].type == PTX_PRED)
		phys += s->regs;
	k->slots[k->nslots++] = (uint16_t)phys;
	if (s->ptx->phys && ptx_type_bytes(s->ptx->regs[reg].type) > 4)
		k->slots[k->nslots++] = (uint16_t)(phys + 1);
}

/*
 * A register's number for the banks. The machine that is modelled runs PTX as it is
 * written, so it is the number in the register's name; one without is its index.
 */
static uint16_t bank_number(const struct sm_kernel *k, const struct ptx_kernel *ptx, uint32_t reg)
{
	const char *name = ptx->regs[reg].name;
	/* Equal modulo this is equal modulo the banks, and fits. */
	uint32_t most = (uint32_t)k->spec->register_banks * 512, n = 0;

	while (name && *name && (*name < '0' || *name > '9'))
		name++;
	if (!name || !*name)
		return (uint16_t)(reg % most);
	for (; *name >= '0' && *name <= '9'; name++)
		n = (n * 10 + (uint32_t)(*name - '0')) % most;
	return (uint16_t)n;
}

/* The numbers of the distinct sources, then of the results. Guards do not go through the banks. */
static void add_banks(struct sm_kernel *k, struct sm_op *op, const struct ptx_kernel *ptx,
		      const struct ptx_insn *insn, const struct exec_info *info)
{
	bool guarded = insn && insn->guard != PTX_NO_REG;

	op->banks = k->nbanks;
	for (unsigned int i = 0; i < info->nread; i++) {
		uint16_t n = bank_number(k, ptx, info->read[i]);
		bool known = false;

		/* exec lists the guard first. */
		if (guarded && i == 0)
			continue;
		for (uint32_t j = op->banks; j < k->nbanks; j++)
			known |= k->banks[j] == n;
		if (!known)
			k->banks[k->nbanks++] = n;
	}
	op->nsource = (uint8_t)(k->nbanks - op->banks);
	for (unsigned int i = 0; i < info->nwrite; i++)
		k->banks[k->nbanks++] = bank_number(k, ptx, info->write[i]);
	op->nresult = info->nwrite;
	for (unsigned int i = 0; i < (unsigned int)op->nsource + op->nresult; i++) {
		uint64_t bank = 1ull << k->banks[op->banks + i] % k->spec->register_banks;

		if (i >= op->nsource) {
			op->bank_results |= bank;
			continue;
		}
		op->bank_more |= op->bank_need & bank;
		op->bank_need |= bank;
	}
}

/* Registers of two types may have one number for the banks; here each counts. */
static uint8_t distinct_reads(const struct ptx_insn *insn, const struct exec_info *info)
{
	unsigned int first = insn && insn->guard != PTX_NO_REG, n = 0;

	for (unsigned int i = first; i < info->nread; i++) {
		bool known = false;

		for (unsigned int j = first; j < i; j++)
			known |= info->read[j] == info->read[i];
		n += !known;
	}
	return (uint8_t)n;
}

static int make_room(struct sm_kernel *k)
{
	if (array_reserve(k->slots, k->slot_room, k->nslots + 4ull * EXEC_MAX_REGS) ||
	    array_reserve(k->banks, k->bank_room, k->nbanks + 2ull * EXEC_MAX_REGS))
		return -ENOMEM;
	return 0;
}

static int op_init(struct sm_kernel *k, uint32_t pc, const struct slots *slots)
{
	static const struct exec_info end_info = { .cls = PTX_CLASS_EXIT };
	static const struct ptx_insn end = { .cls = PTX_CLASS_EXIT, .opcode = PTX_OP_exit,
					     .guard = PTX_NO_REG };
	const struct ptx_insn *insn = pc == k->nops ? &end : &slots->ptx->insns[pc];
	const struct exec_info *info = pc == k->nops ? &end_info :
				       exec_program_info(k->launch->program, pc);
	struct timing t = timing(k->spec, insn);
	struct sm_op *op = &k->ops[pc];
	int ret = make_room(k);

	if (ret)
		return ret;
	*op = (struct sm_op){
		.pc = pc,
		.unit = t.unit, .latency = t.latency, .initiation = t.initiation,
		.space = info->space,
		.memory = info->cls == PTX_CLASS_MEMORY,
		.store = info->is_store, .atomic = info->is_atomic,
		.fence = insn->opcode == PTX_OP_membar || insn->opcode == PTX_OP_fence,
		.slots = k->nslots,
	};
	op->specifier = insn->opcode == PTX_OP_pmevent && insn->mods & PTX_MOD_PHASE;
	op->is_long = op->memory && !op->store && info->space != PTX_SPACE_SHARED &&
		      info->space != PTX_SPACE_CONST;
	op->cached = (op->is_long && info->space != PTX_SPACE_TEXTURE) ||
		     (op->store && info->space != PTX_SPACE_SHARED);
	op->ordered = op->atomic || op->fence || info->cls == PTX_CLASS_BARRIER ||
		      info->cls == PTX_CLASS_EXIT ||
		      (op->memory && insn->mods & PTX_MOD_ORDERS);
	for (unsigned int i = 0; i < info->nwrite; i++)
		add_slots(k, slots, info->write[i]);
	op->nwrite = (uint16_t)(k->nslots - op->slots);
	for (unsigned int i = 0; i < info->nread; i++)
		add_slots(k, slots, info->read[i]);
	op->ncheck = (uint16_t)(k->nslots - op->slots);
	for (unsigned int i = 0; k->words == 1 && i < op->ncheck; i++) {
		uint64_t bit = 1ull << k->slots[op->slots + i];

		op->check_mask |= bit;
		op->write_mask |= i < op->nwrite ? bit : 0;
	}
	add_banks(k, op, slots->ptx, insn, info);
	op->nread = distinct_reads(insn, info);
	return 0;
}

/* There is one op more, because a kernel without a last ret ends behind its last instruction. */
static int ops_init(struct sm_kernel *k, const struct slots *slots)
{
	int ret = 0;

	k->ops = calloc(k->nops + 1, sizeof(*k->ops));
	if (!k->ops)
		return -ENOMEM;
	for (uint32_t i = 0; !ret && i <= k->nops; i++)
		ret = op_init(k, i, slots);
	k->decodable = k->nops;
	if (!k->nops || slots->ptx->insns[k->nops - 1].cls != PTX_CLASS_EXIT ||
	    slots->ptx->insns[k->nops - 1].guard != PTX_NO_REG)
		k->decodable++;
	return ret;
}

/*
 * A module's kernels are behind one another; this may be a copy of one. Bytes from the first
 * instruction of the first.
 */
static uint64_t code_offset(const struct ptx_kernel *ptx)
{
	uint64_t insns = 0;
	const struct ptx_kernel *k = ptx_module_kernel_at(ptx->owner, 0);

	for (unsigned int i = 1; k && k->insns != ptx->insns; i++) {
		insns += k->ninsns;
		k = ptx_module_kernel_at(ptx->owner, i);
	}
	return insns * CODE_BYTES;
}

/* The bytes of addresses of `places` CTAs on each SM: words of 4 bytes, interleaved by thread. */
static uint64_t local_region(const struct gpu_spec *s, const struct sm_kernel *k)
{
	uint64_t words = DIV_ROUND_UP(k->local_bytes / k->threads, 4);

	return words * k->warps_per_cta * MEM_LINE * k->places * s->sms;
}

/* Gives the device addresses that local memory takes. More CTAs have regions of their own. */
static uint64_t local_span(const struct gpu_spec *s, const struct sm_kernel *k)
{
	return k->local_region * DIV_ROUND_UP(k->resident, k->places);
}

/* CTAs that one limit allows; `each` is 0 where the kernel needs nothing of it. */
static uint64_t limit(uint64_t have, uint64_t each)
{
	return each ? have / each : UINT64_MAX;
}

static int occupancy(const struct gpu_spec *s, struct sm_kernel *k,
		     uint32_t regs_per_thread, struct err *err)
{
	uint64_t unit = s->occupancy_reg_unit;
	uint64_t regs = DIV_ROUND_UP((uint64_t)regs_per_thread, unit) * unit *
			k->warps_per_cta * WARP_LANES;
	const struct sm_mechanism *m = sm_mechanism_find(s->cta);
	unsigned int warps, ctas, warp_slots, cta_slots;
	uint64_t n, all;

	sm_slots(s, &warp_slots, &cta_slots);
	if (k->warps_per_cta > warp_slots)
		return err_set(err, -EINVAL,
			       "a CTA of %u threads needs %u warp slots, an SM has %u (sm.warps)",
			       k->threads, k->warps_per_cta, warp_slots);
	if (k->shared_taken > s->shared_bytes)
		return err_set(err, -EINVAL,
			       "a CTA needs %u bytes of shared memory, an SM has %llu (sm.shared)",
			       k->shared_taken, (unsigned long long)s->shared_bytes);
	if (regs > s->registers)
		return err_set(err, -EINVAL,
			       "a CTA needs %llu registers, %u a thread, of %llu (sm.registers)",
			       (unsigned long long)regs, regs_per_thread,
			       (unsigned long long)s->registers);
	sm_numbers(s, &warps, &ctas);
	all = MIN(ctas, limit(warps, k->warps_per_cta));
	all = MIN(all, limit(s->shared_bytes, k->shared_taken));
	all = MIN(all, limit(s->registers, regs));
	n = MIN(cta_slots, limit(warp_slots, k->warps_per_cta));
	n = MIN(n, all);
	/* CTAs that are outside have numbers, too. */
	if (!strcmp(s->cta, "vt"))
		all = MIN(all + s->vt_oversubscribe, MIN(ctas, limit(warps, k->warps_per_cta)));
	k->registers = (uint32_t)regs;
	k->ctas = (uint32_t)n;
	k->places = (uint32_t)all;
	/* Where warps take registers and shared memory one by one, only numbers limit CTAs. */
	n = m && m->by_warp ? MIN(ctas, limit(warps, k->warps_per_cta)) : all;
	k->resident = (uint32_t)n;
	k->local_region = local_region(s, k);
	if (k->local_bytes * n * s->sms > LOCAL_MAX)
		return err_set(err, -ENOMEM,
			       "local memory of %llu bytes a thread would be %llu MiB on all "
			       "SMs, of %llu",
			       (unsigned long long)(k->local_bytes / k->threads),
			       (unsigned long long)(k->local_bytes * n * s->sms >> 20),
			       LOCAL_MAX >> 20);
	/* Few lanes of a warp may use it, all have addresses. */
	if (local_span(s, k) > MEM_LOCAL_BYTES)
		return err_set(err, -ENOMEM,
			       "local memory of %llu bytes a thread takes %llu GiB of addresses on "
			       "all SMs, of %llu",
			       (unsigned long long)(k->local_bytes / k->threads),
			       (unsigned long long)(local_span(s, k) >> 30),
			       MEM_LOCAL_BYTES >> 30);
	return 0;
}

/* --- phases -------------------------------------------------------------------- */

static uint64_t sets_of(const struct ptx_kernel *ptx, const uint16_t *regs, unsigned int n)
{
	uint64_t sets = 0;

	for (unsigned int i = 0; i < n; i++) {
		uint32_t phys = ptx->phys[regs[i]];

		if (phys == PTX_NO_REG || ptx->regs[regs[i]].type == PTX_PRED)
			continue;
		sets |= 1ull << phys / PTX_SET_REGS;
		if (ptx_type_bytes(ptx->regs[regs[i]].type) > 4)
			sets |= 1ull << (phys + 1) / PTX_SET_REGS;
	}
	return sets;
}

/*
 * The mapping table of registers is looked up in a stage before a unit's others, which every
 * instruction goes through: one without registers does not overtake, and ends in no other's cycle.
 * The load/store unit's instructions have no latency here.
 */
static int phases_init(struct sm_kernel *k, const struct ptx_kernel *ptx)
{
	k->sets_read = calloc(k->nops + 1, sizeof(*k->sets_read));
	k->sets_written = calloc(k->nops + 1, sizeof(*k->sets_written));
	k->phase_of = malloc((k->nops + 1) * sizeof(*k->phase_of));
	if (!k->sets_read || !k->sets_written || !k->phase_of)
		return -ENOMEM;
	for (uint32_t pc = 0; pc <= k->nops; pc++)
		k->phase_of[pc] = UINT32_MAX;
	for (uint32_t pc = 0; pc < k->nops; pc++) {
		const struct exec_info *info = exec_program_info(k->launch->program, pc);

		k->sets_read[pc] = sets_of(ptx, info->read, info->nread);
		k->sets_written[pc] = sets_of(ptx, info->write, info->nwrite);
		if (k->ops[pc].unit != UNIT_LDST)
			k->ops[pc].latency += (uint16_t)k->spec->zorua_lookup;
	}
	for (uint32_t i = 0; i < ptx->nphases; i++) {
		uint32_t at = ptx->phases[i].insn;

		/* No need changes at a quiet phase's begin. */
		if (i && ptx->phases[i].quiet)
			continue;
		/* A specifier that the decoder takes holds no warp up; the instruction behind it does. */
		k->ops[at].decoded = k->ops[at].specifier &&
				     !strcmp(k->spec->zorua_specifier, "decode");
		at += k->ops[at].decoded;
		k->phase_of[at] = i;
		sm_kernel_set_point(k, at);
	}
	return 0;
}

enum ptx_phases sm_phases(const struct gpu_spec *spec)
{
	const struct sm_mechanism *m = sm_mechanism_find(spec->cta);

	return m && m->phases ? m->phases(spec) : PTX_PHASES_NONE;
}

/* The sets that all slots' warps can have at once. A warp that lent its slot at a barrier is one more. */
uint32_t sm_plenty(const struct gpu_spec *spec)
{
	uint64_t sets = spec->registers / (spec->warps * WARP_LANES * PTX_SET_REGS);

	return strcmp(spec->zorua_phases, "scarce") ? 0 :
	       (uint32_t)MIN(sets * PTX_SET_REGS, PTX_MAX_MAXREGS);
}

int sm_kernel_create(const struct gpu_spec *spec,
		     const struct exec_launch *launch,
		     struct sm_kernel **out, struct err *err)
{
	const struct ptx_kernel *ptx = exec_program_kernel(launch->program);
	struct slots slots = slots_of(ptx);
	struct sm_kernel *k = calloc(1, sizeof(*k));
	uint32_t regs = spec->occupancy_regs ? (uint32_t)spec->occupancy_regs :
					       ptx->regs_per_thread;
	int ret;

	if (!k)
		return err_set(err, -ENOMEM, "out of memory");
	k->launch = launch;
	k->spec = spec;
	sm_kernel_set_module(k, MEM_CODE, MEM_CONST_BASE);
	sm_kernel_set_slot(k, 0);
	sm_kernel_set_waiting(k, UINT64_MAX);
	k->nops = ptx->ninsns;
	k->threads = launch->block[0] * launch->block[1] * launch->block[2];
	k->warps_per_cta = DIV_ROUND_UP(k->threads, WARP_LANES);
	k->shared_bytes = ptx->shared_bytes + launch->dynamic_shared;
	k->shared_taken = (uint32_t)(DIV_ROUND_UP(k->shared_bytes, spec->occupancy_shared_unit) *
				     spec->occupancy_shared_unit);
	k->local_bytes = (uint64_t)ptx->local_bytes * k->threads;
	k->arena_bytes = exec_program_arena_bytes(launch->program);
	k->register_slots = slots.regs;
	k->words = DIV_ROUND_UP(MAX(slots.regs + slots.preds, 1u), 64);
	ret = occupancy(spec, k, regs, err);
	if (!ret && (ops_init(k, &slots) || (ptx->phases && phases_init(k, ptx))))
		ret = err_set(err, -ENOMEM, "out of memory");
	if (ret) {
		sm_kernel_destroy(k);
		return ret;
	}
	*out = k;
	return 0;
}

void sm_kernel_destroy(struct sm_kernel *k)
{
	if (!k)
		return;
	free(k->ops);
	free(k->slots);
	free(k->banks);
	free(k->sets_read);
	free(k->sets_written);
	free(k->phase_of);
	free(k);
}

void sm_kernel_set_module(struct sm_kernel *k, uint64_t code, uint64_t constants)
{
	k->code = code + code_offset(exec_program_kernel(k->launch->program));
	k->constants = constants;
}

void sm_kernel_set_slot(struct sm_kernel *k, unsigned int slot)
{
	k->slot = slot % SM_KERNELS;
	k->params = MEM_PARAM_BASE + (uint64_t)k->slot * MEM_PARAM_STEP;
	k->local = MEM_LOCAL_BASE + k->slot * MEM_LOCAL_STEP;
}

void sm_kernel_set_point(struct sm_kernel *k, uint32_t pc)
{
	k->ops[pc].point = true;
}
