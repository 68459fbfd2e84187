"""Descriptions of classes by words, for measurements of classes that are known by name only."""

from __future__ import annotations

DEBIAN_SECTIONS = {
    "database": "Database servers and clients.",
    "editors": "Software to edit files. Programming environments.",
    "electronics": "Electronics utilities.",
    "fonts": "Font packages.",
    "games": "Programs to spend a nice time with after all this setting up.",
    "graphics": "Editors, viewers, converters... Everything to become an artist.",
    "mail": "Programs to route, read, and compose E-mail messages.",
    "math": "Math software.",
    "science": "Basic tools for scientific work.",
    "sound": "Utilities to deal with sound: mixers, players, recorders, CD players, etc.",
    "video": "Video viewers, editors, recording, streaming.",
    "web": "Web servers, browsers, proxies, download tools etc.",
}
"""Debian's own texts of its sections."""
ABSURD = {
    "dentistry": "teeth, dentist, dental care",
    "railways": "trains, stations, timetables, railway tracks",
    "cooking": "food, recipes, kitchen, cooking",
    "weather": "rain, clouds, weather forecast, temperature",
    "law": "courts, law, judges, contracts",
}
"""Classes that none of the graphs has."""
