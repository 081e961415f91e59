#include "hpcrun-lite/launch/events/count_events.h"

#include <dlfcn.h>
#include <errno.h>
#include <linux/perf_event.h>
#include <perfmon/pfmlib_perf_event.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "common/events.h"
#include "common/words.h"
#include "hpcrun-lite/launch/events/perf_check.h"

/* ---- names ---- */

const char *const count_events_names[] = {"page-faults",
                                          "minor-faults",
                                          "major-faults",
                                          "context-switches",
                                          "cpu-migrations",
                                          "alignment-faults",
                                          "emulation-faults",
                                          "cycles",
                                          "instructions",
                                          "cache-references",
                                          "cache-misses",
                                          "branches",
                                          "branch-misses",
                                          "bus-cycles",
                                          "ref-cycles",
                                          "stalled-cycles-frontend",
                                          "stalled-cycles-backend",
                                          "L1-dcache-loads",
                                          "L1-dcache-load-misses",
                                          "LLC-loads",
                                          "LLC-load-misses",
                                          "dTLB-loads",
                                          "dTLB-load-misses",
                                          "iTLB-load-misses",
                                          COUNTERS_LOCKS,
                                          NULL};

/* ---- libpfm ---- */

#define LIBPFM "libpfm.so.4"

/* Its functions that are used; NULL if it cannot be loaded. */
static struct {
  __typeof__(pfm_initialize) *initialize;
  __typeof__(pfm_strerror) *error_text;
  __typeof__(pfm_get_os_event_encoding) *encode;
  __typeof__(pfm_get_pmu_info) *unit_info;
  __typeof__(pfm_get_event_next) *next_event;
  __typeof__(pfm_get_event_info) *event_info;
} libpfm;

/* Loads libpfm where it is needed first: its tables of events are a megabyte of pointers, which the loader must
 * relocate.  Returns NULL, or why it cannot be used. */
static const char *load_libpfm(void)
{
  static char fault[512];
  void *library = dlopen(LIBPFM, RTLD_NOW | RTLD_LOCAL);
  const struct {
    const char *name;
    void **function;
  } wanted[] = {
      {"pfm_initialize", (void **)&libpfm.initialize},        {"pfm_strerror", (void **)&libpfm.error_text},
      {"pfm_get_os_event_encoding", (void **)&libpfm.encode}, {"pfm_get_pmu_info", (void **)&libpfm.unit_info},
      {"pfm_get_event_next", (void **)&libpfm.next_event},    {"pfm_get_event_info", (void **)&libpfm.event_info}};
  bool complete = library;
  for (size_t i = 0; complete && i < sizeof wanted / sizeof *wanted; i++)
    complete = (*wanted[i].function = dlsym(library, wanted[i].name));
  if (!complete) {
    snprintf(fault, sizeof fault, LIBPFM " cannot be loaded (%.400s); install libpfm4", dlerror());
    return fault;
  }
  int error = libpfm.initialize();
  return error == PFM_SUCCESS ? NULL : libpfm.error_text(error);
}

/* An event of the processor by its name in libpfm.  Returns NULL, or why there is none. */
static const char *find_in_libpfm(const char *name, struct counter *counter)
{
  struct perf_event_attr attributes = {.size = sizeof attributes};
  pfm_perf_encode_arg_t request = {.attr = &attributes, .size = sizeof request};
  const char *fault = load_libpfm();
  if (fault)
    return fault;
  int error = libpfm.encode(name, PFM_PLM0 | PFM_PLM3, PFM_OS_PERF_EVENT, &request);
  if (error == PFM_SUCCESS && (attributes.config2 || attributes.exclude_host))
    error = PFM_ERR_NOTSUPP;
  if (error != PFM_SUCCESS)
    return error == PFM_ERR_NOTFOUND ? "no such name" : libpfm.error_text(error);
  counter->type = attributes.type;
  counter->config = attributes.config;
  counter->config1 = attributes.config1;
  counter->user_only = attributes.exclude_kernel;
  counter->kernel_only = attributes.exclude_user;
  return NULL;
}

/* ---- events ---- */

static bool find_event(const char *name, struct counter *counter, char *message, size_t message_size)
{
  struct event event;
  *counter = (struct counter){0};
  if (events_parse(name, &event, message, message_size) == 0) {
    if (event.clock != EVENT_COUNT) {
      snprintf(message, message_size, "%s is a time, which is measured in any case; count an event", event.name);
      return false;
    }
    snprintf(counter->name, sizeof counter->name, "%s", event.name);
    counter->type = event.perf_type;
    counter->config = event.perf_config;
    return true;
  }
  const char *fault = find_in_libpfm(name, counter);
  if (!fault) {
    snprintf(counter->name, sizeof counter->name, "%s", name);
    return true;
  }
  const char *similar = words_similar(count_events_names, name);
  if (similar) {
    snprintf(message, message_size, "unknown event '%.80s': did you mean '%s'?", name, similar);
    return false;
  }
  snprintf(message, message_size,
           "unknown event '%.80s' (%s): hpcrun-lite --list-events has the names that this machine knows", name, fault);
  return false;
}

static bool add_one(struct count_list *list, const char *name, char *message, size_t message_size)
{
  struct counter counter;
  if (strchr(name, '@')) {
    snprintf(message, message_size,
             "'%.80s': counting has no rate or period: leave out '@' and what follows, or sample with -e", name);
    return false;
  }
  if (strlen(name) >= sizeof counter.name || !*name) {
    snprintf(message, message_size, "%s: see hpcrun-lite --list-events",
             *name ? "a name is too long" : "an empty name");
    return false;
  }
  if (!find_event(name, &counter, message, message_size))
    return false;
  for (unsigned i = 0; i < list->count; i++)
    if (!strcmp(list->counters[i].name, counter.name)) {
      snprintf(message, message_size, "event '%s' is given twice: leave out one", counter.name);
      return false;
    }
  if (list->count == COUNTERS_MAX) {
    snprintf(message, message_size, "more than %d events: count the others in another run", COUNTERS_MAX);
    return false;
  }
  list->counters[list->count++] = counter;
  return true;
}

bool count_events_add(struct count_list *list, const char *names, char *message, size_t message_size)
{
  char name[256];
  if (!strcmp(names, "none"))
    return true;
  for (;; names++) {
    names += strspn(names, " ");
    size_t length = strcspn(names, ","), used = length;
    while (used && names[used - 1] == ' ')
      used--;
    snprintf(name, sizeof name, "%.*s", (int)(used < sizeof name ? used : sizeof name - 1), names);
    if (!strcmp(name, "none")) {
      snprintf(message, message_size, "'none' stands alone: leave it out, or the other events");
      return false;
    }
    if (!strcmp(name, COUNTERS_LOCKS))
      list->locks = true;
    else if (!add_one(list, name, message, message_size))
      return false;
    names += length;
    if (!*names)
      return true;
  }
}

/* ---- what can be counted ---- */

/* Opens a counter in a group, or as its leader (group -1).  Returns the descriptor, or -errno. */
static int open_counter(const struct counter *counter, int group)
{
  struct perf_event_attr attributes = {.size = sizeof attributes,
                                       .type = counter->type,
                                       .config = counter->config,
                                       .config1 = counter->config1,
                                       .exclude_kernel = counter->user_only,
                                       .exclude_user = counter->kernel_only,
                                       .exclude_hv = 1,
                                       .disabled = group < 0};
  long fd = syscall(SYS_perf_event_open, &attributes, 0, -1, group, PERF_FLAG_FD_CLOEXEC);
  return fd < 0 ? -errno : (int)fd;
}

static int try_counter(const struct counter *counter)
{
  int fd = open_counter(counter, -1);
  if (fd < 0)
    return -fd;
  close(fd);
  return 0;
}

/* Such an event happens in the kernel only: without the kernel the count would be 0. */
static bool happens_in_kernel(const struct counter *counter)
{
  return counter->type == PERF_TYPE_SOFTWARE &&
         (counter->config == PERF_COUNT_SW_CONTEXT_SWITCHES || counter->config == PERF_COUNT_SW_CPU_MIGRATIONS);
}

/* Finds a way to count one event.  Returns 0, or errno. */
static int settle_one(struct counter *counter)
{
  int error = try_counter(counter);
  if (!error)
    return 0;
  if (counters_as_usage(counter))
    return 0;
  if (perf_check_obstacle(error) == PERF_DENIED && !counter->user_only && !counter->kernel_only &&
      !happens_in_kernel(counter)) {
    counter->user_only = true;
    return try_counter(counter);
  }
  return error;
}

static void explain(const struct counter *counter, int error, char *message, size_t message_size)
{
  switch (perf_check_obstacle(error)) {
  case PERF_DENIED:
    snprintf(message, message_size,
             "event '%s' is forbidden (kernel.perf_event_paranoid is %d): sysctl "
             "kernel.perf_event_paranoid=1, or count page-faults or context-switches",
             counter->name, perf_check_paranoid());
    return;
  case PERF_NO_CALL:
    snprintf(message, message_size,
             "event '%s': this kernel or container has no perf_event_open: count page-faults or "
             "context-switches",
             counter->name);
    return;
  default:
    snprintf(message, message_size,
             "this machine cannot count '%s' (%s; virtual machines often have no counters): "
             "hpcrun-lite --list-events has those that can be counted",
             counter->name, strerror(error));
  }
}

/* Whether all of perf_event's counters fit into one group, as a thread opens them. */
static bool fit_together(const struct count_list *list, char *message, size_t message_size)
{
  int descriptors[COUNTERS_MAX], leader = -1;
  unsigned opened = 0;
  bool fit = true;
  for (unsigned i = 0; i < list->count && fit; i++) {
    if (list->counters[i].usage)
      continue;
    int fd = open_counter(&list->counters[i], leader);
    fit = fd >= 0;
    if (!fit) {
      snprintf(message, message_size,
               "'%s' cannot be counted at the same time as the events before it (%s): count fewer "
               "events in one run",
               list->counters[i].name, strerror(-fd));
      continue;
    }
    descriptors[opened++] = fd;
    leader = leader < 0 ? fd : leader;
  }
  while (opened > 0)
    close(descriptors[--opened]);
  return fit;
}

bool count_events_check(struct count_list *list, char *message, size_t message_size)
{
  for (unsigned i = 0; i < list->count; i++) {
    int error = settle_one(&list->counters[i]);
    if (error) {
      explain(&list->counters[i], error, message, message_size);
      return false;
    }
  }
  if (!fit_together(list, message, message_size))
    return false;
  if (counters_format(list->counters, list->count, list->locks, list->text, sizeof list->text))
    return true;
  snprintf(message, message_size, "the names are too long together: count fewer events in one run");
  return false;
}

int count_events_hardware(void)
{
  struct counter instructions = {.type = PERF_TYPE_HARDWARE, .config = PERF_COUNT_HW_INSTRUCTIONS, .user_only = true};
  return try_counter(&instructions);
}

/* ---- the list ---- */

/* Whether the event can be counted here. */
static const char *availability(struct counter *counter)
{
  int error = settle_one(counter);
  enum perf_obstacle obstacle = perf_check_obstacle(error);
  if (!error && counter->usage)
    return "yes, by getrusage";
  if (!error)
    return counter->user_only ? "yes, in user mode only" : "yes";
  if (obstacle == PERF_DENIED)
    return "forbidden: see kernel.perf_event_paranoid";
  return obstacle == PERF_NO_CALL ? "no: no perf_event_open here" : "no: not on this machine";
}

static void print_event(const char *name)
{
  struct counter counter;
  char message[512];
  if (!strcmp(name, COUNTERS_LOCKS))
    printf("  %-28s %s\n", name, "yes: acquisitions of each lock");
  else if (find_event(name, &counter, message, sizeof message))
    printf("  %-28s %s\n", name, availability(&counter));
}

/* The names that libpfm knows for the processors' units that it has found here. */
static void print_libpfm(void)
{
  unsigned units = 0;
  const char *fault = load_libpfm();
  if (fault) {
    printf("\nThe processor's own events are not listed: %s.\n", fault);
    return;
  }
  for (int i = 0; i < PFM_PMU_MAX; i++) {
    pfm_pmu_info_t unit = {.size = sizeof unit};
    if (libpfm.unit_info((pfm_pmu_t)i, &unit) != PFM_SUCCESS || !unit.is_present || unit.type != PFM_PMU_TYPE_CORE)
      continue;
    printf("\n%s (%s), by libpfm; with masks such as EVENT:MASK:u, u counts in user mode only:\n", unit.name,
           unit.desc);
    units++;
    for (int event = unit.first_event; event != -1; event = libpfm.next_event(event)) {
      pfm_event_info_t facts = {.size = sizeof facts};
      if (libpfm.event_info(event, PFM_OS_PERF_EVENT, &facts) == PFM_SUCCESS)
        printf("  %-40s %.100s\n", facts.name, facts.desc);
    }
  }
  if (!units)
    printf("\nlibpfm knows no counters of this processor.\n");
}

void count_events_print(void)
{
  printf("Events of -c, and whether they can be counted here:\n");
  for (size_t i = 0; count_events_names[i]; i++)
    print_event(count_events_names[i]);
  if (count_events_hardware())
    printf("\nThis machine has no hardware counters that can be used (virtual machines often\n"
           "have none): only software events can be counted.\n");
  else
    print_libpfm();
}
