import type { Block } from './nodes.ts';

/** Names of one kind: those that are supported here, and those that only Jinja has. */
export interface KnownNames {
  supported: ReadonlySet<string>;
  jinjaOnly: ReadonlySet<string>;
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
 * Refuses filters and tests that are not supported, and what is nested too deep. Like Jinja, it leaves what nothing has where an `if` of the same scope may
 * keep it from being used.
 *
 * @throws SyntaxError
 */
export function checkNames(
  block: Block,
  known: Readonly<Record<'filter' | 'test', KnownNames>>,
): void {
  const check = (node: unknown, mayBeUnused: boolean, loops: number, nodes: number): void => {
    if (typeof node !== 'object' || node === null) return;
    const { kind, name, line } = node as { kind?: unknown; name?: unknown; line?: unknown };
    if (loops > mostDepth.loops || nodes > mostDepth.nodes)
      throw new SyntaxError(
        `it is nested too deep; at most ${mostDepth.loops} loops and ${mostDepth.nodes} expressions in each other are allowed`,
      );
    if (kind === 'filter' || kind === 'test') {
      const { supported, jinjaOnly } = known[kind];
      const called = String(name);
      if (!supported.has(called) && (jinjaOnly.has(called) || !mayBeUnused))
        throw new SyntaxError(
          `line ${String(line)}: the ${kind} "${called}" is not supported. Supported: ${[...supported].join(' ')}`,
        );
    }
    const below = choosing.has(kind) || (mayBeUnused && !scoping.has(kind));
    const [loopsBelow, nodesBelow] = [
      loops + (kind === 'for' ? 1 : 0),
      nodes + (kind === undefined ? 0 : 1),
    ];
    for (const part of Object.values(node)) check(part, below, loopsBelow, nodesBelow);
  };
  check(block, false, 0, 0);
}
