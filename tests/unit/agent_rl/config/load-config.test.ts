import { dirname, join } from 'node:path';

import { describe, expect, test } from '@jest/globals';

import { loadConfig, pluginRequests, shippedNotes } from '#agent_rl/config/index.ts';
import { packageRoot } from '#agent_rl/core/package-root.ts';
import { problemPlaces } from '#tests/support/problem-places.ts';
import { temporaryFolder, writeBelow } from '#tests/support/temporary-folder.ts';
import { thrownBy } from '#tests/support/thrown.ts';

const folder = temporaryFolder();
let count = 0;

const fresh = (text: string | Uint8Array) => writeBelow(folder, `file-${count++}.yaml`, text);
const least = 'environment: {type: code_exec}\ndatasets: [{dir: tasks}]\n';

/** The places of the problems in `run.yaml`, with their settings. */
const problemsOf = (text: string, overrides: string[] = []) => {
  const file = fresh(text);
  const { code, message } = thrownBy(() => loadConfig({ file, overrides }));
  expect(code).toBe('CONFIG_INVALID');
  return problemPlaces(message.replaceAll(file, 'run.yaml'));
};

describe('A valid run file', () => {
  test('gets every default, also in nested blocks, and is deeply frozen', () => {
    const { config } = loadConfig({ file: fresh(least) });
    expect(config.run.seed).toBe(42);
    expect(config.policy.sampling).toMatchObject({ temperature: 1, topK: 0, topP: 1, minP: 0 });
    expect(config.algorithm.kl).toEqual({ kind: 'none', in: 'loss', weight: 0 });
    expect(config.tools).toEqual([]);
    expect(Object.isFrozen(config)).toBe(true);
    expect(Object.isFrozen(config.policy.sampling)).toBe(true);
    expect(Object.isFrozen(config.tools)).toBe(true);
  });

  test('may contain anchors', () => {
    const text = `environment: {type: &kind code_exec}\ndatasets: [{dir: tasks}]\ntools: [{type: *kind}]\n`;
    expect(loadConfig({ file: fresh(text) }).config.tools).toEqual([{ type: 'code_exec' }]);
  });
});

describe('A run file of the package', () => {
  const shipped = join(packageRoot(), 'configs', 'code_exec_smoke.yaml');
  const extending = (name: string): string =>
    writeBelow(folder, `extends-${count++}/own.yaml`, `extends: ${name}\nrun: {seed: 5}\n`);

  test('is extended by name, with a note, if the user has no file of that name', () => {
    const loaded = loadConfig({ file: extending('configs/code_exec_smoke.yaml') });
    expect(loaded.shipped).toEqual([shipped]);
    expect(shippedNotes(loaded)).toEqual([expect.stringContaining(shipped)]);
    const { train } = loadConfig({ file: shipped }).config;
    expect(loaded.config).toMatchObject({ train, run: { seed: 5 } });
  });

  test('is not used if the user has a file of that name', () => {
    const file = extending('configs/code_exec_smoke.yaml');
    writeBelow(dirname(file), 'configs/code_exec_smoke.yaml', `${least}train: {iterations: 77}\n`);
    const { config, shipped: read } = loadConfig({ file });
    expect([config.train.iterations, read]).toEqual([77, []]);
  });

  test('is not found above the package or by an absolute path', () => {
    for (const above of ['../agent_rl', '']) {
      const file = extending(`${above}/configs/code_exec_smoke.yaml`);
      expect(thrownBy(() => loadConfig({ file })).message).toMatch(/ extends: cannot read /);
    }
  });
});

describe('Precedence', () => {
  test('a file overrides what it extends, --set the file, and flags --set', () => {
    writeBelow(folder, 'base.yaml', `${least}run: {seed: 1}\ntrain: {iterations: 1, beta1: 0.5}\n`);
    const text = 'extends: base.yaml\nrun: {seed: 2}\ntrain: {iterations: 2}\n';
    const file = writeBelow(folder, 'over.yaml', text);
    const overrides = ['run.seed=3'];
    const flags = [{ source: '--seed 4', path: 'run.seed', value: 4 }];
    // Blocks are merged key by key.
    const train = { iterations: 2, beta1: 0.5 };
    expect(loadConfig({ file }).config).toMatchObject({ run: { seed: 2 }, train });
    expect(loadConfig({ file, overrides }).config.run.seed).toBe(3);
    expect(loadConfig({ file, overrides, flags }).config.run.seed).toBe(4);
  });

  test('later files of extends override earlier ones, and lists are replaced as a whole', () => {
    writeBelow(folder, 'one.yaml', `${least}run: {seed: 1}\ntools: [{type: a}, {type: b}]\n`);
    writeBelow(folder, 'two.yaml', 'run: {seed: 2}\ntools: [{type: c}]\n');
    const file = writeBelow(folder, 'list.yaml', 'extends: [one.yaml, two.yaml]\n');
    const { config } = loadConfig({ file });
    expect(config.run.seed).toBe(2);
    expect(config.tools).toEqual([{ type: 'c' }]);
  });

  test('--set reads its value as YAML and reaches into lists', () => {
    const file = fresh(`${least}tools: [{type: a}]\n`);
    const sets = ['eval.before=false', 'run.name=x', 'environment.penalty=-0.5'];
    const overrides = ['tools.0.limit=3', 'tools.1.type=b', ...sets];
    expect(loadConfig({ file, overrides }).config).toMatchObject({
      tools: [{ type: 'a', limit: 3 }, { type: 'b' }],
      eval: { before: false },
      run: { name: 'x' },
      environment: { type: 'code_exec', penalty: -0.5 },
    });
  });
});

describe('The problems of a run file', () => {
  test('all problems are reported at once, with their places', () => {
    const text = `environment: {type: code_exec}
datasets: [{dir: tasks}]
dataset:
  trainsplit: foo
train:
  learningRate: fast
  schedule: cosin
rollout:
groupSize: 3
run: {device: gpu, seed: -1}
`;
    expect(problemsOf(text)).toEqual([
      'run.yaml:4:3 dataset.trainsplit',
      'run.yaml:6:17 train.learningRate',
      'run.yaml:7:13 train.schedule',
      'run.yaml:8:9 rollout',
      'run.yaml:9:1 groupSize',
      'run.yaml:10:15 run.device',
      'run.yaml:10:26 run.seed',
    ]);
    const { message } = thrownBy(() => loadConfig({ file: fresh(text) }));
    // The nearest names.
    for (const name of ['trainSplit', 'cosine', 'rollout.groupSize'])
      expect(message).toContain(`Did you mean "${name}"?`);
  });

  test('a wrong value of a flag is reported with the flag', () => {
    expect(problemsOf(least, ['nonsense'])).toEqual([expect.stringMatching(/^--set nonsense /)]);
    const flags = ['train.iterations=ten', 'run.seed.deep=1', 'tools.1.type=x'];
    const paths = ['run.seed', 'tools.1.type', 'train.iterations'];
    const places = flags.toSorted().map((flag, i) => `--set ${flag} ${paths[i]}`);
    expect(problemsOf(least, flags)).toEqual(places);
  });

  test('a wrong value is reported in its own file, not in the file that extends it', () => {
    writeBelow(folder, 'wrong-base.yaml', `${least}train: {iterations: 0}\n`);
    const file = writeBelow(folder, 'right-top.yaml', 'extends: wrong-base.yaml\nrun: {seed: 5}\n');
    const { message } = thrownBy(() => loadConfig({ file }));
    expect(message).toMatch(/wrong-base\.yaml:3:21 train\.iterations: must be >= 1, got 0\./);
  });

  test.each([
    ['a: [1, 2', /^run\.yaml:1:\d+ /],
    ['run:\n\tseed: 1', /^run\.yaml:2:\d+ /],
    ['run: {seed: 1}\nrun: {seed: 2}', /^run\.yaml:2:1 /],
    ['run: &a\n  x: *a', /^run\.yaml:2:6 /],
  ])('invalid YAML is reported with its place: %j', (text, expected) => {
    expect(problemsOf(text)[0]).toMatch(expected);
  });

  test.each([
    ['seed: 1\n  name: x\n', ['run.yaml:2:3']],
    ['tools:\n  - type: a\n     b: 1\n', ['run.yaml:3:6']],
    ['run:\n  seed: 1\n   name: x\nmodel:\n  a: b\n    b: 2\n', ['run.yaml:3:4', 'run.yaml:6:5']],
    // A list item that is indented differently.
    ['tools:\n  - type: a\n - type: b\n', ['run.yaml:3:1']],
  ])('a line with wrong indentation is reported once: %j', (text, expected) => {
    expect(problemsOf(text).map((one) => one.split(' ', 1)[0])).toEqual(expected);
  });

  test('a file that is missing or not UTF-8 is named', () => {
    expect(thrownBy(() => loadConfig({ file: `${folder}/none.yaml` })).message).toMatch(
      /none\.yaml cannot be read/,
    );
    const file = fresh(new Uint8Array([0x61, 0x3a, 0x20, 0xff, 0xfe]));
    expect(thrownBy(() => loadConfig({ file })).message).toContain('utf-8');
  });

  test('a circle of files that extend each other is shown', () => {
    writeBelow(folder, 'ring-a.yaml', 'extends: ring-b.yaml\n');
    writeBelow(folder, 'ring-b.yaml', 'extends: ring-a.yaml\n');
    const { message } = thrownBy(() => loadConfig({ file: `${folder}/ring-a.yaml` }));
    expect(message).toMatch(/ring-b\.yaml:1:10 extends: .*ring-a.* -> .*ring-b.* -> .*ring-a/);
  });
});

/** A frozen policy that teaches. */
const teacher = 'policies.t={} algorithm.distill.teacher=t';

describe('Settings that contradict each other', () => {
  test.each([
    ['rollout.groupSize=1', 'policy.sampling.temperature=0', 'model.quantizeBlockSize=32'],
    ['algorithm.kl.weight=0.1', 'algorithm.kl.kind=k3', 'algorithm.environmentWeight=0'],
    ['algorithm.microBatchTokens=100', 'rollout.maxEpisodeTokens=4000', 'policy.maxTurnTokens=769'],
    ['train.batchSize=3', 'rollout.deadlines.gradingS=1e7', 'sandbox.wallS=3601', 'run.name=CON'],
    ['run.name=x.', 'run.seed=.inf', 'eval.samples=4', 'eval.strategy=majority'],
    ['checkpoint.keepBest=true', 'sandbox.type=remote', 'dataset.evalSplit=train'],
    ['train.iterations=5 train.warmupSteps=5', 'eval.temperature=1 eval.strategy=best-of-n'],
    ['sandbox.type=pyodide sandbox.python=/p', 'sandbox.type=pyodide sandbox.preload=[numpy]'],
    ['policies.idle={}', 'algorithm.advantage.type=gigpo rollout.groupSize=1'],
    ['algorithm.distill.teacher=none', 'algorithm.kl.kind=k3 algorithm.kl.reference=none'],
    [`${teacher} algorithm.distill.weight=0`, `${teacher} train.control=shuffled-rewards`],
    ['algorithm.distill.hint=x eval.before=false algorithm.distill.hint=x'],
    ['algorithm.distill.hint=x algorithm.distill.weight=0', 'algorithm.distill.leastHintGain=2'],
    [`${teacher} policies.t.policy.maxContextTokens=32`, `${teacher} policies.T={}`],
    [`${teacher} policies.t.model.path=m policies.t.model.lora={}`],
  ])('the last setting of each combination is refused: %j, …', (...combinations) => {
    for (const overrides of combinations.map((one) => one.split(' '))) {
      const last = overrides.at(-1) ?? '';
      const place = `--set ${last} ${last.split('=')[0]}`;
      expect(problemsOf(least, overrides)).toContain(place);
    }
  });

  test('a remote sandbox takes a list of servers, and certificates only with https', () => {
    const remote = (url: string) =>
      `${least}sandbox:\n  type: remote\n  url: ${url}\n  caFile: ca.pem\n`;
    const { config } = loadConfig({ file: fresh(remote('[http://a, https://b]')) });
    expect(config.sandbox).toMatchObject({ url: ['http://a', 'https://b'], caFile: 'ca.pem' });
    expect(problemsOf(remote('[http://a, http://b]'))).toEqual(['run.yaml:6:11 sandbox.caFile']);
    expect(problemsOf(remote('[]'))).not.toEqual([]);
  });

  test('settings of another sandbox type are all reported, without secrets', () => {
    const ofServers = `${least}sandbox:\n  url: http://u:secret@h\n  tokenEnv: T\n`;
    expect(problemsOf(ofServers, ['sandbox.python=/p'])).toEqual([
      'run.yaml:4:8 sandbox.url',
      'run.yaml:5:13 sandbox.tokenEnv',
    ]);
    expect(thrownBy(() => loadConfig({ file: fresh(ofServers) })).message).not.toContain('secret');
    const remote = ['sandbox.type=remote', 'sandbox.python=/p', 'sandbox.preload=[numpy]'];
    expect(problemsOf(ofServers, remote)).toEqual([
      '--set sandbox.preload=[numpy] sandbox.preload',
      '--set sandbox.python=/p sandbox.python',
    ]);
  });

  test.each([
    [['policy.maxContextTokens=512'], '768 (the default)', '512 can'],
    [['rollout.maxEpisodeTokens=800'], '800', '768 (the default) can'],
    [['rollout.maxEpisodeTokens=800', 'policy.maxContextTokens=700'], '800', '700 can'],
  ])('a conflict of limits says which one is a default: %s', (overrides, episode, context) => {
    const { message } = thrownBy(() => loadConfig({ file: fresh(least), overrides }));
    const problem = `${episode} is more than policy.maxContextTokens = ${context}`;
    expect(message).toContain(` rollout.maxEpisodeTokens: ${problem}`);
  });

  test('a run that is stopped early keeps its warm-up', () => {
    const text = `${least}train: {iterations: 5, maxIterations: 2, warmupSteps: 3}\n`;
    expect(loadConfig({ file: fresh(text) }).config.train).toMatchObject({ warmupSteps: 3 });
  });
});

test('plugin files are relative to the file that names them; --plugin to the working directory', () => {
  writeBelow(folder, 'deep/base.yaml', `${least}plugins: ['./mine.ts', '@acme/tools']\n`);
  const file = writeBelow(folder, 'top.yaml', 'extends: deep/base.yaml\n');
  const flags = [{ source: '--plugin ./x.js', path: 'plugins', value: './x.js', append: true }];
  const loaded = loadConfig({ file, flags });
  const files = [`${folder}/deep/mine.ts`, '@acme/tools', `${process.cwd()}/x.js`];
  expect(loaded.config.plugins).toEqual(files);
  const acme = { specifier: '@acme/tools', folder: `${folder}/deep` };
  expect(pluginRequests(loaded)[1]).toMatchObject(acme);
});

test('a key named __proto__ is an unknown key and changes no prototype', () => {
  expect(problemsOf(`${least}__proto__: {polluted: true}\n`)[0]).toContain('__proto__');
  expect(({} as Record<string, unknown>)['polluted']).toBeUndefined();
});

describe('Settings passed by a program', () => {
  const train = { learningRate: 0.001, maxIterations: undefined };
  const plugins = { environment: { type: 'question' }, datasets: [{ dir: 'tasks', weight: 2 }] };
  const settings = { ...plugins, rollout: { groupSize: 3 }, train };

  test("the program's settings give the same config as a file", () => {
    const file = writeBelow(folder, 'same.yaml', JSON.stringify(settings));
    expect(loadConfig({ file: 'program', settings }).config).toEqual(loadConfig({ file }).config);
  });

  test("the program's settings may extend a file, and problems name the program", () => {
    const wrong = { ...settings, rollout: { groupSize: 0 } };
    expect(thrownBy(() => loadConfig({ file: 'program', settings: wrong })).message).toContain(
      'program rollout.groupSize: must be >= 1',
    );
    const file = writeBelow(folder, 'base.yaml', JSON.stringify(settings));
    const over = { extends: file, rollout: { workers: 2 } };
    const { rollout } = loadConfig({ file: 'program', settings: over }).config;
    expect(rollout).toMatchObject({ groupSize: 3, workers: 2 });
  });
});
