import { readFileSync } from 'node:fs';
import { join } from 'node:path';

import { beforeAll, expect, test } from '@jest/globals';

import { packageRoot } from '#agent_rl/core/package-root.ts';
import { keyText } from '#agent_rl/core/rollout.ts';
import type { EpisodeRecord } from '#agent_rl/runs/episodes/read-episodes.ts';
import { sets, succeeded } from '../support/built-program.ts';
import { readJson, readLines } from '../support/acme-project.ts';
import { episodesIn } from '../support/journal.ts';
import { residentProgram } from '../support/resident-program.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

/*
 * Rejection sampling in two commands: the good episodes of a run, imitated.
 */

const folder = temporaryFolder();
const program = residentProgram('agent-rl');
const runs = join(folder, 'runs');
const smoke = join(packageRoot(), 'configs', 'code_exec_smoke.yaml');
const run = (name: string): string => join(runs, name);
const agentRl = async (...words: string[]) => succeeded(await program(words, folder));
const named = (name: string): string[] => ['--output', runs, '--set', `run.name=${name}`];

type Episode = Pick<EpisodeRecord, 'success' | 'sequences'>;

/** What sampling its tokens cost an episode, in nats. */
const surprisal = ({ sequences: [sequence] }: Episode) => {
  const { spans = [], logProbs = [] } = sequence ?? {};
  const sampled = spans.filter(({ source }) => source === 'sampled');
  const values = sampled.flatMap(({ start, end }) => logProbs.slice(start, end));
  return { tokens: values.length, nats: -values.reduce((sum, value) => sum + value, 0) };
};

beforeAll(async () => {
  const quick = sets('eval.before=false', 'eval.after=false', 'rollout.workers=8');
  await agentRl('train', '--config', smoke, '--max-iterations', '1', ...quick, ...named('sampled'));
});

test('demonstrations contain exactly the sampled tokens and the tools of each episode, and train a model', async () => {
  const said = await agentRl('runs', 'demonstrations', run('sampled'), '--min-reward=-9');
  const file = join(run('sampled'), 'demonstrations', 'train.jsonl');
  const rows = readLines(file);
  expect(said).toContain(`${rows.length} demonstrations of 2 tasks: ${file}`);
  expect(rows[0]).toMatchObject({
    tools: [{ function: { name: 'code_exec' } }],
    metadata: { run: 'sampled' },
  });

  // The second command is the one that the first names. It has another tool, which rows do without.
  const command = /To train on them: agent-rl (sft .*)/.exec(said)?.[1]?.split(' ') ?? [];
  const settings = ['--max-iterations', '1', '--set', `train.batchSize=${rows.length}`];
  await agentRl(...command, ...settings, '--set', 'tools.1.type=calculator', ...named('imitated'));
  const taken = new Set(rows.map(({ metadata }) => (metadata as { episode: string }).episode));
  const episodes = await episodesIn(run('sampled'), 'train');
  const costs = episodes.filter((one) => taken.has(keyText(one))).map(surprisal);
  const [tokens, nats] = [costs.map((cost) => cost.tokens), costs.map((cost) => cost.nats)].map(
    (values) => values.reduce((sum, value) => sum + value, 0),
  );
  // Sampled at temperature 1 from the weights that supervised training begins with.
  expect(readJson(run('imitated'), 'summary.json')['loss']).toBeCloseTo(nats! / tokens!, 5);
  expect(readFileSync(join(run('imitated'), 'report.html'), 'utf8')).toContain(
    `Supervised training on ${rows.length} conversations`,
  );
});
