import { expect, test } from '@jest/globals';
import { Type } from 'typebox';

import { builtinPlugins } from '#agent_rl/compose/plugins/builtin-plugins.ts';
import { withOwn } from '#agent_rl/compose/plugins/registries.ts';
import { defineTool } from '#agent_rl/core/plugins/define-tool.ts';

test("a program's plugin takes the place of the built-in one of its name, and a sentence says so", () => {
  const own = ['search', 'lookup'].map((name) =>
    defineTool({ name, description: 'Mine.', inputSchema: Type.Object({}), execute: () => 1 }),
  );
  const { plugins, replaced } = withOwn(builtinPlugins(), own);
  expect(plugins.tools.get('search')).toMatchObject({ plugin: own[0], source: 'this program' });
  expect(plugins.tools.has('lookup')).toBe(true);
  expect(plugins.tools.names()).toEqual([...builtinPlugins().tools.names(), 'lookup'].toSorted());
  expect(plugins.rewards.names()).toEqual(builtinPlugins().rewards.names());
  expect(replaced).toEqual([
    'The tool "search" is this program\'s; that from built in is not used.',
  ]);
});
