/* Tables: what the columns of a view are called, what they hold, and what its rows have in them.
 *
 * Context: BATCH.  Pure.  A view describes its table once; CSV, JSON, the page, the database, text, --sort, --metric,
 * --columns, completions and the manual are made from that description.  Columns and contexts belong to the caller or,
 * where they depend on the run, to the table.  Rows come from a source, one at a time: they need not be stored.
 */
#ifndef HPCPROF_LITE_MODEL_TABLE_H
#define HPCPROF_LITE_MODEL_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What a column holds.  Numbers are sorted in descending order, text and numbers that name something in ascending
 * order, rows without such a number last.  This is also the type of the column in a database; it does not depend on the
 * run.
 */
enum column_type {
  COLUMN_COUNT,
  COLUMN_ID, /* a whole number that names something */
  COLUMN_SECONDS,
  COLUMN_AMOUNT, /* work: seconds, or a count of the unit of the run */
  COLUMN_PERCENT,
  COLUMN_RATIO, /* any other real number */
  COLUMN_TEXT,
  COLUMN_FILE, /* text; by it and by the column after it, the line, rows are sorted by file and line */
  COLUMN_MIXED /* text or numbers */
};

/* How text reports print a cell. */
enum column_form {
  FORM_PLAIN,         /* as in CSV */
  FORM_COUNT,         /* terminal_count(), 8 columns */
  FORM_WHOLE_COUNT,   /* terminal_whole_count(), 6 columns */
  FORM_SHORT_COUNT,   /* terminal_short_count(), 4 columns */
  FORM_SECONDS,       /* terminal_seconds() with the decimals of the table, 8 columns; of counts, as FORM_COUNT */
  FORM_BRIEF_SECONDS, /* the same in 6 columns */
  FORM_SHORT_SECONDS, /* in 6 columns, each with decimals of its own */
  FORM_SHORT_TIME,    /* with its unit, 7 columns; of counts, as FORM_COUNT */
  FORM_PERCENT,       /* terminal_percent(), 5 columns */
  FORM_SHARE,         /* the same, and a dot for 0 */
  FORM_SIGNED_SHARE,  /* terminal_percent() with the sign %, 8 columns */
  FORM_RATIO,         /* two decimals, 8 columns */
  FORM_DIGITS,        /* five significant digits */
  FORM_FACTOR,        /* six, of numbers that are mostly whole */
  FORM_REST,          /* text that takes the rest of the line; of the last column */
  FORM_CUT,           /* the same; text that is too long is cut at its end */
  FORM_BELOW          /* the same, but text that is too long gets lines of its own */
};

struct table_column {
  const char *name;    /* in CSV, JSON, databases, and in options */
  const char *heading; /* in text; NULL: the name */
  enum column_type type;
  enum column_form form;
  uint8_t width;    /* in text, with the spaces before it; 0: as wide as the heading and any number need */
  uint8_t wide;     /* of a terminal on which text shows it unless --columns names it */
  bool text_only;   /* not in other formats unless --columns names it */
  bool passing;     /* its text is lost when the next row is filled */
  bool marked;      /* text has room for a mark behind the figure, in its width */
  uint8_t shown;    /* in text unless --columns names others: these columns come in ascending order, equal ones as they
                       are declared; 0: not */
  const char *help; /* what it holds, for the manual and the page: a phrase, perhaps with sentences behind it;
                       without the last full stop */
};

/* Whether all cells of a column are text, or empty. */
static inline bool table_is_text(const struct table_column *column)
{
  return column->type == COLUMN_TEXT || column->type == COLUMN_FILE;
}

enum cell_kind {
  CELL_EMPTY,
  CELL_NUMBER,  /* whole / 10^decimals */
  CELL_SIGNED,  /* the same of a number that may be negative */
  CELL_REAL,    /* with that many decimals */
  CELL_PERCENT, /* whole of `of`, with 4 decimals */
  CELL_TEXT,
  CELL_PARTIAL, /* empty, but a number in text: what is known of it */
  CELL_UNKNOWN, /* empty, but a hyphen in text */
  CELL_NONE     /* empty, but a dot in text: what does not apply */
};

struct cell {
  enum cell_kind kind;
  uint8_t decimals;
  bool by_number; /* of text: rows are sorted by `whole`, in ascending order */
  char mark;      /* behind the figure, in a column with room for it; 0: none */
  union {
    uint64_t whole;
    int64_t number;
    double real;
    const char *brief; /* of a text, unless by_number: a shorter one for narrow lines; NULL: there is none */
  };
  union {
    uint64_t of;
    const char *text;
  };
};

static inline struct cell cell_empty(void)
{
  return (struct cell){.kind = CELL_EMPTY};
}

static inline struct cell cell_count(uint64_t value)
{
  return (struct cell){.kind = CELL_NUMBER, .whole = value};
}

/* Empty unless known. */
static inline struct cell cell_optional(bool known, uint64_t value)
{
  return (struct cell){.kind = known ? CELL_NUMBER : CELL_EMPTY, .whole = value};
}

static inline struct cell cell_signed(int64_t value)
{
  return (struct cell){.kind = CELL_SIGNED, .number = value};
}

static inline struct cell cell_ns(uint64_t ns)
{
  return (struct cell){.kind = CELL_NUMBER, .decimals = 9, .whole = ns};
}

static inline struct cell cell_optional_ns(bool known, uint64_t ns)
{
  return (struct cell){.kind = known ? CELL_NUMBER : CELL_EMPTY, .decimals = 9, .whole = ns};
}

/* Work in the unit of the run: time, or a count. */
static inline struct cell cell_amount(uint64_t amount, bool is_time)
{
  return (struct cell){.kind = CELL_NUMBER, .decimals = is_time ? 9 : 0, .whole = amount};
}

static inline struct cell cell_real(double value, uint8_t decimals)
{
  return (struct cell){.kind = CELL_REAL, .decimals = decimals, .real = value};
}

static inline struct cell cell_optional_real(bool known, double value, uint8_t decimals)
{
  return (struct cell){.kind = known ? CELL_REAL : CELL_EMPTY, .decimals = decimals, .real = known ? value : 0};
}

/* 0 where the whole is 0 */
static inline struct cell cell_percent(uint64_t part, uint64_t whole)
{
  return (struct cell){.kind = CELL_PERCENT, .decimals = 4, .whole = part, .of = whole};
}

/* NULL or "": empty.  The text must stay until the row has been taken. */
static inline struct cell cell_text(const char *text)
{
  return (struct cell){.kind = text && *text ? CELL_TEXT : CELL_EMPTY, .text = text};
}

/* Text that stands for a number, by which rows are sorted. */
static inline struct cell cell_label(const char *text, uint64_t number)
{
  return (struct cell){.kind = CELL_TEXT, .by_number = true, .whole = number, .text = text};
}

/* A place in the program: "for @ solve.c:42 (solve)", and the same without the function. */
static inline struct cell cell_place(const char *text, const char *brief)
{
  return (struct cell){.kind = CELL_TEXT, .brief = brief, .text = text};
}

/* A hyphen in text unless known, else empty. */
static inline struct cell cell_known(bool known, struct cell cell)
{
  return known ? cell : (struct cell){.kind = CELL_UNKNOWN};
}

/* A dot in text, and empty elsewhere, unless it applies. */
static inline struct cell cell_applies(bool applies, struct cell cell)
{
  return applies ? cell : (struct cell){.kind = CELL_NONE};
}

/* A number that is only in text unless it is whole. */
static inline struct cell cell_whole(bool whole, struct cell cell)
{
  if (!whole)
    cell.kind = CELL_PARTIAL;
  return cell;
}

/* The value of a cell with a number, in the unit of its column; 0 of any other. */
double cell_value(const struct cell *cell);

/* Fills the cells of a row, one for each column of the part. */
typedef void table_fill(const void *context, const void *row, struct cell *cells);

/* Takes a row of the source.  Returns 0, or an error that ends the table. */
typedef int table_take(void *to, const void *row);

/* Some columns, and what fills them. */
struct schema {
  const struct table_column *columns;
  uint32_t count;
  table_fill *fill;
};

/* Columns, COLUMN(name, type, value, help, ...), as what fills them and as their descriptions: the lines of a file, or
 * of a macro with the parameter COLUMN.
 * `value` is a struct cell made from what the function that fills them has; after `help`, further members of struct
 * column may be set. */
#define COLUMN_CELL(name, type, value, ...) *cell++ = (value);
#define COLUMN_ENTRY(name_, type_, value, ...) {.name = name_, .type = COLUMN_##type_, .help = __VA_ARGS__},
#define SCHEMA(columns, fill)                                                                                          \
  {                                                                                                                    \
    columns, sizeof(columns) / sizeof *(columns), fill                                                                 \
  }

/* A table has the columns of all its parts, in their order. */
struct table_part {
  const struct table_column *columns;
  uint32_t count;
  table_fill *fill;
  const void *context;
  bool used; /* a column of it is selected */
};

enum { TABLE_PARTS_MAX = 6 };

struct table {
  struct table_part parts[TABLE_PARTS_MAX];
  uint32_t parts_count, columns_count;
  int (*each)(const void *source, table_take *take, void *to); /* gives all rows to `take`, in order */
  const void *source;
  const char
      *hidden;       /* names, separated by spaces, of columns that text would show if the run had such figures; NULL */
  const char *spare; /* columns that text omits, in this order, as long as the last one has too little room; NULL */
  uint8_t rest_least; /* the room that it needs, in a line of 80 columns */
  uint32_t *selected; /* numbers of the columns that formats other than text show, in order */
  uint32_t selected_count;
  const char *name;      /* of a further table: of its array */
  struct table *further; /* in JSON, the table after this one; NULL: there is none */
  void **owned;
  size_t owned_count, owned_room;
};

/* Adds a part.  Its columns must live as long as the table. */
void table_add(struct table *table, const struct schema *schema, const void *context);

/* Memory that lives as long as the table, filled with zeros. */
void *table_memory(struct table *table, size_t size);

/* Frees memory together with the table.  Returns it. */
void *table_own(struct table *table, void *memory);

/* A name that lives as long as the table. */
const char *table_name(struct table *table, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Adds an empty table behind this one, with which it is released: a further array of the JSON. */
struct table *table_further(struct table *table, const char *name);

void table_release(struct table *table);

const struct table_column *table_column(const struct table *table, uint32_t number);

/* Selects columns, which may be some of those that are selected, instead of all but those that are in text only. */
void table_select(struct table *table, const uint32_t *columns, uint32_t count);

/* Sets numbers[] to the columns that text shows, in order.  Returns how many these are. */
uint32_t table_shown(const struct table *table, uint32_t *numbers);

/* Whether a name is one of several that are separated by spaces; names: NULL if there are none. */
bool table_names(const char *names, const char *name);

/* The number of the column with exactly that name, or MODEL_NONE. */
uint32_t table_number(const struct table *table, const char *name);

/* Fills the cells of a row, as many as the table has columns; those of parts without a selected column stay as they
 * are. */
void table_cells(const struct table *table, const void *row, struct cell *cells);

/* Gives the cells of all rows to `take`; those of parts without a selected column are empty.  Returns 0, or
 * what `take` or the source returned. */
int table_each(const struct table *table, int (*take)(void *to, const struct cell *cells), void *to);

/* Sorts rows of that size by a column; rows that are equal in it keep their order. */
void table_sort(const struct table *table, uint32_t column, void *rows, size_t count, size_t size);

/* What rows are sorted by: of row I the cell I of a column.  Text in it must last as long, unless the column is
 * passing. */
struct table_keys {
  enum column_type type;
  struct cell *cells, *lines; /* lines: of files */
  size_t copies;              /* of text that passes */
};

/* Gets the keys of rows that lie one after another. */
void table_keys_init(struct table_keys *keys, const struct table *table, uint32_t column, const void *rows,
                     size_t count, size_t size);
int table_keys_compare(const struct table_keys *keys, size_t a, size_t b);
void table_keys_release(struct table_keys *keys);

#endif
