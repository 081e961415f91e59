#include "hpcrun-lite/launch/surroundings.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/statfs.h>
#include <time.h>
#include <unistd.h>

#include "common/cgroup.h"
#include "common/cpus.h"
#include "hpcrun-lite/launch/finding.h"
#include "hpcrun-lite/launch/events/perf_check.h"

enum {
  AS_LEAST = 1 << 30,       /* address space of the program and the tool */
  FILES_LEAST = 64 << 20,   /* size of one file */
  DISK_LEAST = 64 << 20,    /* room on the disk */
  DESCRIPTORS_LEAST = 64,   /* hard limit */
  TIMERS_TRIED = 64,        /* one for each thread and event */
  PERF_THREADS_LEAST = 512, /* each has a page of perf_event */
  PART_BYTES = 64 << 10,    /* by which the live file grows */
};

/* ---- cores ---- */

void surroundings_cores(void)
{
  int cores = cpus_allowed();
  static struct cgroups groups;
  cgroups_find("", &groups);
  const struct cgroup *limit = cgroups_limit(&groups);
  double quota = limit ? limit->quota_milli / 1000.0 : 0;
  const char *asked = getenv("OMP_NUM_THREADS");
  long threads = asked ? strtol(asked, NULL, 10) : 0, machine = sysconf(_SC_NPROCESSORS_ONLN);
  if (quota > 0 && quota < cores)
    finding(false, "cores",
            "%d, but a quota of %.1f (control group): more threads than that are throttled and wait for "
            "a core; set OMP_NUM_THREADS=%d",
            cores, quota, quota < 2 ? 1 : (int)quota);
  else if (threads > cores)
    finding(false, "cores", "OMP_NUM_THREADS=%ld on %d: threads wait for a core; set it to %d", threads, cores, cores);
  else if (cores < machine)
    finding(true, "cores", "%d of the %ld of the machine: the mask of this process (taskset, mpirun, a batch system)",
            cores, machine);
  else
    finding(true, "cores", "%d", cores);
}

/* ---- limits ---- */

static bool below(int resource, rlim_t least, rlim_t *value)
{
  struct rlimit limit;
  if (getrlimit(resource, &limit) != 0)
    return false;
  *value = resource == RLIMIT_NOFILE ? limit.rlim_max : limit.rlim_cur;
  return *value != RLIM_INFINITY && *value < least;
}

/* How many of TIMERS_TRIED timers can be created: all processes of a user share a limit. */
static int timers_given(void)
{
  timer_t timers[TIMERS_TRIED];
  struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGURG};
  int count = 0;
  while (count < TIMERS_TRIED && timer_create(CLOCK_MONOTONIC, &event, &timers[count]) == 0)
    count++;
  for (int i = 0; i < count; i++)
    timer_delete(timers[i]);
  return count;
}

/* Threads for which perf_event can lock a page: those that the kernel grants to every user, then by the user's limit.
 */
static uint64_t perf_threads(void)
{
  struct rlimit limit;
  uint64_t given_kb = 0;
  FILE *file = fopen("/proc/sys/kernel/perf_event_mlock_kb", "re");
  if (!file || geteuid() == 0 || getrlimit(RLIMIT_MEMLOCK, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY ||
      fscanf(file, "%" SCNu64, &given_kb) != 1)
    given_kb = UINT64_MAX;
  if (file)
    fclose(file);
  if (given_kb == UINT64_MAX)
    return UINT64_MAX;
  return given_kb / 4 * (uint64_t)sysconf(_SC_NPROCESSORS_ONLN) + limit.rlim_cur / 4096;
}

void surroundings_limits(bool timers)
{
  rlim_t value;
  int given = timers ? timers_given() : TIMERS_TRIED;
  uint64_t pages = timers ? UINT64_MAX : perf_threads();
  bool fine = true;
  if (below(RLIMIT_AS, AS_LEAST, &value)) {
    finding(false, "limits", "%ju MB of address space: contexts may be dropped; ulimit -v unlimited",
            (uintmax_t)value >> 20);
    fine = false;
  }
  if (below(RLIMIT_FSIZE, FILES_LEAST, &value)) {
    finding(false, "limits", "files of %ju KB at most: measurements beyond that size are lost; ulimit -f unlimited",
            (uintmax_t)value >> 10);
    fine = false;
  }
  if (below(RLIMIT_NOFILE, DESCRIPTORS_LEAST, &value)) {
    finding(false, "limits", "%ju descriptors at most: writing files may fail; raise ulimit -Hn", (uintmax_t)value);
    fine = false;
  }
  if (given < TIMERS_TRIED) {
    finding(false, "limits",
            "only %d timers are available, and each thread needs one: other threads are not sampled; raise ulimit -i",
            given);
    fine = false;
  }
  if (pages < PERF_THREADS_LEAST) {
    finding(false, "limits",
            "perf_event for %ju threads, timers for the others: raise sysctl kernel.perf_event_mlock_kb or ulimit -l",
            (uintmax_t)pages);
    fine = false;
  }
  if (fine)
    finding(true, "limits", "sufficient");
}

/* ---- the directory ---- */

static const char *network_name(long type)
{
  static const struct {
    uint32_t type;
    const char *name;
  } networks[] = {{0x6969, "NFS"},      {0x0bd00bd0, "Lustre"}, {0x47504653, "GPFS"},
                  {0x01021997, "9p"},   {0xff534d42, "CIFS"},   {0xfe534d42, "SMB"},
                  {0x65735546, "FUSE"}, {0x00c36400, "Ceph"},   {0x19830326, "BeeGFS"}};
  for (size_t i = 0; i < sizeof networks / sizeof *networks; i++)
    if ((uint32_t)type == networks[i].type)
      return networks[i].name;
  return NULL;
}

/* Uses a file as the live file is used.  Returns NULL, or what failed, with errno. */
static const char *try_live_file(int fd)
{
  char seen = 0;
  if (fallocate(fd, 0, 0, PART_BYTES) != 0) {
    if (errno != EOPNOTSUPP && errno != ENOSYS)
      return "cannot be allocated space";
    for (int i = 0; i < PART_BYTES; i += 4096)
      if (pwrite(fd, (const char[4096]){0}, 4096, i) != 4096)
        return "cannot be written";
  }
  char *part = mmap(NULL, PART_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  if (part == MAP_FAILED)
    return "cannot be mapped";
  part[PART_BYTES - 1] = 1;
  bool kept = pread(fd, &seen, 1, PART_BYTES - 1) == 1 && seen == 1;
  munmap(part, PART_BYTES);
  errno = EIO;
  return kept ? NULL : "does not keep what is stored through a mapping";
}

/* Creates and removes a directory in `place`.  Returns false after reporting a failure. */
static bool try_place(const char *place)
{
  char directory[PATH_MAX + 32], file[PATH_MAX + 64];
  snprintf(directory, sizeof directory, "%s/hpcrun-lite-diagnose-XXXXXX", place);
  if (!mkdtemp(directory)) {
    finding(false, "directory", "cannot create a directory in %s (%s): choose another place with -o", place,
            strerror(errno));
    return false;
  }
  snprintf(file, sizeof file, "%s/live", directory);
  int fd = open(file, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  const char *failed = fd < 0 ? "cannot be created" : try_live_file(fd);
  if (failed)
    finding(false, "directory",
            "a file in %s %s (%s): a killed process would leave no measurement; choose another place with -o", place,
            failed, strerror(errno));
  if (fd >= 0)
    close(fd);
  unlink(file);
  rmdir(directory);
  return !failed;
}

/* Tests whether measurements in that place survive a kill. */
static void test_place(const char *place)
{
  struct statfs status;
  rlim_t limit;
  if (below(RLIMIT_FSIZE, PART_BYTES, &limit)) { /* the trial would raise SIGXFSZ */
    finding(false, "directory", "not tested: files are limited to %ju bytes", (uintmax_t)limit);
    return;
  }
  if (!try_place(place) || statfs(place, &status) != 0)
    return;
  uint64_t room = (uint64_t)status.f_bavail * (uint64_t)status.f_bsize;
  const char *network = network_name((long)status.f_type);
  if (room < DISK_LEAST)
    finding(false, "directory", "%" PRIu64 " MB left on the disk of %s: make room, or choose another place with -o",
            room >> 20, place);
  else if (network)
    finding(true, "directory", "tested: %s, over %s; a local disk is faster (-o)", place, network);
  else
    finding(true, "directory", "tested: measurements in %s survive a kill", place);
}

bool surroundings_directory(const struct directory_request *request)
{
  char place[PATH_MAX] = ".", message[1024];
  const char *output = request->output;
  size_t length = strlen(output);
  while (length > 1 && output[length - 1] == '/')
    length--;
  while (length > 0 && output[length - 1] != '/')
    length--;
  if (length > 0)
    snprintf(place, sizeof place, "%.*s", (int)(length > 1 ? length - 1 : 1), output);
  if (directory_examine(request, message, sizeof message) != LAUNCH_OK) {
    finding(false, "directory", "%s", message);
    return false;
  }
  test_place(place);
  return true;
}

/* ---- what else is preloaded ---- */

void surroundings_others(const struct plan *plan)
{
  if (plan->program.has_thread_sanitizer)
    finding(false, "sanitizer", "built with -fsanitize=thread: nothing is measured; build it without that option");
  if (plan->program.has_address_sanitizer)
    finding(
        true, "sanitizer",
        "AddressSanitizer's runtime library: verify_asan_link_order=0 is added to ASAN_OPTIONS, because hpcrun-lite "
        "is loaded before it");
  if (plan->user_preload[0] != '\0' && strcmp(plan->user_preload, plan->library) != 0)
    finding(true, "others", "LD_PRELOAD is kept, after hpcrun-lite's library: %s", plan->user_preload);
}
