"""The labelling app as a tool that is asked: a process of its own, spoken to by its requests alone."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
import urllib.request
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from unseen.data.read import read_labels
from unseen.data.write import write_graph
from unseen.discovery.result import Node
from unseen.discovery.suggest import DOUBTS
from unseen.errors import UnseenError
from unseen.graph import Graph
from unseen.labels import Labels

COMMAND = "from unseen.cli import main; main()"
DEADLINE = 900
"""Seconds after which an update is taken as hanging."""


class LabelApp:
    """`unseen label` on the files of a graph, as long as a block of `with` lasts.

    Parameters
    ----------
    graph : Graph
        Its node ids are texts.
    labels : Labels
        What it starts from.
    seed, budget : int
        As of `unseen label`.
    folder : path
        Empty; for the files.
    """

    def __init__(self, graph: Graph, labels: Labels, seed: int, budget: int, folder: str | Path) -> None:
        self.graph, self.folder, self.budget = graph, Path(folder), budget
        self.numbers, self.asked = list[int](), set[Node]()
        files = [path.name for path in write_graph(graph, folder, labels=labels, tables=True)]
        given = [word for name in files[1:] for word in (f"--{Path(name).stem}", name)]
        options = ["--no-browser", "--budget", f"{budget}", "--random", "0", "--seed", f"{seed}"]
        self.process = subprocess.Popen(
            [sys.executable, "-c", COMMAND, "label", files[0], *given, *options],
            cwd=folder,
            stderr=subprocess.PIPE,
            text=True,
            encoding="utf-8",
        )
        said = []
        for line in self.process.stderr or ():
            if line.startswith("http://"):
                self.url = line.strip()
                return
            said.append(line)
        self.end()
        raise UnseenError("the app did not start: " + "".join(said))

    def __enter__(self) -> LabelApp:
        return self

    def __exit__(self, *_: object) -> None:
        self.end()

    def end(self) -> None:
        """End it as a user does."""
        self.process.send_signal(signal.SIGTERM)  # nothing happens where it has ended
        self.process.communicate(timeout=60)

    def request(self, name: str, body: object = None) -> Any:
        """Return what a request is answered with."""
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(self.url + name, data, {"Content-Type": "application/json"})
        with urllib.request.urlopen(request, timeout=60) as answer:
            return json.load(answer)

    def ask_next(self) -> list[Node]:
        """Update, and return what is asked then."""
        number = self.request("update", {})["update"]["number"] + 1
        end = time.monotonic() + DEADLINE
        while self.request("state")["update"]["number"] < number:
            if time.monotonic() > end:
                raise UnseenError("an update of the app did not end")
            time.sleep(0.05)
        findings = self.request(f"state?findings={number - 1}")["findings"]
        count = findings["found"]["count"]  # None where no missing class was found
        self.numbers.append(0 if count is None else count["best"])
        queue = [row["node"] for row in findings["suggestions"]]
        doubts = [row["node"] for row in findings["doubts"] or () if row["node"] not in self.asked]
        doubts = doubts[: self.budget // DOUBTS]  # as many as `unseen suggest` asks about
        return [*queue[: self.budget - len(doubts)], *doubts]

    def answer(self, answers: Mapping[Node, str]) -> None:
        """Answer one question after another."""
        self.asked.update(answers)
        for node, name in answers.items():
            self.request("answers", {"node": node, "label": name})

    def written(self) -> Labels:
        """Return the labels of its file, which has all answers when the app has ended."""
        return read_labels(self.folder / "labels.csv", self.graph)
