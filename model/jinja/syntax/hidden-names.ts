import { unreachable } from '../../../agent_rl/core/unreachable.ts';
import type { Block, Expression, Macro, Statement, Target } from './nodes.ts';

/** The names that hide the values given for them from the start of a block on, by the block. */
export type HiddenNames = ReadonlyMap<Block, ReadonlySet<string>>;

/**
 * Jinja decides when it compiles a template where a name of a scope comes from. One that is assigned first, and read by scopes
 * inside alone, is the scope's own from its start: there it is undefined until it is assigned, whatever value was given for it.
 */
export function hiddenNames(template: Block): HiddenNames {
  const hidden = new Map<Block, ReadonlySet<string>>();
  new ScopeNames(hidden, new Copies()).add(template);
  return hidden;
}

/** Names that may be copied for the branches of a template, which takes a second. */
const mostCopied = 2 ** 22;

class Copies {
  #left = mostCopied;

  of(names: ReadonlySet<string>): Set<string> {
    this.#left -= names.size;
    if (this.#left < 0) throw new SyntaxError('it assigns too many names in too many branches');
    return new Set(names);
  }
}

/** Follows scopes inside, once all names of the scope around them are known. */
type Inside = ((around: ScopeNames) => void)[];

/** Follows the names of one scope, in the order in which Jinja does. */
class ScopeNames {
  /** Names that the scope has a place for. */
  #placed = new Set<string>();
  #stored = new Set<string>();
  #hidden = new Set<string>();

  constructor(
    private readonly blocks: Map<Block, ReadonlySet<string>>,
    private readonly copies: Copies,
    private readonly around?: ScopeNames,
    own: readonly string[] = [],
  ) {
    for (const name of own) this.#placed.add(name);
  }

  /** Goes through the scope's statements. */
  add(block: Block): void {
    const inside: Inside = [];
    this.#statements(block, inside);
    this.blocks.set(block, this.#hidden);
    // Scopes inside see all the names of this one, those that are assigned behind them too.
    for (const follow of inside) follow(this);
  }

  #has(name: string): boolean {
    return this.#placed.has(name) || (this.around !== undefined && this.around.#has(name));
  }

  #load(name: string): void {
    if (!this.#has(name)) this.#placed.add(name);
  }

  #store(name: string): void {
    this.#stored.add(name);
    if (this.#placed.has(name)) return;
    if (!this.#has(name)) this.#hidden.add(name);
    this.#placed.add(name);
  }

  #loads(...nodes: readonly unknown[]): void {
    for (const node of nodes) forEachName(node, (name) => this.#load(name));
  }

  #stores(target: Target): void {
    if (target.kind === 'name') this.#store(target.name);
    else if (target.kind === 'member') this.#load(target.namespace);
    else for (const item of target.items) this.#stores(item);
  }

  #statements(block: Block, inside: Inside): void {
    for (const statement of block) this.#statement(statement, inside);
  }

  #statement(statement: Statement, inside: Inside): void {
    const scope = (
      block: Block,
      own: readonly string[] = [],
      read: readonly unknown[] = [],
    ): void => {
      inside.push((around) => {
        const names = new ScopeNames(this.blocks, this.copies, around, own);
        names.#loads(...read);
        names.add(block);
      });
    };
    switch (statement.kind) {
      case 'output':
        return this.#loads(statement.value);
      case 'if':
        return this.#choice(statement.branches, statement.otherwise, inside);
      case 'for': {
        const own = ['loop', ...namesOf(statement.target)];
        this.#loads(statement.over);
        scope(statement.body, own);
        return scope(statement.otherwise);
      }
      case 'set':
        this.#loads(statement.value);
        return this.#stores(statement.target);
      case 'set block':
        this.#stores(statement.target);
        return scope(statement.body);
      case 'macro':
        this.#store(statement.name);
        return this.#macro(statement, scope);
      case 'call block':
        this.#loads(statement.call);
        return this.#macro(statement.macro, scope);
      case 'filter block':
        this.#loads(statement.filters);
        return scope(statement.body);
      case 'with':
        this.#loads(...statement.values.map(([, value]) => value));
        return scope(
          statement.body,
          statement.values.flatMap(([target]) => namesOf(target)),
        );
      case 'text':
      case 'break':
      case 'continue':
        return undefined;
      default:
        return unreachable(statement);
    }
  }

  #macro(
    { parameters, body }: Macro,
    scope: (block: Block, own: readonly string[], read: readonly unknown[]) => void,
  ): void {
    const own = parameters.map(({ name }) => name);
    const defaults = parameters.map(({ byDefault }) => byDefault);
    scope(body, ['caller', 'kwargs', 'varargs', ...own], defaults);
  }

  /** What is assigned in some branches only keeps the value that it has. */
  #choice(
    [first, ...others]: readonly { test: Expression; body: Block }[],
    otherwise: Block,
    inside: Inside,
  ): void {
    this.#loads(first?.test);
    // Jinja counts three branches: the first, all further conditions together, and the last.
    const branches = [
      this.#branch((names) => names.#statements(first?.body ?? [], inside)),
      this.#branch((names) => {
        for (const { test, body } of others) names.#choice([{ test, body }], [], inside);
      }),
      this.#branch((names) => names.#statements(otherwise, inside)),
    ];
    const stored = new Set(branches.flatMap((branch) => [...branch.#stored]));
    const before = this.#stored;
    for (const branch of branches) {
      for (const name of branch.#placed) {
        if (!this.#placed.has(name) || branch.#hidden.has(name) !== this.#hidden.has(name)) {
          this.#placed.add(name);
          if (branch.#hidden.has(name)) this.#hidden.add(name);
          else this.#hidden.delete(name);
        }
      }
    }
    for (const name of stored)
      if (!before.has(name) && !branches.every((branch) => branch.#stored.has(name)))
        this.#hidden.delete(name);
    this.#stored = this.copies.of(before);
    for (const name of stored) this.#stored.add(name);
  }

  #branch(follow: (names: ScopeNames) => void): ScopeNames {
    const branch = new ScopeNames(this.blocks, this.copies, this.around);
    branch.#placed = this.copies.of(this.#placed);
    branch.#stored = this.copies.of(this.#stored);
    branch.#hidden = this.copies.of(this.#hidden);
    follow(branch);
    return branch;
  }
}

const namesOf = (target: Target): readonly string[] =>
  target.kind === 'name'
    ? [target.name]
    : target.kind === 'tuple'
      ? target.items.flatMap(namesOf)
      : [];

function forEachName(node: unknown, found: (name: string) => void): void {
  if (typeof node !== 'object' || node === null) return;
  const { kind, name } = node as { kind?: unknown; name?: unknown };
  if (kind === 'name' && typeof name === 'string') found(name);
  else for (const part of Object.values(node)) forEachName(part, found);
}
