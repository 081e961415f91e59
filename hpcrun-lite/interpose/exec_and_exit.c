/* Ends of the process image: _exit() and exec; and posix_spawn().  Context: CTL. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdarg.h>
#include <unistd.h>

#include "hpcrun-lite/lifecycle.h"
#include "hpcrun-lite/exec.h"
#include "hpcrun-lite/interpose/child_preload.h"
#include "hpcrun-lite/interpose/interposed.h"
#include "hpcrun-lite/process/libc.h"
#include "hpcrun-lite/process/own_signal.h"
#include "hpcrun-lite/rt/core/rt.h"
#include "hpcrun-lite/rt/core/sys.h"

INTERPOSED void _exit(int status)
{
  lifecycle_finish();
  sys_exit_group(status);
}

INTERPOSED void _Exit(int status)
{
  lifecycle_finish();
  sys_exit_group(status);
}

/* The new program inherits the signal mask that the program has set. */
static void begin_exec(void)
{
  exec_begin();
  if (own_signal_view.blocked)
    own_signal_block();
}

static void end_exec(void)
{
  int saved_errno = errno;
  exec_failed();
  if (own_signal_view.blocked)
    own_signal_unblock();
  errno = saved_errno;
}

/* ---- a new program, in this process or another ---- */

/* A call of libc that executes a program, with its arguments. */
struct start {
  enum libc_call call;
  struct child_image image;
  char *const *argv;
  int flags;
  pid_t *pid;
  const posix_spawn_file_actions_t *actions;
  const posix_spawnattr_t *attributes;
};

typedef int spawn_function(pid_t *, const char *, const posix_spawn_file_actions_t *, const posix_spawnattr_t *,
                           char *const[], char *const[]);

static int call_libc(const struct start *start, char *const envp[])
{
  const struct child_image *image = &start->image;
  void *real = libc_real(start->call);
  switch (start->call) {
  case LIBC_fexecve:
    return ((int (*)(int, char *const[], char *const[]))real)(image->directory, start->argv, envp);
  case LIBC_execveat:
    return ((int (*)(int, const char *, char *const[], char *const[], int))real)(image->directory, image->path,
                                                                                 start->argv, envp, start->flags);
  case LIBC_posix_spawn:
  case LIBC_posix_spawnp:
    return ((spawn_function *)real)(start->pid, image->path, start->actions, start->attributes, start->argv, envp);
  default:
    return ((int (*)(const char *, char *const[], char *const[]))real)(image->path, start->argv, envp);
  }
}

/* How much of the calling thread's stack the environment may take. */
static size_t stack_room(void)
{
  enum { KEPT = 32 << 10, UNKNOWN = 2 << 10 };
  const struct thread_state *t = rt_thread();
  uint64_t here = (uint64_t)__builtin_frame_address(0);
  if (!t || here < t->stack_low || here >= t->stack_high || here - t->stack_low < KEPT)
    return UNKNOWN;
  return (here - t->stack_low - KEPT) / 2 + UNKNOWN;
}

/* Calls libc with the environment that suits the program.  That is on the stack, since nothing frees other memory that
 * a vfork() child gets in its parent.  Only a large environment on a small stack gets other memory. */
static int start_program(const struct start *start, const struct child_image *examined, char *const envp[])
{
  size_t bytes = child_preload_bytes(examined, envp);
  bool on_stack = bytes <= stack_room();
  char *place[on_stack ? bytes / sizeof(char *) + 2 : 1];
  void *memory = on_stack ? place : sys_map(bytes);
  int result = call_libc(start, bytes && memory ? child_preload_change(memory, bytes, envp) : envp);
  if (!on_stack && memory)
    sys_unmap(memory, bytes);
  return result;
}

static int execute(const struct start *start, const struct child_image *examined, char *const envp[])
{
  begin_exec();
  int result = start_program(start, examined, envp);
  end_exec();
  return result;
}

INTERPOSED int execve(const char *path, char *const argv[], char *const envp[])
{
  const struct start start = {.call = LIBC_execve, .image = {.directory = AT_FDCWD, .path = path}, .argv = argv};
  return execute(&start, &start.image, envp);
}

INTERPOSED int execv(const char *path, char *const argv[])
{
  return execve(path, argv, environ);
}

INTERPOSED int execvpe(const char *file, char *const argv[], char *const envp[])
{
  const struct start start = {
      .call = LIBC_execvpe, .image = {.directory = AT_FDCWD, .path = file, .search = true}, .argv = argv};
  return execute(&start, &start.image, envp);
}

INTERPOSED int execvp(const char *file, char *const argv[])
{
  return execvpe(file, argv, environ);
}

INTERPOSED int fexecve(int fd, char *const argv[], char *const envp[])
{
  const struct start start = {.call = LIBC_fexecve, .image = {.directory = fd}, .argv = argv};
  return execute(&start, &start.image, envp);
}

INTERPOSED int execveat(int fd, const char *path, char *const argv[], char *const envp[], int flags)
{
  const struct start start = {
      .call = LIBC_execveat, .image = {.directory = fd, .path = path}, .argv = argv, .flags = flags};
  bool itself = flags & AT_EMPTY_PATH && sys_readable((uint64_t)path) && !*path;
  const struct child_image examined = {.directory = fd, .path = itself ? NULL : path};
  return execute(&start, &examined, envp);
}

/* The list forms: their arguments become an array.  In execle(), envp follows the terminating null pointer. */
static int arguments_count(va_list list)
{
  int count = 1;
  while (va_arg(list, char *))
    count++;
  return count + 1;
}

static char *const *arguments_take(char **argv, const char *first, va_list list)
{
  int i = 0;
  argv[i++] = (char *)first;
  while ((argv[i++] = va_arg(list, char *)))
    ;
  return argv;
}

INTERPOSED int execl(const char *path, const char *first, ...)
{
  va_list list;
  va_start(list, first);
  int count = arguments_count(list);
  va_end(list);
  char *argv[count];
  va_start(list, first);
  arguments_take(argv, first, list);
  va_end(list);
  return execve(path, argv, environ);
}

INTERPOSED int execlp(const char *file, const char *first, ...)
{
  va_list list;
  va_start(list, first);
  int count = arguments_count(list);
  va_end(list);
  char *argv[count];
  va_start(list, first);
  arguments_take(argv, first, list);
  va_end(list);
  return execvpe(file, argv, environ);
}

INTERPOSED int execle(const char *path, const char *first, ...)
{
  va_list list;
  va_start(list, first);
  int count = arguments_count(list);
  va_end(list);
  char *argv[count];
  va_start(list, first);
  arguments_take(argv, first, list);
  char *const *envp = va_arg(list, char *const *);
  va_end(list);
  return execve(path, argv, envp);
}

/* ---- children that do not call the fork handlers: they inherit the mask, too ---- */

static int spawn(const struct start *start, char *const envp[])
{
  if (own_signal_view.blocked)
    own_signal_block();
  int error = start_program(start, &start->image, envp);
  if (own_signal_view.blocked)
    own_signal_unblock();
  return error;
}

INTERPOSED int posix_spawn(pid_t *restrict pid, const char *restrict path,
                           const posix_spawn_file_actions_t *restrict actions,
                           const posix_spawnattr_t *restrict attributes, char *const argv[restrict],
                           char *const envp[restrict])
{
  const struct start start = {.call = LIBC_posix_spawn,
                              .image = {.directory = AT_FDCWD, .path = path},
                              .argv = argv,
                              .pid = pid,
                              .actions = actions,
                              .attributes = attributes};
  return spawn(&start, envp);
}

INTERPOSED int posix_spawnp(pid_t *restrict pid, const char *restrict file,
                            const posix_spawn_file_actions_t *restrict actions,
                            const posix_spawnattr_t *restrict attributes, char *const argv[restrict],
                            char *const envp[restrict])
{
  const struct start start = {.call = LIBC_posix_spawnp,
                              .image = {.directory = AT_FDCWD, .path = file, .search = true},
                              .argv = argv,
                              .pid = pid,
                              .actions = actions,
                              .attributes = attributes};
  return spawn(&start, envp);
}
