#undef _FILE_OFFSET_BITS /* on x86-64 it only renames functions, and these need both names */
#define _GNU_SOURCE
#include "hpcrun-lite/interpose/partial_io.h"

#include <errno.h>
#include <limits.h>
#include <stdatomic.h>
#include <stdint.h>
#include <sys/random.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/uio.h>
#include <unistd.h>

#include "hpcrun-lite/interpose/hold.h"
#include "hpcrun-lite/interpose/interposed.h"
#include "hpcrun-lite/process/libc.h"
#include "hpcrun-lite/process/process.h"
#include "hpcrun-lite/rt/core/rt.h"

/* Has the program set a time limit for a socket? */
static atomic_bool timeouts;

INTERPOSED int setsockopt(int fd, int level, int option, const void *value, socklen_t size)
{
  int (*real)(int, int, int, const void *, socklen_t) = libc_real(LIBC_setsockopt);
  if (level == SOL_SOCKET && (option == SO_RCVTIMEO || option == SO_SNDTIMEO))
    atomic_store(&timeouts, true);
  return real(fd, level, option, value, size);
}

/* A call that transfers data: what is held back, and what hold_io_end() needs. */
struct transfer {
  unsigned held;
  uint64_t position;
};

static struct transfer begin(unsigned held)
{
  return (struct transfer){held, hold_io_begin()};
}

static void end(struct transfer transfer, ssize_t bytes, const void *code)
{
  hold_io_end(transfer.position, bytes, code); /* before a sample that was held back */
  if (transfer.held)
    hold_moved(transfer.held, bytes, code);
}

static unsigned hold_for_reading(void)
{
  return hold_wait(atomic_load_explicit(&timeouts, memory_order_relaxed));
}

/* A write to a file is always complete, one to a pipe up to PIPE_BUF.  A descriptor without a position is not a file;
 * that test costs a third of what holding the signal back costs. */
bool partial_io_possible(int fd, size_t size)
{
  struct stat facts;
  if (size <= 1 || !rt_thread() || !process.active)
    return false;
  int saved_errno = errno;
  bool cut = lseek(fd, 0, SEEK_CUR) < 0;
  if (cut && size <= PIPE_BUF)
    cut = fstat(fd, &facts) == 0 && !S_ISFIFO(facts.st_mode);
  errno = saved_errno;
  return cut;
}

static unsigned hold_for_writing(int fd, size_t size)
{
  unsigned held = hold_for_reading();
  return held ? held : hold_transfer(partial_io_possible(fd, size));
}

/* /dev/urandom, /dev/zero and similar devices test for signals after each page. */
static bool ended_at_page(int fd, ssize_t done, size_t size)
{
  enum { PAGE = 4096, MEMORY_DEVICES = 1 };
  struct stat facts;
  if (done <= 0 || (size_t)done >= size || done % PAGE || !rt_thread() || !process.active)
    return false;
  int saved_errno = errno;
  bool memory = fstat(fd, &facts) == 0 && S_ISCHR(facts.st_mode) && major(facts.st_rdev) == MEMORY_DEVICES;
  errno = saved_errno;
  return memory;
}

static ssize_t read_from(int fd, void *buffer, size_t size, const void *code)
{
  ssize_t (*real)(int, void *, size_t) = libc_real(LIBC_read);
  struct transfer transfer = begin(hold_for_reading());
  ssize_t result = real(fd, buffer, size);
  end(transfer, result, code);
  while (ended_at_page(fd, result, size)) {
    ssize_t more = real(fd, (char *)buffer + result, size - (size_t)result);
    if (more <= 0)
      break;
    result += more;
  }
  return result;
}

INTERPOSED ssize_t read(int fd, void *buffer, size_t size)
{
  return read_from(fd, buffer, size, CALLER);
}

/* Called by fortified programs; `room` is the size of the buffer. */
ssize_t __read_chk(int fd, void *buffer, size_t size, size_t room);
INTERPOSED ssize_t __read_chk(int fd, void *buffer, size_t size, size_t room)
{
  ssize_t (*real)(int, void *, size_t, size_t) = libc_real(LIBC___read_chk);
  if (size > room)
    return real(fd, buffer, size, room);
  return read_from(fd, buffer, size, CALLER);
}

INTERPOSED ssize_t readv(int fd, const struct iovec *parts, int count)
{
  ssize_t (*real)(int, const struct iovec *, int) = libc_real(LIBC_readv);
  struct transfer transfer = begin(hold_for_reading());
  ssize_t result = real(fd, parts, count);
  end(transfer, result, CALLER);
  return result;
}

INTERPOSED ssize_t write(int fd, const void *buffer, size_t size)
{
  ssize_t (*real)(int, const void *, size_t) = libc_real(LIBC_write);
  struct transfer transfer = begin(hold_for_writing(fd, size));
  ssize_t result = real(fd, buffer, size);
  end(transfer, result, CALLER);
  return result;
}

/* The parts are not looked at: the pointer may be invalid, which the kernel reports. */
INTERPOSED ssize_t writev(int fd, const struct iovec *parts, int count)
{
  ssize_t (*real)(int, const struct iovec *, int) = libc_real(LIBC_writev);
  struct transfer transfer = begin(hold_for_writing(fd, SIZE_MAX));
  ssize_t result = real(fd, parts, count);
  end(transfer, result, CALLER);
  return result;
}

static ssize_t send_file(int to, int from, off64_t *at, size_t size, const void *code)
{
  ssize_t (*real)(int, int, off64_t *, size_t) = libc_real(LIBC_sendfile);
  unsigned held = hold_for_reading();
  struct transfer transfer = begin(held ? held : hold_transfer(true));
  ssize_t result = real(to, from, at, size);
  end(transfer, result, code);
  return result;
}

INTERPOSED ssize_t sendfile(int to, int from, off_t *at, size_t size)
{
  return send_file(to, from, at, size, CALLER);
}

INTERPOSED ssize_t sendfile64(int to, int from, off64_t *at, size_t size)
{
  return send_file(to, from, at, size, CALLER);
}

INTERPOSED ssize_t copy_file_range(int from, off64_t *from_at, int to, off64_t *to_at, size_t size, unsigned flags)
{
  ssize_t (*real)(int, off64_t *, int, off64_t *, size_t, unsigned) = libc_real(LIBC_copy_file_range);
  struct transfer transfer = begin(hold_transfer(true));
  ssize_t result = real(from, from_at, to, to_at, size, flags);
  end(transfer, result, CALLER);
  return result;
}

INTERPOSED ssize_t getrandom(void *buffer, size_t size, unsigned flags)
{
  enum { WHOLE = 256 }; /* bytes that always arrive whole (getrandom(2)) */
  ssize_t (*real)(void *, size_t, unsigned) = libc_real(LIBC_getrandom);
  struct transfer transfer = begin(hold_transfer(size > WHOLE));
  ssize_t result = real(buffer, size, flags);
  end(transfer, result, CALLER);
  return result;
}
