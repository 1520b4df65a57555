// SPDX-License-Identifier: GPL-2.0
/* Messages as JSON, and as lines of a file: what jq makes of them. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <math.h>
#include <sched.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "export_batches.h"
#include "jsonl_exporter.h"
#include "pb_json.h"

static char dir[] = "/tmp/monad-export-json-XXXXXX";
static char path[PATH_MAX];
static char why[256];

/*
 * JSON
 */

static char *to_json(const ProtobufCMessage *message, bool *whole)
{
	struct json_writer json;
	char *text;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	json_init(&json, out, false);
	*whole = pb_json_write(&json, message);
	fclose(out);
	return text;
}

static void is_json(const ProtobufCMessage *message, const char *wanted, const char *what)
{
	bool whole;
	char *text = to_json(message, &whole);

	eq_str(text, wanted, "%s", what);
	ok(whole, "all of it");
	free(text);
}

/* What jq says of a file; its lines in one. */
static const char *asked(const char *file, const char *filter)
{
	static char said[65536];
	char command[PATH_MAX + 256];
	size_t length;
	FILE *in;

	snprintf(command, sizeof(command), "jq -c '%s' '%s' 2>&1 | tr '\\n' ' '", filter, file);
	in = popen(command, "r");
	length = fread(said, 1, sizeof(said) - 1, in);
	said[length] = '\0';
	pclose(in);
	return said;
}

/* What jq makes of a message. */
static void is_to_jq(const ProtobufCMessage *message, const char *filter, const char *wanted)
{
	char name[] = "/tmp/monad-export-jq-XXXXXX";
	bool whole;
	char *text = to_json(message, &whole);
	int fd = mkstemp(name);

	if (fd < 0 || write(fd, text, strlen(text)) != (ssize_t)strlen(text))
		bail_out("a file: %s", strerror(errno));
	close(fd);
	free(text);
	eq_str(asked(name, filter), wanted, "%s", filter);
	unlink(name);
}

/* What is 0 can be told from what is not known. */
static void test_payload(Monad__EventWrapper *event)
{
	Monad__StorageEvent *storage = event->storage;

	is_to_jq(&event->base, ".storage | .error, .bytes, .affected, .issues, .hasLatency",
		 "0 \"0\" \"0\" 0 false ");
	is_to_jq(&event->base, "[.storage | has(\"latencyNs\", \"queueNs\", \"deviceNs\", "
		 "\"sector\", \"device\", \"operation\")] | any", "false ");
	is_to_jq(&event->base, ".storage | .flags, .layer, .phase", "[\"sync\",\"\"] "
		 "\"STORAGE_LAYER_BLOCK\" \"STORAGE_PHASE_UNSPECIFIED\" ");
	is_to_jq(&event->base, ".storage.actor | .pid, .kernelThread, .issuer", "0 true false ");
	is_to_jq(&event->base, ".storage.actor | has(\"comm\")", "false ");
	storage->has_latency = true;
	storage->has_sector = true;
	is_to_jq(&event->base, ".storage | .latencyNs, .sector, has(\"queueNs\")",
		 "\"0\" \"0\" false ");
	storage->has_queue = true;
	storage->has_device = true;
	storage->queue_ns = 7;
	is_to_jq(&event->base, ".storage | .queueNs, .deviceNs, .hasQueue", "\"7\" \"0\" true ");
}

#define EMPTY_BATCH "\"sequence\":\"0\",\"timeNs\":\"0\",\"windowNs\":\"0\",\"beganNs\":\"0\""
#define TIMES "\"startNs\":\"0\",\"timeNs\":\"0\",\"windowNs\":\"0\""
#define NO_TYPE "\"METRIC_TYPE_UNSPECIFIED\""

static void test_json(void)
{
	static uint8_t bytes[] = { 0, 0xff, 0x10, 0x83 };
	Monad__TelemetryBatch batch = MONAD__TELEMETRY_BATCH__INIT;
	Monad__Histogram histogram = MONAD__HISTOGRAM__INIT;
	Monad__MetricWrapper metric = MONAD__METRIC_WRAPPER__INIT;
	Monad__MetricWrapper *metrics[] = { &metric };
	Monad__EventWrapper event = MONAD__EVENT_WRAPPER__INIT;
	Monad__StorageEvent storage = MONAD__STORAGE_EVENT__INIT;
	Monad__StorageActor actor = MONAD__STORAGE_ACTOR__INIT;
	uint64_t buckets[] = { 0, UINT64_MAX };
	double bounds[] = { 0.000008192 };
	char *flags[] = { "sync", "" };

	is_json(&batch.base, "{" EMPTY_BATCH "}", "nothing, but for numbers");
	for (size_t length = 1; length <= 4; length++) {
		static const char *const base64[] = { "AA==", "AP8=", "AP8Q", "AP8Qgw==" };
		char wanted[256];

		batch.session_token.data = bytes;
		batch.session_token.len = length;
		snprintf(wanted, sizeof(wanted), "{\"sessionToken\":\"%s\"," EMPTY_BATCH "}",
			 base64[length - 1]);
		is_json(&batch.base, wanted, "bytes");
	}
	batch.session_token.len = 0;
	batch.sequence = UINT64_MAX;
	batch.metrics = metrics;
	batch.n_metrics = 1;
	metric.name = "m";
	metric.type = MONAD__METRIC_TYPE__METRIC_TYPE_HISTOGRAM;
	metric.histogram = &histogram;
	histogram.buckets = buckets;
	histogram.n_buckets = 2;
	histogram.bounds = bounds;
	histogram.n_bounds = 1;
	is_json(&batch.base,
		"{\"sequence\":\"18446744073709551615\",\"timeNs\":\"0\",\"windowNs\":\"0\","
		"\"metrics\":[{\"name\":\"m\",\"type\":\"METRIC_TYPE_HISTOGRAM\"," TIMES
		",\"value\":0,\"delta\":0,\"histogram\":{\"bounds\":[8.192e-06],\"buckets\":"
		"[\"0\",\"18446744073709551615\"],\"count\":\"0\",\"sum\":0}}],"
		"\"beganNs\":\"0\"}", "64 bits are text, also 0");

	metric.histogram = NULL;
#define METRIC(type, value) \
	"{\"name\":\"m\",\"type\":" type "," TIMES ",\"value\":" value ",\"delta\":0}"
	metric.type = 77;
	metric.value = 9007199254740993.0;
	is_json(&metric.base, METRIC("77", "9007199254740992"),
		"an enum from later, and a double to its last bit");
	metric.type = 0;
	metric.value = 0.1;
	is_json(&metric.base, METRIC(NO_TYPE, "0.1"), "no more digits than it takes");
	metric.value = 1.0 / 3;
	is_json(&metric.base, METRIC(NO_TYPE, "0.3333333333333333"), "as many as that");
	metric.value = NAN;
	is_json(&metric.base, METRIC(NO_TYPE, "\"NaN\""), "no number");
	metric.value = -INFINITY;
	is_json(&metric.base, METRIC(NO_TYPE, "\"-Infinity\""), "less than all");

	event.name = "a\xff\"\\\n\x01\xc3\xa9";
	is_json(&event.base, "{\"timeNs\":\"0\",\"name\":\"a\\ufffd\\\"\\\\\\n\\u0001\xc3\xa9\","
		"\"severity\":\"SEVERITY_UNSPECIFIED\",\"truncatedCount\":\"0\"}",
		"text that is none, and no payload");
	storage.actor = &actor;
	storage.layer = MONAD__STORAGE_LAYER__STORAGE_LAYER_BLOCK;
	storage.flags = flags;
	storage.n_flags = 2;
	actor.kernel_thread = true;
	event.payload_case = MONAD__EVENT_WRAPPER__PAYLOAD_STORAGE;
	event.storage = &storage;
	test_payload(&event);
}

/* No message of ours nests so deep; what does must not stop the program. */
static void test_deep(void)
{
	Monad__EventWrapper event = MONAD__EVENT_WRAPPER__INIT;
	struct json_writer json;
	char *text;
	size_t size;
	FILE *out = open_memstream(&text, &size);
	bool whole;

	event.name = "x";
	json_init(&json, out, false);
	for (int i = 0; i < JSON_MAX_DEPTH - 1; i++)
		json_begin_array(&json);
	whole = pb_json_write(&json, &event.base);
	for (int i = 0; i < JSON_MAX_DEPTH - 1; i++)
		json_end_array(&json);
	fclose(out);
	ok(!whole, "too deep is not all of it");
	ok(strstr(text, "[null]"), "and null");
	free(text);
}

/*
 * Lines
 */

static struct exporter *must_open(const char *where)
{
	struct exporter *exporter = jsonl_exporter(where, why, sizeof(why));

	if (!exporter)
		bail_out("%s: %s", where, why);
	return exporter;
}

static enum export_result send_one(struct exporter *exporter, uint64_t sequence,
				   unsigned int metrics)
{
	Monad__TelemetryBatch *batch = make_batch(sequence, metrics, 1);
	enum export_result result;

	*why = '\0';
	result = exporter->send(exporter, batch, why, sizeof(why));
	monad__telemetry_batch__free_unpacked(batch, NULL);
	return result;
}

static void set_path(const char *name)
{
	snprintf(path, sizeof(path), "%s/%s", dir, name);
}

static void append(const char *text)
{
	FILE *out = fopen(path, "a");

	fputs(text, out);
	fclose(out);
}

static Monad__MetricWrapper *add_histogram(Monad__TelemetryBatch *batch, const char *name,
					   uint64_t count)
{
	Monad__MetricWrapper *metric =
		add_metric(batch, name, "seconds", MONAD__METRIC_TYPE__METRIC_TYPE_HISTOGRAM, 0);

	metric->value = (double)count;
	metric->histogram = must(malloc(sizeof(*metric->histogram)));
	monad__histogram__init(metric->histogram);
	metric->histogram->count = count;
	return metric;
}

/* What says nothing is not said, and what says something not twice. */
static void test_metrics(void)
{
	Monad__TelemetryBatch *batch = make_batch(1, 0, 0);
	struct exporter *exporter;

	set_path("metrics");
	exporter = must_open(path);
	add_metric(batch, "never", "", MONAD__METRIC_TYPE__METRIC_TYPE_COUNTER, 0);
	for (int i = 0; i < 4; i++)
		add_metric(batch, "count", "", MONAD__METRIC_TYPE__METRIC_TYPE_COUNTER, i % 3);
	add_metric(batch, "level", "", MONAD__METRIC_TYPE__METRIC_TYPE_GAUGE, 0);
	add_metric(batch, "odd", "", 77, 0);
	add_histogram(batch, "none", 0);
	add_histogram(batch, "times", 1);
	add_histogram(batch, "times", 2);
	eq_int(exporter->send(exporter, batch, why, sizeof(why)), EXPORT_SENT, "metrics%s", why);
	eq_str(asked(path, "[.metrics[] | .name, .value]"),
	       "[\"count\",1,\"count\",2,\"level\",0,\"odd\",0,\"times\",1,\"times\",2] ",
	       "those that have never counted are not there");
	eq_str(asked(path, "[.metrics[] | select(.help).name]"),
	       "[\"count\",\"level\",\"odd\",\"times\"] ", "help is there once");
	eq_u64(batch->n_metrics, 10, "the batch is as it was");
	ok(*batch->metrics[2]->help && *batch->metrics[9]->help, "all of it");
	monad__telemetry_batch__free_unpacked(batch, NULL);
	batch = make_batch(2, 0, 0);
	add_metric(batch, "never", "", MONAD__METRIC_TYPE__METRIC_TYPE_COUNTER, 0);
	eq_int(exporter->send(exporter, batch, why, sizeof(why)), EXPORT_SENT, "none%s", why);
	eq_str(asked(path, "select(.sequence == \"2\") | has(\"metrics\")"), "false ",
	       "none at all is no list");
	monad__telemetry_batch__free_unpacked(batch, NULL);
	exporter->close(exporter);
}

static void test_file(void)
{
	struct exporter *exporter;
	char other[PATH_MAX + 64];
	struct stat st;

	set_path("file");
	exporter = must_open(path);
	ok(!stat(path, &st) && (st.st_mode & 0777) == (0640 & ~umask(022)),
	   "a file that not all may read");
	for (uint64_t i = 1; i <= 3; i++)
		eq_int(send_one(exporter, i, 100), EXPORT_SENT, "batch %d", (int)i);
	eq_str(asked(path, ".sequence, (.metrics | length)"), "\"1\" 100 \"2\" 100 \"3\" 100 ",
	       "jq finds them");
	snprintf(other, sizeof(other), "%s.1", path);
	rename(path, other);
	send_one(exporter, 4, 1);
	eq_str(asked(path, ".sequence"), "\"4\" ", "a file that was renamed is begun anew");
	eq_str(asked(other, ".sequence"), "\"1\" \"2\" \"3\" ", "and the old one left as it was");
	unlink(path);
	send_one(exporter, 5, 1);
	eq_str(asked(path, ".sequence"), "\"5\" ", "so is one that was removed");
	if (truncate(path, 0))
		diag("truncate: %s", strerror(errno));
	send_one(exporter, 6, 1);
	eq_str(asked(path, ".sequence"), "\"6\" ", "one that was emptied has no hole");
	exporter->close(exporter);
	exporter = must_open(path);
	send_one(exporter, 7, 1);
	exporter->close(exporter);
	eq_str(asked(path, ".sequence"), "\"6\" \"7\" ", "one that is there is gone on with");
	append("{\"half");
	exporter = must_open(path);
	send_one(exporter, 8, 1);
	exporter->close(exporter);
	snprintf(other, sizeof(other), "test \"$(tail -n 1 '%s' | jq -r .sequence)\" = 8", path);
	eq_int(system(other), 0, "half a line of another does not become part of ours");
}

static void test_wrong(void)
{
	char missing[PATH_MAX + 16];
	struct exporter *exporter;

	set_path("wrong");
	snprintf(missing, sizeof(missing), "%s/none/file", path);
	ok(!jsonl_exporter(missing, why, sizeof(why)), "no such directory: %s", why);
	ok(!jsonl_exporter(dir, why, sizeof(why)), "a directory: %s", why);
	exporter = must_open(path);
	unlink(path);
	mkdir(path, 0700);
	eq_int(send_one(exporter, 1, 1), EXPORT_AGAIN, "a directory in its place: %s", why);
	rmdir(path);
	eq_int(send_one(exporter, 1, 1), EXPORT_SENT, "and when it is gone");
	exporter->close(exporter);
	if (access("/dev/full", W_OK)) {
		skip("no /dev/full");
		return;
	}
	exporter = must_open("/dev/full");
	eq_int(send_one(exporter, 1, 1), EXPORT_AGAIN, "a full device: %s", why);
	ok(strstr(why, "space"), "says so");
	exporter->close(exporter);
}

/* A limit ends a write in its middle, as a full disk does. */
static void test_full(void)
{
	struct rlimit limit = { .rlim_cur = 20000, .rlim_max = RLIM_INFINITY };
	struct exporter *exporter;
	uint64_t sent = 0;
	struct stat st;
	char last[32];

	set_path("full");
	exporter = must_open(path);
	setrlimit(RLIMIT_FSIZE, &limit);
	while (sent < 1000 && send_one(exporter, sent + 1, 30) == EXPORT_SENT)
		sent++;
	ok(sent > 1 && sent < 1000, "%d lines go in: %s", (int)sent, why);
	stat(path, &st);
	ok(st.st_size < 20000, "what did not go in whole is not there (%d bytes)",
	   (int)st.st_size);
	snprintf(last, sizeof(last), "%d ", (int)sent);
	eq_str(asked(path, "[inputs, .] | map(.sequence | tonumber) | max"), last,
	       "the last line is the last that was sent");
	eq_int(send_one(exporter, sent + 1, 30), EXPORT_AGAIN, "nor the second time");
	limit.rlim_cur = RLIM_INFINITY;
	setrlimit(RLIMIT_FSIZE, &limit);
	eq_int(send_one(exporter, sent + 1, 30), EXPORT_SENT, "with room again it goes on");
	snprintf(why, sizeof(why), "%d ", (int)sent + 1);
	ok(strstr(asked(path, ".sequence | tonumber"), why), "behind whole lines");
	exporter->close(exporter);
}

/* The real thing: a file system with no room. */
static void test_full_disk(void)
{
	struct exporter *exporter;
	uint64_t sent = 0;
	char text[32];

	set_path("disk");
	mkdir(path, 0700);
	if (unshare(CLONE_NEWNS) || mount("none", "/", "none", MS_REC | MS_PRIVATE, NULL) ||
	    mount("none", path, "tmpfs", 0, "size=32k")) {
		skip("mounting takes root");
		return;
	}
	strcat(path, "/file");
	exporter = must_open(path);
	while (sent < 1000 && send_one(exporter, sent + 1, 30) == EXPORT_SENT)
		sent++;
	ok(sent && sent < 1000 && strstr(why, "space"), "a full disk after %d lines: %s",
	   (int)sent, why);
	snprintf(text, sizeof(text), "%d ", (int)sent);
	eq_str(asked(path, "select(.sequence | tonumber > 0) | 1"),
	       asked(path, "1"), "all lines are whole");
	exporter->close(exporter);
	umount2(path, MNT_DETACH);
	snprintf(path, sizeof(path), "%s/disk", dir);
	umount2(path, MNT_DETACH);
}

/*
 * Pipes
 */

static void test_pipe(void)
{
	struct exporter *exporter;
	enum export_result result;
	uint64_t began;
	int fd;
	char copy[PATH_MAX + 8], command[3 * PATH_MAX];

	set_path("fifo");
	snprintf(copy, sizeof(copy), "%s.copy", path);
	mkfifo(path, 0600);
	exporter = must_open(path);
	eq_int(send_one(exporter, 1, 1), EXPORT_AGAIN, "a FIFO: %s", why);
	fd = open(path, O_RDONLY | O_NONBLOCK);
	eq_int(send_one(exporter, 1, 1), EXPORT_SENT, "with a reader");
	began = monotonic_ns();
	result = send_one(exporter, 2, 2000);
	eq_int(result, EXPORT_AGAIN, "who reads too little: %s", why);
	ok(monotonic_ns() - began < 30000000000, "does not keep it");
	/* In the middle of the line; now there is somebody who reads it. */
	fcntl(fd, F_SETFL, 0);
	snprintf(command, sizeof(command), "cat <&%d >'%s' &", fd, copy);
	if (system(command))
		diag("no cat");
	close(fd);
	eq_int(send_one(exporter, 2, 2000), EXPORT_SENT, "when he does it goes on");
	eq_int(send_one(exporter, 3, 1), EXPORT_SENT, "and with the next");
	exporter->close(exporter);
	for (int i = 0; i < 100 && !strstr(asked(copy, ".sequence"), "\"3\""); i++)
		usleep(50000);
	eq_str(asked(copy, ".sequence"), "\"1\" \"2\" \"3\" ",
	       "each line is there once, and whole");
}

static void test_stdout(void)
{
	int ends[2], status;
	char text[200000];
	size_t have = 0;
	ssize_t n;
	pid_t pid;

	if (pipe(ends))
		bail_out("pipe: %s", strerror(errno));
	fflush(stdout);
	pid = fork();
	if (!pid) {
		struct exporter *exporter;
		bool sent = true;

		dup2(ends[1], STDOUT_FILENO);
		close(ends[0]);
		exporter = must_open("-");
		for (uint64_t i = 1; i <= 50; i++)
			sent &= send_one(exporter, i, 20) == EXPORT_SENT;
		exporter->close(exporter);
		_exit(!sent);
	}
	close(ends[1]);
	while (have < sizeof(text) - 1 &&
	       (n = read(ends[0], text + have, sizeof(text) - 1 - have)) > 0)
		have += n;
	text[have] = '\0';
	close(ends[0]);
	waitpid(pid, &status, 0);
	eq_int(status, 0, "stdout takes them");
	set_path("stdout");
	append(text);
	eq_str(asked(path, "select(.sequence == \"50\") | .sequence"), "\"50\" ", "all of them");
}

int main(void)
{
	char command[PATH_MAX];

	signal(SIGPIPE, SIG_IGN);
	signal(SIGXFSZ, SIG_IGN);
	if (system("jq --version >/dev/null 2>&1"))
		skip_all("no jq: tools/setup.sh vm");
	if (!mkdtemp(dir))
		bail_out("mkdtemp: %s", strerror(errno));
	test_json();
	test_deep();
	test_metrics();
	test_file();
	test_wrong();
	test_full();
	test_pipe();
	test_stdout();
	test_full_disk();
	snprintf(command, sizeof(command), "rm -rf '%s'", dir);
	if (system(command))
		diag("%s stays", dir);
	return done_testing();
}
