"""The names that people give to columns, and which column they mean.

A name is compared by its words: ``FromNodeId``, ``from_node_id`` and ``from node id`` are the same three.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Sequence
from itertools import pairwise, permutations
from typing import TYPE_CHECKING

from unseen.labels import DRAWN, STATUSES

if TYPE_CHECKING:
    from unseen.data.sources import Role

HEADER_HINT = "; if this line is a header, say header=True (--header)"
SRC, DST, WEIGHT = ("src", "source"), ("dst", "target"), ("weight",)
EDGE_TYPE = (
    *("type", "edge_type", "etype", "relation", "relation_type", "rel", "rel_type"),
    *("relationship", "predicate"),
)
SIGN = ("sign",)
NODE, LABEL = ("node", "node_id", "id"), ("label", "labels", "class", "cell_type")
ANSWERS = ("replaces", "unseen_status", "status", "unseen_drawn", "drawn", "unseen_pool", "pool")
"""Columns of answers in a label file; those with a prefix are written where a file has a column of that name."""
NODE_TYPE = ("type", "node_type", "ntype")
PANDAS_INDEX = "__index_level_0__"
FIRST_ONLY = ("nodeid", "ids", "vertex", "name", "key", "word", "index", "", "unnamed: 0")
"""Names of ids in a first column only, since elsewhere they may be words that were counted."""


def _word_set(words: str) -> frozenset[str]:
    return frozenset(words.split())


_LABEL_WORDS = _word_set(
    """label labels class classes category categories target y topic topics group groups community cluster team
    subject field genre department dept section kind role status family industry sector party tag diagnosis fraud
    type subtype segment tier division faction affiliation major discipline area stance gender species klasse
    kategorie gruppe warengruppe categorie categoria club venue journal function localization location country
    continent annotation phylum leaning threat spam malicious churned outcome orientation"""
)
_TEXT_WORDS = _word_set(
    """text texts description title abstract summary content body bio biography comment review message words
    keywords sentence document caption headline note notes tweet post name"""
)
_WEIGHT_WORDS = _word_set(
    """weight weights count counts times score amount value strength frequency freq similarity total volume
    confidence correlation rating w n number num probability cooccurrence cooccurrences occurrences trips
    passengers calls messages shared distance capacity flow affinity gewicht anzahl poids peso"""
)
_TIME_WORDS = {"date", "time", "timestamp", "datetime", "year", "month", "day", "week", "ts", "datum", "jahr"}
_PLACES = {("a", "b"), ("1", "2"), ("0", "1"), ("i", "j"), ("x", "y"), ("u", "v"), ("left", "right")}
_PLACES |= {("one", "two"), ("first", "second")}
_PLACE_WORDS = {word for pair in _PLACES for word in pair}

_ENDS: tuple[tuple[Collection[str], Collection[str]], ...] = (
    (("src", "source", "sources"), ("dst", "dest", "destination", "target", "targets", "tgt", "sink")),
    (("from",), ("to",)),
    (("start", "begin"), ("end",)),
    (("head",), ("tail",)),
    (("subject",), ("object",)),
    (("citing",), ("cited",)),
    (("follower",), ("followee", "following", "followed")),
    (("sender",), ("receiver", "recipient")),
    (("payer",), ("payee",)),
    (("buyer",), ("seller",)),
    (("caller",), ("callee",)),
    (("origin", "orig"), ("destination", "dest")),
    (("parent",), ("child",)),
    (("ego",), ("alter",)),
    (("bait",), ("prey",)),
    (("tf", "regulator"), ("target", "gene")),
    (("von",), ("nach", "an", "zu")),
    (("quelle",), ("ziel",)),
    (("origen",), ("destino",)),
)
"""Words for the first and the second end of an edge, the usual ones first."""
_THINGS = _word_set(
    """id ids node nodes nodeid vertex vertices name key code index idx entity concept object
    user users userid username member friend friends person people contact customer client profile owner
    product products item items sku asin article goods order basket brand shop store vendor supplier merchant
    account accounts acct iban bank wallet counterparty company firm organization organisation institution
    author authors coauthor collaborator paper papers doc document publication journal book isbn doi reviewer
    reference citation
    movie film actor actress director song artist track album band game player team club
    gene genes protein proteins interactor symbol ensembl entrez uniprot drug disease compound chemical molecule
    cell mirna rna kinase substrate enzyme ligand receptor pathway tissue species taxon host parasite predator prey
    word words term lemma keyword synonym page url website domain site link ip address email mail phone
    station stop airport flight passenger ship vessel city town country state region street port continent
    employee manager boss employer colleague student teacher school course patient doctor hospital device sensor
    router machine server file module package library function method caller callee dependency repo repository
    parent child influencer influenced trustor trustee rater ratee
    lender borrower donor recipient debtor creditor voter candidate candidates politician
    channel video post tweet thread question comment hashtag tag group event venue recipe ingredient skill job
    asset stock ticker fund holding issuer investor investee startup subsidiary importer
    exporter plant pollinator animal opponent winner loser home away neighbour neighbor lncrna snp linked links knows
    superclass subclass invoice asker answerer sponsor cosponsor co developer contributor imports depends on issue
    duplicate included uses reply blog barcode knoten kunde produkt konto lieferant auftraggeber empfaenger empfänger
    absender verkäufer käufer acheteur vendeur"""
)
_FILLERS = _word_set("official no nr of the display full short unique primary other num number my")
_NOUNS = _THINGS | {word for pair in _ENDS for words in pair for word in words}
_COLUMN_WORDS = _NOUNS | _FILLERS | _PLACE_WORDS
"""Words of which names of columns of ids consist."""
_ID_NAMES = {f"{noun}id" for noun in _NOUNS}
NUMBER = re.compile(r"[-+]?[$€£]?\d[\d.,' ]*(?:e[-+]?\d+)?\s?[%$€£]?", re.IGNORECASE)
DATE = re.compile(r"\d{4}-\d\d?-\d\d?(?:[T ].*)?|\d\d?[./]\d\d?[./]\d{2,4}(?: .*)?|\d\d?:\d\d(?::\d\d)?")
_TRUTH = {"true", "false", "yes", "no", "inf", "-inf"}
_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+|[^\W\d_]+")


def lower(cells: Sequence[str]) -> list[str]:
    """Return cells as names of columns are compared; a header may begin with ``#``."""
    names = [cell.strip().lower() for cell in cells]
    return [names[0].removeprefix("#").lstrip(), *names[1:]] if names else names


def split_words(name: str) -> list[str]:
    """Return the words of a name in lower case.

    Examples
    --------
    >>> split_words("FromNodeId"), split_words("protein1"), split_words("SourceID")
    (['from', 'node', 'id'], ['protein', '1'], ['source', 'id'])
    """
    return [word.lower() for word in _WORD.findall(name)]


def stem(name: str) -> tuple[str, ...]:
    """Return the words of a name without those that number it: ``('user',)`` of ``user_2`` and of ``User B``."""
    return tuple(
        word for word in split_words(name) if not word.isdigit() and (len(word) > 1 or not word.isascii())
    )


def is_thing(name: str) -> bool:
    """Return whether all words of a name are ones by which columns of ids are called."""
    words = split_words(name)
    return has_id_word(name) or (not _NOUNS.isdisjoint(words) and _COLUMN_WORDS.issuperset(words))


def has_id_word(name: str) -> bool:
    """Return whether a name says that it is one of ids: ``user_id``, ``ProductID``, ``nodeid``."""
    words = split_words(name)
    return bool(words) and not any(map(str.isdigit, words)) and ("id" in words or words[-1] in _ID_NAMES)


def is_label_name(name: str) -> bool:
    """Return whether a name is one of labels."""
    words = split_words(name)
    return bool(words) and (words[-1] in _LABEL_WORDS or words[0] in ("is", "label", "class"))


def find_ends(names: Sequence[str], *, any_stem: bool = False) -> tuple[int, int] | None:
    """Return which two names are the ends of an edge: a known pair, or one stem with two known endings.

    `any_stem` takes pairs of any stem (``x_a, x_b``); else the stem must be a known word (``gene_a, gene_b``).

    Examples
    --------
    >>> find_ends(["date", "from_account", "to_account"]), find_ends(["gene1", "gene2", "score"])
    ((1, 2), (0, 1))
    """
    words = [split_words(name) for name in names]
    usable = [k for k, own in enumerate(words) if own and _TIME_WORDS.isdisjoint(own)]
    known = [k for k in usable if _COLUMN_WORDS.issuperset(words[k])]
    for first, second in _ENDS:
        for i, j in permutations(known, 2):
            if not set(first).isdisjoint(words[i]) and not set(second).isdisjoint(words[j]):
                return i, j
    for i, j in permutations(usable, 2):
        places = (words[i][-1], words[j][-1]), (words[i][0], words[j][0])
        rests = (words[i][:-1], words[j][:-1]), (words[i][1:], words[j][1:])
        for place, (one, other) in zip(places, rests, strict=True):
            if place not in _PLACES or one != other:
                continue
            if place == ("u", "v") or (one and (any_stem or (_NOUNS | _FILLERS).issuperset(one))):
                return i, j
    return None


def id_position(names: Sequence[str]) -> int | None:
    """Return which of these column names is that of the ids, in any case, or None; pandas' index counts as one."""
    own = lower(names)
    first = 0 if own and own[0] in FIRST_ONLY else None
    return next((own.index(name) for name in (*NODE, PANDAS_INDEX) if name in own), first)


def find_answer_columns(names: Sequence[str], cells: Callable[[int], Iterable[str | None]]) -> dict[str, int]:
    """Return the positions of ``replaces``, ``status``, ``drawn`` and ``pool``, of those that a label file has.

    A column ``status`` or ``drawn`` with other words than ours is the user's own; ``pool`` belongs to ``drawn``.
    """
    own, found = lower(names), dict[str, int]()
    for name in ANSWERS:
        meaning = name.removeprefix("unseen_")
        if name not in own or meaning in found or (meaning == "pool" and "drawn" not in found):
            continue
        known = {"status": STATUSES, "drawn": DRAWN}.get(meaning)
        words = {cell.strip().lower() for cell in cells(own.index(name)) if cell} - {""} if known else set()
        if known is None or not words or words.intersection(known):
            found[meaning] = own.index(name)
    return found


def find_name(names: Sequence[str], known: Sequence[str]) -> int | None:
    """Return the position of the first of the `known` names, in any case, or None."""
    own = lower(names)
    return next((own.index(name) for name in known if name in own), None)


_NEO4J = {
    "edges": {":start_id": "src", ":end_id": "dst", ":type": "type"},
    "nodes": {":id": "node", ":label": "type"},
}
_NEO4J_NAME = re.compile(
    r"[^:]*(:(?:id|start_id|end_id|label|type))(?:\(.*\))?|([^:]+):(?:float|double|int|long|short|byte)"
)


def neo4j_names(cells: Sequence[str], role: Role) -> list[str]:
    """Return column names with those of Neo4j's csv (``id:ID(Person)``, ``:START_ID``, ``weight:double``) as ours.

    Examples
    --------
    >>> neo4j_names([":START_ID(Person)", ":END_ID", "weight:double", ":TYPE"], "edges")
    ['src', 'dst', 'weight', 'type']
    """
    ours, own = _NEO4J.get(role, {}), list(cells)
    matches = [_NEO4J_NAME.fullmatch(cell.strip().lower()) for cell in own]
    if not any(match and match[1] in ours for match in matches):
        return own
    return [
        cell if match is None else ours.get(match[1], match[2] or cell)
        for cell, match in zip(own, matches, strict=True)
    ]


def edge_columns(names: Sequence[str], is_numeric: Sequence[bool]) -> dict[str, int]:
    """Return the positions of ``src``, ``dst`` and, where there are such columns, ``weight``, ``type`` and ``sign``.

    Known names come first. Otherwise the first two columns are the ends, and a numeric column with a name such as
    ``count``, or else a numeric third column, is the weight.

    Examples
    --------
    >>> edge_columns(["product_a", "product_b", "times_bought_together"], [False, False, True])
    {'src': 0, 'dst': 1, 'weight': 2}
    """
    names = neo4j_names(names, "edges")
    known, own = {"src": SRC, "dst": DST, "weight": WEIGHT, "type": EDGE_TYPE, "sign": SIGN}, lower(names)
    found = {meaning: find_name(names, usual) for meaning, usual in known.items()}
    times = [k for k, name in enumerate(names) if not _TIME_WORDS.isdisjoint(split_words(name))]
    if found["src"] is None or found["dst"] is None:
        free = [k for k in range(len(names)) if k not in found.values()]
        pair = find_ends([names[k] if k in free else "" for k in range(len(names))], any_stem=True)
        if pair is not None and found["src"] is None and found["dst"] is None:
            found["src"], found["dst"] = pair
        else:
            rest = _without_index([k for k in free if k not in times] or free, names, is_numeric)
            for end in ("src", "dst"):
                if found[end] is None and rest:
                    found[end] = rest.pop(0)
    if found["weight"] is None and found["src"] is not None and found["dst"] is not None:
        free = [k for k in range(len(names)) if k not in found.values()]
        others = (*FIRST_ONLY, "rank", "row", "line")
        usable = [k for k in free if is_numeric[k] and k not in times and own[k] not in others]
        usable = [k for k in usable if not has_id_word(names[k]) and not is_label_name(names[k])]
        called = [k for k in usable if not _WEIGHT_WORDS.isdisjoint(split_words(names[k]))]
        third = [k for k in usable if k == min(free)]
        found["weight"] = next(iter(called or third), None)
    return {meaning: k for meaning, k in found.items() if k is not None}


def label_columns(names: Sequence[str], is_numeric: Sequence[bool]) -> dict[str, int]:
    """Return the positions of ``node`` and ``label``: by known names, else the first and the second column.

    Examples
    --------
    >>> label_columns(["product_id", "price", "category"], [False, True, False])
    {'node': 0, 'label': 2}
    """
    every = range(len(names))
    node, label = id_position(names), find_name(names, LABEL)
    if label is None:
        label = next(
            (k for k in every if k != node and is_label_name(names[k]) and not is_thing(names[k])), None
        )
    if label is None:
        label = next((k for k in every if k not in (0, node) and is_label_name(names[k])), None)
    rest = _without_index([k for k in every if k != label], names, is_numeric)
    if node is None or (node == 0 and rest and rest[0] != 0):
        node = rest[0] if rest else None
    if label is None:
        label = next((k for k in rest if k != node), None)
    found = {"node": node, "label": label}
    return {meaning: k for meaning, k in found.items() if k is not None}


def _without_index(columns: list[int], names: Sequence[str], is_numeric: Sequence[bool]) -> list[int]:
    """Return the columns without a leading row number, as pandas and R write it beside a column of ids."""
    own = lower(names)
    numbered = own[:1] and (
        own[0] in ("", "unnamed: 0", "index", "row", "rownames") or own[0].startswith("edge")
    )
    if len(columns) > 2 and columns[0] == 0 and numbered and is_numeric[0] and is_thing(names[columns[1]]):
        return columns[1:]
    return columns


def is_number(cell: str) -> bool:
    """Return whether a cell holds one number, as files write them."""
    try:
        float(cell)
    except ValueError:
        return False
    return "_" not in cell


def is_value(cell: str) -> bool:
    """Return whether a cell holds a number, a date or a truth value, none of which is the name of a column."""
    cell = cell.strip()
    return (
        is_number(cell)
        or cell.lower() in _TRUTH
        or bool(NUMBER.fullmatch(cell))
        or bool(DATE.fullmatch(cell))
    )


def has_sure_names(role: Role, cells: Sequence[str]) -> bool:
    """Return whether these are the names that documentation asks for: ``src, dst``; ``node, label``."""
    names = set(neo4j_names(lower(cells), role))
    if role == "edges":
        return bool(names.intersection(SRC) and names.intersection(DST))
    if role == "labels":
        return bool(names.intersection(NODE) and names.intersection(LABEL))
    # features that we write are below `node`, whatever the others are called
    return "node" in names or (bool(names.intersection(NODE)) and not any(map(is_value, cells)))


def has_known_names(role: Role, cells: Sequence[str]) -> bool:
    """Return whether these cells are names of columns, if the rows below do not say otherwise."""
    names = lower(cells)
    if has_sure_names(role, cells):
        return True
    if role == "edges":
        if any(map(is_value, cells)) or len(cells) < 2:
            return False
        ends = [cell for cell, name in zip(cells, names, strict=True) if name not in ("", "unnamed: 0")]
        things = [is_thing(end) or (k == 1 and is_label_name(end)) for k, end in enumerate(ends[:2])]
        return find_ends(ends) is not None or things == [True, True]
    first = names[0] in (*NODE, PANDAS_INDEX, *FIRST_ONLY)
    if role == "nodes":
        typed = len(cells) > 1 and any(name in NODE_TYPE for name in names[1:])
        return (first and names[0] != "") or has_id_word(cells[0]) or (typed and is_thing(cells[0]))
    if role in ("features", "vectors"):
        numbers = [cell for cell in cells[1:] if is_value(cell)]
        counted = not numbers or (len(numbers) == len(cells) - 1 and is_count(numbers, role))
        many = role == "vectors" and len(numbers) > 2 and not is_value(cells[0])
        return counted and (first or is_thing(cells[0]) or any(n in NODE for n in names) or many)
    if any(map(is_value, cells)):
        return False
    ends_in_text = any(not _TEXT_WORDS.isdisjoint(split_words(cell)[-1:]) for cell in cells[1:])
    labelled = ends_in_text or any(is_label_name(cell) or is_thing(cell) for cell in cells[1:])
    strict = any(name in (*NODE, *LABEL) for name in names) or has_id_word(cells[0])
    label_first = len(cells) > 1 and is_label_name(cells[0]) and has_id_word(cells[1])
    return strict or (labelled and (first or is_thing(cells[0]))) or label_first


def is_count(cells: Sequence[str], role: Role) -> bool:
    """Return whether names of columns count on by one, as pandas' do, or as years."""
    if not cells or not all(cell.strip().isdigit() for cell in cells):
        return False
    numbers = [int(cell) for cell in cells]
    steps = all(b - a == 1 for a, b in pairwise(numbers))
    return steps and (numbers[0] in (0, 1) or (1900 <= numbers[0] <= 2100 and role == "features"))
