#include "hpcprof-lite/report/exports/profile/sqlite_database.h"

#include "common/escape.h"
#include "common/order.h"
#include "common/xalloc.h"
#include "hpcprof-lite/model/row_checks.h"
#include "hpcprof-lite/report/exports/loaded_module.h"
#include "hpcprof-lite/report/exports/profile/sqlite_library.h"
#include "hpcprof-lite/report/exports/profile/tree_walk.h"
#include "hpcprof-lite/report/row_writer.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

/* Keeps why the library has failed, unless there is an earlier reason. */
static int failed(struct sqlite_database *database)
{
  assert(database->library);
  if (!*database->message)
    snprintf(database->message, sizeof database->message, "%s", database->library->failure());
  return ERR_INPUT;
}

int sqlite_database_open(struct sqlite_database *database, const char *path)
{
  static const struct loaded_module module = {SQLITE_MODULE, SQLITE_LIBRARY_SYMBOL, "SQLite", "libsqlite3-dev",
                                              "sqlite"};
  *database = (struct sqlite_database){0};
  database->library = loaded_module_open(&module, database->message, sizeof database->message);
  if (!database->library)
    return ERR_INPUT;
  /* the file gets its name when it is complete: nothing need be undone */
  if (database->library->open(path) ||
      database->library->execute(
          "PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; "
          "PRAGMA locking_mode = EXCLUSIVE; PRAGMA page_size = 16384; PRAGMA user_version = 1; BEGIN"))
    return failed(database);
  return 0;
}

int sqlite_database_close(struct sqlite_database *database)
{
  if (!database->library)
    return ERR_INPUT;
  bool complete = !*database->message && !database->library->execute("COMMIT");
  if (database->library->close() || !complete)
    return failed(database);
  return 0;
}

/* ---- creation of tables ---- */

/* The commands that create a table and insert a row into it. */
struct commands {
  char *create, *insert;
  size_t create_size, insert_size;
  FILE *create_stream, *insert_stream;
  unsigned columns;
};

static void put_name(FILE *stream, const char *name)
{
  char shown[ESCAPE_MAX];
  putc('"', stream);
  while (*name) {
    if (*name == '"')
      putc('"', stream);
    name += escape_character(name, true, shown);
    fputs(shown, stream);
  }
  putc('"', stream);
}

static void begin_table(struct commands *commands, const char *table)
{
  *commands = (struct commands){0};
  commands->create_stream = xopen_memstream(&commands->create, &commands->create_size);
  commands->insert_stream = xopen_memstream(&commands->insert, &commands->insert_size);
  fputs("CREATE TABLE ", commands->create_stream);
  put_name(commands->create_stream, table);
  fputs("INSERT INTO ", commands->insert_stream);
  put_name(commands->insert_stream, table);
  fputs(" VALUES", commands->insert_stream);
}

static void add_column(struct commands *commands, const char *name, const char *type)
{
  assert(name && type);
  fputs(commands->columns ? ", " : "(", commands->create_stream);
  put_name(commands->create_stream, name);
  fprintf(commands->create_stream, "%s%s", *type ? " " : "", type);
  fputs(commands->columns ? ",?" : "(?", commands->insert_stream);
  commands->columns++;
}

/* Creates the table and prepares the insertion. */
static int end_table(struct sqlite_database *database, struct commands *commands)
{
  fputs(")", commands->create_stream);
  fputs(")", commands->insert_stream);
  xclose(commands->create_stream, &commands->create);
  xclose(commands->insert_stream, &commands->insert);
  bool created = !database->library->execute(commands->create) && !database->library->prepare(commands->insert);
  free(commands->create);
  free(commands->insert);
  if (!created)
    return failed(database);
  return 0;
}

/* ---- cells ---- */

/* Returns whether a text can be stored as it is. */
static bool is_plain(const char *text)
{
  for (; *text; text++)
    if (*text < ' ' || *text >= 127 || *text == '\\') /* where char has no sign, too */
      return false;
  return true;
}

/* Other text is stored as in CSV.  *clean must be freed when the row is inserted. */
static void put_text(const struct sqlite_library *library, const char *text, char **clean)
{
  assert(text && !*clean);
  if (!*text) {
    library->null();
  } else if (is_plain(text)) {
    library->text(text, strlen(text));
  } else {
    size_t size;
    *clean = row_writer_escaped(text, &size);
    library->text(*clean, size);
  }
}

/* A number with as many decimals as in CSV. */
static double rounded(const struct cell *cell)
{
  char text[400];
  snprintf(text, sizeof text, "%.*f", cell->decimals, cell_value(cell));
  return strtod(text, NULL);
}

static void put_cell(const struct sqlite_library *library, const struct cell *cell, char **clean)
{
  switch (cell->kind) {
  case CELL_TEXT:
    put_text(library, cell->text, clean);
    break;
  case CELL_NUMBER:
    if (cell->decimals || cell->whole > INT64_MAX)
      library->real(cell_value(cell));
    else
      library->number((int64_t)cell->whole);
    break;
  case CELL_SIGNED:
    library->number(cell->number);
    break;
  case CELL_REAL:
  case CELL_PERCENT:
    library->real(rounded(cell));
    break;
  default:
    library->null();
  }
}

/* ---- tables ---- */

struct adding {
  struct sqlite_database *database;
  const struct table *table;
  char **clean; /* [selected column] text with escapes, of the row */
};

static int take_row(void *to, const struct cell *cells)
{
  const struct adding *adding = to;
  const struct sqlite_library *library = adding->database->library;
  for (uint32_t i = 0; i < adding->table->selected_count; i++)
    put_cell(library, &cells[adding->table->selected[i]], &adding->clean[i]);
  int status = 0;
  if (library->end_row())
    status = failed(adding->database);
  for (uint32_t i = 0; i < adding->table->selected_count; i++) {
    free(adding->clean[i]);
    adding->clean[i] = NULL;
  }
  return status;
}

/* Columns of text or numbers have no type: it would convert text that looks like a number, or numbers to text. */
static const char *type_of(enum column_type type)
{
  assert(type <= COLUMN_MIXED);
  static const char *const types[] = {[COLUMN_COUNT] = "INTEGER",  [COLUMN_ID] = "INTEGER",   [COLUMN_SECONDS] = "REAL",
                                      [COLUMN_AMOUNT] = "NUMERIC", [COLUMN_PERCENT] = "REAL", [COLUMN_RATIO] = "REAL",
                                      [COLUMN_TEXT] = "TEXT",      [COLUMN_FILE] = "TEXT",    [COLUMN_MIXED] = ""};
  return types[type];
}

/* How many selected columns before one have its name: SQLite does not distinguish names by case. */
static unsigned same_names(const struct table *table, uint32_t before)
{
  assert(before < table->selected_count);
  unsigned count = 0;
  for (uint32_t i = 0; i < before; i++)
    count +=
        !strcasecmp(table_column(table, table->selected[i])->name, table_column(table, table->selected[before])->name);
  return count;
}

static int create_table(struct sqlite_database *database, const char *name, const struct table *table)
{
  struct commands commands;
  begin_table(&commands, name);
  for (uint32_t i = 0; i < table->selected_count; i++) {
    const struct table_column *column = table_column(table, table->selected[i]);
    unsigned same = same_names(table, i);
    char numbered[256];
    snprintf(numbered, sizeof numbered, same ? "%.200s (%u)" : "%.255s", column->name, same + 1);
    add_column(&commands, numbered, type_of(column->type));
  }
  return end_table(database, &commands);
}

int sqlite_database_add(struct sqlite_database *database, const char *name, const struct table *table)
{
  assert(name);
  int status = create_table(database, name, table);
  if (status || !table->each)
    return status;
  struct adding adding = {database, table, xcalloc(table->selected_count, sizeof *adding.clean)};
  assert(check_table(table));
  status = table_each(table, take_row, &adding);
  free(adding.clean);
  return status;
}

/* ---- contexts ---- */

struct contexts_writer {
  struct sqlite_database *database;
  const struct report *report;
  struct tree_metrics metrics;
};

/* Two columns of a metric, named as in CSV. */
static void add_metric(struct commands *commands, const struct tree_metric *metric)
{
  char name[256];
  for (int exclusive = 0; exclusive < 2; exclusive++) {
    const char *suffix = exclusive ? "_excl" : "_incl";
    if (!exclusive && !strcmp(metric->name, "samples"))
      suffix = "";
    snprintf(name, sizeof name, "%.240s%s%s", metric->name, suffix, metric->is_category ? "_s" : "");
    add_column(commands, name, metric->is_time ? "REAL" : "INTEGER");
  }
}

static int create_contexts(struct contexts_writer *writer)
{
  struct commands commands;
  begin_table(&commands, "contexts");
  add_column(&commands, "id", "INTEGER PRIMARY KEY");
  add_column(&commands, "parent_id", "INTEGER");
  add_column(&commands, "depth", "INTEGER");
  for (unsigned i = 0; i < 4; i++)
    add_column(&commands, (const char *const[]){"kind", "name", "module", "file"}[i], "TEXT");
  add_column(&commands, "line", "INTEGER");
  for (uint32_t i = 0; i < writer->metrics.count; i++)
    add_metric(&commands, &writer->metrics.list[i]);
  return end_table(writer->database, &commands);
}

static void put_value(const struct sqlite_library *library, const struct tree_metric *metric, uint64_t value)
{
  if (metric->is_time)
    library->real((double)value / 1e9);
  else
    library->number((int64_t)MIN(value, (uint64_t)INT64_MAX));
}

static void enter(void *context, const struct walk_row *here)
{
  struct contexts_writer *writer = context;
  const struct sqlite_library *library = writer->database->library;
  const struct tree_row *row = here->row;
  if (here->number == writer->report->tree->count || *writer->database->message)
    return;
  library->number(row->id);
  if (here->depth)
    library->number(writer->report->tree->rows[row->parent].id);
  else
    library->null();
  library->number(row->depth);
  char *clean[4] = {NULL};
  const char *texts[4] = {tree_kind_name(row->kind), row->name, tree_walk_module(writer->report, row), row->file};
  for (unsigned i = 0; i < 4; i++)
    put_text(library, texts[i], &clean[i]);
  if (row->line)
    library->number(row->line);
  else
    library->null();
  for (uint32_t i = 0; i < writer->metrics.count; i++) {
    put_value(library, &writer->metrics.list[i], here->incl[i]);
    put_value(library, &writer->metrics.list[i], here->excl[i]);
  }
  if (library->end_row())
    failed(writer->database);
  for (unsigned i = 0; i < 4; i++)
    free(clean[i]);
}

int sqlite_database_add_contexts(struct sqlite_database *database, const struct report *report)
{
  static const struct walk_visitor visitor = {.enter = enter};
  struct contexts_writer writer = {.database = database, .report = report};
  tree_metrics_init(report, &writer.metrics);
  int status = create_contexts(&writer);
  if (status)
    return status;
  tree_walk(report, &writer.metrics, &visitor, &writer);
  return *database->message ? ERR_INPUT : 0;
}
