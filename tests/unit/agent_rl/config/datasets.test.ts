import { describe, expect, test } from '@jest/globals';

import { loadConfig } from '#agent_rl/config/index.ts';
import { thrownBy } from '#tests/support/thrown.ts';
import { problemPaths, problemPlaces } from '#tests/support/problem-places.ts';
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

const refused = (text: string, overrides: readonly string[] = []) =>
  thrownBy(() => read(text, overrides)).message;
const problemsOf = (text: string) => problemPaths(refused(text));

const set = (dir: string, weight = 1) => ({ dir, weight });

describe('The datasets of a run', () => {
  test('a problem has the place where it was written', () => {
    const wrong = 'datasets: [{dir: 5}, {dir: b, weigth: 2}]\n';
    expect(problemPlaces(refused(wrong).replaceAll(`${folder}/`, ''))).toEqual([
      'run.yaml:2:18 datasets.0.dir',
      'run.yaml:2:31 datasets.1.weigth',
    ]);
    expect(refused('datasets: [{dir: a}]\n', ['datasets.0.dir=5'])).toContain(
      '--set datasets.0.dir=5 datasets.0.dir: ',
    );
    expect(problemsOf('')).toEqual(['datasets']);
    expect(refused('dataset: {trainSplit: a}')).not.toContain('Did you mean');
    expect(refused('dataset: {dir: a}')).toContain('Did you mean "datasets[].dir"?');
  });

  test('a weight is refused in supervised training, which reads all datasets', () => {
    const sft = 'train: {mode: sft}\n';
    expect(read(`${sft}datasets: [{dir: a}, {dir: b}]\n`).datasets).toHaveLength(2);
    expect(problemsOf(`${sft}datasets: [{dir: a, weight: 2}]\n`)).toEqual(['datasets']);
  });
});

describe('A task generator', () => {
  const made = (more: object = {}) => ({ generator: { type: 'doubles', ...more }, weight: 1 });

  test('may be the only source or one of several', () => {
    expect(read('datasets: [{generator: {type: doubles}}]\n').datasets).toEqual([made()]);
    const both = read('datasets: [{dir: a}, {generator: {type: doubles, most: 3}, weight: 2}]\n');
    expect(both.datasets).toEqual([set('a'), { ...made({ most: 3 }), weight: 2 }]);
    expect(both.warnings).toEqual([]);
  });

  test('replaces the folders of an extended file, and is replaced by folders', () => {
    writeBelow(folder, 'base.yaml', 'datasets: [{dir: x}, {dir: y}]\n');
    const over = read('extends: base.yaml\ndatasets: [{generator: {type: doubles}}]\n');
    expect(over.datasets).toEqual([made()]);
    writeBelow(folder, 'base.yaml', 'datasets: [{generator: {type: doubles}}]\n');
    expect(read('extends: base.yaml\ndatasets: [{dir: a}]\n').datasets).toEqual([set('a')]);
  });

  test('is set by --set, which drops the settings of another generator', () => {
    const text = 'datasets: [{generator: {type: doubles, most: 3}}]\n';
    const both = read(text, ['datasets.0.generator.least=1', 'datasets.0.weight=3']).datasets;
    expect(both).toEqual([{ ...made({ most: 3, least: 1 }), weight: 3 }]);
    const sums = '{type: sums}';
    const lists = [`datasets=[{generator: ${sums}}]`, `datasets.0={generator: ${sums}}`];
    for (const name of [`datasets.0.generator=${sums}`, ...lists]) {
      const [first] = read(text, [name, 'datasets.0.generator.most=4']).datasets;
      expect(first?.generator).toEqual({ type: 'sums', most: 4 });
    }
    const other = read(text, ['datasets.0.generator.type=sums']);
    expect(other.datasets[0]?.generator).toEqual({ type: 'sums' });
    expect(other.warnings.join(' ')).toContain('doubles (most: 3)');
  });

  test.each([
    ['datasets: [{dir: a, generator: {type: doubles}}]', 'datasets.0'],
    ['datasets: [{dir: a}, {weight: 2}]', 'datasets.1'],
    ['datasets: [{generator: {type: doubles}, format: plain}]', 'datasets.0'],
    ['datasets: [{generator: {most: 3}}]', 'datasets.0.generator.type'],
    ['datasets: [{generator: doubles}]', 'datasets.0.generator'],
    ['train: {mode: sft}\ndatasets: [{generator: {type: doubles}}]', 'datasets.0.generator'],
  ])('is refused: %s', (text, path) => {
    expect(problemsOf(`${text}\n`)).toEqual([path]);
  });
});
