import { KeyedRng } from '../agent_rl/core/keyed-rng.ts';
import { makeSearchData, shippedSeed } from '../dataset/search_tasks/generator/rows.ts';
import { jsonLines } from '../dataset/tables/json-lines.ts';
import { writeData } from './data/written-data.ts';

/**
 * Writes the search tasks to `.cache/outdated_tasks` as if their documents were old: two in five persons have since
 * married again or moved, so that what is asked for is now the answer of another such question. Neither question nor
 * document says of whom this is true; `metadata` does, for analysis. Held out are the questions of the trained kinds.
 */
type Row = ReturnType<typeof makeSearchData>['train'][number];
const asked = ({ metadata }: Row): string => metadata.kind.split('-').at(-1) ?? '';

function outdated(row: Row, rows: readonly Row[], rng: KeyedRng) {
  const peers = rows.filter((other) => asked(other) === asked(row) && !other.metadata.absent);
  const changes = /^(?:spouse|hometown)$/.test(asked(row)) && peers.includes(row);
  // The same share of each relation, so that luck makes neither of them better.
  const order = rng.child(asked(row)).shuffle(peers);
  const isOld = changes && order.indexOf(row) < 0.4 * peers.length;
  const others = peers.map(({ answer }) => answer).filter((other) => other !== row.answer);
  const fits = others.filter((other) => !row.question.includes(other));
  const answer = isOld ? rng.child(row.task_id).pick(fits) : row.answer;
  const metadata = { ...row.metadata, slice: undefined, changes, outdated: isOld };
  return { ...row, answer, metadata };
}

const { train, eval: all } = makeSearchData(shippedSeed);
const held = all.filter(({ task_id }) => /^eval-(?!absent|pairs)/.test(task_id));
for (const [split, rows] of Object.entries({ train, eval: held })) {
  const rng = new KeyedRng('outdated', split);
  const changed = rows.map((row) => outdated(row, rows, rng));
  await writeData('.cache/outdated_tasks', { [`${split}.jsonl`]: jsonLines(changed) });
}
