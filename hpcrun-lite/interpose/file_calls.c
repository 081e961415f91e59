/* Calls on files, streams and pipes, which mostly run in the kernel and sometimes sleep there: hold_io_begin().
 *
 * Context: CTL.  Those whose results a sample could change are in partial_io.c.  libc's own calls are not seen, so the
 * functions of stdio are replaced themselves, but none that programs call for each byte.  Functions whose names begin
 * with __ are the variants that fortified programs call.
 */
#undef _FILE_OFFSET_BITS /* on x86-64 it only renames functions, and these need both names */
#undef _FORTIFY_SOURCE
#define _GNU_SOURCE
#define __NO_INLINE__ 1
#include <fcntl.h>
#include <mqueue.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/uio.h>
#include <unistd.h>

#include "hpcrun-lite/interpose/hold.h"
#include "hpcrun-lite/interpose/interposed.h"
#include "hpcrun-lite/process/libc.h"

/* A function of libc with these parameters; bytes: what it has moved if its result is that, below 0 or 0: none. */
#define FILE_CALL(type, name, parameters, arguments, bytes)                                                            \
  type name parameters;                                                                                                \
  INTERPOSED type name parameters                                                                                      \
  {                                                                                                                    \
    type(*real) parameters = libc_real(LIBC_##name);                                                                   \
    uint64_t position = hold_io_begin();                                                                               \
    type result = real arguments;                                                                                      \
    hold_io_end(position, bytes, CALLER);                                                                              \
    return result;                                                                                                     \
  }

/* ---- descriptors ---- */

FILE_CALL(ssize_t, pread, (int fd, void *buffer, size_t size, off_t at), (fd, buffer, size, at), result)
FILE_CALL(ssize_t, pread64, (int fd, void *buffer, size_t size, off64_t at), (fd, buffer, size, at), result)
FILE_CALL(ssize_t, __pread_chk, (int fd, void *buffer, size_t size, off_t at, size_t room),
          (fd, buffer, size, at, room), result)
FILE_CALL(ssize_t, __pread64_chk, (int fd, void *buffer, size_t size, off64_t at, size_t room),
          (fd, buffer, size, at, room), result)
FILE_CALL(ssize_t, pwrite, (int fd, const void *buffer, size_t size, off_t at), (fd, buffer, size, at), result)
FILE_CALL(ssize_t, pwrite64, (int fd, const void *buffer, size_t size, off64_t at), (fd, buffer, size, at), result)
FILE_CALL(ssize_t, preadv, (int fd, const struct iovec *parts, int count, off_t at), (fd, parts, count, at), result)
FILE_CALL(ssize_t, preadv64, (int fd, const struct iovec *parts, int count, off64_t at), (fd, parts, count, at), result)
FILE_CALL(ssize_t, pwritev, (int fd, const struct iovec *parts, int count, off_t at), (fd, parts, count, at), result)
FILE_CALL(ssize_t, pwritev64, (int fd, const struct iovec *parts, int count, off64_t at), (fd, parts, count, at),
          result)
FILE_CALL(ssize_t, splice, (int from, off64_t *from_at, int to, off64_t *to_at, size_t size, unsigned flags),
          (from, from_at, to, to_at, size, flags), result)
FILE_CALL(int, fsync, (int fd), (fd), 0)
FILE_CALL(int, fdatasync, (int fd), (fd), 0)
FILE_CALL(int, msync, (void *start, size_t size, int flags), (start, size, flags), 0)
FILE_CALL(int, flock, (int fd, int operation), (fd, operation), 0)
FILE_CALL(int, lockf, (int fd, int operation, off_t size), (fd, operation, size), 0)
FILE_CALL(int, lockf64, (int fd, int operation, off64_t size), (fd, operation, size), 0)
FILE_CALL(ssize_t, mq_receive, (mqd_t queue, char *text, size_t size, unsigned *priority),
          (queue, text, size, priority), result)
FILE_CALL(ssize_t, mq_timedreceive,
          (mqd_t queue, char *restrict text, size_t size, unsigned *restrict priority,
           const struct timespec *restrict until),
          (queue, text, size, priority, until), result)
FILE_CALL(int, mq_send, (mqd_t queue, const char *text, size_t size, unsigned priority), (queue, text, size, priority),
          result ? 0 : (ssize_t)size)
FILE_CALL(int, mq_timedsend,
          (mqd_t queue, const char *text, size_t size, unsigned priority, const struct timespec *until),
          (queue, text, size, priority, until), result ? 0 : (ssize_t)size)

/* ---- streams ---- */

FILE_CALL(size_t, fread, (void *restrict buffer, size_t size, size_t count, FILE *restrict stream),
          (buffer, size, count, stream), (ssize_t)(result *size))
FILE_CALL(size_t, fread_unlocked, (void *restrict buffer, size_t size, size_t count, FILE *restrict stream),
          (buffer, size, count, stream), (ssize_t)(result *size))
FILE_CALL(size_t, __fread_chk, (void *restrict buffer, size_t room, size_t size, size_t count, FILE *restrict stream),
          (buffer, room, size, count, stream), (ssize_t)(result *size))
FILE_CALL(size_t, __fread_unlocked_chk,
          (void *restrict buffer, size_t room, size_t size, size_t count, FILE *restrict stream),
          (buffer, room, size, count, stream), (ssize_t)(result *size))
FILE_CALL(size_t, fwrite, (const void *restrict buffer, size_t size, size_t count, FILE *restrict stream),
          (buffer, size, count, stream), (ssize_t)(result *size))
FILE_CALL(size_t, fwrite_unlocked, (const void *restrict buffer, size_t size, size_t count, FILE *restrict stream),
          (buffer, size, count, stream), (ssize_t)(result *size))
FILE_CALL(char *, fgets, (char *restrict text, int size, FILE *restrict stream), (text, size, stream), 0)
FILE_CALL(char *, fgets_unlocked, (char *restrict text, int size, FILE *restrict stream), (text, size, stream), 0)
FILE_CALL(char *, __fgets_chk, (char *restrict text, size_t room, int size, FILE *restrict stream),
          (text, room, size, stream), 0)
FILE_CALL(char *, __fgets_unlocked_chk, (char *restrict text, size_t room, int size, FILE *restrict stream),
          (text, room, size, stream), 0)
FILE_CALL(ssize_t, getline, (char **restrict text, size_t *restrict room, FILE *restrict stream), (text, room, stream),
          result)
FILE_CALL(ssize_t, getdelim, (char **restrict text, size_t *restrict room, int end, FILE *restrict stream),
          (text, room, end, stream), result)
FILE_CALL(ssize_t, __getdelim, (char **restrict text, size_t *restrict room, int end, FILE *restrict stream),
          (text, room, end, stream), result)
FILE_CALL(int, puts, (const char *text), (text), 0)
FILE_CALL(int, fputs, (const char *restrict text, FILE *restrict stream), (text, stream), 0)
FILE_CALL(int, fputs_unlocked, (const char *restrict text, FILE *restrict stream), (text, stream), 0)
FILE_CALL(int, vprintf, (const char *restrict format, va_list list), (format, list), result)
FILE_CALL(int, vfprintf, (FILE *restrict stream, const char *restrict format, va_list list), (stream, format, list),
          result)
FILE_CALL(int, __vprintf_chk, (int flag, const char *format, va_list list), (flag, format, list), result)
FILE_CALL(int, __vfprintf_chk, (FILE * stream, int flag, const char *format, va_list list),
          (stream, flag, format, list), result)
FILE_CALL(int, fflush, (FILE * stream), (stream), 0)
FILE_CALL(int, fflush_unlocked, (FILE * stream), (stream), 0)
FILE_CALL(int, fclose, (FILE * stream), (stream), 0)
FILE_CALL(FILE *, fopen, (const char *restrict path, const char *restrict mode), (path, mode), 0)
FILE_CALL(FILE *, fopen64, (const char *restrict path, const char *restrict mode), (path, mode), 0)
FILE_CALL(int, pclose, (FILE * stream), (stream), 0)
FILE_CALL(int, system, (const char *command), (command), 0)

/* A function that prints its further arguments by a function of libc that takes them as a list. */
#define PRINT_CALL(name, by, parameters, types, ...)                                                                   \
  int name parameters;                                                                                                 \
  INTERPOSED int name parameters                                                                                       \
  {                                                                                                                    \
    int(*real) types = libc_real(LIBC_##by);                                                                           \
    va_list list;                                                                                                      \
    va_start(list, format);                                                                                            \
    uint64_t position = hold_io_begin();                                                                               \
    int result = real(__VA_ARGS__, list);                                                                              \
    hold_io_end(position, result, CALLER);                                                                             \
    va_end(list);                                                                                                      \
    return result;                                                                                                     \
  }

PRINT_CALL(printf, vprintf, (const char *restrict format, ...), (const char *, va_list), format)
PRINT_CALL(fprintf, vfprintf, (FILE *restrict stream, const char *restrict format, ...),
           (FILE *, const char *, va_list), stream, format)
PRINT_CALL(__printf_chk, __vprintf_chk, (int flag, const char *format, ...), (int, const char *, va_list), flag, format)
PRINT_CALL(__fprintf_chk, __vfprintf_chk, (FILE * stream, int flag, const char *format, ...),
           (FILE *, int, const char *, va_list), stream, flag, format)

/* ---- opening: a FIFO waits for its other end ---- */

/* The mode that follows the flags. */
static mode_t mode_in(int flags, va_list list)
{
  return flags & O_CREAT || (flags & O_TMPFILE) == O_TMPFILE ? va_arg(list, mode_t) : 0;
}

#define OPEN_CALL(name, parameters, type, ...)                                                                         \
  int name parameters;                                                                                                 \
  INTERPOSED int name parameters                                                                                       \
  {                                                                                                                    \
    int(*real) type = libc_real(LIBC_##name);                                                                          \
    va_list list;                                                                                                      \
    va_start(list, flags);                                                                                             \
    mode_t mode = mode_in(flags, list);                                                                                \
    va_end(list);                                                                                                      \
    uint64_t position = hold_io_begin();                                                                               \
    int result = real(__VA_ARGS__, flags, mode);                                                                       \
    hold_io_end(position, 0, CALLER);                                                                                  \
    return result;                                                                                                     \
  }

OPEN_CALL(open, (const char *path, int flags, ...), (const char *, int, ...), path)
OPEN_CALL(open64, (const char *path, int flags, ...), (const char *, int, ...), path)
OPEN_CALL(openat, (int at, const char *path, int flags, ...), (int, const char *, int, ...), at, path)
OPEN_CALL(openat64, (int at, const char *path, int flags, ...), (int, const char *, int, ...), at, path)
FILE_CALL(int, __open_2, (const char *path, int flags), (path, flags), 0)
FILE_CALL(int, __open64_2, (const char *path, int flags), (path, flags), 0)
FILE_CALL(int, __openat_2, (int at, const char *path, int flags), (at, path, flags), 0)
FILE_CALL(int, __openat64_2, (int at, const char *path, int flags), (at, path, flags), 0)

/* ---- locks of records ---- */

#define FCNTL_CALL(name)                                                                                               \
  int name(int fd, int command, ...);                                                                                  \
  INTERPOSED int name(int fd, int command, ...)                                                                        \
  {                                                                                                                    \
    int (*real)(int, int, ...) = libc_real(LIBC_##name);                                                               \
    va_list list;                                                                                                      \
    va_start(list, command);                                                                                           \
    void *argument = va_arg(list, void *);                                                                             \
    va_end(list);                                                                                                      \
    uint64_t position = hold_io_begin();                                                                               \
    int result = real(fd, command, argument);                                                                          \
    hold_io_end(position, 0, CALLER);                                                                                  \
    return result;                                                                                                     \
  }

FCNTL_CALL(fcntl)
FCNTL_CALL(fcntl64)
