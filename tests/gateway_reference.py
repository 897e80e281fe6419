#!/usr/bin/env python3
"""Compares what the gateway printed with values that other tools compute from the same files.

    gateway_reference.py CONSOLE [DATA]

CONSOLE is the console's output of a run, DATA the directory of fetched data (default: target/data). The queries are asked
of the sqlite3 of this Python, the statistics are computed by numpy; the gateway uses SQLite under its own file system and
jStat under Duktape. Prints one line for each value; exit code 0 when all are there and equal, 1 otherwise.

The scores of `vision` depend on its network; what is checked here is which photograph shows a person.
"""
import csv
import math
import pathlib
import sqlite3
import sys

import numpy

ROOT = pathlib.Path(__file__).resolve().parent.parent
# Sums are rounded in another order; nothing else may differ.
RELATIVE = 1e-12

QUERIES = {
    "rows": """SELECT 'weather', count(*) FROM weather UNION ALL SELECT 'seattle', count(*) FROM seattle
               UNION ALL SELECT 'san_francisco', count(*) FROM san_francisco""",
    "mean_temp_max": "SELECT strftime('%Y', date), avg(temp_max) FROM weather GROUP BY 1",
    "precipitation": "SELECT strftime('%Y', date), sum(precipitation) FROM weather GROUP BY 1",
    "days": "SELECT kind, count(*) FROM weather GROUP BY kind",
    "strongest_wind": "SELECT kind, max(wind) FROM weather GROUP BY kind",
    "rain_follows": """SELECT a.kind, avg(b.kind = 'rain') FROM weather a, weather b
                       WHERE julianday(b.date) = julianday(a.date) + 1 GROUP BY a.kind""",
    "both": """SELECT 'hours', count(*) FROM pairs UNION ALL SELECT 'warmer_in_seattle', sum(s > f) FROM pairs
               UNION ALL SELECT 'mean_difference', avg(f - s) FROM pairs""",
    "difference_by_month": "SELECT strftime('%m', hour), avg(f - s) FROM pairs GROUP BY 1",
    "warmest_hour": "SELECT strftime('%H', hour), avg(temp) AS mean FROM seattle GROUP BY 1 ORDER BY mean DESC LIMIT 3",
}


def rows(path):
    with open(path, newline="", encoding="utf-8") as file:
        yield from csv.DictReader(file)


def database(data):
    db = sqlite3.connect(":memory:")
    db.executescript(
        """CREATE TABLE weather(date, precipitation, temp_max, temp_min, wind, kind);
           CREATE TABLE seattle(hour, temp); CREATE TABLE san_francisco(hour, temp);"""
    )
    for row in rows(data / "seattle-weather.csv"):
        numbers = [float(row[name]) for name in ("precipitation", "temp_max", "temp_min", "wind")]
        date = row["date"].replace("/", "-")
        db.execute("INSERT INTO weather VALUES(?, ?, ?, ?, ?, ?)", [date, *numbers, row["weather"]])
    for table, name in (("seattle", "seattle-temps.csv"), ("san_francisco", "sf-temps.csv")):
        for row in rows(data / name):
            hour = row["date"].replace("/", "-")[:16]
            db.execute(f"INSERT INTO {table} VALUES(?, ?)", [hour, float(row["temp"])])
    db.execute("CREATE INDEX i ON san_francisco(hour)")
    db.execute(
        """CREATE TABLE pairs AS SELECT seattle.hour AS hour, seattle.temp AS s, san_francisco.temp AS f
           FROM seattle, san_francisco WHERE seattle.hour = san_francisco.hour ORDER BY 1"""
    )
    return db


def expected(data):
    db = database(data)
    values = {}
    for prefix, sql in QUERIES.items():
        for name, value in db.execute(sql):
            values[f"sql.{prefix}.{name}"] = float(value)
    seattle, san_francisco = numpy.array(db.execute("SELECT s, f FROM pairs ORDER BY hour").fetchall()).T
    values["script.pairs"] = float(len(seattle))
    for name, series in (("seattle", seattle), ("san_francisco", san_francisco)):
        values[f"script.mean.{name}"] = float(series.mean())
        values[f"script.stdev.{name}"] = float(series.std(ddof=1))
    values["script.covariance"] = float(numpy.cov(seattle, san_francisco)[0, 1])
    values["script.corrcoeff"] = float(numpy.corrcoef(seattle, san_francisco)[0, 1])
    return values


def printed(console):
    """The results by name; a domain may print only names that begin with its own prefix."""
    prefixes = {"store": "sql.", "script": "script.", "vision": "vision.", "rogue": "rogue."}
    values, wrong = {}, []
    for line in pathlib.Path(console).read_text(encoding="utf-8", errors="replace").splitlines():
        domain, _, text = line.partition(": ")
        words = text.split()
        if words[:1] != ["RESULT"]:
            continue
        if len(words) != 3 or not words[1].startswith(prefixes.get(domain, "\0")) or words[1] in values:
            wrong.append(line)
        else:
            values[words[1]] = float(words[2])
    return values, wrong


def main():
    if len(sys.argv) not in (2, 3):
        sys.exit(__doc__)
    data = pathlib.Path(sys.argv[2]) if len(sys.argv) == 3 else ROOT / "target" / "data"
    found, wrong = printed(sys.argv[1])
    bad = [f"unexpected line: {line}" for line in wrong]
    for name, value in sorted(expected(data).items()):
        got = found.pop(name, None)
        same = got is not None and math.isclose(got, value, rel_tol=RELATIVE, abs_tol=1e-12)
        print(f"{'same' if same else 'DIFFERENT'} {name} {got} {value}")
        if not same:
            bad.append(f"{name}: printed {got}, expected {value}")
    if not found.pop("vision.person.astronaut", 0) > 0.5 > found.pop("vision.person.coffee", 1):
        bad.append("vision does not tell the photograph with a person from the one without")
    bad.extend(f"unexpected result {name}" for name in found if not name.startswith("rogue."))
    for line in bad:
        print(line, file=sys.stderr)
    sys.exit(1 if bad else 0)


if __name__ == "__main__":
    main()
