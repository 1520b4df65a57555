#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Builds everything and runs every test, from a bare Debian as root (or with sudo):
#
#	tools/check.sh				all of it
#	tools/check.sh --full			that, and most of it once more on kernels that notice
#						mistakes (KASAN, lockdep, kmemleak), KUnit tests
#						and injected faults: an hour or two more
#	tools/check.sh --kernel 6.1		guests of one kernel only
#	tools/check.sh build lint unit		some parts only: setup build lint unit fuzz
#						vm ring storage cost debug
#
# The parts print TAP, which is kept in build/check/ and counted here. The last line is
# "N passed, N failed, N skipped"; the exit status is 0 only if nothing failed.
set -u
cd "$(dirname "$0")/.." || exit 1

usage()
{
	sed -n '3,/^set /s/^#[ \t]\{0,1\}//p' "$0"
	exit 2
}

kernels=()
parts=()
full=false
while [ $# -gt 0 ]; do
	case $1 in
	--kernel)
		[ $# -ge 2 ] || usage
		kernels+=("$2")
		shift ;;
	--full)
		full=true ;;
	setup | build | lint | unit | fuzz | vm | ring | storage | cost | debug)
		parts+=("$1") ;;
	*)
		usage ;;
	esac
	shift
done
[ ${#kernels[@]} -gt 0 ] || kernels=(6.1 6.12)
[ ${#parts[@]} -gt 0 ] || parts=(setup build lint unit fuzz vm ring storage cost)
case " ${parts[*]} " in
*" debug "*) full=true ;;
*) ! $full || parts+=(debug) ;;
esac

logs=build/check
mkdir -p $logs
passed=0
failed=0
skipped=0
started=$SECONDS

log_of()
{
	echo "$logs/${1//[ \/]/-}.log"
}

# run NAME COMMAND...: a test program, or several, that print TAP; counts the results.
run()
{
	local name=$1 begun=$SECONDS
	shift

	"$@" >"$(log_of "$name")" 2>&1 </dev/null
	count "$name" $? $((SECONDS - begun))
}

# launch NAME COMMAND...: likewise, beside others, as many as there are CPUs; collect waits for
# all of them, and says what became of them in this order.
names=()
pids=()
launch()
{
	while [ "$(jobs -rp | wc -l)" -ge "$(nproc)" ]; do
		wait -n
	done
	names+=("$1")
	beside "$@" &
	pids+=($!)
}

# Leaves status and seconds beside the log.
beside()
{
	local log begun=$SECONDS
	log=$(log_of "$1")
	shift

	trap 'kill $! 2>/dev/null; exit 143' TERM
	rm -f "$log.end"
	"$@" >"$log" 2>&1 </dev/null &
	wait $!
	echo "$? $((SECONDS - begun))" >"$log.end"
}

collect()
{
	local i status took

	for i in "${!names[@]}"; do
		wait "${pids[i]}"
		read -r status took <"$(log_of "${names[i]}").end"
		count "${names[i]}" "$status" "$took"
	done
	names=()
	pids=()
}

# What runs in the background has no terminal to hear ^C from.
trap '[ ${#pids[@]} -eq 0 ] || kill "${pids[@]}" 2>/dev/null' EXIT
trap 'exit 130' INT TERM

# count NAME STATUS SECONDS: a command that failed without a "not ok", or tested nothing, is a
# failure of its own.
count()
{
	local name=$1 status=$2 took=$3 log p f s

	log=$(log_of "$name")
	s=$(grep -c '^ok .*# SKIP' "$log")
	p=$(($(grep -c '^ok ' "$log") - s))
	f=$(grep -c '^not ok ' "$log")
	if [ "$f" -eq 0 ] && { [ $status -ne 0 ] && [ $status -ne 77 ] || [ $((p + s)) -eq 0 ]; }; then
		f=1
	fi
	passed=$((passed + p))
	failed=$((failed + f))
	skipped=$((skipped + s))
	printf '%-40s %4d passed, %d failed, %d skipped  (%d s)\n' "$name" "$p" "$f" "$s" \
		"$took"
	grep '^ok .*# SKIP' "$log" | sed 's/^/\t/'
	if [ "$f" -ne 0 ]; then
		grep -A12 '^not ok ' "$log" | head -60 | sed 's/^/\t/'
		printf '\texit status %d, the last lines of %s:\n' $status "$log"
		tail -n 25 "$log" | sed 's/^/\t/'
	fi
	[ "$f" -eq 0 ]
}

# step NAME COMMAND...: counts as one test.
step()
{
	local name=$1
	shift
	run "$name" sh -c 'if "$@"; then echo "ok 1 - done"; else echo "not ok 1 - failed"; exit 1; fi' \
		sh "$@"
}

finish()
{
	echo
	echo "everything took $((SECONDS - started)) s; the details are in $logs/"
	echo "$passed passed, $failed failed, $skipped skipped"
	[ $failed -eq 0 ]
	exit
}

part_setup()
{
	step "setup" tools/setup.sh || finish
	for kernel in "${kernels[@]}"; do
		step "kernel $kernel" tools/testing/vm/fetch "$kernel" || finish
	done
	step "kernel source" tools/testing/vm/fetch source || finish
	$full || return
	step "setup for debug kernels" tools/setup.sh debug || finish
	for kernel in "${kernels[@]}"; do
		step "kernel $kernel-debug" tools/testing/vm/fetch "$kernel-debug" || finish
	done
}

part_build()
{
	step "build: library, BPF, tools" make -j"$(nproc)" tools EXTRA_WARNINGS=-Werror || finish
	for kernel in "${kernels[@]}"; do
		step "build: module for $kernel" make modules KDIR="build/vm/$kernel/kdir" || finish
	done
	step "build: with clang" make -j"$(nproc)" tools O=build/clang CC=clang CXX=clang++ \
		EXTRA_WARNINGS=-Werror
	step "build: install to a directory" make install DESTDIR="$PWD/build/check/root"
}

part_lint()
{
	run "lint" tools/testing/lint "${kernels[@]}"
}

# run_tests WITH TEST...: first the one that takes minutes, for the others to run beside it.
run_tests()
{
	local with=$1 test
	shift

	for test in $(printf '%s\n' "$@" | grep /test_lib_crash$) \
		    $(printf '%s\n' "$@" | grep -v /test_lib_crash$); do
		launch "unit $(basename "$test")$with" "$test"
	done
	collect
}

part_unit()
{
	local test tests sanitize

	step "build: unit tests" make -j"$(nproc)" unit-build EXTRA_WARNINGS=-Werror || return
	# shellcheck disable=SC2046
	run_tests "" $(make -s unit-list)

	run "shell completion" tools/monad-ring/test-completion

	# What needs huge pages set aside, which this machine need not have.
	for test in test_lib_open test_lib_writer test_lib_writer_room; do
		launch "unit $test, with hugetlbfs" tools/testing/vm/run --kernel "${kernels[0]}" \
			--no-module --append hugepages=64 --with build/unit/$test -- sh -c \
			"mkdir -p /mnt/huge && mount -t hugetlbfs none /mnt/huge && $test"
	done
	collect

	run "what the library promises" tools/testing/abi/check
	run "the library as installed" tools/testing/installed/check
	run "unit, valgrind" tools/testing/memcheck

	# The library's once more; the recorder's bring their own sanitizers.
	sanitize="-O1 -g -fsanitize=address,undefined -fno-sanitize-recover=all"
	# (Sanitizers replace malloc(), which test_lib_noalloc looks at.)
	tests=$(make -s unit-list O=build/asan | grep /test_lib_ | grep -v /test_lib_noalloc)
	# shellcheck disable=SC2086
	step "build: library tests, ASan and UBSan" make -j"$(nproc)" O=build/asan \
		CFLAGS="$sanitize" CXXFLAGS="$sanitize" $tests || return
	# shellcheck disable=SC2086
	run_tests ", ASan and UBSan" $tests
}

# A minute of it; tools/testing/fuzz/run TARGET RUNS takes as long as it takes. One at a time,
# beside which there is room for the guests of the next part.
part_fuzz()
{
	# What the next part would make at the same time.
	step "build: fuzz targets" make -s fuzz || return
	launch "fuzz" tools/testing/fuzz/run
	case " ${parts[*]} " in
	*" fuzz vm "*) ;;
	*) collect ;;
	esac
}

# It compares what it recorded with /proc/diskstats.
demo()
{
	tools/demo.sh && echo "ok 1 - it adds up"
}

part_vm()
{
	launch "guests" tools/testing/vm/selftest
	launch "demo" demo
	collect
}

part_ring()
{
	# What they would make at the same time otherwise.
	step "build: selftests, examples" make -s selftests examples || return
	for kernel in "${kernels[@]}"; do
		launch "ring $kernel" tools/testing/selftests/monad_ring/run --kernel "$kernel"
	done
	for kernel in "${kernels[@]}"; do
		launch "examples $kernel" tools/examples/test --kernel "$kernel"
		launch "monad-ring $kernel" tools/monad-ring/test --kernel "$kernel"
	done
	collect
}

part_storage()
{
	step "build: storage tests" make -s storage-tests || return
	for kernel in "${kernels[@]}"; do
		launch "storage $kernel" tools/testing/selftests/monad_storage/run --kernel "$kernel" \
			--of "${kernels[*]}"
	done
	# Once, on the last of them: it is about what is outside of the guest.
	launch "prometheus $kernel" tools/testing/selftests/monad_storage/prometheus \
		--kernel "$kernel"
	launch "otlp $kernel" tools/testing/selftests/monad_storage/otlp --kernel "$kernel"
	collect
}

# Instructions, not seconds: the same on every machine and every run.
part_cost()
{
	step "build: benchmarks" make -s build/bench/writers build/bench/matrix || return
	for kernel in "${kernels[@]}"; do
		launch "cost of an event $kernel" tools/testing/bench/check-cost "$kernel"
	done
	collect
}

# On kernels built to notice mistakes; a report in the kernel's log fails what brought it about.
part_debug()
{
	local kernel

	for kernel in "${kernels[@]/%/-debug}"; do
		run "kunit $kernel" tools/testing/kunit/run --kernel "$kernel"
		run "ring $kernel" tools/testing/selftests/monad_ring/run --kernel "$kernel"
		run "faults $kernel" tools/testing/selftests/monad_ring/run --kernel "$kernel" \
			-- faults
		run "faults injected $kernel" tools/testing/selftests/monad_ring/run \
			--kernel "$kernel" --inject
		run "storage $kernel" tools/testing/selftests/monad_storage/run --kernel "$kernel"
		run "examples $kernel" tools/examples/test --kernel "$kernel"
		run "monad-ring $kernel" tools/monad-ring/test --kernel "$kernel"
	done
}

for part in "${parts[@]}"; do
	part_"$part"
done
finish
