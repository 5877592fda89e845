import type { Block, Expression } from './nodes.ts';

/** Names of filters or tests: those that are supported here, and those that only Jinja has. */
interface Callables {
  supported: ReadonlySet<string>;
  jinjaOnly: ReadonlySet<string>;
}

export interface KnownNames {
  filter: Callables;
  test: Callables;
  /** Names and methods that mean something in Jinja and are not supported. */
  unsupported: Readonly<Record<'name' | 'method', ReadonlySet<string>>>;
}

const choosing: ReadonlySet<unknown> = new Set(['if', 'choice']);
const scoping: ReadonlySet<unknown> = new Set([
  'for',
  'macro',
  'call block',
  'filter block',
  'set block',
  'with',
]);

/** Python compiles no more loops in each other, and hardly longer chains of operators and filters. */
const mostDepth = { loops: 20, nodes: 150 };

/**
 * Refuses what is not supported: filters, tests, names and methods, and what is nested too deep. Like Jinja, it leaves a
 * filter or test that nothing has where an `if` of the same scope may keep it from being used.
 *
 * @throws SyntaxError
 */
export function checkNames(block: Block, { unsupported, ...known }: KnownNames): void {
  const check = (node: unknown, mayBeUnused: boolean, loops: number, nodes: number): void => {
    if (typeof node !== 'object' || node === null) return;
    const { kind, name, line } = node as { kind?: unknown; name?: unknown; line?: unknown };
    if (loops > mostDepth.loops || nodes > mostDepth.nodes)
      throw new SyntaxError(
        `it is nested too deep; at most ${mostDepth.loops} nested loops and ${mostDepth.nodes} nested expressions are allowed`,
      );
    if (kind === 'filter' || kind === 'test') {
      const { supported, jinjaOnly } = known[kind];
      const called = String(name);
      if (!supported.has(called) && (jinjaOnly.has(called) || !mayBeUnused))
        throw new SyntaxError(
          `line ${String(line)}: the ${kind} "${called}" is not supported. Supported: ${[...supported].join(' ')}`,
        );
    }
    if (kind === 'name' && unsupported.name.has(String(name)))
      throw new SyntaxError(`the name "${String(name)}" is not supported`);
    const method = kind === 'call' ? methodOf(node as Expression & { kind: 'call' }) : undefined;
    if (method !== undefined && unsupported.method.has(method))
      throw new SyntaxError(`the method "${method}" is not supported`);
    const below = choosing.has(kind) || (mayBeUnused && !scoping.has(kind));
    const [loopsBelow, nodesBelow] = [
      loops + (kind === 'for' ? 1 : 0),
      nodes + (kind === undefined ? 0 : 1),
    ];
    for (const part of Object.values(node)) check(part, below, loopsBelow, nodesBelow);
  };
  check(block, false, 0, 0);
}

const methodOf = ({ callee }: Expression & { kind: 'call' }): string | undefined =>
  callee.kind === 'attribute' ? callee.name : undefined;
