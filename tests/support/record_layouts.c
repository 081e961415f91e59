/* Prints what common/format.h and common/graphlog.h describe, as JSON: the records with the offset, type and length of
 * each field (length 0: no array), the tables, and the operations of the graph log with their numbers of operands.
 * tests/support/measurement_file.py reads it. */
#include "common/format.h"
#include "common/graphlog.h"

#include <stdio.h>

static const char *separator;

static void put_field(const char *name, size_t offset, const char *type, size_t length)
{
  printf("%s\n    [\"%s\", %zu, \"%s\", %zu]", separator, name, offset, type, length);
  separator = ",";
}

/* The lists of fields name the structure by this. */
#define FIELD(type, name) put_field(#name, offsetof(struct record, name), #type, 0);
#define ARRAY(type, name, length) put_field(#name, offsetof(struct record, name), #type, length);
#define RECORD(structure, fields)                                                                                      \
  {                                                                                                                    \
    struct record {                                                                                                    \
      fields(FORMAT_FIELD, FORMAT_ARRAY)                                                                               \
    };                                                                                                                 \
    _Static_assert(sizeof(struct record) == sizeof(struct structure), "the list is that of the structure");            \
    printf("%s\n  \"%s\": {\"size\": %zu, \"fields\": [", next, #structure, sizeof(struct structure));                 \
    separator = "";                                                                                                    \
    fields(FIELD, ARRAY);                                                                                              \
    printf("]}");                                                                                                      \
    next = ",";                                                                                                        \
  }
#define TABLE(enumerator, name, type)                                                                                  \
  printf("%s\n  \"%s\": [%d, \"%s\", %zu]", next, name, FORMAT_##enumerator, #type, sizeof(type));                     \
  next = ",";
#define OPERATION(enumerator, operands)                                                                                \
  printf("%s\n  [\"%s\", %d]", next, #enumerator, operands);                                                           \
  next = ",";

int main(void)
{
  const char *next = "";
  printf("{\"records\": {");
  FORMAT_RECORDS(RECORD)
  printf("},\n \"tables\": {");
  next = "";
  FORMAT_TABLE_LIST(TABLE)
  printf("},\n \"operations\": [");
  next = "";
  GRAPHLOG_LIST(OPERATION)
  printf("]}\n");
  return 0;
}
