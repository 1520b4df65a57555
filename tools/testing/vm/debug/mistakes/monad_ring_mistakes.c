// SPDX-License-Identifier: GPL-2.0
/*
 * Mistakes, made on purpose to see that a debug kernel notices them: ../../selftest.
 *
 * Each is made when the module is loaded with what= its name. All of them together are survived.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/delay.h>
#include <linux/gfp.h>
#include <linux/list.h>
#include <linux/module.h>
#include <linux/rcupdate.h>
#include <linux/slab.h>
#include <linux/spinlock.h>
#include <linux/timer.h>
#include <linux/vmalloc.h>

static char *what = "";
module_param(what, charp, 0444);

/* Where the compiler does not see what is done to it. */
static void *volatile hidden;
static volatile int index_ = 100;

static void leak(void)
{
	hidden = kmalloc(99, GFP_KERNEL);
	hidden = NULL;
}

/* The kernel's heap is not all there is. */
static void page_leak(void)
{
	hidden = alloc_pages(GFP_KERNEL, 2);
	hidden = NULL;
}

static void use_after_free(void)
{
	hidden = kmalloc(64, GFP_KERNEL);
	kfree(hidden);
	*(volatile char *)hidden = 1;
}

static void out_of_bounds(void)
{
	hidden = vmalloc(PAGE_SIZE / 2);
	((volatile char *)hidden)[PAGE_SIZE / 2 + index_] = 1;
	vfree(hidden);
}

static void bad_index(void)
{
	static volatile int array[4];

	/* Within the red zone behind it. */
	array[index_ / 25] = 1;
}

static void sleep_in_atomic(void)
{
	preempt_disable();
	might_sleep();
	preempt_enable();
}

static void wrong_order(void)
{
	static DEFINE_SPINLOCK(a);
	static DEFINE_SPINLOCK(b);

	spin_lock(&a);
	spin_lock(&b);
	spin_unlock(&b);
	spin_unlock(&a);
	spin_lock(&b);
	spin_lock(&a);
	spin_unlock(&a);
	spin_unlock(&b);
}

static void no_rcu_read_lock(void)
{
	static void __rcu *pointer;

	hidden = rcu_dereference(pointer);
}

static void nothing(struct timer_list *timer)
{
}

static void free_active_timer(void)
{
	struct timer_list *timer = kmalloc(sizeof(*timer), GFP_KERNEL);

	if (!timer)
		return;
	timer_setup(timer, nothing, 0);
	mod_timer(timer, jiffies + 100 * HZ);
	kfree(timer);
}

static void delete_twice(void)
{
	struct list_head *entry = kmalloc(sizeof(*entry), GFP_KERNEL);
	LIST_HEAD(list);

	if (!entry)
		return;
	list_add(entry, &list);
	list_del(entry);
	list_del(entry);
	kfree(entry);
}

static const struct {
	const char *name;
	void (*make)(void);
} mistakes[] = {
	{ "leak", leak },
	{ "page_leak", page_leak },
	{ "use_after_free", use_after_free },
	{ "out_of_bounds", out_of_bounds },
	{ "bad_index", bad_index },
	{ "sleep_in_atomic", sleep_in_atomic },
	{ "no_rcu_read_lock", no_rcu_read_lock },
	{ "wrong_order", wrong_order },
	{ "free_active_timer", free_active_timer },
	{ "delete_twice", delete_twice },
};

static int __init mistakes_init(void)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(mistakes); i++) {
		if (strcmp(what, mistakes[i].name))
			continue;
		pr_info("%s\n", what);
		mistakes[i].make();
		return 0;
	}
	return -EINVAL;
}

static void __exit mistakes_exit(void)
{
}

module_init(mistakes_init);
module_exit(mistakes_exit);

MODULE_DESCRIPTION("Mistakes for a debug kernel to notice");
MODULE_LICENSE("GPL");
