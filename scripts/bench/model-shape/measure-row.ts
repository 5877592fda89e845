import { existsSync, readFileSync } from 'node:fs';

import { KeyedRng } from '../../../agent_rl/core/keyed-rng.ts';
import { batchOf, type TrainDatum } from '../../../agent_rl/core/services/batch.ts';
import type { Engine } from '../../../agent_rl/engine/engine.ts';
import { openEngine } from '../../../agent_rl/engine/open-engine.ts';
import { DecoderPrograms } from '../../../agent_rl/generation/programs/decoder-programs.ts';
import { KvCache, rowOf } from '../../../agent_rl/generation/cache/kv-cache.ts';
import { LocalLearner } from '../../../agent_rl/learner/local-learner.ts';
import { noRecompute } from '../../../agent_rl/learner/train-program.ts';
import { peakRssBytes } from '../bench-run.ts';
import { timed } from '../statistics.ts';
import { randomWeights } from './random-weights.ts';
import { benchLoss } from './shape.ts';
import type { RowAnswer, RowOrder, Task } from './tasks.ts';

type OrderOf<Kind extends Task['kind']> = RowOrder & {
  task: Extract<Task, { kind: Kind }>;
};

type Timed = Pick<RowAnswer, 'seconds' | 'loss'>;

/** Does one task with our own engine. */
export async function measureRow(order: RowOrder): Promise<RowAnswer> {
  const engine = await openEngine({ device: order.device, threads: order.threads });
  const { task } = order;
  const measured =
    task.kind === 'lora-step' || task.kind === 'lora-group'
      ? await loraSteps(engine, { ...order, task })
      : task.kind === 'prefill'
        ? await prefills(engine, { ...order, task })
        : await decodeSteps(engine, { ...order, task });
  await engine.close();
  return { ...measured, peakBytes: peakResidentBytes() };
}

/** Most memory this process has held at once. */
function peakResidentBytes(): number {
  const status = '/proc/self/status';
  const own = existsSync(status) && /^VmHWM:\s+(\d+) kB$/m.exec(readFileSync(status, 'utf8'))?.[1];
  // Elsewhere what the operating system counts; on Linux that count would include the peak of the parent process.
  return own ? 1024 * Number(own) : peakRssBytes();
}

/** Any tokens, all over the vocabulary. */
const someTokens = (count: number, vocabSize: number): number[] =>
  Array.from({ length: count }, (_, i) => (7919 * i + 1) % vocabSize);

/** Forward, backward, clipping and AdamW over the adapter. */
async function loraSteps(
  engine: Engine,
  order: OrderOf<'lora-step' | 'lora-group'>,
): Promise<Timed> {
  const { config, task, apart = false } = order;
  const data = dataOf(task, config.vocabSize);
  const learner = new LocalLearner(engine, config, randomWeights(config), {
    // Room for a group whose beginning is computed once; of sequences apart as many as fit at a time.
    microBatchTokens: task.kind === 'lora-step' ? task.tokens : treeTokens(task),
    memory: { ...noRecompute, recompute: task.kind === 'lora-step' ? task.recompute : 'blocks' },
    prefixTrees: !apart,
    adapter: { baseModel: 'none', seed: 1 },
  });
  let loss = Number.NaN;
  const seconds = await timed(async () => {
    ({ loss } = await learner.forwardBackward(batchOf(data), benchLoss));
    await learner.optimStep({
      learningRate: 1e-4,
      beta1: 0.9,
      beta2: 0.95,
      eps: 1e-8,
      weightDecay: 0,
      maxGradNorm: 1,
    });
  }, order);
  await learner.close();
  return { seconds, loss };
}

const treeTokens = ({ sequences, tokens, common }: Extract<Task, { kind: 'lora-group' }>): number =>
  256 * Math.ceil((common + sequences * (tokens - common)) / 256);

/** One sequence, or a group; the first token and what sequences have in common are not trained. */
function dataOf(
  task: OrderOf<'lora-step' | 'lora-group'>['task'],
  vocabSize: number,
): TrainDatum[] {
  const { sequences, common } = task.kind === 'lora-group' ? task : { sequences: 1, common: 1 };
  const { tokens } = task;
  const uniform = Math.log(1 / vocabSize);
  const perToken = (value: number): Float32Array => new Float32Array(tokens).fill(value);
  const weight = 1 / (sequences * (tokens - common));
  const all = someTokens(common + sequences * (tokens - common), vocabSize);
  return Array.from({ length: sequences }, (_, index) => {
    const from = common + index * (tokens - common);
    return {
      tokens: Int32Array.from([
        ...all.slice(0, common),
        ...all.slice(from, from + tokens - common),
      ]),
      weights: perToken(weight).fill(0, 0, common),
      advantages: perToken(1),
      oldLogProbs: perToken(uniform),
      refLogProbs: perToken(uniform),
    };
  });
}

async function prefills(engine: Engine, order: OrderOf<'prefill'>): Promise<Timed> {
  const { config, task } = order;
  const programs = new DecoderPrograms(engine, config, task.tokens);
  await programs.setWeights(randomWeights(config));
  const prompt = someTokens(task.tokens, config.vocabSize);
  const seconds = await timed(() => programs.prefill(prompt), order);
  await programs.dispose();
  return { seconds };
}

/** Rows that continue from where the last call left them, each step with its cache writes. */
async function decodeSteps(engine: Engine, order: OrderOf<'decode'>): Promise<Timed> {
  const { config, task, warmUp, repeats, packs } = order;
  const { rows, cached, steps } = task;
  const context = cached + (warmUp + repeats) * steps;
  const programs = new DecoderPrograms(engine, config, context, { packs });
  await programs.setWeights(randomWeights(config));
  const capacity = Math.ceil(context / 16) * 16;
  const cache = new KvCache({ ...programs.kvShape, capacity }, rows);
  const prefix = await programs.prefill(someTokens(cached, config.vocabSize));
  for (let row = 0; row < rows; row++) cache.load(row, prefix);

  const positions = new Int32Array(rows).fill(cached);
  const random = new KeyedRng(1, 'bench');
  let tokens: Int32Array = new Int32Array(rows);
  /** Where several steps are one run, as the generator does them. */
  const severalSteps = async (count: number): Promise<void> => {
    const fed = new Int32Array(count * rows).fill(-1);
    fed.set(tokens);
    const uniforms = Float32Array.from({ length: count * rows }, () => random.uniform());
    const temperatures = new Float32Array(rows).fill(1);
    const inputs = { tokens: fed, positions, uniforms, temperatures };
    const { next, fresh } = await programs.steps(inputs, cache);
    for (let row = 0; row < rows; row++) {
      const position = positions[row]!;
      cache.load(row, rowOf(fresh, { rows, row, length: count }), position);
      positions[row] = position + count;
    }
    tokens = next.slice(-rows);
  };
  const oneStep = async (): Promise<void> => {
    const taken = Int32Array.from({ length: programs.tokensOf(rows) }, (_, i) => i % rows);
    const fed = taken.map((row) => tokens[row]!);
    const drawnAfter = Int32Array.from({ length: programs.drawsOf(rows) }, (_, i) => i % rows);
    const uniforms = Float32Array.from(drawnAfter, () => random.uniform());
    const temperatures = new Float32Array(drawnAfter.length).fill(1);
    const { next, fresh } = await programs.step(
      { width: 1, tokens: fed, taken, positions, drawnAfter, uniforms, temperatures },
      { cache, wholeRows: false },
    );
    cache.write(fresh, positions);
    for (let row = 0; row < rows; row++) positions[row] = positions[row]! + 1;
    tokens = next.slice(0, rows);
  };
  const seconds = await timed(async () => {
    const { stepsAtOnce } = programs;
    for (let done = 0; done < steps; done += stepsAtOnce)
      await (stepsAtOnce > 1 ? severalSteps(Math.min(stepsAtOnce, steps - done)) : oneStep());
  }, order);
  await programs.dispose();
  return { seconds };
}
