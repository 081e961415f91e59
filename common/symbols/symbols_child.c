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

static uint64_t now_ms(void)
{
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

/* Bytes of address space in use, 0 if unknown. */
static uint64_t address_space_bytes(void)
{
  char text[64];
  int fd = open("/proc/self/statm", O_RDONLY | O_CLOEXEC);
  ssize_t size = fd < 0 ? -1 : read(fd, text, sizeof text - 1);
  if (fd >= 0)
    close(fd);
  if (size <= 0)
    return 0;
  text[size] = 0;
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

/* Reads until the child closes the pipe.  Returns NULL, or why the child must be killed. */
static const char *collect(int in, const struct symbols_child_limits *limits, struct output *output)
{
  assert(in >= 0);
  uint64_t deadline = now_ms() + limits->wall_ms;
  for (;;) {
    uint64_t now = now_ms();
    struct pollfd wait = {.fd = in, .events = POLLIN};
    int ready = now < deadline ? poll(&wait, 1, (int)(deadline - now)) : 0;
    if (!ready)
      return "reading them takes too long";
    if (ready < 0 && errno != EINTR)
      return "the process that reads them cannot be monitored";
    if (ready < 0)
      continue;
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

/* Waits until the child has ended.  Returns NULL, or why it failed.  If the user ignores SIGCHLD, there is no status,
 * and the check of the output finds out. */
static const char *finish(pid_t child)
{
  int status;
  pid_t ended;
  do
    ended = waitpid(child, &status, 0);
  while (ended < 0 && errno == EINTR);
  if (ended != child || (WIFEXITED(status) && !WEXITSTATUS(status)))
    return NULL;
  if (WIFSIGNALED(status) && (WTERMSIG(status) == SIGPROF || WTERMSIG(status) == SIGXCPU))
    return "reading them takes too long";
  return WIFSIGNALED(status) ? "reading them fails" : "there is not enough memory for them";
}

bool symbols_child_run(void (*work)(void *argument, int out), void *argument, const struct symbols_child_limits *limits,
                       uint8_t **bytes, size_t *size, const char **fault)
{
  assert(work && bytes && size && fault);
  struct output output = {0};
  int in = -1;
  pid_t child = start(work, argument, limits, &in);
  if (child < 0) {
    *fault = "no process can be started to read them";
    return false;
  }
  const char *kill_reason = collect(in, limits, &output);
  if (kill_reason)
    kill(child, SIGKILL); /* it has not been waited for, so the id is still its own */
  close(in);
  *fault = finish(child);
  if (kill_reason)
    *fault = kill_reason;
  if (*fault) {
    free(output.bytes);
    output = (struct output){0};
  }
  *bytes = output.bytes;
  *size = output.size;
  return !*fault;
}
