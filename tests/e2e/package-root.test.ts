import { spawnSync } from 'node:child_process';

import { expect, test } from '@jest/globals';

import { packageRoot } from '#agent_rl/core/package-root.ts';

const publicNames = {
  agent_rl: `
    trainAgent evaluateAgent loadAgent defineTool AgentRlError
    RolloutWorker AsyncRolloutWorker trainGrpo trainSft
    CodeTaskDataset loadCodeTaskSplits CodeTaskSampler`,
  'agent_rl/plugin': `
    tool environment policy reward verdict Type
    ToolRegistry EnvironmentRegistry PolicyRegistry
    MiniMindPolicy HuggingFacePolicy TransformersJsPolicy CodeExecEnv CodeExecTool CalculatorTool`,
};

const script = (entry: string) => `
  import { createRequire } from 'node:module';
  const environment = JSON.stringify(process.env);
  const root = await import('${entry}');
  const loaded = Object.keys(createRequire(import.meta.url).cache);
  console.log(JSON.stringify({
    names: Object.keys(root),
    engines: loaded.filter((file) => /@tensorflow|onnxruntime/.test(file)),
    resources: process.getActiveResourcesInfo().filter((one) => /Timeout|Worker|MessagePort|Process/.test(one)),
    listeners: process.listenerCount('SIGINT') + process.listenerCount('uncaughtException'),
    sameEnvironment: environment === JSON.stringify(process.env),
  }));`;

/** What a program finds that imports an entry of the built package by its name. */
function imported(entry: string): Record<string, unknown> {
  const { stdout, stderr } = spawnSync(
    process.execPath,
    ['--input-type=module', '--eval', script(entry)],
    { cwd: packageRoot(), encoding: 'utf8' },
  );
  expect(stderr).toBe('');
  return JSON.parse(stdout) as Record<string, unknown>;
}

test.each(Object.entries(publicNames))(
  'importing %s gives its public names and starts no engine',
  (entry, expected) => {
    const { names, ...effects } = imported(entry);
    expect(names).toEqual(expect.arrayContaining(expected.trim().split(/\s+/)));
    expect(effects).toEqual({ engines: [], resources: [], listeners: 0, sameEnvironment: true });
  },
);
