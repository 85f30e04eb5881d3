// SPDX-License-Identifier: GPL-2.0
/* The module's parameters: listed, and set where they can be. */
#include <errno.h>
#include <string.h>

#include "ctl/socket.h"

struct take_params {
	void (*each)(const struct ctl_param *param, void *arg);
	void *arg;
};

static void take_param(struct nlattr **a, void *arg)
{
	struct take_params *take = arg;
	struct ctl_param p = {
		.value = ctl_u32(a[GPUEMU_A_PARAM_VALUE]),
		.min = ctl_u32(a[GPUEMU_A_PARAM_MIN_VALUE]),
		.max = ctl_u32(a[GPUEMU_A_PARAM_MAX_VALUE]),
		.def = ctl_u32(a[GPUEMU_A_PARAM_DEFAULT_VALUE]),
		.settable = a[GPUEMU_A_PARAM_SETTABLE] != NULL,
	};

	ctl_text(a[GPUEMU_A_PARAM_NAME], p.name, sizeof(p.name));
	ctl_text(a[GPUEMU_A_PARAM_DOC], p.doc, sizeof(p.doc));
	take->each(&p, take->arg);
}

int ctl_params(struct ctl *ctl, void (*each)(const struct ctl_param *param, void *arg),
	       void *arg, struct err *err)
{
	struct take_params take = { each, arg };
	struct ctl_request request = {
		.what = "the parameters",
		.msg = ctl_message(ctl, GPUEMU_CMD_PARAM_GET, NLM_F_DUMP),
		.max = GPUEMU_A_PARAM_MAX,
		.each = take_param,
		.arg = &take,
	};

	return ctl_talk(ctl, &request, err);
}

int ctl_param_set(struct ctl *ctl, const char *name, uint32_t value, struct err *err)
{
	char what[64];
	struct ctl_request request = {
		.what = what,
		.msg = ctl_message(ctl, GPUEMU_CMD_PARAM_SET, NLM_F_ACK),
	};

	snprintf(what, sizeof(what), "setting %.32s=%u", name, value);
	if (request.msg && (nla_put_string(request.msg, GPUEMU_A_PARAM_NAME, name) ||
			    nla_put_u32(request.msg, GPUEMU_A_PARAM_VALUE, value))) {
		nlmsg_free(request.msg);
		return err_set(err, -ENOMEM, "no memory");
	}
	return ctl_talk(ctl, &request, err);
}
