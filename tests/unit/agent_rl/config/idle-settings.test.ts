import { describe, expect, test } from '@jest/globals';

import { prepareRun } from '#agent_rl/compose/prepare-run.ts';
import { commandLine } from '#tests/support/command-line.ts';
import { mazeRun } from '#tests/support/maze-run.ts';
import { temporaryFolder, writeBelow } from '#tests/support/temporary-folder.ts';
import { rejectionOf } from '#tests/support/thrown.ts';

const folder = temporaryFolder();
const search = 'environment: {type: search}\ntools: [{type: search, mode: task}]\n';
const code = 'environment: {type: code_exec}\ntools: [{type: code_exec}]\n';
const fileOf = (text: string) =>
  writeBelow(folder, 'run.yaml', `${text}datasets: [{dir: tasks}]\n`);

async function warningsOf(text: string, overrides: readonly string[], training = true) {
  const file = fileOf(text);
  const { loaded } = await prepareRun({ file, overrides, training });
  return loaded.warnings.map((warning) => warning.replaceAll(file, 'run.yaml'));
}

const sft = 'train.mode=sft';

test('a setting in a plugin block without effect is reported', async () => {
  const web =
    'tools.0={type: search, mode: web, web: {provider: tavily, apiKeyEnv: KEY, maxRetries: 0}}';
  const warnings = await warningsOf(search, [web, 'tools.0.web.backoffFactor=5']);
  expect(warnings).toEqual([
    'tools.0.web.backoffFactor 5 (--set tools.0.web.backoffFactor=5) has no effect: tools.0.web.maxRetries is 0.',
  ]);
});

const two = 'environment=[{type: search}, {type: question}]';
const words = 'rewards.0.embedder={type: words}';

describe('A warning about a setting without effect', () => {
  test.each([
    [[], 'train.finalRatio=0.3', 'algorithm.loss.clipLow=0.1', 'algorithm.loss.clipHigh=0.4'],
    [[], 'rollout.failures.penalty=-2', 'datasets.0.environment=search', 'datasets.0.weight=3'],
    [[], 'eval.selector=format', 'eval.every=40', 'eval.selectionTasks=9', 'sandbox.wallS=9'],
    [[], 'policy.sampling.allowBiasedGradient=true'],
    [[], 'environment.freeSearches=5', 'environment.openings=[so]'],
    [['run.device=cuda'], 'run.decoders=2'],
    [['generator={type: served, url: "http://127.0.0.1:1"}'], 'run.decoders=2'],
    [['learner={type: tinker, url: "http://127.0.0.1:1"}'], 'train.recompute=blocks'],
    [['algorithm.advantage.std=none'], 'algorithm.advantage.eps=0.5'],
    [['eval.before=false', 'eval.after=false'], 'eval.maxTasks=9'],
    [['eval.strategy=greedy'], 'eval.temperature=0.5'],
    [['checkpoint.every=0'], 'checkpoint.keepLast=5'],
    [['checkpoint.every=40'], 'checkpoint.keepLast=5'],
    [['rewards=[{type: length, perWord: 0}]'], 'rewards.0.freeWords=9'],
    [[two, 'datasets.0.environment=search'], 'environment.0.freeSearches=5'],
    [['rewards=[{type: answer_similarity, floor: 0.2}]', words], 'rewards.0.pairs=9'],
    [[sft], 'rollout.groupSize=4', 'algorithm.epochs=2', 'policy.sampling.topP=0.9'],
    [[sft], 'environment.systemPrompt=Be brief', 'rewards=[{type: brevity}]', 'tools.0.topK=3'],
    [[sft], 'eval.maxTasks=9', 'dataset.shuffle=false'],
    [[sft, 'checkpoint.every=0'], 'checkpoint.keepLast=5'],
  ] as [string[], ...string[]][])('beside %j names each of %j, …', async (before, ...idle) => {
    for (const set of idle) {
      const [path = ''] = set.split('=');
      const says = new RegExp(`^${path.replaceAll('.', '\\.')} .*\\(--set `);
      const warnings = await warningsOf(search, [...before, set]);
      expect(warnings).toEqual([expect.stringMatching(says)]);
      expect(warnings[0]).toContain(`(--set ${set}) has no effect: `);
    }
  });

  test('joins settings with the same reason, each with its line', async () => {
    const text = `${search}train: {mode: sft}\nrollout:\n  maxTurns: 9\n  groupSize: 3\n`;
    const said =
      /^rollout\.groupSize 3 \(run\.yaml:6\), rollout\.maxTurns 9 \(run\.yaml:5\) have no/;
    expect(await warningsOf(text, [])).toEqual([expect.stringMatching(said)]);
  });

  test('omits defaults and settings that have an effect', async () => {
    expect(await warningsOf(search, ['train.finalRatio=0.1', 'sandbox.wallS=5'])).toEqual([]);
    expect(
      await warningsOf(code, [
        'sandbox.wallS=9',
        'algorithm.epochs=2',
        'algorithm.loss.clipLow=0.1',
        'environment={type: search, searchPenalty: 0.1, freeSearches: 1, match: whole, openings: [so]}',
        'tools=[{type: search, mode: task}, {type: code_exec}]',
        'train.schedule=cosine',
        'train.finalRatio=0.3',
        'eval.every=39',
      ]),
    ).toEqual([]);
  });

  test('omits plugins without settings', async () => {
    expect(await warningsOf(search, [sft, 'tools.1={type: calculator}'])).toEqual([]);
    const maze = mazeRun(folder);
    const { loaded } = await prepareRun({ file: maze, overrides: [sft], training: true });
    expect(loaded.warnings).toEqual([]);
  });

  test('is only given by jobs that train', async () => {
    expect(await warningsOf(search, ['train.finalRatio=0.3'], false)).toEqual([]);
    expect(await warningsOf(search, ['train.contextWeight=0.3'], false)).toEqual([]);
  });
});

test.each([
  ['train.contextWeight=0.5', 'train.contextWeight'],
  [`${sft} train.control=shuffled-rewards`, 'train.control'],
  ['policy.sampling.topP=0.9', 'policy.sampling.topP'],
  ['policy.sampling.topK=20', 'policy.sampling.topK'],
  ['policy.sampling.minP=0.1', 'policy.sampling.minP'],
])('A certain mistake is refused in training, with its place: %s', async (sets, path) => {
  const overrides = sets.split(' ');
  const file = fileOf(search);
  const failure = await rejectionOf(prepareRun({ file, overrides, training: true }));
  expect(failure).toMatchObject({ code: 'CONFIG_INVALID' });
  expect(failure.message).toContain(`--set ${overrides.at(-1)} ${path}: `);
});

test('an accepted biased gradient is reported, and makes parity bounds ineffective', async () => {
  const accepted = ['policy.sampling.allowBiasedGradient=true', 'policy.sampling.minP=0.1'];
  expect(await warningsOf(search, [...accepted, 'train.parityBound.max=0.01'])).toEqual([
    expect.stringMatching(/^train\.parityBound\.max 0\.01 .* has no effect/),
    expect.stringMatching(/^policy\.sampling\.minP 0\.1 truncates /),
  ]);
});

test('the commands that train print warnings before the job and pass them to its log', async () => {
  const given: (readonly string[])[] = [];
  const job = ({ loaded }: { loaded: { warnings: readonly string[] } }) => {
    given.push(loaded.warnings);
    return Promise.resolve({});
  };
  const file = fileOf(search);
  const args = ['--config', file, '--set', 'train.finalRatio=0.3'];
  const jobs = { train: job, sft: job, evaluate: job };
  for (const [command, times] of Object.entries({ train: 1, sft: 1, eval: 0 })) {
    const { stdout } = await commandLine([command, ...args], { jobs });
    expect(stdout.match(/^Note: train\.fin/gm) ?? []).toHaveLength(times);
    expect(given.pop()).toHaveLength(times);
  }
  const mistaken = [...args, '--set', 'train.contextWeight=0.5'];
  for (const begun of [[], ['--resume', folder]])
    expect(await commandLine(['train', ...begun, ...mistaken], { jobs })).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('train.contextWeight: 0.5 '),
    });
});
