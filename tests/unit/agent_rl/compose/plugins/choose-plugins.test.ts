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

const good = `environment: {type: arithmetic}
policy: {type: parrot, thinking: true}
tools: [{type: calculator, limit: 3}]
rewards: [{type: brevity, weight: 0.5}]
`;

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
    const { code, message } = thrownBy(() =>
      chosen(good.replace('type: calculator', 'type: calculater')),
    );
    expect(code).toBe('PLUGIN_UNKNOWN');
    expect(problemPlaces(message)).toEqual([expect.stringMatching(/:4:16 tools\.0\.type$/)]);
    expect(message).toContain('Did you mean "calculator"?');
  });

  test('names the file whose list of plugins replaced that of the extended file', () => {
    writeBelow(folder, 'base.yaml', 'plugins: [./own.ts, ./kept.ts]');
    const text = good.replace('type: calculator', 'type: own');
    const { message } = thrownBy(() => chosen(`extends: base.yaml\nplugins: [./kept.ts]\n${text}`));
    expect(message).toMatch(/run-\d+\.yaml replaces the list of \S*base\.yaml, .*\.\/own\.ts/);
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
    ['an environment without a required tool', '[]', 'tools'],
    ['a duplicate tool', '[{type: calculator}, {type: calculator}]', 'tools.1.type'],
  ])('refuses %s', (_, tools, path) => {
    const text = good.replace('[{type: calculator, limit: 3}]', tools);
    expect(refused(() => chosen(text))).toEqual([path]);
  });
});

describe('A strategy of evaluations', () => {
  const evaluating = (text: string) =>
    chosen(
      `${good.replace('weight: 0.5}', 'weight: 0.5}, {type: manners, weight: 0}')}eval: {samples: 4, temperature: 1, ${text}}\n`,
    );

  test('may be best-of-n with the log-probability or a blind reward', () => {
    expect(() => evaluating('strategy: best-of-n')).not.toThrow();
    const { rewards: some } = evaluating('strategy: best-of-n, selector: manners');
    expect(some.map(({ name, blind }) => [name, blind])).toEqual([
      ['brevity', false],
      ['manners', true],
    ]);
  });

  test.each([
    ['the selector sees the answer', 'strategy: best-of-n, selector: brevity', 'eval.selector'],
    ['the selector is the verdict', 'strategy: best-of-n, selector: environment', 'eval.selector'],
    ['the selector is unknown', 'strategy: best-of-n, selector: judge', 'eval.selector'],
    ['the environment reports no answers', 'strategy: majority', 'eval.strategy'],
  ])('is refused if %s', (_, text, path) => {
    expect(refused(() => evaluating(text))).toEqual([path]);
  });
});

describe('The rewards of a run', () => {
  const withRewards = (text: string) =>
    chosen(good.replace('[{type: brevity, weight: 0.5}]', `[${text}]`));

  test('a reward is named by type and tool, or by the run file', () => {
    const { rewards: some } = withRewards(
      '{type: brevity}, {type: brevity, tool: calculator, weight: 0}, {type: brevity, name: short}',
    );
    expect(some.map(({ name, tool, weight, settings }) => [name, tool, weight, settings])).toEqual([
      ['brevity', undefined, 1, { limit: 10 }],
      ['calculator/brevity', 'calculator', 0, { limit: 10 }],
      ['short', undefined, 1, { limit: 10 }],
    ]);
  });

  test.each([
    ['{type: brevity}, {type: brevity}', 'rewards.1'],
    ['{type: brevity, tool: search}', 'rewards.0.tool'],
    ['{type: brevity, name: environment}', 'rewards.0'],
    ['{type: brevity, name: invalidCalls}', 'rewards.0'],
  ])('a reward is refused: %s', (text, path) => {
    expect(refused(() => withRewards(text))).toEqual([path]);
  });
});

describe('The reward manager', () => {
  const withManager = (text: string) =>
    chosen(good.replace('rewards: [{type: brevity, weight: 0.5}]', text));

  test('is weighted by default', () => {
    expect(chosen(good).rewardManager.entry.spec.name).toBe('weighted');
    const text = 'rewards: [{type: brevity}]\nrewardManager: {type: pca}';
    expect(withManager(text).rewardManager.entry.spec.name).toBe('pca');
  });

  test.each([
    ['rewardManager: {type: pca}', 'rewardManager.type'],
    ['rewards: [{type: brevity, weight: 0.5}]\nrewardManager: {type: std}', 'rewardManager.type'],
    [
      'algorithm: {environmentWeight: 2}\nrewards: [{type: brevity}]\nrewardManager: {type: l2}',
      'rewardManager.type',
    ],
    ['rewardManager: {type: ranking, ties: 1}', 'rewardManager.ties'],
  ])('is refused: %s', (text, path) => {
    expect(refused(() => withManager(text))).toEqual([path]);
  });

  test('may be normalised with any weights, or ranking with one reward', () => {
    const text = 'rewards: [{type: brevity, weight: 0.5}]\nrewardManager: {type: normalised}';
    expect(withManager(text).rewardManager.entry.spec.name).toBe('normalised');
    const alone = 'rewardManager: {type: ranking}';
    expect(withManager(alone).rewardManager.entry.spec.name).toBe('ranking');
  });
});

describe('The setting policy.toolCallFormat', () => {
  const withFormat = (format: string) =>
    chosen(good.replace('thinking: true', `thinking: true, toolCallFormat: ${format}`));

  test('is inferred from the chat template by default', () => {
    expect(chosen(good).toolCallFormat).toBeUndefined();
    expect(withFormat('auto').toolCallFormat).toBeUndefined();
    expect(withFormat('{type: auto}').toolCallFormat).toBeUndefined();
  });

  test('takes a name, or a block with the settings of that format', () => {
    expect(withFormat('shouted').toolCallFormat).toMatchObject({
      entry: { plugin: Shouted },
      settings: { limit: 10 },
    });
    expect(withFormat('{type: shouted, limit: 3}').toolCallFormat?.settings).toEqual({ limit: 3 });
    expect(withFormat('hermes').toolCallFormat?.settings).toEqual({});
  });

  test.each([
    ['{type: shouted, limt: 3}', 'policy.toolCallFormat.limt'],
    ['{type: auto, limit: 3}', 'policy.toolCallFormat'],
    ['{limit: 3}', 'policy.toolCallFormat'],
    ['3', 'policy.toolCallFormat'],
  ])('refuses %s', (format, path) => {
    expect(refused(() => withFormat(format))).toEqual([path]);
  });
});

describe('The trackers of a run', () => {
  const withTrackers = (text: string) => chosen(`${good}\ntrackers: ${text}\n`).trackers;

  test('each tracker has its settings and limits', () => {
    expect(withTrackers('[]')).toEqual([]);
    expect(withTrackers('[{type: notes, limit: 3, closeS: 2}]')).toMatchObject([
      { settings: { limit: 3 }, limits: { queue: 1000, deadlineS: 10, closeS: 2 } },
    ]);
  });

  test('TensorBoard is the default', () => {
    const [usual, ...others] = chosen(good).trackers;
    expect(usual?.entry.spec.name).toBe('tensorboard');
    expect(usual?.limits).toEqual({ queue: 1000, deadlineS: 10, closeS: 30 });
    expect(others).toEqual([]);
  });

  test.each([
    ['[{type: notes}, {type: notes}]', 'trackers.1.type'],
    ['[{type: notes, closeS: 0}]', 'trackers.0.closeS'],
    ['[{type: notes, close: 1}]', 'trackers.0.close'],
  ])('a tracker is refused: %s', (text, path) => {
    expect(refused(() => withTrackers(text))).toEqual([path]);
  });
});
