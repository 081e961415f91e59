#include "hpcrun-lite/rt/counts/usage.h"

static bool number_at(const char *at, uint64_t *value)
{
  while (*at == ' ' || *at == '\t')
    at++;
  bool known = *at >= '0' && *at <= '9';
  for (*value = 0; *at >= '0' && *at <= '9'; at++)
    *value = *value * 10 + (uint64_t)(*at - '0');
  return known;
}

/* The number of a field of stat, from 3 on.  The name before them may contain anything, also parentheses. */
static bool field(const char *stat, unsigned number, uint64_t *value)
{
  const char *at = NULL;
  for (; *stat; stat++)
    at = *stat == ')' ? stat + 1 : at;
  for (unsigned i = 3; at && i < number; i++) {
    while (*at == ' ')
      at++;
    while (*at && *at != ' ')
      at++;
  }
  return at && number_at(at, value);
}

/* The number behind a key at the start of a line of status. */
static bool line(const char *status, const char *key, uint64_t *value)
{
  for (bool starts = true; *status; starts = *status++ == '\n') {
    const char *at = status, *wanted = key;
    while (starts && *wanted && *at == *wanted) {
      at++;
      wanted++;
    }
    if (starts && !*wanted)
      return number_at(at, value);
  }
  return false;
}

bool usage_parse(const char *stat, const char *status, struct sys_usage *usage)
{
  enum { MINOR_FAULTS = 10, MAJOR_FAULTS = 12, USER = 14, SYSTEM = 15, CLOCK_NS = 10000000 }; /* times in 1/100 s */
  bool known = field(stat, USER, &usage->user_ns) && field(stat, SYSTEM, &usage->system_ns);
  usage->user_ns *= CLOCK_NS;
  usage->system_ns *= CLOCK_NS;
  return known && field(stat, MINOR_FAULTS, &usage->minor_faults) && field(stat, MAJOR_FAULTS, &usage->major_faults) &&
         line(status, "voluntary_ctxt_switches:", &usage->given_up) &&
         line(status, "nonvoluntary_ctxt_switches:", &usage->switched_out);
}

bool usage_of_thread(int tid, struct sys_usage *usage)
{
  char stat[1024], status[8192];
  return sys_read_thread_file(tid, "/stat", stat, sizeof stat) &&
         sys_read_thread_file(tid, "/status", status, sizeof status) && usage_parse(stat, status, usage);
}
