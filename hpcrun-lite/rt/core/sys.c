#define _GNU_SOURCE
#include "hpcrun-lite/rt/core/sys.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/membarrier.h>
#include <linux/perf_event.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#include "hpcrun-lite/arch/machine.h"

static long call3(long number, long a, long b, long c)
{
  return machine_call(number, a, b, c, 0, 0, 0);
}

void *sys_map(size_t size_bytes)
{
  long at = machine_call(SYS_mmap, 0, (long)size_bytes, PROT_READ | PROT_WRITE,
                         MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  return at < 0 && at > -4096 ? NULL : (void *)at;
}

void sys_unmap(void *memory, size_t size_bytes)
{
  call3(SYS_munmap, (long)memory, (long)size_bytes, 0);
}

void sys_wipe_on_fork(void *memory, size_t size_bytes)
{
  call3(SYS_madvise, (long)memory, (long)size_bytes, MADV_WIPEONFORK);
}

int sys_tid(void)
{
  return (int)call3(SYS_gettid, 0, 0, 0);
}

int sys_pid(void)
{
  return (int)call3(SYS_getpid, 0, 0, 0);
}

static int own_pid;

int sys_own_pid(void)
{
  return own_pid = sys_pid();
}

static uint64_t clock_ns(int clock)
{
  struct timespec now = {0};
  call3(SYS_clock_gettime, clock, (long)&now, 0);
  return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

uint64_t sys_monotonic_ns(void)
{
  return clock_ns(CLOCK_MONOTONIC);
}

struct sys_moment sys_moment(void)
{
  enum { TRIES = 4 };
  struct sys_moment moment = {0};
  uint64_t least = UINT64_MAX;
  for (unsigned i = 0; i < TRIES && least > SYS_UNDISTURBED_TICKS; i++) {
    uint64_t before = machine_ticks(), ns = sys_monotonic_ns(), passed = machine_ticks() - before;
    if (passed < least)
      moment = (struct sys_moment){ns, before + passed / 2};
    least = passed < least ? passed : least;
  }
  return moment;
}

uint64_t sys_thread_cpu_ns(void)
{
  return clock_ns(CLOCK_THREAD_CPUTIME_ID);
}

static uint64_t timeval_ns(const struct timeval *time)
{
  return (uint64_t)time->tv_sec * 1000000000 + (uint64_t)time->tv_usec * 1000;
}

bool sys_usage(struct sys_usage *usage)
{
  enum { THREAD = 1 }; /* RUSAGE_THREAD */
  struct rusage all;
  if (call3(SYS_getrusage, THREAD, (long)&all, 0) != 0)
    return false;
  *usage = (struct sys_usage){.user_ns = timeval_ns(&all.ru_utime),
                              .system_ns = timeval_ns(&all.ru_stime),
                              .minor_faults = (uint64_t)all.ru_minflt,
                              .major_faults = (uint64_t)all.ru_majflt,
                              .given_up = (uint64_t)all.ru_nvcsw,
                              .switched_out = (uint64_t)all.ru_nivcsw};
  return true;
}

uint32_t sys_affinity(int tid, uint64_t *words, size_t count)
{
  enum { WORDS_MAX = 128 }; /* the kernel refuses a set that is smaller than its own */
  uint64_t set[WORDS_MAX];
  uint32_t cpus = 0;
  long got = call3(SYS_sched_getaffinity, tid, sizeof set, (long)set);
  for (size_t i = 0; got > 0 && i < (size_t)got / sizeof *set; i++)
    for (uint64_t rest = set[i]; rest; rest &= rest - 1)
      cpus++;
  for (size_t i = 0; cpus && i < count; i++)
    words[i] = i < (size_t)got / sizeof *set ? set[i] : 0;
  return cpus;
}

uint32_t sys_current_cpu(void)
{
  unsigned cpu;
  return call3(SYS_getcpu, (long)&cpu, 0, 0) == 0 ? cpu : UINT32_MAX;
}

void sys_populate(void *memory, size_t size_bytes, bool write)
{
  enum { POPULATE_READ = 22, POPULATE_WRITE = 23 }; /* MADV_POPULATE_READ ..., from Linux 5.14 on */
  call3(SYS_madvise, (long)memory, (long)size_bytes, write ? POPULATE_WRITE : POPULATE_READ);
}

uint64_t sys_cpu_ns_of(int tid)
{
  return clock_ns((int)((~(unsigned)tid << 3) | 6)); /* the kernel's encoding: CPUCLOCK_PERTHREAD | CPUCLOCK_SCHED */
}

uint64_t sys_process_cpu_ns(void)
{
  return clock_ns(CLOCK_PROCESS_CPUTIME_ID);
}

/* For systems that forbid process_vm_readv (some containers).  rt_sigprocmask() copies the signal set before it checks
 * `how`, so a call with an invalid `how` returns EINVAL if the set is readable, and EFAULT otherwise.  The page may
 * still vanish between this test and the load; that risk is accepted. */
static bool readable_word(uint64_t address)
{
  return machine_call(SYS_rt_sigprocmask, -1, (long)address, 0, 8, 0, 0) == -EINVAL;
}

bool sys_readable(uint64_t address)
{
  return readable_word(address & ~(uint64_t)7);
}

static bool peek_by_probe(uint64_t address, void *out, size_t size_bytes)
{
  if (!readable_word(address) || !readable_word(address + size_bytes - 8))
    return false;
  __builtin_memcpy(out, (const void *)address, size_bytes);
  return true;
}

bool sys_peek(uint64_t address, void *out, size_t size_bytes)
{
  struct iovec here = {out, size_bytes}, there = {(void *)address, size_bytes};
  long got = machine_call(SYS_process_vm_readv, own_pid, (long)&here, 1, (long)&there, 1, 0);
  if (got == -ESRCH) /* the process's first thread has ended, by pthread_exit(), and others go on */
    got = machine_call(SYS_process_vm_readv, sys_tid(), (long)&here, 1, (long)&there, 1, 0);
  if (got == -EPERM || got == -ENOSYS)
    return peek_by_probe(address, out, size_bytes);
  return got == (long)size_bytes;
}

static void close_fd(int fd)
{
  call3(SYS_close, fd, 0, 0);
}

static bool is_at(const struct sys_own *own, int fd)
{
  struct stat facts;
  uint64_t id;
  if (own->event)
    return call3(SYS_ioctl, fd, (long)PERF_EVENT_IOC_ID, (long)&id) == 0 && id == own->inode;
  return call3(SYS_fstat, fd, (long)&facts, 0) == 0 && facts.st_dev == own->device && facts.st_ino == own->inode;
}

bool sys_is_own(const struct sys_own *own)
{
  return own->fd >= 0 && is_at(own, own->fd);
}

int sys_close_own(const struct sys_own *own)
{
  int error = sys_is_own(own) ? -(int)call3(SYS_close, own->fd, 0, 0) : 0;
  return error == EBADF ? 0 : error; /* the program has closed it */
}

/* Moves the descriptor to a number from `lowest` on; it keeps its number if there is none free.  If the program has
 * reused one of the two numbers meanwhile, our descriptor is closed and EBADF returned: that number then stands for a
 * file of the program, or for a duplicate of it that we have made by mistake. */
int sys_move_own(struct sys_own *own, int lowest)
{
  int moved = (int)call3(SYS_fcntl, own->fd, F_DUPFD_CLOEXEC, lowest);
  if (moved == -EINVAL && lowest > SYS_HIGH_FD) /* beyond the limit */
    moved = (int)call3(SYS_fcntl, own->fd, F_DUPFD_CLOEXEC, SYS_HIGH_FD);
  bool stayed = is_at(own, own->fd), arrived = moved >= 0 && is_at(own, moved);
  if (moved < 0)
    return stayed ? 0 : EBADF;
  if (stayed)
    close_fd(own->fd);
  else if (!arrived)
    close_fd(moved);
  own->fd = arrived ? moved : -1;
  return arrived ? 0 : EBADF;
}

static uint64_t limit_of(int resource)
{
  struct rlimit limit = {0};
  machine_call(SYS_prlimit64, 0, resource, 0, (long)&limit, 0, 0);
  return limit.rlim_cur;
}

uint64_t sys_descriptor_limit(void)
{
  return limit_of(RLIMIT_NOFILE);
}

uint64_t sys_locked_limit(void)
{
  return limit_of(RLIMIT_MEMLOCK);
}

int sys_perf_event_open(struct sys_own *own, struct perf_event_attr *attr, int tid)
{
  return sys_perf_event_join(own, attr, tid, NULL);
}

int sys_perf_event_join(struct sys_own *own, struct perf_event_attr *attr, int tid, const struct sys_own *leader)
{
  int error = EBADF;
  for (int i = 0; i < SYS_TRIES && error == EBADF; i++) {
    int group = leader ? leader->fd : -1;
    int fd = (int)machine_call(SYS_perf_event_open, (long)attr, tid, -1, group, PERF_FLAG_FD_CLOEXEC, 0);
    *own = (struct sys_own){.fd = fd, .event = true};
    if (fd < 0)
      error = -fd;
    else if (call3(SYS_ioctl, fd, (long)PERF_EVENT_IOC_ID, (long)&own->inode) == 0)
      error = sys_move_own(own, SYS_HIGH_FD);
  }
  if (error)
    own->fd = -1;
  return error;
}

static bool fcntl_own(const struct sys_own *own, int command, long argument)
{
  return sys_is_own(own) && call3(SYS_fcntl, own->fd, command, argument) == 0;
}

bool sys_perf_deliver(const struct sys_own *own, int tid, int signal_number)
{
  struct f_owner_ex owner = {F_OWNER_TID, tid};
  return fcntl_own(own, F_SETSIG, signal_number) && fcntl_own(own, F_SETOWN_EX, (long)&owner) &&
         fcntl_own(own, F_SETFL, O_ASYNC);
}

/* Maps our file, and checks afterwards that the number was still ours: otherwise a file of the program was mapped.  Not
 * needed with `at`: then no other thread exists. */
static void *map_own(const struct sys_own *own, void *at, uint64_t offset, size_t size_bytes, int protection, int flags)
{
  if (!sys_is_own(own))
    return NULL;
  long got = machine_call(SYS_mmap, (long)at, (long)size_bytes, protection, flags, own->fd, (long)offset);
  if (got < 0 && got > -4096)
    return NULL;
  if (!at && !sys_is_own(own)) {
    sys_unmap((void *)got, size_bytes);
    return NULL;
  }
  return (void *)got;
}

void *sys_perf_page(const struct sys_own *own, size_t size_bytes)
{
  return map_own(own, NULL, 0, size_bytes, PROT_READ, MAP_SHARED);
}

bool sys_perf_read(const struct sys_own *own, uint64_t *count)
{
  return sys_is_own(own) && call3(SYS_read, own->fd, (long)count, 8) == 8 && sys_is_own(own);
}

bool sys_perf_read_group(const struct sys_own *own, void *values, size_t size_bytes)
{
  return sys_is_own(own) && call3(SYS_read, own->fd, (long)values, (long)size_bytes) > 0;
}

/* What a call relative to a directory has returned, as 0 or errno.  Where the program has taken the descriptor's number
 * meanwhile, any error may be due to that. */
static int error_in(const struct sys_own *directory, long result)
{
  if (result >= 0)
    return 0;
  return directory && !sys_is_own(directory) ? EBADF : (int)-result;
}

/* A program that takes numbers takes the same ones again and again: each attempt uses others. */
static int any_high_number(void)
{
  enum { NUMBERS = 64 };
  return SYS_HIGH_FD + (int)(machine_ticks() / 16 % NUMBERS);
}

/* Identifies a file that has just been opened.  By name, because the program may have taken the descriptor's number. */
static int identify(struct sys_own *own, const struct sys_own *directory, int at, const char *path)
{
  struct stat facts = {0};
  int error =
      error_in(directory, machine_call(SYS_newfstatat, at, (long)path, (long)&facts, AT_SYMLINK_NOFOLLOW, 0, 0));
  own->device = facts.st_dev;
  own->inode = facts.st_ino;
  if (error)
    close_fd(own->fd);
  return error;
}

/* Opens what the path, relative to that directory (NULL: it is absolute), names.  create: see sys_open_in(). */
static int open_own(struct sys_own *own, const struct sys_own *directory, const char *path, int flags, bool *create)
{
  int at = directory ? directory->fd : AT_FDCWD, making = create && *create ? O_CREAT | O_EXCL : 0;
  *own = (struct sys_own){.fd = -1};
  if (directory && !sys_is_own(directory))
    return EBADF;
  int fd = (int)machine_call(SYS_openat, at, (long)path, flags | making | O_NOFOLLOW | O_CLOEXEC, 0600, 0, 0);
  if (fd < 0)
    return error_in(directory, fd);
  if (making)
    *create = false;
  own->fd = fd;
  int error = identify(own, directory, at, path);
  if (!error)
    error = sys_move_own(own, any_high_number());
  if (error)
    own->fd = -1;
  return error;
}

int sys_open_directory(struct sys_own *own, const char *path)
{
  return open_own(own, NULL, path, O_PATH | O_DIRECTORY, NULL);
}

int sys_open_in(struct sys_own *own, const struct sys_own *directory, const char *name, bool *create)
{
  return open_own(own, directory, name, O_RDWR | O_NONBLOCK, create);
}

/* ---- files by name ---- */

static uint64_t time_of(const struct stat *status)
{
  return (uint64_t)status->st_mtim.tv_sec * 1000000000u + (uint64_t)status->st_mtim.tv_nsec;
}

static struct sys_facts facts_of(const struct stat *status)
{
  return (struct sys_facts){.device = status->st_dev,
                            .inode = status->st_ino,
                            .size = (uint64_t)status->st_size,
                            .time_ns = time_of(status),
                            .owner = status->st_uid,
                            .single = S_ISREG(status->st_mode) && status->st_nlink == 1,
                            .shared = (status->st_mode & 0077) != 0};
}

bool sys_facts(const struct sys_own *own, struct sys_facts *facts)
{
  struct stat status;
  bool known = sys_is_own(own) && call3(SYS_fstat, own->fd, (long)&status, 0) == 0;
  if (known)
    *facts = facts_of(&status);
  return known && facts->device == own->device && facts->inode == own->inode;
}

int sys_facts_in(const struct sys_own *directory, const char *name, struct sys_facts *facts)
{
  struct stat status;
  if (directory && !sys_is_own(directory))
    return EBADF;
  int at = directory ? directory->fd : AT_FDCWD;
  int error =
      error_in(directory, machine_call(SYS_newfstatat, at, (long)name, (long)&status, AT_SYMLINK_NOFOLLOW, 0, 0));
  if (!error)
    *facts = facts_of(&status);
  return error;
}

int sys_unlink_in(const struct sys_own *directory, const char *name)
{
  return sys_is_own(directory) ? error_in(directory, call3(SYS_unlinkat, directory->fd, (long)name, 0)) : EBADF;
}

int sys_rename_in(const struct sys_own *directory, const char *name, const char *to)
{
  if (!sys_is_own(directory))
    return EBADF;
  return error_in(directory, machine_call(SYS_renameat, directory->fd, (long)name, directory->fd, (long)to, 0, 0));
}

int sys_truncate(const struct sys_own *own, uint64_t size_bytes)
{
  return sys_is_own(own) ? -(int)call3(SYS_ftruncate, own->fd, (long)size_bytes, 0) : EBADF;
}

unsigned sys_user(void)
{
  return (unsigned)call3(SYS_geteuid, 0, 0, 0);
}

bool sys_open_program(struct sys_own *own, int directory, const char *path, uint64_t *size_bytes)
{
  enum { FLAGS = O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY };
  struct stat facts;
  int error = EBADF;
  for (int i = 0; i < SYS_TRIES && error == EBADF; i++) {
    if (machine_call(SYS_newfstatat, directory, (long)path, (long)&facts, 0, 0, 0) || !S_ISREG(facts.st_mode))
      return false;
    int fd = (int)machine_call(SYS_openat, directory, (long)path, FLAGS, 0, 0, 0);
    if (fd < 0)
      return false;
    *own = (struct sys_own){.fd = fd, .device = facts.st_dev, .inode = facts.st_ino};
    error = sys_move_own(own, SYS_HIGH_FD);
  }
  *size_bytes = (uint64_t)facts.st_size;
  return !error;
}

bool sys_file_times(const char *path, uint64_t *size_bytes, uint64_t *time_ns)
{
  struct stat facts;
  if (machine_call(SYS_newfstatat, AT_FDCWD, (long)path, (long)&facts, 0, 0, 0) || !S_ISREG(facts.st_mode))
    return false;
  *size_bytes = (uint64_t)facts.st_size;
  *time_ns = time_of(&facts);
  return true;
}

bool sys_may_execute(const char *path)
{
  struct stat facts;
  if (machine_call(SYS_newfstatat, AT_FDCWD, (long)path, (long)&facts, 0, 0, 0) || !S_ISREG(facts.st_mode))
    return false;
  long denied = machine_call(SYS_faccessat2, AT_FDCWD, (long)path, X_OK, AT_EACCESS, 0, 0);
  return !(denied == -ENOSYS ? call3(SYS_faccessat, AT_FDCWD, (long)path, X_OK) : denied);
}

size_t sys_read_file(const char *path, char *text, size_t size_bytes)
{
  struct sys_own file;
  long got = 0;
  int error = EBADF;
  for (int i = 0; i < SYS_TRIES && error == EBADF; i++)
    error = open_own(&file, NULL, path, O_RDONLY, NULL);
  if (error)
    return 0;
  if (sys_is_own(&file))
    got = machine_call(SYS_pread64, file.fd, (long)text, (long)size_bytes, 0, 0, 0);
  sys_close_own(&file);
  return got > 0 ? (size_t)got : 0;
}

bool sys_read_thread_file(int tid, const char *name, char *text, size_t size_bytes)
{
  char path[64] = "/proc/self/task/", digits[16];
  unsigned length = 16, count = 0;
  for (unsigned rest = (unsigned)tid; rest || !count; rest /= 10)
    digits[count++] = (char)('0' + rest % 10);
  while (count)
    path[length++] = digits[--count];
  while (*name && length + 1 < sizeof path)
    path[length++] = *name++;
  path[length] = 0;
  size_t got = sys_read_file(path, text, size_bytes - 1);
  text[got] = 0;
  return got > 0;
}

bool sys_read_at(const struct sys_own *own, uint64_t offset, void *bytes, size_t size_bytes)
{
  long got = -EINTR;
  for (int i = 0; i < SYS_TRIES && got == -EINTR; i++)
    got = sys_is_own(own) ? machine_call(SYS_pread64, own->fd, (long)bytes, (long)size_bytes, (long)offset, 0, 0)
                          : -EBADF;
  return got == (long)size_bytes && sys_is_own(own);
}

/* After a write, checks that the number was still ours: otherwise the bytes went to a file of the program, and are
 * written again. */
size_t sys_write_at(const struct sys_own *own, uint64_t offset, const void *bytes, size_t size_bytes, int *error)
{
  enum { TRIES = 100 };
  size_t done = 0;
  *error = 0;
  for (int i = 0; i < TRIES && done < size_bytes && (!*error || *error == EINTR); i++) {
    const char *remaining = (const char *)bytes + done;
    long got = -EBADF;
    if (sys_is_own(own))
      got =
          machine_call(SYS_pwrite64, own->fd, (long)remaining, (long)(size_bytes - done), (long)(offset + done), 0, 0);
    if (got > 0 && !sys_is_own(own))
      got = -EBADF;
    if (got == 0)
      got = -EIO;
    *error = got < 0 ? (int)-got : 0;
    done += got > 0 ? (size_t)got : 0;
  }
  if (done < size_bytes && !*error)
    *error = EIO;
  return done;
}

int sys_copy(const struct sys_own *to, const struct sys_own *from, uint64_t offset, uint64_t size_bytes)
{
  enum { PART = 1 << 20 };
  uint64_t end = offset + size_bytes;
  loff_t at = (loff_t)offset;
  if (!sys_is_own(to) || call3(SYS_lseek, to->fd, (long)offset, SEEK_SET) < 0)
    return EBADF;
  while ((uint64_t)at < end) {
    uint64_t left = end - (uint64_t)at;
    if (!sys_is_own(to) || !sys_is_own(from))
      return EBADF;
    long got = machine_call(SYS_sendfile, to->fd, from->fd, (long)&at, (long)(left < PART ? left : PART), 0, 0);
    if (got < 0 && got != -EINTR)
      return (int)-got;
    if (!got)
      return EAGAIN;
  }
  return sys_is_own(to) ? 0 : EBADF;
}

/* A write beyond the limit would raise SIGXFSZ in the program. */
static bool within_limit(uint64_t size_bytes)
{
  struct rlimit limit = {.rlim_cur = RLIM_INFINITY};
  machine_call(SYS_prlimit64, 0, RLIMIT_FSIZE, 0, (long)&limit, 0, 0);
  return limit.rlim_cur == RLIM_INFINITY || size_bytes <= limit.rlim_cur;
}

bool sys_reserve(const struct sys_own *own, uint64_t offset, size_t size_bytes)
{
  enum { TRIES = 100 };
  static const char zeros[4096];
  int error;
  long result = -EINTR;
  if (!within_limit(offset + size_bytes))
    return false;
  for (int i = 0; i < TRIES && result == -EINTR; i++)
    result = sys_is_own(own) ? machine_call(SYS_fallocate, own->fd, 0, (long)offset, (long)size_bytes, 0, 0) : -EBADF;
  if (result != -ENOSYS && result != -EOPNOTSUPP)
    return result == 0;
  for (size_t done = 0; done < size_bytes; done += sizeof zeros)
    if (sys_write_at(own, offset + done, zeros, sizeof zeros, &error) < sizeof zeros)
      return false;
  return true;
}

void *sys_map_file(void *at, const struct sys_own *own, uint64_t offset, size_t size_bytes)
{
  return map_own(own, at, offset, size_bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE | (at ? MAP_FIXED : 0));
}

void sys_timer_set(int timer, uint64_t first_ns, uint64_t period_ns)
{
  struct itimerspec when = {{(time_t)(period_ns / 1000000000u), (long)(period_ns % 1000000000u)},
                            {(time_t)(first_ns / 1000000000u), (long)(first_ns % 1000000000u)}};
  machine_call(SYS_timer_settime, timer, 0, (long)&when, 0, 0, 0);
}

int sys_timer_start(int clock, int tid, int signal_number, void *cookie, uint64_t first_ns, uint64_t period_ns)
{
  struct sigevent event = {.sigev_notify = tid ? SIGEV_THREAD_ID : SIGEV_SIGNAL,
                           .sigev_signo = signal_number,
                           .sigev_value.sival_ptr = cookie};
  event._sigev_un._tid = tid;
  int timer;
  if (call3(SYS_timer_create, clock, (long)&event, (long)&timer) != 0)
    return -1;
  sys_timer_set(timer, first_ns, period_ns);
  return timer;
}

void sys_timer_stop(int timer)
{
  call3(SYS_timer_delete, timer, 0, 0);
}

void sys_signal_thread(int pid, int tid, int signal_number, void *cookie)
{
  siginfo_t info = {.si_signo = signal_number, .si_code = SI_QUEUE};
  info.si_pid = pid;
  info.si_value.sival_ptr = cookie;
  machine_call(SYS_rt_tgsigqueueinfo, pid, tid, signal_number, (long)&info, 0, 0);
}

void sys_signal_again(int pid, int tid, int signal_number, const void *info)
{
  enum { PENDING_MAX = 16 }; /* a timer's signal is queued even if another one is pending */
  uint64_t set = 1ull << (signal_number - 1);
  struct timespec none = {0, 0};
  for (int i = 0;
       i < PENDING_MAX && machine_call(SYS_rt_sigtimedwait, (long)&set, 0, (long)&none, sizeof set, 0, 0) > 0; i++)
    ;
  if (tid)
    machine_call(SYS_rt_tgsigqueueinfo, pid, tid, signal_number, (long)info, 0, 0);
  else if (call3(SYS_rt_sigqueueinfo, pid, signal_number, (long)info) == -EPERM)
    call3(SYS_kill, pid, signal_number, 0); /* only the main thread may keep the original sender */
}

size_t sys_working_directory(char *path, size_t size_bytes)
{
  long length = call3(SYS_getcwd, (long)path, (long)size_bytes, 0);
  return length > 1 && path[0] == '/' ? (size_t)length - 1 : 0;
}

void sys_yield(void)
{
  call3(SYS_sched_yield, 0, 0, 0);
}

void sys_barrier_prepare(void)
{
  call3(SYS_membarrier, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED, 0, 0);
}

void sys_barrier_all(void)
{
  call3(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0, 0);
}

void sys_sleep_ns(long time_ns)
{
  struct timespec time = {0, time_ns};
  call3(SYS_nanosleep, (long)&time, 0, 0);
}

void sys_exit_group(int status)
{
  for (;;)
    call3(SYS_exit_group, status, 0, 0);
}

#ifdef RT_ASSERTIONS
void sys_write_error(const char *text, size_t size_bytes)
{
  call3(SYS_write, 2, (long)text, (long)size_bytes);
}
#endif
