/* What a measurement takes of the process that it is in.  argv[1]: wide (a region of argv[2] threads), churn (argv[2]
 * short threads, four at a time), killed (the same, and then it is killed).  Prints kilobytes of memory: the peak, and
 * anonymous memory at that time; for churn anonymous memory after an eighth of the threads, and at the end.  Then
 * prints for each file of the measurement that argv[3] matches how many bytes of the disk it has. */
#include <glob.h>
#include <omp.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { GROUP = 4 };

static long kilobytes(const char *name)
{
  char line[256];
  long value = 0;
  FILE *status = fopen("/proc/self/status", "r");
  while (status && fgets(line, sizeof line, status))
    if (!strncmp(line, name, strlen(name)))
      value = atol(line + strlen(name));
  if (status)
    fclose(status);
  return value;
}

static void wide(int count)
{
#pragma omp parallel num_threads(count)
  {
#pragma omp barrier
#pragma omp master
    printf("%ld %ld\n", kilobytes("VmHWM:"), kilobytes("RssAnon:"));
#pragma omp barrier
  }
}

static void *shortly(void *unused)
{
  for (volatile int i = 0; i < 1000; i++)
    ;
  return unused;
}

static void churn(int count)
{
  long early = 0;
  for (int i = 0; i < count; i += GROUP) {
    pthread_t threads[GROUP];
    for (int k = 0; k < GROUP; k++)
      if (pthread_create(&threads[k], NULL, shortly, NULL))
        exit(3);
    for (int k = 0; k < GROUP; k++)
      pthread_join(threads[k], NULL);
    if (i < count / 8)
      early = kilobytes("RssAnon:");
  }
  printf("%ld %ld\n", early, kilobytes("RssAnon:"));
}

static void show_files(const char *pattern)
{
  glob_t found = {0};
  struct stat status;
  if (glob(pattern, 0, NULL, &found) == 0)
    for (size_t i = 0; i < found.gl_pathc; i++)
      if (stat(found.gl_pathv[i], &status) == 0)
        printf("%s %lld\n", strrchr(found.gl_pathv[i], '.'), 512LL * status.st_blocks);
  globfree(&found);
}

int main(int argc, char **argv)
{
  if (argc < 3)
    return 2;
  if (!strcmp(argv[1], "wide"))
    wide(atoi(argv[2]));
  else
    churn(atoi(argv[2]));
  if (!strcmp(argv[1], "killed"))
    raise(SIGKILL);
  if (argc > 3)
    show_files(argv[3]);
  return 0;
}
