/* Messages between ranks: the serialised parts of the golden measurements give the same result as one merge of all, and
 * damage is detected. */
#include "hpcprof-lite/input/find.h"
#include "hpcprof-lite/merge/merge.h"
#include "hpcprof-lite/ranks/timeline_request.h"
#include "tests/support/unit.h"

#include <dirent.h>

enum { FILES_MAX = 128, PARTS_MAX = 6, LINE = 4096, DAMAGED = UNIT_SANITIZED ? 1000 : 3000 };

static char *paths[FILES_MAX];
static uint32_t files;
static char *expected;

static int find_files(void **state)
{
  (void)state;
  char *golden, *directories[FILES_MAX] = {0}, **found;
  size_t count = 0;
  struct problems problems = {0};
  assert_true(asprintf(&golden, "%s/tests/golden", unit_source()) > 0);
  DIR *stream = opendir(golden);
  assert_non_null(stream);
  for (struct dirent *entry; (entry = readdir(stream));)
    if (entry->d_name[0] != '.' && !strchr(entry->d_name, '.') && count < FILES_MAX)
      assert_true(asprintf(&directories[count++], "%s/%s", golden, entry->d_name) > 0);
  closedir(stream);
  find_measurements(directories, count, &problems, &found, &files);
  assert_true(files > 20 && files < FILES_MAX);
  memcpy(paths, found, files * sizeof *paths);
  free(found);
  free(golden);
  for (size_t i = 0; i < count; i++)
    free(directories[i]);
  problems_release(&problems);
  return 0;
}

static int forget_files(void **state)
{
  (void)state;
  for (uint32_t i = 0; i < files; i++)
    free(paths[i]);
  free(expected);
  return 0;
}

/* ---- a profile as text that does not depend on numbers of contexts, modules and columns ---- */

struct lines {
  char **lines;
  size_t count;
};

static void add_line(struct lines *lines, const char *text)
{
  lines->lines = realloc(lines->lines, (lines->count + 1) * sizeof *lines->lines);
  lines->lines[lines->count++] = strdup(text);
}

static size_t put_path(const struct profile *profile, uint32_t node, char *line)
{
  if (node == MODEL_NONE)
    return (size_t)snprintf(line, LINE, "nowhere");
  const struct context_node *here = &profile->contexts.nodes[node];
  size_t at = node ? put_path(profile, here->parent, line) : 0;
  bool placed = here->kind == CONTEXT_FRAME || here->kind == CONTEXT_USER_REGION;
  if (at < LINE - 256)
    at += (size_t)snprintf(line + at, 200, "/%u:%.80s:%x", here->kind,
                           placed ? profile->catalog.modules[here->module].path : "", here->offset);
  return at;
}

static void dump_contexts(const struct profile *profile, struct lines *lines)
{
  char line[LINE];
  for (uint32_t node = 0; node < profile->contexts.count; node++) {
    size_t at = put_path(profile, node, line);
    add_line(lines, line);
    for (uint32_t i = 0; i < profile->catalog.columns_count; i++) {
      const struct catalog_column *column = &profile->catalog.columns[i];
      uint64_t value = contexts_get(&profile->contexts, node, i);
      snprintf(line + at, LINE - at, " %u %s %s %llu %llu", column->role, column->name, column->unit,
               (unsigned long long)column->period, (unsigned long long)value);
      if (value)
        add_line(lines, line);
    }
  }
  for (uint32_t i = 0; i < profile->contexts.shares_count; i++) {
    const struct context_share *share = &profile->contexts.shares[i];
    size_t at = put_path(profile, share->context, line);
    snprintf(line + at, LINE - at, " share %u %llu", share->directive, (unsigned long long)share->amount);
    add_line(lines, line);
  }
}

static void dump_processes(const struct profile *profile, struct lines *lines)
{
  char line[LINE];
  for (uint32_t i = 0; i < profile->processes_count; i++) {
    const struct profile_process *process = &profile->processes[i];
    const struct problems *problems = &profile->problems[i];
    snprintf(line, LINE, "process %u %s %d%d%d%d %u %d %s %s %s %s %llu %u %llu %llu", i, process->path,
             process->usable, process->unfinished, process->running, process->superseded, process->pid, process->rank,
             process->host, process->command, process->runtime, process->notes, (unsigned long long)process->wall_ns,
             process->workspan.directives_count, (unsigned long long)process->workspan.work,
             (unsigned long long)process->workspan.span);
    add_line(lines, line);
    for (uint32_t j = 0; j < process->threads_count; j++) {
      snprintf(line, LINE, "thread %u %u %u %llu %llu %llu", i, j, process->threads[j].index,
               (unsigned long long)process->threads[j].samples, (unsigned long long)process->threads[j].idle_ns,
               (unsigned long long)process->threads[j].work);
      add_line(lines, line);
    }
    const struct profile_marks *marks = &process->marks;
    for (uint32_t j = 0; j < marks->marks_count; j++) {
      snprintf(line, LINE, "mark %u %u %llu %u %u %s", i, j, (unsigned long long)marks->marks[j].at_ns,
               marks->marks[j].thread, marks->marks[j].user_phase, marks->text + marks->marks[j].name);
      add_line(lines, line);
    }
    for (uint32_t j = 0; j < marks->counts_count; j++) {
      snprintf(line, LINE, "count %u %u %u %llu %llu %s", i, j, marks->counts[j].thread,
               (unsigned long long)marks->counts[j].count, (unsigned long long)marks->counts[j].sum,
               marks->text + marks->counts[j].name);
      add_line(lines, line);
    }
    for (size_t j = 0; j < problems->count && j < PROBLEMS_MAX; j++) {
      snprintf(line, LINE, "problem %u %zu of %zu %s", i, j, problems->count, problems->lines[j]);
      add_line(lines, line);
    }
  }
  for (uint32_t i = 0; i < profile->workspan.directives_count; i++) {
    const struct profile_directive *directive = &profile->workspan.directives[i];
    snprintf(line, LINE, "directive %u %u %s %s %llx %llu %llu %llu", i, directive->kind, directive->name,
             directive->module == MODEL_NONE ? "" : profile->catalog.modules[directive->module].path,
             (unsigned long long)directive->offset, (unsigned long long)directive->instances,
             (unsigned long long)directive->work, (unsigned long long)directive->span);
    add_line(lines, line);
  }
}

/* The constructs around a node of the run, and its own kind and directive. */
static void put_construct(const struct profile *profile, uint32_t node, char *line)
{
  const struct construct_node *here = &profile->constructs.nodes[node];
  if (node)
    put_construct(profile, here->parent, line);
  snprintf(line + strlen(line), LINE - strlen(line), "/%u:%u:%u", here->kind, here->directive, here->in_wait);
}

static void dump_constructs(const struct profile *profile, struct lines *lines)
{
  for (uint32_t i = 0; i < profile->constructs.nodes_count; i++) {
    char line[LINE] = "construct ";
    put_construct(profile, i, line);
    put_path(profile, profile->constructs.nodes[i].context, line + strlen(line));
    add_line(lines, line);
  }
  for (uint32_t i = 0; i < profile->processes_count; i++) {
    const struct construct_times *times = &profile->processes[i].constructs;
    for (uint32_t j = 0; j < times->rows_count; j++) {
      const struct construct_row *row = &times->rows[j];
      char line[LINE] = "row ";
      const struct construct_counts *counts = construct_counts_of(&row->figures);
      put_construct(profile, row->node, line);
      snprintf(line + strlen(line), 200, " %u %u %llu %llu %llu %llu %llx", i, row->thread,
               (unsigned long long)row->figures.count, (unsigned long long)construct_exec(&row->figures),
               (unsigned long long)counts->counted[0], (unsigned long long)counts->unread_own,
               (unsigned long long)counts->present.known);
      add_line(lines, line);
    }
    for (uint32_t j = 0; j < times->tasks_count; j++) {
      char line[LINE];
      snprintf(line, LINE, "tasks %u %u %llu %llu %llu", i, times->tasks[j].directive,
               (unsigned long long)times->tasks[j].created, (unsigned long long)times->tasks[j].exec_ns,
               (unsigned long long)times->tasks[j].histogram[203]);
      add_line(lines, line);
    }
  }
}

static int by_text(const void *a, const void *b)
{
  return strcmp(*(char *const *)a, *(char *const *)b);
}

static char *dump(const struct profile *profile)
{
  struct lines lines = {0};
  dump_contexts(profile, &lines);
  dump_processes(profile, &lines);
  dump_constructs(profile, &lines);
  qsort(lines.lines, lines.count, sizeof *lines.lines, by_text);
  char *text = NULL;
  size_t size;
  FILE *stream = open_memstream(&text, &size);
  for (size_t i = 0; i < lines.count; i++) {
    fprintf(stream, "%s\n", lines.lines[i]);
    free(lines.lines[i]);
  }
  fclose(stream);
  free(lines.lines);
  return text;
}

/* ---- ---- */

static void merge_one_part(uint32_t part, uint32_t parts, struct profile *profile)
{
  struct merge_slice request = {.paths = paths, .count = files, .slice = part, .slices = parts, .threads = 1};
  assert_int_equal(merge_slice(&request, profile), 0);
}

static void travel(const struct profile *from, bool bare, struct profile_message *arrived)
{
  struct profile_message message = {0};
  size_t size;
  profile_message_put_profile(&message, from, bare);
  void *bytes = profile_message_pack(&message, &size);
  assert_non_null(bytes);
  profile_message_unpack(arrived, bytes, size);
  assert_int_equal(arrived->status, 0);
  assert_true(arrived->size == message.size && !memcmp(arrived->bytes, message.bytes, message.size));
  free(bytes);
  profile_message_release(&message);
}

static void send(const struct profile *from, bool bare, struct profile *into)
{
  struct profile_message message;
  travel(from, bare, &message);
  profile_message_get_profile(&message, into);
  assert_int_equal(message.status, 0);
  assert_int_equal(message.at, message.size);
  profile_message_release(&message);
}

static void test_parts_come_together(void **state)
{
  (void)state;
  struct profile all;
  assert_int_equal(merge_files(paths, files, 1, BASELINE_THREAD, NULL, &all), 0);
  expected = dump(&all);
  assert_true(strstr(expected, " share ") && strstr(expected, "directive 1 ") && strstr(expected, "problem "));
  assert_true(strstr(expected, "\nconstruct /0:0:0/1:") && strstr(expected, "\nrow ") && strstr(expected, "\ntasks "));
  assert_true(strstr(expected, "\nmark ") && strstr(expected, " 1 solve\n") && strstr(expected, "\ncount "));
  for (uint32_t parts = 1; parts <= PARTS_MAX; parts++) {
    struct profile profiles[PARTS_MAX];
    for (uint32_t i = 0; i < parts; i++)
      merge_one_part(i, parts, &profiles[i]);
    for (uint32_t i = parts - 1; i; i--) { /* in a chain: the merged parts are sent on */
      send(&profiles[i], false, &profiles[i - 1]);
      profile_release(&profiles[i]);
    }
    merge_finish(&profiles[0]);
    char *text = dump(&profiles[0]);
    assert_string_equal(text, expected);
    free(text);
    profile_release(&profiles[0]);
  }
  profile_release(&all);
}

static void test_a_bare_profile_keeps_its_numbers(void **state)
{
  (void)state;
  struct profile all, copy = {0};
  assert_int_equal(merge_files(paths, files, 1, BASELINE_THREAD, NULL, &all), 0);
  catalog_init(&copy.catalog);
  send(&all, true, &copy);
  assert_int_equal(copy.contexts.count, all.contexts.count);
  assert_int_equal(copy.catalog.columns_count, all.catalog.columns_count);
  assert_int_equal(copy.processes_count, all.processes_count);
  for (uint32_t i = 0; i < all.contexts.count; i++) {
    const struct context_node *a = &all.contexts.nodes[i], *b = &copy.contexts.nodes[i];
    assert_true(a->parent == b->parent && a->kind == b->kind && a->module == b->module && a->offset == b->offset);
    assert_int_equal(b->value, 0);
  }
  for (uint32_t i = 0; i < all.catalog.modules_count; i++)
    assert_string_equal(copy.catalog.modules[i].path, all.catalog.modules[i].path);
  for (uint32_t i = 0; i < all.processes_count; i++)
    assert_string_equal(copy.processes[i].path, all.processes[i].path);
  profile_release(&all);
  profile_release(&copy);
}

/* For any input, nothing is read or written out of bounds, and what is accepted can be merged and released. */
static void test_damage_is_survived(void **state)
{
  (void)state;
  struct profile part;
  struct profile_message sound;
  uint32_t refused = 0;
  merge_one_part(1, 2, &part);
  travel(&part, false, &sound);
  srandom(1);
  for (int round = 0; round < DAMAGED; round++) {
    struct profile into;
    struct profile_message message = {.size = sound.size};
    if (round % 4 == 0)
      message.size = (size_t)random() % sound.size / 8 * 8;
    message.bytes = malloc(message.size + 1);
    memcpy(message.bytes, sound.bytes, message.size);
    for (int i = 0; i < 1 + round % 5 && message.size; i++) {
      uint64_t word = random() % 2 ? (uint64_t)random() % 64 : (uint64_t)random() << 33 | (uint64_t)random();
      size_t at = (size_t)random() % message.size, bytes = 1 + (size_t)random() % 8;
      memcpy(message.bytes + at, &word, bytes < message.size - at ? bytes : message.size - at);
    }
    merge_one_part(0, files, &into);
    profile_message_get_profile(&message, &into);
    refused += message.status != 0;
    if (!message.status)
      merge_finish(&into);
    profile_release(&into);
    profile_message_release(&message);
  }
  assert_true(refused > DAMAGED / 4); /* all truncated inputs, and more */
  profile_message_release(&sound);
  profile_release(&part);
}

/* A request for the timeline of all files: a row for each context, an entry for each construct. */
struct timeline {
  struct profile profile;
  struct tree tree;
  struct construct_tree constructs;
  struct timeline_request request;
};

static void timeline_init(struct timeline *timeline)
{
  *timeline = (struct timeline){0};
  assert_int_equal(merge_files(paths, files, 1, BASELINE_THREAD, NULL, &timeline->profile), 0);
  const struct profile *profile = &timeline->profile;
  uint32_t rows = profile->contexts.count, entries = profile->constructs.nodes_count;
  timeline->tree = (struct tree){.rows = calloc(rows, sizeof *timeline->tree.rows), .count = rows};
  timeline->constructs = (struct construct_tree){.entries = calloc(entries, sizeof *timeline->constructs.entries),
                                                 .entry_of = calloc(entries, sizeof *timeline->constructs.entry_of),
                                                 .count = entries};
  timeline->request = (struct timeline_request){&timeline->profile, &timeline->tree,
                                                calloc(rows, sizeof *timeline->request.row_of), &timeline->constructs};
  for (uint32_t i = 0; i < rows; i++) {
    timeline->tree.rows[i].parent = i ? profile->contexts.nodes[i].parent : MODEL_NONE;
    timeline->tree.rows[i].depth = i ? timeline->tree.rows[timeline->tree.rows[i].parent].depth + 1 : 0;
    timeline->request.row_of[i] = i % 7 ? i : MODEL_NONE;
  }
  for (uint32_t i = 0; i < entries; i++) {
    timeline->constructs.entries[i].parent = profile->constructs.nodes[i].parent;
    timeline->constructs.entries[i].kind = profile->constructs.nodes[i].kind;
    timeline->constructs.entry_of[i] = i % 5 ? i : MODEL_NONE;
  }
}

static void timeline_receive(struct profile_message *message, struct timeline *timeline)
{
  *timeline = (struct timeline){0};
  timeline->request = (struct timeline_request){
      .profile = &timeline->profile, .tree = &timeline->tree, .constructs = &timeline->constructs};
  timeline_request_get(message, &timeline->request);
}

static void timeline_release(struct timeline *timeline)
{
  profile_release(&timeline->profile);
  free(timeline->tree.rows);
  free(timeline->request.row_of);
  construct_tree_release(&timeline->constructs);
}

static void check_timeline(const struct timeline *sent, const struct timeline *got)
{
  uint32_t directives = 0;
  for (uint32_t i = 0; i < sent->profile.processes_count; i++) {
    const struct profile_process *a = &sent->profile.processes[i], *b = &got->profile.processes[i];
    uint32_t count = a->workspan.directives_count;
    directives += count;
    assert_true(b->workspan.directives_count == count && a->workspan.tick_ns == b->workspan.tick_ns);
    for (uint32_t j = 0; j < count; j++)
      assert_int_equal(a->workspan.directives[j].kind, b->workspan.directives[j].kind);
    if (count)
      assert_memory_equal(a->directive_map, b->directive_map, count * sizeof *a->directive_map);
  }
  uint32_t rows = sent->tree.count, entries = sent->constructs.count;
  assert_true(directives && entries > 1 && got->tree.count == rows && got->constructs.count == entries);
  assert_memory_equal(sent->tree.rows, got->tree.rows, rows * sizeof *sent->tree.rows);
  assert_memory_equal(sent->request.row_of, got->request.row_of, rows * sizeof *sent->request.row_of);
  assert_memory_equal(sent->constructs.entry_of, got->constructs.entry_of, entries * sizeof *sent->constructs.entry_of);
  assert_memory_equal(sent->constructs.entries, got->constructs.entries, entries * sizeof *sent->constructs.entries);
  assert_memory_equal(sent->profile.constructs.nodes, got->profile.constructs.nodes,
                      entries * sizeof *sent->profile.constructs.nodes);
}

static void test_what_a_timeline_needs_arrives(void **state)
{
  (void)state;
  struct timeline sent, got;
  struct profile_message message = {0};
  timeline_init(&sent);
  timeline_request_put(&message, &sent.request);
  assert_int_equal(message.status, 0);
  size_t size = message.size;
  timeline_receive(&message, &got);
  assert_true(!message.status && message.at == size);
  check_timeline(&sent, &got);
  timeline_release(&got);
  srandom(2);
  for (int round = 0; round < DAMAGED / 10; round++) {
    struct profile_message damaged = {.bytes = malloc(size + 1),
                                      .size = round % 3 ? size : (size_t)random() % size / 8 * 8};
    memcpy(damaged.bytes, message.bytes, size);
    for (int i = 0; i < 3; i++) { /* mostly in what follows the profile */
      uint64_t word = random() % 2 ? (uint64_t)random() % 64 : (uint64_t)random() << 33 | (uint64_t)random();
      size_t at = (size_t)random() % 2 ? size - 8 - (size_t)random() % (size / 3) : (size_t)random() % (size - 8);
      memcpy(damaged.bytes + at, &word, sizeof word);
    }
    timeline_receive(&damaged, &got);
    timeline_release(&got);
    assert_true(round % 3 || damaged.status);
    profile_message_release(&damaged);
  }
  timeline_release(&sent);
  profile_message_release(&message);
}

static void test_other_builds_are_refused(void **state)
{
  (void)state;
  struct profile_message message = {0}, arrived;
  size_t size;
  profile_message_put_number(&message, 7);
  uint8_t *bytes = profile_message_pack(&message, &size);
  assert_non_null(bytes);
  for (size_t cut = 0; cut < size; cut++) {
    profile_message_unpack(&arrived, bytes, cut);
    assert_int_equal(arrived.status, ERR_INPUT);
    profile_message_release(&arrived);
  }
  bytes[4]++; /* the size of a record */
  profile_message_unpack(&arrived, bytes, size);
  assert_int_equal(arrived.status, ERR_INPUT);
  profile_message_release(&arrived);
  free(bytes);
  profile_message_release(&message);
}

int main(int argc, char **argv)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_parts_come_together), cmocka_unit_test(test_a_bare_profile_keeps_its_numbers),
      cmocka_unit_test(test_damage_is_survived), cmocka_unit_test(test_what_a_timeline_needs_arrives),
      cmocka_unit_test(test_other_builds_are_refused)};
  return UNIT_RUN(argc, argv, "profile_message", tests, find_files, forget_files);
}
