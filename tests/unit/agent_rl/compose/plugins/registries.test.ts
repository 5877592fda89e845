import { expect, test } from '@jest/globals';
import { Type } from 'typebox';

import { builtinPlugins } from '#agent_rl/compose/plugins/builtin-plugins.ts';
import {
  programSource,
  replacedPlugins,
  withExports,
} from '#agent_rl/compose/plugins/registries.ts';
import { defineTool } from '#agent_rl/core/plugins/define-tool.ts';
import { thrownBy } from '#tests/support/thrown.ts';

const toolNamed = (name: string) =>
  defineTool({ name, description: 'Mine.', inputSchema: Type.Object({}), execute: () => 1 });

test.each([programSource, '/mine/tools.ts'])('a plugin of %s replaces a built-in one', (source) => {
  const own = ['search', 'lookup'].map(toolNamed);
  const plugins = withExports(builtinPlugins(), own, source);
  expect(plugins.tools.get('search')).toMatchObject({ plugin: own[0], source });
  expect(plugins.tools.names()).toEqual([...builtinPlugins().tools.names(), 'lookup'].toSorted());
  expect(plugins.rewards.names()).toEqual(builtinPlugins().rewards.names());
  expect(replacedPlugins(builtinPlugins(), plugins)).toEqual([
    expect.stringContaining(`The tool "search" comes from ${source} `),
  ]);
});

test('a program may replace a plugin of a file', () => {
  const one = withExports(builtinPlugins(), [toolNamed('lookup')], 'one.ts');
  const two = () => withExports(one, [toolNamed('lookup')], 'two.ts');
  expect(thrownBy(two).code).toBe('PLUGIN_DUPLICATE');
  const program = withExports(one, [toolNamed('lookup')], programSource);
  expect(replacedPlugins(one, program)).toEqual([
    expect.stringMatching(/^The tool "lookup" comes from this program .*one\.ts/),
  ]);
});

test('a built-in plugin that a file exports again does not count as a plugin of that file', () => {
  const { plugin } = builtinPlugins().tools.get('search');
  const plugins = withExports(builtinPlugins(), [plugin], 'one.ts');
  expect(replacedPlugins(builtinPlugins(), plugins)).toEqual([]);
});
