/* What calls on files, streams and pipes return, print and leave behind.  All of it is printed, so that it can be
 * compared. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include <linux/futex.h>

#include "await_sleep.h"

static int ends[2];
static char buffer[64];
static sigjmp_buf away;

static void line(const char *what, long value)
{
  int error = errno;
  printf("%s: %ld, errno %d\n", what, value, error);
  fflush(stdout);
  errno = 0;
}

static void nothing(int number) { (void)number; }

/* A signal ends the next call, or has its handler called.  One that comes while the thread handles another one does not
 * end the call, which goes on after that: so signals come until the call is over. */
static void soon(void (*handler)(int), int flags)
{
  struct sigaction action = {.sa_handler = handler, .sa_flags = flags};
  struct timeval again = {0, handler == nothing ? 20000 : 0};
  sigaction(SIGALRM, &action, NULL);
  setitimer(ITIMER_REAL, &(struct itimerval){again, {0, 20000}}, NULL);
}

static void over(void)
{
  int error = errno;
  setitimer(ITIMER_REAL, &(struct itimerval){0}, NULL);
  errno = error;
}
static void jump(int number) { siglongjmp(away, number); }

static void put(int number)
{
  int error = errno;
  (void)number;
  if (write(ends[1], "abc\n", 4) != 4)
    _exit(3);
  errno = error;
}

/* ---- errors ---- */

static void failures(void)
{
  char **text = &(char *){NULL};
  size_t room = 0;
  FILE *closed = fopen("/dev/null", "r");
  close(fileno(closed));
  line("read", read(-1, buffer, 1));
  line("pread", pread(ends[0], buffer, 1, 0));
  line("pwrite", pwrite(ends[1], buffer, 1, 0));
  line("preadv", preadv(ends[0], &(struct iovec){buffer, 1}, 1, 0));
  line("pwritev", pwritev(ends[1], &(struct iovec){buffer, 1}, 1, 0));
  line("fsync", fsync(-1));
  line("fdatasync", fdatasync(ends[0]));
  line("flock", flock(-1, LOCK_EX));
  line("lockf", lockf(-1, F_LOCK, 0));
  line("open", open("/nonexistent", O_RDONLY));
  line("openat", openat(-1, "nonexistent", O_RDONLY));
  line("fopen", fopen("/nonexistent", "r") == NULL);
  line("mode", fopen("/dev/null", "?") == NULL);
  line("fcntl", fcntl(-1, F_GETFD));
  line("fread", (long)fread(buffer, 1, 1, closed));
  line("fgets", fgets(buffer, 2, closed) == NULL);
  line("getline", getline(text, &room, closed));
  line("fclose", fclose(closed));
  line("pclose", pclose(popen("exit 5", "r")));
  line("system", system("exit 6"));
  line("wait", wait(NULL));
  line("wait4", wait4(-1, NULL, WNOHANG, NULL));
  line("futex", syscall(SYS_futex, &(uint32_t){1}, FUTEX_WAIT, 0, NULL, NULL, 0));
  line("no futex", syscall(SYS_futex, NULL, FUTEX_WAKE, 0, NULL, NULL, 0));
  free(*text);
}

/* ---- arguments ---- */

static void opened(void)
{
  struct stat facts;
  umask(0);
  int fd = open("created", O_CREAT | O_RDWR, 0640);
  line("fstat", fstat(fd, &facts));
  line("mode", (long)(facts.st_mode & 07777));
  line("duplicate", fcntl(fd, F_DUPFD_CLOEXEC, 100));
  line("flags", fcntl(100, F_GETFD));
  line("size", lockf(fd, F_TLOCK, 0));
  line("write", pwrite(fd, "0123456789", 10, 2));
  line("read", pread(fd, buffer, 10, 7));
  int other = openat(AT_FDCWD, "other", O_CREAT | O_WRONLY | O_EXCL, 0604);
  line("fstat", fstat(other, &facts));
  line("mode", (long)(facts.st_mode & 07777));
  other = open(".", O_TMPFILE | O_RDWR, 0611);
  if (other >= 0 && fstat(other, &facts) == 0)
    line("mode", (long)(facts.st_mode & 07777));
  errno = 0;
  struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
  line("record lock", fcntl(fd, F_SETLKW, &lock));
}

static void listed(const char *format, ...)
{
  va_list list, again;
  va_start(list, format);
  va_copy(again, list);
  vprintf(format, list);
  vfprintf(stdout, format, again);
  va_end(list);
  va_end(again);
}

static void printed(void)
{
  printf("%d %s %.3f %Lf %c %lld %5.2e %u %x %zu %hhd\n", 1, "two", 3.0, 4.0L, '5', 6LL, 7.0, 8u, 9u, (size_t)10, 11);
  line("fprintf", fprintf(stdout, "%g %g %g %g %g %g %g %g %g %d\n", 1., 2., 3., 4., 5., 6., 7., 8., 9., 10));
  listed("%s %f %d\n", "list", 1.5, 7);
  line("puts", puts("a line") >= 0);
  line("fputs", fputs("another\n", stdout) >= 0);
  line("fwrite", (long)fwrite("threes\n", 7, 1, stdout));
  line("all", fflush(NULL));
}

/* ---- calls that are interrupted ---- */

static void says(const char *what, long value)
{
  over();
  line(what, value);
}

static void interrupted(void)
{
  FILE *in = fdopen(dup(ends[0]), "r");
  soon(nothing, 0);
  says("read", read(ends[0], buffer, 4));
  soon(nothing, 0);
  says("readv", readv(ends[0], &(struct iovec){buffer, 4}, 1));
  soon(put, SA_RESTART);
  says("read goes on", read(ends[0], buffer, 4));
  soon(put, SA_RESTART);
  says("fgets goes on", fgets(buffer, sizeof buffer, in) != NULL);
  soon(nothing, 0);
  says("fgets", fgets(buffer, sizeof buffer, in) == NULL);
  clearerr(in);
  soon(nothing, 0);
  says("open", open("fifo", O_RDONLY));
  soon(nothing, 0);
  says("raw read", syscall(SYS_read, ends[0], buffer, 4));
  soon(nothing, 0);
  says("futex", syscall(SYS_futex, &(uint32_t){0}, FUTEX_WAIT, 0, NULL, NULL, 0));
}

static void left(void)
{
  FILE *in = fdopen(dup(ends[0]), "r");
  if (!sigsetjmp(away, 1)) {
    soon(jump, 0);
    says("never", fgets(buffer, sizeof buffer, in) != NULL);
  }
  errno = 0;
  soon(put, SA_RESTART);
  says("fgets after a jump", fgets(buffer, sizeof buffer, in) != NULL);
  if (!sigsetjmp(away, 1)) {
    soon(jump, 0);
    says("never", read(ends[0], buffer, 4));
  }
  errno = 0;
  soon(put, SA_RESTART);
  says("read after a jump", read(ends[0], buffer, 4));
}

static struct waiter waiter;

static void cleanup(void *what) { puts(what); }

static void *in_read(void *unused)
{
  pthread_cleanup_push(cleanup, "read is left");
  goes_to_wait(&waiter);
  line("never", read(ends[0], buffer, 4));
  pthread_cleanup_pop(0);
  return unused;
}

static void *in_getline(void *unused)
{
  FILE *in = fdopen(dup(ends[0]), "r");
  char *text = NULL;
  size_t room = 0;
  pthread_cleanup_push(cleanup, "getline is left");
  goes_to_wait(&waiter);
  line("never", getline(&text, &room, in));
  pthread_cleanup_pop(0);
  return unused;
}

static void *in_open(void *unused)
{
  pthread_cleanup_push(cleanup, "open is left");
  goes_to_wait(&waiter);
  line("never", open("fifo", O_RDONLY));
  pthread_cleanup_pop(0);
  return unused;
}

static void cancelled(void *(*call)(void *))
{
  pthread_t thread;
  void *result;
  pthread_create(&thread, NULL, call, NULL);
  await_sleep(&waiter);
  has_waited(&waiter);
  pthread_cancel(thread);
  pthread_join(thread, &result);
  line("cancelled", result == PTHREAD_CANCELED);
}

int main(void)
{
  errno = pipe(ends) || mkfifo("fifo", 0600);
  failures();
  opened();
  printed();
  interrupted();
  left();
  cancelled(in_read);
  cancelled(in_getline);
  cancelled(in_open);
  return 0;
}
