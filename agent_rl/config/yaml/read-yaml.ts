import {
  type Document,
  isAlias,
  isMap,
  isScalar,
  isSeq,
  LineCounter,
  type Node,
  parseDocument,
} from 'yaml';

import { type Location, type Place, pointerStep, type Problem } from '../checks/problem.ts';
import { type Block, put, type SourcedTree } from './sourced-tree.ts';

/** Text of a YAML file as a value with places, and what could not be read. */
export interface YamlReading extends SourcedTree {
  problems: readonly Problem[];
}

/** Reads YAML text; `source` is the file's name as problems show it. */
export function readYaml(text: string, source: string): YamlReading {
  const lines = new LineCounter();
  const document = parseDocument(text, {
    lineCounter: lines,
    prettyErrors: false,
    uniqueKeys: true,
  });
  const locate = (offset: number): Location => {
    const { line, col } = lines.linePos(offset);
    return { source, line, column: col };
  };
  const problems = [...document.errors, ...document.warnings].map(
    ({ code, message, pos: [offset] }): Problem => ({
      location: locate(offset),
      path: '',
      text: explain(code, message, text.slice(offset).split('\n', 1)[0] ?? ''),
    }),
  );
  const start: Location = { source, line: 1, column: 1 };
  const places = new Map<string, Place>([['', { key: start, value: start }]]);
  if (document.errors.length > 0) return { value: undefined, places, problems };
  const walk = new Walk({ document, locate, places, problems });
  const value = document.contents === null ? {} : walk.value(document.contents, '');
  return { value, places, problems };
}

function explain(code: string, message: string, rest: string): string {
  if (code === 'DUPLICATE_KEY') {
    return `the key ${JSON.stringify(rest.split(':', 1)[0])} appears twice in this block. Keep one.`;
  }
  if (code === 'TAB_AS_INDENT') return 'a tab is used to indent. Use spaces.';
  return `not valid YAML: ${message}${message.endsWith('.') ? '' : '.'}`;
}

interface WalkState {
  document: Document.Parsed;
  locate: (offset: number) => Location;
  places: Map<string, Place>;
  problems: Problem[];
}

/** Turns nodes into values and remembers where each stood. */
class Walk {
  readonly #open = new Set<unknown>();

  constructor(private readonly state: WalkState) {}

  value(node: unknown, pointer: string): unknown {
    if (isAlias(node)) return this.#alias(node.resolve(this.state.document), node.source, pointer);
    if (isScalar(node)) return node.value;
    if (isSeq(node)) return node.items.map((item, index) => this.#item(item, pointer, index));
    if (!isMap(node)) return null;
    const block: Block = {};
    this.#open.add(node);
    for (const { key, value } of node.items) {
      const name = isScalar(key) ? String(key.value) : String(key);
      const at = this.#at(key);
      const below = pointer + pointerStep(name);
      this.state.places.set(below, { key: at, value: this.#at(value, at) });
      put(block, name, this.value(value, below));
    }
    this.#open.delete(node);
    return block;
  }

  #item(item: unknown, pointer: string, index: number): unknown {
    const at = this.#at(item);
    const below = pointer + pointerStep(index);
    this.state.places.set(below, { key: at, value: at });
    return this.value(item, below);
  }

  #alias(target: Node | undefined, name: string, pointer: string): unknown {
    if (target !== undefined && !this.#open.has(target)) return this.value(target, pointer);
    const location = this.state.places.get(pointer)?.value ?? this.#at(undefined);
    const text = target === undefined ? 'names no anchor' : 'contains itself';
    this.state.problems.push({ location, path: '', text: `the alias *${name} ${text}.` });
    return null;
  }

  #at(node: unknown, otherwise?: Location): Location {
    const range = (node as Node | null | undefined)?.range;
    return range == null ? (otherwise ?? this.state.locate(0)) : this.state.locate(range[0]);
  }
}
