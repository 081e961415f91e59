"""A random OpenMP program, by seed: statements whose effect on counts, work and span OpenMP determines, and the text.

Every directive stands on a line of its own.  What the standard leaves to the runtime is avoided:

- After `nowait` or `master`, threads of a team are at different points until the next barrier.  `around` says what the
  rest of that phase may contain: "all" (the threads are alike), "fixed" (each thread's part is known), "one" (one
  unknown thread did more), "many" (unknown threads have unknown parts).
- In an iteration or a section, the schedule decides which other tasks are siblings of those that it creates: these
  statements are `loose`, without taskwait and depend.
"""
import random

FUNCTIONS = ("alpha", "beta", "delta")
OTHER = "others"  # does work, and is in no scenario
PLACES = 3  # addresses that the tasks of one parent depend on
OF_DETACHED = 2  # the one that detached tasks have if nothing but deferred tasks may depend on them
INNER = 2  # what delta() reports through alpha()


class Statement:
    """Kind, what is inside, and whatever the kind needs.  line: that of the directive; before: that of the code before
    it, to which GCC gives some constructs."""

    def __init__(self, kind, body=(), **more):
        self.kind, self.body, self.line, self.before = kind, list(body), 0, 0
        self.__dict__.update(more)


class Where:
    """What may stand at a place of the program."""

    def __init__(self, level, **more):
        self.level = level  # "serial", "team" (all threads of a team run it) or "task"
        self.alone = False  # outside any region
        self.around, self.loose = "all", False  # see above
        self.apart = False  # in what a thread does while around is "many": the earliest one is not known
        self.explicit = self.final = self.untied = False  # in a task that is so
        self.part = False  # in a function of its own
        self.regions, self.depth = 2, 0  # how deep regions may be nested; how deep statements are
        self.threads, self.own = 1, 1  # how many there are of all regions around, and of the innermost one
        self.times = 1  # about how often it runs
        self.variables = ()  # of loops around
        self.__dict__.update(more)

    def inside(self, **more):
        return Where(**{**self.__dict__, "depth": self.depth + 1, "apart": self.is_apart(), **more})

    def is_apart(self):
        return self.apart or self.around == "many"


class Maker:
    """Makes the statements of a program.

    untied_waits: untied tasks may contain waits; with them, libomp 14 now and then hangs by itself, or drops the rest
    of the task after a cancellation.  detach: tasks may be detached.  waits_for_detached: taskwaits, and tasks that
    their creator waits for, may depend on such a task."""

    def __init__(self, seed, untied_waits=True, detach=True, waits_for_detached=True):
        self.random, self.untied_waits = random.Random(seed), untied_waits
        self.detach, self.waits_for_detached = detach, waits_for_detached
        self.names = 0
        self.threads = self.random.choice((2, 2, 3, 3, 4, 5, 8))
        self.bare_ends = self.random.random() < 0.3  # bodies may end with a call
        self.parts = []
        for _ in range(self.random.randrange(3)):
            where = Where("task", loose=True, final=True, explicit=True, regions=0, depth=2, times=8, part=True)
            self.parts.append(self.block(where))
        self.main = self.block(Where("serial", alone=True), self.random.randint(2, 5))
        self.main += [self.parallel(Where("serial", alone=True)),
                      *(Statement("work", function=name, amount=(1, None, 1)) for name in FUNCTIONS)]

    def chance(self, share):
        return self.random.random() < share

    def name(self):
        self.names += 1
        return self.names

    def amount(self, where):
        """A number of units: base + variable % divisor."""
        base = self.random.randint(1, 9)
        if where.variables and self.chance(0.5):
            return base, self.random.choice(where.variables), self.random.randint(2, 5)
        return base, None, 1

    def work(self, where):
        function = self.random.choice(FUNCTIONS + FUNCTIONS + (OTHER,))
        return Statement("work", function=function, amount=self.amount(where))

    def works(self, where):
        return [self.work(where) for _ in range(self.random.randint(1, 2))]

    def block(self, where, count=None):
        """Statements in a row.  In a team, where.around follows them."""
        if where.depth > 4 or where.times > 150:
            return self.works(where)
        made = []
        for _ in range(count or self.random.randint(1, 4)):
            choices = self.choices(where)
            if self.dependent in choices and self.chance(0.2):
                made += self.tangle(where)
            else:
                made.append(self.random.choice(choices)(where))
        return made

    def choices(self, where):
        often = [self.work, self.work, self.task, self.task]
        locks = [] if where.is_apart() else [self.exclusive, self.exclusive]
        if where.untied:
            return often + [self.nap, *locks]
        some = [self.nap, self.taskgroup, self.repeat, self.task_yield, *locks]
        if where.regions and where.threads <= 16:
            some += [self.parallel] * (1 if where.level != "serial" else 5)
        if not where.alone:
            some += [self.taskloop]
            if not where.final:
                some += [self.detached, self.cancelled_group]
        if not where.loose and where.around != "many":
            some += [self.taskwait]
            if not where.alone:
                often += [self.dependent, self.dependent]
                some += [self.taskwait_depend]
        if where.level == "task" and self.parts and not where.part and not where.is_apart():
            some += [self.call]
        if where.level == "team":
            some += [self.barrier] * (1 if where.around == "all" else 6)
            if where.around in ("all", "fixed"):
                some += [self.static_loop, self.static_loop, self.master]
            if where.around == "all":
                some += [self.loop, self.loop, self.loop, self.sections, self.single, self.single, self.cancelled_loop]
        return often + some

    # ---- what every task may do ----

    def nap(self, _):
        return Statement("nap", time=self.random.choice((1, 50, 200)))

    def task_yield(self, _):
        return Statement("taskyield")

    def task(self, where, depend=(), **clauses):
        kind = self.random.choice(("plain", "undeferred", "undeferred", "untied", "final", "mergeable"))
        final, untied = kind == "final", kind == "untied"
        within = where.inside(level="task", around="all", loose=False, explicit=True, final=where.final or final,
                              untied=untied and not self.untied_waits)
        within.regions *= self.chance(0.5)
        body = self.block(within)
        return Statement("task", body, depend=list(depend), undeferred=kind == "undeferred", final=final,
                         untied=untied, mergeable=kind == "mergeable", **clauses)

    def dependence(self):
        return self.random.choice(("in", "in", "out", "inout", "mutex")), self.random.randrange(PLACES)

    def dependent(self, where):
        depend = dict.fromkeys(self.dependence()[::-1] for _ in range(self.random.randint(1, 2)))
        places = {place: kind for place, kind in depend}
        task = self.task(where, [(kind, place) for place, kind in places.items()])
        if not self.waits_for_detached and (where.final or task.undeferred):
            task.depend = [(kind, place) for kind, place in task.depend if place != OF_DETACHED]
        if "mutex" in places.values():
            task.body = self.works(where.inside(level="task"))  # libgomp and libomp hang where such tasks wait
        return task

    def tangle(self, where):
        """Tasks in a row that depend on one another."""
        made = []
        for _ in range(self.random.randint(4, 8)):
            task = self.dependent(where)
            task.body = self.works(where.inside(level="task"))
            made += [task, *self.works(where)] if self.chance(0.3) else [task]
        return made

    def taskwait(self, _):
        return Statement("taskwait")

    def taskwait_depend(self, _):
        place = self.random.randrange(PLACES if self.waits_for_detached else OF_DETACHED)
        return Statement("taskwait depend", depend=[(self.random.choice(("in", "out")), place)])

    def taskgroup(self, where):
        return Statement("taskgroup", self.block(where.inside(level="serial" if where.level == "serial" else "task")))

    def repeat(self, where):
        count, name = self.random.randint(2, 3), f"r{self.name()}"
        within = where.inside(times=where.times * count, variables=where.variables + (name,))
        body = self.block(within)
        where.around = within.around
        if where.level == "team" and where.around != "all":
            body.append(self.barrier(where))
        return Statement("repeat", body, count=count, variable=name)

    def exclusive(self, where):
        return Statement(self.random.choice(("critical", "lock")), self.works(where), name=self.name())

    def taskloop(self, where):
        chunk, parts = self.random.randint(1, 3), self.random.randint(1, 4)
        clause, name = self.random.choice((("grainsize", 1, parts), ("grainsize", chunk, 2), ("grainsize", chunk, 1),
                                           ("num_tasks", 1, parts), ("num_tasks", chunk, parts))), f"i{self.name()}"
        how, size, pieces = clause
        within = where.inside(level="task", around="all", loose=True, explicit=True, times=where.times * size * pieces,
                              variables=where.variables + (name,))
        return Statement("taskloop", self.block(within), clause=how, size=size, pieces=pieces, variable=name,
                         nogroup=self.chance(0.3))

    def detached(self, where):
        body = self.works(where.inside(level="task"))
        may_depend = not where.loose and where.around != "many"
        place = self.random.randrange(PLACES) if self.waits_for_detached else OF_DETACHED
        made = Statement("detached", body, name=f"event{self.name()}",
                         place=place if may_depend and self.chance(0.5) else None, by=self.random.choice(("creator", "task", "itself")), meanwhile=self.works(where))
        return made if self.detach else Statement("taskgroup", body)

    def cancelled_group(self, where):
        return Statement("cancelled group", self.works(where), rest=self.works(where))

    def call(self, _):
        return Statement("call", part=self.random.randrange(len(self.parts)))

    # ---- regions, and what their teams do together ----

    def parallel(self, where):
        threads = self.threads if where.level == "serial" else self.random.choice((2, 2, 3))
        within = Where("team", regions=where.regions - 1, depth=where.depth + 1, threads=where.threads * threads,
                       own=threads, times=where.times * threads, variables=where.variables, part=where.part,
                       explicit=where.explicit, apart=where.is_apart())
        if self.chance(0.1):
            cancel = Statement("cancel", what="parallel")
            return Statement("parallel", [*self.works(within), cancel, *self.works(within)], threads=threads)
        return Statement("parallel", self.block(within, self.random.randint(2, 5)), threads=threads)

    def barrier(self, where):
        where.around = "all"
        return Statement("barrier")

    def nowait(self, where, around):
        """Whether a construct has no barrier at its end; around: how the threads are then."""
        chosen = self.chance(0.3)
        where.around = around if chosen else "all"
        return chosen

    def chunk_place(self, where, times, name):
        return where.inside(level="task", around="all", loose=True, times=where.times * times,
                            variables=where.variables + (name,))

    def loop(self, where):
        """A loop whose chunks the schedule determines, or one without work of its own."""
        count, name, size = self.random.randint(1, 12), f"i{self.name()}", self.random.randint(1, 4)
        schedule = self.random.choice(("dynamic", "dynamic", "runtime", "single chunk", "guided"))
        within = self.chunk_place(where, max(1, count // where.own), name)
        if schedule == "guided":
            body = [self.task(within) for _ in range(self.random.randint(1, 2))]
            for task in body:
                task.undeferred = False
        else:
            body = self.block(within)
        clause = {"dynamic": f"dynamic, {size}", "single chunk": f"guided, {count + size}"}.get(schedule, schedule)
        size = {"dynamic": size, "single chunk": count, "runtime": 2, "guided": 1}[schedule]
        return Statement("for", body, clause=clause, size=size, count=count, variable=name, static=False,
                         guided=schedule == "guided", nowait=self.nowait(where, "many"))

    def static_loop(self, where):
        size, name = self.random.randint(1, 3), f"i{self.name()}"
        chunked = self.chance(0.5)
        count = self.random.randint(1, 12) if chunked else size * where.own
        body = self.block(self.chunk_place(where, max(1, count // where.own), name))
        return Statement("for", body, clause=f"static, {size}" if chunked else "static", size=size, count=count,
                         variable=name, static=True, guided=False, nowait=self.nowait(where, "fixed"))

    def cancelled_loop(self, where):
        size, name = self.random.randint(1, 3), f"i{self.name()}"
        within = self.chunk_place(where, 1, name)
        body = [*self.works(within), Statement("cancel", what="for"), *self.works(within)]
        return Statement("for", body, clause="static", size=size, count=size * where.own, variable=name, static=True,
                         guided=False, nowait=False)

    def sections(self, where):
        within = where.inside(level="task", around="all", loose=True)
        bodies = [Statement("section", self.block(within)) for _ in range(self.random.randint(1, where.own))]
        return Statement("sections", bodies, nowait=self.nowait(where, "many"))

    def single(self, where):
        within = where.inside(level="task", around="all", times=max(1, where.times // where.own))
        body = self.block(within)
        return Statement("single", body, nowait=self.nowait(where, "one"))

    def master(self, where):
        within = where.inside(level="task", around="all", times=max(1, where.times // where.own))
        body = self.block(within)
        where.around = "fixed"
        return Statement("master", body)


class Text:
    """The C text of a program; it gives the statements their lines."""

    def __init__(self, made, seed):
        self.lines, self.made, self.statements = [], made, {}
        self.put(f"/* seed {seed} */", "#include <omp.h>", "#include <unistd.h>", '#include "hpcrun-lite.h"', "",
                 "static volatile int sink, none;", "static omp_lock_t locks[500];", "")
        for name in (OTHER, *FUNCTIONS):
            self.put(f"__attribute__((noinline)) static void {name}(int n)", "{", "hpcrun_lite_add_work(n);")
            self.put(*[f"alpha({INNER});"] * (name == "delta"), "sink++;", "}", "")
        for number, part in enumerate(made.parts):
            self.put(f"__attribute__((noinline)) static void part{number}(void)")
            self.block(part)
        self.put("int main(void)", "{", "for (int i = 0; i < 500; i++)", "omp_init_lock(&locks[i]);")
        self.block(made.main)
        self.put("return 0;", "}")

    def __str__(self):
        return "\n".join(self.lines) + "\n"

    def put(self, *lines):
        self.lines += lines

    def block(self, statements, places=False):
        self.put("{", *[f"char at[{PLACES}];", "(void)at;"] * places)
        for statement in statements:
            self.statement(statement)
        self.put(*["sink++;"] * (not self.made.bare_ends), "}")

    def pragma(self, statement, text):
        self.put("sink++;", "#pragma omp " + text)
        self.at(statement)

    def at(self, statement):
        """The statement stands in the last line."""
        statement.before, statement.line = len(self.lines) - 1, len(self.lines)
        self.statements[statement.line] = statement

    @staticmethod
    def amount(amount):
        base, variable, divisor = amount
        return f"{base} + {variable} % {divisor}" if variable else str(base)

    @staticmethod
    def depends(depend):
        names = {"mutex": "MUTEXINOUTSET"}
        return "".join(f" depend({names.get(kind, kind)}: at[{place}])" for kind, place in depend)

    def statement(self, s):
        getattr(self, "put_" + s.kind.replace(" ", "_"))(s)

    def put_work(self, s):
        self.put(f"{s.function}({self.amount(s.amount)});")

    def put_nap(self, s):
        self.put(f"usleep({s.time});")

    def put_taskyield(self, s):
        self.pragma(s, "taskyield")

    def put_task(self, s):
        clauses = ((s.undeferred, "if(none)"), (s.final, "final(1)"), (s.untied, "untied"), (s.mergeable, "mergeable"))
        self.pragma(s, " ".join(["task", *(text for given, text in clauses if given)]) + self.depends(s.depend))
        self.block(s.body, places=True)

    def put_taskwait(self, s):
        self.pragma(s, "taskwait")

    def put_taskwait_depend(self, s):
        self.pragma(s, "taskwait" + self.depends(s.depend))

    def put_taskgroup(self, s):
        self.pragma(s, "taskgroup")
        self.block(s.body)

    def put_repeat(self, s):
        self.put(f"for (int {s.variable} = 0; {s.variable} < {s.count}; {s.variable}++)")
        self.block(s.body)

    def put_critical(self, s):
        self.pragma(s, f"critical(name{s.name})")
        self.block(s.body)

    def put_lock(self, s):
        self.put("sink++;", f"omp_set_lock(&locks[{s.name}]);")
        self.at(s)
        self.block(s.body)
        self.put(f"omp_unset_lock(&locks[{s.name}]);")

    def loop(self, s, count):
        self.put(f"for (int {s.variable} = 0; {s.variable} < {count}; {s.variable}++)")
        self.block(s.body)

    def put_taskloop(self, s):
        number = s.size if s.clause == "grainsize" else s.pieces
        self.pragma(s, f"taskloop {s.clause}({number})" + " nogroup" * s.nogroup)
        self.put(f"for (int {s.variable} = 0; {s.variable} < {s.size * s.pieces}; {s.variable}++)")
        self.block(s.body, places=True)

    def put_detached(self, s):
        self.put("{", f"omp_event_handle_t {s.name};")
        self.pragma(s, f"task detach({s.name})" + (f" depend(out: at[{s.place}])" if s.place is not None else ""))
        fulfil = Statement("fulfil", name=s.name)
        self.block(s.body + [fulfil] * (s.by == "itself"))
        if s.by == "task":
            s.fulfiller = Statement("task")
            self.pragma(s.fulfiller, f"task firstprivate({s.name})")
            self.block(s.meanwhile + [fulfil])
        elif s.by == "creator":
            for statement in s.meanwhile + [fulfil]:
                self.statement(statement)
        self.put("}")

    def put_fulfil(self, s):
        self.put(f"omp_fulfill_event({s.name});")

    def put_cancelled_group(self, s):
        self.pragma(s, "taskgroup")
        self.put("{")
        s.task = Statement("task")
        self.pragma(s.task, "task")
        self.block([*s.body, Statement("cancel", what="taskgroup"), *s.rest])
        self.put("sink++;", "}")

    def put_cancel(self, s):
        self.pragma(s, "cancel " + s.what)

    def put_call(self, s):
        self.put(f"part{s.part}();")

    def put_parallel(self, s):
        self.pragma(s, f"parallel num_threads({s.threads})")
        self.block(s.body, places=True)

    def put_barrier(self, s):
        self.pragma(s, "barrier")

    def put_for(self, s):
        self.pragma(s, f"for schedule({s.clause})" + " nowait" * s.nowait)
        self.loop(s, s.count)

    def put_sections(self, s):
        self.pragma(s, "sections" + " nowait" * s.nowait)
        self.put("{")
        for section in s.body:
            self.put("#pragma omp section")
            self.block(section.body)
        self.put("}")

    def put_single(self, s):
        self.pragma(s, "single" + " nowait" * s.nowait)
        self.block(s.body)

    def put_master(self, s):
        self.pragma(s, "master")
        self.block(s.body)
