#include "hpcprof-lite/model/grain.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *const grain_kind_names[GRAIN_KINDS] = {
    [GRAIN_INITIAL] = "initial", [GRAIN_IMPLICIT] = "implicit", [GRAIN_TASK] = "task", [GRAIN_CHUNK] = "chunk"};
const char *const grain_metric_names[GRAIN_METRICS + 1] = {[GRAIN_PARALLEL_BENEFIT] = "parallel_benefit",
                                                           [GRAIN_PARALLELISM] = "instantaneous_parallelism",
                                                           [GRAIN_SCATTER] = "scatter",
                                                           [GRAIN_MEMORY] = "memory_utilisation",
                                                           [GRAIN_DEVIATION] = "work_deviation",
                                                           [GRAIN_BALANCE] = "load_balance"};

struct grain_limits grain_limits_default(void)
{
  struct grain_limits limits;
  for (unsigned i = 0; i < GRAIN_METRICS; i++)
    limits.limit[i] = NAN;
  return limits;
}

bool grain_limits_parse(const char *text, struct grain_limits *limits)
{
  assert(text);
  const char *value = strchr(text, '=');
  size_t length = value ? (size_t)(value - text) : 0;
  for (unsigned i = 0; i < GRAIN_METRICS && value; i++) {
    char *end;
    if (strlen(grain_metric_names[i]) != length || strncmp(text, grain_metric_names[i], length))
      continue;
    limits->limit[i] = strtod(value + 1, &end);
    return value[1] && !*end && isfinite(limits->limit[i]) && limits->limit[i] >= 0;
  }
  return false;
}

void grain_graph_release(struct grain_graph *graph)
{
  for (uint32_t i = 0; i < graph->nodes_count; i++)
    free((char *)graph->nodes[i].grain.path);
  free(graph->nodes);
  free(graph->edges);
  *graph = (struct grain_graph){0};
}

void grain_problem_names(uint32_t problems, char names[GRAIN_PROBLEM_NAMES])
{
  assert(problems < 1U << GRAIN_METRICS);
  size_t used = 0;
  *names = '\0';
  for (unsigned i = 0; i < GRAIN_METRICS; i++)
    if (problems >> i & 1)
      used +=
          (size_t)snprintf(names + used, GRAIN_PROBLEM_NAMES - used, "%s%s", used ? " " : "", grain_metric_names[i]);
}
