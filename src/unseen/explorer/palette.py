"""Colours of the explorer page: told apart by colour-blind readers, and visible on both backgrounds.

Classes take Okabe and Ito's hues, shaded until each has a contrast of at least 3 : 1 to the map (WCAG 2.2, 1.4.11) and
no two come close to each other for readers who see no red, no green or no blue.
Classes beyond these have another hue and another shape.
"""

from __future__ import annotations

MAP = {"light": "#fdfcfa", "dark": "#101419"}
"""Backgrounds of the map."""
CLASSES = {
    "light": (
        *("#1746a2", "#a83a00", "#00795a", "#d0509a", "#b58900", "#2c95d8", "#26262b"),
        *("#5d6b00", "#6d4c41", "#00788a", "#7a1fa2", "#c4002b"),
    ),
    "dark": (
        *("#5b8cff", "#d95f1a", "#1fc98a", "#d879b0", "#f7c53a", "#9adcff", "#ffffff"),
        *("#c3d94e", "#c9a28f", "#4dd6e8", "#b388ff", "#ff6e7f"),
    ),
}
"""One tuple a theme; the same place is the same class in both. Found groups take their hues from the end."""
SAFE = 7
"""Hues from the start that all readers tell apart; classes after them get another shape as well."""
STEPS = {
    "light": ("#8792a3", "#6484b4", "#5669b8", "#6a43a8", "#7f1f8c", "#780046"),
    "dark": ("#6b7683", "#7a74b8", "#b263ad", "#e26a80", "#f79b4b", "#fae267"),
}
"""From no to yes, away from the background: darker on light, lighter on dark."""
QUIET = {"light": "#878b95", "dark": "#6f7783"}
"""Nodes that the chosen colouring says nothing of."""
SHAPES = ("circle", "triangle", "square", "diamond", "plus", "cross", "ring")
"""Drawn by number; a page with more than 49 classes begins again with the first."""
