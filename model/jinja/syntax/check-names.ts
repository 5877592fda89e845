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

/**
 * Refuses filters and tests that are not supported. Like Jinja, it leaves what nothing has where an `if` of the same scope may
 * keep it from being used.
 *
 * @throws SyntaxError
 */
export function checkNames(
  block: Block,
  known: Readonly<Record<'filter' | 'test', KnownNames>>,
): void {
  const check = (node: unknown, mayBeUnused: boolean): void => {
    if (typeof node !== 'object' || node === null) return;
    const { kind, name, line } = node as { kind?: unknown; name?: unknown; line?: unknown };
    if (kind === 'filter' || kind === 'test') {
      const { supported, jinjaOnly } = known[kind];
      const called = String(name);
      if (!supported.has(called) && (jinjaOnly.has(called) || !mayBeUnused))
        throw new SyntaxError(
          `line ${String(line)}: the ${kind} "${called}" is not supported. Supported: ${[...supported].join(' ')}`,
        );
    }
    const below = choosing.has(kind) || (mayBeUnused && !scoping.has(kind));
    for (const part of Object.values(node)) check(part, below);
  };
  check(block, false);
}
