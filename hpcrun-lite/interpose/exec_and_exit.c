/* Ends of the process image: _exit() and exec; and posix_spawn().  Context: CTL. */
#define _GNU_SOURCE
#include <errno.h>
#include <spawn.h>
#include <stdarg.h>
#include <unistd.h>

#include "hpcrun-lite/control.h"
#include "hpcrun-lite/exec.h"
#include "hpcrun-lite/interpose/interposed.h"
#include "hpcrun-lite/process/libc.h"
#include "hpcrun-lite/process/own_signal.h"
#include "hpcrun-lite/rt/core/sys.h"

INTERPOSED void _exit(int status)
{
  control_finish();
  sys_exit_group(status);
}

INTERPOSED void _Exit(int status)
{
  control_finish();
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

INTERPOSED int execve(const char *path, char *const argv[], char *const envp[])
{
  int (*real)(const char *, char *const[], char *const[]) = libc_real(LIBC_execve);
  begin_exec();
  int result = real(path, argv, envp);
  end_exec();
  return result;
}

INTERPOSED int execv(const char *path, char *const argv[])
{
  return execve(path, argv, environ);
}

INTERPOSED int execvpe(const char *file, char *const argv[], char *const envp[])
{
  int (*real)(const char *, char *const[], char *const[]) = libc_real(LIBC_execvpe);
  begin_exec();
  int result = real(file, argv, envp);
  end_exec();
  return result;
}

INTERPOSED int execvp(const char *file, char *const argv[])
{
  return execvpe(file, argv, environ);
}

INTERPOSED int fexecve(int fd, char *const argv[], char *const envp[])
{
  int (*real)(int, char *const[], char *const[]) = libc_real(LIBC_fexecve);
  begin_exec();
  int result = real(fd, argv, envp);
  end_exec();
  return result;
}

INTERPOSED int execveat(int fd, const char *path, char *const argv[], char *const envp[], int flags)
{
  int (*real)(int, const char *, char *const[], char *const[], int) = libc_real(LIBC_execveat);
  begin_exec();
  int result = real(fd, path, argv, envp, flags);
  end_exec();
  return result;
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

typedef int spawn_function(pid_t *, const char *, const posix_spawn_file_actions_t *, const posix_spawnattr_t *,
                           char *const[], char *const[]);

static int spawn(enum libc_call call, pid_t *pid, const char *file, const posix_spawn_file_actions_t *actions,
                 const posix_spawnattr_t *attributes, char *const argv[], char *const envp[])
{
  spawn_function *real = (spawn_function *)libc_real(call);
  if (own_signal_view.blocked)
    own_signal_block();
  int error = real(pid, file, actions, attributes, argv, envp);
  if (own_signal_view.blocked)
    own_signal_unblock();
  return error;
}

INTERPOSED int posix_spawn(pid_t *restrict pid, const char *restrict path,
                           const posix_spawn_file_actions_t *restrict actions,
                           const posix_spawnattr_t *restrict attributes, char *const argv[restrict],
                           char *const envp[restrict])
{
  return spawn(LIBC_posix_spawn, pid, path, actions, attributes, argv, envp);
}

INTERPOSED int posix_spawnp(pid_t *restrict pid, const char *restrict file,
                            const posix_spawn_file_actions_t *restrict actions,
                            const posix_spawnattr_t *restrict attributes, char *const argv[restrict],
                            char *const envp[restrict])
{
  return spawn(LIBC_posix_spawnp, pid, file, actions, attributes, argv, envp);
}
