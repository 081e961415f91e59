/* Generated code that calls back, announced in /tmp/perf-PID.map as just-in-time compilers do:
 * main -> drive -> [generated] -> callback.
 *
 *     just_in_time MAP [HOW]
 *
 * MAP: the lines of the map; START1, START2 and SIZE stand for numbers of two functions.  HOW: "remove" the map at
 * once after the first calls, "plain": the second one has no frame pointer, "long": it has 1 MiB more, "wait" for ever
 * after "ready", "started": wait for input before the first call. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "burn.h"

static volatile double sink;
static char path[64];

typedef void function(void (*)(void));

NOINLINE static void callback(void)
{
  for (int i = 0; i < 5000; i++)
    sink += i;
}

NOINLINE static void drive(function *generated, double seconds)
{
  for (double end = burn_clock() + seconds; burn_clock() < end;)
    generated(callback);
}

enum { APART = 256, BYTES = 16 };
/* push %rbp; mov %rsp, %rbp; call *%rdi; nop; pop %rbp; ret */
static const unsigned char framed[BYTES] = {0x55, 0x48, 0x89, 0xe5, 0xff, 0xd7, 0x90, 0x5d, 0xc3};
/* endbr64; sub $8, %rsp; call *%rdi; add $8, %rsp; ret: as Python has them, but for the register */
static const unsigned char plain[BYTES] = {0xf3, 0x0f, 0x1e, 0xfa, 0x48, 0x83, 0xec, 8,
                                           0xff, 0xd7, 0x48, 0x83, 0xc4, 8,    0xc3};

static void put_map(const char *lines, const unsigned char *memory)
{
  FILE *file = fopen(path, "w");
  if (!file)
    exit(2);
  for (const char *at = lines; *at; at++) {
    if (!strncmp(at, "START1", 6) || !strncmp(at, "START2", 6)) {
      fprintf(file, "%lx", (unsigned long)memory + (at[5] == '2' ? APART : 0));
      at += 5;
    } else if (!strncmp(at, "SIZE", 4)) {
      fprintf(file, "%x", BYTES);
      at += 3;
    } else {
      putc(*at, file);
    }
  }
  fclose(file);
}

static void make_longer(void)
{
  FILE *file = fopen(path, "a");
  for (int i = 0; file && i < 1 << 16; i++)
    fputs("1000 10 nothing\n", file);
  if (!file || fclose(file))
    exit(2);
}

int main(int count, char **arguments)
{
  const char *how = count > 2 ? arguments[2] : "";
  unsigned char *memory = mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED)
    return 2;
  memcpy(memory, framed, sizeof framed);
  memcpy(memory + APART, strcmp(how, "plain") ? framed : plain, sizeof plain);
  snprintf(path, sizeof path, "/tmp/perf-%d.map", (int)getpid());
  if (*arguments[1])
    put_map(arguments[1], memory);
  if (!strcmp(how, "long"))
    make_longer();
  if (!strcmp(how, "started")) {
    puts("ready");
    fflush(stdout);
    if (getchar() == EOF)
      return 2;
  }
  drive((function *)memory, 0.2);
  if (!strcmp(how, "remove"))
    unlink(path);
  drive((function *)(memory + APART), 0.2);
  if (!strcmp(how, "wait")) {
    puts("ready");
    fflush(stdout);
    pause();
  }
  unlink(path);
  return 0;
}
