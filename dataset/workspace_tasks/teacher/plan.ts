import { unreachable } from '../../../agent_rl/core/unreachable.ts';
import type { Step } from '../generator/step.ts';
import { fileName } from '../generator/table.ts';

/**
 * What was found and what is left to do, next thing first: `Velmora : kel , zof .` for the zof of the kel of Velmora. No word
 * of it stands twice, so what comes next can be copied from the question or from the plan before, and its end is in sight.
 */
export function planOf(steps: readonly Step[], thing: string): string {
  const left = steps.map(wordsOf).join(' , ');
  const isFromNothing = steps[0]?.kind === 'largest';
  return `${[...(isFromNothing ? [] : [thing]), ...(left === '' ? [] : [left])].join(' : ')} .`;
}

/** A step as the question has it, without what it is done to. */
function wordsOf(step: Step): string {
  switch (step.kind) {
    case 'relation':
      return step.name;
    case 'largest':
      return `${step.table.thing} in ${fileName(step.table)} with the largest ${step.table.number}`;
    case 'total':
      return `total ${step.table.number} in ${fileName(step.table)} where ${step.table.thing}`;
    default:
      return unreachable(step);
  }
}
