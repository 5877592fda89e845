import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

import { expect, test } from '@jest/globals';

import { packageRoot } from '#agent_rl/core/package-root.ts';
import { readJson } from '../support/acme-project.ts';
import { builtProgram, type Ended, sets } from '../support/built-program.ts';
import { eventsOf } from '../support/journal.ts';
import { temporaryFolder, writeBelow } from '../support/temporary-folder.ts';

/*
 * A generator that draws other tokens each time it is asked, as a server does: what it drew before the run was killed is
 * taken from its record.
 */

const folder = temporaryFolder();
const source = join(packageRoot(), 'dist', 'agent_rl', 'plugin.js');
const asked = join(folder, 'asked.jsonl');

writeBelow(
  folder,
  'dice.ts',
  `import { randomInt } from 'node:crypto';
import { appendFileSync, existsSync, writeFileSync } from 'node:fs';
import { generator } from '${source}';

let draws = 0;
export const dice = generator({
  name: 'dice',
  description: 'The engine with hidden keys.',
  engine: true,
})(async (_settings, host) => {
  const { generator: inner } = await host.engine();
  let version = 0;
  return {
    describe: async () => ({ ...(await inner.describe()), reproducible: false }),
    async generate(request, signal) {
      const { key, tokens } = request;
      if (!key.taskId.startsWith('speed'))
        appendFileSync('${asked}', JSON.stringify([version, key, tokens]) + '\\n');
      const drawn = await inner.generate({ ...request, key: { ...key, seed: randomInt(2 ** 32) } }, signal);
      if (version > 0) draws += 1;
      if (process.env['DIE_AFTER'] === String(draws)) process.kill(process.pid, 'SIGKILL');
      return drawn;
    },
    release: (episode) => inner.release(episode),
    use: async (weights, signal) => {
      ({ version } = weights);
      await inner.use?.(weights, signal);
    },
    close: async () => undefined,
  };
});
`,
);

const train = (args: readonly string[], env: NodeJS.ProcessEnv = {}): Ended =>
  builtProgram('agent-rl', ['train', ...args], folder, { ...process.env, ...env });

const config = [
  '--config',
  join(packageRoot(), 'configs', 'code_exec_smoke.yaml'),
  ...sets('eval.before=false', 'eval.after=false', 'checkpoint.every=1', 'run.engineThreads=1'),
];

const weightsOf = (run: string) => readJson(folder, run, 'summary.json')['weightsSha256'];

test('a killed run requests no token twice, and replaying its tokens gives its weights', async () => {
  const run = sets('plugins=["./dice.ts"]', 'generator.type=dice');
  const named = (name: string) => [...sets(`run.name=${name}`), '--output', folder];
  // In the second iteration, whose episodes the weights of the first update draw.
  const killed = train([...config, ...run, ...named('killed')], { DIE_AFTER: '6' });
  expect(killed.code).toBeNull();
  expect(existsSync(join(folder, 'killed', 'checkpoints', 'step-1'))).toBe(true);
  const asksOf = (): string[] => readFileSync(asked, 'utf8').trim().split('\n');
  const before = asksOf();

  const recorded = (await eventsOf(join(folder, 'killed'))).filter(
    ({ type, iteration }) => type === 'generation' && iteration === 2,
  ).length;
  expect(recorded).toBeGreaterThan(0);

  const resumed = train(['--resume', join(folder, 'killed')]);
  expect(resumed).toMatchObject({ code: 0 });
  expect(`${resumed.stdout}${resumed.stderr}`).toContain('Taken from the journal: ');
  const lines = asksOf();
  expect(lines.length).toBeGreaterThan(before.length);
  // What was drawn is asked for once. What was under way when the process was killed had given nothing and is asked for again.
  const openIteration = before.filter((line) => line.startsWith('[1,'));
  expect(lines.length - new Set(lines).size).toBe(openIteration.length - recorded);

  const replay = sets('generator.type=replay', `generator.run=${join(folder, 'killed')}`);
  const replayed = train([...config, ...replay, ...named('replayed')]);
  expect(replayed).toMatchObject({ code: 0 });
  expect(weightsOf('replayed')).toBe(weightsOf('killed'));
});
