import { readdirSync } from 'node:fs';
import { basename, join } from 'node:path';

import { describe, expect, test } from '@jest/globals';

import { prepareRun, type PreparedRun } from '#agent_rl/compose/prepare-run.ts';
import type { Config } from '#agent_rl/config/index.ts';
import { AgentRlError } from '#agent_rl/core/errors.ts';
import { packageRoot } from '#agent_rl/core/package-root.ts';
import { leavesOf, otherValues, type Leaf } from '#tests/support/other-values.ts';
import { effectsOf } from '#tests/support/run-effects.ts';

/*
 * Every setting of every shipped run file is given other values it may have. Then the run must do something else, or the
 * user must be told that the setting has no effect, or the value must be refused: nothing is accepted and ignored.
 */

const configs = join(packageRoot(), 'configs');
const template = join(packageRoot(), 'templates', 'project');
const files = [
  ...readdirSync(configs)
    .filter((name) => name.endsWith('.yaml'))
    .map((name) => join(configs, name)),
  ...['run.yaml', 'sft.yaml', 'grpo.yaml'].map((name) => join(template, name)),
];

/** Of runs whose other settings another file has too, the blocks that no other has: all takes long. */
const own: Readonly<Record<string, RegExp>> = {
  // They extend code_exec_grpo.yaml.
  'code_tasks_lora.yaml': /^(?:model|train)\b/,
  'code_exec_smoke.yaml': /^(?:rollout|train|eval|checkpoint)\b/,
  'word_game_grpo.yaml': /^(?:agents|environment)\b/,
  'word_game_two.yaml': /^(?:agents|policies)\b/,
  'word_game_sft.yaml': /^environment\b/,
  'workspace_grpo.yaml': /^(?:environment|datasets?)\b/,
  'workspace_sft.yaml': /^environment\b/,
};

/** The same runs, shorter: of their length only what is asked of them changes. */
const shorter = ({ train, eval: evaluation }: Config): string[] =>
  train.mode === 'sft'
    ? [
        'train.iterations=6',
        'train.batchSize=3',
        'train.warmupSteps=2',
        ...(evaluation.every === 0
          ? []
          : ['eval.every=2', 'eval.maxTasks=30', 'train.until.success=0.9']),
      ]
    : [
        'train.iterations=6',
        'train.warmupSteps=2',
        'checkpoint.every=2',
        'rollout.tasksPerStep=3',
        'rollout.groupSize=4',
      ];

const prepared = (file: string, overrides: readonly string[]): Promise<PreparedRun> =>
  prepareRun({ file, overrides, training: true });

/** What has to be given and can be nothing else, or is for the other jobs on the same run file. */
const given = (path: string, mode: string): boolean =>
  // A run file names its environment; episodes are played in it by `agent-rl eval` and `chat`.
  mode === 'sft' && /^environments?(?:\.\d+)?(?:\.(?:type|name))?$/.test(path);

/** What another value of a setting comes to. */
async function outcomeOf(
  { path }: Leaf,
  value: unknown,
  usual: {
    run: (sets: string[]) => Promise<PreparedRun>;
    effects: { opened: string; trained: string };
    warnings: string[];
  },
): Promise<'acts' | 'told' | 'refused' | 'nothing'> {
  try {
    const run = await usual.run([`${path}=${JSON.stringify(value)}`]);
    const told = run.loaded.warnings.filter((warning) => !usual.warnings.includes(warning));
    if (told.some((warning) => warning.includes(path) && warning.includes('no effect'))) {
      return 'told';
    }
    const { opened, trained } = await effectsOf(run);
    if (opened !== usual.effects.opened) return 'acts';
    return (await trained()) === usual.effects.trained ? 'nothing' : 'acts';
  } catch (thrown) {
    if (AgentRlError.is(thrown)) return 'refused';
    throw thrown;
  }
}

describe.each(files)('every setting of %s has an effect', (file) => {
  test('accepts no setting without effect', async () => {
    const { config } = (await prepared(file, [])).loaded;
    const { mode } = config.train;
    const base = file.endsWith('smoke.yaml') ? [] : shorter(config);
    const run = (sets: string[]) => prepared(file, [...base, ...sets]);
    const as = await run([]);
    const { opened, trained } = await effectsOf(as);
    const effects = { opened, trained: await trained() };
    const usual = { run, effects, warnings: [...as.loaded.warnings] };
    // A run that ends at once would have no use for most settings.
    expect(effects.trained).not.toMatch(/"ended":"(?!none")/);
    const ignored: string[] = [];
    const tried = own[basename(file)] ?? /^/;
    for (const leaf of leavesOf(as).filter(({ path }) => tried.test(path) && !given(path, mode))) {
      const outcomes: string[] = [];
      for (const value of otherValues(leaf)) {
        const outcome = await outcomeOf(leaf, value, usual);
        outcomes.push(outcome);
        if (outcome === 'acts' || outcome === 'told') break;
      }
      if (outcomes.at(-1) === 'acts' || outcomes.at(-1) === 'told') continue;
      if (outcomes.length > 0 && outcomes.every((one) => one === 'refused')) continue;
      ignored.push(`${leaf.path} (${outcomes.join(', ')})`);
    }
    expect(ignored).toEqual([]);
  });
});
