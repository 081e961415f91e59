/* Ways in which a process, a thread or a program image ends; argv[1] chooses one.  Each prints what it prints without a
 * profiler, and uses CPU time before it ends.  argv[2]: the number of repetitions. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/sched.h>
#include <omp.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <threads.h>
#include <unistd.h>

#include "leaf_work.h"

extern char **environ;
static char *self;
static int times;

static void print_now(const char *text)
{
  ssize_t written = write(STDOUT_FILENO, text, strlen(text));
  (void)written;
}

/* ---- faults and signals ---- */

static sigjmp_buf back;
static volatile sig_atomic_t came;

static void fault(int number)
{
  if (number == SIGSEGV) {
    *(volatile int *)16 = 1;
  } else if (number == SIGFPE) {
    __asm__ volatile("mov $1, %%eax\n\txor %%edx, %%edx\n\txor %%ecx, %%ecx\n\tidiv %%ecx" ::: "eax", "ecx", "edx");
  } else if (number == SIGBUS) {
    FILE *file = tmpfile();
    volatile char *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fileno(file), 0);
    *page = 1;
  } else if (number == SIGILL) {
    __asm__ volatile("ud2");
  } else {
    raise(number);
  }
}

static void jump_back(int number)
{
  (void)number;
  leaf_work(0.002);
  siglongjmp(back, 1);
}

static void raise_again(int number)
{
  print_now("caught\n");
  signal(number, SIG_DFL);
  raise(number);
}

static void count_and_return(int number)
{
  (void)number;
  came++;
  print_now("once\n");
}

static void exit_in_handler(int number)
{
  leaf_work(0.01);
  _exit(40 + number);
}

static int fatal(const char *name)
{
  static const struct {
    const char *name;
    int number;
  } all[] = {{"segv", SIGSEGV}, {"bus", SIGBUS}, {"fpe", SIGFPE}, {"ill", SIGILL}, {"term", SIGTERM}, {"int", SIGINT},
             {"hup", SIGHUP},   {"abrt", SIGABRT}, {"usr1", SIGUSR1}, {"prof", SIGPROF}, {"pipe", SIGPIPE}};
  for (unsigned i = 0; i < sizeof all / sizeof *all; i++)
    if (!strcmp(all[i].name, name))
      return all[i].number;
  return 0;
}

/* how: default, exit, jump, again, reset; with a leading 's' on an alternate stack. */
static void by_signal(int number, const char *how)
{
  struct sigaction action = {.sa_handler = SIG_DFL};
  if (*how == 's') {
    stack_t stack = {.ss_size = 16384, .ss_sp = malloc(16384)};
    action.sa_flags = SA_ONSTACK;
    sigaltstack(&stack, NULL);
    how++;
  }
  if (!strcmp(how, "exit"))
    action.sa_handler = exit_in_handler;
  if (!strcmp(how, "again"))
    action.sa_handler = raise_again;
  if (!strcmp(how, "reset")) {
    action.sa_handler = count_and_return;
    action.sa_flags |= (int)SA_RESETHAND;
  }
  if (!strcmp(how, "jump"))
    action.sa_handler = jump_back;
  sigaction(number, &action, NULL);
  leaf_work(0.05);
  if (!strcmp(how, "jump")) {
    volatile int jumps = 0;
    while (jumps < 100)
      if (!sigsetjmp(back, 1))
        fault(number);
      else
        jumps++;
    leaf_work(0.05);
    printf("%d jumps\n", jumps);
    return;
  }
  fault(number);
  fault(number);
  printf("alive, %d\n", (int)came);
}

static void *raise_there(void *number)
{
  leaf_work(0.03);
  fault(*(int *)number);
  return NULL;
}

/* ---- inside parallel regions ---- */

static void in_region(const char *how)
{
  bool worker = *how == 'w';
  how++;
#pragma omp parallel num_threads(2)
  {
    leaf_work(0.05);
#pragma omp barrier
    if ((omp_get_thread_num() == 1) == worker) {
      if (!strcmp(how, "exit"))
        exit(21);
      if (!strcmp(how, "_exit"))
        _exit(22);
      if (!strcmp(how, "_Exit"))
        _Exit(23);
      if (!strcmp(how, "quick"))
        quick_exit(24);
      if (!strcmp(how, "abort"))
        abort();
      if (!strcmp(how, "segv"))
        fault(SIGSEGV);
      if (!strcmp(how, "raise"))
        raise(SIGTERM);
      if (!strcmp(how, "exec"))
        execl(self, self, "plain", (char *)NULL);
      if (!strcmp(how, "fork")) {
        pid_t child = fork();
        if (!child) {
          leaf_work(0.05);
          _exit(25);
        }
        int status;
        waitpid(child, &status, 0);
        printf("child %d\n", WEXITSTATUS(status));
      }
    }
    leaf_work(0.05);
#pragma omp barrier
  }
}

/* ---- exec ---- */

static void exec_chain(const char *kind, int left)
{
  char count[20], *argv[] = {self, "exec", (char *)kind, count, NULL};
  leaf_work(0.001);
  if (!left) {
    printf("done %s\n", getenv("LEFT") ? getenv("LEFT") : "-");
    return;
  }
  snprintf(count, sizeof count, "%d", left - 1);
  if (!strcmp(kind, "execv"))
    execv(self, argv);
  if (!strcmp(kind, "execve"))
    execve(self, argv, environ);
  if (!strcmp(kind, "execvp"))
    execvp(self, argv);
  if (!strcmp(kind, "execvpe"))
    execvpe(self, argv, environ);
  if (!strcmp(kind, "execl"))
    execl(self, self, "exec", kind, count, (char *)NULL);
  if (!strcmp(kind, "execlp"))
    execlp(self, self, "exec", kind, count, (char *)NULL);
  if (!strcmp(kind, "execle"))
    execle(self, self, "exec", kind, count, (char *)NULL, environ);
  int fd = open(self, O_RDONLY | O_CLOEXEC);
  if (!strcmp(kind, "fexecve"))
    fexecve(fd, argv, environ);
  if (!strcmp(kind, "execveat"))
    execveat(fd, "", argv, environ, AT_EMPTY_PATH);
  perror(kind);
}

static void failing_execs(void)
{
  char *argv[] = {"nowhere", NULL};
  int wrong = 0;
  for (int i = 0; i < times; i++) {
    leaf_work(0.0005);
    errno = 0;
    wrong += execv("/nowhere/nothing", argv) != -1 || errno != ENOENT;
    wrong += execvp("nowhere-to-be-found", argv) != -1 || errno != ENOENT;
    wrong += execv("/etc/passwd", argv) != -1 || errno != EACCES;
  }
  printf("%d wrong\n", wrong);
}

static void exit_on_alarm(int number)
{
  (void)number;
  exit(33);
}

/* A handler may run between the last instruction before exec and the work of the kernel. */
static void exec_and_alarm(void)
{
  char *argv[] = {"nowhere", NULL};
  struct itimerval timer = {{0, 0}, {0, 50000}};
  signal(SIGALRM, exit_on_alarm);
  setitimer(ITIMER_REAL, &timer, NULL);
  for (;;)
    execv("/nowhere/nothing", argv);
}

/* ---- fork ---- */

static int child_status(pid_t child)
{
  int status = -1;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR)
    ;
  return WIFEXITED(status) ? WEXITSTATUS(status) : 1000 + WTERMSIG(status);
}

static void *storm(void *wrong)
{
  for (int i = 0; i < times; i++) {
    pid_t child = fork();
    if (!child) {
      leaf_work(0.0005);
      if (i % 4 == 1)
        execl("/bin/true", "true", (char *)NULL);
      if (i % 4 == 2) {
        pid_t grandchild = fork();
        if (!grandchild)
          _exit(7);
        _exit(child_status(grandchild) == 7 ? 0 : 1);
      }
      if (i % 4 == 3)
        exit(0);
      _exit(0);
    }
    leaf_work(0.0002);
    if (child_status(child))
      __atomic_fetch_add((int *)wrong, 1, __ATOMIC_RELAXED);
  }
  return NULL;
}

static void fork_storm(void)
{
  pthread_t thread[3];
  int wrong = 0;
  for (int i = 0; i < 3; i++)
    pthread_create(&thread[i], NULL, storm, &wrong);
  for (int i = 0; i < 3; i++)
    pthread_join(thread[i], NULL);
  printf("%d wrong\n", wrong);
}

static volatile sig_atomic_t forks, bad_forks;

static void fork_in_handler(int number)
{
  (void)number;
  int saved = errno;
  pid_t child = fork();
  if (!child)
    _exit(5);
  bad_forks += child_status(child) != 5;
  forks++;
  errno = saved;
}

static void handler_forks(void)
{
  struct itimerval timer = {{0, 2000}, {0, 2000}}, off = {{0, 0}, {0, 0}};
  signal(SIGALRM, fork_in_handler);
  setitimer(ITIMER_REAL, &timer, NULL);
  while (forks < times)
    free(malloc((size_t)(rand() % 5000)));
  setitimer(ITIMER_REAL, &off, NULL);
  printf("%d bad\n", (int)bad_forks);
}

static void raw_children(void)
{
  for (int i = 0; i < times; i++) {
    leaf_work(0.001);
    pid_t child = i % 2 ? (pid_t)syscall(SYS_clone, SIGCHLD, NULL, NULL, NULL, NULL) : _Fork();
    if (!child) {
      leaf_work(0.002);
      if (i % 3 == 0)
        execl("/bin/sh", "sh", "-c", "exit 9", (char *)NULL);
      if (i % 3 == 1)
        exit(9);
      _exit(9);
    }
    int status = child_status(child);
    if (status != 9)
      printf("child %d: %d\n", i, status);
  }
  puts("done");
}

static void daemons(void)
{
  int fds[2];
  char text[20];
  if (pipe(fds))
    exit(1);
  leaf_work(0.02);
  pid_t child = fork();
  if (!child) {
    setsid();
    if (fork())
      _exit(0);
    leaf_work(0.05);
    if (daemon(1, 1) == 0) {
      leaf_work(0.02);
      dprintf(fds[1], "daemon\n");
    }
    exit(0);
  }
  close(fds[1]);
  printf("child %d\n", child_status(child));
  ssize_t got = read(fds[0], text, sizeof text);
  printf("%.*s", (int)got, text);
  printf("eof %zd\n", read(fds[0], text, sizeof text));
}

static void vforks(void)
{
  int wrong = 0;
  for (int i = 0; i < times; i++) {
    leaf_work(0.0005);
    pid_t child = vfork();
    if (!child) {
      if (i % 3 == 0)
        execl("/bin/sh", "sh", "-c", "exit 6", (char *)NULL);
      if (i % 3 == 1)
        execl("/nowhere", "nowhere", (char *)NULL);
      _exit(6);
    }
    wrong += child_status(child) != 6;
  }
  leaf_work(0.02);
  printf("%d wrong\n", wrong);
}

static void spawns(void)
{
  char *argv[] = {"sh", "-c", "kill -s 0 $$; read line; echo got $line; exit 8", NULL};
  int wrong = 0;
  for (int i = 0; i < times; i++) {
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    int fds[2];
    pid_t child;
    sigset_t all;
    sigfillset(&all);
    if (pipe2(fds, O_CLOEXEC))
      exit(1);
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, fds[0], 0);
    posix_spawn_file_actions_addopen(&actions, 5, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_addclosefrom_np(&actions, 6);
    posix_spawnattr_init(&attributes);
    posix_spawnattr_setsigdefault(&attributes, &all);
    posix_spawnattr_setsigmask(&attributes, &all);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETPGROUP);
    int error = i % 2 ? posix_spawn(&child, "/bin/sh", &actions, &attributes, argv, environ)
                      : posix_spawnp(&child, "sh", &actions, &attributes, argv, environ);
    dprintf(fds[1], "line %d\n", i);
    close(fds[0]);
    close(fds[1]);
    leaf_work(0.001);
    wrong += error || child_status(child) != 8;
    posix_spawn_file_actions_destroy(&actions);
    posix_spawnattr_destroy(&attributes);
    wrong += system("exit 3") != 3 << 8;
    FILE *pipe = popen("cat; exit 4", "w");
    fprintf(pipe, "through %d\n", i);
    wrong += pclose(pipe) != 4 << 8;
  }
  printf("%d wrong\n", wrong);
}

/* ---- threads ---- */

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
static int cleaned;

static void clean(void *unlock)
{
  sigset_t mask;
  pthread_sigmask(SIG_SETMASK, NULL, &mask);
  __atomic_fetch_add(&cleaned, 1 + 1000 * sigismember(&mask, SIGURG), __ATOMIC_RELAXED);
  leaf_work(0.0002);
  if (unlock)
    pthread_mutex_unlock(unlock);
}

static void *cancelled(void *how)
{
  volatile double sum = 0;
  struct timespec nap = {10, 0};
  pthread_cleanup_push(clean, *(int *)how == 2 ? &mutex : NULL);
  switch (*(int *)how) {
  case 0:
    pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, NULL);
    for (;;)
      sum = sum + 1;
  case 1:
    for (;;) {
      leaf_work(0.0002);
      pthread_testcancel();
    }
  case 2:
    pthread_mutex_lock(&mutex);
    for (;;)
      pthread_cond_wait(&condition, &mutex);
  case 3:
    for (;;)
      nanosleep(&nap, NULL);
  }
  pthread_cleanup_pop(1);
  return NULL;
}

static void cancels(void)
{
  int wrong = 0;
  for (int i = 0; i < times; i++) {
    pthread_t thread;
    void *result;
    int how = i % 4;
    pthread_create(&thread, NULL, cancelled, &how);
    leaf_work(0.0006);
    pthread_cancel(thread);
    pthread_join(thread, &result);
    wrong += result != PTHREAD_CANCELED;
  }
  printf("%d wrong, %s\n", wrong, cleaned == times || cleaned > 1000 ? cleaned > 1000 ? "masked" : "all clean" : "some never began");
}

static void late(void *unused)
{
  (void)unused;
  leaf_work(0.05);
  print_now("late destructor\n");
}

static pthread_key_t late_key;

static void *with_destructor(void *unused)
{
  pthread_setspecific(late_key, unused);
  leaf_work(0.01);
  return NULL;
}

static void destructors(void)
{
  pthread_t thread;
  pthread_key_create(&late_key, late);
  for (int i = 0; i < 4; i++) {
    pthread_create(&thread, NULL, with_destructor, &thread);
    pthread_join(thread, NULL);
  }
}

static void *outlive(void *unused)
{
  usleep(20000);
  leaf_work(0.05);
  print_now("last\n");
  return unused;
}

static void *forever(void *unused)
{
  for (;;)
    leaf_work(0.001);
  return unused;
}

static int c11(void *unused)
{
  (void)unused;
  leaf_work(0.05);
  thrd_exit(17);
}

static void notified(union sigval value)
{
  leaf_work(0.02);
  __atomic_store_n((int *)value.sival_ptr, 1, __ATOMIC_RELEASE);
}

static void notify(void)
{
  static int done;
  timer_t timer;
  struct sigevent event = {.sigev_notify = SIGEV_THREAD, .sigev_notify_function = notified, .sigev_value.sival_ptr = &done};
  struct itimerspec when = {{0, 0}, {0, 1000000}};
  timer_create(CLOCK_MONOTONIC, &event, &timer);
  timer_settime(timer, 0, &when, NULL);
  while (!__atomic_load_n(&done, __ATOMIC_ACQUIRE))
    leaf_work(0.001);
  puts("notified");
}

static void at_exit_region(void)
{
  double sum = 0;
#pragma omp parallel num_threads(2) reduction(+ : sum)
  sum += leaf_work(0.03) > 0;
  printf("at exit %.0f\n", sum);
  fflush(stdout);
}

__attribute__((destructor)) static void at_unload(void)
{
  if (getenv("UNLOAD_WORK")) {
    leaf_work(0.03);
    print_now("destructor\n");
  }
}

static void pauses(void)
{
  for (int i = 0; i < 6; i++) {
    int sum = 0;
#pragma omp parallel num_threads(2) reduction(+ : sum)
    sum += leaf_work(0.01) > 0;
    printf("%d threads, pause %d\n", sum, omp_pause_resource_all(omp_pause_soft));
  }
}

static void run_thread(const char *which)
{
  pthread_t thread;
  thrd_t other;
  int number = fatal(which), result;
  if (number) {
    pthread_create(&thread, NULL, raise_there, &number);
    leaf_work(0.01);
    pthread_join(thread, NULL);
  } else if (!strcmp(which, "outlive")) {
    pthread_create(&thread, NULL, outlive, NULL);
    leaf_work(0.02);
    pthread_exit(NULL);
  } else if (!strcmp(which, "detached")) {
    for (int i = 0; i < 4; i++) {
      pthread_create(&thread, NULL, forever, NULL);
      pthread_detach(thread);
    }
    leaf_work(0.1);
  } else if (!strcmp(which, "c11")) {
    thrd_create(&other, c11, NULL);
    thrd_join(other, &result);
    printf("c11 %d\n", result);
  } else if (!strcmp(which, "killed")) {
    signal(SIGUSR1, exit_in_handler);
    pthread_create(&thread, NULL, forever, NULL);
    leaf_work(0.05);
    pthread_kill(thread, SIGUSR1);
    pause();
  }
}

int main(int argc, char **argv)
{
  const char *which = argc > 1 ? argv[1] : "", *how = argc > 2 ? argv[2] : "";
  self = argv[0];
  times = atoi(how);
  no_core_files();
  if (fatal(which))
    by_signal(fatal(which), how);
  else if (!strcmp(which, "region"))
    in_region(how);
  else if (!strcmp(which, "thread"))
    run_thread(how);
  else if (!strcmp(which, "exec"))
    exec_chain(how, atoi(argv[3]));
  else if (!strcmp(which, "failing"))
    failing_execs();
  else if (!strcmp(which, "exec_and_alarm"))
    exec_and_alarm();
  else if (!strcmp(which, "fork_storm"))
    fork_storm();
  else if (!strcmp(which, "handler_forks"))
    handler_forks();
  else if (!strcmp(which, "raw_children"))
    raw_children();
  else if (!strcmp(which, "daemons"))
    daemons();
  else if (!strcmp(which, "vforks"))
    vforks();
  else if (!strcmp(which, "spawns"))
    spawns();
  else if (!strcmp(which, "cancels"))
    cancels();
  else if (!strcmp(which, "destructors"))
    destructors();
  else if (!strcmp(which, "notify"))
    notify();
  else if (!strcmp(which, "pauses"))
    pauses();
  else if (!strcmp(which, "atexit"))
    atexit(at_exit_region);
  else if (!strcmp(which, "plain"))
    leaf_work(0.05);
  else if (strcmp(which, "return"))
    return 2;
  leaf_work(0.02);
  return atoi(how) % 100;
}
