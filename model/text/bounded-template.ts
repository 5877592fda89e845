/**
 * A template whose rendering ends: the work that it may do, the length of its texts and of its lists are bounded. The library
 * bounds none of them, and whoever writes a model's template writes a program.
 */
import { Environment, Interpreter, Template } from '@huggingface/jinja';

import { noteUses, type Parsed, type Uses } from './template-uses.ts';

/** A text, number, list and so on of the interpreter. */
interface Value {
  value: unknown;
}

interface Scope {
  set(name: string, value: unknown): unknown;
}

// The library's declarations name files that a compiler of ES modules does not find.
const NewScope = Environment as unknown as new () => Scope;
const Evaluator = Interpreter as unknown as new (scope: Scope) => {
  evaluate(node: Parsed | undefined, scope: Scope): Value;
  run(program: unknown): Value;
};

/**
 * Steps: a node that is evaluated, an item of its value, or 16 characters of it. Where a template looks back from every message,
 * as Gemma 4's does, 400 messages take two million, and 1,200 the most.
 */
const steps = { least: 4_000_000, perCharacter: 200, most: 20_000_000 };
const textLength = { least: 2 ** 20, perCharacter: 16 };
const mostItems = 2 ** 20;
const longestSource = 2 ** 20;
/** Steps of an item that is looped over: its scopes cost more than an evaluation. */
const stepsOfLoop = 16;

export class BoundedTemplate extends Template {
  readonly #uses: Uses = new Map();

  /** @throws Error for what cannot be parsed */
  constructor(source: string) {
    if (source.length > longestSource)
      throw new Error(`it has ${source.length} characters; at most ${longestSource} are read`);
    super(source);
    noteUses(this.parsed, this.#uses);
  }

  /** @throws Error when it does more than its bounds allow */
  override render(items: Readonly<Record<string, unknown>>): string {
    const scope = new NewScope();
    for (const [name, value] of Object.entries({ ...globals, ...items })) scope.set(name, value);
    const given = JSON.stringify(items).length;
    const interpreter = new BoundedInterpreter(scope, this.#uses, given);
    return String(interpreter.run(this.parsed).value);
  }
}

const globals = {
  true: true,
  True: true,
  false: false,
  False: false,
  none: null,
  None: null,
  range,
  raise_exception: (message: string) => {
    throw new Error(message);
  },
};

/** Python's `range`. */
function range(first: number, second?: number, step = 1): number[] {
  const [start, stop] = second === undefined ? [0, first] : [first, second];
  if (step === 0) throw new Error('range() step must not be zero');
  const length = Math.max(0, Math.ceil((stop - start) / step));
  if (length > mostItems)
    throw beyond(`range(${start}, ${stop}, ${step}) has ${length} items`, mostItems);
  return Array.from({ length }, (_, i) => start + i * step);
}

class BoundedInterpreter extends Evaluator {
  #left: number;
  readonly #mostSteps: number;
  readonly #longest: number;

  constructor(
    scope: Scope,
    private readonly uses: Uses,
    given: number,
  ) {
    super(scope);
    this.#mostSteps = Math.min(steps.most, steps.least + steps.perCharacter * given);
    this.#longest = textLength.least + textLength.perCharacter * given;
    this.#left = this.#mostSteps;
  }

  override evaluate(node: Parsed | undefined, scope: Scope): Value {
    this.#spend(1);
    const value = super.evaluate(node, scope);
    const use = this.uses.get(node);
    if (use === 'glanced at') return value;
    const { value: held } = value;
    if (typeof held === 'string') this.#countText(held, use === 'joined' ? 0 : 1 / 16);
    else if (use === 'joined' || use === 'written') this.#countAll(held);
    else this.#countItems(held, use === 'looped over' ? stepsOfLoop : 1);
    return value;
  }

  /** Every item and character below a value: a list may hold one list many times. */
  #countAll(value: unknown): void {
    const waiting = [value];
    for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
      if (typeof next === 'string') this.#countText(next, 1 / 16);
      for (const item of this.#countItems(next, 1)) waiting.push(item.value ?? false);
    }
  }

  /** @returns what is in it */
  #countItems(value: unknown, stepsOfItem: number): Iterable<Value> {
    const size = Array.isArray(value) ? value.length : value instanceof Map ? value.size : 0;
    if (size === 0) return [];
    if (size > mostItems) throw beyond(`a list has ${size} items`, mostItems);
    this.#spend(stepsOfItem * size);
    return (value as readonly Value[] | ReadonlyMap<string, Value>).values();
  }

  #countText({ length }: string, stepsOfCharacter: number): void {
    if (length > this.#longest) throw beyond(`a text has ${length} characters`, this.#longest);
    this.#spend(stepsOfCharacter * length);
  }

  #spend(count: number): void {
    this.#left -= count;
    if (this.#left < 0) throw new Error(`it is not done after ${this.#mostSteps} steps`);
  }
}

const beyond = (seen: string, most: number): Error =>
  new Error(`${seen}; at most ${most} are allowed`);
