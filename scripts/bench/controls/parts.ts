import { mkdir } from 'node:fs/promises';

import type { Control, ControlName, Controls } from './control.ts';
import { evaluated } from './evaluated.ts';
import { prepareOwn, readOnce, type SeedOptions } from './seed.ts';
import { environmentsOf } from './tasks/run-tasks.ts';
import { tableWithoutModel } from './tasks/table-without-model.ts';
import { moreWarmUp, rightDemonstrations, type Shown } from './training/shown.ts';
import { supervised } from './training/supervised.ts';
import {
  notEvaluated,
  rejectionSampling,
  type TrainedRun,
  training,
  trainingSeconds,
} from './training/trainings.ts';

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
  (shownBy: (options: SeedOptions) => Shown): Make =>
  async ({ options, run }) => {
    const { trainingCpuSeconds } = await run();
    const { iterations: _, ...made } = await supervised(
      options,
      trainingCpuSeconds,
      shownBy(options),
    );
    return { ...made, after: await evaluated(options, {}, made.checkpoint) };
  };

const trainedWith = async (
  options: SeedOptions,
  name: string,
  settings: Readonly<Record<string, unknown>>,
): Promise<Control> => {
  const summary = await training(options, name, { ...notEvaluated, ...settings });
  const { run: checkpoint } = summary;
  const cpuSeconds = trainingSeconds(summary);
  return { cpuSeconds, checkpoint, after: await evaluated(options, {}, checkpoint) };
};

/** RL from the model that right demonstrations made. */
const onFromDemonstrations =
  (name: string, settings: (options: SeedOptions) => Readonly<Record<string, unknown>>): Make =>
  async ({ options, other }) => {
    const start = await other('right-demonstrations');
    if (start?.checkpoint === undefined) return null;
    return trainedWith(options, name, { 'model.path': start.checkpoint, ...settings(options) });
  };

/** Jobs whose tasks hold another world, so that the tool can answer from it; calls and errors have a price there. */
const workspaces = ['workspace'];

/** Jobs of which right demonstrations can be made. */
const withRightTeacher = ['workspace', 'search', 'code_exec'];

/** Jobs with one environment, of one of these types. */
const onlyIn =
  (names: readonly string[], make: Make): Make =>
  async (given) => {
    const [own, ...others] = await environmentsOf(given.options);
    return others.length === 0 && own !== undefined && names.includes(own) ? make(given) : null;
  };

const makers: Readonly<Record<ControlName, Make>> = {
  before: async ({ options }) => ({ after: await evaluated(options, {}) }),
  after: ofRun({}),
  'pass-before': async ({ options }) => ({
    after: await evaluated(options, { 'eval.samples': options.attempts, 'eval.temperature': 1 }),
  }),
  'more-warm-up': taught(moreWarmUp),
  'right-demonstrations': onlyIn(withRightTeacher, taught(rightDemonstrations)),
  'rejection-sampling': async ({ options, run }) => {
    const { trainingCpuSeconds } = await run();
    const made = await rejectionSampling(options, trainingCpuSeconds);
    const { run: checkpoint, cpuSeconds } = made;
    return { cpuSeconds, checkpoint, after: await evaluated(options, {}, checkpoint) };
  },
  'rl-from-right-demonstrations': onFromDemonstrations('rl-from-right-demonstrations', () => ({})),
  'rl-priced-from-right-demonstrations': onlyIn(
    workspaces,
    onFromDemonstrations('rl-priced-from-right-demonstrations', ({ price }) => ({
      'environment.callPenalty': price,
      'environment.errorPenalty': price,
    })),
  ),
  'shuffled-rewards': async ({ options }) =>
    trainedWith(options, 'shuffled-rewards', { 'train.control': 'shuffled-rewards' }),
  'blank-output': ofRun({ 'tools.0.output': 'blank' }),
  'tool-unavailable': ofRun({ 'tools.0.output': 'unavailable' }),
  'lying-output': async (given) => {
    const { tools } = (await prepareOwn(given.options)).loaded.config;
    return tools[0]?.type === 'calculator'
      ? ofRun({ 'tools.0.output': 'lying' })(given)
      : onlyIn(workspaces, ofRun({ 'environment.world': 'other' }))(given);
  },
  'table-without-model': async ({ options }) => {
    const after = await tableWithoutModel(options);
    return after && { after };
  },
};

/** Makes controls of one seed, or reads those that were made. */
export async function makeControls(
  options: SeedOptions,
  names: readonly ControlName[],
  run: () => Promise<TrainedRun>,
): Promise<Controls> {
  await mkdir(options.folder, { recursive: true });
  const { attempts, price } = options;
  const fileNames: Partial<Record<ControlName, string>> = {
    'pass-before': `pass-before-${attempts}`,
    'rl-priced-from-right-demonstrations': `rl-priced-from-right-demonstrations-${price}`,
  };
  const other = (name: ControlName): Promise<Control | null> =>
    readOnce(options, `control-${fileNames[name] ?? name}`, () =>
      makers[name]({ options, run, other }),
    );
  const made: Controls = {};
  for (const name of names) made[name] = await other(name);
  return made;
}
