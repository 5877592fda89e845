import { expect, test } from '@jest/globals';

import type { OnnxEngine } from '#agent_rl/engine/onnx-engine.ts';
import { LocalGenerator } from '#agent_rl/generation/local-generator.ts';
import {
  DecoderPrograms,
  type DecoderProgramsOptions,
} from '#agent_rl/generation/programs/decoder-programs.ts';
import type { Weights } from '#model/config/parameters.ts';
import { plainAndCopying } from '#tests/support/copying-engine.ts';
import { request } from '#tests/support/generation-request.ts';
import { tinyAdapter, tinyAdapterWeights } from '#tests/support/tiny-adapter.ts';
import { peakedOf } from '#tests/support/tiny-generator.ts';
import { tinyModelConfig } from '#tests/support/tiny-model.ts';

const { plain, copying } = plainAndCopying();

/** Large, so that distributions are peaked and other weights draw other tokens. */
const baseOf = (seed: number): Weights => peakedOf(tinyModelConfig, { seed, times: 8 });
const names = [...baseOf(3).keys()];
const adapterTimes = (factor: number) =>
  [...tinyAdapterWeights(tinyModelConfig)].map(
    ([name, values]) => [name, values.map((value) => factor * value)] as const,
  );

function openOn(engine: OnnxEngine, options: DecoderProgramsOptions = {}) {
  const config = { ...tinyModelConfig, adapters: [tinyAdapter] };
  const programs = new DecoderPrograms(engine, config, 64, options);
  return { programs, generator: new LocalGenerator(programs, { rows: 2, maxContextTokens: 64 }) };
}

async function drawnBy(generator: LocalGenerator, seed: number) {
  const key = { seed, taskId: 'task', sample: 0, turn: 0 };
  const asked = { key, tokens: [1, 5, 9, 3, 7], maxTokens: 24 };
  const { tokens, version } = await generator.generate(request(`${seed}`, asked));
  generator.release(`${seed}`);
  return { tokens, version };
}

test('a generator on an engine that copies inputs keeps frozen weights in its programs, draws the same, and recompiles for other weights', async () => {
  const [own, other] = [openOn(copying), openOn(plain)];
  const first = baseOf(3);
  const copied = new Map([...first].map(([name, values]) => [name, values.slice()]));
  const versions = [
    // A prompt and steps.
    { base: first, factor: 1, compiled: [names, names] },
    { base: first, factor: -3, compiled: [] },
    { base: copied, factor: 2, compiled: [] },
    { base: baseOf(4), factor: 2, compiled: [names, names] },
  ];
  const all = new Set<string>();
  for (const [version, { base, factor, compiled }] of versions.entries()) {
    const weights = new Map([...base, ...adapterTimes(factor)]);
    await own.generator.setWeights(weights, version);
    await other.generator.setWeights(weights, version);
    const drawn = await drawnBy(own.generator, version);
    expect(drawn).toEqual(await drawnBy(other.generator, version));
    expect(copying.takeHeld()).toEqual(compiled);
    all.add(drawn.tokens.join(' '));
  }
  expect(all.size).toBe(versions.length);
  await Promise.all([own.programs.dispose(), other.programs.dispose()]);
});

test('a generator on an engine that copies inputs uses the new weights for a request that arrives while old programs are disposed', async () => {
  const [own, other] = [openOn(copying), openOn(plain)];
  const weights = (seed: number) => new Map([...baseOf(seed), ...adapterTimes(1)]);
  await own.generator.setWeights(weights(3), 1);
  const before = await drawnBy(own.generator, 7);
  let goOn = (): void => undefined;
  copying.hold = new Promise((resolve) => (goOn = resolve));
  const set = own.generator.setWeights(weights(4), 2);
  const drawn = await drawnBy(own.generator, 7);
  goOn();
  await set;
  await other.generator.setWeights(weights(4), 2);
  expect(drawn).toEqual(await drawnBy(other.generator, 7));
  expect(drawn.tokens).not.toEqual(before.tokens);
  await Promise.all([own.programs.dispose(), other.programs.dispose()]);
  copying.takeHeld();
});

test('a generator on an engine that copies inputs keeps all weights in its programs when nothing is trained', async () => {
  const { programs, generator } = openOn(copying, { trains: false });
  const weights = new Map([...baseOf(3), ...adapterTimes(1)]);
  await generator.setWeights(weights, 1);
  await drawnBy(generator, 1);
  expect(copying.takeHeld()).toEqual([[...weights.keys()], [...weights.keys()]]);
  await programs.dispose();
});
