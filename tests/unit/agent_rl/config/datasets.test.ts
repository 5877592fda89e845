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
  test('are folders with weights', () => {
    const many = read('datasets: [{dir: a, weight: 2}, {dir: b}]\n');
    expect(many).toMatchObject({ datasets: [set('a', 2), set('b')], warnings: [] });
  });

  test('of a file replace those of the file it extends', () => {
    writeBelow(folder, 'base.yaml', 'datasets: [{dir: x}, {dir: y}]\n');
    expect(read('extends: base.yaml\ndatasets: [{dir: a}]\n').datasets).toEqual([set('a')]);
  });

  test('of --set replace those of the file, and one of them can be set', () => {
    const text = 'datasets: [{dir: a}, {dir: b}]\n';
    expect(read(text, ['datasets=[{dir: c}]']).datasets).toEqual([set('c')]);
    expect(read(text, ['datasets.1.weight=3']).datasets).toEqual([set('a'), set('b', 3)]);
  });

  test('are shown with the place they were written at when they are wrong', () => {
    expect(problemsOf('datasets: [{dir: 5}]\n')).toContain('run.yaml:2:18 datasets.0.dir: ');
    expect(problemsOf('datasets: [{dir: a}, {dir: b, weigth: 2}]\n')).toContain(
      'run.yaml:2:31 datasets.1.weigth: is not a known key. Did you mean "weight"?',
    );
    expect(problemsOf('datasets: [{dir: a}]\n', ['datasets.0.dir=5'])).toContain(
      '--set datasets.0.dir=5 datasets.0.dir: ',
    );
    expect(problemsOf('')).toContain('datasets: is missing.');
    expect(problemsOf('dataset: {trainSplit: a}')).not.toContain('Did you mean');
    expect(problemsOf('dataset: {dir: a}')).toContain(
      'dataset.dir: is not a known key. Did you mean "datasets[].dir"?',
    );
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

  test('stands alone or among datasets', () => {
    expect(read('datasets: [{generator: {type: doubles}}]\n').datasets).toEqual([made()]);
    const both = read('datasets: [{dir: a}, {generator: {type: doubles, most: 3}, weight: 2}]\n');
    expect(both.datasets).toEqual([set('a'), { ...made({ most: 3 }), weight: 2 }]);
  });

  test('replaces the folders of what a file extends, and they it', () => {
    writeBelow(folder, 'base.yaml', 'datasets: [{dir: x}, {dir: y}]\n');
    const over = read('extends: base.yaml\ndatasets: [{generator: {type: doubles}}]\n');
    expect(over.datasets).toEqual([made()]);
    writeBelow(folder, 'base.yaml', 'datasets: [{generator: {type: doubles}}]\n');
    expect(read('extends: base.yaml\ndatasets: [{dir: a}]\n').datasets).toEqual([set('a')]);
  });

  test('and its settings are set by --set, those of another one left out', () => {
    const text = 'datasets: [{generator: {type: doubles, most: 3}}]\n';
    expect(read(text, ['datasets.0.generator.least=1']).datasets).toEqual([
      made({ most: 3, least: 1 }),
    ]);
    for (const name of [
      'datasets.0.generator={type: sums}',
      'datasets=[{generator: {type: sums}}]',
      'datasets.0={generator: {type: sums}}',
    ]) {
      const [first] = read(text, [name, 'datasets.0.generator.most=4']).datasets;
      expect(first?.generator).toEqual({ type: 'sums', most: 4 });
    }
    const other = read(text, ['datasets.0.generator.type=sums']);
    expect(other.datasets[0]?.generator).toEqual({ type: 'sums' });
    expect(other.warnings.join(' ')).toContain('doubles (most: 3) is left out');
  });

  test('is named instead of a folder, not beside one, and says itself how its rows are read', () => {
    expect(problemsOf('datasets: [{dir: a, generator: {type: doubles}}]\n')).toContain(
      'datasets.0: has a folder (dir) and a generator, and its tasks come from one. Keep one.',
    );
    expect(problemsOf('datasets: [{dir: a}, {weight: 2}]\n')).toContain(
      'run.yaml:2:22 datasets.1: says nowhere where its tasks come from.',
    );
    expect(problemsOf('datasets: [{generator: {type: doubles}, format: plain}]\n')).toContain(
      'datasets.0: has format, which have no effect on a generator',
    );
    expect(problemsOf('datasets: [{generator: {most: 3}}]\n')).toContain(
      'datasets.0.generator.type: is missing.',
    );
    expect(problemsOf('datasets: [{generator: doubles}]\n')).toContain(
      'datasets.0.generator: expected a block of keys and values, got "doubles". Write { type: doubles }.',
    );
  });

  test('makes no conversations for supervised training', () => {
    expect(problemsOf('train: {mode: sft}\ndatasets: [{generator: {type: doubles}}]\n')).toContain(
      'datasets.0.generator: makes tasks, and supervised training reads conversations from files.',
    );
  });
});
