import { describe, expect, test } from '@jest/globals';
import { choosePlugins } from '#agent_rl/compose/plugins/choose-plugins.ts';
import { loadConfig } from '#agent_rl/config/index.ts';
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

describe('choosing plugins', () => {
  test('gives each its own settings with defaults, and only those', () => {
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

  test('refuses tools that the agents of all environments would never call, and what a schema cannot check', () => {
    const outside = good.replace('type: arithmetic', 'type: outside');
    const { message } = thrownBy(() => chosen(outside));
    expect(message).toMatch(/:2:14 environment: names no agent\. Add command\./);
    expect(message).toMatch(
      /:4:8 tools: the agent of outside runs its own loop with its own tools, and would never call these\. Leave tools out\./,
    );
    const command = outside.replace('type: outside', 'type: outside, command: x');
    const { environments: worlds } = chosen(command.replace(/^tools.*$/m, 'tools: []'));
    expect(worlds[0]?.settings).toEqual({ command: 'x' });
    const both = command.replace(/^environment: (.*)$/m, 'environment: [$1, {type: arithmetic}]');
    expect(chosen(both).environments).toHaveLength(2);
  });

  test('reports a misspelt plugin with its place and the nearest name', () => {
    const { code, message } = thrownBy(() =>
      chosen(good.replace('type: calculator', 'type: calculater')),
    );
    expect(code).toBe('PLUGIN_UNKNOWN');
    expect(message).toMatch(
      /run-\d+\.yaml:4:16 tools\.0\.type: no tool is named "calculater"\. Did you mean "calculator"\? Known: calculator\./,
    );
  });

  test('says when the list of plugins of an extended file was replaced, and by which file', () => {
    writeBelow(folder, 'base.yaml', 'plugins: [./own.ts, ./kept.ts]');
    const text = good.replace('type: calculator', 'type: own');
    const { message } = thrownBy(() => chosen(`extends: base.yaml\nplugins: [./kept.ts]\n${text}`));
    expect(message).toMatch(
      /plugins: in \S*run-\d+\.yaml replaces the list of \S*base\.yaml and leaves out \.\/own\.ts: add to it/,
    );
    const { message: whole } = thrownBy(() => chosen(`extends: base.yaml\n${text}`));
    expect(whole).not.toContain('replaces');
  });

  test('reports wrong settings of every plugin at once, with their places', () => {
    const text = `environment: {type: arithmetic, penaltee: 1}
policy: {type: parrot, maxTurnTokns: 3}
tools: [{type: calculator, limit: 0}]
rewards: [{type: brevity, wieght: 2}]
`;
    const { code, message } = thrownBy(() => chosen(text));
    expect(code).toBe('CONFIG_INVALID');
    expect(message).toContain(
      '2:33 environment.penaltee: is not a known key. Did you mean "penalty"?',
    );
    expect(message).toContain(
      '3:24 policy.maxTurnTokns: is not a known key. Did you mean "maxTurnTokens"?',
    );
    expect(message).toContain('4:35 tools.0.limit: must be >= 1, got 0.');
    expect(message).toContain('5:27 rewards.0.wieght: is not a known key. Did you mean "weight"?');
  });

  test('an environment without a tool it cannot do without is refused', () => {
    const { message } = thrownBy(() =>
      chosen(good.replace('[{type: calculator, limit: 3}]', '[]')),
    );
    expect(message).toContain(
      'tools: environment arithmetic cannot do without the tool "calculator". Add "- type: calculator".',
    );
  });

  test('a tool named twice is refused', () => {
    const twice = '[{type: calculator}, {type: calculator}]';
    const { message } = thrownBy(() =>
      chosen(good.replace('[{type: calculator, limit: 3}]', twice)),
    );
    expect(message).toContain('tools.1.type: "calculator" is already tools.0. Keep one.');
  });
});

describe('strategies of evaluations', () => {
  const evaluating = (text: string) =>
    chosen(
      `${good.replace('weight: 0.5}', 'weight: 0.5}, {type: manners, weight: 0}')}eval: {samples: 4, temperature: 1, ${text}}\n`,
    );

  test('best-of-n chooses by the log-probability or by a reward that cannot see what is right', () => {
    expect(() => evaluating('strategy: best-of-n')).not.toThrow();
    const { rewards: some } = evaluating('strategy: best-of-n, selector: manners');
    expect(some.map(({ name, blind }) => [name, blind])).toEqual([
      ['brevity', false],
      ['manners', true],
    ]);
  });

  test.each(['brevity', 'environment'])(
    'what sees it, such as %s, is called an oracle and refused',
    (selector) => {
      const { code, message } = thrownBy(() =>
        evaluating(`strategy: best-of-n, selector: ${selector}`),
      );
      expect(code).toBe('CONFIG_INVALID');
      expect(message).toContain(
        `eval.selector: "${selector}" sees what is right: to choose by it is an oracle and no strategy, and pass@k says what it would give. Use one of: log-probability, manners.`,
      );
    },
  );

  test('a reward that the run has not is named', () => {
    const { message } = thrownBy(() => evaluating('strategy: best-of-n, selector: judge'));
    expect(message).toContain('eval.selector: no reward of this run is named "judge". Use one of:');
  });

  test('majority needs an environment that says what was answered', () => {
    const { code, message } = thrownBy(() => evaluating('strategy: majority'));
    expect(code).toBe('CONFIG_INVALID');
    expect(message).toContain(
      'eval.strategy: majority counts answers, and environment arithmetic does not say what an attempt answered.',
    );
  });
});

describe('rewards', () => {
  const withRewards = (text: string) =>
    chosen(good.replace('[{type: brevity, weight: 0.5}]', `[${text}]`));

  test('are named by their type and the tool they look at, or as the run file says', () => {
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
    ['{type: brevity}, {type: brevity}', 'rewards.1: "brevity" is already rewards.0. Give one'],
    [
      '{type: brevity, tool: search}',
      'rewards.0.tool: no tool of this run is named "search". Tools: calculator.',
    ],
    ['{type: brevity, name: environment}', 'rewards.0: "environment" is a part of every reward.'],
    ['{type: brevity, name: invalidCalls}', '"invalidCalls" is a part of every reward.'],
  ])('%s is refused', (text, problem) => {
    expect(thrownBy(() => withRewards(text)).message).toContain(problem);
  });
});

describe('the reward manager', () => {
  const withManager = (text: string) =>
    chosen(good.replace('rewards: [{type: brevity, weight: 0.5}]', text));

  test('is weighted unless another is named', () => {
    expect(chosen(good).rewardManager.entry.spec.name).toBe('weighted');
    const text = 'rewards: [{type: brevity}]\nrewardManager: {type: pca}';
    expect(withManager(text).rewardManager.entry.spec.name).toBe('pca');
  });

  test.each([
    [
      'rewardManager: {type: pca}',
      "5:23 rewardManager.type: pca combines several rewards, and the environment's own is the only one",
    ],
    [
      'rewards: [{type: brevity, weight: 0.5}]\nrewardManager: {type: std}',
      'rewardManager.type: std computes the weights itself, so weight 0.5 would have no effect',
    ],
    [
      'algorithm: {environmentWeight: 2}\nrewards: [{type: brevity}]\nrewardManager: {type: l2}',
      'rewardManager.type: l2 computes the weights itself, so weight 2 would have no effect',
    ],
    [
      'rewardManager: {type: rankin}',
      'rewardManager.type: no reward manager is named "rankin". Did you mean "ranking"?',
    ],
    ['rewardManager: {type: ranking, ties: 1}', 'rewardManager.ties: is not a known key.'],
  ])('%s is refused', (text, problem) => {
    expect(thrownBy(() => withManager(text)).message).toContain(problem);
  });

  test('that uses weights takes any, and ranking is content with one reward', () => {
    const text = 'rewards: [{type: brevity, weight: 0.5}]\nrewardManager: {type: normalised}';
    expect(withManager(text).rewardManager.entry.spec.name).toBe('normalised');
    const alone = 'rewardManager: {type: ranking}';
    expect(withManager(alone).rewardManager.entry.spec.name).toBe('ranking');
  });
});

describe('policy.toolCallFormat', () => {
  const withFormat = (format: string) =>
    chosen(good.replace('thinking: true', `thinking: true, toolCallFormat: ${format}`));

  test('is found from the chat template unless it is named', () => {
    expect(chosen(good).toolCallFormat).toBeUndefined();
    expect(withFormat('auto').toolCallFormat).toBeUndefined();
    expect(withFormat('{type: auto}').toolCallFormat).toBeUndefined();
  });

  test('is a name, or a block with the settings of that format', () => {
    expect(withFormat('shouted').toolCallFormat).toMatchObject({
      entry: { plugin: Shouted },
      settings: { limit: 10 },
    });
    expect(withFormat('{type: shouted, limit: 3}').toolCallFormat?.settings).toEqual({ limit: 3 });
    expect(withFormat('hermes').toolCallFormat?.settings).toEqual({});
  });

  test.each([
    [
      'shoutd',
      /policy.toolCallFormat: no tool-call format is named "shoutd". Did you mean "shouted"\? Known: hermes, shouted/,
    ],
    [
      '{type: shouted, limt: 3}',
      /policy.toolCallFormat.limt: is not a known key. Did you mean "limit"/,
    ],
    ['{type: auto, limit: 3}', /"auto" takes no settings: name the format/],
    ['{limit: 3}', /policy.toolCallFormat: names no format/],
    ['3', /policy.toolCallFormat: expected text or a block of keys and values, got 3/],
  ])('that is %s is refused with its place', (format, message) => {
    expect(() => withFormat(format)).toThrow(message);
  });
});

describe('trackers', () => {
  const withTrackers = (text: string) => chosen(`${good}\ntrackers: ${text}\n`).trackers;

  test('are those that are listed, each with its settings and what it is allowed', () => {
    expect(withTrackers('[]')).toEqual([]);
    expect(withTrackers('[{type: notes, limit: 3, closeS: 2}]')).toMatchObject([
      { settings: { limit: 3 }, limits: { queue: 1000, deadlineS: 10, closeS: 2 } },
    ]);
  });

  test('are TensorBoard alone where nothing is said', () => {
    const [usual, ...others] = chosen(good).trackers;
    expect(usual?.entry.spec.name).toBe('tensorboard');
    expect(usual?.limits).toEqual({ queue: 1000, deadlineS: 10, closeS: 30 });
    expect(others).toEqual([]);
  });

  test.each([
    ['[{type: note}]', 'trackers.0.type: no tracker is named "note". Did you mean "notes"?'],
    ['[{type: notes}, {type: notes}]', 'trackers.1.type: "notes" is already trackers.0. Keep one.'],
    ['[{type: notes, closeS: 0}]', 'trackers.0.closeS: must be >= 0.001, got 0'],
    ['[{type: notes, close: 1}]', 'trackers.0.close: is not a known key.'],
  ])('%s is refused', (text, problem) => {
    expect(thrownBy(() => withTrackers(text)).message).toContain(problem);
  });
});
