#include "hpcrun-lite/launch/events/perf_check.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#define PARANOID_FILE "/proc/sys/kernel/perf_event_paranoid"

int perf_check_open(const struct event *event, bool exclude_kernel)
{
  struct perf_event_attr attributes;
  memset(&attributes, 0, sizeof attributes);
  attributes.size = sizeof attributes;
  attributes.type = event->perf_type;
  attributes.config = event->perf_config;
  attributes.disabled = 1;
  attributes.exclude_kernel = exclude_kernel;
  attributes.exclude_hv = 1;
  attributes.freq = event->frequency > 0;
  if (attributes.freq)
    attributes.sample_freq = event->frequency;
  else
    attributes.sample_period = event->period;
  long fd = syscall(SYS_perf_event_open, &attributes, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
  if (fd < 0)
    return errno;
  close((int)fd);
  return 0;
}

int perf_check_paranoid(void)
{
  int level = -2;
  FILE *file = fopen(PARANOID_FILE, "re");
  if (!file)
    return level;
  if (fscanf(file, "%d", &level) != 1)
    level = -2;
  fclose(file);
  return level;
}

enum perf_obstacle perf_check_obstacle(int error)
{
  switch (error) {
  case 0:
    return PERF_NONE;
  case EACCES:
  case EPERM:
    return PERF_DENIED;
  case ENOENT:
  case ENODEV:
  case EOPNOTSUPP:
    return PERF_NO_EVENT;
  case ENOSYS:
    return PERF_NO_CALL;
  case EINVAL:
    return PERF_BAD_RATE;
  default:
    return PERF_OTHER;
  }
}

/* Such an event happens in the kernel only: without the kernel the count would be 0. */
static bool happens_in_kernel(const struct event *event)
{
  return event->perf_type == PERF_TYPE_SOFTWARE &&
         (event->perf_config == PERF_COUNT_SW_CONTEXT_SWITCHES || event->perf_config == PERF_COUNT_SW_CPU_MIGRATIONS);
}

int perf_check_event(const struct event *event, char *message, size_t message_size)
{
  if (event->clock != EVENT_COUNT)
    return 0;
  int error = perf_check_open(event, false);
  if (perf_check_obstacle(error) == PERF_DENIED && !happens_in_kernel(event))
    error = perf_check_open(event, true);
  const char *name = event->name;
  switch (perf_check_obstacle(error)) {
  case PERF_NONE:
    return 0;
  case PERF_DENIED:
    snprintf(message, message_size,
             "event '%s' is forbidden (kernel.perf_event_paranoid is %d): sysctl kernel.perf_event_paranoid=1, or use "
             "task-clock",
             name, perf_check_paranoid());
    break;
  case PERF_NO_EVENT:
    snprintf(message, message_size,
             "this machine has no event '%s' (virtual machines often have no counters): use task-clock", name);
    break;
  case PERF_NO_CALL:
    snprintf(message, message_size, "event '%s': this kernel or container has no perf_event_open: use task-clock",
             name);
    break;
  case PERF_BAD_RATE:
    snprintf(message, message_size,
             "event '%s' is refused with this rate or period (see kernel.perf_event_max_sample_rate): try @f200", name);
    break;
  case PERF_OTHER:
    snprintf(message, message_size, "event '%s' cannot be opened: %s; use task-clock", name, strerror(error));
  }
  return -1;
}

int perf_check_work(const char *unit, char *message, size_t message_size)
{
  bool cycles = strcmp(unit, "cycles") == 0;
  struct event event = {.perf_type = PERF_TYPE_HARDWARE,
                        .perf_config = cycles ? PERF_COUNT_HW_CPU_CYCLES : PERF_COUNT_HW_INSTRUCTIONS};
  if (!cycles && strcmp(unit, "instructions") != 0)
    return 0;
  int error = perf_check_open(&event, true);
  switch (perf_check_obstacle(error)) {
  case PERF_NONE:
    return 0;
  case PERF_DENIED:
    snprintf(message, message_size,
             "--work %s is forbidden (kernel.perf_event_paranoid is %d): sysctl kernel.perf_event_paranoid=2, or use "
             "--work cpu-time",
             unit, perf_check_paranoid());
    break;
  case PERF_NO_EVENT:
    snprintf(message, message_size,
             "--work %s: this machine has no such counter (virtual machines often have none): use --work cpu-time",
             unit);
    break;
  default:
    snprintf(message, message_size, "--work %s: the counter cannot be opened (%s): use --work cpu-time", unit,
             strerror(error));
  }
  return -1;
}
