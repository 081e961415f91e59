#include "hpcprof-lite/views/topdown.h"

#include "common/xalloc.h"
#include "common/symbols/symbols_names.h"

#include <stdlib.h>
#include <string.h>

/* A context that has no row yet, with what is known from its ancestors. */
struct item {
  uint32_t node;
  uint32_t row;     /* the row above it */
  uint32_t entry;   /* the entry above it, if no body is in between, or MODEL_NONE */
  uint32_t site;    /* address of the nearest frame above, MODEL_NONE at the top */
  uint32_t call;    /* below a context of the runtime: address of the call that entered it, else MODEL_NONE */
  uint32_t outline; /* the outlined function that is its direct caller, or MODEL_NONE */
  bool top;         /* there are only system frames above */
  bool own;         /* only the context's own values, not its children, have no row yet */
};

struct items {
  struct item *items;
  size_t count, room;
};

/* Values of `body` besides row numbers + 1: no body has been found, or bodies with different rows. */
enum { BODY_NONE = 0, BODY_SEVERAL = UINT32_MAX };

/* An entry into a region or task, and the row of its body. */
struct entry {
  enum tree_kind kind;
  uint32_t row, site;
  uint32_t body; /* row number + 1, BODY_NONE or BODY_SEVERAL */
};

struct build {
  const struct profile *profile;
  const struct contexts *contexts;
  struct names *names;
  const struct tree_columns *columns;
  struct tree *tree;
  struct topdown_choice choice;
  uint32_t *row_of;             /* the caller's, or NULL */
  uint32_t *first_child, *next; /* [context] lists of children */
  uint32_t *system_rows;        /* [context] row of a context of system frames only, 0 = none yet; NULL until needed */
  struct items stack;           /* to be visited next, the last one first */
  struct items deferred;        /* to be visited when the rows of all bodies are known */
  struct entry *entries;
  uint32_t entries_count;
  size_t entries_room;
  struct tree sites; /* a map from (row, kind, call site) to elements of bodies[] */
  uint32_t *bodies;  /* like `body` of an entry */
  size_t bodies_room;
};

static void items_push(struct items *items, const struct item *item)
{
  *XAPPEND(items->items, items->count, items->room) = *item;
}

/* Whether the context has values in the columns of the tree. */
static bool has_values(const struct build *build, uint32_t node)
{
  for (uint32_t i = 0; build->contexts->nodes[node].value && i < build->columns->count; i++)
    if (contexts_get(build->contexts, node, build->columns->source[i]))
      return true;
  return false;
}

static void link_children(struct build *build)
{
  uint32_t count = build->contexts->count;
  build->first_child = model_nones(count);
  build->next = xmalloc(count * sizeof *build->next);
  /* The lists are reversed; pushing them on the stack reverses them again, into canonical order. */
  for (uint32_t i = 0; i < build->names->order_count; i++) {
    uint32_t node = build->names->order[i];
    uint32_t parent = build->contexts->nodes[node].parent;
    if (build->columns->met != MODEL_NONE && !contexts_get(build->contexts, node, build->columns->met))
      continue;
    build->next[node] = build->first_child[parent];
    build->first_child[parent] = node;
  }
}

/* Pushes the children of below->node; they inherit all other fields. */
static void push_children(struct build *build, const struct item *below)
{
  struct item child = *below;
  for (uint32_t node = build->first_child[below->node]; node != MODEL_NONE; node = build->next[node]) {
    child.node = node;
    items_push(&build->stack, &child);
  }
}

static const struct names_frame *address_steps(const struct build *build, uint32_t address, uint32_t *count)
{
  *count = build->names->addresses[address].count;
  return &build->names->frames[build->names->addresses[address].first];
}

/* Finds the source position of a call, in its innermost function; "" and 0 if not known. */
static void site_position(const struct build *build, uint32_t site, const char **file, uint32_t *line)
{
  *file = "";
  *line = 0;
  if (site == MODEL_NONE)
    return;
  const struct names_frame *step = names_innermost(build->names, site);
  *file = step->file;
  *line = step->line;
}

static void add_values(struct build *build, uint32_t node, uint32_t row)
{
  if (build->row_of && has_values(build, node))
    build->row_of[node] = row;
  for (uint32_t i = 0; i < build->columns->count; i++)
    tree_value(build->tree, row, i, contexts_get(build->contexts, node, build->columns->source[i]));
}

/* Adds a context's values to the row or, if lines are shown, to a row below it for the line of an address, which may be
 * MODEL_NONE.  call: the address is that of a call into the runtime, and its line may be that of near code, as in all
 * places of constructs. */
static void add_line_values(struct build *build, uint32_t node, uint32_t row, uint32_t address, bool call)
{
  const char *file;
  uint32_t line;
  site_position(build, address, &file, &line);
  if (build->choice.lines && *file && line && (call || !names_innermost(build->names, address)->near)) {
    struct tree_row wanted = tree_plain_row(row, ROW_LINE, "", file, line);
    wanted.module = build->contexts->nodes[node].module;
    bool added;
    row = tree_add(build->tree, &wanted, &added);
    if (added)
      build->tree->rows[row].name = names_own(build->names, xasprintf("%s:%u", names_base(file), line));
  }
  add_values(build, node, row);
}

/* Adds a context's own values: they belong to its address or, if it has none, to the call `site`. */
static void add_own_values(struct build *build, uint32_t node, uint32_t row, uint32_t site)
{
  uint32_t address = build->names->address_of[node];
  if (!has_values(build, node)) {
    if (build->row_of)
      build->row_of[node] = row;
    return;
  }
  bool call = address == MODEL_NONE && build->choice.lines == TOPDOWN_LINES_OF_CALLS;
  add_line_values(build, node, row, call ? site : address, call);
}

/* Adds the values of a context of the OpenMP runtime, which belong to the call `site`. */
static void add_runtime_values(struct build *build, uint32_t node, uint32_t row, uint32_t site)
{
  if (has_values(build, node) && build->choice.lines == TOPDOWN_LINES_OF_CALLS)
    add_line_values(build, node, row, site, true);
  else
    add_values(build, node, row);
}

/* Finds or adds a row that has no function.  Below a row of the runtime, the runtime's time belongs to that row. */
static uint32_t add_plain(struct build *build, uint32_t parent, enum tree_kind kind, const char *name)
{
  if (kind == ROW_RUNTIME && build->tree->rows[parent].kind == ROW_RUNTIME)
    return parent;
  struct tree_row wanted = tree_plain_row(parent, kind, name, "", 0);
  return tree_add(build->tree, &wanted, NULL);
}

/* Finds or adds the row of a function; mark: as in struct tree_row. */
static uint32_t add_function(struct build *build, uint32_t parent, const struct names_frame *step, const char *mark)
{
  const struct names_function *function = &build->names->functions[step->function];
  bool added;
  struct tree_row wanted = {.parent = parent,
                            .kind = step->inlined ? ROW_INLINED : ROW_FUNCTION,
                            .function = step->function,
                            .module = function->module,
                            .name = function->name,
                            .mark = mark,
                            .file = function->file,
                            .line = function->line};
  uint32_t row = tree_add(build->tree, &wanted, &added);
  if (added && mark)
    build->tree->rows[row].name = names_own(build->names, xasprintf("%s%s", mark, function->name));
  return row;
}

/* Returns an allocated "parallel @ solve.c:42 [solve._omp_fn.0]" without the parts that are not known.  site: address
 * of the call, which names the place if no line is known, or MODEL_NONE. */
static char *construct_name(const struct build *build, const struct tree_row *row, uint32_t site, const char *raw)
{
  char *place = NULL;
  if (*row->file && row->line)
    place = xasprintf("%s:%u", names_base(row->file), row->line);
  else if (site != MODEL_NONE)
    place = names_spot(build->names, site);
  const char *what = tree_kind_name(row->kind);
  char *named = place ? xasprintf("%s @ %s", what, place) : xstrdup(what);
  free(place);
  if (!raw)
    return named;
  char *text = xasprintf("%s [%s]", named, raw);
  free(named);
  return text;
}

/* Finds or adds the row of the function that contains a region.  If the function ends with the call that enters the
 * region, the compiler may have made it a tail call, and the function has no frame: the name of the outlined function
 * then tells which one it was. */
static uint32_t origin_row(struct build *build, uint32_t parent, uint32_t outlined)
{
  const struct tree_row *caller = &build->tree->rows[parent];
  uint32_t origin = build->names->functions[outlined].origin;
  if (origin == MODEL_NONE || caller->function == origin ||
      symbols_same_template(tree_unmarked_name(caller), build->names->functions[origin].name))
    return parent;
  if (caller->function != MODEL_NONE && build->names->functions[caller->function].origin == origin)
    return parent; /* a region within a region of the same function */
  return add_function(build, parent, &(struct names_frame){.function = origin}, NULL);
}

/* Finds or adds the row of a region or task, identified by its outlined function or, without one, by its call site. */
static uint32_t add_construct(struct build *build, uint32_t parent, enum tree_kind kind, uint32_t function,
                              uint32_t site)
{
  const struct names_function *outlined = function == MODEL_NONE ? NULL : &build->names->functions[function];
  if (outlined && kind == ROW_PARALLEL)
    parent = origin_row(build, parent, function);
  struct tree_row wanted = {.parent = parent, .kind = kind, .function = function, .module = MODEL_NONE};
  site_position(build, site, &wanted.file, &wanted.line);
  if (outlined) {
    bool inner = outlined->outline == OUTLINE_BODY_DEBUG; /* declared at the statement below the directive */
    bool placed = site != MODEL_NONE && build->names->addresses[site].placed;
    wanted.module = outlined->module;
    if (outlined->line && *outlined->file && !placed && !(inner && wanted.line)) {
      wanted.file = outlined->file;
      wanted.line = outlined->line;
    }
    wanted.function = inner && wanted.line ? MODEL_NONE : function;
  }
  bool added;
  char *text = construct_name(build, &wanted, site, outlined ? outlined->name : NULL);
  wanted.name = text;
  uint32_t row = tree_add(build->tree, &wanted, &added);
  if (added)
    names_own(build->names, text);
  else
    free(text);
  return row;
}

/* Returns the element of bodies[] for an entry's row, kind and call site. */
static uint32_t *site_body(struct build *build, const struct entry *entry)
{
  struct tree_row above = {.kind = ROW_ROOT, .function = entry->row, .name = "", .file = ""};
  uint32_t parent = tree_add(&build->sites, &above, NULL);
  struct tree_row key = tree_plain_row(parent, entry->kind, "", "", 0);
  site_position(build, entry->site, &key.file, &key.line);
  if (!key.line) {
    key.file = "";
    key.line = entry->site;
  }
  uint32_t row = tree_add(&build->sites, &key, NULL);
  xarray_reserve_zero(&build->bodies, &build->bodies_room, build->sites.count, sizeof *build->bodies);
  return &build->bodies[row];
}

static void merge_body(uint32_t *body, uint32_t row)
{
  if (*body == BODY_NONE)
    *body = row + 1;
  else if (*body != row + 1)
    *body = BODY_SEVERAL;
}

/* Returns the row for contexts that are below an entry but not in a body: that of the only body that was entered from
 * the same call site, otherwise a row named by the call site. */
static uint32_t entry_row(struct build *build, uint32_t number)
{
  struct entry *entry = &build->entries[number];
  if (entry->body == BODY_NONE)
    entry->body = *site_body(build, entry);
  if (entry->body == BODY_NONE || entry->body == BODY_SEVERAL)
    entry->body = add_construct(build, entry->row, entry->kind, MODEL_NONE, entry->site) + 1;
  return entry->body - 1;
}

static void defer(struct build *build, const struct item *item, bool own)
{
  struct item later = *item;
  later.own = own;
  items_push(&build->deferred, &later);
}

/* Whether an outlined function is an inner copy of its caller, as clang makes them: a debug variant called by the body,
 * or a body called by a task's entry. */
static bool is_inner_copy(const struct build *build, uint32_t caller, uint32_t callee)
{
  if (caller == MODEL_NONE)
    return false;
  enum names_outline outer = build->names->functions[caller].outline, inner = build->names->functions[callee].outline;
  if (inner == OUTLINE_BODY_DEBUG)
    return outer != OUTLINE_BODY_DEBUG;
  return inner == OUTLINE_BODY && outer == OUTLINE_TASK;
}

/* Finds or adds the row of one step of a frame's chain; updates the item.  guessed: the frame is one that was guessed.
 * The row of a construct is not marked, since its figures belong together: what it called is below a row of its own. */
static uint32_t place_step(struct build *build, struct item *item, const struct names_frame *step, uint32_t site,
                           bool guessed)
{
  const struct names_function *function = &build->names->functions[step->function];
  bool in_entry = item->entry != MODEL_NONE;
  if (function->outline == OUTLINE_NONE && !in_entry) {
    item->outline = MODEL_NONE;
    return add_function(build, item->row, step, guessed ? tree_guessed : NULL);
  }
  if (is_inner_copy(build, item->outline, step->function)) {
    item->outline = step->function;
    return item->row;
  }
  enum tree_kind kind = function->outline == OUTLINE_TASK ? ROW_TASK : ROW_PARALLEL;
  struct entry *entry = in_entry ? &build->entries[item->entry] : NULL;
  uint32_t row = add_construct(build, item->row, entry ? entry->kind : kind, step->function, site);
  if (entry) {
    merge_body(site_body(build, entry), row);
    merge_body(&entry->body, row);
  }
  item->entry = MODEL_NONE;
  item->outline = step->function;
  return guessed ? add_plain(build, row, ROW_PARTIAL, "[callers guessed]") : row;
}

/* Adds rows for the functions that left no frame above a context; updates the item. */
static void place_inferred(struct build *build, struct item *item)
{
  if (!build->names->inferred)
    return;
  struct names_inferred inferred = build->names->inferred[item->node];
  for (uint32_t i = 0; i < inferred.count; i++) {
    uint32_t count;
    const struct names_frame *steps =
        address_steps(build, build->names->inferred_addresses[inferred.first + i], &count);
    for (uint32_t j = 0; j < count; j++)
      item->row = add_function(build, item->row, &steps[j], j ? NULL : tree_inferred);
    item->outline = MODEL_NONE;
  }
}

static void visit_steps(struct build *build, const struct item *item, uint32_t address)
{
  uint32_t count, site = item->entry == MODEL_NONE ? item->site : build->entries[item->entry].site;
  const struct names_frame *steps = address_steps(build, address, &count);
  const struct names_function *first = &build->names->functions[steps[0].function];
  if (item->entry != MODEL_NONE && first->outline == OUTLINE_NONE && !first->unknown) {
    defer(build, item, false);
    return;
  }
  struct item below = *item;
  below.top = false;
  place_inferred(build, &below);
  for (uint32_t i = 0; i < count; i++) {
    bool guessed = i == 0 && build->contexts->nodes[item->node].guessed;
    below.row = place_step(build, &below, &steps[i], site, guessed);
    site = MODEL_NONE; /* the frame above is not the call site of an inlined function */
  }
  below.site = address;
  below.call = MODEL_NONE;
  add_own_values(build, item->node, below.row, MODEL_NONE);
  push_children(build, &below);
}

/* Whether a frame without a name is the _start of a stripped program: it is outermost, has no values and calls only the
 * system. */
static bool is_nameless_start(const struct build *build, uint32_t node)
{
  const struct context_node *nodes = build->contexts->nodes;
  if (nodes[node].parent || has_values(build, node))
    return false;
  for (uint32_t child = build->first_child[node]; child != MODEL_NONE; child = build->next[child])
    if (nodes[child].kind != CONTEXT_FRAME ||
        !(build->profile->catalog.modules[nodes[child].module].flags & MODULE_SYSTEM))
      return false;
  return build->first_child[node] != MODEL_NONE;
}

/* Whether a frame belongs to the start-up code outside main and the threads' start functions. */
static bool is_system_start(const struct build *build, uint32_t number, uint32_t address)
{
  const struct context_node *node = &build->contexts->nodes[number];
  uint32_t flags = build->profile->catalog.modules[node->module].flags, count;
  const struct names_frame *steps = address_steps(build, address, &count);
  const struct names_function *function = &build->names->functions[steps[0].function];
  if (flags & MODULE_SYSTEM || !strcmp(function->name, "_start"))
    return true;
  return flags & MODULE_MAIN && function->unknown && is_nameless_start(build, number);
}

/* Finds or adds the row of a context that has only system frames.  They are shown because the context has no others. */
static uint32_t system_row(struct build *build, uint32_t node)
{
  if (!build->system_rows)
    build->system_rows = xcalloc(build->contexts->count, sizeof *build->system_rows);
  struct items path = {0};
  uint32_t row = 0;
  for (uint32_t up = node; up && !row; up = build->contexts->nodes[up].parent) {
    row = build->system_rows[up];
    if (!row)
      items_push(&path, &(struct item){.node = up});
  }
  while (path.count) {
    uint32_t here = path.items[--path.count].node, address = build->names->address_of[here], count = 0;
    const struct context_node *frame = &build->contexts->nodes[here];
    const struct names_frame *steps = NULL;
    if (frame->kind == CONTEXT_FRAME &&
        !(build->profile->catalog.modules[frame->module].flags & (MODULE_TOOL | MODULE_RUNTIME)))
      steps = address_steps(build, address, &count);
    for (uint32_t i = 0; i < count; i++)
      row = add_function(build, row, &steps[i], i == 0 && frame->guessed ? tree_guessed : NULL);
    build->system_rows[here] = row;
  }
  free(path.items);
  return row;
}

/* Whether a module is the Python interpreter: python3.11, libpython3.12.so.1.0. */
static bool is_interpreter(const struct catalog_module *module)
{
  const char *name = names_base(module->path);
  name += strncmp(name, "lib", 3) ? 0 : 3;
  if (module->flags & MODULE_ANON || strncmp(name, "python3", 7) != 0)
    return false;
  name += 7 + strspn(name + 7, ".0123456789dmt");
  return !*name || !strncmp(name, "so", 2);
}

/* Whether the interpreter's time belongs to a row: that of the interpreter, or of a function of Python. */
static bool takes_interpreter(const struct build *build, uint32_t row)
{
  uint32_t function = build->tree->rows[row].function;
  return function != MODEL_NONE && build->tree->rows[row].kind == ROW_FUNCTION &&
         (build->names->functions[function].name == tree_interpreter || build->names->functions[function].python);
}

/* Visits a frame of the interpreter. */
static void visit_interpreter(struct build *build, const struct item *item, uint32_t address)
{
  struct item below = *item;
  place_inferred(build, &below);
  if (!takes_interpreter(build, below.row)) {
    struct names_function whole = {.name = tree_interpreter,
                                   .raw = tree_interpreter,
                                   .file = "",
                                   .module = build->contexts->nodes[item->node].module};
    struct names_frame step = {.function = names_function(build->names, &whole)};
    below.row = add_function(build, below.row, &step, NULL);
  }
  below.top = false;
  below.outline = MODEL_NONE;
  below.site = address;
  below.call = MODEL_NONE;
  add_own_values(build, item->node, below.row, MODEL_NONE);
  push_children(build, &below);
}

static void visit_frame(struct build *build, const struct item *item)
{
  const struct context_node *node = &build->contexts->nodes[item->node];
  uint32_t flags = build->profile->catalog.modules[node->module].flags, address = build->names->address_of[item->node];
  struct item below = *item;
  if (flags & (MODULE_TOOL | MODULE_RUNTIME)) {
    uint32_t row = item->row;
    if (has_values(build, item->node) && flags & MODULE_RUNTIME)
      row = add_plain(build, row, ROW_RUNTIME, "[OpenMP runtime]");
    uint32_t site = item->entry == MODEL_NONE ? item->site : build->entries[item->entry].site;
    add_runtime_values(build, item->node, row, site);
    push_children(build, &below);
  } else if (item->top && item->entry == MODEL_NONE && !node->guessed && is_system_start(build, item->node, address)) {
    below.site = address;
    uint32_t row = 0;
    if (has_values(build, item->node))
      row = system_row(build, item->node);
    add_own_values(build, item->node, row, MODEL_NONE);
    push_children(build, &below);
  } else if (item->entry == MODEL_NONE && !build->choice.python_frames &&
             is_interpreter(&build->profile->catalog.modules[node->module])) {
    visit_interpreter(build, item, address);
  } else {
    visit_steps(build, item, address);
  }
}

static void visit_entry(struct build *build, const struct item *item, enum tree_kind kind)
{
  const struct context_node *above = &build->contexts->nodes[build->contexts->nodes[item->node].parent];
  uint32_t site = build->names->address_of[item->node];
  if (site == MODEL_NONE && above->kind == CONTEXT_FRAME) /* else it is that of another construct */
    site = item->site;
  struct item below = *item;
  below.entry = build->entries_count;
  *XAPPEND(build->entries, build->entries_count, build->entries_room) =
      (struct entry){.kind = kind, .row = item->row, .site = site};
  below.call = MODEL_NONE;
  below.outline = MODEL_NONE;
  below.top = false;
  if (has_values(build, item->node))
    defer(build, &below, true);
  push_children(build, &below);
}

/* Visits a context that has no function. */
static void visit_plain(struct build *build, const struct item *item, uint32_t parent, enum tree_kind kind,
                        const char *name)
{
  struct item below = *item;
  below.row = add_plain(build, parent, kind, name);
  if (build->contexts->nodes[item->node].kind != CONTEXT_RUNTIME)
    below.call = MODEL_NONE;
  else if (item->call == MODEL_NONE)
    below.call = item->site;
  add_runtime_values(build, item->node, below.row, below.call);
  below.outline = MODEL_NONE;
  below.top = false;
  below.site = MODEL_NONE;
  push_children(build, &below);
}

/* The row of a user region is below the function that began it.  Functions inlined at the address of that call count as
 * called within the region: their rows are added below it. */
static void visit_user_region(struct build *build, const struct item *item)
{
  enum { INLINED_MAX = 64 };
  const char *name = build->profile->catalog.modules[build->contexts->nodes[item->node].module].path;
  uint32_t inlined[INLINED_MAX], count = 0, function = item->row;
  while (build->tree->rows[function].kind == ROW_INLINED && count < INLINED_MAX) {
    inlined[count++] = function;
    function = build->tree->rows[function].parent;
  }
  struct tree_row wanted = tree_plain_row(function, ROW_USER_REGION, name, name, 0);
  struct item below = *item;
  below.row = tree_add(build->tree, &wanted, NULL);
  while (count) {
    wanted = build->tree->rows[inlined[--count]];
    wanted.parent = below.row;
    below.row = tree_add(build->tree, &wanted, NULL);
  }
  add_values(build, item->node, below.row);
  push_children(build, &below);
}

static const char *mpi_name(uint32_t function)
{
  const char *name = profile_mpi_name(function);
  return *name ? name : "[MPI]";
}

static void visit(struct build *build, const struct item *item)
{
  enum context_kind kind = build->contexts->nodes[item->node].kind;
  if (item->own)
    add_own_values(build, item->node, item->row, item->site);
  else if (kind == CONTEXT_FRAME)
    visit_frame(build, item);
  else if (item->entry != MODEL_NONE)
    defer(build, item, false);
  else if (kind == CONTEXT_PARALLEL)
    visit_entry(build, item, ROW_PARALLEL);
  else if (kind == CONTEXT_TASK)
    visit_entry(build, item, ROW_TASK);
  else if (kind == CONTEXT_USER_REGION)
    visit_user_region(build, item);
  else if (kind == CONTEXT_FILTERED)
    visit_plain(build, item, item->row, ROW_FILTERED, "[filtered]");
  else if (kind == CONTEXT_RUNTIME || kind == CONTEXT_OUTSIDE)
    visit_plain(build, item, kind == CONTEXT_OUTSIDE ? 0 : item->row, ROW_RUNTIME, "[OpenMP runtime]");
  else if (kind == CONTEXT_MPI)
    visit_plain(build, item, item->row, ROW_MPI, mpi_name(build->contexts->nodes[item->node].offset));
  else
    visit_plain(build, item, item->row, ROW_PARTIAL, "[unwind cut short]");
}

/* Whether samples are charged to a context itself. */
static bool spent(const struct build *build, uint32_t node)
{
  const struct tree_columns *columns = build->columns;
  const uint32_t kinds[] = {columns->samples, columns->work, columns->overhead};
  for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
    if (kinds[i] != MODEL_NONE && contexts_get(build->contexts, node, kinds[i]))
      return true;
  return false;
}

/* Names the values of the root, except counts of the time after the last sample: they are samples without a stack, work
 * of a time without samples (level = summary), or only waiting, which is charged there (input/exact_waits.h). */
static const char *root_name(const struct build *build)
{
  uint32_t samples = build->columns->samples;
  if (!spent(build, 0))
    return tree_unseen_waiting;
  bool unsampled = false;
  for (uint32_t i = 0; i < build->profile->processes_count; i++)
    unsampled |= build->profile->processes[i].usable &&
                 (profile_unsampled(&build->profile->processes[i]) || build->profile->processes[i].unsampled_ns);
  bool cut_short = samples == MODEL_NONE || contexts_get(build->contexts, 0, samples);
  if (!unsampled)
    return "[unwind cut short]";
  return cut_short ? "[not sampled, or unwind cut short]" : "[not sampled]";
}

/* Whether a column is counted between samples, by -c or by the kernel. */
static bool is_counted(uint32_t role)
{
  return role == COLUMN_EVENT || (role >= COLUMN_USER_CPU && role <= COLUMN_BLOCKED_BYTES);
}

static uint64_t root_value(const struct build *build, uint32_t column)
{
  return contexts_get(build->contexts, 0, build->columns->source[column]);
}

/* Adds the values of the root to a row: those that are counted between samples, or all others.  unseen: idleness that
 * has rows already. */
static void add_root_values(struct build *build, bool counted, const char *name, uint64_t unseen)
{
  uint32_t row = MODEL_NONE;
  for (uint32_t i = 0; i < build->columns->count; i++) {
    uint64_t value = root_value(build, i) - (i == build->columns->idleness ? unseen : 0);
    if (!value || is_counted(build->columns->columns[i].role % COLUMN_OF_WHOLE) != counted)
      continue;
    if (row == MODEL_NONE)
      row = add_plain(build, 0, ROW_PARTIAL, name);
    tree_value(build->tree, row, i, value);
  }
  if (build->row_of && row != MODEL_NONE)
    build->row_of[0] = row;
}

/* Adds rows for the idleness of the root whose cause is known, which it is for whole runs.  Returns their sum. */
static uint64_t add_unseen(struct build *build)
{
  uint32_t idleness = build->columns->idleness;
  bool of_whole = build->columns->met != MODEL_NONE;
  uint64_t all = idleness == MODEL_NONE ? 0 : root_value(build, idleness), left = all;
  for (unsigned cause = 0; cause < PROFILE_UNSEEN_CAUSES; cause++) {
    uint64_t amount = 0;
    for (uint32_t i = 0; i < build->profile->processes_count; i++) {
      const struct profile_process *process = &build->profile->processes[i];
      if (of_whole || (process->usable && !process->in_part))
        model_add(&amount, process->unseen_ns[cause]);
    }
    amount = MIN(amount, left);
    if (!amount)
      continue;
    uint32_t row = add_plain(build, 0, ROW_PARTIAL, tree_unseen_causes[cause]);
    tree_value(build->tree, row, idleness, amount);
    if (build->row_of)
      build->row_of[0] = row;
    left -= amount;
  }
  return all - left;
}

/* Without a sample there, what was counted in the root is what followed the last one. */
static void visit_root(struct build *build)
{
  const char *name = root_name(build);
  uint64_t unseen = add_unseen(build);
  add_root_values(build, true, spent(build, 0) ? name : "[counted after the last sample]", 0);
  add_root_values(build, false, name, unseen);
}

/* Visits all contexts.  Those that were deferred, because their row depends on the bodies found, come last. */
static void visit_all(struct build *build)
{
  struct item root = {.entry = MODEL_NONE, .site = MODEL_NONE, .call = MODEL_NONE, .outline = MODEL_NONE, .top = true};
  push_children(build, &root);
  if (has_values(build, 0))
    visit_root(build);
  size_t next = 0;
  while (build->stack.count || next < build->deferred.count) {
    struct item item;
    if (build->stack.count) {
      item = build->stack.items[--build->stack.count];
    } else {
      item = build->deferred.items[next++];
      item.row = entry_row(build, item.entry);
      item.entry = MODEL_NONE;
    }
    visit(build, &item);
  }
}

void topdown_build(const struct profile *profile, struct names *names, const struct tree_columns *columns,
                   const char *root_name, struct topdown_choice choice, struct tree *tree, uint32_t *row_of)
{
  struct build build = {.profile = profile,
                        .contexts = &profile->contexts,
                        .names = names,
                        .columns = columns,
                        .tree = tree,
                        .choice = choice,
                        .row_of = row_of};
  if (row_of)
    memset(row_of, 0xff, profile->contexts.count * sizeof *row_of);
  tree_init(tree, columns->count, root_name);
  tree_init(&build.sites, 0, "");
  link_children(&build);
  visit_all(&build);
  free(build.first_child);
  free(build.next);
  free(build.system_rows);
  free(build.stack.items);
  free(build.deferred.items);
  free(build.entries);
  free(build.bodies);
  tree_release(&build.sites);
}

/* Adds a row "for @ solve.c:42 [callers unknown]" for a construct's share of the critical path that has no context. */
static void add_path_row(const struct profile *profile, struct names *names, const struct tree_columns *columns,
                         const struct context_share *share, struct tree *tree, uint32_t *rows)
{
  const struct profile_directive *directive = &profile->workspan.directives[share->directive];
  struct tree_row wanted = tree_plain_row(0, ROW_PARTIAL, NULL, "", 0);
  uint32_t address = names->directive_at[share->directive];
  const char *kind = profile_directive_name(directive->kind);
  char *text;
  if (address != MODEL_NONE) {
    const struct names_frame *step = names_innermost(names, address);
    wanted.file = step->file;
    wanted.line = step->line;
    wanted.module = directive->module;
  }
  if (*wanted.file && wanted.line)
    text = xasprintf("%s @ %s:%u [callers unknown]", kind, names_base(wanted.file), wanted.line);
  else
    text = xasprintf("%s [callers unknown]", kind);
  wanted.name = names_own(names, text);
  uint32_t row = tree_add(tree, &wanted, NULL);
  tree_value(tree, row, columns->critical, share->amount);
  rows[share->directive] = row;
}

void topdown_critical_path(const struct profile *profile, struct names *names, const struct tree_columns *columns,
                           struct tree *tree, uint32_t *row_of)
{
  uint32_t *rows = row_of + profile->contexts.count;
  memset(rows, 0xff, (profile->workspan.directives_count + 1) * sizeof *rows);
  rows[0] = 0;
  if (columns->critical == MODEL_NONE)
    return;
  for (uint32_t i = 0; i < profile->contexts.shares_count; i++) {
    const struct context_share *share = &profile->contexts.shares[i];
    if (share->context != MODEL_NONE)
      continue;
    if (!share->directive)
      tree_value(tree, 0, columns->critical, share->amount);
    else
      add_path_row(profile, names, columns, share, tree, rows);
  }
}
