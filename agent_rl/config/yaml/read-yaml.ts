import {
  type Document,
  isAlias,
  isMap,
  isScalar,
  isSeq,
  LineCounter,
  type Node,
  parseDocument,
  type Scalar,
  type YAMLError,
  type YAMLMap,
} from 'yaml';

import { deepNesting } from './deep-nesting.ts';
import { type Location, type Place, pointerStep, type Problem } from '../checks/problem.ts';
import { type Block, put, type SourcedTree } from './sourced-tree.ts';

/** Text of a YAML file as a value with places, and what could not be read. */
export interface YamlReading extends SourcedTree {
  problems: readonly Problem[];
}

/** No hand-written run file comes near; a chain of aliases or endless nesting does. */
const most = { values: 50_000, depth: 64 } as const;

/** Reads YAML text; `source` is the file's name as problems show it. */
export function readYaml(text: string, source: string): YamlReading {
  const lines = new LineCounter();
  const start: Location = { source, line: 1, column: 1 };
  const places = new Map<string, Place>([['', { key: start, value: start }]]);
  const deep = deepNesting(text);
  if (deep !== undefined) {
    const before = text.slice(0, deep).split('\n');
    const location = { source, line: before.length, column: before.at(-1)!.length + 1 };
    return { value: undefined, places, problems: [{ location, path: '', text: tooDeep }] };
  }
  const document = parseDocument(text, {
    lineCounter: lines,
    prettyErrors: false,
    uniqueKeys: true,
  });
  const locate = (offset: number): Location => {
    const { line, col } = lines.linePos(offset);
    return { source, line, column: col };
  };
  const told = [...document.errors, ...document.warnings];
  const mistakes = told.filter((error, index) => !isToldAgain(error, told[index + 1]));
  const found = mistakes.map((error): Problem => {
    const offset = offsetOf(error, text);
    const rest = text.slice(offset).split('\n', 1)[0] ?? '';
    return { location: locate(offset), path: '', text: explain(error, rest) };
  });
  // Further errors on a line are mostly the same mistake.
  const problems = found.filter(
    ({ location: { line } }, index) =>
      found.findIndex(({ location }) => location.line === line) === index,
  );
  if (document.errors.length > 0) return { value: undefined, places, problems };
  const walk = new Walk({ document, locate, places, problems });
  const value = document.contents === null ? {} : walk.value(document.contents, '');
  return { value, places, problems };
}

/**
 * A block under a value is reported twice: as a map inside a value, and as a key of several lines, which ends where the
 * block begins.
 */
const isToldAgain = ({ pos: [start] }: YAMLError, next: YAMLError | undefined): boolean =>
  next?.code === 'MULTILINE_IMPLICIT_KEY' && next.pos[0] === start;

/** Where an error is: for a key of several lines, its last line. */
function offsetOf({ code, pos: [start, end] }: YAMLError, text: string): number {
  if (code !== 'MULTILINE_IMPLICIT_KEY') return start;
  const line = text.lastIndexOf('\n', end - 1) + 1;
  return line + text.slice(line).search(/\S/);
}

function explain({ code, message }: YAMLError, rest: string): string {
  if (code === 'DUPLICATE_KEY') {
    return `duplicate key ${JSON.stringify(rest.split(':', 1)[0])} in this block. Keep one of them.`;
  }
  if (code === 'TAB_AS_INDENT') return 'the indentation contains a tab. Use spaces.';
  if (code === 'MULTILINE_IMPLICIT_KEY')
    return 'this line is indented further than the line above, which already has a value. Indent both equally; quote a text of several lines that contains a colon.';
  return `not valid YAML: ${message}${message.endsWith('.') ? '' : '.'}`;
}

const tooDeep = `blocks and lists are nested too deeply; at most ${most.depth} levels are allowed.`;

interface WalkState {
  document: Document.Parsed;
  locate: (offset: number) => Location;
  places: Map<string, Place>;
  problems: Problem[];
}

/** Turns nodes into values and remembers where each stood. */
class Walk {
  /** The blocks and lists around the value that is read. */
  readonly #open = new Set<unknown>();
  #values = 0;

  constructor(private readonly state: WalkState) {}

  value(node: unknown, pointer: string): unknown {
    if (isAlias(node)) return this.#alias(node.resolve(this.state.document), node.source, pointer);
    this.#values += 1;
    if (this.#values > most.values) return this.#tooMany(pointer);
    if (isScalar(node)) return this.#scalar(node, pointer);
    if (!isSeq(node) && !isMap(node)) return null;
    if (this.#open.size >= most.depth) return this.#problem(pointer, tooDeep);
    this.#open.add(node);
    const value = isSeq(node)
      ? node.items.map((item, index) => this.#item(item, pointer, index))
      : this.#block(node, pointer);
    this.#open.delete(node);
    return value;
  }

  #scalar({ value, tag }: Scalar, pointer: string): unknown {
    if (typeof value !== 'object' || value === null) return value;
    const text = `has a value of the tag ${tag ?? ''}, which is not supported. Remove the tag.`;
    return this.#problem(pointer, text);
  }

  #block(node: YAMLMap, pointer: string): Block {
    const block: Block = {};
    for (const { key, value } of node.items) {
      const name = isScalar(key) ? String(key.value) : String(key);
      const at = this.#at(key);
      const below = pointer + pointerStep(name);
      this.state.places.set(below, { key: at, value: this.#at(value, at) });
      put(block, name, this.value(value, below));
    }
    return block;
  }

  #item(item: unknown, pointer: string, index: number): unknown {
    const at = this.#at(item);
    const below = pointer + pointerStep(index);
    this.state.places.set(below, { key: at, value: at });
    return this.value(item, below);
  }

  #alias(target: Node | undefined, name: string, pointer: string): unknown {
    // A file that is already too large would only be copied further.
    if (this.#values > most.values) return null;
    if (target !== undefined && !this.#open.has(target)) return this.value(target, pointer);
    const text = target === undefined ? 'does not refer to an anchor' : 'contains itself';
    return this.#problem(pointer, `the alias *${name} ${text}.`);
  }

  /** Reports it once. */
  #tooMany(pointer: string): null {
    if (this.#values > most.values + 1) return null;
    const text = `the file has more than ${most.values} values when its aliases are expanded. Use fewer aliases.`;
    return this.#problem(pointer, text);
  }

  #problem(pointer: string, text: string): null {
    const location = this.state.places.get(pointer)?.value ?? this.#at(undefined);
    this.state.problems.push({ location, path: '', text });
    return null;
  }

  #at(node: unknown, otherwise?: Location): Location {
    const range = (node as Node | null | undefined)?.range;
    return range == null ? (otherwise ?? this.state.locate(0)) : this.state.locate(range[0]);
  }
}
