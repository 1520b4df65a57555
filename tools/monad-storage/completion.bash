# bash completion for monad-storage                              -*- shell-script -*-
# SPDX-License-Identifier: GPL-2.0

_monad_storage_reply()
{
	local word

	while read -r word; do
		[[ $word ]] && COMPREPLY+=("$word")
	done < <(compgen -W "$1" -- "$cur")
}

_monad_storage_rings()
{
	local name

	for name in /sys/class/misc/monad_ring*; do
		[[ -e $name ]] || continue
		name=${name##*/}
		echo "${name#monad_ring-}"
	done
}

_monad_storage()
{
	local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD - 1]}
	local filter="--device --pid --cgroup --op --errors --min-latency --all"
	local word

	COMPREPLY=()
	if [[ $COMP_CWORD -eq 1 ]]; then
		_monad_storage_reply "start stop status trace replay report top latency cgroups errors inflight task serve export \
			--help --version"
		return
	fi
	case $prev in
	-d | --device)
		_monad_storage_reply "$(ls /sys/block 2>/dev/null)"
		return ;;
	-r | --ring)
		_monad_storage_reply "$(_monad_storage_rings)"
		if [[ ${#COMPREPLY[@]} -eq 0 ]]; then
			compopt -o filenames 2>/dev/null
			while read -r word; do
				COMPREPLY+=("$word")
			done < <(compgen -f -- "$cur")
		fi
		return ;;
	-p | --pid)
		_monad_storage_reply "$(cd /proc && echo [0-9]*)"
		return ;;
	-o | --op)
		_monad_storage_reply "other read write flush discard secure_erase write_zeroes zone_append zone_open \
			zone_close zone_finish zone_reset zone_reset_all drv_in drv_out cache_flush"
		[[ ${COMP_WORDS[1]} != task ]] || _monad_storage_reply "fsync fdatasync sync_write dsync_write \
			msync io_uring_sync other_sync throttle"
		return ;;
	--sort)
		_monad_storage_reply "waited ops bytes slowest errors"
		return ;;
	--events)
		if [[ ${COMP_WORDS[1]} == export ]]; then
			_monad_storage_reply "on off"
		else
			_monad_storage_reply "all ends notable"
		fi
		return ;;
	-g | --group)
		_monad_storage_reply "$(cut -d: -f1 /etc/group)"
		return ;;
	--textfile | --json-lines | --telemetry | -f | --config | -S | --socket)
		compopt -o filenames 2>/dev/null
		while read -r word; do
			COMPREPLY+=("$word")
		done < <(compgen -f -- "$cur")
		return ;;
	--metrics)
		_monad_storage_reply "off"
		return ;;
	--otlp-compression)
		_monad_storage_reply "gzip none"
		return ;;
	--json)
		# A file of export, where it is --json-lines by now; all others print it.
		if [[ ${COMP_WORDS[1]} == export ]]; then
			compopt -o filenames 2>/dev/null
			while read -r word; do
				COMPREPLY+=("$word")
			done < <(compgen -f -- "$cur")
			return
		fi ;;
	--blktrace)
		compopt -o filenames 2>/dev/null
		while read -r word; do
			COMPREPLY+=("$word")
		done < <(compgen -d -- "$cur")
		return ;;
	--prometheus | --otlp | --otlp-header | --interval | --queue | --congested | --stuck)
		return ;;
	--min-latency | --min-age | --since | --until | --max-inflight | --max-series | \
	--max-cgroups | -n | --rows | --slow | --sample | --max-rate | -t | --duration | \
	--max-events | -s | --sample-rate | --max-tasks)
		return ;;
	esac
	if [[ ${COMP_WORDS[1]} == task && $cur != -* ]]; then
		_monad_storage_reply "vfs-latency fsync-latency writeback-pressure block-latency"
		return
	fi
	[[ $cur == -* ]] || return
	case ${COMP_WORDS[1]} in
	start)
		_monad_storage_reply "--ring --device --events --slow --sample --max-rate --no-attribution --stacks \
			--config --max-inflight --max-series --max-cgroups --verbose --help" ;;
	stop) _monad_storage_reply "--help" ;;
	status) _monad_storage_reply "--ring --json --help" ;;
	trace) _monad_storage_reply "--ring --json --stacks $filter --help" ;;
	replay)
		_monad_storage_reply "--ring --since --until --summary --histogram --stacks --folded --blktrace \
			--json $filter --help" ;;
	report)
		_monad_storage_reply "--ring --since --until $filter --help" ;;
	top) _monad_storage_reply "--ring --device --op --sort --rows --batch --json --help" ;;
	latency) _monad_storage_reply "--device --op --histogram --json --help" ;;
	cgroups) _monad_storage_reply "--json --help" ;;
	errors) _monad_storage_reply "--device --op --json --help" ;;
	task)
		_monad_storage_reply "--duration --max-events --sample-rate --device --pid --op --min-latency \
			--ring --socket --json --verbose --help" ;;
	serve) _monad_storage_reply "--socket --group --max-tasks --help" ;;
	export)
		_monad_storage_reply "--prometheus --otlp --otlp-header --otlp-compression --json-lines --telemetry --interval \
			--metrics --queue --events --since --slow --congested --stuck --once --textfile --help" ;;
	inflight) _monad_storage_reply "--device --op --pid --cgroup --min-age --json --help" ;;
	esac
}

complete -F _monad_storage monad-storage
