import { describe, expect, test } from '@jest/globals';

import { prepareRun } from '#agent_rl/compose/prepare-run.ts';
import { problemPaths, problemPlaces } from '#tests/support/problem-places.ts';
import { temporaryFolder, writeBelow } from '#tests/support/temporary-folder.ts';
import { rejectionOf } from '#tests/support/thrown.ts';

const folder = temporaryFolder();
const base =
  'datasets: [{dir: tasks}]\nenvironment: {type: code_exec}\ntools: [{type: code_exec}]\n';
let count = 0;
const refused = (text: string, ...overrides: string[]) =>
  rejectionOf(prepareRun({ file: writeBelow(folder, `run-${count++}.yaml`, text), overrides }));

const contradicting = ['rollout.groupSize=1', 'tools.0.ouput=blank'];
const contradicted = ['rollout.groupSize', 'tools.0.ouput'];
const lost = `${base}plugins: [./none.ts]\nrun: {seed: -1}\n`;
const ofPolicy = ['policy.maxTurnTokens', 'policy.maxTurnTokns'];
const ofOthers = [...ofPolicy, 'rewards', 'algorithm.advantage', 'trian'];

describe('Preparing a run reports at once', () => {
  test.each([
    [
      'plugin settings and run settings',
      `${base}rewards: [{type: brevity}]\n`,
      ['rewards.0.eech=1', 'policy.maxTurnTokns=3', 'run.seed=-1'],
      ['policy.maxTurnTokns', 'rewards.0.eech', 'run.seed'],
    ],
    [
      'unknown plugins and malformed blocks, each once',
      `datasets: [{dir: tasks}]
environment: {}
tools: [{type: code_exce}, 7, {typ: code_exec}]
policy: {maxTurnTokens: many, maxTurnTokns: 3}
rewards: {type: brevity}
algorithm: {advantage: rloo}
trian: {}
`,
      [],
      ['environment.type', 'tools.0.type', 'tools.1', 'tools.2.type', ...ofOthers],
    ],
    ['contradictory settings and plugin settings', base, contradicting, contradicted],
    ['a plugin that cannot be loaded and run settings', lost, [], ['plugins', 'run.seed']],
  ])('%s', async (_, text, overrides, paths) => {
    const { code, message } = await refused(text, ...overrides);
    expect(code).toBe('CONFIG_INVALID');
    expect(problemPaths(message).toSorted()).toEqual(paths.toSorted());
    expect(problemPlaces(message)).toHaveLength(paths.length);
  });

  test('an unknown plugin with its own code, if it is the only problem', async () => {
    expect(await refused(base.replace('[{type: code_exec}]', '[{type: code_exce}]'))).toMatchObject(
      { code: 'PLUGIN_UNKNOWN' },
    );
  });
});
