#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# Hooks: status shows each that this kernel has as attached, and one that was taken away
# as missing, while the others go on.
#
# needs: modules=null_blk,zram programs=dd,sed
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "${0%/*}/lib.sh"

rmmod zram 2>/dev/null
make_null_blk nullb_a
disk=$made_disk
settle
start_recording

# Of these two, a kernel has or needs one.
first=block_getrq
! grep -q block_io_start /sys/kernel/tracing/available_events || first=block_io_start
for hook in $first block_rq_issue block_rq_complete block_rq_requeue block_rq_merge \
		block_bio_queue block_bio_complete block_bio_backmerge block_bio_frontmerge \
		blk_mq_handle_expired \
		cgroup_release; do
	is "$(monad-storage status | sed -n '/^Hooks/,/^$/p' | grep -c "^  $hook .* misses")" 1 \
		"$hook is attached"
done
is "$(monad-storage status | grep -c 'not attached')" 0 "none is missing"

for hook in block_rq_merge block_rq_requeue; do
	rm /sys/fs/bpf/monad_storage/link_$hook
	is "$(monad-storage status | grep -c "^  $hook  *not attached")" 1 "$hook taken away: said"
	is "$(monad-storage status --json | jq --arg hook $hook '.hooks[] |
		select(.hook == $hook) | .attached')" false "and in JSON"
done
monad-storage export --once >/tmp/metrics
is "$(grep -c '^monad_storage_hook_attached.* 0$' /tmp/metrics)" 2 "and in the metrics"
dd if=/dev/zero of="/dev/$disk" bs=4k count=10 oflag=direct 2>/dev/null
summarize
is "$(ops "$disk" write)" 10 "the others go on"
nothing_lost
runs "status is content" monad-storage status
rm /sys/fs/bpf/monad_storage/link_block_rq_complete
monad-storage status >/tmp/status
is "$? $(sed -n 's/ hooks are not attached.*//p' /tmp/status)" "1 3" \
	"without the ends of requests it is not"
monad-storage stop >/dev/null

# A kernel whose BTF does not know two of them, of which none is core.
/usr/bin/sed 's/btf_trace_block_rq_merge/btf_trace_block_rq_xxxxx/
	s/btf_trace_block_rq_requeue/btf_trace_block_rq_xxxxxxx/' /sys/kernel/btf/vmlinux >/tmp/vmlinux
mount --bind /tmp/vmlinux /sys/kernel/btf/vmlinux
monad-storage start >/dev/null 2>/tmp/message
is $? 0 "it starts without block_rq_merge and block_rq_requeue"
for hook in block_rq_merge block_rq_requeue; do
	grep -q "warning: no tracepoint $hook in this kernel; recording without it" /tmp/message
	ok $? "warns of $hook"
	is "$(monad-storage status | grep -c "^  $hook  *not attached")" 1 "and status shows it"
done
began=@$(date +%s.%N)
dd if=/dev/zero of="/dev/$disk" bs=4k count=10 oflag=direct 2>/dev/null
summarize
is "$(ops "$disk" write)" 10 "the rest works"
nothing_lost
monad-storage stop >/dev/null

# Disks that are read and written without any hook, where the kernel has rw_page().
modprobe zram num_devices=1
wait_for test -b /dev/zram0
case $(uname -r) in
6.1.*) warned=1 ;;
*) warned=0 ;;
esac
is "$(grep -c 'zram0.*without a bio.*is not seen' /tmp/message)" 0 "no zram: no warning"
monad-storage start 2>&1 >/dev/null | grep -c 'zram0: .*without a bio.*is not seen' >/tmp/warned
is "$(cat /tmp/warned)" $warned "zram: a warning, or no need of one"
monad-storage stop >/dev/null
rmmod zram

# Without the core there is nothing to record.
/usr/bin/sed 's/btf_trace_block_rq_issue/btf_trace_block_rq_xxxxx/
	s/btf_trace_block_rq_complete/btf_trace_block_rq_xxxxxxxx/' /sys/kernel/btf/vmlinux >/tmp/none
umount /sys/kernel/btf/vmlinux
mount --bind /tmp/none /sys/kernel/btf/vmlinux
monad-storage start >/dev/null 2>/tmp/message
is $? 1 "without block_rq_issue and block_rq_complete it does not start"
grep -q "neither tracepoint block_rq_issue nor block_rq_complete" /tmp/message
ok $? "and says why"
umount /sys/kernel/btf/vmlinux
done_testing
