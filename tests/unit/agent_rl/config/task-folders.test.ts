import { describe, expect, test } from '@jest/globals';

import { loadConfig } from '#agent_rl/config/index.ts';
import { thrownBy } from '#tests/support/thrown.ts';
import { temporaryFolder, writeBelow } from '#tests/support/temporary-folder.ts';

const folder = temporaryFolder();
const rest = 'environment: {type: code_exec}\n';

/** The folders and warnings of a run file, with and without `--set`. */
function read(text: string, overrides: readonly string[] = []) {
  const file = writeBelow(folder, 'run.yaml', rest + text);
  const { config, warnings } = loadConfig({ file, overrides });
  const short = warnings.map((warning) => warning.replace(`${folder}/`, ''));
  return { datasets: config.datasets, dataset: config.dataset, warnings: short };
}

const problemsOf = (text: string, overrides: readonly string[] = []): string =>
  thrownBy(() => read(text, overrides)).message.replaceAll(`${folder}/`, '');

const set = (dir: string, weight = 1) => ({ dir, weight });

describe('datasets', () => {
  test('are folders with weights, and dataset.dir is short for one', () => {
    const many = read('datasets: [{dir: a, weight: 2}, {dir: b}]\n');
    expect(many).toMatchObject({ datasets: [set('a', 2), set('b')], warnings: [] });
    const one = read('dataset: {dir: a, maxSamples: 3}\n');
    expect(one).toMatchObject({ datasets: [set('a')], dataset: { maxSamples: 3 }, warnings: [] });
    expect(one.dataset).not.toHaveProperty('dir');
  });

  test('of a file replace those of the file it extends, however either spells them', () => {
    for (const base of [
      'datasets: [{dir: x}, {dir: y}]\n',
      'dataset: {dir: x, also: [{dir: y}]}\n',
    ]) {
      writeBelow(folder, 'base.yaml', base);
      for (const own of ['datasets: [{dir: a}]\n', 'dataset: {dir: a}\n'])
        expect(read(`extends: base.yaml\n${own}`).datasets).toEqual([set('a')]);
    }
  });

  test('of --set replace those of the file, and one of them can be set', () => {
    const text = 'datasets: [{dir: a}, {dir: b}]\n';
    expect(read(text, ['dataset.dir=c']).datasets).toEqual([set('c')]);
    expect(read(text, ['dataset={dir: c, shuffle: false}'])).toMatchObject({
      datasets: [set('c')],
      dataset: { shuffle: false },
    });
    expect(read(text, ['datasets.1.weight=3']).datasets).toEqual([set('a'), set('b', 3)]);
    expect(read('dataset: {dir: a}\n', ['datasets.0.weight=3']).datasets).toEqual([set('a', 3)]);
  });

  test('cannot be named twice in one file', () => {
    expect(problemsOf('datasets: [{dir: a}]\ndataset: {dir: b}\n')).toContain(
      'run.yaml:3:16 dataset.dir: says where tasks are, and so does datasets. Keep datasets.',
    );
  });

  test('are shown with the place they were written at when they are wrong', () => {
    expect(problemsOf('dataset: {dir: 5}\n')).toContain('run.yaml:2:16 datasets.0.dir: ');
    expect(problemsOf('dataset: {dir: a, also: [{dir: b, weigth: 2}]}\n')).toContain(
      'run.yaml:2:35 datasets.1.weigth: is not a known key. Did you mean "weight"?',
    );
    expect(problemsOf('dataset: {dir: a}\n', ['dataset.dir=5'])).toContain(
      '--set dataset.dir=5 datasets.0.dir: ',
    );
    expect(problemsOf('')).toContain('datasets: is missing.');
    expect(problemsOf('dataset: {format: plain}')).not.toContain('Did you mean');
  });

  test('have no weights in supervised training, which reads all of them', () => {
    const sft = 'train: {mode: sft}\n';
    expect(read(`${sft}datasets: [{dir: a}, {dir: b}]\n`).datasets).toHaveLength(2);
    expect(problemsOf(`${sft}datasets: [{dir: a, weight: 2}]\n`)).toContain(
      'no effect in supervised training',
    );
  });
});

describe('a task generator', () => {
  const made = (settings: object = {}) => ({
    generator: { type: 'doubles', ...settings },
    weight: 1,
  });

  test('is written as a name or as a block, alone or among datasets', () => {
    for (const text of [
      'dataset: {generator: doubles}\n',
      'dataset: {generator: {type: doubles}}\n',
      'datasets: [{generator: doubles}]\n',
    ]) {
      const { datasets, dataset, warnings } = read(text);
      expect([datasets, warnings]).toEqual([[made()], []]);
      expect(dataset).not.toHaveProperty('generator');
    }
    const both = read('datasets: [{dir: a}, {generator: {type: doubles, most: 3}, weight: 2}]\n');
    expect(both.datasets).toEqual([set('a'), { ...made({ most: 3 }), weight: 2 }]);
  });

  test('replaces the folders of what a file extends, and they it', () => {
    writeBelow(folder, 'base.yaml', 'datasets: [{dir: x}, {dir: y}]\n');
    const over = read('extends: base.yaml\ndataset: {generator: doubles}\n');
    expect(over.datasets).toEqual([made()]);
    writeBelow(folder, 'base.yaml', 'dataset: {generator: doubles}\n');
    expect(read('extends: base.yaml\ndataset: {dir: a}\n').datasets).toEqual([set('a')]);
  });

  test('and its settings are set by --set, those of another one left out', () => {
    const text = 'dataset: {generator: {type: doubles, most: 3}}\n';
    expect(read(text, ['dataset.generator.least=1']).datasets).toEqual([
      made({ most: 3, least: 1 }),
    ]);
    expect(read(text, ['dataset.dir=c']).datasets).toEqual([set('c')]);
    for (const name of [
      'dataset.generator=sums',
      'datasets.0.generator=sums',
      'datasets=[{generator: sums}]',
      'datasets.0={generator: sums}',
    ]) {
      const [first] = read(text, [name, 'datasets.0.generator.most=4']).datasets;
      expect(first?.generator).toEqual({ type: 'sums', most: 4 });
    }
    const other = read(text, ['dataset.generator.type=sums']);
    expect(other.datasets[0]?.generator).toEqual({ type: 'sums' });
    expect(other.warnings.join(' ')).toContain('doubles (most: 3) is left out');
  });

  test('is named instead of a folder, not beside one, and says itself how its rows are read', () => {
    expect(problemsOf('dataset: {dir: a, generator: doubles}\n')).toContain(
      'datasets.0: has a folder (dir) and a generator, and its tasks come from one. Keep one.',
    );
    expect(problemsOf('datasets: [{dir: a}, {weight: 2}]\n')).toContain(
      'run.yaml:2:22 datasets.1: says nowhere where its tasks come from.',
    );
    expect(problemsOf('datasets: [{generator: doubles, format: plain}]\n')).toContain(
      'datasets.0: has format, which have no effect on a generator',
    );
    expect(problemsOf('datasets: [{generator: {most: 3}}]\n')).toContain(
      'datasets.0.generator.type: is missing.',
    );
    expect(problemsOf('dataset: {generator: doubles}\ndatasets: [{dir: a}]\n')).toContain(
      'run.yaml:2:22 dataset.generator: says where tasks are, and so does datasets. Keep datasets.',
    );
  });

  test('makes no conversations for supervised training', () => {
    expect(problemsOf('train: {mode: sft}\ndataset: {generator: doubles}\n')).toContain(
      'datasets.0.generator: makes tasks, and supervised training reads conversations from files.',
    );
  });
});

describe('dataset.weight and dataset.also of version 0.1', () => {
  const old = 'dataset:\n  dir: a\n  weight: 2\n  also: [{dir: b, weight: 3}]\n  shuffle: false\n';
  const warning = (at: string, names: string): string =>
    `${at} ${names}: now the list datasets: [{dir, weight}]. The old spelling is accepted until version 0.3.`;

  test('are read, with a warning that names the new spelling', () => {
    expect(read(old)).toMatchObject({
      datasets: [set('a', 2), set('b', 3)],
      dataset: { shuffle: false },
      warnings: [warning('run.yaml:3', 'dataset.weight and dataset.also')],
    });
  });

  test('are read over what a file extends, and of --set', () => {
    writeBelow(folder, 'base.yaml', 'datasets: [{dir: x}, {dir: y}]\n');
    const both = read('extends: base.yaml\ndataset: {weight: 5}\n', ['dataset.also=[{dir: z}]']);
    expect(both.datasets).toEqual([set('x', 5), set('z')]);
    expect(both.warnings).toEqual([
      warning('run.yaml:3', 'dataset.weight'),
      warning('--set dataset.also=[{dir: z}]', 'dataset.also'),
    ]);
    expect(read(old, ['dataset.also.0.weight=9'])).toMatchObject({
      datasets: [set('a', 2), set('b', 9)],
    });
  });
});
