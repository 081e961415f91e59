/* Writes at a moment at which the process is single-threaded what only CTL can write: for hpcrun-lite --control. Called
 * by RT (rt/core/ctl_calls.h).  A failure is part of the answer.  Context: CTL. */
#include <errno.h>

#include "hpcrun-lite/exec.h"
#include "hpcrun-lite/lock.h"
#include "hpcrun-lite/measurement.h"
#include "hpcrun-lite/process/process.h"
#include "hpcrun-lite/rt/control/command.h"
#include "hpcrun-lite/rt/core/ctl_calls.h"
#include "hpcrun-lite/rt/core/sys.h"

void serial_moment(void)
{
  int saved_errno = errno;
  bool written = false, tried = false;
  if (!process.active || rt.pid != sys_pid())
    return;
  lock_take();
  if (atomic_exchange(&control_process.serial_wanted, false) && !process.finished && !exec_under_way()) {
    tried = true;
    written = measurement_flush();
  }
  lock_drop();
  if (tried)
    command_flushed(written);
  errno = saved_errno;
}
