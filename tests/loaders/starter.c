/* Starts a program in many ways, and prints how it ended.
 *
 * Usage: starter PROCESS WAY ENVIRONMENT FILE
 *   PROCESS      self, fork, vfork, clone (a fork by a system call), or thread: fork in a thread with a stack of 32 KB
 *   ENVIRONMENT  own, twice (LD_PRELOAD occurs twice), large (20,000 more variables), grows (another thread adds
 *                variables to it, and removes them again, while 300 programs start), cut (the text of LD_PRELOAD runs
 * into a page that cannot be read) SANDBOX      in the environment: a call of faccessat2() ends the child
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static const char *way, *file;
static char **chosen;
static char *argv[] = {(char *)"child", NULL};

static int is(const char *name)
{
  return !strcmp(way, name);
}

/* LD_PRELOAD without an end. */
static char *cut_text(void)
{
  enum { PAGE = 4096 };
  static const char text[] = {'L', 'D', '_', 'P', 'R', 'E', 'L', 'O', 'A', 'D', '=', '/'};
  char *page = mmap(NULL, 2 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  mprotect(page + PAGE, PAGE, PROT_NONE);
  return memcpy(page + PAGE - sizeof text, text, sizeof text);
}

static void *grow(void *end)
{
  enum { VARIABLES = 3000 };
  for (char **list = end;;) {
    for (int i = 0; i < VARIABLES; i++)
      __atomic_store_n(&list[i], (char *)"FILLER=1", __ATOMIC_RELEASE);
    for (int i = VARIABLES; i > 0; i--)
      __atomic_store_n(&list[i - 1], NULL, __ATOMIC_RELEASE);
  }
  return NULL;
}

static void start_growing(char **end)
{
  pthread_t thread;
  if (pthread_create(&thread, NULL, grow, end))
    _exit(3);
}

static char **environment(const char *kind)
{
  enum { MORE = 20000 };
  size_t count = 0;
  while (environ[count])
    count++;
  char **list = calloc(2 * count + MORE + 2, sizeof *list);
  memcpy(list, environ, count * sizeof *list);
  if (!strcmp(kind, "twice"))
    for (size_t i = 0, end = count; i < end; i++)
      if (!strncmp(environ[i], "LD_PRELOAD=", 11))
        list[count++] = environ[i];
  if (!strcmp(kind, "large"))
    for (int i = 0; i < MORE; i++)
      list[count++] = (char *)"FILLER=1";
  if (!strcmp(kind, "cut"))
    list[count++] = cut_text();
  if (!strcmp(kind, "grows"))
    start_growing(list + count);
  return list;
}

/* What the search for an executable file calls ends the child; neither libc nor its loader calls it. */
static void restrict_calls(void)
{
  struct sock_filter code[] = {BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
                               BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_faccessat2, 1, 0),
                               BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
                               BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS)};
  struct sock_fprog filter = {sizeof code / sizeof *code, code};
  prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
  if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter))
    _exit(99);
}

static void execute(void)
{
  if (getenv("SANDBOX"))
    restrict_calls();
  int fd = is("fexecve") || is("execveat itself") || is("raw execveat") ? open(file, O_PATH | O_CLOEXEC) : -1;
  if (is("execve"))
    execve(file, argv, chosen);
  if (is("execv"))
    execv(file, argv);
  if (is("execvp"))
    execvp(file, argv);
  if (is("execvpe"))
    execvpe(file, argv, chosen);
  if (is("execl"))
    execl(file, "child", (char *)NULL);
  if (is("execlp"))
    execlp(file, "child", (char *)NULL);
  if (is("execle"))
    execle(file, "child", (char *)NULL, chosen);
  if (is("execveat"))
    execveat(AT_FDCWD, file, argv, chosen, 0);
  if (is("execveat itself"))
    execveat(fd, "", argv, chosen, AT_EMPTY_PATH);
  if (is("fexecve"))
    fexecve(fd, argv, chosen);
  if (is("raw execve"))
    syscall(SYS_execve, file, argv, chosen);
  if (is("raw execveat"))
    syscall(SYS_execveat, fd, "", argv, chosen, AT_EMPTY_PATH);
  if (is("invalid")) {
    char **bad = (char **)8, *wrong[] = {(char *)8, NULL};
    int failed = execve((char *)8, argv, chosen) == -1 && errno == EFAULT;
    failed += execve(file, argv, bad) == -1 && errno == EFAULT;
    failed += execve(file, argv, wrong) == -1 && errno == EFAULT;
    printf("%d of 3 calls failed\n", failed);
    fflush(stdout);
    _exit(0);
  }
  _exit(100 + errno % 50);
}

static void be_traced(void)
{
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGCHLD);
  sigprocmask(SIG_BLOCK, &set, NULL);
  ptrace(PTRACE_TRACEME, 0, NULL, NULL);
}

static int start(const char *process)
{
  pid_t pid = -1;
  int status = -1;
  if (is("system"))
    return system(file);
  if (is("popen")) {
    char line[256];
    FILE *output = popen(file, "r");
    while (output && fgets(line, sizeof line, output))
      fputs(line, stdout);
    return output ? pclose(output) : -1;
  }
  if (is("posix_spawn"))
    errno = posix_spawn(&pid, file, NULL, NULL, argv, chosen);
  else if (is("posix_spawnp"))
    errno = posix_spawnp(&pid, file, NULL, NULL, argv, chosen);
  else if (!strcmp(process, "self"))
    execute();
  else if (!strcmp(process, "vfork"))
    pid = vfork();
  else if (!strcmp(process, "clone"))
    pid = (pid_t)syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);
  else
    pid = fork();
  if (!pid)
    execute();
  return pid > 0 && waitpid(pid, &status, 0) == pid ? status : -1;
}

static void *start_in_thread(void *process)
{
  return (void *)(long)start(process);
}

int main(int argc, char **argument)
{
  if (argc != 5)
    return 2;
  way = argument[2];
  file = argument[4];
  chosen = environment(argument[3]);
  if (getenv("TRACED"))
    be_traced();
  long status;
  if (!strcmp(argument[1], "thread")) {
    pthread_attr_t attributes;
    pthread_t thread;
    void *result;
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, 32 << 10);
    if (pthread_create(&thread, &attributes, start_in_thread, argument[1]) || pthread_join(thread, &result))
      return 3;
    status = (long)result;
  } else {
    status = start(argument[1]);
  }
  for (int i = 0; i < 300 && !strcmp(argument[3], "grows"); i++)
    start(argument[1]);
  printf("status %ld\n", status);
  return 0;
}
