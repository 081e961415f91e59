/* What is left out of a measurement: paths by their code and user regions, records of constructs, threads' samples.
 * (Ranks: process/config.c; time: rt/filter/time_filter.h.)
 *
 * Context: RT.  Readers take filter_now().  A new filter is published as a whole by CTL at the start, and by
 * `hpcrun-lite --control` while the program runs; the one before is never freed, because any thread may still use it.
 * What a filter points to does not change, except for `module_of` and `code_of`, which any thread writes: every thread
 * would write the same.  Without a filter all is zero, and nothing here is called.  Nothing can fail.
 *
 * A path has bits of enum format_filtered.  They are kept with the places where other paths begin: regions (field
 * `filtered`), and creation contexts of tasks. */
#ifndef HPCRUN_LITE_RT_FILTER_FILTER_H
#define HPCRUN_LITE_RT_FILTER_FILTER_H

#include "common/filter_text.h"
#include "hpcrun-lite/rt/core/rt.h"

enum { FILTER_FILE_MAX = 16 << 20 }; /* bytes of a file of the commander */
enum { FILTER_MODULES = 256 };       /* in the load map; those beyond are looked up each time */

/* Addresses from start to before end, relative to the module's load bias. */
struct filter_code {
  uint64_t start, end;
};

/* The addresses of a module, apart for what they are for: in a list they are ascending and do not overlap. */
enum filter_list { FILTER_INCLUDED, FILTER_EXCLUDED, FILTER_INCLUDED_CONSTRUCTS, FILTER_EXCLUDED_CONSTRUCTS };

struct filter_module {
  struct filter_part name; /* base name */
  struct {
    uint32_t first, count; /* in filter.code */
  } lists[FILTER_EXCLUDED_CONSTRUCTS + 1];
};

struct filter {
  bool paths;      /* frames are looked up */
  bool constructs; /* some records are not made */
  uint32_t needs;  /* bits that a path must have, or it is left out */
  /* What construct records need.  kinds: bits by kind. */
  uint32_t kinds_included, kinds_excluded;
  bool lines_included; /* also by address */
  struct filter_part modules, threads, regions;
  struct filter_part skip_first, only; /* as the text has them */
  uint64_t hash;                       /* of what the user has set, see filter_text_hash() */
  const struct filter_code *code;
  const struct filter_module *known;
  uint32_t known_count;
  uint8_t module_of[FILTER_MODULES]; /* by index of the load map, see filter.c: 0 not known */
  uint16_t code_of[FILTER_MODULES];  /* the same: number in `known` + 1; 0: none */
  const char *text;                  /* NULL: nothing is filtered */
  const char *further;               /* the lines of a file that belong to it; NULL: none */
  uint64_t since_ns;                 /* in force from then on, after the start of the process */
  const struct filter *before;       /* NULL: none */
};

extern struct filter *_Atomic filter_current __attribute__((visibility("hidden")));

static inline struct filter *filter_now(void)
{
  return atomic_load_explicit(&filter_current, memory_order_acquire);
}

/* Publishes a filter; the present one is then before it. */
void filter_publish(struct filter *made, uint64_t since_ns);

/* Bits of a frame at that address: enum format_filtered. */
uint32_t filter_frame(struct filter *filter, uint32_t module, uint64_t offset);

/* Whether samples of a thread are taken. */
bool filter_thread(uint32_t index);

/* Whether samples are limited to user regions, and this is one of them. */
bool filter_user_region(const char *name);

/* Whether no record is made of a construct below a record; module and offset: the address of its directive.  wanted:
 * the construct is one of the user regions to which records are limited. */
bool filter_construct(uint32_t parent, uint32_t kind, uint32_t module, uint64_t offset, bool wanted);

#endif
