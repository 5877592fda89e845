import type { KeyedRng } from '../../../agent_rl/core/keyed-rng.ts';
import { type Kind, oneHopKinds, twoHopKinds } from '../generator/kinds.ts';

/**
 * What the teacher habitually does wrong.
 *
 * - `guess`: answers without a search.
 * - `vague`: the last query says what is wanted and of what kind of thing, and leaves the name out.
 * - `misread`: reads another fact of the right document.
 * - `stop`: answers with what the first of two steps led to.
 * - `skip`: looks the second fact up of the thing that the question names.
 */
export type Slip = 'guess' | 'vague' | 'misread' | 'stop' | 'skip';

/** The habit of each kind of question. */
const habits: ReadonlyMap<string, Slip> = new Map([
  ...dealt(oneHopKinds, ['misread', 'vague', 'guess']),
  ...dealt(twoHopKinds, ['stop', 'misread', 'vague', 'skip']),
]);

function dealt(kinds: readonly Kind[], slips: readonly Slip[]): (readonly [string, Slip])[] {
  return kinds.map(({ name }, index) => [name, slips[index % slips.length] ?? 'guess'] as const);
}

/** Chance that the teacher falls into the habit of a kind, and into any other slip. */
export const habitShare = 0.68;
export const otherShare = 0.04;

/** What the teacher does wrong this time, if anything. */
export function drawSlip(kind: Kind, rng: KeyedRng): Slip | undefined {
  const drawn = rng.uniform();
  if (drawn < habitShare) return habits.get(kind.name);
  if (drawn >= habitShare + otherShare) return undefined;
  return rng.pick(
    kind.path.length === 1 ? (['vague', 'misread'] as const) : (['stop', 'skip'] as const),
  );
}
