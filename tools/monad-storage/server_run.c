// SPDX-License-Identifier: GPL-2.0
/* What the process of a task does that was asked for over a socket. */
#include "bpf_programs.h"
#include "monad_storage.h"
#include "server.h"
#include "task_answer.h"
#include "task_run.h"
#include "task_stacks.h"
#include "transform_sources.h"

int server_run_task(const struct server_job *job)
{
	struct task_options options = job->options;
	struct transform_sources sources;
	const struct task_answer_options answer_options = {
		.options = &options,
		.sources = &sources,
		.task_id = job->request->task_id,
		.fd = job->fd,
		.message_fd = job->message_fd,
		.patience_ns = job->patience_ns,
		.end_ns = job->stuck_ns,
	};
	struct task_answer *answer;
	int status;

	bpf_log_begin(false);
	if (bpf_check_system("a task") || task_request_devices(job->request, &options))
		return EXIT_FAILED;
	if (transform_sources_open(&sources)) {
		error("out of memory");
		return EXIT_FAILED;
	}
	task_stacks_open(&sources);
	options.yields = true;
	answer = task_answer_new(&answer_options);
	status = task_run(&options, task_answer_output(answer));
	task_answer_free(answer);
	task_stacks_close();
	transform_sources_close(&sources);
	return status;
}
