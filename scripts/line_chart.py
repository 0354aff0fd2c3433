# SPDX-License-Identifier: Apache-2.0
"""Line charts as SVG. The same chart gives the same bytes."""
import math
from dataclasses import dataclass
from xml.sax.saxutils import escape

WIDTH, HEIGHT = 760, 440
LEFT, RIGHT, TOP, BOTTOM = 64, 136, 72, 56
# Colours that are told apart in every common form of colour blindness (Okabe and Ito), and a shape beside each.
COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#56b4e9", "#e69f00")
LABEL_GAP = 15


@dataclass(frozen=True)
class Series:
    name: str
    points: tuple  # of (x, y), by ascending x
    dashed: bool = False
    colour: int = -1  # of COLOURS; the series' own number where it is negative
    marked: bool = True  # a mark at each point


@dataclass(frozen=True)
class Chart:
    title: str
    subtitle: str
    x_label: str
    y_label: str
    series: tuple
    level_name: str  # what stands at y = 1
    x_ticks: tuple  # of (x, label)
    y_step: float = 0.25
    x_log: bool = False


class _Scale:
    """From values to places in the picture."""

    def __init__(self, chart):
        self.log = chart.x_log
        xs = [x for series in chart.series for x, _ in series.points] + [x for x, _ in chart.x_ticks]
        ys = [y for series in chart.series for _, y in series.points] + [1.0]
        self.x_low, self.x_high = self._x(min(xs)), self._x(max(xs))
        self.y_low = max(0.0, math.floor(min(ys) / chart.y_step) * chart.y_step)
        self.y_high = math.ceil(max(ys) / chart.y_step) * chart.y_step

    def _x(self, x):
        return math.log2(x) if self.log else x

    def x(self, x):
        return LEFT + 12 + (self._x(x) - self.x_low) / (self.x_high - self.x_low) * (WIDTH - LEFT - RIGHT - 24)

    def y(self, y):
        return HEIGHT - BOTTOM - (y - self.y_low) / (self.y_high - self.y_low) * (HEIGHT - TOP - BOTTOM)


def _text(x, y, words, size=13, anchor="start", more=""):
    return f'<text x="{x:.1f}" y="{y:.1f}" font-size="{size}" text-anchor="{anchor}"{more}>{escape(words)}</text>'


def _mark(shape, x, y, colour):
    if shape == 0:
        return f'<circle cx="{x:.1f}" cy="{y:.1f}" r="4" fill="{colour}"/>'
    if shape == 1:
        return f'<rect x="{x - 3.6:.1f}" y="{y - 3.6:.1f}" width="7.2" height="7.2" fill="{colour}"/>'
    if shape == 2:
        return f'<path d="M{x:.1f} {y - 4.8:.1f}l4.6 8.2h-9.2z" fill="{colour}"/>'
    return f'<path d="M{x:.1f} {y - 5:.1f}l5 5l-5 5l-5-5z" fill="{colour}"/>'


def _apart(wanted):
    """Heights of labels that keep LABEL_GAP between each other, near to those that are wanted."""
    order = sorted(range(len(wanted)), key=lambda number: wanted[number])
    placed = [0.0] * len(wanted)
    last = -math.inf
    for number in order:
        last = placed[number] = max(wanted[number], last + LABEL_GAP)
    over = max(0.0, last - (HEIGHT - BOTTOM)) if order else 0.0
    return [place - over for place in placed]


def _axes(chart, scale):
    lines = []
    steps = round((scale.y_high - scale.y_low) / chart.y_step)
    for step in range(steps + 1):
        value = scale.y_low + step * chart.y_step
        y = scale.y(value)
        lines.append(f'<path d="M{LEFT} {y:.1f}H{WIDTH - RIGHT}" stroke="#e3e3e3"/>')
        lines.append(_text(LEFT - 8, y + 4.5, f"{value:g}", anchor="end"))
    for x, label in chart.x_ticks:
        lines.append(f'<path d="M{scale.x(x):.1f} {HEIGHT - BOTTOM}v5" stroke="#555"/>')
        lines.append(_text(scale.x(x), HEIGHT - BOTTOM + 20, label, anchor="middle"))
    lines.append(f'<path d="M{LEFT} {HEIGHT - BOTTOM}H{WIDTH - RIGHT}" stroke="#555"/>')
    lines.append(_text((LEFT + WIDTH - RIGHT) / 2, HEIGHT - 14, chart.x_label, anchor="middle"))
    middle = (TOP + HEIGHT - BOTTOM) / 2
    lines.append(_text(18, middle, chart.y_label, anchor="middle", more=f' transform="rotate(-90 18 {middle:.1f})"'))
    return lines


def _lines(chart, scale):
    lines = []
    ends = [scale.y(series.points[-1][1]) for series in chart.series] + [scale.y(1.0)]
    labels = _apart(ends)
    for number, series in enumerate(chart.series):
        shade = number if series.colour < 0 else series.colour
        colour = COLOURS[shade % len(COLOURS)]
        path = "L".join(f"{scale.x(x):.1f} {scale.y(y):.1f}" for x, y in series.points)
        dashes = ' stroke-dasharray="5 4"' if series.dashed else ""
        lines.append(f'<path d="M{path}" fill="none" stroke="{colour}" stroke-width="2.2"{dashes}/>')
        if series.marked:
            lines.extend(_mark(shade % 4, scale.x(x), scale.y(y), colour) for x, y in series.points)
        lines.append(_text(WIDTH - RIGHT + 8, labels[number] + 4.5, series.name, more=f' fill="{colour}"'))
    y = scale.y(1.0)
    lines.append(f'<path d="M{LEFT} {y:.1f}H{WIDTH - RIGHT}" stroke="#222" stroke-width="1.6" stroke-dasharray="2 3"/>')
    lines.append(_text(WIDTH - RIGHT + 8, labels[-1] + 4.5, chart.level_name, more=' fill="#222"'))
    return lines


def svg(chart):
    """The chart as the text of an SVG file."""
    scale = _Scale(chart)
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{HEIGHT}" viewBox="0 0 {WIDTH} {HEIGHT}" '
        'font-family="Helvetica, Arial, sans-serif" fill="#222" role="img">',
        f"<title>{escape(chart.title)}</title>",
        f'<rect width="{WIDTH}" height="{HEIGHT}" fill="#fff"/>',
        _text(18, 28, chart.title, size=17, more=' font-weight="bold"'),
        _text(18, 50, chart.subtitle, more=' fill="#555"'),
    ]
    return "\n".join(lines + _axes(chart, scale) + _lines(chart, scale) + ["</svg>"]) + "\n"
