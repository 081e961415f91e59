/* The clocks of the hosts of an MPI job, corrected by what their ranks have sent each other.
 *
 * Context: BATCH, the main thread.  Reads the logs of all ranks once, with each host on its own clock: a record that
 * completes something waits for those that it needs, so that neither the order of records nor what is matched depends
 * on how the clocks relate.  Messages and collective operations of ranks on different hosts bound the clocks
 * (host_clocks.h).  Memory: as that of job_messages.h, and what has been sent between hosts and not received.
 */
#ifndef HPCPROF_LITE_MESSAGES_JOB_CLOCKS_H
#define HPCPROF_LITE_MESSAGES_JOB_CLOCKS_H

#include "hpcprof-lite/model/profile.h"

/* Sets profile->clocks.  If ranks ran on several hosts, which their messages relate to each other, sets start_ns and
 * clock_rate of all processes on these hosts, so that their times are those of the first host's clock.  Otherwise no
 * process changes.  What is wrong with the logs is not reported. */
void job_clocks_correct(struct profile *profile);

#endif
