# bash completion for monad-ring                                 -*- shell-script -*-
# SPDX-License-Identifier: GPL-2.0

# Rings by the names that commands take: the kernel's, and files of the default directory.
_monad_ring_rings()
{
	local dir name

	for name in /sys/class/misc/monad_ring*; do
		[[ -e $name ]] || continue
		name=${name##*/}
		echo "${name#monad_ring-}"
	done
	while read -r _ dir name _; do
		[[ $name == hugetlbfs && -d $dir/event-rings ]] || continue
		ls "$dir/event-rings" 2>/dev/null
	done </proc/mounts
}

# Event types of the rings on the command line, as monad-ring says them of a type that is none.
_monad_ring_types()
{
	local ring

	for ring in "${COMP_WORDS[@]:2}" monad_ring; do
		[[ $ring == */* || -e /dev/monad_ring-$ring || $ring == monad_ring ]] || continue
		"${COMP_WORDS[0]}" dump --type '?' "$ring" 2>&1 >/dev/null |
			sed -n 's/^  \([A-Z0-9_]*\) .*/\1/p'
	done | sort -u
}

# Words that fit; then, if asked for, files.
_monad_ring_reply()
{
	local word

	COMPREPLY=()
	while read -r word; do
		[[ $word ]] && COMPREPLY+=("$word")
	done < <(compgen -W "$1" -- "$cur")
}

# Files; with $1 before their names.
_monad_ring_files()
{
	local word

	compopt -o filenames 2>/dev/null
	while read -r word; do
		COMPREPLY+=("$1$word")
	done < <(compgen -f -- "$cur")
}

_monad_ring()
{
	local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD - 1]}
	local verbs="list info watch dump stat snapshot copy check create destroy"
	local verb="" i options names=0

	COMPREPLY=()
	for ((i = 1; i < COMP_CWORD; i++)); do
		[[ ${COMP_WORDS[i]} == -* ]] || names=$((names + 1))
		[[ $verb || ${COMP_WORDS[i]} == -* ]] || verb=${COMP_WORDS[i]}
	done
	if [[ -z $verb ]]; then
		_monad_ring_reply "$verbs --json --help --version"
		return
	fi
	case $prev in
	-t | --type)
		[[ $verb == watch || $verb == dump ]] || return
		_monad_ring_reply "$(_monad_ring_types)"
		return ;;
	-f | --from)
		if [[ $verb == watch ]]; then
			_monad_ring_reply "newest oldest"
			return
		fi
		# copy's is no option with a value, snapshot's is a time
		[[ $verb == copy ]] || return ;;
	-c | --content)
		_monad_ring_reply "test exec perf storage"
		return ;;
	-o | --output)
		_monad_ring_files ""
		return ;;
	-w | --timeout | -T | --tag | -n | --count | -i | --interval | -s | --since | --schema | \
		--to | --first | --last | -l | --level | -N | --node | -m | --mode)
		return ;;
	esac
	case $verb in
	list | info | check | destroy) options="" ;;
	watch) options="--from --timeout --type --tag --count --hex" ;;
	dump) options="--type --tag --count --hex --raw" ;;
	stat) options="--interval --count" ;;
	snapshot) options="--output --since --from --to --first --last --level" ;;
	copy) options="--force --snapshot" ;;
	create) options="--file --content --schema --node --mode" ;;
	*) return ;;
	esac
	if [[ $cur == -* ]]; then
		_monad_ring_reply "$options --json --help"
		return
	fi
	case $verb in
	list)
		compopt -o filenames 2>/dev/null
		while read -r i; do
			COMPREPLY+=("$i")
		done < <(compgen -d -- "$cur") ;;
	create) ;;
	*)
		# A ring that is a file has a '/' in its name; what copy makes needs none.
		if [[ $verb == copy && $names -eq 2 ]]; then
			_monad_ring_files ""
		elif [[ $cur == */* ]]; then
			_monad_ring_files ""
		else
			_monad_ring_reply "$(_monad_ring_rings)"
			_monad_ring_files ./
		fi ;;
	esac
}

complete -F _monad_ring monad-ring
