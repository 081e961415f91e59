/* The settings of a measurement that have a name: their keys in configuration files, their options, what they accept.
 *
 * One table serves the command line and the files, so that both accept the same values and refuse the others with the
 * same words.  A layer holds what one source sets: the command line, the sections of a file for all programs, or its
 * section for one program.
 *
 * Context: BATCH (the launcher).  Keeps no state.  The texts of a layer belong to whoever fills it in.
 */
#ifndef HPCRUN_LITE_LAUNCH_CONFIGURATION_SETTING_H
#define HPCRUN_LITE_LAUNCH_CONFIGURATION_SETTING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum setting {
  SETTING_EVENTS,
  SETTING_PARALLELISM,
  SETTING_WORK,
  SETTING_TRACE,
  SETTING_TASK_CONTEXT,
  SETTING_OMP_RUNTIME,
  SETTING_OUTPUT,
  SETTING_OVERWRITE,
  SETTING_PAUSED,
  SETTING_ARGUMENTS,
  SETTING_KEEP_SYMBOLS,
  SETTING_LEVEL,
  SETTING_COUNTERS,
  SETTING_FUNCTIONS,
  SETTING_MODULES,
  SETTING_CONSTRUCTS,
  SETTING_RANKS,
  SETTING_THREADS,
  SETTING_SKIP_FIRST,
  SETTING_ONLY,
  SETTING_REGIONS,
  SETTING_MEMORY_LIMIT,
  SETTING_TRACE_LIMIT,
  SETTING_TRACE_KEEP,
  SETTING_OVERHEAD_LIMIT,
  SETTINGS
};

enum setting_section { SECTION_NONE, SECTION_MEASURE, SECTION_FILTER, SECTION_BUFFERS, SECTION_PROGRAM };

struct setting_key {
  const char *name;
  const char *option; /* NULL: there is none */
  const char *preset; /* NULL: not set unless something sets it */
  enum setting_section section;
  const char *what;         /* a value, if it is one of the words */
  const char *const *words; /* end in NULL */
  bool list;                /* several values, separated by commas */
  bool whole;               /* holds for the whole launch: not in [program NAME] */
};

extern const struct setting_key setting_keys[SETTINGS];

/* The words that settings have as values; end in NULL.  Those of runtimes may be replaced by a file. */
extern const char *const setting_modes[],
    *const setting_units[], *const setting_traces[], *const setting_contexts[], *const setting_parts[],
                                                                                    *const setting_runtimes[];

struct setting_layer {
  const char *text[SETTINGS]; /* NULL: not set here */
  int line[SETTINGS];         /* of the file; 0: of the command line */
};

/* The settings in force, and which layer each comes from. */
enum setting_source {
  SOURCE_PRESET,
  SOURCE_FILE,
  SOURCE_OPTION,
  SOURCE_DERIVED /* a level or limit that other settings change */
};
struct setting_values {
  struct setting_layer of;
  enum setting_source source[SETTINGS];
};

/* Returns the setting with that key, or SETTINGS. */
enum setting setting_find(const char *name);

/* Adds what `level` implies for settings that the layer does not set; file: for messages.  Returns false with a message
 * where the layer contradicts its level. */
bool setting_expand_level(struct setting_layer *layer, const char *file, char *message, size_t message_size);

/* Works out the settings in force from the layers, where the former win; program, common: NULL if there are none. */
void setting_resolve(const struct setting_layer *options, const struct setting_layer *program,
                     const struct setting_layer *common, struct setting_values *values);

/* Whether the value is that word. */
bool setting_is(const struct setting_values *values, enum setting setting, const char *word);

/* The bytes of a size, a number that may end in K, M or G; 0 if the text is none that fits, such as 'none'. */
uint64_t setting_size(const char *text);

#endif
