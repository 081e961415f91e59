/* Functions of libc that are interposed, and the signal.  Context: CTL. */
#ifndef HPCRUN_LITE_INTERPOSE_HOOKS_H
#define HPCRUN_LITE_INTERPOSE_HOOKS_H

#include <signal.h>
#include <stdbool.h>

/* Installs the signal handler and the fork and exit hooks. */
bool hooks_start(void);

/* Has thread_stop() called when the calling thread ends. */
void hooks_watch_thread_end(void);

/* Lets the calling thread receive our signal, unless the program blocks it and one of its own waits. */
void hooks_unblock_signal(void);
void hooks_block_signal(void);

/* pthread_sigmask past the program's: can block our signal. */
void hooks_sigmask(int how, const sigset_t *set, sigset_t *old);

/* Has the program a handler of its own for our signal, or waited for it?  Then samples give way to it. */
bool hooks_signal_in_use(void);

/* Does a wait for these signals include ours?  From then on it is in use. */
bool hooks_awaits_signal(const sigset_t *set);

/* Is this, taken out of a wait, a sample? */
bool hooks_is_sample(const siginfo_t *info);

/* Whether the calling thread blocks our signal in the program's eyes; a new thread has it of its creator. */
bool hooks_view_blocked(void);
void hooks_view_set(bool blocked);

/* Our signal is blocked, or no longer, for a call of ours: the program does not see it in its mask. */
void hooks_view_held(bool held);

/* The interposed functions. */
#define HOOKS_CALLS(X)                                                                                                 \
  X(sigaction)                                                                                                         \
  X(signal)                                                                                                            \
  X(pthread_sigmask)                                                                                                   \
  X(sigprocmask)                                                                                                       \
  X(signalfd)                                                                                                          \
  X(pthread_create)                                                                                                    \
  X(thrd_create)                                                                                                       \
  X(dlclose)                                                                                                           \
  X(execve)                                                                                                            \
  X(execvpe)                                                                                                           \
  X(fexecve)                                                                                                           \
  X(execveat)                                                                                                          \
  X(nanosleep)                                                                                                         \
  X(clock_nanosleep)                                                                                                   \
  X(sleep) X(usleep) X(poll) X(select) X(epoll_wait) X(sem_wait) X(sem_timedwait) X(sem_clockwait) X(pause) X(msgrcv)  \
      X(msgsnd) X(semop) X(semtimedop) X(accept) X(accept4) X(connect) X(recv) X(recvfrom) X(recvmsg) X(send)          \
          X(sendto) X(sendmsg) X(ppoll) X(pselect) X(epoll_pwait) X(sigsuspend) X(sigwait) X(sigwaitinfo)              \
              X(sigtimedwait) X(__poll_chk) X(__ppoll_chk) X(epoll_pwait2) X(__recv_chk) X(__recvfrom_chk) X(recvmmsg) \
                  X(sendmmsg) X(pthread_join) X(thrd_join) X(waitpid) X(waitid) X(pthread_cond_wait)                   \
                      X(pthread_cond_timedwait) X(pthread_cond_clockwait) X(thrd_sleep) X(read) X(readv) X(write)      \
                          X(writev) X(setsockopt) X(syscall) X(prctl) X(longjmp) X(_longjmp) X(siglongjmp)             \
                              X(__longjmp_chk) X(posix_spawn) X(posix_spawnp) X(aio_suspend) X(__read_chk) X(sendfile) \
                                  X(copy_file_range) X(getrandom)

#define HOOKS_NAME(name) HOOKS_##name,
enum hooks_call { HOOKS_CALLS(HOOKS_NAME) };

/* The next definition of an interposed function: libc's. */
void *hooks_next(enum hooks_call call);

#endif
