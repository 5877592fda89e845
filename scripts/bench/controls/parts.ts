import { mkdir } from 'node:fs/promises';

import type { SuccessRate } from '../../../agent_rl/trainer/success-rate.ts';
import { type Evaluated, evaluated } from './evaluated.ts';
import { prepareSeed, readOnce, type SeedOptions } from './seed.ts';
import { supervised } from './supervised.ts';
import { tableWithoutModel } from './table-without-model.ts';
import { notEvaluated, rejectionSampling, type TrainedRun, training } from './trainings.ts';

/** How a control did. What was not counted is absent. */
type Outcome = SuccessRate & {
  groups: Readonly<Record<string, SuccessRate>>;
} & Partial<Pick<Evaluated, 'perTask' | 'environment' | 'environmentByGroup' | 'passAtK'>>;

/** What a control came to. */
export interface Control {
  /** Processor seconds of its training, where it has one. */
  cpuSeconds?: number;
  /** Run or checkpoint that was evaluated. */
  checkpoint?: string;
  after: Outcome;
}

export type ControlName =
  | 'after'
  | 'before'
  | 'pass-before'
  | 'more-warm-up'
  | 'right-demonstrations'
  | 'rejection-sampling'
  | 'rl-from-right-demonstrations'
  | 'shuffled-rewards'
  | 'blank-output'
  | 'tool-unavailable'
  | 'lying-output'
  | 'table-without-model';

interface Given {
  options: SeedOptions;
  /** The run, made or read when it is first asked for. */
  run: () => Promise<TrainedRun>;
  /** Another control. */
  other: (name: ControlName) => Promise<Control | null>;
}

/** `null` where a job has no such control. */
type Make = (given: Given) => Promise<Control | null>;

const ofRun =
  (settings: Readonly<Record<string, unknown>>): Make =>
  async ({ options, run }) => ({ after: await evaluated(options, settings, (await run()).run) });

const taught =
  (name: string, reliable: boolean): Make =>
  async ({ options, run }) => {
    const { cpuSeconds } = await run();
    const { checkpoint, ...spent } = await supervised(options, cpuSeconds, { name, reliable });
    return { ...spent, checkpoint, after: await evaluated(options, {}, checkpoint) };
  };

const trainedWith = async (
  options: SeedOptions,
  name: string,
  settings: Readonly<Record<string, unknown>>,
): Promise<Control> => {
  const { run, cpuSeconds } = await training(options, name, { ...notEvaluated, ...settings });
  return { cpuSeconds, checkpoint: run, after: await evaluated(options, {}, run) };
};

const environmentsOf = async (options: SeedOptions): Promise<string[]> => {
  const { chosen } = await prepareSeed(options.config, options, {});
  return chosen.environments.map(({ entry }) => entry.spec.name);
};

/** Jobs whose tasks hold another world, so that the tool can answer from it. */
const lying = ['workspace'];

/** Jobs whose teacher can be asked to make no mistakes. */
const withRightTeacher = ['workspace', 'search'];

const onlyIn =
  (names: readonly string[], make: Make): Make =>
  async (given) => {
    const own = await environmentsOf(given.options);
    return own.every((name) => names.includes(name)) ? make(given) : null;
  };

const makers: Readonly<Record<ControlName, Make>> = {
  after: ofRun({}),
  before: async ({ options }) => ({ after: await evaluated(options, {}) }),
  'pass-before': async ({ options }) => ({
    after: await evaluated(options, { 'eval.samples': options.attempts, 'eval.temperature': 1 }),
  }),
  'more-warm-up': taught('more-warm-up', false),
  'right-demonstrations': onlyIn(withRightTeacher, taught('right-demonstrations', true)),
  'rejection-sampling': async ({ options, run }) => {
    const { run: checkpoint, ...spent } = await rejectionSampling(
      options,
      (await run()).cpuSeconds,
    );
    return { ...spent, checkpoint, after: await evaluated(options, {}, checkpoint) };
  },
  'rl-from-right-demonstrations': async ({ options, other }) => {
    const start = await other('right-demonstrations');
    if (start?.checkpoint === undefined) return null;
    return trainedWith(options, 'rl-from-right-demonstrations', { 'model.path': start.checkpoint });
  },
  'shuffled-rewards': async ({ options }) =>
    trainedWith(options, 'shuffled-rewards', { 'train.control': 'shuffled-rewards' }),
  'blank-output': ofRun({ 'tools.0.output': 'blank' }),
  'tool-unavailable': ofRun({ 'tools.0.output': 'unavailable' }),
  'lying-output': onlyIn(lying, ofRun({ 'environment.world': 'other' })),
  'table-without-model': async ({ options }) => {
    const after = await tableWithoutModel(options);
    return after && { after };
  },
};

export const controlNames = Object.keys(makers) as ControlName[];

/** Makes controls of one seed, or reads those that were made. */
export async function makeControls(
  options: SeedOptions,
  names: readonly ControlName[],
  run: () => Promise<TrainedRun>,
): Promise<Partial<Record<ControlName, Control | null>>> {
  await mkdir(options.folder, { recursive: true });
  const fileOf = (name: ControlName): string =>
    name === 'pass-before' ? `${name}-${options.attempts}` : name;
  const other = (name: ControlName): Promise<Control | null> =>
    readOnce(options, `control-${fileOf(name)}`, () => makers[name]({ options, run, other }));
  const made: Partial<Record<ControlName, Control | null>> = {};
  for (const name of controlNames) if (names.includes(name)) made[name] = await other(name);
  return made;
}
