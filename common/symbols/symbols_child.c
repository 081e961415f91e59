#include "common/symbols/symbols_child.h"

#include "common/order.h"
#include "common/xalloc.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { PIPE_BYTES = 1 << 20 };

/* Held from the creation of a pipe until the parent has closed its write end.  Otherwise a child that another thread
 * starts meanwhile would inherit the write end, and the reader would not see the end of the output. */
static pthread_mutex_t fork_lock = PTHREAD_MUTEX_INITIALIZER;

struct output {
  uint8_t *bytes;
  size_t size, room;
};

/* Reads the start of a file of /proc.  Returns false without one. */
static bool read_text(const char *path, char *text, size_t size)
{
  int fd = open(path, O_RDONLY | O_CLOEXEC);
  ssize_t got = fd < 0 ? -1 : read(fd, text, size - 1);
  if (fd >= 0)
    close(fd);
  text[got > 0 ? got : 0] = 0;
  return got > 0;
}

/* Bytes of address space in use, 0 if unknown. */
static uint64_t address_space_bytes(void)
{
  char text[64];
  if (!read_text("/proc/self/statm", text, sizeof text))
    return 0;
  return strtoull(text, NULL, 10) * (uint64_t)sysconf(_SC_PAGESIZE);
}

/* Lowers a resource limit, unless it is lower already. */
static void lower(int resource, uint64_t value)
{
  struct rlimit limit;
  if (getrlimit(resource, &limit))
    return;
  limit.rlim_max = MIN(limit.rlim_max, value);
  limit.rlim_cur = MIN(limit.rlim_cur, limit.rlim_max);
  setrlimit(resource, &limit);
}

/* Limits the child.  CPU time is limited to the millisecond by a timer, whose signal kills the child, and to the second
 * by a resource limit in case that signal does not arrive. */
static void set_limits(const struct symbols_child_limits *limits)
{
  static const int ending[] = {SIGSEGV, SIGBUS, SIGABRT, SIGFPE, SIGILL, SIGPROF, SIGXCPU, SIGPIPE};
  struct itimerval timer = {
      .it_value = {.tv_sec = (time_t)(limits->cpu_ms / 1000), .tv_usec = (suseconds_t)(limits->cpu_ms % 1000) * 1000}};
  uint64_t used_bytes = address_space_bytes();
  sigset_t none;
  for (size_t i = 0; i < sizeof ending / sizeof *ending; i++)
    signal(ending[i], SIG_DFL);
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, NULL);
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  prctl(PR_SET_DUMPABLE, 0);
  lower(RLIMIT_CORE, 0);
  lower(RLIMIT_CPU, limits->cpu_ms / 1000 + 2);
  if (used_bytes)
    lower(RLIMIT_AS, used_bytes + limits->memory_bytes);
  setitimer(ITIMER_PROF, &timer, NULL);
}

/* Discards what a failing library prints: the user cannot use it. */
static void silence(void)
{
  int null = open("/dev/null", O_WRONLY | O_CLOEXEC);
  if (null < 0)
    return;
  dup2(null, STDOUT_FILENO);
  dup2(null, STDERR_FILENO);
}

void symbols_child_write(int out, const void *bytes, size_t size)
{
  assert(bytes || !size);
  const uint8_t *next = bytes;
  while (size) {
    ssize_t written = write(out, next, size);
    if (written < 0 && errno != EINTR)
      _exit(EXIT_FAILURE);
    if (written > 0) {
      next += written;
      size -= (size_t)written;
    }
  }
}

/* Starts the child.  Returns its process id, and the read end of the pipe in *in; -1 on failure. */
static pid_t start(void (*work)(void *, int), void *argument, const struct symbols_child_limits *limits, int *in)
{
  int ends[2];
  pthread_mutex_lock(&fork_lock);
  if (pipe2(ends, O_CLOEXEC)) {
    pthread_mutex_unlock(&fork_lock);
    return -1;
  }
  fcntl(ends[0], F_SETPIPE_SZ, PIPE_BYTES);
  pid_t child = fork();
  if (!child) {
    close(ends[0]);
    set_limits(limits);
    silence();
    xalloc_on_failure(NULL);
    work(argument, ends[1]);
    _exit(0);
  }
  close(ends[1]);
  pthread_mutex_unlock(&fork_lock);
  *in = ends[0];
  if (child < 0)
    close(ends[0]);
  return child;
}

/* Whether the CPU time of the child is still *used, which is updated. */
static bool is_idle(pid_t child, struct timespec *used)
{
  clockid_t clock;
  struct timespec before = *used;
  return !clock_getcpuclockid(child, &clock) && !clock_gettime(clock, used) && used->tv_sec == before.tv_sec &&
         used->tv_nsec == before.tv_nsec;
}

/* Whether the child is in state S.  Reading debug data never blocks; waiting for a core or a page, or being stopped, is
 * another state.  Where /proc hides processes that cannot be traced (hidepid), no CPU time since the last look counts
 * as sleep. */
static bool sleeps(pid_t child, struct timespec *used)
{
  char path[64], text[512];
  snprintf(path, sizeof path, "/proc/%d/stat", (int)child);
  if (!read_text(path, text, sizeof text))
    return is_idle(child, used);
  const char *name_end = strrchr(text, ')');
  return name_end && !strncmp(name_end, ") S", 3);
}

/* Waits until there is output of the child, or its end.  Returns NULL, or why it must be killed. */
static const char *await(int in, pid_t child, const struct symbols_child_limits *limits)
{
  enum { LOOKS = 10 };
  struct timespec used = {0};
  for (int asleep = 0; asleep < LOOKS;) {
    struct pollfd wait = {.fd = in, .events = POLLIN};
    int ready = poll(&wait, 1, (int)(limits->asleep_ms / LOOKS));
    if (ready > 0)
      return NULL;
    if (ready < 0 && errno != EINTR)
      return "the process that reads them cannot be monitored";
    if (!ready)
      asleep = sleeps(child, &used) ? asleep + 1 : 0;
  }
  return "reading them hangs";
}

/* Reads until the child closes the pipe.  Returns NULL, or why the child must be killed. */
static const char *collect(int in, pid_t child, const struct symbols_child_limits *limits, struct output *output)
{
  assert(in >= 0);
  for (;;) {
    const char *reason = await(in, child, limits);
    if (reason)
      return reason;
    if (output->size >= limits->output_bytes)
      return "they expand to too much data";
    xarray_reserve(&output->bytes, &output->room, output->size + 1, 1);
    size_t end = MIN(output->room, limits->output_bytes);
    ssize_t got = read(in, output->bytes + output->size, end - output->size);
    if (!got)
      return NULL;
    if (got > 0)
      output->size += (size_t)got;
    else if (errno != EINTR)
      return "they cannot be read";
  }
}

/* Waits until the child has ended, and sets *fault to why it failed, or to NULL.  If the user ignores SIGCHLD, there is
 * no status, and the check of the output finds out. */
static enum symbols_child_end finish(pid_t child, const char **fault)
{
  int status;
  pid_t ended;
  do
    ended = waitpid(child, &status, 0);
  while (ended < 0 && errno == EINTR);
  *fault = NULL;
  if (ended != child || (WIFEXITED(status) && !WEXITSTATUS(status)))
    return SYMBOLS_CHILD_DONE;
  int signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
  *fault = signal ? "reading them fails" : "there is not enough memory for them";
  if (signal == SIGPROF || signal == SIGXCPU)
    *fault = "reading them takes too much CPU time";
  else if (signal == SIGKILL)
    *fault = "the process that reads them was killed";
  bool limited = !signal || signal == SIGPROF || signal == SIGXCPU || signal == SIGKILL;
  return limited ? SYMBOLS_CHILD_LIMITED : SYMBOLS_CHILD_FAILED;
}

enum symbols_child_end symbols_child_run(void (*work)(void *argument, int out), void *argument,
                                         const struct symbols_child_limits *limits, uint8_t **bytes, size_t *size,
                                         const char **fault)
{
  assert(work && bytes && size && fault);
  struct output output = {0};
  int in = -1;
  pid_t child = start(work, argument, limits, &in);
  if (child < 0) {
    *fault = "no process can be started to read them";
    return SYMBOLS_CHILD_LIMITED;
  }
  const char *kill_reason = collect(in, child, limits, &output);
  if (kill_reason)
    kill(child, SIGKILL); /* it has not been waited for, so the id is still its own */
  close(in);
  enum symbols_child_end end = finish(child, fault);
  if (kill_reason) {
    *fault = kill_reason;
    end = SYMBOLS_CHILD_FAILED;
  }
  if (*fault) {
    free(output.bytes);
    output = (struct output){0};
  }
  *bytes = output.bytes;
  *size = output.size;
  return end;
}
