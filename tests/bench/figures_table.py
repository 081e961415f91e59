"""The rows of the benchmark: printed as they come, and kept for --csv."""
import csv

COLUMNS = ("section", "what", "way", "quantity", "low", "median", "high", "unit", "bar", "verdict")


def verdict(spread, bar):
    """Whether the median is within the bar; with a tilde if the bar is between the quartiles."""
    if bar is None:
        return ""
    low, median, high = spread
    return ("met" if median <= bar else "NOT MET") + ("~" if low <= bar < high else "")


class Table:
    def __init__(self):
        self.rows, self.section = [], ""

    def begin(self, section, heading):
        self.section = section
        print(f"\n{section}\n{heading}", flush=True)

    def keep(self, what, way, quantity, spread, unit, bar=None):
        """Takes a figure in; returns its verdict."""
        judged = verdict(spread, bar)
        self.rows.append((self.section, what, way, quantity, *(f"{value:.6g}" for value in spread), unit, ""
                          if bar is None else f"{bar:g}", judged))
        return judged

    def line(self, what, way, quantity, spread, unit, bar=None):
        """Prints a figure on its own line."""
        judged = self.keep(what, way, quantity, spread, unit, bar)
        low, median, high = (number(value) for value in spread)
        between = "" if low == high else f"{low} .. {high}"
        limit = "" if bar is None else f"<= {number(bar)}"
        print(f"{what:34} {way:22} {quantity:26} {median:>9} {unit:8} {between:22} {limit:12} {judged}".rstrip(),
              flush=True)

    def write(self, path):
        with open(path, "w", newline="", encoding="utf-8") as file:
            writer = csv.writer(file)
            writer.writerow(COLUMNS)
            writer.writerows(self.rows)

    def summary(self):
        judged = [row for row in self.rows if row[-1]]
        missed = [row for row in judged if row[-1].startswith("NOT")]
        print(f"\n{len(judged) - len(missed)} of {len(judged)} figures with a bar meet it (~: the quartiles lie on both sides).", flush=True)
        for row in missed:
            print(f"  {row[-1]:9} {row[1]}, {row[2]}: {row[3]} {row[5]} {row[7]}, bar {row[8]}")


def number(value):
    """Short, with enough digits to compare."""
    if abs(value) >= 100 or value == int(value):
        return f"{value:,.0f}"
    return f"{value:.3f}" if abs(value) < 10 else f"{value:.1f}"
