// SPDX-License-Identifier: GPL-2.0
/* What may be asked of a task in a message, and what is said to what may not. */
#include "monad_storage.h"
#include "printable.h"
#include "tap.h"
#include "task_request.h"

static char *devices[200], *ops[200];
static uint32_t pids[200];
static Monad__StorageTaskFilter filter;
static Monad__TaskRequest request;
static struct task_options options;
static char why[512];

/* One that is right. */
static void begin(void)
{
	monad__task_request__init(&request);
	monad__storage_task_filter__init(&filter);
	request.task_id = "id";
	request.kind = "fsync-latency";
	request.filter_case = MONAD__TASK_REQUEST__FILTER_STORAGE;
	request.storage = &filter;
	filter.devices = devices;
	filter.operations = ops;
	filter.pids = pids;
}

static bool check(void)
{
	*why = '\0';
	return task_request_check(&request, &options, why, sizeof(why));
}

static void is_refused(const char *expected)
{
	ok(!check(), "not taken: %s", expected);
	ok(strstr(why, expected), "says \"%s\": \"%s\"", expected, why);
	begin();
}

static void test_defaults(void)
{
	begin();
	request.filter_case = MONAD__TASK_REQUEST__FILTER__NOT_SET;
	request.storage = NULL;
	ok(check(), "an id and a kind are enough");
	eq_u64(options.duration_ns, TASK_DURATION_NS, "duration");
	eq_u64(options.max_events, TASK_EVENTS, "max_events");
	eq_u64(options.sample_rate, 1, "sample_rate");
	eq_u64(options.slow_ns, TASK_SLOW_NS, "slow");
	eq_u64(options.ops | options.nr_devs | options.pids.nr, 0, "no filter");
	eq_int(options.kind, TASK_FSYNC, "kind");
	begin();
	for (enum task_kind kind = 0; kind < TASK_KINDS; kind++) {
		request.kind = (char *)task_kind_names[kind];
		ok(check() && options.kind == kind, "%s", request.kind);
	}
}

static void test_filter(void)
{
	begin();
	devices[0] = "sda";
	devices[1] = "/dev/mapper/x";
	devices[2] = "8:16";
	filter.n_devices = 3;
	pids[0] = 1;
	pids[1] = INT32_MAX;
	filter.n_pids = 2;
	ops[0] = "FSYNC";
	ops[1] = "msync";
	ops[2] = "fsync";
	filter.n_operations = 3;
	filter.min_latency_ns = 77;
	ok(check(), "a filter: %s", why);
	eq_u64(options.ops, 1 << MONAD_STORAGE_CALL_FSYNC | 1 << MONAD_STORAGE_CALL_MSYNC, "ops");
	eq_u64(options.pids.nr, 2, "two processes");
	eq_u64(options.pids.pids[1], INT32_MAX, "the second one");
	eq_u64(options.min_latency_ns, 77, "least latency");
	eq_u64(options.slow_ns, 77, "which is what is slow");
	eq_u64(options.nr_devs, 0, "disks are looked for later");
}

static void test_numbers(void)
{
	static const struct {
		uint64_t *to;
		uint64_t least, most;
		const char *name;
	} numbers[] = {
		{ &request.duration_ns, 100000000, 600000000000, "duration_ns is " },
		{ &request.max_events, 1, 1000000, "max_events is " },
		{ &request.sample_rate, 1, 1000000, "sample_rate is " },
	};

	for (size_t i = 0; i < ARRAY_SIZE(numbers); i++) {
		begin();
		*numbers[i].to = numbers[i].least;
		ok(check(), "%sthe least", numbers[i].name);
		*numbers[i].to = numbers[i].most;
		ok(check(), "%sthe most", numbers[i].name);
		*numbers[i].to = numbers[i].most + 1;
		is_refused(numbers[i].name);
		*numbers[i].to = UINT64_MAX;
		is_refused("18446744073709551615: it is ");
		if (numbers[i].least > 1) {
			*numbers[i].to = numbers[i].least - 1;
			is_refused("is 99999999: it is 100000000 to 600000000000, or 0, which is");
		}
	}
}

static void test_texts(void)
{
	char text[200], safe[512];

	begin();
	request.task_id = "";
	is_refused("task_id is ''");
	memset(text, 'x', sizeof(text));
	text[TASK_ID_MAX] = '\0';
	request.task_id = text;
	ok(check(), "an id of %d bytes", TASK_ID_MAX);
	text[TASK_ID_MAX] = 'x';
	text[TASK_ID_MAX + 1] = '\0';
	request.task_id = text;
	is_refused("...': it is 1 to 64 bytes");
	request.task_id = "a\nb";
	is_refused("task_id is 'a?b'");
	request.task_id = "\x80";
	is_refused("task_id is '?'");
	request.task_id = "\xc2\x9b";
	is_refused("task_id is '?'");
	memset(text, 'x', sizeof(text));
	for (unsigned int i = 50; i < 70; i++) {
		memcpy(text + i, "\xc3\x9f\xc3\x9f\xc3\x9f\xc3\x9f\xc3\x9f\xc3\x9f", 13);
		request.kind = text;
		ok(!check() && !strcmp(printable(safe, sizeof(safe), why), why),
		   "a long text is cut between letters: %s", why);
	}
	begin();
	request.task_id = "gr\xc3\xbc\xc3\x9f";
	ok(check(), "other letters are no harm");
	request.kind = "";
	is_refused("kind is '': it is vfs-latency, fsync-latency, writeback-pressure or");
	request.kind = "fsync-latency ";
	is_refused("kind is 'fsync-latency '");
	request.kind = "\x1b[2J";
	is_refused("kind is '?[2J'");
}

static void device_refused(char *name, const char *expected)
{
	devices[0] = "sda";
	devices[1] = name;
	filter.n_devices = 2;
	is_refused(expected);
}

static void test_devices(void)
{
	char text[TASK_DEVICE_MAX + 2];

	begin();
	device_refused("", "storage.devices[1] is ''");
	device_refused("/etc/passwd", "storage.devices[1] is '/etc/passwd'");
	device_refused("../etc", "storage.devices[1] is '../etc'");
	device_refused("./sda", "storage.devices[1] is './sda'");
	device_refused("/dev/../etc", "storage.devices[1] is '/dev/../etc'");
	device_refused("/dev", "storage.devices[1] is '/dev'");
	device_refused("a\tb", "storage.devices[1] is 'a?b'");
	memset(text, 'd', sizeof(text));
	text[TASK_DEVICE_MAX + 1] = '\0';
	device_refused(text, "...': it is the name of a disk");
	for (size_t i = 0; i < ARRAY_SIZE(devices); i++)
		devices[i] = "sda";
	filter.n_devices = TASK_MAX_DISKS;
	ok(check(), "%d disks", TASK_MAX_DISKS);
	filter.n_devices++;
	is_refused("storage.devices has 65 names: up to 64");
}

static void test_lists(void)
{
	begin();
	for (size_t i = 0; i < ARRAY_SIZE(pids); i++) {
		pids[i] = i + 1;
		ops[i] = "fsync";
	}
	filter.n_pids = MONAD_TASK_PIDS;
	ok(check(), "%d processes", MONAD_TASK_PIDS);
	filter.n_pids++;
	is_refused("storage.pids has 65 numbers: up to 64");
	pids[0] = 0;
	filter.n_pids = 1;
	is_refused("storage.pids[0] is 0: process ids are 1 to 2147483647");
	pids[0] = (uint32_t)INT32_MAX + 1;
	filter.n_pids = 1;
	is_refused("storage.pids[0] is 2147483648");
	filter.n_operations = TASK_OPS + 1;
	is_refused("storage.operations has 33 names: up to 32");
	ops[0] = "read";
	filter.n_operations = 1;
	is_refused("storage.operations[0] is 'read': fsync-latency has fsync, fdatasync, ");
	ops[0] = "";
	filter.n_operations = 1;
	is_refused("storage.operations[0] is ''");
}

/* Reasons are cut, not written past their end. */
static void test_small_room(void)
{
	char room[8] = "xxxxxxx";

	begin();
	request.kind = "nonsense";
	ok(!task_request_check(&request, &options, room, 4), "little room for the reason");
	eq_str(room, "kin", "it is cut");
	ok(room[4] == 'x', "and nothing is behind it");
}

/* What the command asks for is what the server understands. */
static void test_round_trip(void)
{
	static const struct task_options asked = {
		.kind = TASK_BLOCK,
		.duration_ns = 123456789,
		.max_events = 7,
		.sample_rate = 3,
		.min_latency_ns = 5000,
		.devs = { 8 << 20 | 16, 0xfffU << 20 | 0xfffff },
		.nr_devs = 2,
		.pids = { { 42 }, 1 },
		.ops = 1 << MONAD_STORAGE_OP_WRITE | 1 << MONAD_STORAGE_OP_ZONE_RESET_ALL,
	};
	Monad__TaskRequest *made = task_request_new(&asked, "7");

	ok(task_request_check(made, &options, why, sizeof(why)), "what is asked is right: %s", why);
	eq_str(made->task_id, "7", "id");
	eq_int(options.kind, asked.kind, "kind");
	eq_u64(options.duration_ns, asked.duration_ns, "duration");
	eq_u64(options.max_events, asked.max_events, "max_events");
	eq_u64(options.sample_rate, asked.sample_rate, "sample_rate");
	eq_u64(options.min_latency_ns, asked.min_latency_ns, "least latency");
	eq_u64(options.ops, asked.ops, "operations");
	eq_u64(options.pids.pids[0], 42, "processes");
	eq_u64(made->storage->n_devices, 2, "disks");
	eq_str(made->storage->devices[0], "8:16", "by number");
	eq_str(made->storage->devices[1], "4095:1048575", "the last there can be");
	monad__task_request__free_unpacked(made, NULL);
}

int main(void)
{
	test_defaults();
	test_filter();
	test_numbers();
	test_texts();
	test_devices();
	test_lists();
	test_small_room();
	test_round_trip();
	return done_testing();
}
