#include "hpcprof-lite/model/profile.h"

#include <stdlib.h>
#include <string.h>

void profile_release_workspan(struct profile_workspan *workspan)
{
  for (uint32_t i = 0; workspan->directives && i < workspan->directives_count; i++)
    free(workspan->directives[i].name);
  free(workspan->directives);
  free(workspan->unit);
  *workspan = (struct profile_workspan){0};
}

void profile_release_marks(struct profile_marks *marks)
{
  free(marks->marks);
  free(marks->counts);
  free(marks->text);
  *marks = (struct profile_marks){0};
}

uint64_t profile_phase_end(const struct profile_process *process, uint32_t mark)
{
  const struct profile_marks *marks = &process->marks;
  uint64_t start_ns = marks->marks[mark].at_ns;
  for (uint32_t i = mark + 1; i < marks->marks_count; i++)
    if (marks->marks[i].phase)
      return marks->marks[i].at_ns;
  return process->wall_ns > start_ns ? process->wall_ns : start_ns;
}

void profile_release_process(struct profile_process *process)
{
  free(process->path);
  free(process->host);
  free(process->command);
  free(process->runtime);
  free(process->notes);
  free(process->threads);
  free(process->directive_map);
  construct_times_release(&process->constructs);
  profile_release_marks(&process->marks);
  profile_release_workspan(&process->workspan);
}

void profile_release(struct profile *profile)
{
  for (uint32_t i = 0; i < profile->processes_count; i++) {
    profile_release_process(&profile->processes[i]);
    problems_release(&profile->problems[i]);
  }
  free(profile->processes);
  free(profile->problems);
  construct_times_release(&profile->constructs);
  profile_release_workspan(&profile->workspan);
  contexts_release(&profile->contexts);
  catalog_release(&profile->catalog);
}

const char *profile_directive_name(uint32_t kind)
{
  static const char *const names[CONSTRUCT_KINDS] = {[DIRECTIVE_PROGRAM] = "program",
                                                     [DIRECTIVE_PARALLEL] = "parallel",
                                                     [DIRECTIVE_FOR] = "for",
                                                     [DIRECTIVE_SECTIONS] = "sections",
                                                     [DIRECTIVE_SINGLE] = "single",
                                                     [DIRECTIVE_MASKED] = "masked",
                                                     [DIRECTIVE_TASK] = "task",
                                                     [DIRECTIVE_TASKLOOP] = "taskloop",
                                                     [DIRECTIVE_TASKGROUP] = "taskgroup",
                                                     [DIRECTIVE_TASKWAIT] = "taskwait",
                                                     [DIRECTIVE_BARRIER] = "barrier",
                                                     [DIRECTIVE_CRITICAL] = "critical",
                                                     [DIRECTIVE_LOCK] = "lock",
                                                     [DIRECTIVE_ORDERED] = "ordered",
                                                     [DIRECTIVE_TEAMS] = "teams",
                                                     [DIRECTIVE_USER_REGION] = "user-region",
                                                     [CONSTRUCT_TASK_EXEC] = "task-exec",
                                                     [CONSTRUCT_DISTRIBUTE] = "distribute",
                                                     [CONSTRUCT_ATOMIC] = "atomic"};
  return names[kind];
}

bool profile_by_wall(const struct profile_process *process)
{
  static const char wall[] = "event: wall,";
  const char *at = strstr(process->notes, wall);
  return at && (at == process->notes || at[-1] == '\n');
}

bool profile_unsampled(const struct profile_process *process)
{
  static const char none[] = "event: none,";
  return strncmp(process->notes, none, sizeof none - 1) == 0;
}

const char *profile_filtered(const struct profile *profile, size_t *length)
{
  static const char filtered[] = "Filtered: ";
  for (uint32_t i = 0; i < profile->processes_count; i++)
    for (const char *at = profile->processes[i].usable ? profile->processes[i].notes : NULL; at && *at;) {
      size_t line = strcspn(at, "\n");
      *length = line - (sizeof filtered - 1);
      if (!strncmp(at, filtered, sizeof filtered - 1))
        return at + sizeof filtered - 1;
      at += line + (at[line] == '\n');
    }
  return NULL;
}

uint32_t profile_thread_position(const struct profile_process *process, uint32_t index)
{
  uint32_t low = 0, high = process->threads_count;
  while (low < high) {
    uint32_t middle = low + (high - low) / 2;
    if (process->threads[middle].index < index)
      low = middle + 1;
    else
      high = middle;
  }
  return low < process->threads_count && process->threads[low].index == index ? low : MODEL_NONE;
}
