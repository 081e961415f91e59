/* Processes, threads and libraries that come and go around libgomp.  With -DPLUGIN: the plugin; without OpenMP: the
 * host of plugins, gomp_guests plugins HOW COUNT PLUGIN... */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#ifdef _OPENMP
#include <omp.h>

/* One of each: a loop with chunks, a critical, a lock, tasks, singles. */
long guest_region(int threads)
{
  static long locked, critical, copied, entered; /* of this copy of the plugin */
  static omp_lock_t lock;
  long sum = 0;
  if (!entered++)
    omp_init_lock(&lock);
#pragma omp parallel num_threads(threads) reduction(+ : sum)
  {
    if (omp_get_thread_num() == 1) /* the first task of the process is a worker's */
#pragma omp task
#pragma omp atomic
      locked += 3;
#pragma omp for schedule(dynamic, 2)
    for (int i = 0; i < 40; i++) {
      sum += i;
#pragma omp critical(guest)
      critical++;
      omp_set_lock(&lock);
      locked++;
      omp_unset_lock(&lock);
    }
#pragma omp single
    for (int i = 0; i < 10; i++)
#pragma omp task firstprivate(i)
#pragma omp atomic
      locked += 100 * i;
#pragma omp barrier
    sum += omp_get_num_threads();
    long copy = 0;
#pragma omp single copyprivate(copy)
    {
      copy = 7;
#pragma omp atomic
      copied++;
    }
    sum += copy;
  }
  return sum + 1000 * critical + 1000000 * locked + 100000000000 * copied;
}
#endif

#ifdef PLUGIN
/* GUEST: "begins", "ends": the library has a region in its constructor, or in its destructor. */
static void guest_at(const char *moment, int threads)
{
  const char *guest = getenv("GUEST");
  if (guest && !strcmp(guest, moment)) {
    printf("%s %ld\n", moment, guest_region(threads));
    fflush(stdout);
  }
}

__attribute__((constructor)) static void begins(void)
{
  guest_at("begins", 2);
}

__attribute__((destructor)) static void ends(void)
{
  guest_at("ends", 4);
}
#endif

#ifndef PLUGIN
#ifdef _OPENMP

static int status_of(pid_t child)
{
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

/* A child: it may open regions of more than one thread only if its parent has had none. */
static void child(const char *end, int threads, char *program)
{
  const long value = threads ? guest_region(threads) : 7;
  if (!strcmp(end, "exec"))
    execl(program, program, "region", "2", (char *)NULL);
  if (!strcmp(end, "exit")) {
    printf("child %ld\n", value);
    exit((int)(value % 100));
  }
  _exit((int)(value % 100));
}

static void forks(const char *where, const char *end, char *program)
{
  for (int i = 0; i < 5; i++) {
    pid_t pid = -1;
    const int before = !strcmp(where, "before");
    fflush(stdout);
    if (before || !strcmp(where, "after")) {
      pid = fork();
      if (!pid)
        child(end, before ? 2 : 1, program);
      printf("status %d\n", status_of(pid));
    } else {
      int statuses = 0;
#pragma omp parallel num_threads(3) reduction(+ : statuses)
      {
#pragma omp for schedule(dynamic)
        for (int k = 0; k < 3; k++) {
          fflush(stdout);
          const pid_t own = fork();
          if (!own)
            child(end, 0, program);
          statuses += status_of(own);
        }
      }
      printf("statuses %d\n", statuses);
    }
    if (!before)
      printf("parent %ld\n", guest_region(3));
  }
}

static void *foreign(void *unused)
{
  long sum = 0;
  (void)unused;
  for (int i = 0; i < 3; i++) {
#pragma omp parallel num_threads(2) reduction(+ : sum)
    {
#pragma omp for schedule(dynamic)
      for (int k = 0; k < 20; k++)
        sum += k;
#pragma omp single
#pragma omp task
      sum += 0;
    }
  }
  return (void *)sum;
}

/* Threads that the runtime does not know come, open regions, and go. */
static void churn(int rounds)
{
  long sum = 0;
  for (int i = 0; i < rounds; i++) {
    pthread_t threads[4];
    for (int k = 0; k < 4; k++)
      pthread_create(&threads[k], NULL, foreign, NULL);
    for (int k = 0; k < 4; k++) {
      void *value;
      pthread_join(threads[k], &value);
      sum += (long)value;
    }
  }
  printf("churn %ld\n", sum);
}

static int in_a_region;

static void at_thread_end(void *value)
{
#pragma omp parallel num_threads(1)
  ++*(int *)value;
}

static pthread_key_t late_key;

static void *only_ends(void *unused)
{
  pthread_setspecific(late_key, &in_a_region);
  return unused;
}

/* Threads whose only region is in a destructor of a key, made after the first region: their mappings go, too. */
static void late_destructors(int threads)
{
  enum { USUAL = 200 };
  long pages = 0, before = 0;
  at_thread_end(&in_a_region);
  pthread_key_create(&late_key, at_thread_end);
  for (int i = 0; i < threads; i++) {
    pthread_t thread;
    pthread_create(&thread, NULL, only_ends, NULL);
    pthread_join(thread, NULL);
    FILE *file = i == USUAL || i == threads - 1 ? fopen("/proc/self/statm", "r") : NULL;
    if (file && fscanf(file, "%ld", &pages) == 1 && i == USUAL)
      before = pages;
    if (file)
      fclose(file);
  }
  printf("%d regions, memory %s\n", in_a_region, pages - before < threads / 4 ? "stays" : "grows");
}

/* The program leaves no key of thread-specific data. */
static void without_keys(int threads)
{
  pthread_key_t key;
  while (!pthread_key_create(&key, NULL))
    ;
  printf("region %ld\n", guest_region(threads));
}

static void crowd(int size)
{
  long sum = 0, number = 0;
  for (int i = 0; i < 2; i++)
#pragma omp parallel num_threads(size) reduction(+ : sum)
  {
    sum += omp_get_thread_num();
#pragma omp barrier
#pragma omp for schedule(dynamic)
    for (int k = 0; k < 2000; k++)
      sum += k;
#pragma omp single
    number += omp_get_num_threads();
#pragma omp critical
    number++;
  }
  printf("crowd %ld %ld\n", sum, number);
}

static void last_region(void)
{
  printf("at exit %ld\n", guest_region(2));
}

static void leave(const char *who)
{
  atexit(last_region);
  printf("first %ld\n", guest_region(2));
#pragma omp parallel num_threads(3)
  {
    const int last = omp_get_num_threads() - 1;
    if (omp_get_thread_num() == (strcmp(who, "worker") ? 0 : last)) {
      printf("leaves\n");
      fflush(stdout);
      if (!strcmp(who, "abort"))
        abort();
      _exit(5);
    }
    for (;;)
      pause();
  }
}

static void ends(const char *who)
{
#pragma omp parallel num_threads(3)
#pragma omp for schedule(dynamic)
  for (int i = 0; i < 100; i++)
    if (i == 50) {
#pragma omp critical
      printf("ends\n");
      if (!strcmp(who, "quick"))
        quick_exit(6);
      exit(6);
    }
}

/* The filter allows everything; but with one, measuring ends. */
static void sandbox(void)
{
  struct sock_filter allow = BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
  struct sock_fprog filter = {1, &allow};
  printf("before %ld\n", guest_region(2));
  prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
  printf("filter %d\n", prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter));
  for (int i = 2; i < 5; i++)
    printf("after %ld\n", guest_region(i));
}

static jmp_buf before_task;

/* Writes all over the stack where the task was, while samples are taken. */
__attribute__((noinline)) static void overwrite(void)
{
  volatile char room[1 << 15];
  for (int i = 0; i < 4000; i++)
    for (size_t k = 0; k < sizeof room; k++)
      room[k] = 0x41;
}

__attribute__((noinline)) static void task_that_jumps(void)
{
#pragma omp task if (0)
  longjmp(before_task, 1);
}

/* libgomp's own task is lost as well, so that the program must not use OpenMP any more. */
static void jump(void)
{
  if (!setjmp(before_task))
    task_that_jumps();
  overwrite();
  puts("jumped");
  fflush(stdout);
  _exit(0);
}
#endif

static void plugins(const char *how, int count, char **paths)
{
  long sum = 0;
  int closed = 0;
  if (getenv("RUNTIME") && !dlopen(getenv("RUNTIME"), RTLD_NOW))
    puts(dlerror());
  for (int i = 0; i < count; i++)
    for (char **path = paths; *path; path++) {
      void *plugin = dlopen(*path, !strcmp(how, "deepbind") ? RTLD_NOW | RTLD_DEEPBIND : RTLD_NOW | RTLD_LOCAL);
      if (!plugin) {
        puts(dlerror());
        return;
      }
      long (*region)(int) = (long (*)(int))dlsym(plugin, "guest_region");
      const long value = region(2 + i % 3);
      printf("%ld\n", value);
      sum += value;
      if (!strcmp(how, "comes and goes"))
        closed += !dlclose(plugin);
    }
  printf("sum %ld, closed %d\n", sum, closed);
}

int main(int argc, char **argv)
{
  const char *what = argc > 1 ? argv[1] : "";
  const char *how = argc > 2 ? argv[2] : "";
  if (!strcmp(what, "plugins"))
    plugins(how, atoi(argv[3]), argv + 4);
#ifdef _OPENMP
  else if (!strcmp(what, "region"))
    printf("region %ld\n", guest_region(atoi(how)));
  else if (!strcmp(what, "forks"))
    forks(how, argv[3], argv[0]);
  else if (!strcmp(what, "churn"))
    churn(atoi(how));
  else if (!strcmp(what, "destructors"))
    late_destructors(atoi(how));
  else if (!strcmp(what, "keys"))
    without_keys(atoi(how));
  else if (!strcmp(what, "crowd"))
    crowd(atoi(how));
  else if (!strcmp(what, "leave"))
    leave(how);
  else if (!strcmp(what, "ends"))
    ends(how);
  else if (!strcmp(what, "sandbox"))
    sandbox();
  else if (!strcmp(what, "jump"))
    jump();
#endif
  return 0;
}
#endif
