#include "hpcprof-lite/timeline/index_builder.h"

#include "common/format.h"
#include "common/safe_file.h"
#include "common/xalloc.h"
#include "hpcprof-lite/input/read.h"
#include "hpcprof-lite/timeline/cell_sum.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zstd.h>

enum {
  LIFE_BITS_MAX = 62, /* of the time in ns from the start of the process to the end of a lane: more than 100 years */
  SHIFT_MAX = 48,
  LEVELS_MAX = 40,
  BYTES_A_CELL = 8,       /* of the trace, for a cell of the first level */
  WINDOW_BYTES = 64 << 10 /* of an earlier file, in which an extent of an index is sought */
};

struct index_builder {
  struct index_builder_input input;
  struct timeline_index_lane *lanes;
  struct format_index head;
  char *path, *temporary; /* the file, and its name in the directory until it is complete */
  int directory, fd;
  pthread_mutex_t lock; /* of the file */
  atomic_int error;     /* errno of the first failed write */
};

/* A level of a lane: the open cell, and the block with those before it. */
struct level {
  struct cell_sum sum;
  uint64_t cell, block;
  bool open, filled;
  struct timeline_index_cell *cells;
};

struct lane_builder {
  struct index_builder *building;
  uint32_t thread;
  struct level levels[LEVELS_MAX];
  void *guest; /* what its visit gets */
  ZSTD_CCtx *zstd;
  uint8_t *packed;
  size_t packed_room;
};

/* ---- the file ---- */

static bool write_all(int fd, const uint8_t *bytes, size_t size)
{
  while (size) {
    ssize_t written = write(fd, bytes, size);
    if (written < 0 && errno == EINTR)
      continue;
    if (written <= 0)
      return false;
    bytes += written;
    size -= (size_t)written;
  }
  return true;
}

static void put(struct lane_builder *builder, uint32_t owner, uint32_t first, const void *bytes, size_t count)
{
  assert(count);
  struct index_builder *building = builder->building;
  struct format_extent head = {
      .table = FORMAT_INDEX, .owner = owner, .first = first, .count = (uint32_t)count, .record_size = 1};
  size_t size = format_pack(&head, bytes, builder->zstd, builder->packed, builder->packed_room);
  pthread_mutex_lock(&building->lock);
  if (!size || !write_all(building->fd, builder->packed, size))
    atomic_store(&building->error, size && errno ? errno : EIO);
  pthread_mutex_unlock(&building->lock);
}

/* ---- cells ---- */

static void put_block(struct lane_builder *builder, uint32_t number)
{
  assert(number < LEVELS_MAX);
  struct level *level = &builder->levels[number];
  if (level->filled)
    put(builder, builder->thread, number << TIMELINE_INDEX_LEVEL_SHIFT | (uint32_t)level->block, level->cells,
        TIMELINE_INDEX_BLOCK * sizeof *level->cells);
  level->filled = false;
  memset(level->cells, 0, TIMELINE_INDEX_BLOCK * sizeof *level->cells);
}

static void close_cell(struct lane_builder *builder, uint32_t number);

/* Makes a cell of a level the open one. */
static void open_cell(struct lane_builder *builder, uint32_t number, uint64_t cell)
{
  assert(number < LEVELS_MAX);
  struct level *level = &builder->levels[number];
  if (level->open && level->cell == cell)
    return;
  close_cell(builder, number);
  level->open = true;
  level->cell = cell;
  if (cell / TIMELINE_INDEX_BLOCK != level->block) {
    put_block(builder, number);
    level->block = cell / TIMELINE_INDEX_BLOCK;
  }
}

/* Stores the open cell of a level, and adds it to the level above. */
static void close_cell(struct lane_builder *builder, uint32_t number)
{
  assert(number < LEVELS_MAX);
  struct level *level = &builder->levels[number];
  if (!level->open)
    return;
  struct cell_amount node = cell_sum_most(&level->sum.contexts), record = cell_sum_most(&level->sum.constructs);
  struct timeline_index_cell *cell = &level->cells[level->cell % TIMELINE_INDEX_BLOCK];
  memcpy(cell->ns, level->sum.ns, sizeof cell->ns);
  cell->critical_ns = level->sum.critical_ns;
  cell->node = node.number;
  cell->node_ns = node.ns;
  cell->record = record.key == MODEL_NONE ? 0 : record.number + 1;
  cell->record_ns = record.ns;
  level->filled = true;
  level->open = false;
  if (number + 1 < builder->building->head.levels) {
    open_cell(builder, number + 1, level->cell / 2);
    cell_sum_join(&builder->levels[number + 1].sum, &level->sum);
  }
  cell_sum_clear(&level->sum);
}

static int add_interval(void *context, const struct timeline_interval *interval)
{
  assert(interval->start_ns < interval->end_ns);
  struct lane_builder *builder = context;
  uint64_t offset_ns = builder->building->input.key.offset_ns;
  uint64_t at_ns = interval->start_ns > offset_ns ? interval->start_ns - offset_ns : 0;
  uint64_t end_ns = interval->end_ns > offset_ns ? interval->end_ns - offset_ns : 0;
  unsigned shift = builder->building->head.shift;
  const struct timeline_index_guest *guest = builder->building->input.guest;
  while (at_ns < end_ns) {
    uint64_t cell = at_ns >> shift, until_ns = (cell + 1) << shift;
    until_ns = MIN(until_ns, end_ns);
    open_cell(builder, 0, cell);
    cell_sum_add(&builder->levels[0].sum, interval, until_ns - at_ns);
    at_ns = until_ns;
  }
  return guest ? guest->visit(builder->guest, interval) : 0;
}

static void builder_init(struct lane_builder *builder)
{
  builder->packed_room = format_pack_bound(TIMELINE_INDEX_BLOCK * sizeof(struct timeline_index_cell));
  builder->packed = xmalloc(builder->packed_room);
  builder->zstd = ZSTD_createCCtx();
  if (!builder->zstd)
    xalloc_die();
}

static void builder_release(struct lane_builder *builder)
{
  for (uint32_t i = 0; i < LEVELS_MAX; i++) {
    cell_sum_release(&builder->levels[i].sum);
    free(builder->levels[i].cells);
  }
  free(builder->packed);
  ZSTD_freeCCtx(builder->zstd);
}

void index_builder_add(struct index_builder *building, uint32_t lane, unsigned worker)
{
  assert(lane < building->input.count);
  const struct timeline *timeline = building->input.timeline;
  const struct timeline_index_guest *guest = building->input.guest;
  struct lane_builder builder = {.building = building, .thread = building->lanes[lane].thread};
  uint32_t number = building->input.first + lane;
  builder_init(&builder);
  for (uint32_t i = 0; i < building->head.levels; i++)
    builder.levels[i].cells = xcalloc(TIMELINE_INDEX_BLOCK, sizeof *builder.levels[i].cells);
  if (guest)
    builder.guest = guest->begin_lane(guest->self, number, worker);
  timeline->each(timeline->source, number, add_interval, &builder);
  for (uint32_t i = 0; i < building->head.levels; i++)
    close_cell(&builder, i);
  for (uint32_t i = 0; i < building->head.levels; i++)
    put_block(&builder, i);
  builder_release(&builder);
}

/* ---- an index ---- */

/* The shortest cells with which no limit is exceeded.  Returns false if a life is longer than any. */
static bool choose_cells(struct index_builder *building)
{
  assert(building->input.count);
  uint32_t count = building->input.count;
  uint64_t last_ns = 0, longest_ns = 0, cells = building->input.bytes / BYTES_A_CELL;
  cells = MIN(cells, TIMELINE_INDEX_CELLS);
  for (uint32_t i = 0; i < count; i++) {
    const struct timeline_index_lane *lane = &building->lanes[i];
    if (lane->start_ns > lane->end_ns || lane->start_ns < building->input.key.offset_ns)
      return false;
    uint64_t end_ns = lane->end_ns - building->input.key.offset_ns, life_ns = lane->end_ns - lane->start_ns;
    last_ns = MAX(end_ns, last_ns);
    longest_ns = MAX(life_ns, longest_ns);
  }
  uint32_t shift = 0;
  uint64_t least = TIMELINE_INDEX_CELLS / (count + 1);
  least = MIN(least, TIMELINE_INDEX_LEAST);
  least = MAX(least, TIMELINE_INDEX_FEWEST);
  if (last_ns >> LIFE_BITS_MAX)
    return false;
  for (; shift < SHIFT_MAX; shift++) {
    uint64_t all = 0;
    for (uint32_t i = 0; i < count; i++)
      model_add(&all, ((building->lanes[i].end_ns - building->lanes[i].start_ns) >> shift) + 2);
    bool few = longest_ns >> shift <= least;
    bool fit = all <= cells && longest_ns >> shift <= TIMELINE_INDEX_LANE_CELLS;
    if ((few || fit) && last_ns >> shift >> TIMELINE_INDEX_LEVEL_SHIFT == 0)
      break;
  }
  building->head.shift = shift;
  building->head.levels = 1;
  while (last_ns >> (shift + building->head.levels - 1) && building->head.levels < LEVELS_MAX)
    building->head.levels++;
  return true;
}

/* Stores a part of what the guest has found.  Returns whether there was one. */
static bool put_guest(struct lane_builder *builder, uint32_t part)
{
  assert(builder->building->input.guest);
  const struct timeline_index_guest *guest = builder->building->input.guest;
  size_t size = 0;
  uint8_t *bytes = guest->end(guest->self, part, &size);
  if (!bytes)
    return false;
  size_t room = format_pack_bound(size);
  if (room > builder->packed_room) {
    builder->packed = xrealloc(builder->packed, room);
    builder->packed_room = room;
  }
  put(builder, 0, part + 1, bytes, size);
  free(bytes);
  return true;
}

static void release(struct index_builder *building)
{
  pthread_mutex_destroy(&building->lock);
  if (building->directory >= 0)
    close(building->directory);
  free(building->lanes);
  free(building->path);
  free(building->temporary);
  free(building);
}

static const char *name_of(const char *path)
{
  assert(path);
  const char *slash = strrchr(path, '/');
  return slash ? slash + 1 : path;
}

static void name_files(struct index_builder *building)
{
  const char *measurement = building->input.key.measurement;
  int stem = (int)read_stem(measurement);
  building->path = xasprintf("%.*s" FORMAT_INDEX_SUFFIX, stem, measurement);
  int before = (int)(name_of(measurement) - measurement);
  building->temporary = xasprintf("%.*s-XXXXXX" FORMAT_INDEX_SUFFIX, stem - before, measurement + before);
}

static void report(const struct index_builder *building, int error, struct problems *problems)
{
  if (error == EEXIST)
    problems_add(problems, "cannot store %s: another file has that name; remove it; views read the whole trace",
                 building->path);
  else
    problems_add(problems, "cannot store %s: %s; views of it read the whole trace; make the directory writable",
                 building->path, strerror(error));
}

/* Opens the directory of the measurement: from then on its path may lead elsewhere.  Returns -1 with errno. */
static int open_directory(const struct index_builder *building)
{
  char path[PATH_MAX];
  size_t before = (size_t)(name_of(building->path) - building->path);
  snprintf(path, sizeof path, "%.*s", (int)before, before ? building->path : "");
  return open(before ? path : ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
}

/* Whether the beginning of the file has an extent of an index.  Its first one may be damaged, and is then replaced. */
static bool is_index(int fd)
{
  static const uint64_t magic = FORMAT_MAGIC;
  uint8_t bytes[WINDOW_BYTES];
  ssize_t got = pread(fd, bytes, sizeof bytes, 0);
  size_t size = got > 0 ? (size_t)got : 0;
  const uint8_t *at = bytes;
  while ((at = memmem(at, size - (size_t)(at - bytes), &magic, sizeof magic)) != NULL) {
    struct format_extent head;
    if (size - (size_t)(at - bytes) < sizeof head)
      return false;
    memcpy(&head, at, sizeof head);
    if (head.version == FORMAT_VERSION && head.table == FORMAT_INDEX)
      return true;
    at++;
  }
  return false;
}

/* Whether the index's name is free, or an earlier index of this user, or of the directory's owner, has it.  Otherwise
 * sets errno, to EEXIST if another file has it. */
static bool may_replace(const struct index_builder *building)
{
  struct stat directory;
  const char *name = name_of(building->path);
  int fd = safe_file_open(building->directory, name, O_RDONLY, geteuid());
  if (fd < 0 && errno == ENOENT)
    return true;
  if (fd < 0 && errno == EPERM && fstat(building->directory, &directory) == 0)
    fd = safe_file_open(building->directory, name, O_RDONLY, directory.st_uid);
  bool index = fd >= 0 && is_index(fd);
  if (fd >= 0)
    close(fd);
  if (!index && (fd >= 0 || errno == EPERM))
    errno = EEXIST;
  return index;
}

/* Creates the file beside its final place, with its head. */
static void create(struct index_builder *building, struct problems *problems)
{
  building->directory = open_directory(building);
  if (building->directory >= 0 && may_replace(building))
    building->fd = safe_file_make(building->directory, building->temporary, strlen(FORMAT_INDEX_SUFFIX));
  if (building->fd < 0) {
    report(building, errno, problems);
    return;
  }
  struct lane_builder builder = {.building = building};
  builder_init(&builder);
  put(&builder, 0, 0, &building->head, sizeof building->head);
  builder_release(&builder);
}

struct index_builder *index_builder_open(const struct index_builder_input *input, struct problems *problems)
{
  assert(input->count && input->timeline);
  struct index_builder *building = xcalloc(1, sizeof *building);
  building->input = *input;
  building->head = (struct format_index){.digest = input->key.digest,
                                         .cell_size = sizeof(struct timeline_index_cell),
                                         .critical_known = input->timeline->lanes[input->first].critical_known};
  building->directory = building->fd = -1;
  pthread_mutex_init(&building->lock, NULL);
  building->lanes = xmalloc(input->count * sizeof *building->lanes);
  memcpy(building->lanes, input->lanes, input->count * sizeof *building->lanes);
  name_files(building);
  if (choose_cells(building))
    create(building, problems);
  else
    problems_add(problems,
                 "%s: the start or end of a thread is impossible: the file is damaged; its index is not stored",
                 input->key.measurement);
  if (building->fd >= 0)
    return building;
  release(building);
  return NULL;
}

void index_builder_close(struct index_builder *building, bool wanted, struct problems *problems)
{
  assert(building->fd >= 0);
  if (wanted && building->input.guest) {
    struct lane_builder builder = {.building = building};
    builder_init(&builder);
    for (uint32_t part = 0; put_guest(&builder, part); part++)
      ;
    builder_release(&builder);
  }
  if (close(building->fd))
    atomic_store(&building->error, errno);
  bool whole = wanted && !atomic_load(&building->error);
  if (whole && renameat(building->directory, building->temporary, building->directory, name_of(building->path))) {
    atomic_store(&building->error, errno);
    whole = false;
  }
  if (!whole)
    unlinkat(building->directory, building->temporary, 0);
  if (wanted && !whole)
    report(building, atomic_load(&building->error), problems);
  release(building);
}
