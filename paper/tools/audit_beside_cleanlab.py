"""`unseen audit` beside cleanlab on the same predictions; needs cleanlab, in an environment of its own (its licence).

Labels of debian, Cora and photo are changed at random to another class. Both get the leave-one-out predictions of
`unseen audit`. Run it by the Python of an environment with `unseen` and `cleanlab`:

    python paper/tools/audit_beside_cleanlab.py
"""

from __future__ import annotations

import sys

import numpy as np
from cleanlab.filter import find_label_issues

import unseen
from unseen.discovery import audit as audits

GRAPHS = ("cora", "debian", "photo")
SHARES = (0.05, 0.1)
SEEDS = range(6000, 6003)
FILTERS = ("prune_by_noise_rate", "both", "confident_learning", "predicted_neq_given")


def compare(name: str, share: float, seed: int) -> dict[str, tuple[int, float, float]]:
    """Return how many labels each way lists, its precision and its recall."""
    data = unseen.load_dataset(name)
    rng = np.random.default_rng(seed)
    codes, n_classes = data.labels.codes.copy(), len(data.labels.classes)
    changed = rng.choice(len(codes), round(share * len(codes)), replace=False)
    codes[changed] = (codes[changed] + rng.integers(1, n_classes, len(changed))) % n_classes
    values = [data.labels.classes[code] for code in codes]
    predictions = []
    predict = audits._predict
    audits._predict = lambda *parts: predictions.append(predict(*parts)) or predictions[-1]
    labels = unseen.Labels.from_values(values, data.graph.node_ids)
    doubts = audits.audit(data.graph, labels, random_state=seed)
    audits._predict = predict
    place = {node: row for row, node in enumerate(data.graph.node_ids.tolist())}
    lists = {"unseen audit": [place[node] for node in doubts.column("node").to_pylist()]}
    order = np.argsort(np.argsort(data.graph.node_ids))  # predictions are in the order of the ids
    given = np.unique(values, return_inverse=True)[1]
    for way in FILTERS:
        issues = find_label_issues(given, predictions[0][0][order], filter_by=way, n_jobs=1)
        lists[f"cleanlab, {way}"] = np.flatnonzero(issues).tolist()
    wrong = set(changed.tolist())
    return {
        way: (len(rows), len(wrong & set(rows)) / max(len(rows), 1), len(wrong & set(rows)) / len(wrong))
        for way, rows in lists.items()
    }


def main() -> None:
    """Print the table."""
    sys.stdout.write(
        "| graph | changed | list | listed | precision | recall | F1 |\n|---|---|---|---|---|---|---|\n"
    )
    for name in GRAPHS:
        for share in SHARES:
            draws = [compare(name, share, seed) for seed in SEEDS]
            for way in draws[0]:
                listed, precision, recall = np.mean([draw[way] for draw in draws], axis=0)
                f1 = 2 * precision * recall / (precision + recall)
                row = (
                    name,
                    f"{share:.0%}",
                    way,
                    f"{listed:.0f}",
                    f"{precision:.2f}",
                    f"{recall:.2f}",
                    f"{f1:.2f}",
                )
                sys.stdout.write(f"| {' | '.join(row)} |\n")
                sys.stdout.flush()


if __name__ == "__main__":
    main()
