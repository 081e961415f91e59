#include "hpcprof-lite/report/exports/profile/sqlite_database.h"

#include "common/array.h"
#include "common/escape.h"
#include "hpcprof-lite/report/exports/loaded_module.h"
#include "hpcprof-lite/report/exports/profile/sqlite_library.h"
#include "hpcprof-lite/report/exports/profile/tree_walk.h"
#include "hpcprof-lite/report/row_writer.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Keeps why the library has failed, unless there is an earlier reason. */
static int failed(struct sqlite_database *database)
{
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
  return database->library->open(path) ||
                 database->library->execute(
                     "PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; "
                     "PRAGMA locking_mode = EXCLUSIVE; PRAGMA page_size = 16384; PRAGMA user_version = 1; BEGIN")
             ? failed(database)
             : 0;
}

int sqlite_database_close(struct sqlite_database *database)
{
  if (!database->library)
    return ERR_INPUT;
  bool complete = !*database->message && !database->library->execute("COMMIT");
  return database->library->close() || !complete ? failed(database) : 0;
}

/* ---- creation of tables ---- */

/* The commands that create a table and insert a row into it. */
struct commands {
  char *create, *insert;
  size_t create_size, insert_size;
  FILE *create_stream, *insert_stream;
  unsigned columns;
};

/* A name from CSV has its escapes already. */
static void put_name(FILE *stream, const char *name)
{
  char shown[ESCAPE_MAX];
  putc('"', stream);
  while (*name) {
    if (*name == '"')
      putc('"', stream);
    name += escape_character(name, false, shown);
    fputs(shown, stream);
  }
  putc('"', stream);
}

static int begin_table(struct commands *commands, const char *table)
{
  *commands = (struct commands){0};
  commands->create_stream = open_memstream(&commands->create, &commands->create_size);
  commands->insert_stream = open_memstream(&commands->insert, &commands->insert_size);
  if (!commands->create_stream || !commands->insert_stream)
    return ERR_NOMEM;
  fputs("CREATE TABLE ", commands->create_stream);
  put_name(commands->create_stream, table);
  fputs("INSERT INTO ", commands->insert_stream);
  put_name(commands->insert_stream, table);
  fputs(" VALUES", commands->insert_stream);
  return 0;
}

static void add_column(struct commands *commands, const char *name, const char *type)
{
  fputs(commands->columns ? ", " : "(", commands->create_stream);
  put_name(commands->create_stream, name);
  fprintf(commands->create_stream, "%s%s", *type ? " " : "", type);
  fputs(commands->columns ? ",?" : "(?", commands->insert_stream);
  commands->columns++;
}

/* Creates the table and prepares the insertion. */
static int end_table(struct sqlite_database *database, struct commands *commands)
{
  int status = commands->create_stream && commands->insert_stream ? 0 : ERR_NOMEM;
  if (!status) {
    fputs(")", commands->create_stream);
    fputs(")", commands->insert_stream);
  }
  if (commands->create_stream && fclose(commands->create_stream))
    status = ERR_NOMEM;
  if (commands->insert_stream && fclose(commands->insert_stream))
    status = ERR_NOMEM;
  if (!status && (database->library->execute(commands->create) || database->library->prepare(commands->insert)))
    status = failed(database);
  free(commands->create);
  free(commands->insert);
  return status;
}

/* ---- CSV ---- */

/* What the cells of a column are, as bits: those that are empty and no text tell nothing. */
enum { KIND_NUMBER = 1, KIND_TEXT = 2 };

struct csv_cell {
  size_t start; /* in the row's text */
  int kind;
};

/* A row of CSV: its cells, each with a NUL, one after another. */
struct csv_row {
  char *text;
  size_t size, room;
  struct csv_cell *cells;
  size_t cells_room;
  uint32_t count;
};

static bool put_character(struct csv_row *row, char character)
{
  if (!array_reserve(&row->text, &row->room, row->size + 1, 1))
    return false;
  row->text[row->size++] = character;
  return true;
}

static bool begin_cell(struct csv_row *row)
{
  if (!array_reserve(&row->cells, &row->cells_room, (size_t)row->count + 1, sizeof *row->cells))
    return false;
  row->cells[row->count++] = (struct csv_cell){.start = row->size};
  return true;
}

/* Reads a row in which all text is quoted.  Returns 0, or ERR_NOMEM; there are no cells at the end. */
static int read_row(FILE *csv, struct csv_row *row)
{
  bool quoted = false, ended = false, fits = true; /* ended: by the last character */
  row->size = row->count = 0;
  for (int c = getc_unlocked(csv); c != EOF && fits; c = getc_unlocked(csv)) {
    fits = row->count || begin_cell(row);
    bool doubled = c == '"' && ended;
    ended = c == '"' && quoted;
    if (c == '"')
      quoted = !quoted;
    if (c == '\n' && !quoted)
      return fits && put_character(row, '\0') ? 0 : ERR_NOMEM;
    if (c == ',' && !quoted)
      fits = fits && put_character(row, '\0') && begin_cell(row);
    else if (fits)
      row->cells[row->count - 1].kind |= c == '"' ? KIND_TEXT : quoted ? 0 : KIND_NUMBER;
    if (fits && (doubled || (c != '"' && (c != ',' || quoted))))
      fits = put_character(row, (char)c);
  }
  row->count = 0; /* what a writer that failed has left */
  return fits ? 0 : ERR_NOMEM;
}

static void put_cell(const struct sqlite_library *library, const char *text, int kind)
{
  char *end;
  errno = 0;
  long long whole = strtoll(text, &end, 10);
  if (!*text)
    library->null();
  else if (kind & KIND_TEXT)
    library->text(text, strlen(text));
  else if (!*end && !errno)
    library->number(whole);
  else
    library->real(strtod(text, NULL));
}

static int add_rows(struct sqlite_database *database, FILE *csv, uint32_t columns)
{
  struct csv_row row = {0};
  int status = read_row(csv, &row); /* the header */
  status = status ? status : read_row(csv, &row);
  while (!status && row.count) {
    for (uint32_t i = 0; i < columns; i++)
      if (i < row.count)
        put_cell(database->library, row.text + row.cells[i].start, row.cells[i].kind);
      else
        database->library->null();
    status = database->library->end_row() ? failed(database) : read_row(csv, &row);
  }
  free(row.text);
  free(row.cells);
  return status;
}

/* Adds to the kinds of the columns those of the rows that follow. */
static int read_kinds(FILE *csv, int *kinds, uint32_t columns)
{
  struct csv_row row = {0};
  int status;
  while (!(status = read_row(csv, &row)) && row.count)
    for (uint32_t i = 0; i < columns && i < row.count; i++)
      kinds[i] |= row.cells[i].kind;
  free(row.text);
  free(row.cells);
  return status;
}

/* Columns with both kinds of cells have no type: it would convert text that looks like a number, or numbers to text. */
static int create_table(struct sqlite_database *database, const char *table, const struct csv_row *header,
                        const int *kinds)
{
  static const char *const types[] = {"NUMERIC", "NUMERIC", "TEXT", ""};
  struct commands commands;
  int status = begin_table(&commands, table);
  for (uint32_t i = 0; i < header->count && !status; i++)
    add_column(&commands, header->text + header->cells[i].start, types[kinds[i]]);
  int ended = end_table(database, &commands);
  return status ? status : ended;
}

int sqlite_database_add_csv(struct sqlite_database *database, const char *table, FILE *csv)
{
  struct csv_row header = {0};
  int status = read_row(csv, &header);
  uint32_t columns = header.count;
  if (!status && columns) {
    int *kinds = calloc(columns, sizeof *kinds);
    status = kinds ? read_kinds(csv, kinds, columns) : ERR_NOMEM;
    status = status ? status : create_table(database, table, &header, kinds);
    rewind(csv);
    status = status ? status : add_rows(database, csv, columns);
    free(kinds);
  }
  free(header.text);
  free(header.cells);
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
    const char *suffix = exclusive ? "_excl" : strcmp(metric->name, "samples") ? "_incl" : "";
    snprintf(name, sizeof name, "%.240s%s%s", metric->name, suffix, metric->is_category ? "_s" : "");
    add_column(commands, name, metric->is_time ? "REAL" : "INTEGER");
  }
}

static int create_contexts(struct contexts_writer *writer)
{
  struct commands commands;
  int status = begin_table(&commands, "contexts");
  if (!status) {
    add_column(&commands, "id", "INTEGER PRIMARY KEY");
    add_column(&commands, "parent_id", "INTEGER");
    add_column(&commands, "depth", "INTEGER");
    for (unsigned i = 0; i < 4; i++)
      add_column(&commands, (const char *const[]){"kind", "name", "module", "file"}[i], "TEXT");
    add_column(&commands, "line", "INTEGER");
    for (uint32_t i = 0; i < writer->metrics.count; i++)
      add_metric(&commands, &writer->metrics.list[i]);
  }
  int ended = end_table(writer->database, &commands);
  return status ? status : ended;
}

/* Returns whether a text can be stored as it is. */
static bool is_plain(const char *text)
{
  for (; *text; text++)
    if (*text < ' ' || *text == 127 || *text == '\\')
      return false;
  return true;
}

/* Other text is stored as in CSV.  *clean must be freed when the row is inserted. */
static bool put_text(struct contexts_writer *writer, const char *text, char **clean)
{
  const struct sqlite_library *library = writer->database->library;
  size_t size = 0;
  if (!*text) {
    library->null();
    return true;
  }
  if (is_plain(text)) {
    library->text(text, strlen(text));
    return true;
  }
  FILE *stream = open_memstream(clean, &size);
  while (stream && *text)
    text = row_writer_character(stream, text);
  if (!stream || fclose(stream) || !*clean)
    return false;
  library->text(*clean, size);
  return true;
}

static void put_value(const struct sqlite_library *library, const struct tree_metric *metric, uint64_t value)
{
  if (metric->is_time)
    library->real((double)value / 1e9);
  else
    library->number(value < INT64_MAX ? (int64_t)value : INT64_MAX);
}

static int enter(void *context, const struct walk_row *here)
{
  struct contexts_writer *writer = context;
  const struct sqlite_library *library = writer->database->library;
  const struct tree_row *row = here->row;
  const struct catalog_module *modules = writer->report->profile->catalog.modules;
  if (here->number == writer->report->tree->count)
    return 0;
  library->number(row->id);
  if (here->depth)
    library->number(writer->report->tree->rows[row->parent].id);
  else
    library->null();
  library->number(row->depth);
  char *clean[4] = {NULL};
  const char *texts[4] = {tree_kind_name(row->kind), row->name,
                          row->module == MODEL_NONE ? "" : modules[row->module].path, row->file};
  bool fits = true;
  for (unsigned i = 0; i < 4; i++)
    fits &= put_text(writer, texts[i], &clean[i]);
  if (row->line)
    library->number(row->line);
  else
    library->null();
  for (uint32_t i = 0; i < writer->metrics.count; i++) {
    put_value(library, &writer->metrics.list[i], here->incl[i]);
    put_value(library, &writer->metrics.list[i], here->excl[i]);
  }
  int status = !fits ? ERR_NOMEM : library->end_row() ? failed(writer->database) : 0;
  for (unsigned i = 0; i < 4; i++)
    free(clean[i]);
  return status;
}

int sqlite_database_add_contexts(struct sqlite_database *database, const struct report *report)
{
  static const struct walk_visitor visitor = {.enter = enter};
  struct contexts_writer writer = {.database = database, .report = report};
  tree_metrics_init(report, &writer.metrics);
  int status = create_contexts(&writer);
  return status ? status : tree_walk(report, &writer.metrics, &visitor, &writer);
}
