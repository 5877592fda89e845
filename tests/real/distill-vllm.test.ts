import { readFileSync } from 'node:fs';
import { join } from 'node:path';

import { afterAll, beforeAll, expect, test } from '@jest/globals';

import { trainAgent } from '#agent_rl/jobs/train-agent.ts';
import type { RealServer } from '../support/real-server.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { servable, startVllm, vllmProgram } from '../support/vllm/real-vllm.ts';

// A teacher behind a real vLLM judges as the same teacher in a folder. See `vllm.test.ts` for the environment.

const folder = temporaryFolder();
let server: RealServer;
let teacher: string;

const train = (name: string, overrides: Readonly<Record<string, unknown>>) =>
  trainAgent({
    config: 'configs/code_exec_smoke.yaml',
    overrides: {
      'run.name': name,
      'run.outputDir': folder,
      'eval.before': false,
      'eval.after': false,
      ...overrides,
    },
    quiet: true,
  });

const metricsOf = (name: string) =>
  readFileSync(join(folder, name, 'metrics.jsonl'), 'utf8')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Record<string, number>);

beforeAll(async () => {
  // Other weights than the student has: a few large steps.
  await train('teacher', { 'train.learningRate': 3e-3 });
  teacher = join(folder, 'teacher', 'checkpoints', 'step-2');
  const model = await servable(teacher, join(folder, 'served'));
  server = await startVllm(vllmProgram(folder), model, { log: join(folder, 'vllm.log') });
  await server.ready;
});
afterAll(() => server.kill());

test('a teacher behind vLLM gives the divergences that it gives in this process', async () => {
  const own = {
    'algorithm.name': 'distill',
    'algorithm.distill.teacher': 'teacher',
    'train.iterations': 3,
  };
  const model = { path: teacher };
  await train('here', { ...own, policies: { teacher: { model } } });
  const generator = { type: 'vllm', urls: [server.url], compareInEvaluation: false };
  await train('there', { ...own, policies: { teacher: { model, generator } } });
  const [here, there] = ['here', 'there'].map((name) =>
    metricsOf(name).map((line) => line['sent/teacherKl']!),
  ) as [number[], number[]];
  process.stderr.write(`teacher here ${here.join(', ')}; behind vLLM ${there.join(', ')}\n`);
  for (const [iteration, kl] of here.entries())
    expect(Math.abs(kl - there[iteration]!)).toBeLessThan(1e-3);
  expect(Math.max(...here)).toBeGreaterThan(1e-3);
});
