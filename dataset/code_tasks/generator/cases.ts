import type { KeyedRng } from '../../../agent_rl/core/keyed-rng.ts';

import { PythonRaises, type Scalar, type Value, printed } from './atom.ts';
import { type TaskShape, evaluate, rightChoice, wrongChoices } from './program.ts';
import { largest } from '../../../agent_rl/core/long-lists.ts';

export interface Case {
  args: readonly Value[];
  expected: Value;
}

export interface Cases {
  /** What the policy may see. */
  example: Case;
  hidden: readonly Case[];
}

const candidateCount = 24;
const hiddenCount = 5;
const attempts = 60;

interface Candidate extends Case {
  /** For each wrong program, whether this case tells it from the right one. */
  caught: readonly boolean[];
}

/**
 * Draws a public example and five hidden cases such that every wrong program fails a hidden case.
 *
 * @throws RangeError when the family's slips cannot be distinguished, which is a mistake in its table.
 */
export function drawCases(shape: TaskShape, rng: KeyedRng): Cases {
  for (let attempt = 0; attempt < attempts; attempt++) {
    const found = pickCases(drawCandidates(shape, rng));
    if (found !== undefined) return found;
  }
  throw new RangeError(
    `No ${hiddenCount} cases of ${shape.family.name} (${shape.parameters.join(', ')}) catch every slip.`,
  );
}

function drawCandidates(shape: TaskShape, rng: KeyedRng): Candidate[] {
  const known = shape.parameters.filter((k): k is Scalar => k !== undefined);
  const wrong = wrongChoices(shape.family);
  const seen = new Set<string>();
  const candidates: Candidate[] = [];
  for (let i = 0; i < candidateCount; i++) {
    const args = shape.family.source.draw(rng, known);
    const key = JSON.stringify(args);
    if (seen.has(key)) continue;
    seen.add(key);
    const candidate = judge(shape, wrong, args);
    if (candidate !== undefined) candidates.push(candidate);
  }
  return candidates;
}

function judge(
  shape: TaskShape,
  wrong: ReturnType<typeof wrongChoices>,
  args: readonly Value[],
): Candidate | undefined {
  try {
    const expected = evaluate(shape, rightChoice(shape.family), args);
    const shown = printed(expected);
    if (shown === '') return undefined;
    const caught = wrong.map((choice) => printed(evaluate(shape, choice, args)) !== shown);
    return { args, expected, caught };
  } catch (error) {
    if (error instanceof PythonRaises) return undefined;
    throw error;
  }
}

/** The candidate that catches most of the open programs, the first one drawn of equals. */
function best(candidates: readonly Candidate[], open: readonly boolean[]): Candidate | undefined {
  const scores = candidates.map(({ caught }) => caught.filter((is, i) => is && open[i]).length);
  return candidates[scores.indexOf(largest(scores))];
}

function pickCases(candidates: readonly Candidate[]): Cases | undefined {
  let open = candidates[0]?.caught.map(() => true) ?? [];
  const example = best(candidates, open);
  if (example === undefined) return undefined;
  let rest = candidates.filter((candidate) => candidate !== example);
  const hidden: Candidate[] = [];
  while (hidden.length < hiddenCount) {
    const next = best(rest, open);
    if (next === undefined) return undefined;
    hidden.push(next);
    rest = rest.filter((candidate) => candidate !== next);
    open = open.map((isOpen, i) => isOpen && !next.caught[i]);
  }
  return open.some(Boolean) ? undefined : { example, hidden };
}
