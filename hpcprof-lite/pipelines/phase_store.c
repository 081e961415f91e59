#include "hpcprof-lite/pipelines/phase_store.h"

#include "common/format.h"
#include "common/order.h"
#include "common/xalloc.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

enum { STORED_MAX = 8 << 20 };

static struct format_index_number number_of(const uint64_t *numbers, uint32_t key)
{
  uint64_t number = key == MODEL_NONE ? 0 : numbers[key];
  if (!number)
    return (struct format_index_number){0};
  return (struct format_index_number){.thread = (uint32_t)(number >> 32 & INT32_MAX) + 1, .number = (uint32_t)number};
}

/* What is being packed. */
struct packing {
  const struct phase_numbers *numbers;
  uint64_t offset_ns;
  uint32_t *below; /* [row] itself or one below it that has a number; MODEL_NONE: none has */
};

static void find_below(struct packing *packing)
{
  assert(packing->numbers->tree->count && !packing->below);
  const struct tree *tree = packing->numbers->tree;
  packing->below = xmalloc((size_t)tree->count * sizeof *packing->below);
  for (uint32_t i = 0; i < tree->count; i++)
    packing->below[i] = packing->numbers->contexts[i] ? i : MODEL_NONE;
  for (uint32_t i = tree->count; i-- > 1;)
    if (packing->below[i] != MODEL_NONE && packing->below[tree->rows[i].parent] == MODEL_NONE)
      packing->below[tree->rows[i].parent] = packing->below[i];
}

/* The number of a row, by way of one below it. */
static struct format_index_number number_below(const struct packing *packing, uint32_t row)
{
  assert(packing->below);
  const struct tree *tree = packing->numbers->tree;
  uint32_t below = row < tree->count ? packing->below[row] : MODEL_NONE;
  struct format_index_number number = number_of(packing->numbers->contexts, below);
  for (uint32_t i = below; below != MODEL_NONE && i != row; i = tree->rows[i].parent)
    number.up++;
  return number;
}

static void pack_figures(const struct packing *packing, const struct phases_spread *spread,
                         const struct phases_figures *figures, struct format_index_figures *out)
{
  *out = (struct format_index_figures){.count = spread->count,
                                       .total_ns = spread->total_ns,
                                       .whole = spread->whole,
                                       .slowest = spread->slowest,
                                       .slowest_ns = spread->slowest_ns,
                                       .slowest_start_ns =
                                           spread->whole ? spread->slowest_start_ns - packing->offset_ns : 0,
                                       .mean_ns = spread->mean_ns,
                                       .squares = spread->squares,
                                       .context = number_below(packing, figures->context)};
  memcpy(out->ns, figures->ns, sizeof out->ns);
}

/* Returns the address behind the record. */
static uint8_t *put(uint8_t *at, const void *record, size_t size)
{
  return (uint8_t *)memcpy(at, record, size) + size;
}

uint8_t *phase_store_pack(const struct phases *phases, const struct phase_numbers *numbers, uint64_t offset_ns,
                          size_t *size)
{
  assert(size && phases->count);
  struct format_index_phases head = {.phases = phases->count,
                                     .steps = phases->steps_count,
                                     .tokens = phases->tokens_count,
                                     .regions = phases->regions_count,
                                     .threads = phases->threads,
                                     .start_ns = phases->start_ns - offset_ns,
                                     .end_ns = phases->end_ns - offset_ns};
  *size = sizeof head + phases->count * sizeof(struct format_index_phase) +
          phases->steps_count * sizeof(struct format_index_step) +
          phases->tokens_count * sizeof(struct format_index_token);
  if (*size > STORED_MAX)
    return NULL;
  struct packing packing = {.numbers = numbers, .offset_ns = offset_ns};
  find_below(&packing);
  uint8_t *bytes = xmalloc(*size), *at = put(bytes, &head, sizeof head);
  for (uint32_t i = 0; i < phases->count; i++) {
    const struct phases_phase *phase = &phases->phases[i];
    struct format_index_phase out = {.kind = phase->kind,
                                     .regions = phase->regions,
                                     .steps = phase->steps,
                                     .tokens = phase->tokens,
                                     .end_ns = phase->end_ns - offset_ns,
                                     .repeated_ns = phase->kind == PHASES_PATTERN ? phase->repeated_ns - offset_ns : 0};
    pack_figures(&packing, &phase->spread, &phase->figures, &out.figures);
    at = put(at, &out, sizeof out);
  }
  for (uint32_t i = 0; i < phases->steps_count; i++) {
    const struct phases_step *step = &phases->steps[i];
    struct format_index_step out = {.construct = number_of(numbers->constructs, step->construct),
                                    .kind = step->construct == MODEL_NONE ? FORMAT_INDEX_SERIAL : FORMAT_INDEX_REGION};
    if (step->into != i)
      out.kind = FORMAT_INDEX_INCLUDED;
    pack_figures(&packing, &step->spread, &step->figures, &out.figures);
    at = put(at, &out, sizeof out);
  }
  for (uint32_t i = 0; i < phases->tokens_count; i++) {
    const struct phases_token *token = &phases->tokens[i];
    struct format_index_token out = {.kind = token->kind, .step = token->step, .times = token->times};
    at = put(at, &out, sizeof out);
  }
  free(packing.below);
  return bytes;
}

uint8_t *phase_store_pack_regions(const struct phases *phases, uint32_t block, uint64_t offset_ns, size_t *size)
{
  assert(size);
  uint64_t first = (uint64_t)block * FORMAT_INDEX_REGIONS_PER_EXTENT;
  if (first >= phases->regions_count)
    return NULL;
  uint64_t count = MIN(phases->regions_count - first, (uint64_t)FORMAT_INDEX_REGIONS_PER_EXTENT);
  struct format_index_region *out = xmalloc(count * sizeof *out);
  uint64_t end_ns = offset_ns;
  uint32_t repetition = 0;
  for (uint64_t i = 0; i < count; i++) {
    const struct phases_region *region = &phases->regions[first + i];
    out[i] = (struct format_index_region){.before_ns = region->start_ns - end_ns,
                                          .length_ns = region->end_ns - region->start_ns,
                                          .step = region->step,
                                          .repetition = region->repetition - repetition};
    end_ns = region->end_ns;
    repetition = region->repetition;
  }
  *size = count * sizeof *out;
  return (uint8_t *)out;
}

/* ---- reading ---- */

struct reading {
  const struct timeline_source *source;
  uint32_t process;
  const struct tree *tree;
  uint64_t offset_ns;
  const uint8_t *at;
};

static void take(struct reading *reading, void *record, size_t size)
{
  memcpy(record, reading->at, size);
  reading->at += size;
}

static void read_figures(const struct reading *reading, const struct format_index_figures *from,
                         struct phases_spread *spread, struct phases_figures *figures)
{
  *spread = (struct phases_spread){.count = from->count,
                                   .total_ns = from->total_ns,
                                   .whole = from->whole,
                                   .slowest = from->slowest,
                                   .slowest_ns = from->slowest_ns,
                                   .slowest_start_ns = model_sum(from->slowest_start_ns, reading->offset_ns),
                                   .mean_ns = from->mean_ns,
                                   .squares = from->squares};
  figures->context = MODEL_NONE;
  if (from->context.thread)
    figures->context = traced_row(timeline_source_traced(reading->source, reading->process), from->context.thread - 1,
                                  from->context.number);
  for (uint32_t i = 0; i < from->context.up && figures->context < reading->tree->count; i++)
    figures->context = figures->context ? reading->tree->rows[figures->context].parent : MODEL_NONE;
  memcpy(figures->ns, from->ns, sizeof figures->ns);
}

/* Phases with their regions, steps and tokens, which follow each other. */
static bool read_phases(struct reading *reading, struct phases *phases)
{
  uint64_t regions = 0, steps = 0, tokens = 0, start_ns = phases->start_ns;
  for (uint32_t i = 0; i < phases->count; i++) {
    struct format_index_phase from;
    take(reading, &from, sizeof from);
    if (from.kind > PHASES_GAP || !from.steps || steps + from.steps > phases->steps_count ||
        tokens + from.tokens > phases->tokens_count || regions + from.regions > phases->regions_count ||
        model_sum(from.end_ns, reading->offset_ns) < start_ns)
      return false;
    struct phases_phase *phase = &phases->phases[i];
    *phase = (struct phases_phase){
        .kind = from.kind,
        .start_ns = start_ns,
        .end_ns = model_sum(from.end_ns, reading->offset_ns),
        .repeated_ns = from.kind == PHASES_PATTERN ? model_sum(from.repeated_ns, reading->offset_ns) : 0,
        .first_region = (uint32_t)regions,
        .regions = from.regions,
        .first_step = (uint32_t)steps,
        .steps = from.steps,
        .first_token = (uint32_t)tokens,
        .tokens = from.tokens};
    read_figures(reading, &from.figures, &phase->spread, &phase->figures);
    regions += from.regions;
    steps += from.steps;
    tokens += from.tokens;
    start_ns = phase->end_ns;
  }
  return steps == phases->steps_count && tokens == phases->tokens_count;
}

static bool read_steps(struct reading *reading, struct phases *phases)
{
  for (uint32_t i = 0; i < phases->steps_count; i++) {
    struct format_index_step from;
    struct phases_step *step = &phases->steps[i];
    take(reading, &from, sizeof from);
    *step = (struct phases_step){.construct = MODEL_NONE, .into = from.kind == FORMAT_INDEX_INCLUDED ? MODEL_NONE : i};
    if (from.kind == FORMAT_INDEX_REGION) {
      if (from.construct.thread)
        step->construct = timeline_source_construct(reading->source, reading->process, from.construct.thread - 1,
                                                    from.construct.number);
      if (step->construct == MODEL_NONE)
        return false;
    }
    read_figures(reading, &from.figures, &step->spread, &step->figures);
  }
  for (uint32_t i = 0; i < phases->tokens_count; i++) {
    struct format_index_token from;
    take(reading, &from, sizeof from);
    if (from.kind > PHASES_CLOSE || from.step >= phases->steps_count)
      return false;
    phases->tokens[i] = (struct phases_token){.kind = from.kind, .step = from.step, .times = from.times};
  }
  return true;
}

/* Sets which steps include others, and which serial step follows a region: the next one, or that of the phase. */
static void link_steps(struct phases *phases)
{
  assert(phases->steps || !phases->steps_count);
  for (uint32_t i = 0; i < phases->count; i++) {
    const struct phases_phase *phase = &phases->phases[i];
    uint32_t end = phase->first_step + phase->steps;
    for (uint32_t step = phase->first_step; step < end; step++) {
      struct phases_step *of = &phases->steps[step];
      bool followed = step + 1 < end && phases->steps[step + 1].construct == MODEL_NONE;
      of->into = of->into == MODEL_NONE ? phase->first_step : step;
      of->after = followed ? step + 1 : phase->first_step;
    }
  }
}

static bool read_all(struct reading *reading, size_t size, struct phases *phases)
{
  struct format_index_phases head;
  if (size < sizeof head)
    return false;
  take(reading, &head, sizeof head);
  uint64_t wanted = sizeof head + (uint64_t)head.phases * sizeof(struct format_index_phase) +
                    (uint64_t)head.steps * sizeof(struct format_index_step) +
                    (uint64_t)head.tokens * sizeof(struct format_index_token);
  if (wanted != size || !head.phases)
    return false;
  *phases = (struct phases){.process = reading->process,
                            .start_ns = model_sum(head.start_ns, reading->offset_ns),
                            .end_ns = model_sum(head.end_ns, reading->offset_ns),
                            .threads = head.threads,
                            .regions_count = head.regions,
                            .count = head.phases,
                            .end = head.phases,
                            .steps_count = head.steps,
                            .tokens_count = head.tokens,
                            .phases = xcalloc(head.phases, sizeof *phases->phases),
                            .steps = xcalloc(head.steps, sizeof *phases->steps),
                            .tokens = xcalloc(head.tokens, sizeof *phases->tokens)};
  if (!read_phases(reading, phases) || !read_steps(reading, phases))
    return false;
  link_steps(phases);
  return true;
}

bool phase_store_read(const struct timeline_source *source, uint32_t process, const struct tree *tree,
                      struct phases *phases)
{
  size_t size;
  const struct traced *traced = timeline_source_traced(source, process);
  uint8_t *bytes = timeline_index_more(traced->index, 0, &size);
  *phases = (struct phases){.process = process};
  if (!bytes)
    return false;
  struct reading reading = {
      .source = source, .process = process, .tree = tree, .offset_ns = traced->lanes.offset_ns, .at = bytes};
  bool whole = read_all(&reading, size, phases);
  free(bytes);
  return whole;
}

/* ---- regions of a part ---- */

/* Appends the regions of a block.  Returns false if they are damaged. */
static bool append_regions(const struct phases *phases, uint64_t offset_ns, const uint8_t *bytes, size_t size,
                           struct phases_regions *regions)
{
  struct format_index_region from;
  struct phases_region last = {.construct = MODEL_NONE, .end_ns = offset_ns};
  size_t count = size / sizeof from;
  if (!count || count > FORMAT_INDEX_REGIONS_PER_EXTENT || size % sizeof from)
    return false;
  xarray_reserve(&regions->regions, &regions->room, regions->count + count, sizeof *regions->regions);
  for (size_t i = 0; i < count; i++) {
    memcpy(&from, bytes + i * sizeof from, sizeof from);
    last.start_ns = model_sum(last.end_ns, from.before_ns);
    last.end_ns = model_sum(last.start_ns, from.length_ns);
    last.step = from.step;
    last.repetition += from.repetition;
    bool after = !regions->count || last.start_ns >= regions->regions[regions->count - 1].end_ns;
    if (!after || last.end_ns == last.start_ns || last.step >= phases->steps_count)
      return false;
    regions->regions[regions->count++] = last;
  }
  return true;
}

static bool read_block(const struct timeline_source *source, const struct phases *phases, uint32_t block,
                       struct phases_regions *regions)
{
  size_t size;
  const struct traced *traced = timeline_source_traced(source, phases->process);
  uint8_t *bytes = timeline_index_more(traced->index, block + 1, &size);
  bool whole = bytes && append_regions(phases, traced->lanes.offset_ns, bytes, size, regions);
  free(bytes);
  return whole;
}

/* Sets *block to the last one that begins before a time, or 0.  Returns false if one is damaged. */
static bool find_block(const struct timeline_source *source, const struct phases *phases, uint64_t at_ns,
                       uint32_t blocks, uint32_t *block)
{
  uint32_t end = blocks;
  bool whole = true;
  *block = 0;
  while (end - *block > 1 && whole) {
    struct phases_regions found = {0};
    uint32_t middle = *block + (end - *block) / 2;
    whole = read_block(source, phases, middle, &found);
    if (whole && found.regions[0].start_ns < at_ns)
      *block = middle;
    else
      end = middle;
    free(found.regions);
  }
  return whole;
}

bool phase_store_regions(const struct timeline_source *source, uint64_t from_ns, uint64_t to_ns,
                         struct phases_regions *regions, struct phases *phases)
{
  uint32_t blocks = (uint32_t)(((uint64_t)phases->regions_count + FORMAT_INDEX_REGIONS_PER_EXTENT - 1) /
                               FORMAT_INDEX_REGIONS_PER_EXTENT);
  uint32_t block;
  bool whole = find_block(source, phases, from_ns, blocks, &block);
  uint32_t first = block * FORMAT_INDEX_REGIONS_PER_EXTENT;
  for (; block < blocks && whole && (!regions->count || regions->regions[regions->count - 1].start_ns < to_ns); block++)
    whole = read_block(source, phases, block, regions);
  for (uint32_t i = 0; i < phases->count; i++) {
    struct phases_phase *phase = &phases->phases[i];
    phase->first_region = phase->first_region > first ? phase->first_region - first : 0;
  }
  phases->regions = regions->regions;
  phases->regions_count = regions->count;
  return whole;
}
