import { isDeepStrictEqual } from 'node:util';

import { AgentRlError } from '../../core/errors.ts';
import { showValue } from '../../core/show-value.ts';

/** What the tasks of a generator follow from, instead of the hashes of files. Plain JSON. */
export interface GeneratorIdentity {
  /** Its place in `datasets`. */
  datasets: number;
  name: string;
  version: number;
  settings: Readonly<Record<string, unknown>>;
  seed: number;
}

const parts = ['name', 'version', 'settings', 'seed'] as const;

/**
 * Refuses to resume a run whose tasks other generators would make than it began with.
 *
 * @throws AgentRlError `CHECKPOINT_INVALID`
 */
export function checkGenerators(
  run: string,
  before: readonly GeneratorIdentity[] = [],
  now: readonly GeneratorIdentity[] = [],
): void {
  const places = new Set([...before, ...now].map(({ datasets }) => datasets));
  const changes = Array.from(places).flatMap((place) => {
    const [old, own] = [before, now].map((all) => all.find(({ datasets }) => datasets === place));
    if (old === undefined || own === undefined)
      return [`datasets.${place}: ${nameOf(old)} -> ${nameOf(own)}`];
    return parts
      .filter((part) => !isDeepStrictEqual(old[part], own[part]))
      .map(
        (part) =>
          `${part} of datasets.${place}: ${showValue(old[part])} -> ${showValue(own[part])}`,
      );
  });
  if (changes.length === 0) return;
  throw new AgentRlError(
    'CHECKPOINT_INVALID',
    `The run ${run} cannot be resumed: its task generator has changed (${changes.join('; ')}). Restore the generator, its version and its settings, or start a new run from its checkpoint with --model.`,
  );
}

const nameOf = (one: GeneratorIdentity | undefined): string =>
  one === undefined ? 'no task generator' : `the task generator ${one.name}`;
