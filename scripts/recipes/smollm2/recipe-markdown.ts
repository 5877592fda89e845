import { figureDifferences, figuresOf, headline } from '../../bench/controls/figures.ts';
import { type Measure, measures } from '../../bench/controls/counts.ts';
import { figureText, rateText, written } from '../../bench/controls/report/cells.ts';
import { table } from '../../docs/markdown.ts';
import type { ModelEvaluation } from './evaluations.ts';
import type { RecipeResult, SeedResult } from './recipe.ts';

const header = (...columns: string[]): string[] => ['Questions', 'Seed', ...columns];
const stages = ['Untrained', 'After SFT', 'After RL'] as const;

/** Success, what RL adds, calls and cost, as tables: a row for each slice and seed. */
export function recipeMarkdown({ untrained, seeds }: RecipeResult): string {
  const rows = seeds.flatMap((seed) => slicesOf(untrained).map((slice) => ({ seed, slice })));
  const named = (cells: (row: (typeof rows)[number]) => string[]): string[][] =>
    rows.map((row) => [row.slice, String(row.seed.seed)].concat(cells(row)));
  const byStage = (cell: (model: ModelEvaluation, slice: string, seed: number) => string) =>
    table(
      header(...stages),
      named(({ seed, slice }) =>
        [untrained, seed.taught, seed.trained].map((model) => cell(model, slice, seed.seed)),
      ),
    );
  return `${[
    '## Success, %',
    byStage(successCell),
    '## What RL adds to SFT, points, on the same questions',
    table(
      header('RL minus SFT'),
      named((row) => [differenceCell(row)]),
    ),
    '## Episodes in which a call returns the answer, %',
    byStage(measureCell(measures.found, written.percent)),
    '## Calls in an episode',
    byStage(measureCell(measures.calls, written.number)),
    '## Cost of training',
    costTable(seeds),
    'Brackets: 95 % intervals, bootstrapped over kinds of questions or over questions, whichever is wider. Greedy, one attempt each.',
  ].join('\n\n')}\n`;
}

const gsm8k = 'GSM8K, first test questions';

const slicesOf = ({ own, gsm8k: others }: ModelEvaluation): string[] => [
  headline,
  ...Object.keys(own.groups),
  ...(others === null ? [] : [gsm8k]),
];

/** The evaluation that a slice is of, and what the slice is called there. */
const within = (model: ModelEvaluation, slice: string) =>
  slice === gsm8k
    ? { evaluation: model.gsm8k, name: headline }
    : { evaluation: model.own, name: slice };

function successCell(model: ModelEvaluation, slice: string): string {
  const { evaluation, name } = within(model, slice);
  return rateText(name === headline ? (evaluation ?? undefined) : evaluation?.groups[name]);
}

const measureCell =
  (measure: Measure, write: (value: number) => string) =>
  (model: ModelEvaluation, slice: string, seed: number): string => {
    const { evaluation, name } = within(model, slice);
    return figureText(evaluation ? figuresOf(evaluation, measure, seed)?.[name] : undefined, write);
  };

function differenceCell({ seed, slice }: { seed: SeedResult; slice: string }): string {
  const [after, before] = [within(seed.trained, slice), within(seed.taught, slice)];
  if (after.evaluation === null || before.evaluation === null) return '-';
  const pair = [after.evaluation, before.evaluation] as const;
  const figures = figureDifferences(pair, measures.success, seed.seed);
  return figureText(figures?.[after.name], written.points);
}

/** What each training took. */
export const costTable = (seeds: readonly SeedResult[]): string =>
  table(
    ['Seed', 'Training', 'Iterations', 'Minutes', 'Processor minutes', 'Peak memory, GB'],
    seeds.flatMap(({ seed, sft, grpo }) =>
      Object.entries({ SFT: sft, RL: grpo }).map(([name, one]) => [
        String(seed),
        name,
        String(one.iterations),
        (one.wallSeconds / 60).toFixed(1),
        (one.cpuSeconds / 60).toFixed(1),
        (one.peakRssBytes / 1e9).toFixed(1),
      ]),
    ),
  );
