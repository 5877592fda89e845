import { access, type Form } from '../generator/form.ts';
import type { RelationStep, Step, TableStep } from '../generator/step.ts';
import { largestCode, look, type TableForm, totalCode } from '../generator/table.ts';
import type { KeyedRng } from '../../../agent_rl/core/keyed-rng.ts';
import { repaired } from './repair.ts';

/** How one goes about a step: what to run first, and what to run after an answer to it. */
export interface Way {
  first: string;
  /** `undefined` once the answer is what was looked for, or for one who does not know further. */
  next: (content: string, isError: boolean) => string | undefined;
}

/** How often the teacher tries the form at hand without having failed before. */
const luck = 0.2;

/** How often it forgets that decimals may be written with a comma. */
const carelessness = 0.3;

export const wayThrough = (step: Step, from: string, rng: KeyedRng): Way =>
  step.kind === 'relation' ? throughRelation(step, from, rng) : throughTable(step, from, rng);

/** By habit, mostly as a dict; then by what the error says. */
function throughRelation({ name, form }: RelationStep, from: string, rng: KeyedRng): Way {
  const chance = rng.uniform();
  let tried: Form =
    chance < luck ? form : { holder: chance < 0.85 ? 'dict' : 'function', keys: 'same' };
  const code = () => `print(${access(name, tried, from)})`;
  return {
    first: code(),
    next: (content, isError) => {
      const better = isError ? repaired(tried, content) : undefined;
      if (better === undefined) return undefined;
      tried = better;
      return code();
    },
  };
}

/** Looks how the file begins, then reads it; a number that cannot be read has a decimal comma. */
function throughTable({ kind, table }: TableStep, from: string, rng: KeyedRng): Way {
  const isCareless = rng.uniform() < carelessness;
  const reading = (form: TableForm) =>
    `print(${kind === 'largest' ? largestCode(table, form) : totalCode(table, form, from)})`;
  let looked = false;
  return {
    first: `print(${look(table)})`,
    next: (content, isError) => {
      if (!looked) {
        looked = true;
        return reading(isCareless ? { ...table.form, decimals: 'point' } : table.form);
      }
      return isError && content.includes('could not convert string to float')
        ? reading(table.form)
        : undefined;
    },
  };
}
