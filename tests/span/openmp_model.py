"""What OpenMP's rules give a random program: counts of each construct, work and span, also under scenarios.

The model runs the statements of random_program.py and builds a graph: a node is a piece of work, an edge says that one
waits for the other.  The span is the longest path.  It shares nothing with the profiler, which keeps clocks."""
from collections import Counter
from fractions import Fraction

from random_program import INNER


class Instance:
    """One execution of a construct."""

    def __init__(self, kind, line, outer):
        self.kind, self.line, self.nodes, self.inner = kind, line, [], []
        self.executions, self.sections = 1, 0
        if outer:
            outer.inner.append(self)

    def all_nodes(self):
        """Its nodes, and those of the instances inside."""
        found, left = [], [self]
        while left:
            instance = left.pop()
            found += instance.nodes
            left += instance.inner
        return found


class Task:
    """A task while the model runs it: its latest node, and what others have to wait for."""

    def __init__(self, now, instance, team=None, group=None, final=False):
        self.now, self.instance, self.team, self.group, self.final = now, instance, team, group, final
        self.children, self.depends = [], []


class Team:
    def __init__(self):
        self.threads, self.tasks = [], []


def conflict(one, other):
    """Whether a task with one kind of dependence waits for an earlier one with the other."""
    return (one, other) not in (("in", "in"), ("mutex", "mutex"))


class Model:
    """mutex: what the program has for mutexinoutset."""

    def __init__(self, made, mutex="mutex"):
        self.made, self.mutex = made, mutex
        self.before, self.work, self.held = [], [], {}
        self.crowded = False  # there may be so many tasks that libgomp runs detached ones at once, and waits for them
        self.chunks, self.iterations, self.tasks, self.undeferred = {}, {}, {}, []
        self.program = Instance("program", 0, None)
        task = Task(self.node((), self.program), self.program)
        self.run(made.main, task, {})

    # ---- the graph ----

    def node(self, before, instance, functions=(), amount=0):
        self.before.append([number for number in before if number is not None])
        self.work.append((functions, amount))
        instance.nodes.append(len(self.work) - 1)
        return len(self.work) - 1

    def join(self, task, before):
        task.now = self.node([task.now, *before], task.instance)

    def add_work(self, task, functions, amount):
        task.now = self.node([task.now], task.instance, functions, amount)

    # ---- statements of one task ----

    def run(self, statements, task, values):
        """Runs them; returns False where a cancellation ends the body."""
        for s in statements:
            if s.kind == "cancel":
                return False
            getattr(self, "run_" + s.kind.replace(" ", "_"))(s, task, values)
        return True

    def within(self, kind, s, task, values):
        """Runs statements as an instance of a construct by the same task."""
        outer = task.instance
        task.instance = Instance(kind, s.line, outer)
        task.now = self.node([task.now], task.instance)
        self.run(s.body, task, values)
        task.instance = outer

    def run_work(self, s, task, values):
        base, variable, divisor = s.amount
        amount = base + values[variable] % divisor if variable else base
        self.add_work(task, (s.function,), amount)
        if s.function == "delta":
            self.add_work(task, ("delta", "alpha"), INNER)

    def run_nap(self, s, task, values):
        pass

    run_taskyield = run_fulfil = run_nap

    def waited(self, task, depend):
        """The ends of earlier children that a task with these dependences waits for."""
        return [end for kind, place in depend for other, where, end in task.depends
                if where == place and conflict(kind, other)]

    def depend(self, depend):
        kinds = {"mutex": self.mutex, "inout": "out"}
        return [(kinds.get(kind, kind), place) for kind, place in depend]

    def begin_task(self, s, task, kind="task", depend=(), final=False, undeferred=False, untied=False):
        """A new task, which may begin where its creator is now."""
        serial = undeferred or task.final
        instance = Instance(kind, s.line, task.instance)
        child = Task(self.node([task.now, *self.waited(task, depend)], instance), instance, task.team, task.group,
                     final or task.final)
        counts = self.tasks.setdefault(s.line, Counter())
        alone = not task.team  # the runtime runs it at once, but logically it is not serial
        counts.update(instances=1, undeferred=serial or alone, untied=untied, dependences=bool(depend))
        child.serial = serial
        self.undeferred += [instance] * undeferred
        return child

    def end_task(self, child, task, depend=()):
        """The node at which the child has ended."""
        end = self.node([child.now], child.instance)
        task.children.append(end)
        task.depends += [(kind, place, end) for kind, place in depend]
        if task.group is not None:
            task.group.append(end)
        if task.team:
            task.team.tasks.append(end)
        if child.serial:
            task.now = self.node([end], task.instance)
        return end

    def run_task(self, s, task, values):
        depend = self.depend(s.depend)
        child = self.begin_task(s, task, "task", depend, s.final, s.undeferred, s.untied)
        self.run(s.body, child, values)
        self.end_task(child, task, depend)

    def run_taskwait(self, s, task, values):
        Instance("taskwait", s.line, task.instance)
        self.join(task, task.children)

    def run_taskwait_depend(self, s, task, values):
        Instance("taskwait", s.line, task.instance)
        self.join(task, self.waited(task, self.depend(s.depend)))

    def group(self, s, task, run, own=False):
        """own: that of a taskloop, which is no execution of a taskgroup construct."""
        outer, instance = task.group, task.instance
        task.group, task.instance = [], Instance("taskgroup", s.line, instance)
        task.instance.executions = not own
        task.now = self.node([task.now], task.instance)
        run()
        self.join(task, task.group)
        task.group, task.instance = outer, instance

    def run_taskgroup(self, s, task, values):
        self.group(s, task, lambda: self.run(s.body, task, values))

    def run_cancelled_group(self, s, task, values):
        def inside():
            child = self.begin_task(s.task, task)
            self.run(s.body, child, values)
            self.end_task(child, task)
        self.group(s, task, inside)

    def run_repeat(self, s, task, values):
        for number in range(s.count):
            self.run(s.body, task, {**values, s.variable: number})

    def run_critical(self, s, task, values):
        at, first = task.now, len(self.work)
        self.within("critical", s, task, values)
        self.held.setdefault(("critical", s.line), []).append((at, range(first, len(self.work))))

    def run_lock(self, s, task, values):
        """Locks may be held hand over hand: what is done meanwhile is not inside."""
        at, first = task.now, len(self.work)
        Instance("lock", s.line, task.instance)
        self.run(s.body, task, values)
        self.held.setdefault(("lock", s.line), []).append((at, range(first, len(self.work))))

    def run_taskloop(self, s, task, values):
        outer = task.instance
        task.instance = Instance("taskloop", s.line, outer)

        def inside():
            for piece in range(s.pieces):
                child = self.begin_task(s, task)
                for number in range(piece * s.size, (piece + 1) * s.size):
                    self.run(s.body, child, {**values, s.variable: number})
                self.end_task(child, task)
        if s.nogroup:
            inside()
        else:
            self.group(s, task, inside, True)
        task.instance = outer

    def run_detached(self, s, task, values):
        self.crowded |= len(task.team.tasks) > 60 * len(task.team.threads)
        depend = [("out", s.place)] if s.place is not None else []
        child = self.begin_task(s, task, "task", depend)
        self.run(s.body, child, values)
        end = self.end_task(child, task, depend)
        if s.by == "creator":
            self.run(s.meanwhile, task, values)
            self.before[end].append(task.now)
        elif s.by == "task":
            other = self.begin_task(s.fulfiller, task)
            self.run(s.meanwhile, other, values)
            self.end_task(other, task)
            self.before[end].append(other.now)

    def run_call(self, s, task, values):
        self.run(self.made.parts[s.part], task, {})

    # ---- teams ----

    def run_parallel(self, s, task, values):
        instance = Instance("parallel", s.line, task.instance)
        team = Team()
        team.threads = [Task(self.node([task.now], instance), instance, team) for _ in range(s.threads)]
        self.run_team(s.body, team, instance, values)
        task.now = self.node([thread.now for thread in team.threads] + team.tasks, instance)

    def run_team(self, statements, team, instance, values):
        for s in statements:
            if s.kind == "cancel":
                return
            together = getattr(self, "team_" + s.kind.replace(" ", "_"), None)
            if together:
                together(s, team, instance, values)
            else:
                for thread in team.threads:
                    self.run([s], thread, values)

    def barrier(self, team, instance):
        node = self.node([thread.now for thread in team.threads] + team.tasks, instance)
        for thread in team.threads:
            thread.now = node
        team.tasks.clear()

    def team_barrier(self, s, team, instance, values):
        Instance("barrier", s.line, instance)
        self.barrier(team, instance)

    def team_repeat(self, s, team, instance, values):
        for number in range(s.count):
            self.run_team(s.body, team, instance, {**values, s.variable: number})

    def pieces(self, team, instance, parts):
        """Runs parts of a construct: (thread, whether it follows the thread's part before, statements, values)."""
        entries = [thread.now for thread in team.threads]
        ends = [[] for _ in team.threads]
        for number, in_turn, bodies in parts:
            thread = team.threads[number]
            outer, thread.instance = thread.instance, instance
            thread.now = self.node([ends[number][-1] if in_turn and ends[number] else entries[number]], instance)
            for statements, values in bodies:
                if not self.run(statements, thread, values):
                    break
            ends[number].append(thread.now)
            thread.instance = outer
        for thread, entry, own in zip(team.threads, entries, ends):
            thread.now = self.node([entry, *own], instance)

    def team_for(self, s, team, instance, values):
        loop = Instance("for", s.line, instance)
        count = len(team.threads)
        chunks = [range(first, min(first + s.size, s.count)) for first in range(0, s.count, s.size)]
        parts = [(number % count, s.static, [(s.body, {**values, s.variable: i}) for i in chunk])
                 for number, chunk in enumerate(chunks)]
        self.pieces(team, loop, parts)
        if not s.static and not s.guided:
            self.chunks[s.line] = self.chunks.get(s.line, 0) + len(chunks)
        self.iterations[s.line] = s.count
        if not s.nowait:
            self.barrier(team, instance)

    def team_sections(self, s, team, instance, values):
        inside = Instance("sections", s.line, instance)
        inside.sections = len(s.body)
        self.pieces(team, inside, [(number, False, [(section.body, values)]) for number, section in enumerate(s.body)])
        if not s.nowait:
            self.barrier(team, instance)

    def team_single(self, s, team, instance, values):
        self.within("single", s, team.threads[0], values)
        if not s.nowait:
            self.barrier(team, instance)

    def team_master(self, s, team, instance, values):
        self.within("masked", s, team.threads[0], values)

    # ---- figures ----

    def order(self):
        """The nodes such that each comes after those that it waits for."""
        left = [len(before) for before in self.before]
        after = [[] for _ in self.before]
        for number, before in enumerate(self.before):
            for other in before:
                after[other].append(number)
        ready, order = [number for number, count in enumerate(left) if not count], []
        while ready:
            number = ready.pop()
            order.append(number)
            for other in after[number]:
                left[other] -= 1
                if not left[other]:
                    ready.append(other)
        assert len(order) == len(self.work), "what is waited for waits itself"
        return order

    def lengths(self, factors=None, nodes=None, unscaled=()):
        """The longest path that ends in each node, with the work of some functions divided, except in unscaled nodes;
        within some nodes only."""
        factors = factors or {}
        position = getattr(self, "positions", None)
        if position is None:
            position = self.positions = {number: place for place, number in enumerate(self.order())}
        chosen = sorted(range(len(self.work)) if nodes is None else nodes, key=position.__getitem__)
        ends = {}
        for number in chosen:
            functions, amount = self.work[number]
            factor = 1 if number in unscaled else max([factors.get(name, 1) for name in functions], default=1)
            before = max([ends.get(other, 0) for other in self.before[number]], default=0)
            ends[number] = before + (amount if factor == 1 else Fraction(amount, factor))
        return ends

    def span(self, factors=None, unscaled=()):
        return max(self.lengths(factors, None, unscaled).values())

    def undeferred_work(self):
        """The nodes of undeferred tasks, and of all inside."""
        return {node for instance in self.undeferred for node in instance.all_nodes()}

    def total(self, nodes=None):
        return sum(self.work[number][1] for number in (range(len(self.work)) if nodes is None else nodes))

    def constructs(self):
        """(kind, line) → instances, work, span, and what else is known of the construct."""
        clocks, found, left = self.lengths(), {}, list(self.program.inner)
        while left:
            instance = left.pop()
            left += instance.inner
            row = found.setdefault((instance.kind, instance.line), {})
            nodes = instance.all_nodes()
            lengths = self.lengths(nodes=nodes)
            for name, value in (("instances", 1), ("executions", instance.executions), ("sections", instance.sections),
                                ("work", self.total(nodes)), ("span", max(lengths.values(), default=0))):
                row[name] = row.get(name, 0) + value
        for key, holders in self.held.items():
            found[key]["lock_bound"] = min(clocks[at] for at, _ in holders) + sum(self.total(nodes)
                                                                                  for _, nodes in holders)
        return found
