/* Lines of source: what belongs to each, which are shown, where the files are found, and what is read of them. */
#include "hpcprof-lite/views/source/source_blocks.h"
#include "tests/support/unit.h"

#include <sys/stat.h>

enum { SAMPLES, WORK, COLUMNS };

/* A program of one file: main calls a template in two instances, and has a region in which lines of `work` run. */
static struct profile profile;
static struct names names;
static struct tree_columns columns;
static struct tree contexts;
static struct source_blocks blocks;
static const char *file;
static char directory[] = "/tmp/hpcrun-lite-source-XXXXXX", path[128], moved[128];

static uint32_t function(const char *name, uint32_t line, enum names_outline outline, uint32_t origin)
{
  struct names_function wanted = {.name = name, .raw = name, .file = file, .line = line, .outline = outline};
  uint32_t number = names_function(&names, &wanted);
  names.functions[number].origin = origin;
  return number;
}

/* Adds a row to the top-down tree; `work` is in samples. */
static uint32_t row(uint32_t parent, enum tree_kind kind, uint32_t number, uint32_t line, uint64_t work)
{
  bool named = number != MODEL_NONE, placed = kind == ROW_LINE || kind == ROW_PARALLEL || kind == ROW_PARTIAL;
  struct tree_row wanted = {.parent = parent,
                            .kind = kind,
                            .function = number,
                            .module = MODEL_NONE,
                            .name = named              ? names.functions[number].name
                                    : kind == ROW_LINE ? ""
                                                       : "[OpenMP runtime]",
                            .file = placed || named ? file : "",
                            .line = placed ? line : 0};
  uint32_t added = tree_add(&contexts, &wanted, NULL);
  tree_value(&contexts, added, SAMPLES, work);
  tree_value(&contexts, added, WORK, work * 1000);
  return added;
}

/* A construct in a line of a function. */
static void directive(uint32_t kind, uint32_t number, uint32_t line)
{
  static struct profile_directive directives[8] = {{.kind = DIRECTIVE_PROGRAM}};
  static struct names_directive places[8] = {{.file = "", .name = ""}};
  static uint32_t at[8] = {MODEL_NONE};
  static struct names_address addresses[8];
  static struct names_frame steps[8];
  uint32_t here = profile.workspan.directives_count;
  directives[here] = (struct profile_directive){.kind = kind};
  places[here] = (struct names_directive){.name = names.functions[number].name, .file = file, .line = line};
  addresses[here] = (struct names_address){.first = here, .count = 1};
  steps[here] = (struct names_frame){.function = number, .file = file, .line = line};
  at[here] = here;
  profile.workspan.directives = directives;
  profile.workspan.directives_count = here + 1;
  names.directives = places;
  names.directive_at = at;
  names.addresses = addresses;
  names.addresses_count = here + 1;
  names.frames = steps;
}

static int begin(void **state)
{
  (void)state;
  static struct profile_directive program[1];
  struct tree_order order = {.columns = &columns};
  columns = (struct tree_columns){.count = COLUMNS,
                                  .mpi = MODEL_NONE,
                                  .samples = SAMPLES,
                                  .work = WORK,
                                  .overhead = MODEL_NONE,
                                  .lockwait = MODEL_NONE,
                                  .idleness = MODEL_NONE,
                                  .critical = MODEL_NONE};
  file = names_file(&names, path);
  profile.workspan = (struct profile_workspan){.directives = program, .directives_count = 1};
  uint32_t main_function = function("main", 50, OUTLINE_NONE, MODEL_NONE);
  uint32_t small = function("scale<int>", 10, OUTLINE_NONE, MODEL_NONE);
  uint32_t large = function("scale<double>", 10, OUTLINE_NONE, MODEL_NONE);
  uint32_t helper = function("helper", 30, OUTLINE_NONE, MODEL_NONE);
  uint32_t body = function("main._omp_fn.0", 55, OUTLINE_BODY, main_function);
  directive(DIRECTIVE_FOR, main_function, 57);
  directive(DIRECTIVE_CRITICAL, helper, 33);
  directive(DIRECTIVE_USER_REGION, helper, 34);
  tree_init(&contexts, COLUMNS, "program");
  uint32_t top = row(0, ROW_FUNCTION, main_function, 0, 2); /* without a line */
  row(row(top, ROW_FUNCTION, small, 0, 0), ROW_LINE, MODEL_NONE, 12, 10);
  uint32_t other = row(top, ROW_INLINED, large, 0, 0);
  row(other, ROW_LINE, MODEL_NONE, 12, 30);
  row(other, ROW_LINE, MODEL_NONE, 14, 5);
  uint32_t region = row(top, ROW_PARALLEL, body, 55, 0);
  row(region, ROW_LINE, MODEL_NONE, 59, 7);
  row(row(region, ROW_RUNTIME, MODEL_NONE, 0, 0), ROW_LINE, MODEL_NONE, 57, 3);
  row(row(region, ROW_FUNCTION, helper, 0, 0), ROW_LINE, MODEL_NONE, 33, 20);
  row(0, ROW_RUNTIME, MODEL_NONE, 0, 1);
  row(0, ROW_PARTIAL, MODEL_NONE, 57, 1); /* of a construct whose callers are not known */
  tree_inclusive(&contexts);
  tree_finish(&contexts, &order, false);
  source_lines_build(&profile, &names, &columns, &contexts, &blocks.lines);
  return 0;
}

static int end(void **state)
{
  (void)state;
  source_blocks_release(&blocks);
  tree_release(&contexts);
  names.directives = NULL; /* and the other static arrays */
  names.directive_at = NULL;
  names.addresses = NULL;
  names.frames = NULL;
  names_release(&names);
  return 0;
}

/* The row of a line, or of the time without one of a function. */
static uint32_t find(uint32_t line, const char *name)
{
  for (uint32_t i = 1; i < blocks.lines.tree.count; i++)
    if (source_lines_shown(&blocks.lines, i) && blocks.lines.tree.rows[i].line == line &&
        !strcmp(blocks.lines.name[i], name))
      return i;
  fail_msg("no line %u of %s", line, name);
  return 0;
}

static void test_each_line_has_its_values(void **state)
{
  (void)state;
  static const struct {
    uint32_t line;
    const char *name;
    uint64_t samples;
    uint32_t directives;
  } wanted[] = {{0, "main", 2, 0},
                {12, "scale<double>", 40, 0},
                {14, "scale<double>", 5, 0},
                {33, "helper", 20, 1u << DIRECTIVE_CRITICAL},
                {55, "main", 0, 1u << DIRECTIVE_PARALLEL},
                {57, "main", 3 + 1, 1u << DIRECTIVE_FOR},
                {59, "main", 7, 0},
                {0, "[OpenMP runtime]", 1, 0}};
  const struct source_lines *lines = &blocks.lines;
  uint32_t shown = 0;
  for (uint32_t i = 0; i < lines->tree.count; i++)
    shown += source_lines_shown(lines, i);
  assert_int_equal(shown, sizeof wanted / sizeof *wanted);
  for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++) {
    uint32_t here = find(wanted[i].line, wanted[i].name);
    assert_int_equal(tree_incl(&lines->tree, here, SAMPLES), wanted[i].samples);
    assert_int_equal(tree_incl(&lines->tree, here, WORK), wanted[i].samples * 1000);
    assert_int_equal(lines->directives[here], wanted[i].directives);
  }
  assert_int_equal(tree_incl(&lines->tree, 0, WORK), tree_incl(&contexts, 0, WORK));
}

static void test_lines_stand_in_their_order(void **state)
{
  (void)state;
  const struct tree *tree = &blocks.lines.tree;
  uint32_t last = 0;
  for (uint32_t i = 1; i < tree->count; i++) {
    const struct tree_row *here = &tree->rows[tree->order[i]];
    if (here->parent || here->file != file)
      continue;
    assert_true(here->line >= last);
    last = here->line;
  }
  assert_int_equal(last, 59);
}

static void write_file(const char *name, const char *bytes, size_t size)
{
  FILE *stream = fopen(name, "w");
  assert_non_null(stream);
  assert_int_equal(fwrite(bytes, 1, size, stream), size);
  fclose(stream);
}

/* A file of so many lines, "line 1" and so on. */
static void write_lines(const char *name, uint32_t count)
{
  FILE *stream = fopen(name, "w");
  assert_non_null(stream);
  for (uint32_t i = 1; i <= count; i++)
    fprintf(stream, "line %u\n", i);
  fclose(stream);
}

/* Arranges what a selector names; *text becomes "12* 13 14*": the lines of a block, those with figures marked. */
static void arrange(const char *root, uint32_t lines_most)
{
  static uint32_t row_of[1];
  static struct selector selector;
  struct source_request request = {
      .profile = &profile, .names = &names, .columns = &columns, .row_of = row_of, .lines_most = lines_most};
  if (root) {
    assert_null(selector_parse(root, &selector));
    request.root = &selector;
  }
  source_blocks_choose(&request, &blocks);
  source_blocks_arrange(&request, &blocks);
}

static const char *shown(uint32_t block)
{
  static char text[512];
  size_t length = 0;
  text[0] = 0;
  for (uint32_t i = 0; i < blocks.blocks[block].count; i++) {
    const struct source_shown *here = &blocks.shown[blocks.blocks[block].first + i];
    length += (size_t)snprintf(text + length, sizeof text - length, "%s%u%s", i ? " " : "", here->line,
                               here->row == MODEL_NONE ? "" : "*");
  }
  return text;
}

static void test_functions_come_by_weight(void **state)
{
  (void)state;
  static const char *const wanted[] = {"scale<double>", "helper", "main", "[OpenMP runtime]"};
  write_lines(path, 60);
  arrange(NULL, 0);
  assert_int_equal(blocks.count, 4);
  for (uint32_t i = 0; i < 4; i++)
    assert_string_equal(blocks.blocks[i].name, wanted[i]);
  assert_string_equal(shown(0), "10 11 12* 13 14* 15 16");
  assert_string_equal(shown(1), "30 31 32 33* 34 35");
  assert_string_equal(shown(2), "0* 50 53 54 55* 56 57* 58 59* 60");
  assert_int_equal(blocks.blocks[0].weight, 45 * 1000);
}

static void test_text_is_not_needed(void **state)
{
  (void)state;
  unlink(path);
  arrange(NULL, 0);
  assert_string_equal(shown(0), "12* 14*");
  assert_null(blocks.files.files[blocks.blocks[0].source].found);
}

static void test_too_many_lines_are_cut(void **state)
{
  (void)state;
  write_lines(path, 60);
  arrange(NULL, 9);
  assert_int_equal(blocks.count, 2);
  assert_true(blocks.limited);
  assert_int_equal(blocks.shown_count, 7 + 6);
  assert_int_equal(blocks.blocks[1].omitted, 0);
}

static void test_the_heaviest_lines_are_kept(void **state)
{
  (void)state;
  write_lines(path, 60);
  arrange("main", 5);
  assert_int_equal(blocks.count, 1);
  assert_string_equal(shown(0), "50 57 58 59* 60");
  assert_int_equal(blocks.blocks[0].omitted, 3);
}

static void test_selectors_name_functions_files_and_lines(void **state)
{
  (void)state;
  static const struct {
    const char *root, *name, *lines;
  } wanted[] = {{"scale<int>", "scale<double>", "10 11 12* 13 14* 15 16"},
                {"helper", "helper", "30 31 32 33* 34 35"},
                {"a.c:12", NULL, "10 11 12* 13 14"},
                {"a.c:12-14", NULL, "12* 13 14*"},
                {"a.c:20-22", NULL, "20 21 22"},
                {"a.c:21", NULL, "19 20 21 22 23"},
                {"src/a.c", NULL, "0* 10 11 12* 13 14* 15 16 31 32 33* 34 35 53 54 55* 56 57* 58 59* 60"}};
  write_lines(path, 60);
  for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++) {
    arrange(wanted[i].root, 0);
    assert_int_equal(blocks.count, 1);
    if (wanted[i].name)
      assert_string_equal(blocks.blocks[0].name, wanted[i].name);
    else
      assert_null(blocks.blocks[0].name);
    assert_string_equal(shown(0), wanted[i].lines);
    end(NULL);
    begin(NULL);
  }
  arrange("nobody", 0);
  assert_int_equal(blocks.count, 0);
}

static void test_a_file_is_found_by_the_longest_tail(void **state)
{
  (void)state;
  char right[160], wrong[160];
  struct source_files files = {0};
  uint32_t number;
  unlink(path);
  snprintf(right, sizeof right, "%s/src", moved);
  snprintf(wrong, sizeof wrong, "%s/lib", moved);
  mkdir(moved, 0700);
  mkdir(right, 0700);
  mkdir(wrong, 0700);
  assert_int_equal(source_files_add_directory(&files, wrong), 0);
  assert_int_equal(source_files_add_directory(&files, right), 0);
  assert_int_equal(source_files_add_directory(&files, path), ERR_INPUT);
  strcat(right, "/a.c");
  strcat(wrong, "/a.c");
  write_lines(right, 3);
  write_lines(wrong, 2);
  source_files_find(&files, path, 0, &number);
  assert_int_equal(files.files[number].lines, 3);
  assert_string_equal(files.files[number].found, right);
  source_files_release(&files);
  unlink(right);
  assert_int_equal(source_files_add_directory(&files, moved), 0);
  source_files_find(&files, path, 0, &number);
  assert_null(files.files[number].found);
  source_files_find(&files, "/elsewhere/x/../lib/./a.c", 0, &number);
  assert_string_equal(files.files[number].found, wrong);
  assert_ptr_equal(source_files_known(&files, "/elsewhere/x/../lib/./a.c"), &files.files[number]);
  source_files_release(&files);
  unlink(wrong);
}

static void test_lines_are_read_whatever_they_contain(void **state)
{
  (void)state;
  static const char bytes[] = "\tx\ty\r\nnul \0 here\n\n\xc3\xa9\ttab\nlast";
  static const char *const wanted[] = {"        x       y", "nul ? here", "", "\xc3\xa9       tab", "last"};
  struct source_files files = {0};
  char line[SOURCE_TEXT_MAX], large[4 * SOURCE_TEXT_MAX];
  uint32_t number;
  write_file(path, bytes, sizeof bytes - 1);
  source_files_find(&files, path, 0, &number);
  assert_int_equal(files.files[number].lines, 5);
  for (uint32_t i = 0; i < 5; i++) {
    assert_true(source_files_line(&files.files[number], i + 1, line));
    assert_string_equal(line, wanted[i]);
  }
  assert_false(source_files_line(&files.files[number], 6, line));
  assert_false(source_files_line(&files.files[number], 0, line));
  source_files_release(&files);
  for (size_t i = 0; i < sizeof large; i++) /* é, and tabs */
    large[i] = i % 7 == 6 ? '\t' : i % 7 % 2 ? '\xa9' : '\xc3';
  for (size_t skip = 0; skip < 7; skip++) {
    write_file(path, large + skip, sizeof large - skip);
    source_files_find(&files, path, 0, &number);
    assert_true(source_files_line(&files.files[number], 1, line));
    assert_true(strlen(line) < SOURCE_TEXT_MAX && strlen(line) > SOURCE_TEXT_MAX - 32);
    assert_string_equal(line + strlen(line) - 3, "...");
    assert_int_not_equal((unsigned char)line[strlen(line) - 4], 0xc3);
    source_files_release(&files);
  }
}

static void test_only_regular_files_of_some_size_are_read(void **state)
{
  (void)state;
  struct source_files files = {0};
  uint32_t number;
  unlink(path);
  assert_int_equal(mkfifo(path, 0600), 0);
  source_files_find(&files, path, 0, &number);
  assert_null(files.files[number].found);
  source_files_release(&files);
  unlink(path);
  write_file(path, "", 0);
  source_files_find(&files, path, 0, &number);
  assert_int_equal(files.files[number].lines, 0);
  source_files_release(&files);
  assert_int_equal(truncate(path, SOURCE_FILE_MOST + 1), 0);
  files.since_ns = 1;
  source_files_find(&files, path, 0, &number);
  assert_non_null(files.files[number].reason);
  assert_true(files.files[number].newer);
  source_files_find(&files, "", 0, &number);
  assert_null(files.files[number].found);
  source_files_release(&files);
}

static void test_all_files_are_bounded(void **state)
{
  (void)state;
  struct source_files files = {0};
  char paths[3][sizeof path + 8];
  uint32_t number;
  for (int i = 0; i < 3; i++) {
    snprintf(paths[i], sizeof paths[i], "%s%d", path, i);
    write_file(paths[i], "\n\n", 2);
    assert_int_equal(truncate(paths[i], SOURCE_FILE_MOST), 0);
    source_files_find(&files, paths[i], 2, &number);
    assert_int_equal(files.files[number].lines, i < 2 ? 3 : 0);
    assert_int_equal(source_file_fault(&files.files[number]), i < 2 ? SOURCE_SOUND : SOURCE_UNREADABLE);
  }
  for (int i = 0; i < 3; i++) {
    assert_ptr_equal(source_files_known(&files, paths[i]), &files.files[i]);
    unlink(paths[i]);
  }
  assert_null(source_files_known(&files, path));
  source_files_release(&files);
}

static void test_faults_are_told_apart(void **state)
{
  (void)state;
  struct source_file file = {.path = ""};
  assert_int_equal(source_file_fault(&file), SOURCE_SOUND);
  file.path = "a.c";
  assert_int_equal(source_file_fault(&file), SOURCE_MISSING);
  file = (struct source_file){.path = "a.c", .found = directory, .lines = 3, .last = 3};
  assert_int_equal(source_file_fault(&file), SOURCE_SOUND);
  file.namesake = true;
  assert_int_equal(source_file_fault(&file), SOURCE_NAMESAKE);
  file.newer = true;
  assert_int_equal(source_file_fault(&file), SOURCE_NEWER);
  file.last = 4;
  assert_int_equal(source_file_fault(&file), SOURCE_SHORT);
  file.reason = "";
  assert_int_equal(source_file_fault(&file), SOURCE_UNREADABLE);
}

static int make_directory(void **state)
{
  (void)state;
  if (!mkdtemp(directory))
    return -1;
  snprintf(path, sizeof path, "%s/src", directory);
  snprintf(moved, sizeof moved, "%s/moved", directory);
  if (mkdir(path, 0700))
    return -1;
  strcat(path, "/a.c");
  return 0;
}

static int remove_directory(void **state)
{
  static const char *const parts[] = {"src/a.c", "src", "moved/src", "moved/lib", "moved", ""};
  char part[160];
  (void)state;
  for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
    snprintf(part, sizeof part, "%s/%s", directory, parts[i]);
    remove(part);
  }
  return 0;
}

int main(int argc, char **argv)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(test_each_line_has_its_values, begin, end),
      cmocka_unit_test_setup_teardown(test_lines_stand_in_their_order, begin, end),
      cmocka_unit_test_setup_teardown(test_functions_come_by_weight, begin, end),
      cmocka_unit_test_setup_teardown(test_text_is_not_needed, begin, end),
      cmocka_unit_test_setup_teardown(test_too_many_lines_are_cut, begin, end),
      cmocka_unit_test_setup_teardown(test_the_heaviest_lines_are_kept, begin, end),
      cmocka_unit_test_setup_teardown(test_selectors_name_functions_files_and_lines, begin, end),
      cmocka_unit_test(test_a_file_is_found_by_the_longest_tail),
      cmocka_unit_test(test_lines_are_read_whatever_they_contain),
      cmocka_unit_test(test_all_files_are_bounded),
      cmocka_unit_test(test_faults_are_told_apart),
      cmocka_unit_test(test_only_regular_files_of_some_size_are_read),
  };
  return UNIT_RUN(argc, argv, "source_lines", tests, make_directory, remove_directory);
}
