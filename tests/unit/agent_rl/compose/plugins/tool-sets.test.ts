import { describe, expect, test } from '@jest/globals';

import { choosePlugins } from '#agent_rl/compose/plugins/choose-plugins.ts';
import { builtinPlugins } from '#agent_rl/compose/plugins/builtin-plugins.ts';
import { withExports } from '#agent_rl/compose/plugins/registries.ts';
import { withToolSets } from '#agent_rl/compose/plugins/tool-sets.ts';
import { loadConfig } from '#agent_rl/config/index.ts';
import { type FoundTool, tool } from '#agent_rl/core/plugins/tool.ts';
import { Type } from '#agent_rl/core/typebox.ts';
import { checkFoundTools, foundTools } from '#agent_rl/runs/inputs/tool-sets.ts';
import { temporaryFolder, writeBelow } from '#tests/support/temporary-folder.ts';
import { rejectionOf, thrownBy } from '#tests/support/thrown.ts';

const folder = temporaryFolder();
const parameters = Type.Object({});
const found = (of: string): FoundTool => ({
  of,
  name: of,
  description: of === 'silent' ? '' : `Does ${of}.`,
  parameters: of === 'broken' ? { type: 'object', $ref: '#/nowhere' } : parameters,
});

@tool({
  name: 'box',
  description: 'Several tools.',
  parameters,
  settings: Type.Object({
    name: Type.String({ default: 'box' }),
    holds: Type.Array(Type.String()),
    fails: Type.Boolean({ default: false }),
  }),
  configure: ({ name }) => ({ name: name as string }),
  find: async ({ holds, fails }) => {
    if (fails === true) throw new Error('the door is shut.');
    return (holds as string[]).map(found);
  },
})
class Box {
  async call() {
    return { content: '' };
  }
}

let count = 0;
function resolved(tools: string, rewards = '[]', environment = 'question') {
  const text = `environment: {type: ${environment}}\ndatasets: [{dir: dataset/code_tasks}]\ntools: ${tools}\nrewards: ${rewards}\n`;
  const loaded = loadConfig({ file: writeBelow(folder, `run-${count++}.yaml`, text) });
  const chosen = choosePlugins(loaded, withExports(builtinPlugins(), [Box], 'a test'));
  return withToolSets(chosen, loaded, () => undefined);
}

describe('A tool set', () => {
  test('stands for the tools that it holds, in their order, each with what the set calls it', async () => {
    const { tools } = await resolved('[{type: box, holds: [b, a]}, {type: code_exec}]');
    expect(tools.map(({ entry, set }) => [entry.spec.name, set])).toEqual([
      ['b', { name: 'box', of: 'b' }],
      ['a', { name: 'box', of: 'a' }],
      ['code_exec', undefined],
    ]);
    expect(tools[0]?.entry.spec.description).toBe('Does b.');
  });

  test('gives its name to a tool whose name another tool of the run has, and to no other', async () => {
    const two = '[{type: box, holds: [a, b]}, {type: box, name: other, holds: [a, code_exec]}]';
    const { tools } = await resolved(two.replace(']}]', ']}, {type: code_exec}]'));
    const names = tools.map(({ entry }) => entry.spec.name);
    expect(names).toEqual(['box_a', 'b', 'other_a', 'other_code_exec', 'code_exec']);
  });

  test('is reported with its place where it cannot be used', async () => {
    const { message } = await rejectionOf(resolved('[{type: box, holds: [a], fails: true}]'));
    expect(message).toMatch(/run-\d+\.yaml:3:\d+ tools\.0: the door is shut\./);
  });

  test('is refused with the tool whose schema or description cannot be used', async () => {
    const { message } = await rejectionOf(resolved('[{type: box, holds: [broken, a]}]'));
    expect(message).toMatch(
      /tools\.0: the tool "broken" cannot be used: its parameters .*Leave it out with allow\./,
    );
    const silent = await rejectionOf(resolved('[{type: box, holds: [silent]}]'));
    expect(silent.message).toMatch(
      /its description is "", allowed: a non-empty string|its description is ""; allowed/,
    );
  });

  test('may hold the tool that an environment needs', async () => {
    const { message } = await rejectionOf(resolved('[{type: box, holds: [a]}]', '[]', 'code_exec'));
    expect(message).toMatch(/tools: environment code_exec needs the tool "code_exec"/);
    const { tools } = await resolved('[{type: box, holds: [code_exec]}]', '[]', 'code_exec');
    expect(tools.map(({ entry }) => entry.spec.name)).toEqual(['code_exec']);
  });

  test('may hold the tool of a reward; a tool that no set holds is refused', async () => {
    const reward = (name: string) => `[{type: tool_calls, tool: ${name}}]`;
    const rewards = [...builtinPlugins().rewards.names()];
    expect(rewards.length).toBeGreaterThan(0);
    const named = (name: string) => reward(name).replace('tool_calls', rewards[0]!);
    const { message } = await rejectionOf(resolved('[{type: box, holds: [a]}]', named('c')));
    expect(message).toMatch(/rewards\.0\.tool: the run has no tool "c"\. Tools: a\./);
  });
});

test('a run is only resumed with the tools that its sets held, and the difference is named', () => {
  const before = foundTools([found('a'), found('b'), found('c')]);
  expect(() => checkFoundTools('runs/x', before, { ...before })).not.toThrow();
  const changed = foundTools([found('a'), { ...found('b'), description: 'Other.' }, found('d')]);
  const { message } = thrownBy(() => checkFoundTools('runs/x', before, changed));
  expect(message).toContain('(b has changed, c is gone, d is new)');
});
