import { appendFileSync, readFileSync } from 'node:fs';
import path from 'node:path';

import { greedy } from '#agent_rl/core/services/generator.ts';
import type { TrainDatum } from '#agent_rl/core/services/batch.ts';
import type { LossSpec } from '#agent_rl/core/services/learner.ts';
import type { Engine } from '#agent_rl/engine/engine.ts';
import { DecoderPrograms } from '#agent_rl/generation/programs/decoder-programs.ts';
import { LocalGenerator } from '#agent_rl/generation/local-generator.ts';
import { LocalLearner } from '#agent_rl/learner/local-learner.ts';
import type { LoadedModel } from '#model/weights/load-model.ts';
import { SafetensorsFile } from '#model/weights/safetensors.ts';
import { clippedSpec } from './algorithm-parts.ts';
import { cpuEngine } from './cpu-engine.ts';
import { request } from './generation-request.ts';

/** Tiny models, and what Python's transformers, PEFT and TRL compute with them; see its README. */
export const huggingFaceFolder = path.resolve('tests/fixtures/hugging-face');

export const storedJson = (...place: string[]): unknown =>
  JSON.parse(readFileSync(path.join(huggingFaceFolder, ...place), 'utf8'));

/** Every tensor of a file, by name. */
export async function storedTensors(...place: string[]): Promise<Map<string, Float32Array>> {
  const file = await SafetensorsFile.open(path.join(huggingFaceFolder, ...place));
  try {
    const tensors = new Map<string, Float32Array>();
    for (const entry of file.entries) tensors.set(entry.name, await file.readFloats(entry));
    return tensors;
  } finally {
    await file.close();
  }
}

/** An engine that the tests of a file share, and the learners that it computes for. */
export function sharedEngine() {
  const engine = cpuEngine();
  type Args = ConstructorParameters<typeof LocalLearner>;
  const learnerOf = (config: Args[1], parameters: Args[2], adapter?: Args[3]['adapter']) =>
    new LocalLearner(engine, config, parameters, {
      microBatchTokens: 2048,
      ...(adapter && { adapter }),
    });
  return { engine: () => engine, learnerOf };
}

/** The sequences that every stored model has scored. */
const scoredSequences = (): Int32Array[] =>
  (storedJson('sequences.json') as number[][]).map((ids) => Int32Array.from(ids));

/** The micro-batch that the stored gradients are of. */
export function storedBatch(tensors: ReadonlyMap<string, Float32Array>): TrainDatum[] {
  const rows = [...tensors.keys()].filter((name) => /^batch\.\d+\.tokens$/.test(name)).length;
  return Array.from({ length: rows }, (_, i) => {
    const column = (name: string) => tensors.get(`batch.${i}.${name}`)!;
    const [weights, advantages] = [column('weights'), column('advantages')];
    const logProbs = { oldLogProbs: column('oldLogProbs'), refLogProbs: column('refLogProbs') };
    return { tokens: Int32Array.from(column('tokens')), weights, advantages, ...logProbs };
  });
}

export const storedLoss = (
  stored: Record<'clipLow' | 'clipHigh' | 'klWeight' | 'temperature', number>,
): LossSpec =>
  clippedSpec(stored.clipLow, stored.clipHigh, {
    kl: { kind: 'k3', weight: stored.klWeight },
    temperature: stored.temperature,
  });

/** Of all sequences one after the other, each without its first token, which nothing predicts. */
export async function logProbsOf(learner: LocalLearner): Promise<Float32Array> {
  const scored = await learner.forward(scoredSequences(), { temperature: 1, which: 'policy' });
  return Float32Array.from(scored.flatMap((values) => Array.from(values.subarray(1))));
}

/** Largest |difference|; NaN when any difference is, or the lengths differ. */
export function largestDifference(own: ArrayLike<number>, stored: ArrayLike<number>): number {
  if (own.length !== stored.length) return Number.NaN;
  const gaps = Float64Array.from(own, (value, i) => Math.abs(value - stored[i]!));
  // Math.max keeps NaN.
  return gaps.reduce((most, gap) => Math.max(most, gap), 0);
}

/** Norm of the difference over the norm of the stored values. */
export function relativeDifference(own: Float32Array | undefined, stored: Float32Array): number {
  if (own?.length !== stored.length) return Number.NaN;
  const norm = (values: Float32Array) => Math.hypot(...values);
  return norm(own.map((value, i) => value - stored[i]!)) / norm(stored);
}

/** Greedy continuations, all prompts at once. */
export async function greedyTokens(
  engine: Engine,
  { config, parameters }: LoadedModel,
  prompts: readonly (readonly number[])[],
): Promise<(readonly number[])[]> {
  const maxContextTokens = 64 + Math.max(...prompts.map(({ length }) => length));
  const programs = new DecoderPrograms(engine, config, maxContextTokens);
  const generator = new LocalGenerator(programs, { rows: prompts.length, maxContextTokens });
  await generator.setWeights(parameters, 0);
  const generations = await Promise.all(
    prompts.map((tokens, i) =>
      generator.generate(request(`prompt ${i}`, { tokens, maxTokens: 64, sampling: greedy })),
    ),
  );
  await programs.dispose();
  return generations.map(({ tokens }) => tokens);
}

/** With the environment variable PARITY_REPORT, adds what was measured to that file, a JSON object to the line. */
export function report(measured: Readonly<Record<string, unknown>>): void {
  const file = process.env['PARITY_REPORT'];
  if (file !== undefined) appendFileSync(file, `${JSON.stringify(measured)}\n`);
}
