// SPDX-License-Identifier: GPL-2.0
/*
 * monad_ring: rings of events that the kernel records and anyone allowed can look back at.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

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

struct monad_ring *monad_rings[MONAD_RING_MAX];
atomic64_t monad_ring_gone = ATOMIC64_INIT(0);

static struct monad_ring_config configs[MONAD_RING_MAX] __initdata = {
	{ MONAD_RING_DEFAULT_NAME, MONAD_RING_DEFAULT_DESC_SHIFT,
	  MONAD_RING_DEFAULT_PAYLOAD_SHIFT },
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

static void remove_ring(u32 id)
{
	struct monad_ring *ring = monad_rings[id];

	misc_deregister(&ring->misc);
	WRITE_ONCE(monad_rings[id], NULL);
	kfree(ring->misc.name);
	monad_ring_destroy(ring);
}

static int __init add_ring(u32 id, const struct monad_ring_config *config)
{
	struct monad_ring *ring;
	int err = -ENOMEM;

	ring = monad_ring_create(config, id, node);
	if (IS_ERR(ring))
		return PTR_ERR(ring);
	ring->misc.minor = MISC_DYNAMIC_MINOR;
	ring->misc.name = id ? kasprintf(GFP_KERNEL, MONAD_RING_DEFAULT_NAME "-%s", config->name) :
			       kstrdup(MONAD_RING_DEFAULT_NAME, GFP_KERNEL);
	ring->misc.fops = &monad_ring_fops;
	ring->misc.groups = monad_ring_groups;
	ring->misc.mode = 0400;
	if (!ring->misc.name)
		goto err_ring;
	err = misc_register(&ring->misc);
	if (err) {
		pr_err("ring %s: its device cannot be registered: %d\n", config->name, err);
		goto err_name;
	}
	WRITE_ONCE(monad_rings[id], ring);
	pr_info("ring %u, /dev/%s: %llu events, %llu MiB of payload, %u of %u chunks huge\n", id,
		ring->misc.name, ring->header->size.descriptor_capacity,
		ring->header->size.payload_buf_size >> 20, ring->memory.chunks_huge,
		ring->memory.chunks);
	return 0;

err_name:
	kfree(ring->misc.name);
err_ring:
	monad_ring_destroy(ring);
	return err;
}

static int __init monad_ring_init(void)
{
	int nr, err = 0;
	u32 id;

	if (node != NUMA_NO_NODE && (node < 0 || node >= MAX_NUMNODES || !node_online(node))) {
		pr_err("node=%d: there is no such NUMA node\n", node);
		return -EINVAL;
	}
	nr = parse_rings();
	if (nr < 0)
		return nr;
	for (id = 0; id < nr && !err; id++)
		err = add_ring(id, &configs[id]);
	if (!err)
		err = monad_ring_register_kfuncs();
	if (err)
		for (id = 0; id < nr; id++)
			if (monad_rings[id])
				remove_ring(id);
	return err;
}

/*
 * Nobody is at work on a ring any more: each open file, each mapping and each loaded BPF
 * program that calls a kfunc holds a reference to the module.
 */
static void __exit monad_ring_exit(void)
{
	u32 id;

	for (id = 0; id < MONAD_RING_MAX; id++)
		if (monad_rings[id])
			remove_ring(id);
}

module_init(monad_ring_init);
module_exit(monad_ring_exit);

MODULE_DESCRIPTION("Event rings in huge pages, written by BPF programs, read by many");
MODULE_LICENSE("GPL");
