import { type Measure, measures, scoreOf } from '../../bench/controls/counts.ts';
import { figureDifferences, figuresOf, headline, type Kept } from '../../bench/controls/figures.ts';
import { figureText, written } from '../../bench/controls/report/cells.ts';
import { table } from '../../docs/markdown.ts';
import type { SeedResult } from '../smollm2/recipe.ts';
import { costTable } from '../smollm2/recipe-markdown.ts';
import type { ModelEvaluation } from '../smollm2/evaluations.ts';
import type { WithoutModel } from './without-model.ts';

/** A seed's models, and what is said without one, on the same questions. */
export interface MedQuadSeed extends SeedResult {
  withoutModel: WithoutModel;
}

/** What each reward gives before and after each training and without a model, what RL adds, and the cost, as tables. */
export function medQuadMarkdown(untrained: ModelEvaluation, seeds: readonly MedQuadSeed[]): string {
  return `${[...seeds.flatMap((seed) => seedTables(untrained, seed)), '## Cost of training', costTable(seeds), note].join('\n\n')}\n`;
}

const note =
  'Brackets: 95 % intervals by bootstrap over questions, paired for differences. Greedy, one attempt each. The untrained model was asked other questions of the same kind.';

function seedTables(untrained: ModelEvaluation, one: MedQuadSeed): string[] {
  const { seed, taught, trained, withoutModel } = one;
  const rows: Readonly<Record<string, Kept>> = {
    Untrained: untrained.own,
    'After SFT': taught.own,
    'After RL': trained.own,
    'Without a model, says the question': withoutModel.question,
    'Without a model, says the first passage': withoutModel.first,
    'Without a model, says all passages': withoutModel.all,
  };
  const differences: Readonly<Record<string, readonly [Kept, Kept]>> = {
    'RL less SFT': [trained.own, taught.own],
    'RL less the first passage': [trained.own, withoutModel.first],
    'RL less all passages': [trained.own, withoutModel.all],
  };
  const names = scoreNames(trained.own);
  const all = [...names.map((name) => scoreOf(name)), measures.calls];
  const tableOf = <Row>(
    entries: Readonly<Record<string, Row>>,
    cell: (row: Row, measure: Measure) => string,
  ): string =>
    table(
      ['', ...names, 'calls'],
      Object.entries(entries).map(([title, row]) =>
        [title].concat(all.map((measure) => cell(row, measure))),
      ),
    );
  return [
    `## Seed ${seed}`,
    tableOf(rows, (kept, measure) =>
      figureText(figuresOf(kept, measure, seed)?.[headline], written.number),
    ),
    tableOf(differences, (pair, measure) =>
      figureText(figureDifferences(pair, measure, seed)?.[headline], written.change),
    ),
  ];
}

/** Of the rewards that are learned from: that of the environment is not. */
const scoreNames = ({ counts = [] }: Kept): string[] => [
  ...new Set(
    counts.flatMap(({ scores = {} }) =>
      Object.keys(scores).filter((name) => name !== 'environment'),
    ),
  ),
];
