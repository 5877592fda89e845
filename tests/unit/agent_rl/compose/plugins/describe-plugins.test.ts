import { expect, test } from '@jest/globals';
import { describePlugins } from '#agent_rl/compose/plugins/registries.ts';
import { builtInRewardManagers } from '#agent_rl/rewards/index.ts';
import { description, plugins } from '#tests/support/choosable-plugins.ts';

test('plugins are described with their schemas and where they come from', () => {
  const [first] = describePlugins(plugins);
  expect(first).toEqual({
    kind: 'tool',
    name: 'calculator',
    description,
    source: 'built in',
    settings: {
      type: 'object',
      required: ['limit'],
      properties: { limit: { type: 'integer', default: 10, minimum: 1 } },
    },
    parameters: {
      type: 'object',
      required: ['expression'],
      properties: { expression: { type: 'string' } },
    },
  });
  const ofEpisodes = describePlugins(plugins).filter(
    ({ kind }) =>
      !['advantage', 'loss', 'correction', 'selection', 'tracker', 'generator', 'learner'].includes(
        kind,
      ),
  );
  expect(ofEpisodes.map(({ kind }) => kind)).toEqual([
    'tool',
    'environment',
    'environment',
    'policy',
    'reward',
    'reward',
    ...builtInRewardManagers.map(() => 'reward manager'),
    'tool-call format',
    'tool-call format',
  ]);
});
