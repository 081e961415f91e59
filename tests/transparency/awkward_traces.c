/* What a program can see of its own process and threads; argv[1] chooses what.  Each prints what it prints without a
 * profiler. */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <fenv.h>
#include <limits.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/select.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <threads.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

#include "leaf_work.h"

static void *short_thread(void *unused)
{
  leaf_work(0.03);
  return unused;
}

static void run_thread(void)
{
  pthread_t thread;
  pthread_create(&thread, NULL, short_thread, NULL);
  pthread_join(thread, NULL);
}

/* ---- descriptors and limits ---- */

static void list_descriptors(void)
{
  leaf_work(0.05);
  DIR *directory = opendir("/proc/self/fd");
  for (struct dirent *entry; (entry = readdir(directory));)
    printf("%s ", entry->d_name);
  closedir(directory);
  int fd = open("/dev/null", O_RDONLY);
  printf("first %d\n", fd);
}

static void close_all(void)
{
  for (int fd = 3; fd < sysconf(_SC_OPEN_MAX) && fd < 100000; fd++)
    close(fd);
  int wrong = 0;
  for (int i = 0; i < 300; i++)
    wrong += dup2(1, 900 + i) < 0;
  run_thread();
  for (int i = 0; i < 300; i++)
    wrong += close(900 + i) != 0;
  leaf_work(0.1);
  printf("%d wrong\n", wrong);
}

static void limited(int resource, rlim_t soft)
{
  struct rlimit limit;
  getrlimit(resource, &limit);
  limit.rlim_cur = soft;
  if (resource != RLIMIT_NOFILE || getenv("HARD"))
    limit.rlim_max = soft;
  setrlimit(resource, &limit);
  leaf_work(0.03);
  run_thread();
  if (resource == RLIMIT_NOFILE) {
    int count = 0;
    while (open("/dev/null", O_RDONLY) >= 0)
      count++;
    printf("%d more\n", count);
    run_thread();
  }
}

static volatile sig_atomic_t over;

static void on_over(int number)
{
  (void)number;
  over = 1;
}

static void cpu_limit(void)
{
  struct rlimit limit = {1, 3};
  signal(SIGXCPU, on_over);
  setrlimit(RLIMIT_CPU, &limit);
  double begin = burn_clock();
  while (!over)
    leaf_work(0.01);
  printf("over %s\n", burn_clock() - begin < 1.5 ? "in time" : "late");
}

/* ---- masks and signals ---- */

static void print_mask(const char *what)
{
  sigset_t mask;
  pthread_sigmask(SIG_SETMASK, NULL, &mask);
  printf("%s:", what);
  for (int i = 1; i < 65; i++)
    if (sigismember(&mask, i) == 1)
      printf(" %d", i);
  puts("");
}

static void *print_there(void *unused)
{
  print_mask("thread");
  return unused;
}

static volatile sig_atomic_t urgent, urgent_masked;
static pthread_t main_thread;

static void on_urgent(int number)
{
  sigset_t mask;
  sigprocmask(SIG_SETMASK, NULL, &mask);
  urgent_masked = sigismember(&mask, SIGUSR1) * 10 + sigismember(&mask, SIGURG) + 100 * sigismember(&mask, SIGUSR2);
  urgent++;
  (void)number;
}

static void masks(char *self)
{
  sigset_t all, some, old, pending;
  pthread_t thread;
  sigfillset(&all);
  print_mask("start");
  sigprocmask(SIG_BLOCK, &all, &old);
  print_mask("all");
  leaf_work(0.05);
  pthread_create(&thread, NULL, print_there, NULL);
  pthread_join(thread, NULL);
  fflush(stdout);
  sigemptyset(&some);
  sigaddset(&some, SIGUSR2);
  sigaddset(&some, SIGURG);
  sigprocmask(SIG_SETMASK, &some, &old);
  printf("old %d\n", sigismember(&old, SIGURG));
  struct sigaction action = {.sa_handler = on_urgent}, before;
  sigaddset(&action.sa_mask, SIGUSR1);
  sigaction(SIGURG, &action, NULL);
  sigaction(SIGURG, NULL, &before);
  printf("same %d, mask %d\n", before.sa_handler == on_urgent, sigismember(&before.sa_mask, SIGUSR1));
  raise(SIGURG);
  kill(getpid(), SIGURG);
  leaf_work(0.02);
  sigpending(&pending);
  printf("blocked: %d, pending %d\n", urgent, sigismember(&pending, SIGURG));
  sigprocmask(SIG_UNBLOCK, &some, NULL);
  printf("unblocked: %s, in handler %d\n", urgent ? "came" : "lost", urgent_masked);
  sigprocmask(SIG_BLOCK, &some, NULL);
  fflush(stdout);
  pid_t child = fork();
  if (!child) {
    print_mask("child");
    fflush(stdout);
    execl(self, self, "mask", (char *)NULL);
  }
  waitpid(child, NULL, 0);
  fflush(stdout);
  printf("system %d\n", system("grep SigBlk /proc/self/status"));
}

static void *send_urgent(void *unused)
{
  usleep(50000);
  leaf_work(0.01);
  pthread_kill(main_thread, SIGURG);
  return unused;
}

/* A program that uses SIGURG itself: it is woken by it, and waits for it. */
static void urgents(void)
{
  struct sigaction action = {.sa_handler = on_urgent};
  struct timespec nap = {5, 0};
  sigset_t none, one;
  pthread_t thread;
  int number = 0;
  main_thread = pthread_self();
  sigemptyset(&none);
  sigemptyset(&one);
  sigaddset(&one, SIGURG);
  sigaction(SIGURG, &action, NULL);
  leaf_work(0.02);
  pthread_create(&thread, NULL, send_urgent, NULL);
  int result = nanosleep(&nap, NULL);
  printf("nap %d %d, urgent %d\n", result, errno, urgent);
  pthread_join(thread, NULL);
  pthread_create(&thread, NULL, send_urgent, NULL);
  result = poll(NULL, 0, 5000);
  printf("poll %d %d, urgent %d\n", result, errno, urgent);
  pthread_join(thread, NULL);
  sigprocmask(SIG_BLOCK, &one, NULL);
  pthread_create(&thread, NULL, send_urgent, NULL);
  result = sigsuspend(&none);
  printf("suspend %d %d, urgent %d\n", result, errno, urgent);
  pthread_join(thread, NULL);
  pthread_create(&thread, NULL, send_urgent, NULL);
  result = sigwait(&one, &number);
  printf("wait %d %d, urgent %d\n", result, number, urgent);
  pthread_join(thread, NULL);
  pthread_create(&thread, NULL, send_urgent, NULL);
  siginfo_t info;
  result = sigtimedwait(&one, &info, &nap);
  printf("timed wait %d from %d, urgent %d\n", result, info.si_pid == getpid(), urgent);
  pthread_join(thread, NULL);
  struct timespec little = {0, 50000000};
  result = sigtimedwait(&one, &info, &little);
  printf("timed wait %d %d\n", result, errno);
}

/* Waits for all signals while all are blocked, as servers do. */
static void *send_urgent_to_process(void *unused)
{
  usleep(20000);
  kill(getpid(), SIGURG);
  return unused;
}

/* A program that waits for SIGURG by system calls, and has no handler for it. */
static void urgents_awaited(void)
{
  struct timespec second = {1, 0};
  sigset_t one;
  int got = 0;
  sigemptyset(&one);
  sigaddset(&one, SIGURG);
  pthread_sigmask(SIG_BLOCK, &one, NULL);
  for (int i = 0; i < 6; i++) {
    pthread_t thread;
    pthread_create(&thread, NULL, send_urgent_to_process, NULL);
    leaf_work(0.01 * (i % 3));
    got += syscall(SYS_rt_sigtimedwait, &one, NULL, &second, 8) == SIGURG;
    pthread_join(thread, NULL);
  }
  printf("got %d\n", got);
}

static void waits_for_all(void)
{
  sigset_t all;
  struct itimerval timer = {{0, 20000}, {0, 20000}};
  sigfillset(&all);
  pthread_sigmask(SIG_BLOCK, &all, NULL);
  setitimer(ITIMER_REAL, &timer, NULL);
  for (int i = 0; i < 5; i++) {
    int number = 0;
    leaf_work(0.005);
    sigwait(&all, &number);
    printf("%d ", number);
  }
  int fd = signalfd(-1, &all, SFD_CLOEXEC);
  for (int i = 0; i < 5; i++) {
    struct signalfd_siginfo info = {0};
    struct pollfd ready = {fd, POLLIN, 0};
    leaf_work(0.005);
    poll(&ready, 1, -1);
    ssize_t got = read(fd, &info, sizeof info);
    printf("%d:%u ", got == sizeof info, info.ssi_signo);
  }
  timer = (struct itimerval){{0, 0}, {0, 0}};
  setitimer(ITIMER_REAL, &timer, NULL);
  struct timespec none = {0, 0};
  while (sigtimedwait(&all, NULL, &none) > 0)
    ;
  sigset_t pending;
  leaf_work(0.05);
  sigpending(&pending);
  printf("pending %d\n", sigisemptyset(&pending) ? 0 : 1);
}

static void on_alarm(int number)
{
  (void)number;
}

static sigjmp_buf back;

static void jump(int number)
{
  (void)number;
  siglongjmp(back, 1);
}

static void plain_jump(int number)
{
  (void)number;
  longjmp(back, 1);
}

NOINLINE static void jumps_out(int how)
{
  struct itimerval timer = {{0, 0}, {0, 5000}};
  struct timespec nap = {5, 0};
  struct sigaction action = {.sa_handler = how ? plain_jump : jump, .sa_flags = how ? SA_NODEFER : 0};
  sigaction(SIGALRM, &action, NULL);
  for (volatile int i = 0; i < 20; i++)
    if (!sigsetjmp(back, !how)) {
      setitimer(ITIMER_REAL, &timer, NULL);
      nanosleep(&nap, NULL);
    }
}

/* The classic time limit: the handler jumps out of the sleep. */
static void jumping(void)
{
  jumps_out(0);
  print_mask("saved");
  leaf_work(0.2);
  jumps_out(1);
  print_mask("not saved");
  leaf_work(0.2);
}

static volatile int stop;
static volatile sig_atomic_t storms;

static void on_storm(int number)
{
  (void)number;
  storms++;
}

static void *send_many(void *count)
{
  for (int i = 0; i < *(int *)count; i++)
    pthread_kill(main_thread, SIGUSR1);
  stop = 1;
  return NULL;
}

static void storm(int count)
{
  pthread_t thread;
  main_thread = pthread_self();
  signal(SIGUSR1, on_storm);
  pthread_create(&thread, NULL, send_many, &count);
  while (!stop)
    leaf_work(0.001);
  pthread_join(thread, NULL);
  printf("storm %s\n", storms ? "came" : "lacks");
}

/* ---- calls that wait ---- */

static void *feed(void *fds)
{
  for (int i = 0; i < 100; i++) {
    usleep(500);
    ssize_t done = write(((int *)fds)[1], "x", 1);
    (void)done;
  }
  return NULL;
}

static void waiting(void)
{
  int errors = 0, fds[2], sockets[2];
  char text[8];
  pthread_t thread;
  struct timeval limit = {0, 3000};
  if (pipe(fds) || socketpair(AF_UNIX, SOCK_STREAM, 0, sockets))
    exit(1);
  pthread_create(&thread, NULL, feed, fds);
  for (int i = 0; i < 100; i++)
    errors += read(fds[0], text, 1) != 1;
  pthread_join(thread, NULL);
  setsockopt(sockets[0], SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
  for (int i = 0; i < 100; i++) {
    leaf_work(0.0002);
    errno = 0;
    errors += read(sockets[0], text, 1) != -1 || errno != EAGAIN;
    errors += recv(sockets[0], text, 1, 0) != -1 || errno != EAGAIN;
  }
  printf("reads %d\n", errors);
  struct timespec nap = {0, 2000000};
  for (int i = 0; i < 100; i++)
    errors += thrd_sleep(&nap, NULL) != 0;
  printf("naps %d\n", errors);
  uint32_t word = 0;
  for (int i = 0; i < 100; i++) {
    errno = 0;
    errors += syscall(SYS_futex, &word, 128, 0, &nap, NULL, 0) != -1 || errno != ETIMEDOUT;
  }
  printf("futexes %d\n", errors);
  for (int i = 0; i < 100; i++)
    errors += syscall(SYS_nanosleep, &nap, NULL) != 0;
  printf("raw naps %d\n", errors);
  for (int i = 0; i < 100; i++)
    errors += syscall(SYS_poll, NULL, 0, 2) != 0;
  printf("raw polls %d\n", errors);
}

/* ---- stacks ---- */

static void on_stack(int number)
{
  (void)number;
  leaf_work(0.003);
  over++;
}

static void small_stacks(void)
{
  size_t size = (size_t)sysconf(_SC_MINSIGSTKSZ) + 2048;
  size_t page = 4096, whole = (size + page - 1) / page * page;
  char *memory = mmap(NULL, whole + page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  mprotect(memory, page, PROT_NONE);
  stack_t stack = {.ss_sp = memory + page + (whole - size), .ss_size = size};
  struct sigaction action = {.sa_handler = on_stack, .sa_flags = SA_ONSTACK}, old;
  sigaltstack(&stack, NULL);
  sigaction(SIGUSR1, &action, NULL);
  sigaction(SIGUSR1, NULL, &old);
  printf("mask %d\n", sigismember(&old.sa_mask, SIGURG));
  for (int i = 0; i < 50; i++)
    raise(SIGUSR1);
  stack_t seen;
  sigaltstack(NULL, &seen);
  printf("%d on a small stack, %d\n", (int)over, seen.ss_size == size && seen.ss_sp == stack.ss_sp);
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, PTHREAD_STACK_MIN);
  for (int i = 0; i < 20; i++) {
    pthread_t thread;
    int error = pthread_create(&thread, &attributes, short_thread, NULL);
    if (error)
      printf("error %d\n", error);
    else
      pthread_join(thread, NULL);
  }
  puts("threads");
}

static ucontext_t outside, inside;
static size_t room;

static void coroutine(void)
{
  for (;;) {
    leaf_work(0.005);
    swapcontext(&inside, &outside);
  }
}

/* A guard page is below the coroutine's stack. */
static void coroutines(size_t size)
{
  size_t whole = (size + 4095) / 4096 * 4096;
  room = size;
  char *memory = mmap(NULL, whole + 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  mprotect(memory, 4096, PROT_NONE);
  memset(memory + 4096, 0xa5, whole);
  getcontext(&inside);
  inside.uc_stack.ss_sp = memory + 4096 + whole - size;
  inside.uc_stack.ss_size = size;
  makecontext(&inside, coroutine, 0);
  for (int i = 0; i < 40; i++)
    swapcontext(&outside, &inside);
  size_t untouched = 0;
  while (untouched < whole && memory[4096 + untouched] == (char)0xa5)
    untouched++;
  if (getenv("SHOW_STACK"))
    fprintf(stderr, "used %zu\n", whole - untouched);
  puts("done");
}

static volatile int depth;
static sigjmp_buf rescued;

NOINLINE static int overflow(int level)
{
  volatile char frame[64];
  frame[0] = (char)level;
  depth = level;
  return overflow(level + 1) + frame[0];
}

static void on_overflow(int number)
{
  (void)number;
  siglongjmp(rescued, 1);
}

static void overflows(void)
{
  struct rlimit limit = {1 << 20, RLIM_INFINITY};
  stack_t stack = {.ss_sp = malloc(65536), .ss_size = 65536};
  struct sigaction action = {.sa_handler = on_overflow, .sa_flags = SA_ONSTACK};
  setrlimit(RLIMIT_STACK, &limit);
  sigaltstack(&stack, NULL);
  sigaction(SIGSEGV, &action, NULL);
  for (volatile int i = 0; i < 100; i++)
    if (!sigsetjmp(rescued, 1))
      overflow(0);
  leaf_work(0.05);
  puts("rescued");
}

/* ---- the state of the processor ---- */

static void *float_thread(void *unused)
{
  feenableexcept(FE_DIVBYZERO | FE_INVALID | FE_OVERFLOW | FE_INEXACT);
  return unused;
}

static void floats(void)
{
  volatile float third = 3;
  unsigned control;
  feclearexcept(FE_ALL_EXCEPT);
  fesetround(FE_UPWARD);
  __asm__ volatile("stmxcsr %0" : "=m"(control));
  unsigned before = control;
  struct timespec nap = {0, 1000};
  for (int i = 0; i < 20; i++) {
    run_thread();
    feclearexcept(FE_ALL_EXCEPT);
    nanosleep(&nap, NULL);
    pid_t child = fork();
    if (!child)
      _exit(fetestexcept(FE_ALL_EXCEPT));
    int status;
    waitpid(child, &status, 0);
    if (status || fetestexcept(FE_ALL_EXCEPT))
      printf("flags %d, child %d\n", fetestexcept(FE_ALL_EXCEPT), status);
  }
  feclearexcept(FE_ALL_EXCEPT);
  __asm__ volatile("stmxcsr %0" : "=m"(control));
  printf("control %d, %d\n", control == before, fegetround() == FE_UPWARD);
  third = 1 / third;
  feclearexcept(FE_ALL_EXCEPT);
  pthread_t thread;
  pthread_create(&thread, NULL, float_thread, NULL);
  pthread_join(thread, NULL);
  float_thread(NULL);
  execl("/nowhere", "nowhere", (char *)NULL);
  puts("traps");
  fflush(stdout);
  _exit(3);
}

/* Values below the stack pointer must survive samples. */
NOINLINE static long red_zone(long rounds)
{
  long wrong = 0;
  __asm__ volatile("1: mov %1, -8(%%rsp)\n"
                   "mov %1, -64(%%rsp)\n"
                   "mov %1, -120(%%rsp)\n"
                   "mov $50, %%ecx\n"
                   "2: dec %%ecx\n"
                   "jnz 2b\n"
                   "xor %%eax, %%eax\n"
                   "cmp %1, -8(%%rsp)\n"
                   "setne %%al\n"
                   "add %%rax, %0\n"
                   "cmp %1, -64(%%rsp)\n"
                   "setne %%al\n"
                   "add %%rax, %0\n"
                   "cmp %1, -120(%%rsp)\n"
                   "setne %%al\n"
                   "add %%rax, %0\n"
                   "dec %1\n"
                   "jnz 1b\n"
                   : "+r"(wrong), "+r"(rounds)
                   :
                   : "rax", "rcx", "memory", "cc");
  return wrong;
}

/* Works for a while with thread-local storage that is not libc's, as the code of a Go program without libc does. */
static void other_storage(void)
{
  static uint64_t storage[4096];
  uint64_t own;
  memset(storage, 0x11, sizeof storage / 2);
  syscall(SYS_arch_prctl, 0x1003, &own);
  __asm__ volatile("movl $158, %%eax\n"
                   "syscall\n"
                   "movl $300000000, %%edx\n"
                   "0: decl %%edx\n"
                   "jnz 0b\n"
                   "movl $158, %%eax\n"
                   "movq %0, %%rsi\n"
                   "syscall\n"
                   :
                   : "r"(own), "D"(0x1002), "S"(storage + 2048)
                   : "rax", "rcx", "rdx", "r11", "memory");
  puts("fs");
}

/* Code generated at run time, without unwind information; its frame holds nothing that looks like a return address. */
static void made_code(void)
{
  static const uint8_t code[] = {0x55, 0xbd, 0x44, 0x33, 0x22, 0x11, 0x50, 0x50, 0x50, /* push rbp; mov ebp, ..; push rax x 3 */
                                 0xb9, 0x00, 0xe1, 0xf5, 0x05,                         /* mov ecx, 100000000 */
                                 0xff, 0xc9, 0x75, 0xfc,                               /* dec ecx; jnz */
                                 0x58, 0x58, 0x58, 0x5d, 0xc3};
  for (int i = 0; i < 8; i++) {
    void *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    memcpy(page, code, sizeof code);
    ((void (*)(void))page)();
    munmap(page, 4096);
  }
  printf("wrong %ld\n", red_zone(3000000));
  unsigned long base = 0, seen = 0;
  syscall(SYS_arch_prctl, 0x1001, 0x123456789000);
  leaf_work(0.05);
  syscall(SYS_arch_prctl, 0x1004, &seen);
  printf("gs %d %lu\n", seen == 0x123456789000, base);
}

/* A parent that traces its child and passes no signal on. */
static void traced(const char *how)
{
  pid_t child = fork();
  if (!child) {
    if (!strcmp(how, "raw"))
      syscall(SYS_ptrace, PTRACE_TRACEME, 0, 0, 0);
    else
      ptrace(PTRACE_TRACEME, 0, NULL, NULL);
    leaf_work(0.05);
    execl("/proc/self/exe", "again", "made_code", (char *)NULL);
    _exit(1);
  }
  for (int status; waitpid(child, &status, 0) == child && WIFSTOPPED(status);) {
    printf("stopped by %d\n", WSTOPSIG(status));
    ptrace(PTRACE_CONT, child, NULL, NULL);
  }
}

/* ---- sandboxes ---- */

static void strict(void)
{
  leaf_work(0.05);
  prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT);
  for (volatile int i = 1; i < 300000000; i++)
    ;
  ssize_t done = write(1, "strict\n", 7);
  (void)done;
  syscall(SYS_exit, 6);
}

static void filtered(unsigned action)
{
  static const int allowed[] = {SYS_write, SYS_exit_group, SYS_exit, SYS_rt_sigreturn, SYS_fstat, SYS_newfstatat, SYS_brk, SYS_mmap, SYS_ioctl, SYS_getrandom};
  struct sock_filter filter[40];
  unsigned short at = 0;
  filter[at++] = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr));
  for (unsigned i = 0; i < sizeof allowed / sizeof *allowed; i++) {
    filter[at++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (unsigned)allowed[i], 0, 1);
    filter[at++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
  }
  filter[at++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, action);
  struct sock_fprog program = {at, filter};
  leaf_work(0.05);
  prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
  if (getenv("BY_SYSCALL") ? syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program) : prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program))
    exit(1);
  for (volatile int i = 1; i < 300000000; i++)
    ;
  puts("filtered");
  exit(6);
}

static void environments(char *how)
{
  leaf_work(0.03);
  if (!strcmp(how, "clear")) {
    clearenv();
    printf("%d\n", system("env | sort"));
  } else if (!strcmp(how, "children")) {
    unsetenv("HOME");
    printf("%d\n", system("env | grep -v -e HPCRUN_LITE -e LD_PRELOAD -e OMP_TOOL -e LD_LIBRARY_PATH | sort"));
  } else if (!strcmp(how, "chdir")) {
    printf("%d\n", chdir("/"));
    run_thread();
  } else if (!strcmp(how, "chroot")) {
    printf("%d %d\n", chroot("/proc/self"), chdir("/"));
    run_thread();
  }
}

int main(int argc, char **argv)
{
  const char *which = argc > 1 ? argv[1] : "";
  unsigned long number = argc > 2 ? strtoul(argv[2], NULL, 0) : 0;
  setvbuf(stdout, NULL, _IOLBF, 0);
  no_core_files();
  if (!strcmp(which, "list"))
    list_descriptors();
  else if (!strcmp(which, "close"))
    close_all();
  else if (!strcmp(which, "nofile"))
    limited(RLIMIT_NOFILE, number);
  else if (!strcmp(which, "as"))
    limited(RLIMIT_AS, number << 20);
  else if (!strcmp(which, "fsize"))
    limited(RLIMIT_FSIZE, number);
  else if (!strcmp(which, "sigpending"))
    limited(RLIMIT_SIGPENDING, number);
  else if (!strcmp(which, "memlock"))
    limited(RLIMIT_MEMLOCK, number);
  else if (!strcmp(which, "nproc"))
    limited(RLIMIT_NPROC, 4);
  else if (!strcmp(which, "cpu"))
    cpu_limit();
  else if (!strcmp(which, "masks"))
    masks(argv[0]);
  else if (!strcmp(which, "mask"))
    print_mask("image");
  else if (!strcmp(which, "urgents"))
    urgents();
  else if (!strcmp(which, "urgents_awaited"))
    urgents_awaited();
  else if (!strcmp(which, "all"))
    waits_for_all();
  else if (!strcmp(which, "jumping"))
    jumping();
  else if (!strcmp(which, "storm"))
    storm((int)number);
  else if (!strcmp(which, "waiting"))
    waiting();
  else if (!strcmp(which, "small_stacks"))
    small_stacks();
  else if (!strcmp(which, "coroutines"))
    coroutines(number);
  else if (!strcmp(which, "overflows"))
    overflows();
  else if (!strcmp(which, "floats"))
    floats();
  else if (!strcmp(which, "made_code"))
    made_code();
  else if (!strcmp(which, "traced"))
    traced(argv[2]);
  else if (!strcmp(which, "other_storage"))
    other_storage();
  else if (!strcmp(which, "strict"))
    strict();
  else if (!strcmp(which, "errno"))
    filtered(SECCOMP_RET_ERRNO | EPERM);
  else if (!strcmp(which, "kill"))
    filtered(SECCOMP_RET_KILL_PROCESS);
  else if (!strcmp(which, "environment"))
    environments(argv[2]);
  else
    return 2;
  signal(SIGALRM, on_alarm);
  leaf_work(0.02);
  return 0;
}
