import { describe, expect, test } from '@jest/globals';

import { prepareRun, type PrepareRunOptions } from '#agent_rl/compose/prepare-run.ts';
import { defineTool } from '#agent_rl/core/plugins/define-tool.ts';
import { errorOf, rejectionOf } from '#tests/support/thrown.ts';

const toolNamed = (name: string) =>
  defineTool({ name, description: 'None.', inputSchema: { type: 'object' }, execute: () => '' });

/** The config.yaml of a run to which a program gave these. */
const runOf = (plugins: readonly string[], more: object = {}) => ({
  file: 'config.yaml',
  settings: { environment: { type: 'question' }, datasets: [{ dir: '.' }], plugins, ...more },
});

const prepared = async (options: PrepareRunOptions) => (await prepareRun(options)).loaded;

describe('A run with plugins of a program', () => {
  const everything = runOf(
    [
      'program:environments/stage',
      'program:rewards/pleased',
      'program:rewardManagers/own',
      'program:advantages/mine',
      'program:trackers/board',
      'program:taskGenerators/sums',
      'program:tools/calculator',
    ],
    {
      environment: [{ type: 'stage', name: 'left' }, { type: 'question' }],
      datasets: [{ dir: '.', environment: 'left' }, { generator: { type: 'sums' } }],
      rewards: [{ type: 'pleased', tool: 'calculator' }],
      rewardManager: { type: 'own' },
      algorithm: { advantage: { type: 'mine' } },
      trackers: [{ type: 'board' }],
      tools: [{ type: 'calculator' }],
      eval: { strategy: 'best-of-n', samples: 2, temperature: 1, selector: 'pleased' },
    },
  );

  test('is served without its rewards and its tools, even if a built-in tool has the same name', async () => {
    const options = { ...everything, needs: 'model', instead: () => 'bring it.' } as const;
    const { config, warnings } = await prepared(options);
    expect(config.tools).toEqual([]);
    expect(config).toMatchObject({ environment: { type: 'question' }, plugins: [] });
    expect(warnings).toEqual([expect.stringMatching(/^the tool "calculator" .*: bring it\.$/)]);
  });

  test('needs its tools for a chat with tools', async () => {
    const options = { ...everything, needs: 'agent', instead: () => 'Bring it.' } as const;
    const says = /plugins: the tool "calculator" .*\. Bring it\.$/;
    expect(await rejectionOf(prepareRun(options))).toMatchObject(errorOf('PLUGIN_UNKNOWN', says));
  });

  test('needs all plugins otherwise, and names the missing ones at once', async () => {
    const says = /the environment "stage", the reward "pleased", .* and the tool "calculator" /;
    const { code, message } = await rejectionOf(prepareRun(everything));
    expect([code, message]).toEqual(['PLUGIN_UNKNOWN', expect.stringMatching(says)]);
  });

  test('always needs its policy', async () => {
    const bold = runOf(['program:policies/bold'], { policy: { type: 'bold' } });
    const { message } = await rejectionOf(prepareRun({ ...bold, needs: 'model' }));
    expect(message).toContain('the policy "bold" ');
  });
});

test('a plugin of a program is recorded once, and only if the run uses it', async () => {
  const run = runOf(['program:tools/used'], { tools: [{ type: 'used' }, { type: 'too' }] });
  const { config } = await prepared({ ...run, exported: ['used', 'too', 'idle'].map(toolNamed) });
  expect(config.plugins).toEqual(['program:tools/used', 'program:tools/too']);
});
