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

test('settings of the run file override the preset one by one', () => {
  expect(read('{name: grpo}')).toEqual(read('{}'));
  expect(read('{name: gspo, loss: {clipLow: 0.01}, aggregation: token-mean}')).toMatchObject({
    loss: { type: 'gspo', clipLow: 0.01, clipHigh: 4e-4 },
    aggregation: 'token-mean',
  });
  expect(read('{}', ['algorithm.name=gspo']).loss).toMatchObject({ type: 'gspo', clipLow: 3e-4 });
});

test('a part of another type takes no settings of the part it replaces, and a warning names them', () => {
  expect(read('{name: gspo, loss: {type: clipped}}').loss).toEqual({ type: 'clipped' });
  fileOf('{loss: {type: clipped, clipLow: 0.1}}', 'base.yaml');
  const { config, warnings } = loadConfig({
    file: writeBelow(folder, 'over.yaml', 'extends: base.yaml\nalgorithm: {loss: {type: cispo}}\n'),
  });
  expect(config.algorithm.loss).toEqual({ type: 'cispo' });
  expect(warnings).toEqual([
    expect.stringMatching(/^algorithm\.loss: .*over\.yaml .*base\.yaml .*\(clipLow: 0\.1\)/),
  ]);
});

test('a generator of another type takes no settings either, in files and with --set', () => {
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

test('--set of another type drops the settings of the file, with a warning', () => {
  const file = '{loss: {clipLow: 0.2, dualClip: 3}}';
  const { algorithm, warnings } = readSaying(file, 'algorithm.loss.type=gspo');
  expect(algorithm.loss).toEqual({ type: 'gspo' });
  const said = /^--set algorithm\.loss\.type=gspo: .*loss .*clipped \(clipLow: 0\.2, dualClip: 3\)/;
  expect(warnings).toEqual([expect.stringMatching(said)]);
});

test('--set of another type keeps the settings of other --set flags, and --set of the same type keeps all', () => {
  const file = '{loss: {clipHigh: 0.3}}';
  const sets = ['algorithm.loss.clipLow=0.01', 'algorithm.loss.type=gspo'];
  for (const overrides of [sets, sets.toReversed()]) {
    const { algorithm, warnings } = readSaying(file, ...overrides);
    expect(algorithm.loss).toEqual({ type: 'gspo', clipLow: 0.01 });
    expect(warnings).toHaveLength(1);
  }
  const same = readSaying('{name: gspo, loss: {clipLow: 0.1}}', 'algorithm.loss.type=gspo');
  expect(same.algorithm.loss).toMatchObject({ type: 'gspo', clipLow: 0.1 });
  expect(same.warnings).toEqual([]);
});

test('a warning with both places is given if a preset and its overrides come from different places', () => {
  const bound = readSaying('{loss: {clipLow: 0.2}}', 'algorithm.name=gspo');
  expect(bound.algorithm.loss).toMatchObject({ type: 'gspo', clipLow: 0.2 });
  const said = /run\.yaml:4 algorithm\.loss\.clipLow: is 0\.2, .*\(--set algorithm\.name=gspo\)/;
  expect(bound.warnings).toEqual([expect.stringMatching(said)]);
  const type = readSaying('{loss: {type: clipped}}', 'algorithm.name=gspo');
  const other = /algorithm\.loss\.type: is "clipped", .* uses "gspo"/;
  expect(type.warnings).toEqual([expect.stringMatching(other)]);
  expect(readSaying('{name: gspo, loss: {clipLow: 0.2}}').warnings).toEqual([]);
});

test('the config of a run contains every setting of its preset, and loads to the same config', () => {
  const overrides = ['train.learningRate=1e-5'];
  const { config } = loadConfig({ file: fileOf('{name: rloo, loss: {type: gspo}}'), overrides });
  const again = loadConfig({ file: writeBelow(folder, 'config.yaml', resolvedYaml(config)) });
  expect(again.config).toEqual(config);
});

test.each(Object.keys(algorithmPresets))('%s can be trained', async (name) => {
  const file = fileOf(`{name: ${name}}`);
  const teacher = ['policies.t={}', 'algorithm.distill.teacher=t'];
  const overrides = name === 'distill' ? teacher : [];
  const { chosen, loaded } = await prepareRun({ file, overrides, training: true });
  expect(chosen.loss.entry.spec.name).toBe(loaded.config.algorithm.loss.type);
});

test('an unknown preset is refused with its place and the known names', () => {
  expect(() => read('{name: grppo}')).toThrow(/run\.yaml:4:\d+ algorithm\.name: .*grpo/);
});

test('agent-rl plugins algorithms shows parts, paper and departures of each preset', async () => {
  const { code, stdout } = await commandLine(['plugins', 'algorithms']);
  expect(code).toBe(0);
  const parts = / advantage +group-relative \{std: none\}\n +loss +clipped\n +selection +all\n/;
  expect(stdout.slice(stdout.indexOf('\ndr-grpo\n'))).toMatch(parts);
  for (const { name, departures } of algorithmTable())
    for (const text of [`${name}\n`, ...departures]) expect(stdout).toContain(text);
  const { stdout: json } = await commandLine(['plugins', 'algorithms', '--json']);
  expect(JSON.parse(json)).toEqual(algorithmTable());
});
