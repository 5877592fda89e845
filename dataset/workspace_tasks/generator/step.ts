import { unreachable } from '../../../agent_rl/core/unreachable.ts';
import { definition, type Form, formName, trainedForms, unseenForms } from './form.ts';
import {
  decimal,
  fileName,
  type Table,
  type TableForm,
  tableFormName,
  tableText,
  trainedTableForms,
  unseenTableForms,
} from './table.ts';

/** What is to be done, and the form of what it is done with. */
export type StepForm =
  { kind: 'relation'; form: Form } | { kind: 'largest' | 'total'; form: TableForm };

/** From a thing to the one that a relation gives it. */
export interface RelationStep {
  kind: 'relation';
  name: string;
  form: Form;
  values: ReadonlyMap<string, string>;
}

/** To the thing with the largest number of a table, or from a thing to the sum of its numbers. */
export interface TableStep {
  kind: 'largest' | 'total';
  table: Table;
}

export type Step = RelationStep | TableStep;

const ofRelations = (forms: readonly Form[]): StepForm[] =>
  forms.map((form) => ({ kind: 'relation', form }));
const ofTables = (kind: 'largest' | 'total', forms: readonly TableForm[]): StepForm[] =>
  forms.map((form) => ({ kind, form }));

/** Steps by kind, that training shows or that it never does. */
export type StepForms = Readonly<Record<StepForm['kind'], readonly StepForm[]>>;

export const trainedSteps: StepForms = {
  relation: ofRelations(trainedForms),
  largest: ofTables('largest', trainedTableForms),
  total: ofTables('total', trainedTableForms),
};

export const unseenSteps: StepForms = {
  relation: ofRelations(unseenForms),
  largest: ofTables('largest', unseenTableForms),
  total: ofTables('total', unseenTableForms),
};

export const stepName = (step: StepForm): string =>
  step.kind === 'relation' ? formName(step.form) : `${step.kind}:${tableFormName(step.form)}`;

/** What families, the unit that results are clustered by, are called: the steps, first one first. */
export const stepsName = (steps: readonly StepForm[]): string => steps.map(stepName).join('+');

const order = Object.values(trainedSteps).flat();

/** Whether two steps follow one another nowhere in training: one in five, every step among them. */
export const isUnseenPair = (first: StepForm, second: StepForm): boolean =>
  (order.indexOf(first) + 2 * order.indexOf(second)) % 5 === 0;

export const formOf = (step: Step): StepForm =>
  step.kind === 'relation'
    ? { kind: step.kind, form: step.form }
    : { kind: step.kind, form: step.table.form };

/** In words, without what it is done to. */
export function wordsOf(step: Step): string {
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

/** In words, of what was found before. A step that needs nothing found says where it begins. */
export function phraseOf(step: Step, inner: string): string {
  const joined = { relation: ` of ${inner}`, largest: '', total: ` is ${inner}` };
  return `the ${wordsOf(step)}${joined[step.kind]}`;
}

/** What a step leads to. */
export function follow(from: string, step: Step): string {
  switch (step.kind) {
    case 'relation':
      return step.values.get(from) ?? '';
    case 'largest':
      return best(step.table, ({ number }) => number);
    case 'total':
      return decimal(totalOf(step.table, from));
    default:
      return unreachable(step);
  }
}

const totalOf = ({ rows }: Table, thing: string): number =>
  rows.filter((row) => row.thing === thing).reduce((sum, { number }) => sum + number, 0);

const best = ({ rows }: Table, value: (row: Table['rows'][number]) => number): string =>
  rows.toSorted((a, b) => value(b) - value(a))[0]?.thing ?? '';

/** What one comes to who reads a table otherwise than asked: another column, the smallest, a first or last row, all rows. */
export function misreadings(step: Step, from: string): string[] {
  if (step.kind === 'relation') return [];
  const { rows } = step.table;
  const own = rows.filter(({ thing }) => thing === from);
  if (step.kind === 'largest')
    return [
      best(step.table, ({ other }) => other),
      best(step.table, ({ number }) => -number),
      rows[0]?.thing ?? '',
      rows.at(-1)?.thing ?? '',
    ];
  const sum = (some: typeof rows, column: 'number' | 'other') =>
    decimal(some.reduce((total, row) => total + row[column], 0));
  return [
    sum(own, 'other'),
    sum(rows, 'number'),
    ...own.map(({ number }) => decimal(number)),
    ...new Set(rows.map(({ thing }) => thing)),
  ].concat(
    [...new Set(rows.map(({ thing }) => thing))]
      .filter((thing) => thing !== from)
      .map((thing) => decimal(totalOf(step.table, thing))),
  );
}

/** Python that makes what a step needs. */
export const stepSetup = (step: Step): string =>
  step.kind === 'relation'
    ? definition(step.name, step.form, step.values)
    : `open('${fileName(step.table)}', 'w').write(${JSON.stringify(tableText(step.table))})`;
