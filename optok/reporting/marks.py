"""How systems are told apart in plots: by colour and by shape, so that either alone is enough.

Colours are Okabe and Ito's colour-blind-safe palette ("Color Universal Design", 2008), darker on white and lighter
on black until each has a contrast of three to one with its background (WCAG 2.2, 1.4.11). A page names them by CSS
variables; a plot outside of it shows the light ones.
"""

from __future__ import annotations

from dataclasses import dataclass

# (on white, on black)
COLOURS = (
    ("#5c6068", "#b9bec8"),  # grey
    ("#0072b2", "#56b4e9"),  # blue
    ("#d55e00", "#ff8b42"),  # vermilion
    ("#00805d", "#2cc79b"),  # bluish green
    ("#a84f86", "#e39ac4"),  # reddish purple
    ("#966900", "#f0b429"),  # orange
    ("#7a7400", "#f0e442"),  # yellow
    ("#3b5bdb", "#9db2ff"),  # indigo
)
# In a square from -1 to 1, all of about the same area.
SHAPES = (
    "M0.85,0A0.85,0.85,0,1,1,-0.85,0A0.85,0.85,0,1,1,0.85,0Z",  # circle
    "M-0.75,-0.75H0.75V0.75H-0.75Z",  # square
    "M0,-1L1,0.8H-1Z",  # triangle, point up
    "M0,-1.1L1,0L0,1.1L-1,0Z",  # diamond
    "M-0.32,-1H0.32V-0.32H1V0.32H0.32V1H-0.32V0.32H-1V-0.32H-0.32Z",  # cross
    "M0,1L1,-0.8H-1Z",  # triangle, point down
    "M1,0L-0.8,1V-1Z",  # triangle, point right
)


@dataclass(frozen=True)
class Mark:
    """Colour and shape of one system."""

    system: str
    colour: str  # a CSS variable with the light colour to fall back on
    shape: str  # an SVG path


def marks(systems: list[str]) -> list[Mark]:
    """One mark a system. Seven shapes and eight colours: the first 56 systems differ in one or both."""
    return [
        Mark(
            system,
            f"var(--series-{number % len(COLOURS)}, {COLOURS[number % len(COLOURS)][0]})",
            SHAPES[number % len(SHAPES)],
        )
        for number, system in enumerate(systems)
    ]


def variables(dark: bool) -> str:
    """The declarations of the CSS variables, for one colour scheme."""
    return " ".join(f"--series-{number}: {pair[dark]};" for number, pair in enumerate(COLOURS))
