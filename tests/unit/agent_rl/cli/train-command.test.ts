import { describe, expect, test } from '@jest/globals';

import { train } from '#agent_rl/cli/commands/train.ts';
import { AgentRlError } from '#agent_rl/core/errors.ts';
import type { TrainingOptions } from '#agent_rl/jobs/job.ts';
import { commandLine } from '#tests/support/command-line.ts';
import { mazeRun } from '#tests/support/maze-run.ts';
import { temporaryFolder, writeBelow } from '#tests/support/temporary-folder.ts';

const folder = temporaryFolder();
const config = mazeRun(folder);

/** What the training job was given. */
async function trained(...args: string[]): Promise<TrainingOptions> {
  const given: TrainingOptions[] = [];
  const job = (options: TrainingOptions) => {
    given.push(options);
    return Promise.resolve({});
  };
  const { stderr } = await commandLine(args, { jobs: { train: job, sft: job } });
  const [options] = given;
  if (options === undefined) throw new Error(stderr);
  return options;
}

describe('--model', () => {
  test('overrides the run file and --set', async () => {
    const set = ['--set', 'model.path=org/name'];
    const { loaded } = await trained('train', '--config', config, ...set, '--model', 'm');
    expect(loaded.config.model.path).toBe('m');
  });

  test.each(['--model-path', '--hf-model-name'])('is also called %s', async (name) => {
    const { loaded } = await trained('train', '--config', config, name, 'm');
    expect(loaded.config.model.path).toBe('m');
  });

  test('is given once, by whichever of its names', async () => {
    const line = ['train', '--config', config, '--model', 'm', '--model-path', 'n'];
    expect(await commandLine(line)).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('--model was given 2 times (m, n). Give it once.'),
    });
  });
});

describe('agent-rl train', () => {
  test('gives the job the config with flags over --set over the file, and its plugins', async () => {
    const flags = ['--seed', '7', '--async-rollout-workers', '1', '--dataset-dir', 'mine'];
    const sets = ['--set', 'run.seed=5', '--set', 'train.iterations=3'];
    const { loaded, plugins, chosen, dryRun } = await trained(
      'train',
      '--config',
      config,
      ...flags,
      ...sets,
    );
    expect(loaded.config.run.seed).toBe(7);
    expect(loaded.config.train.iterations).toBe(3);
    expect(loaded.config.rollout.workers).toBe(1);
    expect(loaded.config.datasets).toEqual([{ dir: 'mine', weight: 1 }]);
    expect(plugins.environments.has('maze')).toBe(true);
    expect(chosen.policy.entry.spec.name).toBe('walker');
    expect(dryRun).toBe(false);
  });

  test('passes every named flag to its setting', async () => {
    const { loaded } = await trained(
      'train',
      '--config',
      config,
      '--train-split',
      'a',
      '--eval-split',
      'b',
      '--model',
      'm',
      '--device',
      'cuda:1',
      '--policy-type',
      'walker',
      '--preview-tasks',
      '0',
      '--output',
      'out',
      '--max-iterations',
      '2',
      '--engine-threads',
      '1',
      '--sandbox-workers',
      '4',
      '--log-rollouts',
    );
    expect(loaded.config).toMatchObject({
      dataset: { trainSplit: 'a', evalSplit: 'b' },
      model: { path: 'm' },
      run: {
        device: 'cuda:1',
        previewTasks: 0,
        outputDir: 'out',
        engineThreads: 1,
        logRollouts: true,
      },
      train: { iterations: 40, maxIterations: 2 },
      sandbox: { workers: 4 },
    });
  });

  test('resumes a run folder with its own config, or the newest run', async () => {
    const run = `${folder}/runs/one`;
    writeBelow(run, 'config.yaml', `extends: ${config}\nrun: {seed: 99}\n`);
    const resumed = await trained('train', '--resume', run);
    expect([resumed.resume, resumed.loaded.config.run.seed]).toEqual([run, 99]);
    expect((await trained('train', '--config', config, '--resume')).resume).toBe('newest');
  });

  test('sets the mode when called as sft', async () => {
    expect((await trained('sft', '--config', config)).loaded.config.train.mode).toBe('sft');
  });

  test('runs the job of the mode that the run file or --set names', async () => {
    const jobs = {
      train: () => Promise.resolve({ ran: 'train' }),
      sft: () => Promise.resolve({ ran: 'sft' }),
    };
    const args = ['train', '--config', config, '--json', '--dry-run'];
    const ranBy = async (...more: string[]): Promise<unknown> =>
      JSON.parse((await commandLine([...args, ...more], { jobs })).stdout);
    expect(await ranBy()).toEqual({ ran: 'train' });
    expect(await ranBy('--set', 'train.mode=sft')).toEqual({ ran: 'sft' });
  });

  test('needs no command as a preset', async () => {
    const job = (options: TrainingOptions) =>
      Promise.resolve({ seed: options.loaded.config.run.seed });
    const args = ['--config', config, '--seed', '3', '--json'];
    const { code, stdout } = await commandLine(args, { jobs: { train: job }, only: train });
    expect([code, JSON.parse(stdout)]).toEqual([0, { seed: 3 }]);
  });

  test('prints nothing but JSON on stdout with --json', async () => {
    const job = ({ print }: TrainingOptions) => {
      print('a table');
      return Promise.resolve({ iterations: 1 });
    };
    const { stdout, stderr } = await commandLine(['train', '--config', config, '--json'], {
      jobs: { train: job },
    });
    expect(JSON.parse(stdout)).toEqual({ iterations: 1 });
    expect(stderr).toBe('a table\n');
  });

  test('passes --quiet to the job', async () => {
    expect((await trained('train', '--config', config)).quiet).toBe(false);
    expect((await trained('train', '--config', config, '--quiet')).quiet).toBe(true);
    expect((await trained('sft', '--config', config, '--quiet')).quiet).toBe(true);
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
