/* The disk becomes full, or the directory disappears, while the program runs: full_disk STAGE DIRECTORY.  The work of
 * early() is measured before, that of late() after. */
#include <dirent.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "burn.h"

static const char *directory;

NOINLINE static void early(void)
{
  burn(0.2);
  __asm__ volatile("");
}

NOINLINE static void late(double seconds)
{
  burn(seconds);
  __asm__ volatile("");
}


static void *late_thread(void *unused)
{
  late(0.05);
  return unused;
}

static void run_thread(void *(*body)(void *), const char *stage)
{
  pthread_t thread;
  if (!pthread_create(&thread, NULL, body, (void *)stage))
    pthread_join(thread, NULL);
}

/* Fills the disk to the last byte, beside the measurement directory. */
static void fill(void)
{
  char path[4096], byte[4096] = "";
  snprintf(path, sizeof path, "%s/../filler", directory);
  int fd = open(path, O_WRONLY | O_CREAT | O_APPEND, 0600);
  for (size_t size = sizeof byte; size; size /= 2)
    while (write(fd, byte, size) > 0)
      continue;
  close(fd);
}

static void vanish(void)
{
  char path[4096];
  struct dirent *entry;
  DIR *entries = opendir(directory);
  while (entries && (entry = readdir(entries))) {
    snprintf(path, sizeof path, "%s/%s", directory, entry->d_name);
    unlink(path);
  }
  if (entries)
    closedir(entries);
  rmdir(directory);
}

static void *early_thread(void *stage)
{
  early();
  if (!strcmp(stage, "thread's end"))
    fill();
  return stage;
}

/* Each path of a binary tree is a context. */
NOINLINE static void left(unsigned depth);
NOINLINE static void right(unsigned depth)
{
  if (depth) {
    left(depth - 1);
    right(depth - 1);
  } else {
    late(0.0002);
  }
  __asm__ volatile("");
}

static void left(unsigned depth)
{
  if (depth) {
    left(depth - 1);
    right(depth - 1);
  } else {
    late(0.0002);
  }
  __asm__ volatile("");
}

static void tasks(void)
{
#pragma omp parallel
#pragma omp single
  for (int i = 0; i < 100000; i++) {
#pragma omp task
    __asm__ volatile("");
  }
}

int main(int count, char **arguments)
{
  const char *stage = count > 1 ? arguments[1] : "";
  directory = count > 2 ? arguments[2] : "";
  early();
  if (!strcmp(stage, "end")) { /* nothing has been written by then */
    early();
    fill();
    puts("done");
    return 7;
  }
  if (!strcmp(stage, "thread"))
    fill();
  run_thread(early_thread, stage);
  if (!strcmp(stage, "growth") || !strcmp(stage, "log"))
    fill();
  if (!strcmp(stage, "vanished"))
    vanish();
  run_thread(late_thread, stage);
  if (!strcmp(stage, "growth"))
    left(11);
  if (!strcmp(stage, "log"))
    tasks();
  puts("done");
  return 7;
}
