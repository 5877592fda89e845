import { phraseOf, type Step, wordsOf } from '../generator/step.ts';

/**
 * The question as far as it is not yet answered, and after `=` what is known of its end: `zof of the kel of Velmora = Velmora .`
 * before anything is found, `zof of the kel = Duri .` after the first step, `zof = Tanka .` after the last. It is copied in the
 * order of the question up to the step done last, and what comes next stands before its end, so that a longer question asks for
 * nothing new.
 */
export function planOf(left: readonly Step[], thing: string, done?: Step): string {
  const known = done === undefined ? thing : `the ${wordsOf(done)}`;
  const end = done === undefined && left[0]?.kind === 'largest' ? '' : `${known} = ${thing}`;
  const whole = left.reduce((inner, step) => phraseOf(step, inner), end);
  return `${whole.replace(/^the /, '')} .`;
}
