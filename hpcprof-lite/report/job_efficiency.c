#include "hpcprof-lite/report/job_efficiency.h"

#include <assert.h>
#include <inttypes.h>
#include <math.h>

enum { CELL = 32, NAME = 25 };

const char *job_efficiency_meaning(enum efficiency_job_metric metric)
{
  assert(metric < JOB_METRICS);
  static const char *const meaning[JOB_METRICS] = {[JOB_GLOBAL] = "all losses below",
                                                   [JOB_MPI] = "time in MPI",
                                                   [JOB_MPI_BALANCE] = "unequal times outside MPI",
                                                   [JOB_MPI_COMMUNICATION] = "MPI in the longest rank",
                                                   [JOB_MPI_SERIALISATION] = "dependences between ranks",
                                                   [JOB_MPI_TRANSFER] = "all else in MPI, like MPI_Init",
                                                   [JOB_OPENMP] = "the ranks' threads, outside MPI"};
  return meaning[metric];
}

/* How deep an efficiency is in the tree: it is the product of those below it. */
static int level_of(enum efficiency_job_metric metric)
{
  static const int levels[JOB_METRICS] = {[JOB_GLOBAL] = 0,
                                          [JOB_MPI] = 1,
                                          [JOB_MPI_BALANCE] = 2,
                                          [JOB_MPI_COMMUNICATION] = 2,
                                          [JOB_MPI_SERIALISATION] = 3,
                                          [JOB_MPI_TRANSFER] = 3,
                                          [JOB_OPENMP] = 1};
  return levels[metric];
}

void job_efficiency_print(const struct report *report, const struct terminal *terminal)
{
  const struct efficiency_job *job = &report->efficiency.job;
  if (!job->known)
    return;
  fprintf(report->stream, "\n%s%-*s %10s %9s  %s%s\n", terminal_bold(terminal), NAME, "Efficiencies of the job",
          "Efficiency", "Gain s", "Lost to", terminal_plain(terminal));
  for (unsigned i = 0; i < JOB_METRICS; i++) {
    if (isnan(job->value[i]))
      continue;
    char gain[CELL];
    int indent = 2 * level_of(i);
    snprintf(gain, sizeof gain, job->gain_s[i] < 99999 ? "%.3f" : "%.3g", job->gain_s[i]);
    fprintf(report->stream, "%*s%-*s %8.1f %% %9s  %s\n", indent, "", NAME - indent, efficiency_job_name(i),
            100 * job->value[i], gain, job_efficiency_meaning(i));
  }
  terminal_wrapf(terminal, report->stream, "", "",
                 "Each is the product of those below it.  The %" PRIu32 " ranks ran for up to %.3f s.", job->ranks,
                 job->elapsed_s);
  if (job->world > job->ranks)
    fprintf(report->stream, "Only %" PRIu32 " of the %" PRIu32 " ranks of the job were measured.\n", job->ranks,
            job->world);
}
