import { expect, test } from '@jest/globals';

import { prepareRun } from '#agent_rl/compose/prepare-run.ts';
import { algorithmPresets, algorithmTable, loadConfig } from '#agent_rl/config/index.ts';
import { resolvedYaml } from '#agent_rl/config/load-config.ts';
import { commandLine } from '#tests/support/command-line.ts';
import { temporaryFolder, writeBelow } from '#tests/support/temporary-folder.ts';

const folder = temporaryFolder();
const head =
  'environment: {type: search}\ntools: [{type: search, mode: task}]\ndatasets: [{dir: a}]\n';
const fileOf = (algorithm: string, name = 'run.yaml') =>
  writeBelow(folder, name, `${head}algorithm: ${algorithm}\n`);
const read = (algorithm: string, overrides: readonly string[] = []) =>
  loadConfig({ file: fileOf(algorithm), overrides }).config.algorithm;

test('a name stands for parts and their settings', () => {
  expect(read('{name: dr-grpo}')).toMatchObject({
    advantage: { type: 'group-relative', std: 'none' },
    loss: { type: 'clipped' },
    aggregation: 'constant',
  });
  expect(read('{name: grpo}')).toEqual(read('{}'));
});

test('what is written goes over the name, setting by setting', () => {
  expect(read('{name: gspo, loss: {clipLow: 0.01}, aggregation: token-mean}')).toMatchObject({
    loss: { type: 'gspo', clipLow: 0.01, clipHigh: 4e-4 },
    aggregation: 'token-mean',
  });
  expect(read('{}', ['algorithm.name=gspo']).loss).toMatchObject({ type: 'gspo', clipLow: 3e-4 });
});

test('a part of another type takes no settings of the one it replaces, and a file that loses some says so', () => {
  expect(read('{name: gspo, loss: {type: clipped}}').loss).toEqual({ type: 'clipped' });
  fileOf('{loss: {type: clipped, clipLow: 0.1}}', 'base.yaml');
  const { config, warnings } = loadConfig({
    file: writeBelow(folder, 'over.yaml', 'extends: base.yaml\nalgorithm: {loss: {type: cispo}}\n'),
  });
  expect(config.algorithm.loss).toEqual({ type: 'cispo' });
  expect(warnings).toEqual([
    expect.stringMatching(
      /^algorithm\.loss: "?cispo"? in \S+over\.yaml leaves out what \S+base\.yaml says of another type \(clipLow: 0\.1\), since settings are those of a type\.$/,
    ),
  ]);
});

test('so it is with a generator, in files and with --set', () => {
  const text = 'generator: {type: served, url: "http://127.0.0.1:9"}\n';
  const base = writeBelow(folder, 'served.yaml', head + text);
  const here = 'extends: served.yaml\ngenerator: {type: engine}\n';
  const lost = /url: "?http:\/\/127\.0\.0\.1:9"?/;
  for (const options of [
    { file: writeBelow(folder, 'here.yaml', here) },
    { file: base, overrides: ['generator.type=engine'] },
  ]) {
    const { config, warnings } = loadConfig(options);
    expect(config.generator).toEqual({ type: 'engine' });
    expect(warnings).toEqual([expect.stringMatching(lost)]);
  }
});

const readSaying = (algorithm: string, ...overrides: readonly string[]) => {
  const { config, warnings } = loadConfig({ file: fileOf(algorithm), overrides });
  return { algorithm: config.algorithm, warnings };
};

test('--set of another type leaves out what the file wrote for the one before, and says so', () => {
  const file = '{loss: {clipLow: 0.2, dualClip: 3}}';
  const { algorithm, warnings } = readSaying(file, 'algorithm.loss.type=gspo');
  expect(algorithm.loss).toEqual({ type: 'gspo' });
  expect(warnings).toEqual([
    '--set algorithm.loss.type=gspo: what was written for algorithm.loss clipped (clipLow: 0.2, dualClip: 3) is left out, since settings are those of a type. Set what you mean of gspo too, such as --set algorithm.loss.clipLow=….',
  ]);
});

test('--set of another type keeps what --set gives, in any order, and of the same type all', () => {
  const file = '{loss: {clipHigh: 0.3}}';
  const sets = ['algorithm.loss.clipLow=0.01', 'algorithm.loss.type=gspo'];
  for (const overrides of [sets, sets.toReversed()]) {
    const { algorithm, warnings } = readSaying(file, ...overrides);
    expect(algorithm.loss).toEqual({ type: 'gspo', clipLow: 0.01 });
    expect(warnings).toHaveLength(1);
  }
  for (const [name, type] of [
    ['grpo', 'clipped'],
    ['gspo', 'gspo'],
  ]) {
    const same = readSaying(`{name: ${name}, loss: {clipLow: 0.1}}`, `algorithm.loss.type=${type}`);
    expect(same.algorithm.loss).toMatchObject({ type, clipLow: 0.1 });
    expect(same.warnings).toEqual([]);
  }
});

test('a name given elsewhere than the settings that go over its own is said with both places', () => {
  const bound = readSaying('{loss: {clipLow: 0.2}}', 'algorithm.name=gspo');
  expect(bound.algorithm.loss).toMatchObject({ type: 'gspo', clipLow: 0.2 });
  expect(bound.warnings).toEqual([
    expect.stringMatching(
      /run\.yaml:4 algorithm\.loss\.clipLow: 0\.2 goes over the 0\.0003 of algorithm\.name gspo \(--set algorithm\.name=gspo\)/,
    ),
  ]);
  const type = readSaying('{loss: {type: clipped}}', 'algorithm.name=gspo');
  expect(type.warnings).toEqual([
    expect.stringMatching(/algorithm\.loss\.type: "clipped" goes over the "gspo"/),
  ]);
  expect(readSaying('{name: gspo, loss: {clipLow: 0.2}}').warnings).toEqual([]);
});

test('the config of a run says every setting of its preset, and is read back as the same', () => {
  const { config } = loadConfig({ file: fileOf('{name: rloo, loss: {type: gspo}}') });
  const again = loadConfig({ file: writeBelow(folder, 'config.yaml', resolvedYaml(config)) });
  expect(again.config).toEqual(config);
});

test.each(Object.keys(algorithmPresets))('%s can be trained', async (name) => {
  const file = fileOf(`{name: ${name}}`);
  const { chosen } = await prepareRun({ file, training: true });
  expect(chosen.loss.entry.spec.name).toBe(read(`{name: ${name}}`).loss.type);
});

test('an unknown name is refused with its place and the names there are', () => {
  expect(() => read('{name: grppo}')).toThrow(/run\.yaml:4:\d+ algorithm\.name: .*grpo/);
});

test('agent-rl plugins algorithms shows parts, paper and departures of each', async () => {
  const { code, stdout } = await commandLine(['plugins', 'algorithms']);
  expect(code).toBe(0);
  expect(stdout).toMatch(
    /\ndr-grpo\n[^]*arxiv\.org\/abs\/2503\.20783\n {2}advantage +group-relative \{std: none\}\n {2}loss +clipped\n {2}selection +all\n {2}aggregation +constant\n/,
  );
  for (const { name, departures } of algorithmTable())
    for (const text of [`${name}\n`, ...departures]) expect(stdout).toContain(text);
  const { stdout: json } = await commandLine(['plugins', 'algorithms', '--json']);
  expect(JSON.parse(json)).toEqual(algorithmTable());
});
