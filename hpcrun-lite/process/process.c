#define _GNU_SOURCE
#include "common/glibc_names.h"
#include "hpcrun-lite/process/process.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <time.h>
#include <unistd.h>

#include "common/order.h"
#include "hpcrun-lite/process/config.h"
#include "hpcrun-lite/process/libc.h"
#include "hpcrun-lite/process/libgomp_use.h"
#include "hpcrun-lite/rt/core/budget.h"
#include "hpcrun-lite/rt/core/modules.h"
#include "hpcrun-lite/rt/core/sys.h"
#include "hpcrun-lite/rt/sampling/blame.h"

struct process process;

/* Copies the path in a line of /proc/self/maps, if the file is mapped at the address. */
static bool maps_address(const char *line, uint64_t address, char *path, size_t size)
{
  char *next;
  uint64_t start = strtoull(line, &next, 16), end = strtoull(*next ? next + 1 : next, NULL, 16);
  const char *name = strchr(line, '/');
  if (!name || address < start || address >= end)
    return false;
  snprintf(path, size, "%s", name);
  return true;
}

/* Finds the file that is mapped at an address. */
static bool find_mapped(uint64_t address, char *path, size_t size)
{
  ssize_t (*real_read)(int, void *, size_t) = libc_real(LIBC_read);
  char text[8192], *line, *end;
  size_t filled = 0;
  bool found = false;
  int fd = open("/proc/self/maps", O_RDONLY | O_CLOEXEC);
  for (ssize_t got; fd >= 0 && !found && (got = real_read(fd, text + filled, sizeof text - 1 - filled)) > 0;) {
    filled += (size_t)got;
    text[filled] = '\0';
    for (line = text; !found && (end = strchr(line, '\n')) != NULL; line = end + 1) {
      *end = '\0';
      found = maps_address(line, address, path, size);
    }
    filled -= (size_t)(line - text);
    memmove(text, line, filled);
  }
  if (fd >= 0)
    close(fd);
  return found;
}

bool process_find_executable(char *path, size_t size)
{
  ssize_t length = readlink("/proc/self/exe", path, size - 1);
  path[length < 0 ? 0 : length] = '\0';
  if (length >= 0 && !getauxval(AT_BASE)) /* started as "ld.so PROGRAM": the loader has set AT_ENTRY to the program's */
    find_mapped(getauxval(AT_ENTRY), path, size);
  return length >= 0;
}

static void read_command(void)
{
  ssize_t (*real_read)(int, void *, size_t) = libc_real(LIBC_read);
  process_find_executable(process.executable, sizeof process.executable);
  if (config.no_arguments) { /* a program can choose its first argument, too */
    const char *slash = strrchr(process.executable, '/');
    snprintf(process.command, sizeof process.command, "%.*s", (int)sizeof process.command - 1,
             slash ? slash + 1 : process.executable);
    return;
  }
  int fd = open("/proc/self/cmdline", O_RDONLY | O_CLOEXEC);
  ssize_t size = fd < 0 ? 0 : real_read(fd, process.command, sizeof process.command - 1);
  if (fd >= 0)
    close(fd);
  for (ssize_t i = 0; i + 1 < size; i++)
    if (!process.command[i])
      process.command[i] = ' ';
}

/* Would a runtime find another tool before this library's: one in the executable?  A runtime that is linked into it has
 * a function of that name, too. */
static bool tool_in_executable(void)
{
  Dl_info tool, runtime, own;
  void *start = dlsym(RTLD_DEFAULT, "ompt_start_tool"), *fork = dlsym(RTLD_DEFAULT, "__kmpc_fork_call");
  if (!start || !dladdr(start, &tool) || !dladdr(&process, &own) || tool.dli_fbase == own.dli_fbase)
    return false;
  return !fork || !dladdr(fork, &runtime) || tool.dli_fbase != runtime.dli_fbase;
}

void process_note_mask(void)
{
  if (!process.cpus)
    process.cpus = sys_affinity(0, process.launch_mask, FORMAT_MASK_WORDS);
}

void process_examine(void)
{
  process.other_tool = tool_in_executable();
  process_note_mask();
  if (!process.cpus)
    process.cpus = 1;
  sampling_process.cpus = process.cpus;
  budget_start(config.memory_limit);
  read_command();
}

void process_reset(void)
{
  static uint8_t
      generation; /* makes a forked child's epoch differ also in the low bits that a task's data word keeps */
  struct timespec now;
  rt.pid = sys_own_pid();
  rt_begin();
  clock_gettime(CLOCK_REALTIME, &now); /* the first call is slow */
  struct sys_moment start = sys_moment();
  clock_gettime(CLOCK_REALTIME, &now);
  for (int again = 0; again < 3 && rt_ticks() - start.ticks > 3 * SYS_UNDISTURBED_TICKS; again++) {
    start = sys_moment();
    clock_gettime(CLOCK_REALTIME, &now);
  }
  process.start_cpu_ns = sys_process_cpu_ns();
  process.start_ns = start.ns;
  process.start_ticks = start.ticks;
  process.start_realtime_ns = (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
  process.threads = NULL;
  process.thread_count = 0;
  process.write = (struct losses_write){0};
  process.mpi = (struct process_mpi){0};
  memset(process.finished_lost, 0, sizeof process.finished_lost);
  process.finished_samples = process.finished_regions = 0;
  for (unsigned i = 0; i < FORMAT_LOST_MAX; i++)
    atomic_store(&rt.lost[i], 0);
  rt.epoch = (uint32_t)(process.start_ns ^ (uint64_t)rt.pid << 16) << 8 | ++generation;
}

uint64_t process_samples(void)
{
  uint64_t sum = process.finished_samples;
  for (const struct thread_state *t = process.threads; t; t = t->next)
    sum += t->record->samples;
  return sum;
}

uint64_t process_lost(enum format_loss loss)
{
  uint64_t sum = process.finished_lost[loss] + atomic_load(&rt.lost[loss]);
  for (const struct thread_state *t = process.threads; t; t = t->next)
    sum += t->record->lost[loss];
  return sum + (loss == FORMAT_LOST_BLAME ? blame_left() : 0);
}

const char process_no_openmp[] = "no OpenMP";

/* Why no call to libgomp was seen, although its code was sampled. */
static const char *sampled_libgomp(void)
{
  struct libgomp_use use = libgomp_use_find();
  if (!use.loaded || use.constructs)
    return "calls to libgomp were not seen (it was loaded with RTLD_DEEPBIND or by dlmopen): workers' "
           "call paths lack the caller of their region";
  return "only functions of libgomp that are not measured were called, such as queries";
}

/* Likewise, if it was not sampled either. */
static const char *unsampled_libgomp(void)
{
  return libgomp_use_find().loaded ? "libgomp is loaded, but no call to it was seen" : process_no_openmp;
}

const char *process_openmp_missing(void)
{
  if (rt.ompt)
    return NULL;
  if (config.tool_disabled)
    return "OpenMP tool interface off (OMP_TOOL=disabled)";
  const char *runtime = modules_runtime();
  if (config.gomp_static && rt.pid == config.first_pid)
    return "libgomp is linked statically, so that its calls are not seen: link the program to libgomp.so";
  if (runtime && strstr(runtime, "libgomp") && (config.gomp || config.exchanged))
    return sampled_libgomp();
  if (runtime && strstr(runtime, "libgomp"))
    return "libgomp is not measured, because of --omp-runtime keep or FILE: workers' call paths lack the "
           "caller of their region";
  if (process.other_tool || (runtime && config.other_tools))
    return "the program's own OMPT tool is used: workers' call paths lack the caller of their region";
  if (!runtime)
    return unsampled_libgomp();
  return "the OpenMP runtime did not attach the tool";
}

const char *process_devices_missing(void)
{
  switch (process.devices) {
  case PROCESS_DEVICES_UNANNOUNCED:
    return "Devices: LLVM's library for devices, before release 17, does not report copies, allocations and bytes of "
           "target constructs";
  case PROCESS_DEVICES_APART:
    return "Devices: copies, allocations and bytes of target constructs are not known, because LLVM's library for "
           "devices did not find libomp.so: add a folder with a file of that name, of the same release, to "
           "LD_LIBRARY_PATH";
  default:
    return NULL;
  }
}

void process_add_runtime(const char *name)
{
  static const char libomp[] = "LLVM OMP version"; /* followed by the same number in all releases */
  size_t length = strlen(process.runtime);
  if (strncmp(name, libomp, sizeof libomp - 1) == 0)
    name = "LLVM libomp";
  if (!strstr(process.runtime, name))
    snprintf(process.runtime + length, sizeof process.runtime - length, "%s%s", length ? ", " : "", name);
}

/* Maps the segments of the module that `process` is in.  Those that are written begin behind what is read-only after
 * relocation. */
static int touch_module(struct dl_phdr_info *info, size_t size, void *page_bytes)
{
  const uintptr_t page = *(const uintptr_t *)page_bytes, own = (uintptr_t)&process;
  uintptr_t fixed_end = 0;
  bool is_own = false;
  (void)size;
  for (unsigned i = 0; i < info->dlpi_phnum; i++) {
    const ElfW(Phdr) *segment = &info->dlpi_phdr[i];
    uintptr_t start = info->dlpi_addr + segment->p_vaddr;
    is_own = is_own || (segment->p_type == PT_LOAD && own - start < segment->p_memsz);
    if (segment->p_type == PT_GNU_RELRO)
      fixed_end = start + segment->p_memsz;
  }
  for (unsigned i = 0; is_own && i < info->dlpi_phnum; i++) {
    const ElfW(Phdr) *segment = &info->dlpi_phdr[i];
    uintptr_t start = info->dlpi_addr + segment->p_vaddr, end = start + segment->p_memsz;
    bool written = segment->p_flags & PF_W;
    if (segment->p_type != PT_LOAD)
      continue;
    if (written)
      start = MAX(start, fixed_end);
    start &= -page;
    if (start < end)
      sys_populate((void *)start, ((end + page - 1) & -page) - start, written);
  }
  return is_own;
}

void process_touch_library(void)
{
  uintptr_t page_bytes = (uintptr_t)sysconf(_SC_PAGESIZE);
  dl_iterate_phdr(touch_module, &page_bytes);
}

uint64_t process_tick_ns(void)
{
  struct timespec tick;
  return clock_getres(CLOCK_MONOTONIC_COARSE, &tick) ? 0 : (uint64_t)tick.tv_nsec;
}

uint64_t process_peak_memory_bytes(void)
{
  static const char field[] = "\nVmHWM:";
  char text[4096];
  text[sys_read_file("/proc/self/status", text, sizeof text - 1)] = '\0';
  const char *found = strstr(text, field);
  return found ? strtoull(found + sizeof field - 1, NULL, 10) * 1024 : 0;
}
