/* Counts the instructions that the tool executes while the program holds a lock:
 * held_locks critical|named|lock [START-END]...  held_locks inside: ends in a critical section, after WARM others.
 *
 * The first thread acquires and releases the lock many times.  The last times, the processor traps after each
 * instruction, from before the acquisition until after the release.  Prints a line for each: the tool's instructions
 * after the runtime has acquired the lock, those before the runtime releases it, and how many of either read the
 * time-stamp counter.  Those in the ranges, which are hexadecimal addresses in the tool's file, do not count. */
#define _GNU_SOURCE
#include <link.h>
#include <omp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <ucontext.h>

enum { WARM = 300, STEPPED = 10, RANGES = 64 };
enum code { PROGRAM, TOOL, RUNTIME, LEFT_OUT };

static struct range {
  unsigned long start, end;
  enum code code;
} ranges[RANGES];
static unsigned range_count;

static void read_ranges(void)
{
  char line[4352], name[4096], rights[8];
  unsigned long start, end;
  FILE *file = fopen("/proc/self/maps", "r");
  while (file && fgets(line, sizeof line, file) && range_count < RANGES) {
    if (sscanf(line, "%lx-%lx %7s %*s %*s %*s %4095s", &start, &end, rights, name) != 4 || rights[2] != 'x')
      continue;
    const char *base = strrchr(name, '/') ? strrchr(name, '/') + 1 : name;
    if (!strncmp(base, "libhpcrun-lite", 14))
      ranges[range_count++] = (struct range){start, end, TOOL};
    else if (!strncmp(base, "libgomp", 7) || !strncmp(base, "libomp", 6))
      ranges[range_count++] = (struct range){start, end, RUNTIME};
  }
  if (file)
    fclose(file);
}

static int add_left_out(struct dl_phdr_info *info, size_t size, void *argument)
{
  struct range range;
  (void)size;
  if (!strstr(info->dlpi_name, "libhpcrun-lite"))
    return 0;
  for (char **word = argument; *word && range_count < RANGES; word++)
    if (sscanf(*word, "%lx-%lx", &range.start, &range.end) == 2)
      ranges[range_count++] = (struct range){info->dlpi_addr + range.start, info->dlpi_addr + range.end, LEFT_OUT};
  return 1;
}

static enum code code_at(unsigned long ip)
{
  for (unsigned i = 0; i < range_count; i++)
    if (ip >= ranges[i].start && ip < ranges[i].end)
      return ranges[i].code;
  return PROGRAM;
}

/* ---- while the processor traps ---- */

static volatile enum { NOT_STEPPED, ACQUIRES, RELEASES } phase;

static struct counted {
  long all, clocks;
} last_burst, before_runtime; /* of the acquisition; of the release */
static enum code code_before;
static int runtime_seen;

static void add(struct counted *counted, int clock)
{
  counted->all++;
  counted->clocks += clock;
}

static void on_trap(int number, siginfo_t *info, void *context)
{
  enum { RDTSC = 0x310f, TRAP_FLAG = 0x100 };
  greg_t *registers = ((ucontext_t *)context)->uc_mcontext.gregs;
  unsigned long ip = (unsigned long)registers[REG_RIP];
  enum code code = code_at(ip);
  unsigned short opcode;
  (void)number, (void)info;
  if (code == LEFT_OUT)
    return;
  memcpy(&opcode, (const void *)ip, sizeof opcode);
  if (phase == NOT_STEPPED)
    registers[REG_EFL] &= ~(greg_t)TRAP_FLAG;
  if (phase == ACQUIRES && code == TOOL && code_before != TOOL)
    last_burst = (struct counted){0, 0};
  if (phase == ACQUIRES && code == TOOL)
    add(&last_burst, opcode == RDTSC);
  runtime_seen |= phase == RELEASES && code == RUNTIME;
  if (phase == RELEASES && code == TOOL && !runtime_seen)
    add(&before_runtime, opcode == RDTSC);
  code_before = code;
}

static inline void trap_from_here(void)
{
  __asm__ volatile("subq $128, %%rsp\n\tpushfq\n\torq $0x100, (%%rsp)\n\tpopfq\n\taddq $128, %%rsp"
                   :
                   :
                   : "memory", "cc");
}

static void begin(int stepped)
{
  if (!stepped)
    return;
  last_burst = before_runtime = (struct counted){0, 0};
  code_before = PROGRAM;
  runtime_seen = 0;
  phase = ACQUIRES;
  trap_from_here();
}

static void held(int stepped)
{
  if (stepped)
    phase = RELEASES;
}

static void end(int stepped)
{
  phase = NOT_STEPPED;
  if (stepped)
    printf("%ld %ld %ld %ld\n", last_burst.all, before_runtime.all, last_burst.clocks, before_runtime.clocks);
}

/* ---- the locks ---- */

static volatile long shared;
static omp_lock_t one;

static void critical(int stepped)
{
  begin(stepped);
#pragma omp critical
  {
    held(stepped);
    shared++;
  }
  end(stepped);
}

static void named(int stepped)
{
  begin(stepped);
#pragma omp critical(name)
  {
    held(stepped);
    shared++;
  }
  end(stepped);
}

static void lock(int stepped)
{
  begin(stepped);
  omp_set_lock(&one);
  held(stepped);
  shared++;
  omp_unset_lock(&one);
  end(stepped);
}

static void inside(int last)
{
#pragma omp critical
  if (last)
    exit(0);
}

int main(int argc, char **argv)
{
  const char *name = argc > 1 ? argv[1] : "";
  void (*run)(int) = critical;
  if (!strcmp(name, "named"))
    run = named;
  else if (!strcmp(name, "lock"))
    run = lock;
  else if (!strcmp(name, "inside"))
    run = inside;
  struct sigaction action = {.sa_sigaction = on_trap, .sa_flags = SA_SIGINFO};
  sigaction(SIGTRAP, &action, NULL);
  omp_init_lock(&one);
  if (argc > 2)
    dl_iterate_phdr(add_left_out, argv + 2); /* before the others: the first range that fits counts */
  read_ranges();
#pragma omp parallel num_threads(2)
  if (!omp_get_thread_num())
    for (int i = 0; i < WARM + STEPPED; i++)
      run(i >= WARM);
  return shared != WARM + STEPPED;
}
