import { sum } from '../../../agent_rl/algorithms/statistics.ts';
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

/** The document that a question is about, by the question's id. */
export type DocumentOf = ReadonlyMap<string, string>;

/**
 * What each reward gives before and after each training and without a model, what RL adds, and the cost, as tables.
 *
 * @param documentOf intervals are over documents where those are wider than over questions
 */
export function medQuadMarkdown(
  untrained: ModelEvaluation,
  seeds: readonly MedQuadSeed[],
  documentOf: DocumentOf,
): string {
  const tables = seeds.flatMap((seed) => seedTables(untrained, seed, documentOf));
  return `${[...tables, '## Cost of training', costTable(seeds), note].join('\n\n')}\n`;
}

const note =
  'Brackets: 95 % intervals, bootstrapped over documents or over questions, whichever is wider, paired for differences. Greedy, one attempt each. The untrained model was evaluated on another sample of the held-out questions, whose similarity scores have another floor.';

function seedTables(
  untrained: ModelEvaluation,
  one: MedQuadSeed,
  documentOf: DocumentOf,
): string[] {
  const { seed, taught, trained, withoutModel } = one;
  const rows: Readonly<Record<string, Kept>> = {
    Untrained: untrained.own,
    'After SFT': taught.own,
    'After RL': trained.own,
    'Without a model: the question': withoutModel.question,
    'Without a model: the first passage': withoutModel.first,
    'Without a model: all passages': withoutModel.all,
  };
  const differences: Readonly<Record<string, readonly [Kept, Kept]>> = {
    'RL minus SFT': [trained.own, taught.own],
    'RL minus the first passage': [trained.own, withoutModel.first],
    'RL minus all passages': [trained.own, withoutModel.all],
  };
  const names = scoreNames(trained.own);
  const all = [...names.map((name) => scoreOf(name)), measures.calls];
  const byDocument = (kept: Kept): Kept => ofDocuments(kept, documentOf);
  const tableOf = <Row>(
    entries: Readonly<Record<string, Row>>,
    attempts: (row: Row) => string,
    cell: (row: Row, measure: Measure) => string,
  ): string =>
    table(
      ['', 'questions', ...names, 'calls'],
      Object.entries(entries).map(([title, row]) =>
        [title, attempts(row)].concat(all.map((measure) => cell(row, measure))),
      ),
    );
  return [
    `## Seed ${seed}`,
    tableOf(rows, attemptsText, (kept, measure) =>
      figureText(figuresOf(byDocument(kept), measure, seed)?.[headline], written.number),
    ),
    tableOf(
      differences,
      (pair) => pair.map(attemptsText).join(' and '),
      ([higher, lower], measure) => {
        const pair = [byDocument(higher), byDocument(lower)] as const;
        return figureText(figureDifferences(pair, measure, seed)?.[headline], written.change);
      },
    ),
  ];
}

/** The number of judged attempts, and of attempts that the system failed, which no other number counts. */
function attemptsText({ perTask = [] }: Kept): string {
  const failed = sum(perTask.map((task) => task.failed));
  return `${sum(perTask.map(({ n }) => n))}${failed === 0 ? '' : `, ${failed} failed`}`;
}

const ofDocuments = ({ perTask = [], ...kept }: Kept, documentOf: DocumentOf): Kept => ({
  ...kept,
  perTask: perTask.map((task) => {
    const family = documentOf.get(task.taskId);
    return family === undefined ? task : Object.assign({}, task, { family });
  }),
});

/** Names of the rewards that are trained on, which exclude the environment's. */
const scoreNames = ({ counts = [] }: Kept): string[] => [
  ...new Set(
    counts.flatMap(({ scores = {} }) =>
      Object.keys(scores).filter((name) => name !== 'environment'),
    ),
  ),
];
