// SPDX-License-Identifier: GPL-2.0
/*
 * A launch as the SMs see it: every instruction with its unit, latency and
 * registers in one dense array, and how many CTAs fit an SM. Made once a
 * launch, read by all SMs.
 */
#include <errno.h>
#include <stdlib.h>

#include "sm/internal.h"

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
	case PTX_CLASSES:
		break;
#undef SP
#undef SFU
	}
	return (struct timing){ UNIT_SP, (uint16_t)s->lat_move, 1 };
}

static void op_init(struct sm_op *op, const struct gpu_spec *spec,
		    const struct exec_info *info)
{
	struct timing t = timing_of(spec, info->cls);

	*op = (struct sm_op){
		.unit = t.unit, .latency = t.latency, .initiation = t.initiation,
		.space = info->space,
		.memory = info->cls == PTX_CLASS_MEMORY,
		.store = info->is_store, .atomic = info->is_atomic,
		.ordered = info->cls == PTX_CLASS_MEMORY ||
			   info->cls == PTX_CLASS_BARRIER ||
			   info->cls == PTX_CLASS_EXIT,
		.nwrite = info->nwrite,
	};
	for (unsigned int i = 0; i < info->nwrite; i++) {
		op->write[i] = info->write[i];
		op->check[op->ncheck++] = info->write[i];
	}
	for (unsigned int i = 0; i < info->nread; i++)
		op->check[op->ncheck++] = info->read[i];
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
	return 0;
}

int sm_kernel_create(const struct gpu_spec *spec,
		     const struct exec_launch *launch,
		     struct sm_kernel **out, struct err *err)
{
	const struct ptx_kernel *ptx = exec_program_kernel(launch->program);
	struct sm_kernel *k = calloc(1, sizeof(*k));
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
	k->words = DIV_ROUND_UP(MAX(exec_program_nregs(launch->program), 1u), 64);
	ret = occupancy(spec, k, ptx->regs_per_thread, err);
	if (ret) {
		sm_kernel_destroy(k);
		return ret;
	}
	/* One more: a kernel without a last ret ends behind its last instruction. */
	k->ops = calloc(k->nops + 1, sizeof(*k->ops));
	if (!k->ops) {
		sm_kernel_destroy(k);
		return err_set(err, -ENOMEM, "out of memory");
	}
	for (uint32_t i = 0; i < k->nops; i++)
		op_init(&k->ops[i], spec, exec_program_info(launch->program, i));
	op_init(&k->ops[k->nops], spec, &(struct exec_info){ .cls = PTX_CLASS_EXIT });
	*out = k;
	return 0;
}

void sm_kernel_destroy(struct sm_kernel *k)
{
	if (!k)
		return;
	free(k->ops);
	free(k);
}

unsigned int sm_kernel_ctas(const struct sm_kernel *k)
{
	return k->ctas;
}
