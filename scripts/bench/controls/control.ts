import type { SuccessRate } from '../../../agent_rl/trainer/success-rate.ts';
import type { Evaluated } from './evaluated.ts';

/** How a control did. What was not counted is absent. */
export type Outcome = SuccessRate & {
  groups: Readonly<Record<string, SuccessRate>>;
} & Partial<Pick<Evaluated, 'perTask' | 'counts'>>;

/** What a control came to. */
export interface Control {
  /** Processor seconds of its training, where it has one. */
  cpuSeconds?: number;
  /** Conversations that it learned from, and processor seconds that the teacher took to work them out. */
  conversations?: number;
  teachingCpuSeconds?: number;
  /** Run or checkpoint that was evaluated. */
  checkpoint?: string;
  after: Outcome;
}

/** What each control is called in a table, in their order. */
export const controlTitles = {
  before: 'Before',
  after: '**After**',
  'pass-before': 'Before, attempts at temperature 1',
  'more-warm-up': 'More of the same warm-up',
  'right-demonstrations': 'Right demonstrations',
  'rejection-sampling': 'Rejection sampling',
  'rl-from-right-demonstrations': 'RL from the right demonstrations',
  'rl-priced-from-right-demonstrations': 'RL with prices from the right demonstrations',
  'shuffled-rewards': 'Shuffled rewards',
  'blank-output': 'After, output of the tool blank',
  'tool-unavailable': 'After, tool unavailable',
  'lying-output': 'After, lying tool, right',
  'table-without-model': 'Table without a model',
} as const;

export type ControlName = keyof typeof controlTitles;

export const controlNames = Object.keys(controlTitles) as ControlName[];

export type Controls = Partial<Record<ControlName, Control | null>>;

/** RL that begins where the right demonstrations end. */
export const fromDemonstrations = [
  'rl-from-right-demonstrations',
  'rl-priced-from-right-demonstrations',
] as const satisfies readonly ControlName[];

/** Policies that answer greedily and with the tool as it is. */
export const greedy = [
  'before',
  'after',
  'more-warm-up',
  'right-demonstrations',
  'rejection-sampling',
  ...fromDemonstrations,
  'shuffled-rewards',
] as const satisfies readonly ControlName[];

/** What the run is compared with on the same tasks. */
export const rivals: readonly ControlName[] = [
  ...greedy.filter((name) => name !== 'after'),
  'table-without-model',
];
