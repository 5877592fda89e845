import { createReadStream } from 'node:fs';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { parseArgs } from 'node:util';

import { hasNoSpread, mean, standardDeviation, sum } from '../../agent_rl/algorithms/statistics.ts';
import { batchOf, type TrainDatum } from '../../agent_rl/core/services/batch.ts';
import { maskOf, type TranscriptRecord } from '../../agent_rl/core/transcript.ts';
import { OnnxEngine } from '../../agent_rl/engine/onnx-engine.ts';
import { LocalLearner } from '../../agent_rl/learner/local-learner.ts';
import { trainedSpecs } from '../../model/adapters/adapter.ts';
import { openModel } from '../../model/weights/open-model.ts';
import {
  fixed,
  machineText,
  note,
  spread,
  watchMachine,
  wholeNumber,
  wholeNumbers,
  writeReport,
} from './bench-run.ts';
import { median } from './statistics.ts';

/*
 * The updates of recorded iterations, each sequence by itself and with common beginnings computed once, by turns:
 * `node dist/scripts/bench/update.js --model FOLDER --run RUN [--iterations 1,4,8] [--rounds 3] [--threads 2]
 * [--micro-batch 4096] [--json FILE]`. Seconds of the learner's forward and backward passes, compiled before; the
 * advantage is that of GRPO, without groups of equal rewards.
 */
const { values } = parseArgs({
  options: {
    model: { type: 'string' },
    run: { type: 'string' },
    iterations: { type: 'string', default: '1' },
    rounds: { type: 'string', default: '3' },
    threads: { type: 'string', default: '2' },
    'micro-batch': { type: 'string', default: '4096' },
    json: { type: 'string' },
  },
});
const { model, run } = values;
if (model === undefined || run === undefined) throw new TypeError('--model and --run are needed.');
const rounds = wholeNumber('rounds', values.rounds);
const microBatchTokens = wholeNumber('micro-batch', values['micro-batch']);
const loss = {
  name: 'policy',
  type: 'clipped',
  settings: { clipLow: 0.2, clipHigh: 0.28 },
  kl: { kind: 'none', weight: 0 },
  temperature: 1,
} as const;

interface Line {
  iteration: number;
  taskId: string;
  reward: number | null;
  sequences: readonly [TranscriptRecord];
}

async function* linesOf(iteration: number): AsyncGenerator<Line> {
  const file = path.join(run!, 'trajectories', 'train.jsonl');
  for await (const text of createInterface({ input: createReadStream(file) })) {
    const line = JSON.parse(text) as Line;
    if (line.iteration === iteration && line.reward !== null) yield line;
  }
}

async function dataOf(iteration: number): Promise<TrainDatum[]> {
  const groups = new Map<string, Line[]>();
  for await (const line of linesOf(iteration)) {
    const { taskId } = line;
    groups.set(taskId, [...(groups.get(taskId) ?? []), line]);
  }
  return [...groups.values()].flatMap((lines) => {
    const rewards = lines.map(({ reward }) => reward ?? 0);
    if (hasNoSpread(rewards)) return [];
    return lines.map(({ sequences: [line] }, index) => {
      const weights = Float32Array.from(maskOf(line, 'sampled'), (sampled) => sampled / 50_000);
      const end = weights.findLastIndex((weight) => weight > 0) + 1;
      const advantage = (rewards[index]! - mean(rewards)) / (standardDeviation(rewards) + 1e-6);
      return {
        tokens: Int32Array.from(line.tokens.slice(0, end)),
        weights: weights.subarray(0, end),
        advantages: new Float32Array(end).fill(advantage),
        oldLogProbs: Float32Array.from(line.logProbs.slice(0, end)),
      };
    });
  });
}

const engine = new OnnxEngine({ device: 'cpu', threads: wholeNumber('threads', values.threads) });
const { config, parameters } = await openModel({ folder: model });
const names = trainedSpecs(config).map(({ name }) => name);
const learners = [false, true].map(
  (prefixTrees) => new LocalLearner(engine, config, parameters, { microBatchTokens, prefixTrees }),
);
const processorSeconds = (): number => {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1e6;
};

async function update(learner: LocalLearner, data: readonly TrainDatum[]) {
  await learner.discardGradients();
  const [started, before] = [performance.now(), processorSeconds()];
  const { computedTokens = 0 } = await learner.forwardBackward(batchOf(data), loss);
  const wall = (performance.now() - started) / 1000;
  return { wall, processor: processorSeconds() - before, computedTokens };
}

/** Norm of the difference of the two gradients by that of the first. */
function gradientDistance(): number {
  const [apart, together] = learners.map((learner) =>
    names.map((name) => learner.gradientOf(name)!),
  );
  const squares = (of: (tensor: number, at: number) => number): number =>
    sum(
      apart!.map((gradient, tensor) =>
        gradient.reduce((all, _, at) => all + of(tensor, at) ** 2, 0),
      ),
    );
  const difference = squares((tensor, at) => apart![tensor]![at]! - together![tensor]![at]!);
  return Math.sqrt(difference / squares((tensor, at) => apart![tensor]![at]!));
}

const machine = watchMachine();
const results: object[] = [];
for (const iteration of wholeNumbers('iterations', values.iterations)) {
  const data = await dataOf(iteration);
  const tokens = sum(data.map((datum) => datum.tokens.length));
  for (const learner of learners) await update(learner, data);
  const distance = gradientDistance();
  const measured: Awaited<ReturnType<typeof update>>[][] = [];
  for (let round = 0; round < rounds; round++) {
    const pair = [];
    for (const learner of learners) pair.push(await update(learner, data));
    measured.push(pair);
  }
  const ratios = (what: 'wall' | 'processor'): number[] =>
    measured.map(([apart, together]) => apart![what] / together![what]);
  const [apart, together] = measured[0]!;
  const shown = (what: 'wall' | 'processor'): string => spread(ratios(what), 2, ' x');
  note(
    `iteration ${iteration}: ${data.length} sequences of ${tokens} tokens; computed ${apart!.computedTokens} apart, ` +
      `${together!.computedTokens} in trees; wall ${shown('wall')}, processor ${shown('processor')}; ` +
      `apart ${fixed(median(measured.map(([one]) => one!.wall)), 2)} s; gradients ${distance.toExponential(1)} apart`,
  );
  results.push({ iteration, sequences: data.length, tokens, measured, gradientDistance: distance });
}
for (const learner of learners) await learner.close();
await engine.close();
const seen = machine();
note(machineText(seen));
writeReport(values.json, { model, run, threads: values.threads, machine: seen, results });
