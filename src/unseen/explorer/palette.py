"""Colours of the explorer page: told apart by colour-blind readers, and visible on both backgrounds.

Classes take Okabe and Ito's hues, shaded until each has a contrast of at least 3 : 1 to the map (WCAG 2.2, 1.4.11) and
no two come close to each other for readers who see no red, no green or no blue.
Where there are more classes than colours, the colours come again in another shape.
"""

from __future__ import annotations

MAP = {"light": "#fdfcfa", "dark": "#101419"}
"""Backgrounds of the map."""
CLASSES = {
    "light": ("#1746a2", "#a83a00", "#00795a", "#d0509a", "#b58900", "#2c95d8", "#26262b"),
    "dark": ("#5b8cff", "#d95f1a", "#1fc98a", "#d879b0", "#f7c53a", "#9adcff", "#ffffff"),
}
"""One tuple a theme; the same place is the same class in both."""
GROUPS = {
    "light": (*CLASSES["light"], "#7a1fa2", "#5d6b00", "#c4002b", "#00788a", "#6d4c41"),
    "dark": (*CLASSES["dark"], "#b388ff", "#c3d94e", "#ff6e7f", "#4dd6e8", "#c9a28f"),
}
"""Found groups: no hue comes twice among them before there are more than twelve."""
STEPS = {
    "light": ("#8792a3", "#6484b4", "#5669b8", "#6a43a8", "#7f1f8c", "#780046"),
    "dark": ("#6b7683", "#7a74b8", "#b263ad", "#e26a80", "#f79b4b", "#fae267"),
}
"""From no to yes, away from the background: darker on light, lighter on dark."""
QUIET = {"light": "#878b95", "dark": "#6f7783"}
"""Nodes that the chosen colouring says nothing of."""
SHAPES = ("circle", "triangle", "square", "diamond", "plus", "cross", "ring")
"""Drawn by number; a page with more than 49 classes begins again."""
