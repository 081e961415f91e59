#include "hpcprof-lite/report/exports/firefox_tables.h"

#include "common/xalloc.h"
#include "hpcprof-lite/report/row_writer.h"

#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* ---- what is needed ---- */

static int use(void *context, const struct timeline_interval *interval)
{
  struct firefox_writer *writer = context;
  writer->used[timeline_row(&writer->lanes, interval)] |= (uint16_t)(1 << interval->category);
  return 0;
}

/* A stack stands for a row and a category: the profiler takes the category of a sample from its stack. */
static void number_stacks(struct firefox_writer *writer)
{
  const struct timeline *timeline = writer->report->time.timeline;
  const struct tree *tree = writer->report->tree;
  for (uint32_t i = 0; i < timeline->lanes_count; i++)
    timeline->each(timeline->source, i, use, writer);
  for (uint32_t row = tree->count; row-- > 1;)
    writer->used[tree->rows[row].parent] |= writer->used[row];
  for (uint32_t row = 0; row < tree->count; row++) {
    writer->first_stack[row] = writer->stacks;
    writer->stacks += (uint32_t)__builtin_popcount(writer->used[row]);
  }
}

uint32_t firefox_stack(const struct firefox_writer *writer, uint32_t row, uint32_t category)
{
  assert(row < writer->report->tree->count && category < TIMELINE_CATEGORIES);
  return writer->first_stack[row] + (uint32_t)__builtin_popcount(writer->used[row] & ((1u << category) - 1));
}

static bool same_function(const struct tree_row *a, const struct tree_row *b)
{
  if (a->function != MODEL_NONE || b->function != MODEL_NONE)
    return a->function == b->function;
  return a->kind == b->kind && a->line == b->line && !strcmp(a->name, b->name) && !strcmp(a->file, b->file);
}

/* Rows of one function, or of one construct, are one function of the profile. */
static void number_function(struct firefox_writer *writer, uint32_t number)
{
  assert(number < writer->report->tree->count);
  const struct tree_row *rows = writer->report->tree->rows, *row = &rows[number];
  uint32_t name = string_table_add(&writer->strings, row->name), file = string_table_add(&writer->strings, row->file);
  uint64_t key = hash_map_key(1, row->function);
  if (row->function == MODEL_NONE)
    key = hash_map_key(hash_map_key(hash_map_key(row->kind + 2, name), file), row->line);
  uint32_t found = HASH_MAP_FIND(&writer->function_map, key, i, same_function(&rows[writer->functions[i - 1]], row));
  if (!found) {
    found = ++writer->functions_count;
    writer->functions[found - 1] = number;
    writer->files[found - 1] = file;
    writer->sources[found - 1] = *row->file ? writer->sources_count++ : MODEL_NONE;
    hash_map_add(&writer->function_map, key, found);
  }
  writer->function_of[number] = found - 1;
}

static void name_construct(struct firefox_writer *writer, uint32_t number)
{
  assert(number < writer->lanes.entries);
  const struct construct_entry *entry = &writer->report->constructs->entries[number];
  struct firefox_construct *strings = &writer->constructs[number];
  char name[TIMELINE_TEXT_MAX];
  timeline_construct_name(entry, name);
  strings->label = xstrdup(name);
  strings->name = string_table_add(&writer->strings, strings->label);
  strings->kind = string_table_add(&writer->strings, profile_directive_name(entry->kind));
  strings->function = string_table_add(&writer->strings, entry->name);
  strings->file = string_table_add(&writer->strings, entry->file);
}

/* The names of marks, user phases and counters. */
static void number_names(struct firefox_writer *writer)
{
  const struct report *report = writer->report;
  for (uint32_t i = 0; report->time.marks && i < report->time.marks->count; i++)
    string_table_add(&writer->strings, report->time.marks->marks[i].name);
  for (uint32_t i = 0; i < report->profile->processes_usable; i++) {
    const struct profile_marks *marks = &report->profile->processes[i].marks;
    for (uint32_t k = 0; k < marks->counts_count; k++)
      string_table_add(&writer->strings, marks->text + marks->counts[k].name);
  }
}

static void name_row(struct firefox_writer *writer, uint32_t row)
{
  assert(row < writer->report->tree->count);
  const struct tree *tree = writer->report->tree;
  const char *own = tree->rows[row].name;
  char name[TIMELINE_TEXT_MAX];
  timeline_row_name(tree, row, name);
  writer->labels[row] = strcmp(name, own) ? xstrdup(name) : NULL;
  writer->row_names[row] = string_table_add(&writer->strings, writer->labels[row] ? writer->labels[row] : own);
}

void firefox_prepare(struct firefox_writer *writer)
{
  const struct report *report = writer->report;
  timeline_lanes_init(report, &writer->lanes);
  uint32_t rows = report->tree->count, modules = report->profile->catalog.modules_count;
  writer->constructs = xcalloc(writer->lanes.entries, sizeof *writer->constructs);
  writer->modules = xcalloc(modules, sizeof *writer->modules);
  writer->row_names = xcalloc(rows, sizeof *writer->row_names);
  writer->labels = xcalloc(rows, sizeof *writer->labels);
  writer->function_of = xcalloc(rows, sizeof *writer->function_of);
  writer->functions = xcalloc(rows, sizeof *writer->functions);
  writer->files = xcalloc(rows, sizeof *writer->files);
  writer->sources = xcalloc(rows, sizeof *writer->sources);
  writer->used = xcalloc(rows, sizeof *writer->used);
  writer->first_stack = xcalloc(rows, sizeof *writer->first_stack);
  for (unsigned i = 0; i < TIMELINE_CATEGORIES; i++)
    writer->category_names[i] = string_table_add(&writer->strings, timeline_category_name((enum timeline_category)i));
  for (uint32_t i = 1; writer->report->time.mpi && i < MPI_FUNCTIONS; i++)
    writer->mpi_names[i] = string_table_add(&writer->strings, mpi_function_name((enum mpi_function)i));
  catalog_module_rank(&report->profile->catalog, writer->modules);
  number_names(writer);
  for (uint32_t row = 0; row < rows; row++) {
    number_function(writer, row);
    name_row(writer, row);
  }
  for (uint32_t i = 0; i < writer->lanes.entries; i++)
    name_construct(writer, i);
  number_stacks(writer);
}

void firefox_release(struct firefox_writer *writer)
{
  for (uint32_t i = 0; i < writer->lanes.entries; i++)
    free(writer->constructs[i].label);
  for (uint32_t i = 0; i < writer->report->tree->count; i++)
    free(writer->labels[i]);
  free(writer->constructs);
  free(writer->row_names);
  free(writer->labels);
  free(writer->modules);
  free(writer->function_of);
  free(writer->functions);
  free(writer->files);
  free(writer->sources);
  free(writer->used);
  free(writer->first_stack);
  hash_map_release(&writer->function_map);
  string_table_release(&writer->strings);
  timeline_lanes_release(&writer->lanes);
}

/* ---- shared tables ---- */

/* Begins a cell of a column. */
FILE *firefox_cell(struct firefox_writer *writer)
{
  if (writer->cells++)
    putc_unlocked(',', writer->stream);
  return writer->stream;
}

void firefox_number(struct firefox_writer *writer, uint64_t value)
{
  row_writer_number(firefox_cell(writer), value, 0);
}

void firefox_time(struct firefox_writer *writer, uint64_t ns)
{
  row_writer_number(firefox_cell(writer), ns, 6);
}

/* A number, or null if it is MODEL_NONE. */
void firefox_optional(struct firefox_writer *writer, uint32_t value)
{
  if (value == MODEL_NONE)
    fputs_unlocked("null", firefox_cell(writer));
  else
    firefox_number(writer, value);
}

void firefox_open_column(struct firefox_writer *writer, const char *name)
{
  fprintf(writer->stream, "\"%s\":[", name);
  writer->cells = 0;
}

void firefox_close_column(struct firefox_writer *writer)
{
  fputs("],\n", writer->stream);
}

/* A column with the same text in all cells. */
static void constant_column(struct firefox_writer *writer, const char *name, const char *text, uint32_t count)
{
  firefox_open_column(writer, name);
  for (uint32_t i = 0; i < count; i++)
    fputs_unlocked(text, firefox_cell(writer));
  firefox_close_column(writer);
}

/* A column with a cell for each stack; frames have the same numbers. */
static void stack_column(struct firefox_writer *writer, const char *name,
                         void (*put)(struct firefox_writer *writer, uint32_t row, uint32_t category))
{
  firefox_open_column(writer, name);
  for (uint32_t row = 0; row < writer->report->tree->count; row++)
    for (uint32_t category = 0; category < TIMELINE_CATEGORIES; category++)
      if (writer->used[row] >> category & 1)
        put(writer, row, category);
  firefox_close_column(writer);
}

static void put_number(struct firefox_writer *writer, uint32_t row, uint32_t category)
{
  firefox_number(writer, firefox_stack(writer, row, category));
}

static void put_prefix(struct firefox_writer *writer, uint32_t row, uint32_t category)
{
  firefox_optional(writer, row ? firefox_stack(writer, writer->report->tree->rows[row].parent, category) : MODEL_NONE);
}

static void put_category(struct firefox_writer *writer, uint32_t row, uint32_t category)
{
  (void)row;
  firefox_number(writer, category + 1);
}

static void put_function(struct firefox_writer *writer, uint32_t row, uint32_t category)
{
  (void)category;
  firefox_number(writer, writer->function_of[row]);
}

static void put_line(struct firefox_writer *writer, uint32_t row, uint32_t category)
{
  uint32_t line = writer->report->tree->rows[row].line;
  (void)category;
  firefox_optional(writer, line ? line : MODEL_NONE);
}

static void write_stacks(struct firefox_writer *writer)
{
  fputs("\"stackTable\":{", writer->stream);
  stack_column(writer, "frame", put_number);
  stack_column(writer, "prefix", put_prefix);
  fprintf(writer->stream, "\"length\":%" PRIu32 "},\n\"frameTable\":{", writer->stacks);
  constant_column(writer, "address", "-1", writer->stacks);
  constant_column(writer, "inlineDepth", "0", writer->stacks);
  stack_column(writer, "category", put_category);
  constant_column(writer, "subcategory", "0", writer->stacks);
  stack_column(writer, "func", put_function);
  constant_column(writer, "nativeSymbol", "null", writer->stacks);
  constant_column(writer, "innerWindowID", "0", writer->stacks);
  stack_column(writer, "line", put_line);
  constant_column(writer, "column", "null", writer->stacks);
  fprintf(writer->stream, "\"length\":%" PRIu32 "},\n", writer->stacks);
}

static void write_functions(struct firefox_writer *writer)
{
  const struct tree_row *rows = writer->report->tree->rows;
  uint32_t count = writer->functions_count, modules = writer->report->profile->catalog.modules_count;
  fputs("\"funcTable\":{", writer->stream);
  firefox_open_column(writer, "name");
  for (uint32_t i = 0; i < count; i++)
    firefox_number(writer, string_table_add(&writer->strings, rows[writer->functions[i]].name));
  firefox_close_column(writer);
  constant_column(writer, "isJS", "false", count);
  constant_column(writer, "relevantForJS", "false", count);
  firefox_open_column(writer, "resource");
  for (uint32_t i = 0; i < count; i++) {
    uint32_t module = rows[writer->functions[i]].module;
    fprintf(firefox_cell(writer), "%" PRId64, module < modules ? (int64_t)writer->modules[module] : -1);
  }
  firefox_close_column(writer);
  firefox_open_column(writer, "source");
  for (uint32_t i = 0; i < count; i++)
    firefox_optional(writer, writer->sources[i]);
  firefox_close_column(writer);
  firefox_open_column(writer, "lineNumber");
  for (uint32_t i = 0; i < count; i++)
    firefox_optional(writer, rows[writer->functions[i]].line ? rows[writer->functions[i]].line : MODEL_NONE);
  firefox_close_column(writer);
  constant_column(writer, "columnNumber", "null", count);
  fprintf(writer->stream, "\"length\":%" PRIu32 "},\n", count);
}

static void write_places(struct firefox_writer *writer)
{
  const struct catalog *catalog = &writer->report->profile->catalog;
  uint32_t modules = catalog->modules_count, *names = xcalloc(modules, sizeof *names); /* [rank] */
  for (uint32_t i = 0; i < modules; i++)
    names[writer->modules[i]] = string_table_add(&writer->strings, catalog->modules[i].name);
  fputs("\"resourceTable\":{", writer->stream);
  constant_column(writer, "lib", "null", modules);
  firefox_open_column(writer, "name");
  for (uint32_t i = 0; i < modules; i++)
    firefox_number(writer, names[i]);
  firefox_close_column(writer);
  free(names);
  constant_column(writer, "host", "null", modules);
  constant_column(writer, "type", "1", modules); /* a library */
  fprintf(writer->stream, "\"length\":%" PRIu32 "},\n\"sources\":{", modules);
  constant_column(writer, "id", "null", writer->sources_count);
  firefox_open_column(writer, "filename");
  for (uint32_t i = 0; i < writer->functions_count; i++)
    if (writer->sources[i] != MODEL_NONE)
      firefox_number(writer, writer->files[i]);
  firefox_close_column(writer);
  fprintf(writer->stream, "\"length\":%" PRIu32 "},\n", writer->sources_count);
  fputs("\"nativeSymbols\":{\"libIndex\":[],\"address\":[],\"name\":[],\"functionSize\":[],\"length\":0},\n",
        writer->stream);
}

void firefox_write_tables(struct firefox_writer *writer)
{
  fputs("\"shared\":{", writer->stream);
  write_stacks(writer);
  write_functions(writer);
  write_places(writer);
  firefox_open_column(writer, "stringArray");
  for (uint32_t i = 0; i < writer->strings.count; i++)
    row_writer_json_string(firefox_cell(writer), writer->strings.texts[i]);
  fputs("]},\n", writer->stream);
}
