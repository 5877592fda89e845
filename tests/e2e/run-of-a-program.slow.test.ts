import { readFileSync } from 'node:fs';
import { join } from 'node:path';

import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { parse } from 'yaml';
import { z } from 'zod';

import { defineTool, trainAgent } from '#agent_rl/index.ts';
import { readJson } from '../support/acme-project.ts';
import {
  builtProgram,
  startProgram,
  type StartedProgram,
  succeeded,
} from '../support/built-program.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

/*
 * A run of `trainAgent` whose tool has the name of a built-in one, as in the guide: no file of the run brings its tool or
 * its reward.
 */

const folder = temporaryFolder();
const run = 'runs/trainAgent-seed42';
const towns = ['Ferzuri', 'Golkola', 'Ronvaso', 'Mirneda', 'Sorluma'];

const search = defineTool({
  name: 'search',
  description: 'Looks a town up in the register.',
  inputSchema: z.object({ query: z.string() }),
  execute: ({ query }) => `[1] A town: the ${query} Delperi.`,
});
const reward = ({ messages }: { messages: readonly unknown[] }) => messages.length % 3;

const agentRl = (...args: string[]) => builtProgram('agent-rl', args, folder);
const gave = (parts: string) => `${parts} passed by a program, and no file or package provides`;
const both = gave('the tool "search" and the reward "reward" were');

const printed: string[] = [];

beforeAll(async () => {
  await trainAgent({
    model: 'model/search-starter',
    tasks: towns.map((town) => ({ question: `Who governs ${town}?`, answer: 'Delperi' })),
    tools: [search],
    reward,
    policy: { thinking: true, maxTurnTokens: 32, maxContextTokens: 320 },
    rollout: { tasksPerStep: 2, groupSize: 2, maxTurns: 2, maxEpisodeTokens: 320 },
    train: { iterations: 2, maxIterations: 1, learningRate: 1e-4 },
    eval: { before: false, after: false },
    run: { outputDir: join(folder, 'runs') },
    print: (text) => printed.push(text),
  });
});

test('the run records what the program passed', () => {
  expect(parse(readFileSync(join(folder, run, 'config.yaml'), 'utf8'))).toMatchObject({
    plugins: ['program:tools/search', 'program:rewards/reward'],
  });
  expect(readJson(folder, run, 'provenance.json')).toMatchObject({
    settings: { 'plugins.0': { source: 'program', place: 'this program' } },
  });
});

test('the run says how the program can continue it', () => {
  const again = `Call trainAgent again, with resume: '${join(folder, run)}', overrides: { 'train.maxIterations': 2 }`;
  expect(printed.join('\n')).toContain(`Ended after 1 of 2 iterations. ${again}`);
});

describe('The command serve', () => {
  let server: StartedProgram;
  let url = '';

  beforeAll(async () => {
    server = startProgram('agent-rl', ['serve', run, '--name', 'towns', '--port', '0'], folder);
    url = await server.wrote(/http:\/\/127\.0\.0\.1:\d+\/v1/);
  });

  afterAll(async () => {
    server.interrupt();
    await server.ended;
  });

  test('answers a client that brings the tool, and says that no file defines it', async () => {
    const response = await fetch(`${url}/chat/completions`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({
        model: 'towns',
        messages: [{ role: 'user', content: 'Who governs Golkola?' }],
        tools: readJson(folder, run, 'tools.json'),
        temperature: 0,
        max_tokens: 48,
      }),
    });
    const call = { name: 'search', arguments: expect.stringMatching(/Golkola/) };
    expect(await response.json()).toMatchObject({
      choices: [{ finish_reason: 'tool_calls', message: { tool_calls: [{ function: call }] } }],
    });
    const { stdout, stderr } = server.soFar();
    expect(stdout + stderr).toContain(
      `Note: ${gave('the tool "search" was')} it: clients send their tools with each request.`,
    );
  });
});

test('chat works without the tool and says which program has it', () => {
  const { code, stdout, stderr } = agentRl('chat', run, '--prompt', 'Who governs Golkola?');
  expect(code).toBe(0);
  expect(stdout + stderr).toContain(
    `${gave('the tool "search" was')} it: the agent runs without it. In a program, call loadAgent('${run}', { tools }).`,
  );
  expect(stdout).toMatch(/Who governs Golkola\?/);
});

test.each([
  [['eval', run], `In a program, call evaluateAgent('${run}', { tools, reward }).`],
  [
    ['train', '--resume', run],
    `In that program, call trainAgent({ tasks, tools, reward, …, resume: '${run}' }).`,
  ],
])('the command line %j is refused with the function to call instead', (args, instead) => {
  const { code, stderr } = agentRl(...args);
  expect(stderr).toMatch(/^PLUGIN_UNKNOWN/);
  expect(stderr).toContain(`${both} them. ${instead}`);
  expect(code).toBe(2);
});

test('demonstrations use the tool, and sft trains on them', () => {
  succeeded(agentRl('runs', 'demonstrations', run, '--min-reward', '0'));
  const data = ['--dataset-dir', `${run}/demonstrations`, '--train-split', 'train'];
  const config = ['--config', `${run}/config.yaml`, '--set', 'run.name=imitated'];
  const taught = agentRl('sft', ...config, ...data, '--max-iterations', '1');
  expect(succeeded(taught) + taught.stderr).toContain(
    'conversations that list no tools are then trained on without tools',
  );
  succeeded(agentRl('sft', '--resume', 'runs/imitated', '--max-iterations', '2'));
});
