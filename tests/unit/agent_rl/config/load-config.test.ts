import { dirname, join } from 'node:path';

import { describe, expect, test } from '@jest/globals';

import { loadConfig, pluginRequests, resolvedYaml, shippedNotes } from '#agent_rl/config/index.ts';
import { packageRoot } from '#agent_rl/core/package-root.ts';
import { temporaryFolder, writeBelow } from '#tests/support/temporary-folder.ts';
import { thrownBy } from '#tests/support/thrown.ts';

const folder = temporaryFolder();
let count = 0;

const fresh = (text: string | Uint8Array) => writeBelow(folder, `file-${count++}.yaml`, text);
const least = 'environment: {type: code_exec}\ndatasets: [{dir: tasks}]\n';

/** The lines of the error, the file's own name shortened. */
const problemsOf = (text: string, overrides: string[] = []) => {
  const file = fresh(text);
  const { code, message } = thrownBy(() => loadConfig({ file, overrides }));
  expect(code).toBe('CONFIG_INVALID');
  return message
    .split('\n')
    .slice(1)
    .map((line) => line.trim().replaceAll(file, 'run.yaml'));
};

describe('a good file', () => {
  test('gets every default, nested ones too', () => {
    const { config } = loadConfig({ file: fresh(least) });
    expect(config.run.seed).toBe(42);
    expect(config.policy.sampling).toMatchObject({ temperature: 1, topK: 0, topP: 1, minP: 0 });
    expect(config.algorithm.kl).toEqual({ kind: 'none', in: 'loss', weight: 0 });
    expect(config.tools).toEqual([]);
  });

  test('is frozen all the way down', () => {
    const { config } = loadConfig({ file: fresh(least) });
    expect(Object.isFrozen(config)).toBe(true);
    expect(Object.isFrozen(config.policy.sampling)).toBe(true);
    expect(Object.isFrozen(config.tools)).toBe(true);
  });

  test('printed and read again is the same config', () => {
    const text = `${least}train: {learningRate: 1e-5}\ntools: [{type: code_exec, session: true}]\n`;
    const { config } = loadConfig({ file: fresh(text) });
    expect(loadConfig({ file: fresh(resolvedYaml(config)) }).config).toEqual(config);
  });

  test('may use anchors', () => {
    const text = `environment: {type: &kind code_exec}\ndatasets: [{dir: tasks}]\ntools: [{type: *kind}]\n`;
    expect(loadConfig({ file: fresh(text) }).config.tools).toEqual([{ type: 'code_exec' }]);
  });
});

describe('a file that the package ships', () => {
  const shipped = join(packageRoot(), 'configs', 'code_exec_smoke.yaml');
  const extending = (name: string): string =>
    writeBelow(folder, `extends-${count++}/own.yaml`, `extends: ${name}\nrun: {seed: 5}\n`);

  test('is extended by its name where no file of the user has it, and is reported', () => {
    const loaded = loadConfig({ file: extending('configs/code_exec_smoke.yaml') });
    expect(loaded.shipped).toEqual([shipped]);
    expect(shippedNotes(loaded)).toEqual([
      `Settings from ${shipped}, which ships with the package; your folder has no file of that name`,
    ]);
    const { train } = loadConfig({ file: shipped }).config;
    expect(loaded.config).toMatchObject({ train, run: { seed: 5 } });
  });

  test('gives way to a file of the user', () => {
    const file = extending('configs/code_exec_smoke.yaml');
    writeBelow(dirname(file), 'configs/code_exec_smoke.yaml', `${least}train: {iterations: 77}\n`);
    const { config, shipped: read } = loadConfig({ file });
    expect([config.train.iterations, read]).toEqual([77, []]);
  });

  test('is not looked for above the package, nor by an absolute path', () => {
    for (const name of [
      '../agent_rl/configs/code_exec_smoke.yaml',
      '/configs/code_exec_smoke.yaml',
    ]) {
      const file = extending(name);
      expect(thrownBy(() => loadConfig({ file })).message).toMatch(
        /extends: cannot read .*there is no such file/,
      );
    }
  });
});

describe('precedence', () => {
  test('a file goes over what it extends, --set over the file, flags over --set', () => {
    writeBelow(folder, 'base.yaml', `${least}run: {seed: 1}\ntrain: {iterations: 1, beta1: 0.5}\n`);
    const file = writeBelow(
      folder,
      'over.yaml',
      'extends: base.yaml\nrun: {seed: 2}\ntrain: {iterations: 2}\n',
    );
    const seedOf = (
      overrides: string[],
      flags: { source: string; path: string; value: number }[],
    ) => loadConfig({ file, overrides, flags }).config.run.seed;
    const flag = { source: '--seed 4', path: 'run.seed', value: 4 };
    expect(seedOf([], [])).toBe(2);
    expect(seedOf(['run.seed=3'], [])).toBe(3);
    expect(seedOf(['run.seed=3'], [flag])).toBe(4);
    // Blocks are merged key by key: what only the lower file says stays.
    expect(loadConfig({ file }).config.train).toMatchObject({ iterations: 2, beta1: 0.5 });
  });

  test('of several files to extend, later ones win, and lists are replaced as a whole', () => {
    writeBelow(folder, 'one.yaml', `${least}run: {seed: 1}\ntools: [{type: a}, {type: b}]\n`);
    writeBelow(folder, 'two.yaml', 'run: {seed: 2}\ntools: [{type: c}]\n');
    const file = writeBelow(folder, 'list.yaml', 'extends: [one.yaml, two.yaml]\n');
    const { config } = loadConfig({ file });
    expect(config.run.seed).toBe(2);
    expect(config.tools).toEqual([{ type: 'c' }]);
  });

  test('--set reads its value as YAML and reaches into lists', () => {
    const file = fresh(`${least}tools: [{type: a}]\n`);
    const overrides = [
      'tools.0.limit=3',
      'tools.1.type=b',
      'eval.before=false',
      'run.name=x',
      'environment.penalty=-0.5',
    ];
    const { config } = loadConfig({ file, overrides });
    expect(config.tools).toEqual([{ type: 'a', limit: 3 }, { type: 'b' }]);
    expect(config.eval.before).toBe(false);
    expect(config.run.name).toBe('x');
    expect(config.environment).toEqual({ type: 'code_exec', penalty: -0.5 });
  });
});

describe('problems', () => {
  test('are all reported at once, each with place, value and what is allowed', () => {
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
      'run.yaml:4:3 dataset.trainsplit: is not a known key. Did you mean "trainSplit"? Allowed: trainSplit, evalSplit, maxSamples, shuffle, tooLong.',
      'run.yaml:6:17 train.learningRate: expected a number, got "fast".',
      'run.yaml:7:13 train.schedule: expected one of cosine, constant, got "cosin". Did you mean "cosine"?',
      'run.yaml:8:9 rollout: expected a block of keys and values, got null (nothing stands after the colon).',
      expect.stringMatching(
        /^run.yaml:9:1 groupSize: is not a known key. Did you mean "rollout.groupSize"\?/,
      ),
      'run.yaml:10:15 run.device: got "gpu". Allowed: cpu, cuda, cuda:N, webgpu or tensorflow.',
      'run.yaml:10:26 run.seed: must be >= 0, got -1.',
    ]);
  });

  test('name the flag when a flag is wrong', () => {
    expect(problemsOf(least, ['train.iteration=3', 'train.iterations=ten', 'nonsense'])).toEqual([
      '--set nonsense is not of the form path=value.',
    ]);
    expect(
      problemsOf(least, ['train.iterations=ten', 'run.seed.deep=1', 'tools.1.type=x']),
    ).toEqual([
      expect.stringContaining(
        '--set run.seed.deep=1 run.seed: expected an integer, got {"deep":1}.',
      ),
      '--set tools.1.type=x tools.1.type: a list of 0 has no place "1"; use 0 to 0.',
      '--set train.iterations=ten train.iterations: expected an integer, got "ten".',
    ]);
  });

  test('name the file that a wrong value comes from, not the one that extends it', () => {
    writeBelow(folder, 'wrong-base.yaml', `${least}train: {iterations: 0}\n`);
    const file = writeBelow(folder, 'right-top.yaml', 'extends: wrong-base.yaml\nrun: {seed: 5}\n');
    const { message } = thrownBy(() => loadConfig({ file }));
    expect(message).toMatch(/wrong-base\.yaml:3:21 train\.iterations: must be >= 1, got 0\./);
  });

  test.each([
    ['a: [1, 2', /^run\.yaml:1:\d+ not valid YAML/],
    ['run:\n\tseed: 1', /^run\.yaml:2:\d+ a tab is used to indent/],
    ['run: {seed: 1}\nrun: {seed: 2}', /^run\.yaml:2:1 the key "run" appears twice/],
    ['- 1\n- 2', /^run\.yaml:1:1 expected keys and values at the top of the file, got \[1,2\]/],
    ['run: &a\n  x: *a', /^run\.yaml:2:6 the alias \*a contains itself/],
  ])('of YAML itself have a place: %j', (text, expected) => {
    expect(problemsOf(text)[0]).toMatch(expected);
  });

  test.each([
    ['seed: 1\n  name: x\n', ['run.yaml:2:3']],
    ['run:\n  seed: 1\n\n   name: x\n', ['run.yaml:4:4']],
    ['tools:\n  - type: a\n     b: 1\n', ['run.yaml:3:6']],
    [
      'run:\n  seed: 1\n   name: x\nmodel:\n  path: a\n    b: 2\n',
      ['run.yaml:3:4', 'run.yaml:6:5'],
    ],
  ])('a line indented too far is named once, and not the line above it: %j', (text, expected) => {
    const problems = problemsOf(text);
    expect(problems.map((one) => one.split(' ', 1)[0])).toEqual(expected);
    expect(problems[0]).toContain(' this line is indented further than the one above it');
  });

  test('a list item indented otherwise than those above it is one problem', () => {
    expect(problemsOf('tools:\n  - type: a\n - type: b\n')).toEqual([
      expect.stringMatching(/^run\.yaml:3:1 /),
    ]);
  });

  test('a file that is missing, or not UTF-8, is named', () => {
    const missing = thrownBy(() => loadConfig({ file: `${folder}/none.yaml` }));
    expect(missing.message).toMatch(/none\.yaml cannot be read: there is no such file/);
    const file = fresh(new Uint8Array([0x61, 0x3a, 0x20, 0xff, 0xfe]));
    expect(thrownBy(() => loadConfig({ file })).message).toMatch(
      /cannot be read: .*not valid for encoding utf-8/,
    );
  });

  test('files that extend one another are shown as a circle', () => {
    writeBelow(folder, 'ring-a.yaml', 'extends: ring-b.yaml\n');
    writeBelow(folder, 'ring-b.yaml', 'extends: ring-a.yaml\n');
    const { message } = thrownBy(() => loadConfig({ file: `${folder}/ring-a.yaml` }));
    expect(message).toMatch(
      /ring-b\.yaml:1:10 extends: files extend one another in a circle: .*ring-a.* -> .*ring-b.* -> .*ring-a/,
    );
  });

  test('a required setting that is absent is named with what it is for', () => {
    expect(problemsOf('datasets: [{dir: x}]\n')).toEqual([
      'run.yaml:1:1 environment: is missing. What the agent acts in, and its settings; or a list of several: each of datasets names its own, or metadata.environment of a task.',
    ]);
  });
});

describe('settings that contradict each other', () => {
  test.each([
    ['rollout: {groupSize: 1}', 'rollout.groupSize', 'nothing to be compared with'],
    [
      'policy: {sampling: {temperature: 0}}',
      'policy.sampling.temperature',
      'all episodes of a group alike',
    ],
    [
      'model: {quantizeBlockSize: 32}',
      'model.quantizeBlockSize',
      'no effect while model.quantize is none',
    ],
    [
      'algorithm: {kl: {weight: 0.1}}',
      'algorithm.kl.weight',
      'no effect while algorithm.kl.kind is none',
    ],
    [
      'algorithm: {kl: {kind: k3}}',
      'algorithm.kl.kind',
      'no effect while algorithm.kl.weight is 0',
    ],
    [
      'algorithm: {environmentWeight: 0}\nrewards: [{type: brevity, weight: 0}]',
      'algorithm.environmentWeight',
      'leaves nothing to learn from',
    ],
    ['algorithm: {microBatchTokens: 100}', 'algorithm.microBatchTokens', 'cannot hold one episode'],
    [
      'rollout: {maxEpisodeTokens: 4000}',
      'rollout.maxEpisodeTokens',
      'more than policy.maxContextTokens',
    ],
    ['policy: {maxTurnTokens: 769}', 'policy.maxTurnTokens', 'more than rollout.maxEpisodeTokens'],
    ['train: {iterations: 5, warmupSteps: 5}', 'train.warmupSteps', 'nothing after the warm-up'],
    ['train: {batchSize: 3}', 'train.batchSize', 'has no effect in reinforcement learning'],
    ['rollout: {deadlines: {gradingS: 1e7}}', 'rollout.deadlines.gradingS', '<= 86400'],
    ['sandbox: {wallS: 3601}', 'sandbox.wallS', '<= 3600'],
    ['run: {name: CON}', 'run.name', 'not the name of a Windows device'],
    ['run: {name: x.}', 'run.name', 'letters, digits'],
    ['run: {seed: .inf}', 'run.seed', 'got Infinity'],
    ['eval: {samples: 4}', 'eval.samples', 'all the same'],
    ['eval: {strategy: majority}', 'eval.strategy', 'chooses among several attempts'],
    [
      'eval: {strategy: best-of-n, temperature: 1}',
      'eval.strategy',
      'Set eval.samples above 1 and eval.temperature above 0.',
    ],
    ['checkpoint: {keepBest: true}', 'checkpoint.keepBest', 'needs evaluations'],
    [
      'sandbox: {type: pyodide, python: /p}',
      'sandbox.python',
      'no effect with sandbox.type pyodide',
    ],
    ['sandbox: {type: pyodide, preload: [numpy]}', 'sandbox.preload', 'no effect with'],
    ['sandbox: {type: remote}', 'sandbox.type', 'sandbox.url is not set'],
  ])('%s', (text, path, problem) => {
    const problems = problemsOf(`${least}${text}\n`);
    expect(
      problems.filter((line) => line.includes(` ${path}: `) && line.includes(problem)),
    ).toHaveLength(1);
    expect(problems[0]).toMatch(/^run\.yaml:3:\d+ /);
  });

  test('several servers of a sandbox are a list; an authority is for those by https', () => {
    const remote = (url: string) =>
      `${least}sandbox:\n  type: remote\n  url: ${url}\n  caFile: ca.pem\n`;
    const { config } = loadConfig({ file: fresh(remote('[http://a, https://b]')) });
    expect(config.sandbox).toMatchObject({ url: ['http://a', 'https://b'], caFile: 'ca.pem' });
    expect(problemsOf(remote('[http://a, http://b]'))).toEqual([
      expect.stringMatching(/run\.yaml:6:11 sandbox\.caFile: has no effect: no address of/),
    ]);
    expect(problemsOf(remote('[]'))).not.toEqual([]);
  });

  test('settings of another sandbox are all reported, each with its place and without its value', () => {
    const ofServers = `${least}sandbox:\n  url: http://u:secret@h\n  tokenEnv: T\n`;
    const problem = 'has no effect with sandbox.type auto. Set sandbox.type to remote';
    expect(problemsOf(ofServers, ['sandbox.python=/p'])).toEqual([
      expect.stringContaining(`run.yaml:4:8 sandbox.url: ${problem}`),
      expect.stringContaining(`run.yaml:5:13 sandbox.tokenEnv: ${problem}`),
    ]);
    const remote = ['sandbox.type=remote', 'sandbox.python=/p', 'sandbox.preload=[numpy]'];
    expect(problemsOf(ofServers, remote)).toEqual([
      expect.stringMatching(
        /^--set sandbox\.preload=\[numpy\] .* no effect with sandbox\.type remote/,
      ),
      expect.stringMatching(/^--set sandbox\.python=\/p .* no effect with sandbox\.type remote/),
    ]);
  });

  test.each([
    [
      'policy: {maxContextTokens: 512}',
      '768 (the default) is more than policy.maxContextTokens = 512 can',
    ],
    [
      'rollout: {maxEpisodeTokens: 800}',
      '800 is more than policy.maxContextTokens = 768 (the default) can',
    ],
    [
      'rollout: {maxEpisodeTokens: 800}\npolicy: {maxContextTokens: 700}',
      '800 is more than policy.maxContextTokens = 700 can',
    ],
  ])('%s is told which of two limits nobody has set', (text, problem) => {
    const found = problemsOf(`${least}${text}\n`);
    expect(found.find((line) => line.includes(' rollout.maxEpisodeTokens: '))).toContain(problem);
  });

  test('a run that is stopped early keeps its warm-up', () => {
    const text = `${least}train: {iterations: 5, maxIterations: 2, warmupSteps: 3}\n`;
    const { config } = loadConfig({ file: writeBelow(folder, 'run.yaml', text) });
    expect(config.train).toMatchObject({ iterations: 5, maxIterations: 2, warmupSteps: 3 });
  });

  test('a split that is trained on cannot be held out', () => {
    const text = 'environment: {type: a}\ndatasets: [{dir: x}]\ndataset: {evalSplit: train}\n';
    expect(problemsOf(text)).toEqual([
      expect.stringContaining('dataset.evalSplit: "train" is also the split trained on'),
    ]);
  });
});

test('plugin files are relative to the file that names them; --plugin to the working directory', () => {
  writeBelow(folder, 'deep/base.yaml', `${least}plugins: ['./mine.ts', '@acme/tools']\n`);
  const file = writeBelow(folder, 'top.yaml', 'extends: deep/base.yaml\n');
  const flags = [{ source: '--plugin ./x.js', path: 'plugins', value: './x.js', append: true }];
  const loaded = loadConfig({ file, flags });
  expect(loaded.config.plugins).toEqual([
    `${folder}/deep/mine.ts`,
    '@acme/tools',
    `${process.cwd()}/x.js`,
  ]);
  expect(pluginRequests(loaded)[1]).toMatchObject({
    specifier: '@acme/tools',
    folder: `${folder}/deep`,
  });
});

test('a key named __proto__ is an unknown key and changes no prototype', () => {
  expect(problemsOf(`${least}__proto__: {polluted: true}\n`)[0]).toContain(
    '__proto__: is not a known key',
  );
  expect(({} as Record<string, unknown>)['polluted']).toBeUndefined();
});

describe('settings that a program gives', () => {
  const settings = {
    environment: { type: 'question' },
    datasets: [{ dir: 'tasks', weight: 2 }],
    rollout: { groupSize: 3 },
    train: { learningRate: 0.001, maxIterations: undefined },
  };

  test('come to the config of a file that holds them', () => {
    const file = writeBelow(folder, 'same.yaml', JSON.stringify(settings));
    expect(loadConfig({ file: 'program', settings }).config).toEqual(loadConfig({ file }).config);
  });

  test('are named by the program where they are wrong, and may extend a file', () => {
    const wrong = { ...settings, rollout: { groupSize: 0 } };
    expect(thrownBy(() => loadConfig({ file: 'program', settings: wrong })).message).toContain(
      'program rollout.groupSize: must be >= 1',
    );
    const file = writeBelow(folder, 'base.yaml', JSON.stringify(settings));
    const over = { extends: file, rollout: { workers: 2 } };
    expect(loadConfig({ file: 'program', settings: over }).config.rollout).toMatchObject({
      groupSize: 3,
      workers: 2,
    });
  });
});
