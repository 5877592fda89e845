import { describe, expect, test } from '@jest/globals';

import { prepareRun, type PrepareRunOptions } from '#agent_rl/compose/prepare-run.ts';
import { defineTool } from '#agent_rl/core/plugins/define-tool.ts';
import { rejectionOf } from '#tests/support/thrown.ts';

const toolNamed = (name: string) =>
  defineTool({
    name,
    description: 'Does nothing.',
    inputSchema: { type: 'object' },
    execute: () => '',
  });

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
    const { config, warnings } = await prepared({
      ...everything,
      needs: 'model',
      instead: () => 'bring it.',
    });
    expect(config.tools).toEqual([]);
    expect(config).toMatchObject({ environment: { type: 'question' }, plugins: [] });
    expect(warnings).toEqual([expect.stringMatching(/^the tool "calculator" .*: bring it\.$/)]);
  });

  test('needs its tools for a chat with tools', async () => {
    const options = { ...everything, needs: 'agent', instead: () => 'Bring it.' } as const;
    expect(await rejectionOf(prepareRun(options))).toMatchObject({
      code: 'PLUGIN_UNKNOWN',
      message: expect.stringMatching(/plugins: the tool "calculator" .*\. Bring it\.$/),
    });
  });

  test('needs all plugins otherwise, and names the missing ones at once', async () => {
    expect(await rejectionOf(prepareRun(everything))).toMatchObject({
      code: 'PLUGIN_UNKNOWN',
      message: expect.stringMatching(
        /the environment "stage", the reward "pleased", the reward manager "own", .* and the tool "calculator" /,
      ),
    });
  });

  test('always needs its policy', async () => {
    const options = {
      ...runOf(['program:policies/bold'], { policy: { type: 'bold' } }),
      needs: 'model',
    } as const;
    expect(await rejectionOf(prepareRun(options))).toMatchObject({
      message: expect.stringMatching(/the policy "bold" /),
    });
  });
});

describe('A plugin of a program', () => {
  test('is recorded once, and only if the run uses it', async () => {
    const used = toolNamed('used');
    const options = {
      ...runOf(['program:tools/used'], { tools: [{ type: 'used' }, { type: 'too' }] }),
      exported: [used, toolNamed('too'), toolNamed('idle')],
    };
    const { config } = await prepared(options);
    expect(config.plugins).toEqual(['program:tools/used', 'program:tools/too']);
  });
});
