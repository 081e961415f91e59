#include "hpcprof-lite/marks_pipelines.h"

int marks_collect(struct job *job)
{
  bool limited = job->options.limited;
  run_marks_release(&job->marks);
  job->report.marks = &job->marks;
  return run_marks_read(&job->profile, limited ? job->options.from_ns : 0, limited ? job->options.to_ns : UINT64_MAX,
                        &job->marks)
             ? job_no_memory()
             : 0;
}

int marks_pipeline(struct job *job)
{
  int status = marks_collect(job);
  if (status || job->marks.count)
    return status;
  job_print_error("the program has marked nothing%s: call hpcrun_lite_mark() or hpcrun_lite_phase() (hpcrun-lite.h)",
                  job->options.limited ? " between --from and --to" : "");
  return EXIT_INPUT;
}

int user_counters_pipeline(struct job *job)
{
  for (uint32_t i = 0; i < job->profile.processes_usable; i++)
    if (job->profile.processes[i].marks.counts_count)
      return 0;
  job_print_error("the program has counted nothing: call hpcrun_lite_counter() (hpcrun-lite.h)");
  return EXIT_INPUT;
}
