import { describe, expect, test } from '@jest/globals';

import { prepareRun } from '#agent_rl/compose/prepare-run.ts';
import { temporaryFolder, writeBelow } from '#tests/support/temporary-folder.ts';
import { rejectionOf } from '#tests/support/thrown.ts';

const folder = temporaryFolder();
const base =
  'datasets: [{dir: tasks}]\nenvironment: {type: code_exec}\ntools: [{type: code_exec}]\n';
let count = 0;
const refused = (text: string, ...overrides: string[]) =>
  rejectionOf(prepareRun({ file: writeBelow(folder, `run-${count++}.yaml`, text), overrides }));

describe('everything that is wrong is reported at once', () => {
  test('settings of plugins together with settings of the run', async () => {
    const { code, message } = await refused(
      `${base}rewards: [{type: brevity}]\n`,
      'rewards.0.eech=1',
      'policy.maxTurnTokns=3',
      'run.seed=-1',
    );
    expect(code).toBe('CONFIG_INVALID');
    expect(message).toMatch(/^The config has 3 problems:/);
    expect(message).toContain('rewards.0.eech: is not a known key.');
    expect(message).toContain(
      'policy.maxTurnTokns: is not a known key. Did you mean "maxTurnTokens"?',
    );
    expect(message).toContain('run.seed: must be >= 0, got -1.');
  });

  test('unknown plugins together with blocks of the wrong form, each once', async () => {
    const { code, message } = await refused(
      `datasets: [{dir: tasks}]
environment: {}
tools: [{type: code_exce}, 7, {typ: code_exec}]
policy: {maxTurnTokens: many, maxTurnTokns: 3}
rewards: {type: brevity}
algorithm: {advantage: rloo}
trian: {}
`,
    );
    expect(code).toBe('CONFIG_INVALID');
    expect(message).toContain('environment.type: is missing.');
    expect(message).toContain(
      'tools.0.type: no tool is named "code_exce". Did you mean "code_exec"?',
    );
    expect(message).toContain('tools.1: expected a block of keys and values, got 7.');
    expect(message).toContain(
      'algorithm.advantage: expected a block of keys and values, got "rloo". Write { type: rloo }.',
    );
    expect(message).toContain('tools.2.type: is missing.');
    expect(message).toContain('policy.maxTurnTokns: is not a known key.');
    expect(message).toContain('rewards: expected a list,');
    expect(message).toContain('trian: is not a known key. Did you mean "train"?');
    expect(message.match(/policy\.maxTurnTokens: expected/g)).toHaveLength(1);
  });

  test('settings that contradict each other together with settings of plugins', async () => {
    const { message } = await refused(base, 'rollout.groupSize=1', 'tools.0.ouput=blank');
    expect(message).toContain('rollout.groupSize: 1 leaves an episode nothing to be compared with');
    expect(message).toContain('tools.0.ouput: is not a known key.');
  });

  test('a plugin that cannot be loaded together with settings of the run', async () => {
    const { code, message } = await refused(`${base}plugins: [./none.ts]\nrun: {seed: -1}\n`);
    expect(code).toBe('CONFIG_INVALID');
    expect(message).toMatch(/plugins: Plugin .*none\.ts .*does not exist/);
    expect(message).toContain('run.seed: must be >= 0, got -1.');
  });

  test('an unknown plugin alone has its own code', async () => {
    const { code } = await refused(
      base.replace('tools: [{type: code_exec', 'tools: [{type: code_exce'),
    );
    expect(code).toBe('PLUGIN_UNKNOWN');
  });
});
