import { cpSync } from 'node:fs';
import { join } from 'node:path';

import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';

import { trainAgent } from '#agent_rl/jobs/train-agent.ts';
import { readJson } from '../support/acme-project.ts';
import {
  differenceOverSeeds,
  shownRuns,
  type TrainedRun,
  trainedRun,
} from '../support/four-ways.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { startSkyrl } from '../support/tinker/skyrl-server.ts';
import { servable, startVllm, vllmProgram } from '../support/vllm/real-vllm.ts';

// The search job four ways: in this process; vLLM draws; SkyRL learns; both. Twelve iterations of each seed of AGENT_RL_SEEDS
// ("1,2,3"), which takes an hour or two; AGENT_RL_WAYS names some of the ways. Of the environment see `vllm.test.ts` and
// `tinker.test.ts`.

const { AGENT_RL_SEEDS = '1,2,3', AGENT_RL_WAYS = 'here,vllm,tinker,both' } = process.env;
const seeds = AGENT_RL_SEEDS.split(',').map(Number);
const ways = AGENT_RL_WAYS.split(',');

const folder = temporaryFolder();
const starter = 'model/search-starter';
const [tied, served] = [join(folder, 'starter'), join(folder, 'served')];
const running: { kill(): Promise<void> }[] = [];
const runs: TrainedRun[] = [];

beforeAll(async () => {
  cpSync(starter, tied, { recursive: true });
  await servable(starter, served);
});
// Of the next way there are others: two SkyRLs on one database would answer for each other.
afterEach(async () => {
  for (const server of running.splice(0)) await server.kill();
});
afterAll(() => {
  process.stderr.write(`${shownRuns(runs)}\n`);
});

async function vllm(adapters: boolean): Promise<object> {
  const more = ['--max-num-seqs', '96'];
  if (adapters) more.push('--enable-lora', '--max-lora-rank', '8', '--max-loras', '2');
  const log = join(folder, `vllm-${String(adapters)}.log`);
  const server = await startVllm(vllmProgram(folder), served, { log, more });
  running.push(server);
  await server.ready;
  return { 'generator.urls': [server.url], 'generator.requestsAtOnce': 96 };
}

async function skyrl(): Promise<object> {
  const server = await startSkyrl(tied, join(folder, 'skyrl'));
  running.push(server);
  return { 'learner.url': server.url, 'learner.patienceS': 900 };
}

/** Of each way its recipe, and the settings that its servers need. */
const blocks: Readonly<Record<string, readonly [string, () => Promise<object>]>> = {
  here: ['search_qa_grpo.yaml', async () => ({})],
  vllm: ['recipes/search_vllm.yaml', () => vllm(false)],
  tinker: ['recipes/search_tinker.yaml', skyrl],
  both: [
    'recipes/search_vllm_tinker.yaml',
    async () => ({ ...(await vllm(true)), ...(await skyrl()) }),
  ],
};

test.each(ways)('%s: each seed trains, and generator and learner agree', async (way) => {
  const [config, servers] = blocks[way]!;
  const started = await servers();
  for (const seed of seeds) {
    const ended = await trainAgent({
      config: join('configs', config),
      overrides: {
        'run.seed': seed,
        'run.name': `${way}-${seed}`,
        'run.outputDir': process.env['AGENT_RL_RUNS'] ?? join(folder, 'runs'),
        'train.iterations': 12,
        ...started,
      },
    });
    const run = await trainedRun(String(ended['run']), { way, seed });
    runs.push(run);
    process.stderr.write(`${shownRuns([run])}\n`);
    expect(readJson(String(ended['run']), 'summary.json')['interrupted']).toBe(false);
    // Of a quarter of a million tokens; the run itself stops beyond train.parityBound.
    expect(run.maxGap).toBeLessThan(1e-3);
    expect(run.meanGap).toBeLessThan(1e-5);
    expect(run.after).toBeGreaterThan(run.before);
  }
});

const compared = ['here', 'vllm'] as const;
const withBoth = compared.every((way) => ways.includes(way)) ? describe : describe.skip;

withBoth('this process and vLLM', () => {
  test('the four ways learn equally well, paired by task over all seeds', () => {
    const difference = differenceOverSeeds(runs, compared);
    process.stderr.write(`vllm less here, over seeds: ${JSON.stringify(difference)}\n`);
    expect(difference.low).toBeLessThan(0);
    expect(difference.high).toBeGreaterThan(0);
    expect(difference.high - difference.low).toBeLessThan(0.1);
  });
});
