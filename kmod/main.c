// SPDX-License-Identifier: GPL-2.0
/*
 * monad_ring: rings of events that the kernel records and anyone allowed can look back at.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/delay.h>
#include <linux/module.h>
#include <linux/nodemask.h>
#include <linux/slab.h>

#include "ring.h"

static char *rings = "";
module_param(rings, charp, 0444);
MODULE_PARM_DESC(rings,
		 "Rings to make, comma separated: name[:descriptor-shift:payload-shift]. The name monad_ring sets the size of the default ring, which there always is");

static int node = NUMA_NO_NODE;
module_param(node, int, 0444);
MODULE_PARM_DESC(node, "NUMA node of the rings' memory (default: any)");

static struct monad_ring_config configs[MONAD_RING_MAX] __initdata = {
	{
		.name = MONAD_RING_DEFAULT_NAME,
		.desc_shift = MONAD_RING_DEFAULT_DESC_SHIFT,
		.payload_shift = MONAD_RING_DEFAULT_PAYLOAD_SHIFT,
	},
};

/* Puts @config into configs[] behind the @nr there are; the default ring's to the front. */
static int __init add_config(const struct monad_ring_config *config, u32 *nr, bool *default_seen)
{
	bool is_default = !strcmp(config->name, MONAD_RING_DEFAULT_NAME);
	u32 i;

	for (i = is_default && !*default_seen ? 1 : 0; i < *nr; i++) {
		if (!strcmp(config->name, configs[i].name)) {
			pr_err("rings=: two rings are called %s\n", config->name);
			return -EEXIST;
		}
	}
	if (is_default) {
		*default_seen = true;
		configs[0] = *config;
		return 0;
	}
	if (*nr == MONAD_RING_MAX) {
		pr_err("rings=: more than %d rings\n", MONAD_RING_MAX);
		return -ENOSPC;
	}
	configs[(*nr)++] = *config;
	return 0;
}

/* Parses rings= into configs[]. Return: how many, or a negative errno. */
static int __init parse_rings(void)
{
	struct monad_ring_config config;
	char *list, *rest, *item;
	bool default_seen = false;
	u32 nr = 1;
	int err = 0;

	if (!*rings)
		return nr;
	list = kstrdup(rings, GFP_KERNEL);
	if (!list)
		return -ENOMEM;
	rest = list;
	while (!err && (item = strsep(&rest, ","))) {
		err = monad_ring_parse(item, &config);
		if (!err)
			err = add_config(&config, &nr, &default_seen);
	}
	kfree(list);
	return err ?: nr;
}

/*
 * Rings can be opened from the moment this is set, the last of the initialization: a module
 * that fails to load is freed whoever has it open.
 */
static bool ready;

bool monad_ring_ready(void)
{
	/* Pairs with the release in monad_ring_init(). */
	return smp_load_acquire(&ready);
}

static int __init monad_ring_init(void)
{
	int nr, err, i;

	if (node != NUMA_NO_NODE && (node < 0 || node >= MAX_NUMNODES || !node_online(node))) {
		pr_err("node=%d: there is no such NUMA node\n", node);
		return -EINVAL;
	}
	nr = parse_rings();
	if (nr < 0)
		return nr;
	for (i = 0; i < nr; i++)
		configs[i].node = node;
	err = monad_rings_init(configs, nr);
	if (!err)
		err = monad_ring_register_kfuncs();
	if (err)
		goto err_rings;
	err = monad_rings_register();
	if (err)
		goto err_devices;
	/* Pairs with the acquire in monad_ring_ready(). */
	smp_store_release(&ready, true);
	return 0;

err_devices:
	monad_rings_exit();
	/*
	 * Somebody may have been turned away by open() and not be back out of the file
	 * operations. While a module initializes, it holds one reference itself.
	 */
	while (module_refcount(THIS_MODULE) > 1)
		msleep(20);
	return err;
err_rings:
	monad_rings_exit();
	return err;
}

/*
 * Nobody is at work on a ring any more: each open file, each mapping and each loaded BPF
 * program that calls a kfunc holds a reference to the module.
 */
static void __exit monad_ring_exit(void)
{
	monad_rings_exit();
}

module_init(monad_ring_init);
module_exit(monad_ring_exit);

MODULE_DESCRIPTION("Event rings in huge pages, written by BPF programs, read by many");
MODULE_LICENSE("GPL");
