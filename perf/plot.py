# SPDX-License-Identifier: Apache-2.0
"""Line and bar charts as SVG text, without any library.

    svg = lines("title", [Panel("K", "seconds", {"ours": [(1, 5.0), (2, 3.0)]}, log_x=True)])
    svg = bars("title", "trees/s", {"everything on": 812.0, "without fusion": 500.0})
"""
import math
from dataclasses import dataclass, field
from html import escape

# Okabe and Ito's colours, which also colour-blind readers can tell apart
COLOURS = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#555555"]
FONT = 'font-family="DejaVu Sans, Helvetica, Arial, sans-serif"'
MARKS = ["circle", "square", "diamond", "triangle"]


@dataclass
class Panel:
    """series: name -> list of (x, y). Marks of the axis are the xs themselves when log_x."""

    x_label: str
    y_label: str
    series: dict
    title: str = ""
    log_x: bool = False
    log_y: bool = False
    ticks_x: list = field(default_factory=list)


# ---- axes --------------------------------------------------------------------------------------------


def short(x):
    if x == 0:
        return "0"
    if abs(x) >= 1e6:
        return f"{x / 1e6:g}M"
    if abs(x) >= 10000:
        return f"{x / 1e3:g}k"
    return f"{x:g}" if abs(x) >= 1e-4 else f"{x:.0e}"


def linear_ticks(low, high):
    step = 10 ** math.floor(math.log10((high - low) / 4 or 1))
    for factor in (1, 2, 5, 10):
        if (high - low) / (step * factor) <= 6:
            step *= factor
            break
    first = math.ceil(low / step - 1e-9)
    return [round(i * step, 12) for i in range(first, math.floor(high / step + 1e-9) + 1)]


def log_ticks(low, high):
    """Round numbers, the more of them the shorter the axis."""
    if high / low < 3:
        return linear_ticks(low, high)
    digits = (1,) if high / low > 1000 else (1, 2, 5) if high / low > 12 else (1, 2, 3, 5, 7)
    decades = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    return [m * 10.0**d for d in decades for m in digits if low <= m * 10.0**d <= high]


class Axis:
    """Maps values to pixels first .. last."""

    def __init__(self, values, first, last, log, ticks=()):
        self.log, self.first, self.last = log, first, last
        low, high = (min(values), max(values)) if values else (1, 10)
        if log:
            room = max((high / low) ** 0.04, 1.1)
            self.low, self.high = low / room, high * room
        else:
            self.low = min(0, low)
            self.high = high * 1.05 if high > 0 else 1
        self.ticks = list(ticks) or (log_ticks if log else linear_ticks)(self.low, self.high)

    def at(self, x):
        f = math.log if self.log else float
        part = (f(x) - f(self.low)) / (f(self.high) - f(self.low))
        return self.first + part * (self.last - self.first)


# ---- drawing -----------------------------------------------------------------------------------------


def text(x, y, content, size=12, anchor="middle", extra=""):
    return (f'<text x="{x:.1f}" y="{y:.1f}" font-size="{size}" text-anchor="{anchor}" '
            f'{FONT} {extra}>{escape(str(content))}</text>')


def line(x1, y1, x2, y2, colour="#000", width=1, extra=""):
    return (f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" '
            f'stroke="{colour}" stroke-width="{width}" {extra}/>')


def mark(kind, x, y, colour):
    if kind == "circle":
        return f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3.6" fill="{colour}"/>'
    if kind == "triangle":
        corners = ((x, y - 4.6), (x + 4.4, y + 3), (x - 4.4, y + 3))
        return f'<polygon points="{" ".join(f"{a:.1f},{b:.1f}" for a, b in corners)}" fill="{colour}"/>'
    turn = f' transform="rotate(45 {x:.1f} {y:.1f})"' if kind == "diamond" else ""
    return f'<rect x="{x - 3.2:.1f}" y="{y - 3.2:.1f}" width="6.4" height="6.4" fill="{colour}"{turn}/>'


def document(width, height, parts):
    return "\n".join([f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" '
                      f'viewBox="0 0 {width} {height}">',
                      f'<rect width="{width}" height="{height}" fill="#fff"/>', *parts, "</svg>", ""])


def style(i):
    return COLOURS[i % len(COLOURS)], MARKS[i % len(MARKS)]


def draw_axes(p, ax, ay):
    left, right, bottom, top = ax.first, ax.last, ay.first, ay.last
    out = []
    for t in ay.ticks:
        y = ay.at(t)
        out += [line(left, y, right, y, "#ddd"), text(left - 6, y + 4, short(t), 11, "end")]
    for t in ax.ticks:
        x = ax.at(t)
        out += [line(x, bottom, x, bottom + 4), text(x, bottom + 17, short(t), 11)]
    out += [line(left, bottom, right, bottom), line(left, bottom, left, top)]
    out.append(text((left + right) / 2, bottom + 36, p.x_label))
    x, y = left - 48, (top + bottom) / 2
    out.append(text(x, y, p.y_label, extra=f'transform="rotate(-90 {x:.1f} {y:.1f})"'))
    if p.title:
        out.append(text((left + right) / 2, top - 10, p.title, 13))
    return out


def draw_panel(p, left, top, width, height, names):
    points = [q for s in p.series.values() for q in s]
    xs = sorted({x for x, _ in points})
    ticks = p.ticks_x or (xs if p.log_x and len(xs) <= 10 else ())
    ax = Axis(xs, left, left + width, p.log_x, ticks)
    ay = Axis([y for _, y in points], top + height, top, p.log_y)
    out = draw_axes(p, ax, ay)
    for name, series in p.series.items():
        colour, kind = style(names.index(name))
        at = [(ax.at(x), ay.at(y)) for x, y in series]
        path = " ".join(f"{x:.1f},{y:.1f}" for x, y in at)
        out.append(f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="2"/>')
        out += [mark(kind, x, y, colour) for x, y in at]
    return out


LEGEND_ROW = 20


def legend_places(names, left, right):
    """Where each name begins: x, and in which row."""
    out, x, row = [], left, 0
    for name in names if len(names) > 1 else []:
        width = 48 + 7.2 * len(name)
        if x > left and x + width > right:
            x, row = left, row + 1
        out.append((x, row))
        x += width
    return out


def legend(names, left, top, swatch, right=math.inf):
    """Names with what stands for them: swatch(i, x, y) draws it.  As many rows as it takes to stay left of right."""
    out = []
    for i, (x, row) in enumerate(legend_places(names, left, right)):
        y = top + LEGEND_ROW * row
        out += [*swatch(i, x, y), text(x + 28, y + 4, names[i], 12, "start")]
    return out


def line_swatch(i, x, y):
    colour, kind = style(i)
    return [line(x, y, x + 22, y, colour, 2), mark(kind, x + 11, y, colour)]


def bar_swatch(i, x, y):
    return [f'<rect x="{x}" y="{y - 5}" width="22" height="10" fill="{style(i)[0]}"/>']


def lines(title, panels, columns=None):
    """Panels side by side, or so many in a row, with one legend."""
    names = list(dict.fromkeys(n for p in panels for n in p.series))
    columns = columns or len(panels)
    width, height, gap, left, top = 330, 250, 90, 76, 92 if len(names) > 1 else 66
    row, rows = height + 86, math.ceil(len(panels) / columns)
    total = max(left + columns * width + (columns - 1) * gap + 24, left + 8.2 * len(title))
    top += LEGEND_ROW * max((r for _, r in legend_places(names, left - 50, total)), default=0)
    parts = [text(left - 50, 24, title, 15, "start", 'font-weight="bold"')]
    parts += legend(names, left - 50, 48, line_swatch, total)
    for i, p in enumerate(panels):
        x, y = left + i % columns * (width + gap), top + i // columns * row
        parts += draw_panel(p, x, y, width, height, names)
    return document(round(total), top + (rows - 1) * row + height + 52, parts)


def bars(title, unit, groups, form="#.3g"):
    """Horizontal bars; groups: label -> value, or label -> {series: value}; form: how values are written."""
    groups = {k: v if isinstance(v, dict) else {"": v} for k, v in groups.items()}
    names = list(dict.fromkeys(n for g in groups.values() for n in g))
    thick, left, width = (20 if len(names) == 1 else 15), 210, 440
    y = top = 40 if len(names) == 1 else 66
    values = [v for g in groups.values() for v in g.values()]
    axis = Axis(values, left, left + width, False)
    parts = [text(14, 24, title, 15, "start", 'font-weight="bold"')]
    parts += legend(names, 14, 46, bar_swatch)
    for label, group in groups.items():
        parts.append(text(left - 8, y + thick * len(group) / 2 + 4, label, 12, "end"))
        for name, value in group.items():
            parts += bar(left, axis.at(value), y, thick, style(names.index(name))[0], f"{value:{form}}")
            y += thick
        y += 10
    parts.append(line(left, top - 4, left, y - 4))
    parts.append(text(left + width / 2, y + 14, unit))
    return document(left + width + 80, y + 28, parts)


def bar(first, end, y, thick, colour, shown):
    return [f'<rect x="{first}" y="{y + 1}" width="{end - first:.1f}" height="{thick - 2}" '
            f'fill="{colour}"/>', text(end + 5, y + thick / 2 + 4, shown, 11, "start")]
