import { expect, test } from '@jest/globals';

import { parameterCount } from '#model/config/parameters.ts';
import { measureShape } from '#scripts/bench/model-shape.ts';
import { measureRow } from '#scripts/bench/model-shape/measure-row.ts';
import { shapeMarkdown } from '#scripts/bench/model-shape/report.ts';
import { qwen3Shape, smolLm2Shape, tinyShape } from '#scripts/bench/model-shape/shape.ts';
import { groupsOf, type RowAnswer } from '#scripts/bench/model-shape/tasks.ts';

const timing = { device: 'cpu', threads: 1, warmUp: 1, repeats: 2 };

/** Ours of every task. */
const orders = groupsOf(tinyShape).flatMap(({ title, task, contestants }) =>
  contestants
    .filter(({ peer }) => peer === undefined)
    .map((contestant) => ({ title, order: { ...contestant, task, ...timing } })),
);

test('the models have 0.6 billion parameters, 0.44 of them outside the embedding, and 135 million, as their cards state', () => {
  const { config } = qwen3Shape;
  expect(parameterCount(smolLm2Shape.config)).toBe(134_515_008);
  expect(parameterCount(config)).toBe(596_049_920);
  expect(parameterCount(config) - config.vocabSize * config.hiddenSize).toBe(440_467_456);
});

test.each(orders)('$title is timed as often as ordered by $order.name', async ({ order }) => {
  const { seconds, peakBytes } = await measureRow(order);
  expect(seconds).toHaveLength(2);
  expect(Math.min(...seconds)).toBeGreaterThan(0);
  expect(peakBytes).toBeGreaterThan(2 ** 24);
});

test('a peer that cannot run is reported with its reason, and our rows are still measured', () => {
  const { groups } = measureShape({
    groups: groupsOf(tinyShape).filter(({ task: { kind } }) => kind === 'prefill'),
    device: 'cpu',
    threads: 1,
    repeats: 1,
    python: 'false',
  });
  const rows = groups.flatMap((group) => group.rows);
  const [ours, peers] = [true, false].map((own) =>
    rows.filter(({ name }) => name.startsWith('ours') === own),
  );
  expect(ours!.map(({ answer }) => answer?.seconds.length)).toEqual([1, 1]);
  expect(peers!.map(({ error }) => error?.replace(/ \S+scripts.bench.peers./, ' '))).toEqual(
    peers!.map(() => 'false -W ignore::FutureWarning model_shape.py ended with 1.'),
  );
  expect(peers).toHaveLength(1);
}, 120_000);

const answer = (seconds: number[], peakBytes: number): RowAnswer => ({ seconds, peakBytes });
const task = { kind: 'decode', rows: 4, cached: 8, steps: 2 } as const;
const text = shapeMarkdown({
  device: 'cpu',
  threads: 2,
  rounds: 2,
  groups: [
    {
      title: 'Decode step, 4 rows of 8 tokens',
      task,
      tokens: 8,
      rows: [
        { name: 'ours', answer: answer([0.4, 0.2, 0.3], 2.345e9) },
        { name: 'theirs', answer: { ...answer([0.6], 12.3e9), versions: 'torch 2' } },
        { name: 'others', error: 'no such module' },
      ],
    },
  ],
});

test('the table shows seconds per step, tokens per second and medians relative to ours', () => {
  const cells = text
    .split('\n')
    .filter((line) => line.startsWith('|'))
    .slice(2)
    .map((line) => line.split('|').map((cell) => cell.trim()));
  // Two steps a call: 0.3 s are 0.15 a step, and 8 tokens in 0.3 s are 26.7 a second.
  expect(cells.map((row) => row.filter((cell) => cell !== '').join(' | '))).toEqual([
    'Decode step, 4 rows of 8 tokens | ours | 0.15 (0.1 to 0.2) | 26.7 | 2.35 GB | 1.00 x',
    'theirs | 0.3 (0.3 to 0.3) | 13.3 | 12.3 GB | 2.00 x',
    'others | failed: no such module',
  ]);
});
