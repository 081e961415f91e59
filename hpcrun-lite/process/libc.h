/* The functions of libc that interpose/ replaces, as libc defines them.
 *
 * Context: CTL.  The table of addresses is written by libc_start() before the program has threads, or by the first call
 * of a function before that; every call then reads it.
 */
#ifndef HPCRUN_LITE_PROCESS_LIBC_H
#define HPCRUN_LITE_PROCESS_LIBC_H

#include <signal.h>

/* Those for mutexes come first: looking up what libc lacks allocates, and an allocator of the program may lock. */
/* clang-format off */
#define LIBC_CALLS(X)                                                                                                  \
  X(pthread_mutex_lock) X(pthread_mutex_trylock) X(pthread_mutex_unlock) X(sigaction) X(signal) X(pthread_sigmask)     \
  X(sigprocmask) X(signalfd) X(pthread_create) X(thrd_create) X(dlclose) X(execve) X(execvpe) X(fexecve) X(execveat)   \
  X(posix_spawn) X(posix_spawnp) X(prctl) X(ptrace) X(syscall) X(nanosleep) X(clock_nanosleep) X(sleep) X(usleep)      \
  X(thrd_sleep) X(pause) X(poll) X(ppoll) X(select) X(pselect) X(epoll_wait) X(epoll_pwait) X(epoll_pwait2)            \
  X(aio_suspend) X(sem_trywait) X(sem_wait) X(sem_timedwait) X(sem_clockwait) X(msgrcv) X(msgsnd) X(semop)             \
  X(semtimedop) X(accept) X(accept4) X(connect) X(recv) X(recvfrom) X(recvmsg) X(recvmmsg) X(send) X(sendto)           \
  X(sendmsg) X(sendmmsg) X(sigsuspend) X(sigwait) X(sigwaitinfo) X(sigtimedwait) X(__poll_chk) X(__ppoll_chk)          \
  X(__recv_chk) X(__recvfrom_chk) X(pthread_join) X(thrd_join) X(waitpid) X(waitid) X(pthread_cond_wait)               \
  X(pthread_cond_timedwait) X(pthread_cond_clockwait) X(longjmp) X(_longjmp) X(siglongjmp) X(__longjmp_chk) X(read)    \
  X(__read_chk) X(readv) X(write) X(writev) X(setsockopt) X(sendfile) X(copy_file_range) X(getrandom)                  \
  X(pthread_setaffinity_np) X(pthread_mutex_timedlock) X(pthread_mutex_clocklock) X(mtx_lock) X(mtx_trylock)           \
  X(mtx_timedlock) X(mtx_unlock) X(pthread_rwlock_rdlock) X(pthread_rwlock_wrlock) X(pthread_rwlock_timedrdlock)       \
  X(pthread_rwlock_timedwrlock) X(pthread_rwlock_clockrdlock) X(pthread_rwlock_clockwrlock)                            \
  X(pthread_rwlock_tryrdlock) X(pthread_rwlock_trywrlock) X(pthread_rwlock_unlock) X(pthread_spin_lock)                \
  X(pthread_spin_trylock) X(pthread_spin_unlock) X(cnd_wait) X(cnd_timedwait) X(pthread_barrier_wait) X(pread)         \
  X(pread64) X(__pread_chk) X(__pread64_chk) X(pwrite) X(pwrite64) X(preadv) X(preadv64) X(pwritev) X(pwritev64)       \
  X(splice) X(fsync) X(fdatasync) X(msync) X(flock) X(lockf) X(lockf64) X(mq_receive) X(mq_timedreceive) X(mq_send)    \
  X(mq_timedsend) X(fread) X(fread_unlocked) X(__fread_chk) X(__fread_unlocked_chk) X(fwrite) X(fwrite_unlocked)       \
  X(fgets) X(fgets_unlocked) X(__fgets_chk) X(__fgets_unlocked_chk) X(getline) X(getdelim) X(__getdelim) X(puts)       \
  X(fputs) X(fputs_unlocked) X(vprintf) X(vfprintf) X(__vprintf_chk) X(__vfprintf_chk) X(fflush) X(fflush_unlocked)    \
  X(fclose) X(fopen) X(fopen64) X(pclose) X(system) X(open) X(open64) X(openat) X(openat64) X(__open_2) X(__open64_2)  \
  X(__openat_2) X(__openat64_2) X(fcntl) X(fcntl64) X(wait) X(wait3) X(wait4) X(pthread_timedjoin_np) X(pthread_once)  \
  X(call_once)
/* clang-format on */

#define LIBC_NAME(name) LIBC_##name,
enum libc_call { LIBC_CALLS(LIBC_NAME) LIBC_COUNT };

/* Looks all functions up: a call from a handler could wait for the dynamic loader's lock. */
void libc_start(void);

/* The address of the function in libc; the caller converts it to the function's type. */
void *libc_look_up(enum libc_call call);
extern void *libc_addresses[LIBC_COUNT] __attribute__((visibility("hidden")));
static inline void *libc_real(enum libc_call call)
{
  return libc_addresses[call] ? libc_addresses[call] : libc_look_up(call);
}

/* libc's pthread_sigmask(): can block SAMPLE_SIGNAL, and the program does not see it (own_signal.h). */
void libc_sigmask(int how, const sigset_t *set, sigset_t *old);

#endif
