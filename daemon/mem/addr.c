// SPDX-License-Identifier: GPL-2.0
/*
 * Where an address is: channel, L2 slice, and within them bank and row. Channels
 * take turns every dram.interleave bytes (any number of them); dram.map names the
 * bits of what is left, and the lowest of a bank's bits choose the slice
 * (GPGPU-Sim addrdec: n_sub_partition, gap channels).
 */
#include <errno.h>
#include <string.h>

#include "mem/internal.h"

int addr_map_create(const struct gpu_spec *spec, struct addr_map *map)
{
	size_t bits = strlen(spec->dram_map);
	unsigned int banks = 0, row = 0;

	memset(map, 0, sizeof(*map));
	map->channels = (uint32_t)spec->dram_channels;
	if (spec->l2_slices % spec->dram_channels || !power_of_two(spec->dram_interleave) ||
	    spec->dram_interleave < MEM_LINE || !bits || bits > MAX_MAP_BITS)
		return -EINVAL;
	map->slices = (uint32_t)(spec->l2_slices / spec->dram_channels);
	if (!power_of_two(map->slices) || !power_of_two(spec->dram_banks) ||
	    spec->dram_banks > MAX_BANKS || map->slices > spec->dram_banks)
		return -EINVAL;
	map->interleave_shift = log2_of(spec->dram_interleave);
	map->slice_bits = log2_of(map->slices);
	map->bank_bits = log2_of(spec->dram_banks) - map->slice_bits;
	for (unsigned int i = 0; i < bits; i++) {
		switch (spec->dram_map[bits - 1 - i]) {
		case 'B':
			if (row || banks == map->slice_bits + map->bank_bits)
				return -EINVAL;
			/* A line is in one slice. */
			if (banks < map->slice_bits && 1u << i < MEM_LINE)
				return -EINVAL;
			if (banks < map->slice_bits)
				map->slice_bit[banks] = (uint8_t)i;
			else
				map->bank_bit[banks - map->slice_bits] =
					(uint8_t)(i - map->slice_bits);
			banks++;
			break;
		case 'R':
			row = row ? row : i;
			break;
		case 'C':
		case 'S':
			if (row)
				return -EINVAL;
			break;
		default:
			return -EINVAL;
		}
	}
	if (banks != map->slice_bits + map->bank_bits)
		return -EINVAL;
	map->row_shift = (row ? row : (unsigned int)bits) - map->slice_bits;
	return 0;
}

struct addr_place addr_place(const struct addr_map *map, uint64_t addr)
{
	uint64_t block = addr >> map->interleave_shift;
	uint64_t within = addr & ((1ull << map->interleave_shift) - 1);
	uint32_t channel = (uint32_t)(block % map->channels);
	uint64_t part = block / map->channels << map->interleave_shift | within;
	uint32_t slice = 0;

	/* Highest first: taking a bit out moves only what is above it. */
	for (unsigned int i = map->slice_bits; i-- > 0;) {
		unsigned int b = map->slice_bit[i];

		slice |= (uint32_t)(part >> b & 1) << i;
		part = (part >> (b + 1) << b) | (part & ((1ull << b) - 1));
	}
	return (struct addr_place){ .slice = channel * map->slices + slice, .part = part };
}

unsigned int addr_bank(const struct addr_map *map, unsigned int slice_of_channel, uint64_t part)
{
	unsigned int bank = slice_of_channel;

	for (unsigned int i = 0; i < map->bank_bits; i++)
		bank |= (unsigned int)(part >> map->bank_bit[i] & 1) << (map->slice_bits + i);
	return bank;
}

uint64_t addr_of(const struct addr_map *map, struct addr_place place)
{
	uint32_t channel = place.slice / map->slices, slice = place.slice % map->slices;
	uint64_t part = place.part, within;

	/* Lowest first: putting a bit in moves only what is above it. */
	for (unsigned int i = 0; i < map->slice_bits; i++) {
		unsigned int b = map->slice_bit[i];

		part = (part >> b << (b + 1)) | (uint64_t)(slice >> i & 1) << b |
		       (part & ((1ull << b) - 1));
	}
	within = part & ((1ull << map->interleave_shift) - 1);
	return ((part >> map->interleave_shift) * map->channels + channel)
	       << map->interleave_shift | within;
}
