// SPDX-License-Identifier: GPL-2.0
/* Types of registers and memory: their names in the text, and their bytes. */
#include "ptx/parser.h"

static const struct {
	const char *name;
	uint8_t bytes;
} types[PTX_TYPES] = {
	[PTX_B8] = { "b8", 1 }, [PTX_B16] = { "b16", 2 },
	[PTX_B32] = { "b32", 4 }, [PTX_B64] = { "b64", 8 },
	[PTX_U8] = { "u8", 1 }, [PTX_U16] = { "u16", 2 },
	[PTX_U32] = { "u32", 4 }, [PTX_U64] = { "u64", 8 },
	[PTX_S8] = { "s8", 1 }, [PTX_S16] = { "s16", 2 },
	[PTX_S32] = { "s32", 4 }, [PTX_S64] = { "s64", 8 },
	[PTX_F16] = { "f16", 2 }, [PTX_F16X2] = { "f16x2", 4 },
	[PTX_BF16] = { "bf16", 2 }, [PTX_BF16X2] = { "bf16x2", 4 },
	[PTX_F32] = { "f32", 4 }, [PTX_F64] = { "f64", 8 },
	[PTX_PRED] = { "pred", 0 },
	[PTX_U16X2] = { "u16x2", 4 }, [PTX_S16X2] = { "s16x2", 4 },
};

unsigned int ptx_type_bytes(enum ptx_type t)
{
	return t < PTX_TYPES ? types[t].bytes : 0;
}

bool parse_type(const struct token *tok, enum ptx_type *type)
{
	unsigned int i;

	for (i = 1; i < PTX_TYPES; i++) {
		if (token_is(tok, types[i].name)) {
			*type = i;
			return true;
		}
	}
	return false;
}
