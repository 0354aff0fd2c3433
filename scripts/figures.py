#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Draws the pictures of docs/figures and writes the tables of docs/performance.md from the project's records.

figures.py            draws and writes what has changed
figures.py --check    changes nothing; exit status 1 where a picture or a table is older than its records
"""
import json
import lzma
import math
import re
import statistics
import sys
from dataclasses import dataclass
from pathlib import Path

from line_chart import Chart, Series, svg

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs/performance.md"
FIGURES = ROOT / "docs/figures"
JOURNALS = ROOT / "tests/bench/journals"
BITMAP = ROOT / "tests/data/times/sm90-132sm-60mib_bitmap_products.txt"
DENSE = "dense = 1"
COLD = "float16, PyTorch's layout, launches that overlap, weights not in the cache, one H200"


@dataclass(frozen=True)
class Product:
    """A measured product, with how many times as fast as something else it was."""

    rows: int
    columns: int
    zeros: float  # share, 0 to 1
    tokens: int  # columns of B
    speed_up: float


@dataclass(frozen=True)
class Figure:
    name: str
    chart: Chart
    head: tuple  # of the table: the first column's name, then the others'
    table: tuple  # of rows: a name, then numbers


def geometric_mean(values):
    return math.exp(statistics.fmean(math.log(value) for value in values))


def journal(name):
    with lzma.open(JOURNALS / f"sm90-132sm-60mib_{name}.jsonl.xz", "rt", encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


def bitmap_products():
    """Family bitmap over cuBLASLt, float16 in PyTorch's layout with uniform zeros."""
    found = []
    for line in BITMAP.read_text(encoding="utf-8").split("\n"):
        words = line.split()
        if words and words[0] != "#" and words[3:6] == ["uniform", "f16", "nk"]:
            rows, columns, zeros, tokens = (int(word) for word in words[:3] + words[6:7])
            found.append(Product(rows, columns, zeros / 100, tokens, float(words[8]) / float(words[7])))
    return found


def share_of_zeros(record):
    return 1 - record["nonzeros"] / (record["rows"] * record["columns"])


def pairs(name, libraries):
    """Products of esc-bench, in plain launches, over the fastest of the libraries; of a product that was measured
    several times the last one."""
    found = {}
    for record in journal(name):
        if record.get("record") == "pair":
            peers = {key: value for key, value in record.items() if isinstance(value, dict)} | record.get("peers", {})
            times = [peers[library]["us"] for library in libraries if library in peers]
            if len(times) == len(libraries) and record["plain"].get("us"):
                key = (record["matrix"], record["bcol"])
                found[key] = Product(record["rows"], record["columns"], share_of_zeros(record), record["bcol"],
                                     min(times) / record["plain"]["us"])
    return list(found.values())


EXACT = ("cublas-fp32", "cusparse", "sputnik", "dgsparse")
TOKENS = (1, 8, 16, 32, 64, 128, 256, 512, 1024, 2048)


def line(products, choose, along):
    """Geometric means of the chosen products at each place that `along` gives, ascending."""
    places = {}
    for product in products:
        if choose(product):
            places.setdefault(along(product), []).append(product.speed_up)
    return tuple((place, geometric_mean(values)) for place, values in sorted(places.items()))


def table_of(series, places):
    return tuple((one.name, *(dict(one.points).get(place) for place in places)) for one in series)


def figure(name, chart, first, places, labels):
    return Figure(name, chart, (first, *labels), table_of(chart.series, places))


def over_tokens(name, title, subtitle, series, y_step):
    used = [tokens for tokens in TOKENS if any(tokens in dict(one.points) for one in series)]
    chart = Chart(title, subtitle, "tokens (columns of B)", "times as fast as dense float16", tuple(series), DENSE,
                  tuple((tokens, str(tokens)) for tokens in used), y_step, x_log=True)
    return figure(name, chart, "tokens", used, [str(tokens) for tokens in used])


def over_zeros(name, title, subtitle, against, series, places, y_step, level):
    chart = Chart(title, subtitle, "zeros, %", against, tuple(series), level,
                  tuple((place, str(place)) for place in places), y_step)
    return figure(name, chart, "zeros", places, [f"{place} %" for place in places])


def one_packed_matrix():
    products = bitmap_products()
    series = [Series(f"{zeros} % zeros", line(products, lambda one, zeros=zeros: (one.rows, one.columns, round(
        100 * one.zeros)) == (4096, 4096, zeros), lambda one: one.tokens)) for zeros in (50, 60, 70, 90)]
    return over_tokens("tokens", "One packed matrix: faster than dense up to 32 tokens",
                       f"4096 x 4096, {COLD}",
                       series, 0.25)


def layer_sizes():
    products = bitmap_products()
    series = [Series(f"{rows} x {columns}", line(products, lambda one, size=(rows, columns): (
        one.rows, one.columns, round(100 * one.zeros)) == (*size, 60), lambda one: one.tokens))
              for rows, columns in ((2048, 2048), (4096, 4096), (4096, 14336), (14336, 4096), (8192, 8192))]
    return over_tokens("layers", "Layers of every size cross dense between 32 and 128 tokens",
                       f"60 % zeros, {COLD}",
                       series, 0.25)


def dlmc_matrices():
    products = pairs("f32_dlmc", EXACT)
    series = []
    for tokens in (32, 64, 128, 256):
        speeds = sorted(one.speed_up for one in products if one.tokens == tokens)
        series.append(Series(f"{tokens} columns", tuple((100 * (place + 0.5) / len(speeds), speed)
                                                        for place, speed in enumerate(speeds)), marked=False))
    chart = Chart("Exact float32: the fastest library is slower on nearly every layer",
                  "173 layers of DLMC, plain launches; libraries: cuBLASLt, cuSPARSE, Sputnik, dgSPARSE; one H200",
                  "share of the layers, by ascending speed-up, %", "times as fast as the best exact library",
                  tuple(series), "library = 1", tuple((share, str(share)) for share in range(0, 101, 20)), 0.5)
    rows = []
    for one in series:
        speeds = [speed for _, speed in one.points]
        rows.append((one.name, speeds[0], speeds[len(speeds) // 10], geometric_mean(speeds),
                     speeds[-1 - len(speeds) // 10], speeds[-1]))
    return Figure("float32-layers", chart, ("columns of B", "worst", "a tenth is below", "geometric mean",
                                            "a tenth is above", "best"), tuple(rows))


def dlmc_zeros():
    products = pairs("f32_dlmc", EXACT)
    places = (50, 60, 70, 80, 90, 95, 98)

    def nearest(one):
        return min(places, key=lambda place: abs(place - 100 * one.zeros))

    series = [Series(f"{tokens} columns", line(products, lambda one, tokens=tokens: one.tokens == tokens, nearest))
              for tokens in (32, 64, 128, 256)]
    return over_zeros("float32-zeros", "Exact float32: ahead at every share of zeros",
                      "geometric means of 173 layers of DLMC, plain launches, the best of four libraries, one H200",
                      "times as fast as the best exact library", series, places, 0.25, "library = 1")


def large_float32():
    # Above 80 % zeros the schedules of the first record are not taken any more.
    two = pairs("f32_ahead", EXACT[:2])
    three = pairs("f32_gather", EXACT[:3])
    places = (60, 70, 80, 90, 93, 95, 98)

    def whole(one):
        return round(100 * one.zeros)

    series = []
    for number, tokens in enumerate((32, 64, 128)):
        for products, name, shown in ((two, f"{tokens} columns", places[:3]),
                                      (three, f"{tokens}, Sputnik too", places[3:])):
            points = line(products, lambda one: one.tokens == tokens and one.rows * one.columns >= 1 << 22, whole)
            points = tuple(point for point in points if point[0] in shown)
            series.append(Series(name, points, products is three, number))
    return over_zeros("float32-large", "Large float32 layers: ahead up to 95 % zeros, level at 98 %",
                      "geometric means, layers from 2048 x 2048 on; dashed: three libraries, else two; one H200",
                      "times as fast as the best exact library", series, places, 0.5, "library = 1")


def figures():
    return [one_packed_matrix(), layer_sizes(), dlmc_matrices(), dlmc_zeros(), large_float32()]


def markdown(one):
    def cell(value):
        return value if isinstance(value, str) else "" if value is None else f"{value:.2f}"

    rows = [one.head, ["---"] * len(one.head), *one.table]
    return "\n".join("| " + " | ".join(cell(value) for value in row) + " |" for row in rows)


def with_table(page, one):
    """The page with this table between its marks."""
    begin, end = f"<!-- table {one.name} -->", "<!-- end -->"
    at = page.find(begin)
    if at < 0:
        sys.exit(f"{PAGE.relative_to(ROOT)} has no line {begin}")
    return page[:at] + f"{begin}\n{markdown(one)}\n" + page[page.index(end, at):]


def main():
    check = sys.argv[1:] == ["--check"]
    if sys.argv[1:] and not check:
        print(__doc__)
        return 0 if sys.argv[1] in ("-h", "--help") else 2
    drawn = figures()
    page = PAGE.read_text(encoding="utf-8")
    for one in drawn:
        page = with_table(page, one)
    wanted = {FIGURES / f"{one.name}.svg": svg(one.chart) for one in drawn} | {PAGE: page}
    stale = [file for file, text in wanted.items() if not file.exists() or file.read_text(encoding="utf-8") != text]
    stale += sorted(set(FIGURES.glob("*")) - set(wanted))
    for file in stale:
        name = file.relative_to(ROOT)
        if check:
            print(f"{name} is not what its records give; run scripts/figures.py")
        elif file in wanted:
            file.parent.mkdir(exist_ok=True)
            file.write_text(wanted[file], encoding="utf-8")
            print(f"{name} is new")
        else:
            print(f"{name} is drawn by nothing; remove it")
    return 1 if stale and check else 0


if __name__ == "__main__":
    sys.exit(main())
