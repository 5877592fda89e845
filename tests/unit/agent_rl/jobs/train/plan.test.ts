import { describe, expect, test } from '@jest/globals';

import { expectedSeconds, timeText } from '#agent_rl/jobs/train/measure-speed.ts';
import { planText, trainingPlan } from '#agent_rl/jobs/train/plan.ts';
import { attemptsOf, loadConfig, runLength } from '#agent_rl/config/index.ts';
import { temporaryFolder, writeBelow } from '#tests/support/temporary-folder.ts';

const mebibyte = 2 ** 20;
const tasks = { trainTasks: 40, selectionTasks: 0, evalTasks: 10 };
const facts = { ...tasks, parameters: 2_097_152, trainedParameters: 524_288, sandboxes: 2 };

const memory = {
  weights: 8 * mebibyte,
  optimizer: 32 * mebibyte,
  cache: 64 * mebibyte,
  activations: 100 * mebibyte,
  runtime: 400 * mebibyte,
  total: 604 * mebibyte,
};
const time = { expectedS: 12, decodeTokensPerSecond: 812.4, trainTokensPerSecond: 2300 };
const opened = { memory, decoders: 2, sandboxTier: 'pyodide', bytesForCheckpoints: 1e12 } as const;

const folder = temporaryFolder();
const settings = `
rollout: {tasksPerStep: 4, groupSize: 8, maxEpisodeTokens: 256}
policy: {maxContextTokens: 512}
algorithm: {epochs: 2, microBatchTokens: 1024}
train: {iterations: 6}
eval: {every: 2, samples: 1}
environment: {type: code_exec}
datasets: [{dir: tasks}]
tools: [{type: code_exec}]
`;

interface Given {
  text?: string;
  some?: Partial<Parameters<typeof trainingPlan>[1]>;
  of?: Partial<Parameters<typeof planText>[3]>;
}

/** The plan of a run, its text, and how long the run takes. */
function planned({ text = settings, some = {}, of = {} }: Given = {}) {
  const file = writeBelow(folder, 'run.yaml', text);
  const { config } = loadConfig({ file, overrides: [] });
  const run = { config, length: runLength(config), attempts: attemptsOf(config.eval) };
  const given = { ...facts, ...some };
  const plan = trainingPlan(run, given);
  const seconds = expectedSeconds(config, { ...plan, promptTokens: 56 }, time);
  return { plan, seconds, text: planText(run, given, plan, { ...opened, ...of }) };
}

describe('The plan', () => {
  test('counts a transcript for each of several agents, in batches and in time', () => {
    const [one, two] = [planned(), planned({ some: { agents: 2 } })];
    expect(two.plan.rollouts).toBe(one.plan.rollouts);
    expect(two.plan.mostMicroBatchesPerStep).toBe(2 * one.plan.mostMicroBatchesPerStep);
    expect(two.seconds).toBeCloseTo(2 * one.seconds);
    expect(two.text).toContain('agents in an episode: 2');
  });

  test('counts rollouts, steps, micro-batches and evaluations', () => {
    expect(planned().plan).toMatchObject({
      rolloutsPerIteration: 32,
      rollouts: 192,
      optimizerSteps: 12,
      // 32 x 256 tokens in micro-batches of 1024.
      mostMicroBatchesPerStep: 8,
      // Before, after, and at iterations 2 and 4: that of the last is the one after.
      evaluations: 4,
      evalEpisodes: 10,
    });
  });

  test('counts the passes that a KL term and a correction cost before the updates', () => {
    const passes = 'algorithm: {kl: {kind: k3, weight: 0.1}, correction: {type: tis}, ';
    const [none, both] = [planned(), planned({ text: settings.replace('algorithm: {', passes) })];
    // A forward pass is a third of an update; 192 episodes that fill half of the 200 tokens beside a prompt that 8 share.
    const tokens = 192 * (100 + 56 / 8);
    expect(both.seconds - none.seconds).toBeCloseTo((2 / 3) * (tokens / 2300), 6);
    expect(both.text).toContain(
      '; one more forward pass for the KL; one more forward pass for the c',
    );
    expect(none.text).not.toContain('more forward pass');
  });

  test('counts the tasks the best checkpoint is chosen by, and how often they are attempted', () => {
    const { plan, text } = planned({
      text: settings.replace('samples: 1', 'samples: 3, temperature: 1'),
      some: { trainTasks: 32, selectionTasks: 8 },
    });
    // At iterations 2 and 4, and after the last.
    expect(plan).toMatchObject({ evaluations: 4, selections: 3, selectionEpisodes: 24 });
    expect(text).toContain(
      '32 to train on, 10 held out, 8 kept out of training to choose the best',
    );
    expect(text).toContain('4 x 30 episodes, and 3 x 24 to choose the best checkpoint, temp');
    const none = planned();
    expect(none.plan).toMatchObject({ selections: 0, selectionEpisodes: 0 });
    expect(none.text).toContain('40 to train on, 10 held out\n');
  });

  test('shows the trained parameters and the memory including sandboxes, and no time', () => {
    const { text } = planned();
    expect(text).toContain('  trained       0.52 M of them, 25 %\n');
    // Of 2,097,152.
    const few = planned({ some: { trainedParameters: 32_256 } });
    expect(few.text).toContain('0.03 M of them, 1.54 %');
    expect(text).not.toMatch(/^ +time/m);
    // 604 + 2 x 230.
    expect(text).toContain(
      'about 1064 MiB: weights 8 MiB, gradients and optimiser 32 MiB, cache 64 MiB, activations 100 MiB, runtime 400 MiB, sandboxes 460 MiB (pyodide)',
    );
    // 604 + 60 + 2 x 40.
    const skipped = planned({ of: { sandboxTier: 'native:ns', sandboxesSkipped: ['no Python.'] } });
    expect(skipped.text).toContain('about 744 MiB');
    expect(skipped.text).toContain('sandbox skipped: no Python.\n');
  });

  test('estimates how long the run takes only where the speed was measured', () => {
    expect(timeText(undefined)).toContain(' not measured: ');
    expect(timeText(time)).toMatch(/ about 12 s, .* trains on 2300 tokens .* and samples 812\. /);
    expect(timeText({ ...time, decodeTokensPerSecond: null })).toContain('samples no new tokens.');
    expect(timeText({ expectedS: 61, trainTokensPerSecond: 2300 })).toMatch(
      / about 1 min 01 s, .* trains on 2300 tokens per second$/,
    );
  });

  test('says what checkpoints take, and warns where the disk has less room', () => {
    const text = (bytesForCheckpoints: number, checkpoint: string): string =>
      planned({ text: `${settings}checkpoint: {${checkpoint}}\n`, of: { bytesForCheckpoints } })
        .text;
    // 524,288 parameters and two moments of each, in 4 bytes: 6 MiB. Three are there while the third is written.
    const room =
      '  checkpoints   about 6 MiB each, 12 MiB for those that are kept, 18 MiB while another is written';
    const enough = text(18 * mebibyte, 'every: 2, keepLast: 2');
    expect(enough).toContain(room);
    expect(enough).not.toContain('warning');
    expect(text(18 * mebibyte - 1, 'every: 2, keepLast: 2')).toMatch(
      /warning {7}the disk of .* has only 18 MiB left: free some space, lower checkpoint\.keepLast, or/,
    );
    expect(text(6 * mebibyte, 'every: 0')).toMatch(/ {2}checkpoints {3}about 6 MiB each(?!, 12)/);
    expect(text(18 * mebibyte, 'every: 0, keepBest: true')).toContain(room);
  });

  test('warns of more memory than the machine has', () => {
    expect(planned({ some: { sandboxes: 0 } }).text).not.toContain('warning');
    expect(planned({ some: { sandboxes: 1e6 } }).text).toMatch(
      /this is more than the .* lower sandbox\.workers, rollout\.workers or/,
    );
    const large = { memory: { ...memory, total: 1e15 }, sandboxTier: undefined };
    expect(planned({ some: { sandboxes: 0 }, of: large }).text).toMatch(
      /of this machine: lower rollout\.workers or/,
    );
  });
});
