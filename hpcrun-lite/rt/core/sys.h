/* Every system call of RT.
 *
 * Context: RT and CTL.  Async-signal-safe: the calls bypass libc, so errno does not change.  Nothing here keeps state
 * except the process id for sys_peek().  Memory and structures belong to the caller. */
#ifndef HPCRUN_LITE_RT_CORE_SYS_H
#define HPCRUN_LITE_RT_CORE_SYS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct perf_event_attr;

/* Any thread of the program may close any descriptor at any moment and use its number again.  Therefore our descriptors
 * get numbers from SYS_HIGH_FD on, which programs do not use, and struct sys_own says which file a descriptor was
 * opened for: each function checks that before it uses the number.  A file that the program has put there is left
 * alone. */
enum { SYS_HIGH_FD = 900, SYS_TRIES = 10 }; /* attempts after the program has reused a number */

/* A descriptor of the tool: a file that is read and written, or a perf event.  fd -1: none. */
struct sys_own {
  int fd;
  bool event;
  uint64_t device, inode; /* of an event: inode is its id */
};

void *sys_map(size_t size_bytes); /* zeroed memory, NULL on failure */
void sys_unmap(void *memory, size_t size_bytes);
void sys_wipe_on_fork(void *memory, size_t size_bytes); /* whole pages: a forked child reads zeros */
int sys_tid(void);
int sys_pid(void);     /* asks the kernel: differs from rt.pid in a vfork() child */
int sys_own_pid(void); /* the same, at the start of a process: sys_peek() needs it */

/* Clocks: elapsed time; CPU time of the calling thread, of another thread of this process, of the process. */
uint64_t sys_monotonic_ns(void);
uint64_t sys_thread_cpu_ns(void);
uint64_t sys_cpu_ns_of(int tid);
uint64_t sys_process_cpu_ns(void);

/* Elapsed time and the time-stamp counter at one moment.  A thread that loses its processor between the two reads them
 * again, up to three times; the pair that took least counts. */
struct sys_moment {
  uint64_t ns, ticks;
};
enum { SYS_UNDISTURBED_TICKS = 4096 }; /* about a microsecond: reading a clock takes less, unless it is interrupted */
struct sys_moment sys_moment(void);

/* What getrusage() reports about the calling thread.  Returns false if it cannot be asked. */
struct sys_usage {
  uint64_t user_ns, system_ns;
  uint64_t minor_faults, major_faults;
  uint64_t given_up, switched_out; /* how often the thread gave up its processor, and was switched out */
};
bool sys_usage(struct sys_usage *usage);

/* The CPUs on which a thread of the process may run: bit n % 64 of word n / 64 is CPU n; words beyond `count` are only
 * counted.  Returns the number of these CPUs, 0 if it cannot be asked. */
uint32_t sys_affinity(int tid, uint64_t *words, size_t count);

/* The CPU on which the calling thread runs; UINT32_MAX if it is not known. */
uint32_t sys_current_cpu(void);

/* Maps all pages of memory, whose start is that of a page, for writing or reading, as far as the kernel can do that. */
void sys_populate(void *memory, size_t size_bytes, bool write);

/* Copies bytes from an address that need not be mapped.  Returns false if it cannot be read. */
bool sys_peek(uint64_t address, void *out, size_t size_bytes);

/* Can the page of an address be read?  In contrast to sys_peek(), also in a process that has not called sys_own_pid().
 */
bool sys_readable(uint64_t address);

/* How many descriptors the process may have, and how many bytes of memory it may lock. */
uint64_t sys_descriptor_limit(void);
uint64_t sys_locked_limit(void);

/* Opens an event for that thread, at a high number.  Returns 0 or errno. */
int sys_perf_event_open(struct sys_own *own, struct perf_event_attr *attr, int tid);
/* The same in the group of an event; NULL: as its leader. */
int sys_perf_event_join(struct sys_own *own, struct perf_event_attr *attr, int tid, const struct sys_own *leader);
bool sys_perf_deliver(const struct sys_own *own, int tid, int signal_number); /* overflows signal the thread */
void *sys_perf_page(const struct sys_own *own, size_t size_bytes);            /* mapped; NULL on failure */
bool sys_perf_read(const struct sys_own *own, uint64_t *count);
/* Reads a group's values; they name their events, so that the caller sees whose they are. */
bool sys_perf_read_group(const struct sys_own *own, void *values, size_t size_bytes);

/* Opens a directory at a high number, for the functions below; links are not followed.  Returns 0 or errno; EBADF if
 * the program has reused a number: the caller tries again. */
int sys_open_directory(struct sys_own *own, const char *path);
/* Opens a file of that directory for reading and writing at a high number; links are not followed.  Where *create is
 * true (NULL: it is not), the file must not exist, and is made: *create is false once that is done, also if it cannot
 * be opened then; own->device and inode say which file it is (inode 0: unknown).  Returns as sys_open_directory(). */
int sys_open_in(struct sys_own *own, const struct sys_own *directory, const char *name, bool *create);
int sys_move_own(struct sys_own *own, int lowest); /* to a number from `lowest` on; 0, or EBADF: closed */
bool sys_is_own(const struct sys_own *own);        /* the descriptor is still the one that was opened */
int sys_close_own(const struct sys_own *own);      /* 0 or errno */

/* Opens a regular file for reading, below a directory's descriptor or AT_FDCWD.  Returns false if it cannot be read. */
bool sys_open_program(struct sys_own *own, int directory, const char *path, uint64_t *size_bytes);
/* Size and time of the last change of the regular file to which a path leads.  Returns false if there is none. */
bool sys_file_times(const char *path, uint64_t *size_bytes, uint64_t *time_ns);
bool sys_may_execute(const char *path); /* a regular file, and the process has the permission */

/* Reserves disk space for a part of a file, so that a store to a mapping of it cannot fail.  Returns false on failure.
 */
bool sys_reserve(const struct sys_own *own, uint64_t offset, size_t size_bytes);

/* Maps a part of a file, shared, anywhere (at NULL) or in place of what is mapped at `at`.  NULL on failure. */
void *sys_map_file(void *at, const struct sys_own *own, uint64_t offset, size_t size_bytes);
int sys_truncate(const struct sys_own *own, uint64_t size_bytes); /* 0 or errno */

struct sys_facts {
  uint64_t device, inode, size, time_ns; /* time_ns: of the last change, CLOCK_REALTIME */
  uint32_t owner;
  bool single; /* a regular file with one name */
  bool shared; /* others than the owner have rights to it */
};
bool sys_facts(const struct sys_own *own, struct sys_facts *facts);
/* The same of what has that name in the directory (NULL: of a path), links not followed.  Returns 0 or errno. */
int sys_facts_in(const struct sys_own *directory, const char *name, struct sys_facts *facts);
int sys_unlink_in(const struct sys_own *directory, const char *name);                 /* 0 or errno */
int sys_rename_in(const struct sys_own *directory, const char *name, const char *to); /* 0 or errno */
unsigned sys_user(void);                                                              /* the effective user */

/* Reads the beginning of a file that is opened for that; returns the bytes read, 0 also on failure. */
size_t sys_read_file(const char *path, char *text, size_t size_bytes);
/* Reads /proc/self/task/TID and that name as text with a 0 at its end.  Returns false if nothing can be read. */
bool sys_read_thread_file(int tid, const char *name, char *text, size_t size_bytes);
bool sys_read_at(const struct sys_own *own, uint64_t offset, void *bytes, size_t size_bytes); /* all bytes or false */

/* Returns how many bytes were written; if not all, *error is the reason. */
size_t sys_write_at(const struct sys_own *own, uint64_t offset, const void *bytes, size_t size_bytes, int *error);

/* Copies a part of a file to the same offset of another one.  Returns 0 or errno; EAGAIN: it was shorter. */
int sys_copy(const struct sys_own *to, const struct sys_own *from, uint64_t offset, uint64_t size_bytes);

/* Timers of a clock that send a signal to a thread, or to the process if tid is 0; the cookie is the signal's value. */
int sys_timer_start(int clock, int tid, int signal_number, void *cookie, uint64_t first_ns,
                    uint64_t period_ns);                              /* id or -1 */
void sys_timer_set(int timer, uint64_t first_ns, uint64_t period_ns); /* both 0: stops */
void sys_timer_stop(int timer);

/* Sends a received signal again, which the calling thread blocks: to the thread, or to the process if tid is 0.  Takes
 * signals of that number off first, because the kernel drops a signal of which one is pending. */
void sys_signal_again(int pid, int tid, int signal_number, const void *info);

/* Sends a signal with a value to a thread. */
void sys_signal_thread(int pid, int tid, int signal_number, void *cookie);
size_t sys_working_directory(char *path, size_t size_bytes); /* length without the NUL, 0 on failure */
void sys_yield(void);

/* sys_barrier_all() makes every thread of the process execute a memory barrier, so that the other threads need no fence
 * of their own.  Requires sys_barrier_prepare() once in a process. */
void sys_barrier_prepare(void);
void sys_barrier_all(void);
void sys_sleep_ns(long time_ns);
void sys_exit_group(int status) __attribute__((noreturn));
#ifdef RT_ASSERTIONS
void sys_write_error(const char *text, size_t size_bytes); /* to standard error */
#endif

#endif
