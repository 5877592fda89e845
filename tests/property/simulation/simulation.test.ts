import { expect, test } from '@jest/globals';

import { KeyedRng } from '#agent_rl/core/keyed-rng.ts';
import { type KilledSimulation, simulate } from './simulated-run.ts';

const seeds = 200;

/** The sleeps of a run that is not killed. */
const about = 170;

function simulationOf(seed: number): KilledSimulation {
  const random = new KeyedRng('simulation', seed);
  const kills = Array.from({ length: 1 + random.integer(2) }, () => 1 + random.integer(about));
  return {
    seed,
    lag: seed % 2 === 0 ? 0 : 1,
    versionsAtOnce: seed % 4 === 1 ? 1 : 2,
    evaluates: seed % 8 < 2,
    replays: random.pick(['from-results', 'again'] as const),
    kills,
  };
}

test(`${seeds} runs that are killed at any place end with the weights of a run that is not`, async () => {
  const whole = new Map<string, string>();
  for (let seed = 0; seed < seeds; seed++) {
    const simulation = simulationOf(seed);
    const name = `${simulation.lag} ${seed % 3}`;
    const alone = whole.has(name) ? undefined : await simulate({ ...simulation, kills: [] });
    if (alone !== undefined) whole.set(name, alone.weights);
    const { weights, broken } = await simulate(simulation);
    const found = [...broken, ...(alone?.broken ?? [])];
    expect({ seed, found, weights }).toEqual({ seed, found: [], weights: whole.get(name) });
  }
  // Neither when something ends nor how often there are checkpoints changes what is learned, but the lag does.
  expect(new Set(whole.values()).size).toBe(2);
});
