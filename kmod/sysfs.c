// SPDX-License-Identifier: GPL-2.0
/*
 * /sys/class/misc/monad_ring*: what the info ioctl says, one value a file.
 */
#include <linux/device.h>
#include <linux/sysfs.h>

#include "ring.h"

struct monad_ring *monad_ring_of(struct miscdevice *misc)
{
	return container_of(misc, struct monad_ring, misc);
}

static struct monad_ring *ring_of(struct device *dev)
{
	return monad_ring_of(dev_get_drvdata(dev));
}

/* An attribute that is a number of struct monad_ring_info. */
#define INFO_ATTR_OF(attribute, name_, format, field) \
	static ssize_t name_##_show(struct device *dev, struct device_attribute *attr, char *buf) \
	{ \
		struct monad_ring_info info; \
\
		monad_ring_info(ring_of(dev), &info); \
		return sysfs_emit(buf, format "\n", info.field); \
	} \
	static attribute(name_)

#define INFO_ATTR(name_, format, field) \
	INFO_ATTR_OF(DEVICE_ATTR_RO, name_, format, field)

/* What each event changes tells when it came and how large it is: not to everybody. */
#define INFO_ATTR_ADMIN(name_, format, field) \
	INFO_ATTR_OF(DEVICE_ATTR_ADMIN_RO, name_, format, field)

INFO_ATTR(ring_id, "%u", ring_id);
INFO_ATTR(abi_version, "%u", abi_version);
INFO_ATTR(uuid, "%pUb", uuid);
INFO_ATTR(content_type, "%u", content_type);
INFO_ATTR(schema_hash, "%32phN", schema_hash);
INFO_ATTR(numa_node, "%d", numa_node);
INFO_ATTR(descriptor_capacity, "%llu", descriptor_capacity);
INFO_ATTR(payload_buf_size, "%llu", payload_buf_size);
INFO_ATTR_ADMIN(last_seqno, "%llu", last_seqno);
INFO_ATTR_ADMIN(next_payload_byte, "%llu", next_payload_byte);
INFO_ATTR_ADMIN(buffer_window_start, "%llu", buffer_window_start);
INFO_ATTR(max_event_size, "%llu", max_event_size);
INFO_ATTR(chunks_total, "%u", chunks_total);
INFO_ATTR(chunks_huge, "%u", chunks_huge);
INFO_ATTR_ADMIN(discarded, "%llu", discarded);
INFO_ATTR_ADMIN(wakeups, "%llu", wakeups);
INFO_ATTR(generation, "%llu", generation);
INFO_ATTR(kfuncs, "%u", flags & MONAD_RING_F_KFUNCS);

static struct attribute *ring_attrs[] = {
	&dev_attr_ring_id.attr,
	&dev_attr_abi_version.attr,
	&dev_attr_uuid.attr,
	&dev_attr_content_type.attr,
	&dev_attr_schema_hash.attr,
	&dev_attr_numa_node.attr,
	&dev_attr_descriptor_capacity.attr,
	&dev_attr_payload_buf_size.attr,
	&dev_attr_last_seqno.attr,
	&dev_attr_next_payload_byte.attr,
	&dev_attr_buffer_window_start.attr,
	&dev_attr_max_event_size.attr,
	&dev_attr_chunks_total.attr,
	&dev_attr_chunks_huge.attr,
	&dev_attr_discarded.attr,
	&dev_attr_wakeups.attr,
	&dev_attr_generation.attr,
	&dev_attr_kfuncs.attr,
	NULL,
};

static const struct attribute_group ring_group = {
	.attrs = ring_attrs,
};

INFO_ATTR(too_large, "%llu", lost[MONAD_RING_LOST_TOO_LARGE]);
INFO_ATTR(stalled, "%llu", lost[MONAD_RING_LOST_STALLED]);
INFO_ATTR(no_slot, "%llu", lost[MONAD_RING_LOST_NO_SLOT]);
INFO_ATTR(contended, "%llu", lost[MONAD_RING_LOST_CONTENDED]);
INFO_ATTR(bad_arg, "%llu", lost[MONAD_RING_LOST_BAD_ARG]);
INFO_ATTR(ring_gone, "%llu", lost[MONAD_RING_LOST_RING_GONE]);

static struct attribute *lost_attrs[] = {
	&dev_attr_too_large.attr,
	&dev_attr_stalled.attr,
	&dev_attr_no_slot.attr,
	&dev_attr_contended.attr,
	&dev_attr_bad_arg.attr,
	&dev_attr_ring_gone.attr,
	NULL,
};

static const struct attribute_group lost_group = {
	.name = "lost",
	.attrs = lost_attrs,
};

const struct attribute_group *monad_ring_groups[] = {
	&ring_group,
	&lost_group,
	NULL,
};
