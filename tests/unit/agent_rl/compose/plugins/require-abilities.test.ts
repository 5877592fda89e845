import { describe, expect, test } from '@jest/globals';

import { builtinPlugins } from '#agent_rl/compose/plugins/builtin-plugins.ts';
import { choosePlugins } from '#agent_rl/compose/plugins/choose-plugins.ts';
import { requireAbilities } from '#agent_rl/compose/plugins/plugin-needs.ts';
import { loadConfig } from '#agent_rl/config/index.ts';
import type { CodeTask } from '#agent_rl/core/tasks/code-task.ts';
import { scriptedSandbox } from '#tests/support/scripted-sandbox.ts';
import { temporaryFolder, writeBelow } from '#tests/support/temporary-folder.ts';
import { thrownBy } from '#tests/support/thrown.ts';

const file = writeBelow(
  temporaryFolder(),
  'run.yaml',
  'environment: {type: code_exec}\ntools: [{type: code_exec}]\ndatasets: [{dir: tasks}]\n',
);
const toolsWith = (...overrides: string[]) =>
  choosePlugins(loadConfig({ file, overrides }), builtinPlugins()).tools;

const sandbox = scriptedSandbox(() => ({}));
const weak = {
  capabilities: () => ({ ...sandbox.capabilities(), unsupported: ['judge', 'sessions'] as const }),
};
const task = (tests: CodeTask['tests']): CodeTask => ({
  taskId: 'a task',
  metadata: {},
  prompt: '',
  starterCode: '',
  compare: 'exact',
  tests,
});
const byCalls = task({ kind: 'calls', entry: 'f', cases: [] });
const byStatements = task({ kind: 'asserts', code: ['assert f(1) == 2'] });

describe('A sandbox without some features', () => {
  test('is refused for tasks judged by statements, naming the first', () => {
    const wants = { tasks: [byCalls, byStatements], tools: toolsWith() };
    expect(thrownBy(() => requireAbilities(weak, wants))).toMatchObject({
      code: 'SANDBOX_UNAVAILABLE',
      message: expect.stringMatching(/task "a task"/),
    });
    expect(() => requireAbilities(sandbox, wants)).not.toThrow();
  });

  test('is refused for a tool that keeps variables', () => {
    const wants = { tasks: [byCalls], tools: toolsWith('tools.0.session=true') };
    expect(thrownBy(() => requireAbilities(weak, wants))).toMatchObject({
      code: 'SANDBOX_UNAVAILABLE',
      message: expect.stringMatching(/the tool code_exec/),
    });
    expect(() => requireAbilities(sandbox, wants)).not.toThrow();
  });

  test('is accepted for what it supports', () => {
    expect(() => requireAbilities(weak, { tasks: [byCalls], tools: toolsWith() })).not.toThrow();
  });
});
