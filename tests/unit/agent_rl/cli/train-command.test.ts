import { describe, expect, test } from '@jest/globals';

import { train } from '#agent_rl/cli/commands/train.ts';
import { AgentRlError } from '#agent_rl/core/errors.ts';
import type { TrainingOptions } from '#agent_rl/jobs/job.ts';
import { commandLine, jobOf } from '#tests/support/command-line.ts';
import { mazeRun } from '#tests/support/maze-run.ts';
import { temporaryFolder, writeBelow } from '#tests/support/temporary-folder.ts';

const folder = temporaryFolder();
const config = mazeRun(folder);

/** What the job was given. */
const trained = async (line: string, name: 'train' | 'sft' = 'train'): Promise<TrainingOptions> =>
  (await jobOf(name, `${name} ${line}`)).given;

describe('agent-rl train', () => {
  test('gives the job the config with flags over --set over the file, and its plugins', async () => {
    const { loaded, plugins, chosen, dryRun } = await trained(
      `--config ${config} --seed 7 --dataset-dir mine --set run.seed=5 --set train.iterations=3`,
    );
    expect(loaded.config.run.seed).toBe(7);
    expect(loaded.config.train.iterations).toBe(3);
    expect(loaded.config.datasets).toEqual([{ dir: 'mine', weight: 1 }]);
    expect(plugins.environments.has('maze')).toBe(true);
    expect(chosen.policy.entry.spec.name).toBe('walker');
    expect(dryRun).toBe(false);
  });

  test.each([
    ['--train-split a --eval-split b', { dataset: { trainSplit: 'a', evalSplit: 'b' } }],
    ['--set model.path=org/name --model m', { model: { path: 'm' } }],
    ['--model-path m', { model: { path: 'm' } }],
    ['--hf-model-name m', { model: { path: 'm' } }],
    ['--device cuda:1 --engine-threads 1', { run: { device: 'cuda:1', engineThreads: 1 } }],
    ['--preview-tasks 0 --output out', { run: { previewTasks: 0, outputDir: 'out' } }],
    ['--log-rollouts', { run: { logRollouts: true } }],
    ['--max-iterations 2', { train: { iterations: 40, maxIterations: 2 } }],
    ['--sandbox-workers 4', { sandbox: { workers: 4 } }],
    ['--async-rollout-workers 1', { rollout: { workers: 1 } }],
  ])('has, for the flags %s, the settings %j', async (flags, expected) => {
    const { loaded } = await trained(`--config ${config} --policy-type walker ${flags}`);
    expect(loaded.config).toMatchObject(expected);
  });

  test('resumes a run folder with its own config, or the newest run', async () => {
    const run = `${folder}/runs/one`;
    writeBelow(run, 'config.yaml', `extends: ${config}\nrun: {seed: 99}\n`);
    const resumed = await trained(`--resume ${run}`);
    expect([resumed.resume, resumed.loaded.config.run.seed]).toEqual([run, 99]);
    expect((await trained(`--config ${config} --resume`)).resume).toBe('newest');
  });

  test('runs the job of the mode that its name, the run file or --set names', async () => {
    const { loaded } = await trained(`--config ${config}`, 'sft');
    expect(loaded.config.train.mode).toBe('sft');
    const set = `train --config ${config} --dry-run --set train.mode=sft`;
    expect((await jobOf('sft', set)).given.dryRun).toBe(true);
  });

  test('needs no command as a preset', async () => {
    const job = (options: TrainingOptions) =>
      Promise.resolve({ seed: options.loaded.config.run.seed });
    const args = ['--config', config, '--seed', '3', '--json'];
    const { code, stdout } = await commandLine(args, { jobs: { train: job }, only: train });
    expect([code, JSON.parse(stdout)]).toEqual([0, { seed: 3 }]);
  });

  test.each(['train', 'sft'] as const)('passes --quiet to the job of %s', async (name) => {
    expect((await trained(`--config ${config}`, name)).quiet).toBe(false);
    expect((await trained(`--config ${config} --quiet`, name)).quiet).toBe(true);
  });

  test('shows as text what could act on the terminal, in results and in errors', async () => {
    const hostile = '\u001B[2J\u001B]0;title\u0007\u009B1A';
    const shown = String.raw`\x1b[2J\x1b]0;title\x07\x9b1A`;
    const prints = ({ print }: TrainingOptions) => {
      print(hostile);
      return Promise.reject(new AgentRlError('DATASET_INVALID', hostile + 'x'.repeat(3000)));
    };
    const { stdout, stderr } = await commandLine(['train', '--config', config], {
      jobs: { train: prints },
    });
    expect(stdout).toBe(`${shown}\n`);
    // 17 characters come before the message, 17 are hostile.
    expect(stderr).toBe(`DATASET_INVALID: ${shown}${'x'.repeat(1966)}… (1034 more characters)\n`);
  });
});

describe('agent-rl plugins', () => {
  test('shows a table of the settings of a plugin', async () => {
    const { code, stdout } = await commandLine(['plugins', 'code_exec']);
    expect(code).toBe(0);
    expect(stdout).toMatch(/^Tool code_exec \(built in\)\nRun a Python program/);
    expect(stdout).toMatch(/\n {2}sessionS +number +Total seconds/);
    expect(stdout).toMatch(/Arguments of a call\n {2}Name[^]*\n {2}code +string +required /);
    expect(stdout).toContain('\nEnvironment code_exec (built in)\n');
    const one = await commandLine(['plugins', 'mrr', '--json']);
    const settings = expect.anything() as unknown;
    expect(JSON.parse(one.stdout)).toMatchObject([{ kind: 'reward', name: 'mrr', settings }]);
  });

  test.each([
    ['code_exce', /no plugin is named "code_exce"\. Did you mean code_exec\?/],
    ['atack', /Did you mean plugins attack\?/],
    ['algoritms', /Did you mean plugins algorithms\?/],
  ])('suggests what was meant with %s, which no plugin is named', async (name, meant) => {
    const { code, stderr } = await commandLine(['plugins', name]);
    expect([code, stderr]).toEqual([2, expect.stringMatching(meant)]);
  });

  test('lists the built-in plugins and the plugins that are named', async () => {
    const args = ['plugins', '--plugin', `${folder}/world.mjs`];
    const { stdout } = await commandLine(args);
    expect(stdout).toContain(`  maze       A plugin. (${folder}/world.mjs)`);
    const known = JSON.parse((await commandLine([...args, '--json'])).stdout) as { name: string }[];
    expect(known.map(({ name }) => name)).toEqual(expect.arrayContaining(['minimind', 'maze']));
  });

  test('lists before it refuses a wrong setting', async () => {
    const args = ['plugins', '--config', config, '--set', 'environment.each=x'];
    const { code, stdout, stderr } = await commandLine(args);
    expect([code, stdout]).toEqual([2, expect.stringContaining('  maze  ')]);
    expect(stderr).toMatch(/CONFIG_INVALID: [^]*environment\.each/);
    const other = await commandLine(['plugins', '--set', 'run.seed=1']);
    expect(other.stderr).toMatch(/run\.seed=1 .*--config/);
  });
});
