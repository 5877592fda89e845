import { join } from 'node:path';

import { beforeAll, expect, test } from '@jest/globals';

import { drawnMasks, maskOf } from '#agent_rl/core/transcript.ts';
import { score } from '#agent_rl/jobs/token-files/score.ts';
import { trainAgent } from '#agent_rl/jobs/train-agent.ts';
import { readLines } from '../support/acme-project.ts';
import { delayedAgent } from '../support/delayed-agent.ts';
import { episodesIn } from '../support/journal.ts';
import { writeSmallModel } from '../support/small-model.ts';
import { temporaryFolder, writeBelow } from '../support/temporary-folder.ts';

/*
 * An agent with parallel branches, a sub-agent and a history that it prunes, which takes another time at each request.
 */

const folder = temporaryFolder();
const model = join(folder, 'model');
beforeAll(() => writeSmallModel(model));

const tasks = Array.from({ length: 4 }, (_, index) => ({
  prompt: `Question ${index}`,
  answer: String(index),
}));

async function trainedBy(workers: number) {
  const summary = await trainAgent({
    model,
    tasks,
    agent: ({ task, fetch }) => delayedAgent({ task, fetch, mostMs: 6 }),
    // Texts of a model that has learned nothing yet differ in this at least.
    reward: ({ answer }) => (String(answer).length % 7) / 7,
    quiet: true,
    overrides: {
      'run.name': `workers-${workers}`,
      'run.outputDir': folder,
      'run.engineThreads': 1,
      'rollout.workers': workers,
      'rollout.tasksPerStep': 2,
      'rollout.groupSize': 4,
      'policy.maxTurnTokens': 8,
      'policy.maxContextTokens': 500,
      'rollout.maxEpisodeTokens': 500,
      'train.iterations': 2,
      'train.warmupSteps': 0,
      'eval.before': false,
      'eval.after': false,
    },
  });
  return summary as Record<string, unknown>;
}

/** What was played, but for how long it took. */
const playedIn = async ({ run }: Record<string, unknown>) =>
  (await episodesIn(String(run), 'train')).map(({ seconds: _seconds, run: _run, ...rest }) => rest);

/** Of each token but the first, by what scores token files. */
async function scored(ids: readonly (readonly number[])[]): Promise<number[][]> {
  const output = join(folder, 'scored.jsonl');
  const text = ids.map((one) => JSON.stringify({ ids: one })).join('\n');
  await score({
    model,
    device: 'cpu',
    engineThreads: 1,
    input: writeBelow(folder, 'ids.jsonl', text),
    output,
    batchTokens: 4096,
    signal: new AbortController().signal,
    print: () => undefined,
  });
  return readLines(output).map(({ logprobs }) => logprobs as number[]);
}

test('workers and delays change neither weights nor records, and every token is accounted for', async () => {
  const one = await trainedBy(1);
  const lines = await playedIn(one);
  expect(lines).toHaveLength(16);
  for (const workers of [8, 64]) {
    const other = await trainedBy(workers);
    expect(await playedIn(other)).toEqual(lines);
    expect(other['weightsSha256']).toBe(one['weightsSha256']);
    expect(other['ledger']).toEqual(one['ledger']);
  }
  // Three branches, a sub-agent, and the two histories that follow.
  for (const { sequences } of lines) expect(sequences).toHaveLength(6);

  const booked = Object.values(one['ledger'] as Record<string, number>);
  const drawn = lines.flatMap(({ sequences, undelivered }) =>
    drawnMasks(sequences)
      .flatMap((mask) => Array.from(mask))
      .concat(Array<number>(undelivered).fill(1)),
  );
  const sampled = drawn.reduce((sum, is) => sum + is, 0);
  expect(booked.reduce((sum, tokens) => sum + tokens, 0)).toBe(sampled);
  expect((one['generation'] as { sampledTokens: number }).sampledTokens).toBe(sampled);

  // The first iteration was sampled by the weights of the folder.
  const first = lines.filter(({ iteration }) => iteration === 1).flatMap((line) => line.sequences);
  const scores = await scored(first.map(({ tokens }) => tokens));
  const gaps = first.flatMap((sequence, index) =>
    Array.from(maskOf(sequence, 'sampled'), (is, at) =>
      is === 1 ? Math.abs(sequence.logProbs[at]! - scores[index]![at]!) : 0,
    ),
  );
  expect(gaps.filter((gap) => gap > 0).length).toBeGreaterThan(200);
  expect(Math.max(...gaps)).toBeLessThan(1e-4);
});
