#!/usr/bin/env python3
"""Renews the tables of docs/ that hold figures of `make bench`, from target/bench/bench.json.

    scripts/bench-docs.py [--check] [BENCH.json]

A table belongs to the line `<!-- bench: NAME -->` above it. Its rows, their order and what is prose stay; cells with figures are written anew where
bench.json has the rows, and left alone where it has not. --check writes nothing and ends with 1 if a table differs.
"""

import json
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
MARK = re.compile(r"<!-- bench: ([a-z0-9.-]+) -->")
# A miss on silicon, in cycles (MxU 5.1).
PAPER_MISS = 360


class Missing(Exception):
    """bench.json has no such row."""


class Bench:
    """Rows by their ids."""

    def __init__(self, path):
        self.rows = {row["id"]: row for row in json.loads(path.read_text())}

    def row(self, name):
        if name not in self.rows:
            raise Missing(name)
        return self.rows[name]

    def cycles(self, name, which="median"):
        return self.row(name)["cycles"][which]


def grouped(value):
    """Digits in groups of three, from 10 000 on."""
    return str(value) if value < 10_000 else f"{value:,}".replace(",", " ")


def percent(value, digits, sign=False):
    text = f"{value:+.{digits}f}" if sign else f"{value:.{digits}f}"
    if float(text) == 0:
        text = text.lstrip("+-")
    return text.replace("-", "−") + " %"


def short(value):
    """Three digits, with k or M."""
    for unit, name in ((10**6, " M"), (10**3, " k")):
        if value >= unit:
            return f"{value / unit:.3g}{name}"
    return str(value)


def plain(cell):
    return cell.strip("` *")


def paths(chip):
    def cells(bench, _, row):
        about = plain(row[0])
        prefix = f"{chip}.path."
        for name, found in bench.rows.items():
            path, _, seen_in = found["operation"].partition("; longest in ")
            if name.startswith(prefix) and path == about:
                return [row[0], str(found["instructions"]), str(found["cycles"]["max"]), seen_in] + row[4:]
        raise Missing(prefix + about)

    return cells


def operations(chip):
    """Instructions and cycles of ours and of the peers, by the id without the chip."""
    def cells(bench, header, row):
        name = f"{chip}.{plain(row[0])}"
        figures = []
        for title in header[2:]:
            peer = {"Cofferdam": "", "FreeRTOS": ".freertos", "FreeRTOS-MPU": ".freertos_mpu"}[title]
            found = bench.rows.get(name + peer)
            figures.append(f"{found['instructions']}, {found['cycles']['max']}" if found else "-")
        if set(figures) == {"-"}:
            raise Missing(name)
        return row[:2] + figures

    return cells


def direct(bench, _, row):
    """Instructions, median, average and largest cycles of what reaches handlers without the kernel."""
    found = bench.row(f"m33.{plain(row[0])}")
    average = f"{found['average']:.1f}" if "average" in found else "-"
    cycles = found["cycles"]
    return row[:2] + [str(cycles["median"]), average, str(cycles["max"]), str(found["instructions"])]


def handler_in_c(bench, header, row):
    names = {"m7.miss.paged": ("m7.miss.paged", "m7.miss.paged.c_handler"),
             "m7.miss.deepest": ("m7.miss.deepest", "m7.miss.deepest.c_handler"),
             ".cold": (None, "m7.miss.deepest.cold.c_handler"),
             ".l2": ("m7.miss.deepest.l2", "m7.miss.deepest.l2.c_handler")}
    pair = lambda name: f"{bench.cycles(name)}, {bench.cycles(name, 'max')}"
    ours, other = names[re.match(r"`([^`]*)`", row[0]).group(1)]
    return [row[0], pair(ours) if ours else row[1], pair(other)] + row[3:]


def each(bench, name):
    """Cycles of an access; the operation begins with how many there are."""
    return bench.cycles(name) / int(bench.row(name)["operation"].split()[0])


def figure_2(bench, header, row):
    figures = []
    for place in header[1:]:
        place = plain(place)
        value = each(bench, f"a9.mxu.fig2.{plain(row[0])}.{place}")
        figures.append(f"{value:.0f}" if place == "mis" else f"{value:.2f}")
    return row[:1] + figures


def figure_4(bench, header, row):
    value = lambda place: each(bench, f"a9.mxu.fig4.{plain(row[0])}.{place}.{row[1]}")
    tables = value("mem")
    figures = [f"{value(place):.1f}, {percent((value(place) / tables - 1) * 100, 1)}" for place in map(plain, header[3:])]
    return row[:2] + [f"{tables:.1f}"] + figures


APPLICATIONS = {"SQLite": "sqlite", "person_detect": "network", "Mandelbrot set": "mandel", "covariance": "covariance"}


def figure_6(bench, header, row):
    name = f"a9.mxu.fig6.{APPLICATIONS[plain(row[0])]}"
    none = bench.cycles(f"{name}.0")
    more = lambda ways: percent((bench.cycles(f"{name}.{ways}") / none - 1) * 100, 1, sign=True)
    figures = []
    for ways, old in zip(range(1, len(header) - 1), row[2:]):
        try:
            figures.append(more(ways))
        except Missing:
            figures.append(old)
    return [row[0], f"{none / 1e6:.1f} M"] + figures


def figure_8(bench, header, row):
    name = lambda place: f"a9.mxu.fig8.{APPLICATIONS[plain(row[0])]}.{place}.{row[1].replace(' ', '')}"
    tables = bench.cycles(name("mem"))
    share = tables / bench.row(name("mem"))["run_cycles"] * 100
    figures = []
    for place in map(plain, header[4:]):
        value = bench.cycles(name(place))
        figures.append(f"{short(value)}, {percent((value / tables - 1) * 100, 1)}")
    return row[:2] + [short(tables), f"{share:.2g} %"] + figures


def databases(bench, header, row):
    name = plain(row[0])
    found = bench.row(name if name.startswith("m7.") else f"m7.mxu.fig7.sqlite.{name}")
    pinned = found["cycles"]["median"] / (1 + found["overhead"] / 100)
    silicon = found["misses"] * PAPER_MISS / pinned * 100
    silicon = percent(silicon, 0 if silicon >= 100 else 1)
    silicon = f"**{silicon}**" if "**" in row[4] else silicon
    return row[:2] + [percent(found["overhead"], 2), grouped(found["misses"]), silicon]


def figure_7(bench, header, row):
    names = {"SQLite": "m7.mxu.sqlite.3paged.paper", "covariance": "m7.mxu.covariance.3paged.paper",
             "Mandelbrot set": "m7.mxu.fig7.mandel.3paged.paper", "neural network": "m7.mxu.fig7.network.4paged.paper"}
    return [row[0], percent(bench.row(names[row[0]])["overhead"], 2)] + row[2:]


TABLES = {
    "m7.path": paths("m7"),
    "m33.operation": operations("m33"),
    "m33.direct": direct,
    "m33.path": paths("m33"),
    "a9.path": paths("a9"),
    "m7.miss": handler_in_c,
    "a9.mxu.fig2": figure_2,
    "a9.mxu.fig4": figure_4,
    "a9.mxu.fig6": figure_6,
    "a9.mxu.fig8": figure_8,
    "m7.mxu.fig7": figure_7,
    "m7.mxu.fig7.sqlite": databases,
}


def split(line):
    return [cell.strip() for cell in line.strip().strip("|").split("|")]


def renewed(lines, bench, missing):
    """The lines of a document with its tables written anew."""
    table, header = None, None
    for line in lines:
        mark = MARK.fullmatch(line.strip())
        if mark:
            table, header = TABLES[mark.group(1)], None
        elif table and line.startswith("|"):
            row = split(line)
            if header is None:
                header = row
            elif not set(line) <= set("|- :"):
                try:
                    line = "|" + "".join(f" {cell} |" if cell else " |" for cell in table(bench, header, row))
                except Missing as name:
                    missing.append(str(name))
        else:
            table = None
        yield line


def main(arguments):
    check = "--check" in arguments
    files = [argument for argument in arguments if argument != "--check"]
    bench = Bench(pathlib.Path(files[0]) if files else ROOT / "target/bench/bench.json")
    changed, missing = [], []
    for document in sorted((ROOT / "docs").glob("*.md")):
        text = document.read_text()
        new = "\n".join(renewed(text.split("\n"), bench, missing))
        if new != text:
            changed.append(document.name)
            if not check:
                document.write_text(new)
    print(f"{'differs' if check else 'renewed'}: {', '.join(changed) or 'nothing'}")
    if missing:
        print(f"left alone, for want of rows: {len(missing)}, the first {missing[0]}")
    return int(check and bool(changed))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
