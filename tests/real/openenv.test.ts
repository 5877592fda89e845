import { execFileSync } from 'node:child_process';
import { join } from 'node:path';

import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';

import type { ToolMessage } from '#agent_rl/core/message.ts';
import { packageRoot } from '#agent_rl/core/package-root.ts';
import { serveEnvironment } from '#agent_rl/jobs/serve/serve-environment.ts';
import { prepareRun } from '#agent_rl/compose/prepare-run.ts';
import { closedAfterEach } from '../support/closed-after-each.ts';
import { freePort } from '../support/free-port.ts';
import { openEnvEpisodes } from '../support/openenv-episodes.ts';
import type { Script } from '../support/scripted-policy.ts';
import { says } from '../support/scripted-policy.ts';
import { pythonWith, type RealServer, startServer } from '../support/real-server.ts';
import { temporaryFolder, writeBelow } from '../support/temporary-folder.ts';

// Servers and the client of the package openenv: `npm run test:real -- openenv`. AGENT_RL_OPENENV_PYTHON names a Python of 3.12 or
// newer that has it.

const folder = temporaryFolder();
const python = pythonWith('AGENT_RL_OPENENV_PYTHON', folder, ['openenv==0.10.0']);
const fixtures = join(packageRoot(), 'tests', 'fixtures', 'openenv');
const servers: RealServer[] = [];

async function serverOf(app: string, dir: string): Promise<string> {
  const port = await freePort();
  const server = startServer(`http://127.0.0.1:${port}`, {
    words: [python, '-m', 'uvicorn', app, '--app-dir', dir, '--port', String(port)],
    log: join(folder, `${app}.log`),
    env: { PYTHONPATH: folder },
  });
  servers.push(server);
  await server.ready;
  return server.url;
}

const urls = { echo: '', guessing: '', notes: '' };
beforeAll(async () => {
  execFileSync(python, ['-m', 'openenv.cli', 'init', 'echo_game'], { cwd: folder });
  urls.echo = await serverOf('server.app:app', join(folder, 'echo_game'));
  urls.guessing = await serverOf('server:guessing', fixtures);
  urls.notes = await serverOf('server:notes', fixtures);
});
afterAll(() => Promise.all(servers.map((server) => server.kill())));
const opened = closedAfterEach();

/** Halves what is left by the hints. */
const halving: Script = (_, heard) => {
  let [low, high] = [1, 10];
  let guess = 5;
  for (const { content } of heard.filter(({ role }) => role === 'tool')) {
    if (content === 'Higher.') low = guess + 1;
    else high = guess - 1;
    guess = Math.floor((low + high) / 2);
  }
  return { message: says('', ['act', { number: guess }]) };
};
const hundred = Array.from({ length: 100 }, (_, seed) => seed);

describe('A server of the package openenv', () => {
  test('has 100 episodes played by actions, the same for a seed, with eight sessions for all at once', async () => {
    const told: string[] = [];
    const server = await openEnvEpisodes(
      urls.guessing,
      { solvedAt: 0.5 },
      { warn: (text) => told.push(text) },
    );
    opened.push(server);
    const started = performance.now();
    const all = await Promise.all(
      hundred.map((seed) => server.episode({ script: halving }, { seed })),
    );
    process.stderr.write(
      `100 episodes, 8 sessions: ${((performance.now() - started) / 1000).toFixed(1)} s, ${server.server.report()['waits']} waits\n`,
    );
    expect(told).toEqual([
      expect.stringMatching(/has no free session; episodes wait up to 600 s\.$/),
    ]);
    const rewards = all.map(({ episode }) => episode.reward);
    for (const { episode } of all) {
      const { turns, record, reward = 0 } = episode;
      expect(episode).toMatchObject({ outcome: 'completed', success: true });
      expect(reward).toBeCloseTo(1 - 0.1 * (turns - 1));
      expect(record).toEqual({ openenv: { episode_id: null, step_count: turns } });
    }
    expect(server.server.report()).toMatchObject({ episodes: 100 });
    const again = await Promise.all(
      [3, 4].map((seed) => server.episode({ script: halving }, { seed })),
    );
    expect(again.map(({ episode }) => episode.reward)).toEqual(rewards.slice(3, 5));
  });

  test('made by openenv init is played by text, one session after another', async () => {
    const server = await openEnvEpisodes(urls.echo, { show: ['echoed_message'], solvedAt: 1.5 });
    opened.push(server);
    const script: Script = ({ key: { turn } }) => ({ message: says('x'.repeat(8 + turn)) });
    const all = await Promise.all(
      hundred.slice(0, 6).map(() => server.episode({ script, limits: { maxTurns: 2 } })),
    );
    for (const { episode } of all) {
      expect(episode).toMatchObject({ success: true, outcome: 'completed' });
      expect(episode.reward).toBeCloseTo(1.7);
      expect(episode.messages.map(({ content }) => content)).toEqual([
        'Echo Game environment ready!',
        'xxxxxxxx',
        'xxxxxxxx',
        'xxxxxxxxx',
        'xxxxxxxxx',
      ]);
    }
    expect(server.server.report()['waits']).toBeGreaterThan(0);
  });

  test('lists tools, which are called by their names', async () => {
    const server = await openEnvEpisodes(urls.notes);
    opened.push(server);
    expect(server.tools).toMatchObject([{ name: 'note', description: 'Writes a note.' }]);
    const script: Script = ({ key: { turn } }) => ({
      message: turn < 2 ? says('', ['note', { text: `n${turn}` }]) : says('done'),
    });
    const { episode } = await server.episode({ script }, {}, 'Write two notes.');
    const answers = episode.messages.filter((one): one is ToolMessage => one.role === 'tool');
    expect(answers.map(({ content }) => content)).toEqual(['1: n0', '2: n1']);
    expect(episode.messages[0]).toEqual({ role: 'user', content: 'Write two notes.' });
  });

  test('refuses an action in words for the model, and its own error is the tool’s', async () => {
    const server = await openEnvEpisodes(urls.guessing);
    opened.push(server);
    const script: Script = ({ key: { turn } }) => {
      const wrong = { number: 1, sure: 'x' };
      const action = [wrong, { number: -1 }, { number: 1 }][turn];
      return { message: says('', ['act', action ?? {}]) };
    };
    const { episode } = await server.episode({ script, limits: { maxTurns: 3 } });
    const statuses = episode.calls.map(({ status }) => status);
    expect(statuses.slice(0, 2)).toEqual(['rejected', 'error']);
    expect(episode.calls[1]?.problem).toMatch(/EXECUTION_ERROR the number is negative/);
  });

  test('goes in mid-episode: a failure of the infrastructure without a reward', async () => {
    const url = await serverOf('server:guessing', fixtures);
    const server = await openEnvEpisodes(url);
    opened.push(server);
    const script: Script = async ({ key: { turn } }) => {
      if (turn === 1) await servers.at(-1)?.kill();
      return { message: says('', ['act', { number: 0 }]) };
    };
    const { rollout } = await server.episode({ script });
    expect(rollout).toMatchObject({ outcome: 'infrastructure-error', failure: { owner: 'host' } });
    expect(rollout.problem).toMatch(/closed the connection|cannot be reached/);
  });
});

test('The client of the package openenv plays an environment that agent-rl serves', async () => {
  const row = { task_id: 'one', question: 'What is 6 times 7?', answer: '42' };
  writeBelow(folder, 'tasks/train.jsonl', `${JSON.stringify(row)}\n`);
  writeBelow(
    folder,
    'tasks/eval.jsonl',
    `${JSON.stringify({ ...row, task_id: 'two', question: 'And?' })}\n`,
  );
  const config = {
    model: { path: 'model/search-starter' },
    policy: { type: 'minimind' },
    tools: [{ type: 'calculator' }],
    environment: { type: 'question', match: 'number' },
    datasets: [{ dir: join(folder, 'tasks') }],
  };
  writeBelow(folder, 'run.yaml', JSON.stringify(config));
  const stop = new AbortController();
  const listening = new Promise<string>((resolve, reject) => {
    void prepareRun({ file: join(folder, 'run.yaml') })
      .then((run) =>
        serveEnvironment({
          ...run,
          host: '127.0.0.1',
          port: 0,
          requests: 4,
          timeoutS: 60,
          print: () => undefined,
          signal: stop.signal,
          onListening: resolve,
        }),
      )
      .catch(reject);
  });
  const url = await listening;
  const { promisify } = await import('node:util');
  const { execFile } = await import('node:child_process');
  const { stdout } = await promisify(execFile)(python, [join(fixtures, 'client.py'), url]);
  stop.abort();
  expect(JSON.parse(stdout)).toMatchObject({
    seen: [
      { observation: { messages: [{ role: 'user', content: 'What is 6 times 7?' }] }, done: false },
      {
        observation: { messages: [{ role: 'tool', content: '42', is_error: false }] },
        reward: null,
      },
      { observation: { verdict: { success: true, outcome: 'completed' } }, reward: 1, done: true },
    ],
    state: { step_count: 2, task_id: 'one' },
  });
});
