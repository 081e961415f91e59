#include "hpcrun-lite/launch/trial/repetition.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "common/order.h"
#include "hpcrun-lite/launch/program/child.h"
#include "hpcrun-lite/launch/program/program.h"
#include "hpcrun-lite/launch/trial/trial_settings.h"

static const uint64_t ns_per_s = 1000000000, ns_per_ms = 1000000;
static const uint64_t grace_ns = 2000000000; /* between a signal that ends the launcher and the group's end */

static uint64_t now_ns(void)
{
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (uint64_t)now.tv_sec * ns_per_s + (uint64_t)now.tv_nsec;
}

/* The CPU time that all CPUs have spent since the machine started; 0 if that is not known. */
static uint64_t machine_cpu_ns(void)
{
  uint64_t user, nice, kernel, idle, waiting, interrupts, softer;
  FILE *file = fopen("/proc/stat", "re");
  bool known =
      file && fscanf(file, "cpu %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64,
                     &user, &nice, &kernel, &idle, &waiting, &interrupts, &softer) == 7;
  if (file)
    fclose(file);
  long ticks = sysconf(_SC_CLK_TCK);
  return known && ticks > 0 ? (user + nice + kernel + interrupts + softer) * (ns_per_s / (uint64_t)ticks) : 0;
}

/* ---- the process ---- */

struct process {
  struct child child;
  int output[REPETITION_STREAMS]; /* to read; -1: closed */
  int signals;
};

static void run_in_child(const struct process *process, const int *written, char *const *command, const char *setting)
{
  for (int i = 0; i < REPETITION_STREAMS; i++)
    if (dup2(written[i], i ? STDERR_FILENO : STDOUT_FILENO) < 0)
      child_fail(&process->child, LAUNCH_FAILED);
  char **words = trial_settings_command(setting, command);
  if (trial_settings_apply(setting))
    execvp(words[0], words);
  child_fail(&process->child, LAUNCH_NOT_EXECUTABLE);
}

static void close_output(struct process *process, int stream)
{
  if (process->output[stream] >= 0)
    close(process->output[stream]);
  process->output[stream] = -1;
}

static void release_process(struct process *process)
{
  for (int i = 0; i < REPETITION_STREAMS; i++)
    close_output(process, i);
  if (process->signals >= 0)
    close(process->signals);
}

/* Opens the pipes, and starts the command.  Returns false, with errno, if that fails. */
static bool start_process(struct process *process, char *const *command, const char *setting)
{
  int written[REPETITION_STREAMS], opened = 0, role = -1;
  for (int ends[2]; opened < REPETITION_STREAMS && pipe2(ends, O_CLOEXEC) == 0; opened++) {
    process->output[opened] = ends[0];
    written[opened] = ends[1];
    fcntl(ends[0], F_SETFL, O_NONBLOCK);
  }
  process->signals = child_open_signals();
  if (opened == REPETITION_STREAMS && process->signals >= 0)
    role = child_fork_group(&process->child);
  if (role == 0)
    run_in_child(process, written, command, setting);
  int error = errno;
  for (int i = 0; i < opened; i++)
    close(written[i]);
  errno = error;
  return role > 0;
}

/* Reads what can be read of a stream, and closes it at its end. */
static void read_output(struct process *process, int stream, struct printed_lines *printed)
{
  char block[1 << 14];
  ssize_t size;
  while (process->output[stream] >= 0) {
    size = read(process->output[stream], block, sizeof block);
    if (size > 0)
      printed_lines_add(printed, block, (size_t)size);
    else if (size == 0 || errno != EINTR)
      break;
  }
  if (process->output[stream] >= 0 && size == 0)
    close_output(process, stream);
}

/* Waits until something happens, at most until that time. */
static void wait_for_event(const struct process *process, uint64_t until_ns)
{
  struct pollfd events[REPETITION_STREAMS + 1] = {{.fd = process->signals, .events = POLLIN}};
  uint64_t now = now_ns(), left_ms = until_ns > now ? (until_ns - now + ns_per_ms - 1) / ns_per_ms : 0;
  for (int i = 0; i < REPETITION_STREAMS; i++)
    events[i + 1] = (struct pollfd){.fd = process->output[i], .events = POLLIN};
  poll(events, REPETITION_STREAMS + 1, (int)MIN(left_ms, 60000));
}

/* How a run ended. */
static void take_status(struct trial_run *run, int status, bool executed, bool timed_out)
{
  if (!executed)
    run->end = TRIAL_FAILED;
  else if (timed_out)
    run->end = TRIAL_TIMED_OUT;
  else
    run->end = WIFSIGNALED(status) ? TRIAL_KILLED : TRIAL_EXITED;
  if (run->end == TRIAL_KILLED)
    run->code = (uint32_t)WTERMSIG(status);
  else if (run->end == TRIAL_EXITED)
    run->code = (uint32_t)WEXITSTATUS(status);
}

/* Follows the process to its end.  Returns its CPU time. */
static uint64_t follow(struct process *process, uint64_t start_ns, uint64_t limit_ns, struct repetition *repetition)
{
  int status = 0;
  bool executed = true, timed_out = false;
  uint64_t cpu_ns = 0, stopped_ns = 0, interrupted_ns = 0;
  while (!child_group_ended(&process->child, &status, &executed, &cpu_ns)) {
    uint64_t until_ns = start_ns + stopped_ns + limit_ns;
    if (interrupted_ns)
      until_ns = MIN(until_ns, interrupted_ns + grace_ns);
    if (now_ns() >= until_ns) {
      timed_out = true;
      kill(-process->child.pid, SIGKILL);
      until_ns = UINT64_MAX;
    }
    wait_for_event(process, until_ns);
    if (child_group_signals(&process->child, process->signals, &stopped_ns) && !interrupted_ns)
      interrupted_ns = now_ns();
    for (int i = 0; i < REPETITION_STREAMS; i++)
      read_output(process, i, &repetition->printed[i]);
  }
  repetition->run.elapsed_ns = now_ns() - start_ns - stopped_ns;
  repetition->stopped = stopped_ns > 0;
  take_status(&repetition->run, status, executed, timed_out);
  for (int i = 0; i < REPETITION_STREAMS; i++) { /* processes that it has left behind may hold them open */
    read_output(process, i, &repetition->printed[i]);
    printed_lines_end(&repetition->printed[i]);
  }
  return cpu_ns;
}

bool repetition_run(char *const *command, const char *setting, uint64_t limit_ns, struct repetition *repetition)
{
  assert(command[0] && limit_ns);
  struct process process = {.output = {-1, -1}, .signals = -1};
  uint64_t machine_ns = machine_cpu_ns(), start_ns = now_ns();
  *repetition = (struct repetition){.run.others_ns = TRIAL_UNKNOWN};
  bool started = start_process(&process, command, setting);
  if (started) {
    uint64_t own_ns = follow(&process, start_ns, limit_ns, repetition), now = machine_cpu_ns();
    if (machine_ns && now >= machine_ns)
      repetition->run.others_ns = now - machine_ns > own_ns ? now - machine_ns - own_ns : 0;
  }
  int error = errno;
  release_process(&process);
  errno = error;
  return started;
}

void repetition_release(struct repetition *repetition)
{
  for (int i = 0; i < REPETITION_STREAMS; i++)
    printed_lines_release(&repetition->printed[i]);
}
