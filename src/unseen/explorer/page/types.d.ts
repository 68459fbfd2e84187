// The types of what the page holds: written by `unseen.explorer.build`, read by every script here.

/** Numbers as text: the kind (u1, u2, u4, f4), then the base64 of a little-endian array. */
type Packed = string;
type Numbers = Uint8Array | Uint16Array | Uint32Array | Float32Array;
/** Labels and status of a node, and how the question about it was drawn, from how many nodes. */
type Value = [string[], string, string?, number?];

/** Lists of different lengths, one per node. */
interface Lists {
  counts: Packed;
  values: Packed;
  names: string[];
}
interface Category {
  name: string;
  caption?: string;
  quiet?: boolean;
  muted?: boolean;
  colour?: number;
  shape: number;
  step?: number;
  /** Whether this is a candidate class, whose colour is not that of a class. */
  group?: boolean;
}
interface StoredColouring {
  key: string;
  name: string;
  categories: Category[];
  codes: Packed;
}
/** A colouring in use: `codes` may change with answers, `first` are those of the last update. */
interface Colouring {
  key: string;
  name: string;
  categories: Category[];
  codes: Uint16Array;
  first: Uint16Array;
  counts: number[];
  hidden: Set<number>;
}
interface Relation extends Lists {
  name: string;
  directed: boolean;
  negative: Packed | null;
}
interface Features extends Lists {
  title: string;
  total: Packed;
  numbers: Packed | null;
  means: number[] | null;
}
interface FoundClass {
  group: string;
  name: string;
  caption: string[];
  caption_kind: string;
  probability: number;
  nearest_seen: string | null;
  edge_ratio: number | null;
  fdr: number | null;
  members: number[];
}
/** A candidate class as the reader edits it. */
interface Group {
  found: FoundClass;
  code: number;
  key: string;
  name: string;
  least: number;
  rows: number[];
}
interface ClassCount {
  best: number;
  low: number;
  high: number;
  curve: [number, number][];
}
interface Coverage {
  classes: [string, number][];
  n_nodes: number;
  n_labelled: number;
  homophily: number | null;
  expected_homophily: number | null;
  expected_unseen: number | null;
  warnings: string[];
}
/** What is guaranteed: bounds for 0 to 99 %, lists at several rates, a q-value of each node. */
interface ErrorRates {
  holds: boolean;
  sentence: string;
  above: number[];
  at_most_false: number[];
  lists: { fdr: number; sentence: string }[];
  q: Packed;
}
interface SelfTest {
  verdict: string;
  classes: { name: string; n_labels: number; auroc: number | null }[];
}
/** A question, or a suspicious label; `row` is null where its node is not on the map. */
interface Question {
  node: string;
  row: number | null;
  reason?: string;
  label?: string;
  replaces?: string;
  likely_class?: string | null;
  unseen_probability?: number | null;
  probability?: number;
  group?: string | null;
  drawn?: string | null;
  pool?: number | null;
}
type Shades = { light: string[]; dark: string[] };
type Plain = { light: string; dark: string };

interface Page {
  title: string;
  subtitle: string;
  notes: string[];
  ids: string[];
  texts: string[] | null;
  titles: string[] | null;
  x: Packed;
  y: Packed;
  start: string;
  colourings: StoredColouring[];
  attributes: StoredColouring[];
  labels: Lists | null;
  statuses: [string, string][];
  truth: Lists | null;
  comparison: string | null;
  probability: Packed | null;
  evidence: { parts: { strong: string; weak: string }[]; ranks: Packed } | null;
  found: {
    count: ClassCount | null;
    classes: FoundClass[];
    failed: boolean;
    questions: number[];
  } | null;
  audit: Coverage | null;
  selfTest: SelfTest | null;
  suggestions: Question[] | null;
  doubts: Question[] | null;
  types: { names: string[]; codes: Packed; first: number } | null;
  near: { k: number; values: Packed } | null;
  edges: Relation[] | null;
  features: Features | null;
  palette: { classes: Shades; steps: Shades; quiet: Plain; map: Plain; safe: number };
  shapes: string[];
  server?: { file: string; answers: number; notebook?: boolean };
  /** How many answers could be undone at the last update. */
  answers?: number;
  rates: ErrorRates | null;
  certificate: { sentence: string; n_answers: number } | null;
  /** Which nodes had a label at the last update. */
  labelled: Uint8Array;
  /** How many answers the last update had seen. */
  revision?: number;
}
/** What the server says after every request. */
interface State {
  session?: string;
  revision: number;
  changes: [string, Value][];
  labelled?: number;
  nodes?: number;
  classes?: Record<string, number>;
  undo: number;
  outside?: boolean;
  certificate?: { sentence: string; n_answers: number };
  problem?: string | null;
  update?: {
    running: boolean;
    done: number;
    total: number;
    error: string | null;
    number: number;
  };
  findings?: Partial<Page> | null;
}
/** What a notebook tells the page: a state or an error after a request, and what changed elsewhere. */
interface Notice {
  id?: string;
  state?: State;
  error?: string;
  selection?: string[];
  theme?: "light" | "dark";
  lost?: boolean;
}
/** The page as `widget.js` has it, cut where its content goes. */
declare const BEFORE: string, AFTER: string;
interface Scene {
  colour: Uint8Array;
  shape: Uint8Array;
  radius: Float32Array;
  order: Uint32Array;
}
interface Renderer {
  kind: string;
  scene(scene: Scene): void;
  draw(view: { x: number; y: number; scaleX: number; scaleY: number }, grow: number): void;
}
interface Window {
  explorer: unknown;
}
