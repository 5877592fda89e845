import { join } from 'node:path';

import { beforeAll, describe, expect, test } from '@jest/globals';

import { packageRoot } from '#agent_rl/core/package-root.ts';
import { residentProgram } from '../support/resident-program.ts';
import { temporaryFolder, writeBelow } from '../support/temporary-folder.ts';
import { sets, succeeded } from '../support/built-program.ts';

/*
 * Runs that are broken on purpose and a healthy one: explain names the cause of each.
 */

const folder = temporaryFolder();
const program = residentProgram('agent-rl');
const runs = join(folder, 'runs');
const smoke = join(packageRoot(), 'configs', 'code_exec_smoke.yaml');

const agentRl = async (...words: string[]) => succeeded(await program(words, folder));

/** Two iterations of 8 episodes with the starter model. */
async function trained(name: string, ...words: string[]): Promise<void> {
  const short = ['eval.before=false', 'eval.after=false', 'rollout.workers=8'];
  const named = sets(`run.name=${name}`, ...short);
  await agentRl('train', '--config', smoke, '--output', runs, ...named, ...words);
}

interface Finding {
  check: string;
  verdict: string;
  tries?: string[];
  episode?: string;
}

async function explained(name: string): Promise<Finding[]> {
  const told = await agentRl('runs', 'explain', join(runs, name), '--json');
  return (JSON.parse(told) as { findings: Finding[] }).findings;
}

const kinds = new Set(['constant-reward', 'unread-calls', 'masked']);

const flat = `
import { reward } from 'agent_rl/plugin';
export const flat = reward({ name: 'flat', description: 'Pays the same for everything' })(() => 0.5);
`;

beforeAll(async () => {
  await trained('well');
  const flatOnly = sets('rewards.0.type=flat', 'algorithm.environmentWeight=0');
  await trained('constant', '--plugin', writeBelow(folder, 'flat.ts', flat), ...flatOnly);
}, 300_000);

describe('The command agent-rl runs explain', () => {
  test('finds none of these causes in a healthy run', async () => {
    const found = (await explained('well')).filter(({ check }) => kinds.has(check));
    expect(found.map(({ verdict }) => verdict)).toEqual(['ok', 'ok', 'ok']);
  });

  test('finds a reward that is always the same', async () => {
    const [first] = await explained('constant');
    expect(first).toMatchObject({
      check: 'constant-reward',
      verdict: 'wrong',
      says: expect.stringContaining('all 16 episodes have the reward 0.5'),
    });
    expect(first?.tries?.join()).toContain('algorithm.environmentWeight (now 0)');
    // It can be looked at.
    const run = join(runs, 'constant');
    const shown = await agentRl('runs', 'show', run, '--episode', first?.episode ?? '');
    expect(shown).toContain('reward 0.50');
  });
});

test('agent-rl runs compare finds where two runs diverge', async () => {
  const [well, constant] = [join(runs, 'well'), join(runs, 'constant')];
  const same = await agentRl('runs', 'compare', well, constant, '--json');
  // The first iteration is sampled from the same weights and paid otherwise.
  const { parting } = JSON.parse(same) as { parting: { first: { batch: string; event: string } } };
  expect(parting.first).toMatchObject({
    batch: 'train 1',
    event: expect.stringMatching(/^rollout /),
  });
});
