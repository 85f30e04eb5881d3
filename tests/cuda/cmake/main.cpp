// SPDX-License-Identifier: GPL-2.0
/* The host's compiler has this one; the kernels are in a library. */
int vecadd_main();

int main()
{
	return vecadd_main();
}
