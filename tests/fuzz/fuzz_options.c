/* Command lines, one word per line: options.c, consistency.c, scenario.c and selectors, and a report on a sound
 * measurement (HPCPROF_FUZZ_DIRECTORY) if they are accepted.  Options that name output or input files are left out. */
#include "tests/fuzz/fuzz.h"

#include "hpcprof-lite/invocation/consistency.h"

#include <getopt.h>
#include <stdlib.h>
#include <string.h>

enum { WORDS_MAX = 16 };

/* Runs the report with the options alone, which getopt has moved before all other words. */
static void report(char **argv, int options)
{
  const char *arguments[WORDS_MAX + 8] = {NULL};
  int count = 0;
  for (int i = 1; i < options; i++)
    if (strcmp(argv[i], "--"))
      arguments[count++] = argv[i];
  static const char *const fixed[] = {"-q", "-j", "1", "-o", "/dev/null"};
  for (size_t i = 0; i < sizeof fixed / sizeof *fixed; i++)
    arguments[count++] = fixed[i];
  arguments[count] = getenv("HPCPROF_FUZZ_DIRECTORY");
  fuzz_report(arguments);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
  char *text = malloc(size + 1), *argv[WORDS_MAX + 2] = {(char *)"hpcprof-lite"};
  char message[512];
  struct options options;
  int argc = 1;
  if (!text)
    return 0;
  memcpy(text, data, size);
  text[size] = 0;
  for (char *next = text, *word; argc <= WORDS_MAX && (word = strsep(&next, "\n"));)
    argv[argc++] = word;
  optind = 0;
  int refused = options_parse(argc, argv, &options, message, sizeof message) ||
                consistency_check(&options, message, sizeof message);
  bool runs = !refused && !options.help && !options.version;
  int end = optind;
  options_release(&options);
  if (runs)
    report(argv, end);
  free(text);
  return 0;
}
