// SPDX-License-Identifier: GPL-2.0
/*
 * A launch as the SMs see it: every instruction with its unit, latency and
 * registers in one dense array, and how many CTAs fit an SM. Made once a
 * launch, read by all SMs.
 */
#include <errno.h>
#include <stdlib.h>

#include "sm/internal.h"

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
 * Routing as GPGPU-Sim's GTX480: divisions, special functions and f64 (the
 * configuration has no DP units) go to the SFU, memory to the load/store unit,
 * everything else, branches and integers, to the SPs.
 */
static struct timing timing_of(const struct gpu_spec *s, enum ptx_class cls)
{
	switch (cls) {
#define SP(latency, initiation) { UNIT_SP, (uint16_t)(latency), (uint16_t)(initiation) }
#define SFU(latency, initiation) { UNIT_SFU, (uint16_t)(latency), (uint16_t)(initiation) }
	case PTX_CLASS_INT_ADD:
		return (struct timing)SP(s->lat_int_add, 1);
	case PTX_CLASS_INT_MINMAX:
		return (struct timing)SP(s->lat_int_minmax, s->ini_int_mul);
	case PTX_CLASS_INT_MUL:
		return (struct timing)SP(s->lat_int_mul, s->ini_int_mul);
	case PTX_CLASS_INT_MAD:
		return (struct timing)SP(s->lat_int_mad, 1);
	case PTX_CLASS_INT_DIV:
		return (struct timing)SFU(s->lat_int_div, s->ini_int_div);
	case PTX_CLASS_F32_ADD:
		return (struct timing)SP(s->lat_f32_add, 1);
	case PTX_CLASS_F32_MINMAX:
		return (struct timing)SP(s->lat_f32_minmax, s->ini_f32_minmax);
	case PTX_CLASS_F32_FMA:
		return (struct timing)SP(s->lat_f32_fma, 1);
	case PTX_CLASS_F32_DIV:
		return (struct timing)SFU(s->lat_f32_div, s->ini_f32_div);
	case PTX_CLASS_F64_ADD:
		return (struct timing)SFU(s->lat_f64_add, s->ini_f64);
	case PTX_CLASS_F64_MINMAX:
		return (struct timing)SFU(s->lat_f64_minmax, s->ini_f64_minmax);
	case PTX_CLASS_F64_DIV:
		return (struct timing)SFU(s->lat_f64_div, s->ini_f64_div);
	case PTX_CLASS_SFU:
		return (struct timing)SFU(s->lat_sfu, s->ini_sfu);
	case PTX_CLASS_SHUFFLE:
		return (struct timing)SP(s->lat_shuffle, s->ini_shuffle);
	case PTX_CLASS_MEMORY:
		return (struct timing){ UNIT_MEM, (uint16_t)s->lat_param, 1 };
	case PTX_CLASS_MOVE:
	case PTX_CLASS_BARRIER:
	case PTX_CLASS_EXIT:
	case PTX_CLASS_CALL:
	case PTX_CLASSES:
		break;
#undef SP
#undef SFU
	}
	return (struct timing){ UNIT_SP, (uint16_t)s->lat_move, 1 };
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

static int op_init(struct sm_kernel *k, struct sm_op *op, const struct gpu_spec *spec,
		   const struct slots *slots, const struct exec_info *info)
{
	struct timing t = timing_of(spec, info->cls);

	if (k->slot_room - k->nslots < 4 * EXEC_MAX_REGS) {
		uint32_t room = 2 * k->slot_room + 4 * EXEC_MAX_REGS;
		uint16_t *bigger = realloc(k->slots, room * sizeof(*bigger));

		if (!bigger)
			return -ENOMEM;
		k->slots = bigger;
		k->slot_room = room;
	}
	*op = (struct sm_op){
		.unit = t.unit, .latency = t.latency, .initiation = t.initiation,
		.space = info->space,
		.memory = info->cls == PTX_CLASS_MEMORY,
		.store = info->is_store, .atomic = info->is_atomic,
		.ordered = info->cls == PTX_CLASS_MEMORY ||
			   info->cls == PTX_CLASS_BARRIER ||
			   info->cls == PTX_CLASS_EXIT,
		.results = info->nwrite != 0,
		.slots = k->nslots,
	};
	for (unsigned int i = 0; i < info->nwrite; i++)
		add_slots(k, slots, info->write[i]);
	op->nwrite = (uint16_t)(k->nslots - op->slots);
	for (unsigned int i = 0; i < info->nread; i++)
		add_slots(k, slots, info->read[i]);
	op->ncheck = (uint16_t)(k->nslots - op->slots);
	return 0;
}

/* One more: a kernel without a last ret ends behind its last instruction. */
static int ops_init(struct sm_kernel *k, const struct gpu_spec *spec, const struct slots *slots)
{
	const struct exec_info end = { .cls = PTX_CLASS_EXIT };
	int ret = 0;

	k->ops = calloc(k->nops + 1, sizeof(*k->ops));
	if (!k->ops)
		return -ENOMEM;
	for (uint32_t i = 0; !ret && i <= k->nops; i++)
		ret = op_init(k, &k->ops[i], spec, slots, i == k->nops ? &end :
			      exec_program_info(k->launch->program, i));
	return ret;
}

/* CTAs that one limit allows; `each` is 0 where the kernel needs nothing of it. */
static uint64_t limit(uint64_t have, uint64_t each)
{
	return each ? have / each : UINT64_MAX;
}

static int occupancy(const struct gpu_spec *s, struct sm_kernel *k,
		     uint32_t regs_per_thread, struct err *err)
{
	uint64_t regs = DIV_ROUND_UP((uint64_t)regs_per_thread, REGISTER_UNIT) * REGISTER_UNIT *
			k->warps_per_cta * WARP_LANES;
	uint64_t n = s->ctas;

	if (k->warps_per_cta > s->warps)
		return err_set(err, -EINVAL,
			       "a CTA of %u threads needs %u warp slots, an SM has %llu (sm.warps)",
			       k->threads, k->warps_per_cta, (unsigned long long)s->warps);
	if (k->shared_bytes > s->shared_bytes)
		return err_set(err, -EINVAL,
			       "a CTA needs %u bytes of shared memory, an SM has %llu (sm.shared)",
			       k->shared_bytes, (unsigned long long)s->shared_bytes);
	if (regs > s->registers)
		return err_set(err, -EINVAL,
			       "a CTA needs %llu registers, %u a thread, of %llu (sm.registers)",
			       (unsigned long long)regs, regs_per_thread,
			       (unsigned long long)s->registers);
	n = MIN(n, limit(s->warps, k->warps_per_cta));
	n = MIN(n, limit(s->shared_bytes, k->shared_bytes));
	n = MIN(n, limit(s->registers, regs));
	k->ctas = (uint32_t)n;
	if (k->local_bytes * n * s->sms > LOCAL_MAX)
		return err_set(err, -ENOMEM,
			       "local memory of %llu bytes a thread would be %llu MiB on all "
			       "SMs, of %llu",
			       (unsigned long long)(k->local_bytes / k->threads),
			       (unsigned long long)(k->local_bytes * n * s->sms >> 20),
			       LOCAL_MAX >> 20);
	return 0;
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
	k->nops = ptx->ninsns;
	k->threads = launch->block[0] * launch->block[1] * launch->block[2];
	k->warps_per_cta = DIV_ROUND_UP(k->threads, WARP_LANES);
	k->shared_bytes = ptx->shared_bytes + launch->dynamic_shared;
	k->local_bytes = (uint64_t)ptx->local_bytes * k->threads;
	k->arena_bytes = exec_program_arena_bytes(launch->program);
	k->words = DIV_ROUND_UP(MAX(slots.regs + slots.preds, 1u), 64);
	ret = occupancy(spec, k, regs, err);
	if (!ret && ops_init(k, spec, &slots))
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
	free(k);
}

unsigned int sm_kernel_ctas(const struct sm_kernel *k)
{
	return k->ctas;
}
