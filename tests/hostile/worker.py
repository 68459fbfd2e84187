"""The child: reads a case a line from the standard input and answers with a line."""

from __future__ import annotations

import json
import os
import resource
import signal
import sys
import warnings
from pathlib import Path
from typing import Any


def main() -> None:
    """Answer until the input ends; the answers have a channel that no library writes to."""
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    # protects the machine, not the code under test: more is counted as above the bound all the same
    resource.setrlimit(resource.RLIMIT_AS, (10 * 2**30, 10 * 2**30))
    import unseen
    import unseen.data.read  # noqa: F401  # counted in no case

    warnings.simplefilter("error", RuntimeWarning)
    for line in sys.stdin:
        asked = json.loads(line)
        _reset_peak()
        before = _memory("VmRSS")
        answer = _answer(asked)
        answer["peak"] = _memory("VmHWM") - before
        answers.write(json.dumps(answer) + "\n")
        answers.flush()


def _answer(asked: dict[str, Any]) -> dict[str, Any]:
    from unseen.errors import UnseenError

    try:
        edges = {"read": _read, "write": _write, "signal": _signal}[asked["task"]](asked)
    except UnseenError as error:
        return {"outcome": "refused", "message": str(error)}
    except BaseException as error:  # noqa: BLE001  # whatever comes is an answer
        return {"outcome": "error", "message": f"{type(error).__name__}: {str(error)[:500]}"}
    return {"outcome": "read", "message": "", "edges": edges}


def _read(asked: dict[str, Any]) -> list[Any]:
    import unseen
    from hostile.truth import edges_of

    folder = Path(asked["folder"])
    arguments = {
        key: str(folder / value) if key in ("edges", "nodes", "features", "labels") else value
        for key, value in asked["arguments"].items()
    }
    data = unseen.read(**arguments)
    if "labels" in arguments and data.labels is not None:
        return [[str(node), *map(str, names)] for node, names in data.labels.to_lists().items()]
    graph = data.graph
    return edges_of(graph) if graph.n_edges < 20_000 else [[graph.n_nodes, graph.n_edges]]


def _write(asked: dict[str, Any]) -> list[Any]:
    from hostile.truth import graph_of, read_by_library
    from unseen.data.write import write_graph

    arguments = asked["arguments"]
    path = Path(asked["folder"]) / arguments["target"]
    write_graph(graph_of(asked["truth"], directed=arguments["directed"]), path)
    return read_by_library(path, directed=arguments["directed"])


def _signal(asked: dict[str, Any]) -> list[Any]:
    """Do to this process what a case of the suite's own test asks for."""
    os.kill(os.getpid(), signal.Signals[asked["arguments"]["signal"]])
    return []


def _reset_peak() -> None:
    Path("/proc/self/clear_refs").write_text("5", encoding="ascii")


def _memory(key: str) -> int:
    lines = Path("/proc/self/status").read_text(encoding="ascii").splitlines()
    return next(int(line.split()[1]) * 1024 for line in lines if line.startswith(key))


if __name__ == "__main__":
    main()
