import { type Step, wordsOf } from '../generator/step.ts';

/**
 * What was found and what is left to do, next step first: `Velmora : kel , zof .` for the zof of the kel of Velmora. Whether
 * anything is left stands in it, and what comes next can be copied from the question or from the plan before.
 */
export function planOf(steps: readonly Step[], thing: string): string {
  const found = steps[0]?.kind === 'largest' ? [] : [thing];
  const left = steps.length === 0 ? [] : [steps.map(wordsOf).join(' , ')];
  return `${[...found, ...left].join(' : ')} .`;
}
