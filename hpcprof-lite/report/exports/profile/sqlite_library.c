#include "hpcprof-lite/report/exports/profile/sqlite_library.h"

#include "hpcprof-lite/model/model.h"

#include <sqlite3.h>
#include <stdio.h>

static sqlite3 *database;
static sqlite3_stmt *insertion;
static int next;
static char failure_text[256];

static int check(int code)
{
  if (code == SQLITE_OK || code == SQLITE_DONE)
    return 0;
  if (!*failure_text)
    snprintf(failure_text, sizeof failure_text, "%s", database ? sqlite3_errmsg(database) : sqlite3_errstr(code));
  return ERR_INPUT;
}

static int library_open(const char *path)
{
  return check(
      sqlite3_open_v2(path, &database, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX, NULL));
}

static int library_execute(const char *command)
{
  return check(sqlite3_exec(database, command, NULL, NULL, NULL));
}

static int library_prepare(const char *command)
{
  sqlite3_finalize(insertion);
  insertion = NULL;
  next = 1;
  return check(sqlite3_prepare_v2(database, command, -1, &insertion, NULL));
}

static void library_number(int64_t value)
{
  sqlite3_bind_int64(insertion, next++, value);
}

static void library_real(double value)
{
  sqlite3_bind_double(insertion, next++, value);
}

static void library_text(const char *value, size_t size)
{
  sqlite3_bind_text64(insertion, next++, value, size, SQLITE_STATIC, SQLITE_UTF8);
}

static void library_null(void)
{
  sqlite3_bind_null(insertion, next++);
}

static int library_end_row(void)
{
  next = 1;
  int status = check(sqlite3_step(insertion));
  sqlite3_reset(insertion);
  return status;
}

static const char *library_failure(void)
{
  return failure_text;
}

static int library_close(void)
{
  sqlite3_finalize(insertion);
  insertion = NULL;
  int status = check(sqlite3_close(database)); /* which allows NULL */
  database = NULL;
  return status;
}

__attribute__((visibility("default"))) const struct sqlite_library sqlite_library = {
    library_open, library_execute, library_prepare, library_number,  library_real,
    library_text, library_null,    library_end_row, library_failure, library_close};
