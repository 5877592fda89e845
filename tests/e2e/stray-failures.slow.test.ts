import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

import { beforeAll, describe, expect, test } from '@jest/globals';

import { corruption } from '#agent_rl/runs/checkpoints.ts';
import { makeAcmeProject, readJson, readLines } from '../support/acme-project.ts';
import { builtProgram, sets, startProgram, succeeded } from '../support/built-program.ts';
import { temporaryFolder, writeBelow } from '../support/temporary-folder.ts';

/*
 * Plugins that fail where nothing of ours can catch it. The program ends with 1 and one line that hides secrets.
 */

const project = temporaryFolder();
const canary = 'canary-5b1c9e77';
const environment = { ...process.env, MY_API_TOKEN: canary };
const ran = (...args: string[]) => builtProgram('agent-rl', args, project, environment);

/** A reward that does something at its n-th call. */
const reward = (name: string, at: number, what: string): string => `
import { reward } from 'agent_rl/plugin';
let calls = 0;
export const ${name} = reward({ name: '${name}', description: 'Fails beside the point.' })(() => {
  calls += 1;
  if (calls === ${at}) ${what};
  return calls % 2;
});
`;
const boom = `new Error('refused\\n  for ' + process.env.MY_API_TOKEN)`;

beforeAll(async () => {
  await makeAcmeProject(project);
  writeBelow(project, 'rejects.ts', reward('rejects', 20, `void Promise.reject(${boom})`));
  writeBelow(project, 'throws.ts', reward('throws', 20, `setTimeout(() => { throw ${boom}; })`));
  writeBelow(
    project,
    'at-import.ts',
    `${reward('early', 1, '{}')}\nvoid Promise.reject(${boom});\n`,
  );
});

const run = (name: string): string => join(project, 'runs', name);
const withReward = (name: string): string[] => [
  ...`train --config train.yaml --plugin ./${name}.ts --max-iterations 20`.split(' '),
  ...sets(`rewards.1.type=${name}`, 'rewards.1.weight=1', `run.name=${name}`),
  ...sets('eval.before=false', 'eval.after=false'),
];

describe('A stray failure in a run', () => {
  test.each([
    ['rejects', 'A promise was rejected and nothing awaited it'],
    ['throws', 'An error was thrown where nothing could catch it'],
  ])(
    'ends it at the next safe point with a log and a checkpoint: a reward that %s',
    async (name, what) => {
      const { code, stdout, stderr } = ran(...withReward(name));
      expect({ code, stderr: code === 1 ? '' : stderr }).toEqual({ code: 1, stderr: '' });
      expect(stderr).toMatch(
        new RegExp(`^UNEXPECTED: ${what}: refused for \\[redacted\\] \\(at .*${name}\\.ts`, 'm'),
      );
      expect(stderr).not.toMatch(/\n\s+at /);
      const log = readFileSync(join(run(name), 'run.log'), 'utf8');
      expect(log).toMatch(/error The run ended: StrayFailure: .*refused for \[redacted\]/);
      expect(stdout + stderr + log).not.toContain(canary);
      // The 20th of 8 episodes an iteration is in the third: the first two are kept.
      expect(readLines(run(name), 'metrics.jsonl').length).toBeGreaterThanOrEqual(2);
      expect(await corruption(join(run(name), 'checkpoints', 'step-2'))).toBeUndefined();
      expect(existsSync(join(run(name), 'summary.json'))).toBe(false);
      expect(existsSync(join(run(name), 'run.lock'))).toBe(false);
    },
  );
});

test('stray failures of a tracker do not fail the run, which reports what was not recorded', () => {
  writeBelow(
    project,
    'careless.ts',
    `
import { type TrackedEvent, tracker } from 'agent_rl/plugin';
export const careless = tracker({ name: 'careless', description: 'Fails in every way.' })(
  async ({ type }: TrackedEvent) => {
    if (type === 'start') void Promise.reject(${boom});
    if (type === 'iteration') setTimeout(() => { throw ${boom}; });
    if (type === 'checkpoint') throw ${boom};
  },
);
`,
  );
  const ended = ran(
    ...'train --config train.yaml --plugin ./careless.ts --max-iterations 2'.split(' '),
    ...sets('trackers.0.type=careless', 'run.name=careless', 'eval.before=false'),
    ...sets('eval.after=false'),
  );
  const stdout = succeeded(ended);
  const { stderr } = ended;
  const { trackers } = readJson(run('careless'), 'summary.json');
  // Told of: start, two iterations with a checkpoint each, summary, end.
  expect(trackers).toEqual({ careless: { recorded: 5, failed: 2, lost: 0, escaped: 3 } });
  expect(stderr).toMatch(/^Tracker "careless": .*refused for \[redacted\].* Training continues/m);
  expect(stdout + stderr).not.toContain(canary);
});

test('a stray failure before the run is reported in one line', () => {
  const { code, stderr } = ran('plugins', '--plugin', './at-import.ts', '--json');
  expect(code).toBe(1);
  expect(stderr).toMatch(/^UNEXPECTED: .*refused for \[redacted\]/);
  expect(stderr).not.toMatch(/\n\s+at /);
});

test('Ctrl-C during start-up ends the command and leaves no run', async () => {
  writeBelow(
    project,
    'waits.ts',
    "console.log('Opening.');\nawait new Promise((resolve) => setTimeout(resolve, 20_000));\n",
  );
  const args = 'train --config train.yaml --plugin ./waits.ts --set run.name=early'.split(' ');
  const program = startProgram('agent-rl', args, project);
  await program.wrote(/Opening\./);
  program.interrupt();
  const { code, stderr } = await program.ended;
  expect({ code, stderr }).toEqual({ code: 130, stderr: expect.stringContaining('INTERRUPTED') });
  expect(existsSync(run('early'))).toBe(false);
});
