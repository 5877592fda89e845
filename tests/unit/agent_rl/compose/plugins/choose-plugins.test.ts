import { describe, expect, test } from '@jest/globals';
import { choosePlugins } from '#agent_rl/compose/plugins/choose-plugins.ts';
import { loadConfig } from '#agent_rl/config/index.ts';
import { problemPaths, problemPlaces } from '#tests/support/problem-places.ts';
import { temporaryFolder, writeBelow } from '#tests/support/temporary-folder.ts';
import { thrownBy } from '#tests/support/thrown.ts';
import { Calculator, plugins, Shouted } from '#tests/support/choosable-plugins.ts';

const folder = temporaryFolder();
let count = 0;
const chosen = (text: string) => {
  const file = writeBelow(folder, `run-${count++}.yaml`, `datasets: [{dir: tasks}]\n${text}`);
  return choosePlugins(loadConfig({ file }), plugins);
};

/** A run file with some of its blocks replaced. */
const runWith = ({
  thinking = 'thinking: true',
  tools = '[{type: calculator, limit: 3}]',
  rewards = '[{type: brevity, weight: 0.5}]',
  more = '',
}) => `environment: {type: arithmetic}
policy: {type: parrot, ${thinking}}
tools: ${tools}
rewards: ${rewards}
${more}
`;
const good = runWith({});
const manager = (type: string) => `rewardManager: {type: ${type}}`;
const twoRewards = '[{type: brevity}, {type: manners, weight: 0}]';
/** A run file with the strategy of evaluations, and a reward that sees no answers. */
const evaluating = (text: string) =>
  runWith({ rewards: twoRewards, more: `eval: {samples: 4, temperature: 1, ${text}}` });
const format = (value: string) => runWith({ thinking: `toolCallFormat: ${value}` });
const trackers = (list: string) => runWith({ more: `trackers: ${list}` });

const twice = `${manager('l2')}\nalgorithm: {environmentWeight: 2}`;

/** The settings that are refused. */
const refused = (read: () => unknown) => {
  const { code, message } = thrownBy(read);
  expect(code).toBe('CONFIG_INVALID');
  return problemPaths(message);
};

describe('Choosing plugins', () => {
  test('gives each plugin its own settings with defaults', () => {
    const { environments: worlds, policy, tools: some, rewards: added } = chosen(good);
    expect(worlds.map(({ name, settings }) => [name, settings])).toEqual([
      ['arithmetic', { penalty: -0.1 }],
    ]);
    expect(policy.settings).toEqual({ thinking: true });
    expect(some.map(({ entry, settings }) => [entry.plugin, settings])).toEqual([
      [Calculator, { limit: 3 }],
    ]);
    expect(added.map(({ settings, weight }) => [settings, weight])).toEqual([[{ limit: 10 }, 0.5]]);
    expect(Object.isFrozen(worlds[0]?.settings)).toBe(true);
  });

  test('refuses tools that only external agents would ignore, and settings that a plugin refuses', () => {
    const outside = good.replace('type: arithmetic', 'type: outside');
    expect(refused(() => chosen(outside))).toEqual(['environment', 'tools']);
    const command = outside.replace('type: outside', 'type: outside, command: x');
    const { environments: worlds } = chosen(command.replace(/^tools.*$/m, 'tools: []'));
    expect(worlds[0]?.settings).toEqual({ command: 'x' });
    const both = command.replace(/^environment: (.*)$/m, 'environment: [$1, {type: arithmetic}]');
    expect(chosen(both).environments).toHaveLength(2);
  });

  test('names an unknown plugin with its place and the nearest name', () => {
    const text = runWith({ tools: '[{type: calculater}]' });
    const { code, message } = thrownBy(() => chosen(text));
    expect(code).toBe('PLUGIN_UNKNOWN');
    expect(problemPlaces(message)).toEqual([expect.stringMatching(/:4:16 tools\.0\.type$/)]);
    expect(message).toContain('Did you mean "calculator"?');
  });

  test('names the file whose list of plugins replaced that of the extended file', () => {
    writeBelow(folder, 'base.yaml', 'plugins: [./own.ts, ./kept.ts]');
    const text = good.replace('type: calculator', 'type: own');
    const { message } = thrownBy(() => chosen(`extends: base.yaml\nplugins: [./kept.ts]\n${text}`));
    expect(message).toMatch(
      /the list in \S*run-\d+\.yaml replaces the list in \S*base\.yaml, .*\.\/own\.ts/,
    );
    const { message: whole } = thrownBy(() => chosen(`extends: base.yaml\n${text}`));
    expect(whole).not.toContain('replaces');
  });

  test('reports wrong settings of all plugins at once, with their places', () => {
    const text = `environment: {type: arithmetic, penaltee: 1}
policy: {type: parrot, maxTurnTokns: 3}
tools: [{type: calculator, limit: 0}]
rewards: [{type: brevity, wieght: 2}]
`;
    const { code, message } = thrownBy(() => chosen(text));
    expect(code).toBe('CONFIG_INVALID');
    expect(problemPlaces(message).map((place) => place.replace(/^\S+?yaml:/, ''))).toEqual([
      '2:33 environment.penaltee',
      '3:24 policy.maxTurnTokns',
      '4:35 tools.0.limit',
      '5:27 rewards.0.wieght',
    ]);
    for (const name of ['penalty', 'maxTurnTokens', 'weight'])
      expect(message).toContain(`Did you mean "${name}"?`);
  });

  test.each([
    [runWith({ tools: '[]' }), 'tools'],
    [runWith({ tools: '[{type: calculator}, {type: calculator}]' }), 'tools.1.type'],
    [evaluating('strategy: best-of-n, selector: brevity'), 'eval.selector'],
    [evaluating('strategy: best-of-n, selector: environment'), 'eval.selector'],
    [evaluating('strategy: best-of-n, selector: judge'), 'eval.selector'],
    [evaluating('strategy: majority'), 'eval.strategy'],
    [runWith({ rewards: '[{type: brevity}, {type: brevity}]' }), 'rewards.1'],
    [runWith({ rewards: '[{type: brevity, tool: search}]' }), 'rewards.0.tool'],
    [runWith({ rewards: '[{type: brevity, name: environment}]' }), 'rewards.0'],
    [runWith({ rewards: '[{type: brevity, name: invalidCalls}]' }), 'rewards.0'],
    [runWith({ rewards: '[]', more: manager('pca') }), 'rewardManager.type'],
    [runWith({ more: manager('std') }), 'rewardManager.type'],
    [runWith({ rewards: '[{type: brevity}]', more: twice }), 'rewardManager.type'],
    [runWith({ more: manager('ranking, ties: 1') }), 'rewardManager.ties'],
    [format('{type: shouted, limt: 3}'), 'policy.toolCallFormat.limt'],
    [format('{type: auto, limit: 3}'), 'policy.toolCallFormat'],
    [format('{limit: 3}'), 'policy.toolCallFormat'],
    [format('3'), 'policy.toolCallFormat'],
    [trackers('[{type: notes}, {type: notes}]'), 'trackers.1.type'],
    [trackers('[{type: notes, closeS: 0}]'), 'trackers.0.closeS'],
    [trackers('[{type: notes, close: 1}]'), 'trackers.0.close'],
  ])('refuses in %j the setting %s', (text, path) => {
    expect(refused(() => chosen(text))).toEqual([path]);
  });
});

test('a strategy of evaluations may be best-of-n with the log-probability or a blind reward', () => {
  expect(() => chosen(evaluating('strategy: best-of-n'))).not.toThrow();
  const { rewards: some } = chosen(evaluating('strategy: best-of-n, selector: manners'));
  const blind = some.map((one) => `${one.name} ${one.blind}`);
  expect(blind).toEqual(['brevity false', 'manners true']);
});

test('a reward is named by type and tool, or by the run file', () => {
  const others = '{type: brevity, tool: calculator, weight: 0}, {type: brevity, name: short}';
  const { rewards: some } = chosen(runWith({ rewards: `[{type: brevity}, ${others}]` }));
  expect(some.map(({ name, tool, weight, settings }) => [name, tool, weight, settings])).toEqual([
    ['brevity', undefined, 1, { limit: 10 }],
    ['calculator/brevity', 'calculator', 0, { limit: 10 }],
    ['short', undefined, 1, { limit: 10 }],
  ]);
});

test.each([
  [good, 'weighted'],
  [runWith({ rewards: '[{type: brevity}]', more: manager('pca') }), 'pca'],
  [runWith({ more: manager('normalised') }), 'normalised'],
  [runWith({ rewards: '[]', more: manager('ranking') }), 'ranking'],
])('the reward manager of %j is %s', (text, name) => {
  expect(chosen(text).rewardManager.entry.spec.name).toBe(name);
});

describe('The setting policy.toolCallFormat', () => {
  test.each([good, format('auto'), format('{type: auto}')])('is inferred in %j', (text) => {
    expect(chosen(text).toolCallFormat).toBeUndefined();
  });

  test('takes a name, or a block with the settings of that format', () => {
    const shouted = { entry: { plugin: Shouted }, settings: { limit: 10 } };
    expect(chosen(format('shouted')).toolCallFormat).toMatchObject(shouted);
    const limited = chosen(format('{type: shouted, limit: 3}')).toolCallFormat;
    expect(limited?.settings).toEqual({ limit: 3 });
  });
});

test('each tracker has its settings and limits, and TensorBoard is the default', () => {
  expect(chosen(trackers('[]')).trackers).toEqual([]);
  expect(chosen(trackers('[{type: notes, limit: 3, closeS: 2}]')).trackers).toMatchObject([
    { settings: { limit: 3 }, limits: { queue: 1000, deadlineS: 10, closeS: 2 } },
  ]);
  const limits = { queue: 1000, deadlineS: 10, closeS: 30 };
  const usual = { entry: { spec: { name: 'tensorboard' } }, limits };
  expect(chosen(good).trackers).toMatchObject([usual]);
});
