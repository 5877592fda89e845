import { join } from 'node:path';

import { beforeAll, describe, expect, test } from '@jest/globals';

import { openAgent } from '#agent_rl/compose/open-agent.ts';
import { prepareRun } from '#agent_rl/compose/prepare-run.ts';
import { resolveRun } from '#agent_rl/compose/resolve-run.ts';
import { jobs } from '#agent_rl/jobs/jobs.ts';
import { packageRoot } from '#agent_rl/core/package-root.ts';
import type { Rollout } from '#agent_rl/core/rollout.ts';
import { drawnSpans } from '#agent_rl/core/transcript.ts';
import { evaluate } from '#agent_rl/trainer/evaluate.ts';
import { CodeTaskDataset } from '#dataset/tasks/code-task-dataset.ts';
import type { Ended } from '../support/built-program.ts';
import { commandLine } from '../support/command-line.ts';
import { residentProgram } from '../support/resident-program.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const root = packageRoot();
const folder = temporaryFolder();
const exported = join(folder, 'starter-onnx');
const policy = ['--policy-type', 'transformers-js', '--model', exported];

const agentRl = residentProgram('agent-rl');
let exporting: Ended;
beforeAll(async () => {
  const starter = join(root, 'model', 'starter');
  exporting = await agentRl(['model', 'export', '--model', starter, '--output', exported], folder);
});

test('agent-rl model export lists what it wrote', () => {
  expect(exporting).toMatchObject({ code: 0, stderr: '' });
  expect(exporting.stdout).toContain(`to ${exported}: 10 MiB`);
});

/** The first tasks of the eval split, each attempted once at temperature 0. */
async function attempts(settings: readonly string[]): Promise<{
  rollouts: readonly Rollout[];
  opensEngine: boolean;
}> {
  const file = join(root, 'configs', 'code_exec_grpo.yaml');
  const overrides = [...settings, 'rollout.workers=4', 'run.engineThreads=1', 'sandbox.workers=1'];
  const prepared = await prepareRun({ file, overrides, flags: [] });
  const { dir = '' } = prepared.loaded.config.datasets[0]!;
  const split = await CodeTaskDataset.fromPath(join(root, dir, 'eval.jsonl'));
  const tasks = split.tasks.slice(0, 6);
  const { signal } = new AbortController();
  const run = await resolveRun(prepared, {
    signal,
    print: () => undefined,
    trains: false,
    tasks: { evaluation: 'eval' },
  });
  const { workers } = run.config.rollout;
  const agent = await openAgent(run, { workers, trains: false, signal });
  try {
    const rollouts: Rollout[] = [];
    await evaluate(agent.rollouts, tasks, {
      samples: 1,
      temperature: 0,
      seed: 1,
      step: 0,
      signal: new AbortController().signal,
      onRollout: (rollout) => rollouts.push(rollout),
    });
    const byTask = rollouts.toSorted((a, b) => (a.taskId < b.taskId ? -1 : 1));
    return { rollouts: byTask, opensEngine: agent.model?.engines.length === 1 };
  } finally {
    await agent.close();
  }
}

describe('The policy transformers-js', () => {
  test('plays the episodes that the engine plays with the same weights', async () => {
    const here = await attempts([`model.path=${join(root, 'model', 'starter')}`]);
    const there = await attempts(['policy.type=transformers-js', `model.path=${exported}`]);
    expect([here.opensEngine, there.opensEngine]).toEqual([true, false]);
    expect(here.rollouts).toHaveLength(6);
    const seen = ({ taskId, outcome, parts }: Rollout) => ({
      taskId,
      outcome,
      parts: parts.map(({ sequences, reward }) => [
        sequences.map(({ tokens, spans }) => [tokens, spans]),
        reward,
      ]),
    });
    expect(there.rollouts.map(seen)).toEqual(here.rollouts.map(seen));
    // More than prompts: most episodes call the sandbox and go on with what it said.
    const turns = there.rollouts.map(
      ({ parts }) => parts.flatMap(({ sequences }) => drawnSpans(sequences).flat()).length,
    );
    expect(Math.max(...turns)).toBeGreaterThan(1);
  });

  test('can be evaluated from the command line', async () => {
    const limits = ['--set', 'eval.maxTasks=3', '--sandbox-workers', '1', '--json'];
    const { code, stdout } = await agentRl(['eval', ...policy, ...limits], folder);
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({ model: exported, tasks: 3, systemFailures: 0 });
  });

  test('says how to create the folder that it needs', async () => {
    const args = ['eval', '--policy-type', 'transformers-js'];
    const { code, stderr } = await commandLine(args, { jobs });
    expect(code).toBe(2);
    expect(stderr).toMatch(
      /MODEL_INVALID: .*starter has no onnx\/model\.onnx.*agent-rl model export/,
    );
  });
});
