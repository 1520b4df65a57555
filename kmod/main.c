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

static int __init create_rings(u32 nr)
{
	struct monad_ring *ring;
	u32 id;

	for (id = 0; id < nr; id++) {
		ring = monad_ring_create(&configs[id], id, node);
		if (IS_ERR(ring))
			return PTR_ERR(ring);
		WRITE_ONCE(monad_rings[id], ring);
	}
	return 0;
}

static void destroy_rings(void)
{
	struct monad_ring *ring;
	u32 id;

	for (id = 0; id < MONAD_RING_MAX; id++) {
		ring = monad_rings[id];
		if (!ring)
			continue;
		WRITE_ONCE(monad_rings[id], NULL);
		monad_ring_destroy(ring);
	}
}

static int __init register_device(struct monad_ring *ring)
{
	int err;

	ring->misc.minor = MISC_DYNAMIC_MINOR;
	ring->misc.fops = &monad_ring_fops;
	ring->misc.groups = monad_ring_groups;
	ring->misc.mode = 0400;
	ring->misc.name = ring->id ? kasprintf(GFP_KERNEL, MONAD_RING_DEFAULT_NAME "-%s",
					       ring->name) :
				     kstrdup(MONAD_RING_DEFAULT_NAME, GFP_KERNEL);
	if (!ring->misc.name)
		return -ENOMEM;
	err = misc_register(&ring->misc);
	if (err) {
		pr_err("ring %s: its device cannot be registered: %d\n", ring->name, err);
		kfree(ring->misc.name);
		ring->misc.name = NULL;
		return err;
	}
	pr_info("ring %u, /dev/%s: %llu events, %llu MiB of payload, %u of %u chunks huge\n",
		ring->id, ring->misc.name, ring->header->size.descriptor_capacity,
		ring->header->size.payload_buf_size >> 20, ring->memory.chunks_huge,
		ring->memory.chunks);
	return 0;
}

static int __init register_devices(u32 nr)
{
	int err = 0;
	u32 id;

	for (id = 0; id < nr && !err; id++)
		err = register_device(monad_rings[id]);
	return err;
}

static void deregister_devices(void)
{
	u32 id;

	for (id = 0; id < MONAD_RING_MAX; id++) {
		/* A name says that it was registered. */
		if (!monad_rings[id] || !monad_rings[id]->misc.name)
			continue;
		misc_deregister(&monad_rings[id]->misc);
		kfree(monad_rings[id]->misc.name);
	}
}

static int __init monad_ring_init(void)
{
	int nr, err;

	if (node != NUMA_NO_NODE && (node < 0 || node >= MAX_NUMNODES || !node_online(node))) {
		pr_err("node=%d: there is no such NUMA node\n", node);
		return -EINVAL;
	}
	nr = parse_rings();
	if (nr < 0)
		return nr;
	err = create_rings(nr);
	if (!err)
		err = monad_ring_register_kfuncs();
	if (err)
		goto err_rings;
	err = register_devices(nr);
	if (err)
		goto err_devices;
	/* Pairs with the acquire in monad_ring_ready(). */
	smp_store_release(&ready, true);
	return 0;

err_devices:
	deregister_devices();
	/*
	 * Somebody may have been turned away by open() and not be back out of the file
	 * operations. While a module initializes, it holds one reference itself.
	 */
	while (module_refcount(THIS_MODULE) > 1)
		msleep(20);
err_rings:
	destroy_rings();
	return err;
}

/*
 * Nobody is at work on a ring any more: each open file, each mapping and each loaded BPF
 * program that calls a kfunc holds a reference to the module.
 */
static void __exit monad_ring_exit(void)
{
	deregister_devices();
	destroy_rings();
}

module_init(monad_ring_init);
module_exit(monad_ring_exit);

MODULE_DESCRIPTION("Event rings in huge pages, written by BPF programs, read by many");
MODULE_LICENSE("GPL");
