import { beforeAll, describe, expect, test } from '@jest/globals';

import { train } from '#agent_rl/cli/commands/train.ts';
import type { TrainingOptions } from '#agent_rl/jobs/train/training-options.ts';
import { AgentRlError, type ErrorCode } from '#agent_rl/core/errors.ts';
import { StrayFailure } from '#agent_rl/core/stopping/stray-failure.ts';
import { commandLine } from '#tests/support/command-line.ts';
import { temporaryFolder, writeBelow } from '#tests/support/temporary-folder.ts';

const folder = temporaryFolder();
let config = '';

const plugin = (kind: string, name: string) => `
  export class Plugin${kind} { start() {} step() {} finish() {} begin() {} act() {} observe() {} release() {} }
  Object.defineProperty(Plugin${kind}, Symbol.for('agent_rl.plugin'), {
    value: [{ kind: '${kind}', spec: { name: '${name}', description: 'A plugin.'${kind === 'environment' ? ", taskFormat: 'plain'" : ''} } }],
  });`;

beforeAll(() => {
  writeBelow(folder, 'world.mjs', plugin('environment', 'maze') + plugin('policy', 'walker'));
  config = writeBelow(
    folder,
    'run.yaml',
    'environment: {type: maze}\npolicy: {type: walker}\ndataset: {dir: tasks}\nplugins: [./world.mjs]\n',
  );
});

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
  test('is a folder, whatever model of the hub the run file names', async () => {
    const { loaded } = await trained(
      'train',
      '--config',
      config,
      '--set',
      'model.hfModelName=org/name',
      '--model',
      'm',
    );
    expect([loaded.config.model.path, loaded.config.model.hfModelName]).toEqual(['m', undefined]);
  });

  test('is a model of the hub where it is named like one and no such folder is there', async () => {
    const hub = await trained('train', '--config', config, '--model', 'org/name');
    expect(hub.loaded.config.model.hfModelName).toBe('org/name');
    const shipped = await trained('train', '--config', config, '--model', 'model/starter');
    expect(shipped.loaded.config.model).toMatchObject({ path: 'model/starter' });
  });

  test('has earlier names', async () => {
    for (const old of ['--model-path', '--hf-model-name']) {
      const { loaded } = await trained('train', '--config', config, old, 'm');
      expect(loaded.config.model.path).toBe('m');
    }
  });
});

describe('options that would do nothing', () => {
  test.each([
    ['eval', '--max-iterations', '3'],
    ['eval', '--train-split', 'other'],
    ['eval', '--log-rollouts'],
    ['chat', '--prompt', 'Hello.', '--async-rollout-workers', '4'],
    ['chat', '--prompt', 'Hello.', '--eval-split', 'other'],
  ])('are unknown to %s: %s %s', async (...args) => {
    const { code, stderr } = await commandLine([...args, '--config', config]);
    expect(code).toBe(2);
    expect(stderr).toMatch(/Unknown option/);
  });

  test('are refused where only one of two can have an effect', async () => {
    const both = ['eval', 'runs/one', '--model', 'model/other', '--config', config];
    const { code, stderr } = await commandLine(both);
    expect(code).toBe(2);
    expect(stderr).toContain('checkpoint runs/one and model model/other were both given');
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

  test('every named flag reaches its setting', async () => {
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

  test('--resume takes a run folder, whose own config is used, or means the newest run', async () => {
    const run = `${folder}/runs/one`;
    writeBelow(run, 'config.yaml', `extends: ${config}\nrun: {seed: 99}\n`);
    const resumed = await trained('train', '--resume', run);
    expect([resumed.resume, resumed.loaded.config.run.seed]).toEqual([run, 99]);
    expect((await trained('train', '--config', config, '--resume')).resume).toBe('newest');
  });

  test('as sft sets the mode', async () => {
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

  test('as a preset needs no command', async () => {
    const job = (options: TrainingOptions) =>
      Promise.resolve({ seed: options.loaded.config.run.seed });
    const args = ['--config', config, '--seed', '3', '--json'];
    const { code, stdout } = await commandLine(args, { jobs: { train: job }, only: train });
    expect([code, JSON.parse(stdout)]).toEqual([0, { seed: 3 }]);
  });

  test('with --json keeps everything else off stdout', async () => {
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
});

describe('the exit code', () => {
  const failing = (error: unknown, signal?: AbortSignal) =>
    commandLine(['train', '--config', config], {
      jobs: {
        train: async () => {
          throw error;
        },
      },
      ...(signal === undefined ? {} : { signal }),
    });

  test.each<[ErrorCode, number]>([
    ['DATASET_INVALID', 2],
    ['OUTPUT_UNWRITABLE', 2],
    ['ENGINE_FAILED', 1],
    ['PARITY_BROKEN', 1],
    ['INTERRUPTED', 130],
  ])('of %s is %d', async (code, expected) => {
    const ran = await failing(new AgentRlError(code, 'What was wrong.'));
    expect(ran.code).toBe(expected);
    expect(ran.stderr).toContain(`${code}: `);
    expect(ran.stderr).toContain('What was wrong.');
  });

  test("of the user's mistake comes without a stack; a bug comes with one", async () => {
    expect((await failing(new AgentRlError('CONFIG_INVALID', 'x'))).stderr).not.toContain(' at ');
    const bug = await failing(new TypeError('x is undefined'));
    expect([bug.code, bug.stderr.includes('    at ')]).toEqual([1, true]);
  });

  test('after Ctrl-C is 130, however the job ended', async () => {
    const controller = new AbortController();
    controller.abort();
    expect((await failing(new Error('stopped'), controller.signal)).code).toBe(130);
    const ended = await commandLine(['train', '--config', config], {
      jobs: { train: () => Promise.resolve({}) },
      signal: controller.signal,
    });
    expect(ended.code).toBe(130);
  });

  test('after a stray failure is 1, however the job ended, and it is told once', async () => {
    const stopped = new AbortController();
    const failure = new StrayFailure('rejection', new Error('no such host'));
    stopped.abort(failure);
    const { code, stderr } = await failing(failure, stopped.signal);
    expect([code, stderr]).toEqual([1, '']);
    const ended = await commandLine(['train', '--config', config, '--json'], {
      jobs: { train: () => Promise.reject(failure) },
      signal: stopped.signal,
    });
    expect(JSON.parse(ended.stdout)).toEqual({
      error: { code: 'UNEXPECTED', message: expect.stringContaining('no such host') as unknown },
    });
  });

  test.each([
    [['train', '--config', 'a', '--config', 'b'], '--config was given 2 times (a, b)'],
    [['train', '--resume', 'a', '--resume', 'b'], '--resume was given 2 times (a, b)'],
    [['train', '--seed', '1', '--seed', '1'], '--seed was given 2 times (1, 1)'],
    [['train', '--json', '--json'], '--json was given 2 times (--json, --json)'],
    [['eval', '--split', 'a', '--split', 'b'], '--split was given 2 times (a, b)'],
    [['chat', '--color', '--no-color'], '--color was given 2 times (--color, --no-color)'],
    [['plugins', '--config', 'a', '--config', 'b'], '--config was given 2 times (a, b)'],
    [
      ['verify-dataset', '--dataset', 'a', '--format', 'mbpp', '--format', 'agent_rl'],
      '--format was given 2 times (mbpp, agent_rl)',
    ],
  ])('of %j, which repeats an option, is 2', async (args, expected) => {
    const { code, stderr } = await commandLine(args);
    expect([code, stderr]).toEqual([2, `CONFIG_INVALID: ${expected}. Give it once.\n`]);
  });

  test.each([
    [['train', '--iterations', '3'], 'Did you mean --max-iterations? The setting train.iterations'],
    [['train', '--learning-rate=1e-4'], 'is given with --set train.learningRate=VALUE.'],
    [['train', '--maxIterations', '3'], 'Did you mean --max-iterations?'],
    [['score', '--modle', 'm'], 'Unknown option: --modle. Did you mean --model?'],
    [['train', 'my_run.yaml'], 'Unknown argument: my_run.yaml.'],
  ])('of %j is 2, with what was meant', async (args, expected) => {
    const { code, stderr } = await commandLine(args);
    expect([code, stderr]).toEqual([2, expect.stringContaining(expected)]);
  });

  test.each([
    [['tran'], /Did you mean train\?/],
    [['--json'], /Name a command/],
    [
      ['train', '--sede', '3'],
      /Unknown option: --sede. Did you mean --seed\?\nSee agent-rl train --help/,
    ],
    [['verify-dataset'], /Missing required argument: dataset/],
    [['train', '--config'], /Not enough arguments following: config/],
  ])('of %j is 2, with what is wrong', async (args, expected) => {
    const { code, stderr } = await commandLine(args);
    expect([code, stderr]).toEqual([2, expect.stringMatching(expected)]);
  });

  test('of wrong values is 2, naming the flag', async () => {
    const { code, stderr } = await commandLine(['train', '--config', config, '--seed', 'x']);
    expect(code).toBe(2);
    expect(stderr).toContain('--seed x run.seed: expected an integer, got "x".');
  });

  test.each([
    [['--sandbox-workers', '0'], /--sandbox-workers is "0"; expected a whole number from 1 to 256/],
    [['--sandbox-workers', 'x'], /--sandbox-workers is "x";/],
    [['--sandbox-type', 'remote'], /sandbox-type[^]*native:lite/],
    [['--documents', 'x'], /--documents: no effect on code tasks/],
    [
      ['--format', 'plain', '--documents', 'x', '--sandbox-workers', '1'],
      /--sandbox-workers, --documents: no effect on plain tasks/,
    ],
    [
      ['--format', 'search', '--sandbox-type', 'native', '--sandbox-workers', '1'],
      /--sandbox-type, --sandbox-workers: no effect on search/,
    ],
  ])('of verify-dataset with %j is 2, and nothing is started', async (more, reason) => {
    const { code, stderr } = await commandLine(['verify-dataset', '--dataset', 'x', ...more]);
    expect([code, stderr]).toEqual([2, expect.stringMatching(reason)]);
  });

  test('of a check that found faults is 1', async () => {
    const verifyDataset = () => Promise.resolve({ ok: false });
    const args = ['verify-dataset', '--dataset', 'x.jsonl'];
    expect((await commandLine(args, { jobs: { verifyDataset } })).code).toBe(1);
  });
});

test('verify-dataset gives the job the sandbox that was written', async () => {
  const given: object[] = [];
  const verifyDataset = async (options: object) => {
    given.push(options);
    return { ok: true };
  };
  const sandbox = ['--sandbox-type', 'native:lite', '--sandbox-python', '/p'];
  const args = ['verify-dataset', '--dataset', 'x', ...sandbox, '--sandbox-workers', '3'];
  expect((await commandLine(args, { jobs: { verifyDataset } })).code).toBe(0);
  expect(given[0]).toMatchObject({
    sandboxType: 'native:lite',
    sandboxPython: '/p',
    sandboxWorkers: 3,
  });
});

describe('what is printed', () => {
  test('with --json and an error is the error, as JSON', async () => {
    const { stdout, code } = await commandLine(['train', '--config', 'none.yaml', '--json']);
    expect(code).toBe(2);
    expect(JSON.parse(stdout)).toEqual({
      error: { code: 'CONFIG_INVALID', message: expect.stringContaining('none.yaml') as unknown },
    });
  });

  test('by a bare agent-rl is the help', async () => {
    const { code, stdout, stderr } = await commandLine([]);
    expect([code, stderr]).toEqual([0, '']);
    expect(stdout).toBe((await commandLine(['--help'])).stdout);
  });

  test('by --help and --version is a result', async () => {
    const help = await commandLine(['train', '--help']);
    expect([help.code, help.stderr]).toEqual([0, '']);
    expect(help.stdout).toContain('--async-rollout-workers');
    expect((await commandLine(['--version'])).stdout).toMatch(/^\d+\.\d+\.\d+\n$/);
  });

  test('by plugins with a name is a table of its settings', async () => {
    const { code, stdout } = await commandLine(['plugins', 'code_exec']);
    expect(code).toBe(0);
    expect(stdout).toMatch(/^Tool code_exec \(built in\)\nRun a Python program/);
    expect(stdout).toMatch(/\n {2}sessionS +number +Seconds/);
    expect(stdout).toMatch(/Arguments of a call\n {2}Name[^]*\n {2}code +string +required /);
    expect(stdout).toContain('\nEnvironment code_exec (built in)\n');
    const one = await commandLine(['plugins', 'mrr', '--json']);
    expect(JSON.parse(one.stdout)).toEqual([
      expect.objectContaining({
        kind: 'reward',
        name: 'mrr',
        settings: expect.anything() as unknown,
      }),
    ]);
    const wrong = await commandLine(['plugins', 'code_exce']);
    expect([wrong.code, wrong.stderr]).toEqual([
      2,
      expect.stringMatching(/no plugin is named "code_exce"\. Did you mean code_exec\?/),
    ]);
  });

  test('by plugins is what is registered, ours and those that are named', async () => {
    const args = ['plugins', '--plugin', `${folder}/world.mjs`];
    const { stdout } = await commandLine(args);
    expect(stdout).toContain(`  maze       A plugin. (${folder}/world.mjs)`);
    const known = JSON.parse((await commandLine([...args, '--json'])).stdout) as { name: string }[];
    expect(known.map(({ name }) => name)).toEqual(expect.arrayContaining(['minimind', 'maze']));
  });

  test('by plugins is listed before a setting that is wrong is refused', async () => {
    const args = ['plugins', '--config', config, '--set', 'environment.each=x'];
    const { code, stdout, stderr } = await commandLine(args);
    expect([code, stdout]).toEqual([2, expect.stringContaining('  maze  ')]);
    expect(stderr).toMatch(/CONFIG_INVALID: [^]*environment\.each/);
    const other = await commandLine(['plugins', '--set', 'run.seed=1']);
    expect([other.code, other.stderr]).toEqual([
      2,
      expect.stringMatching(/run\.seed=1 .*--config/),
    ]);
  });

  test('hides the secrets of the environment, as text and as JSON', async () => {
    process.env['ACME_API_TOKEN'] = 'planted-canary';
    try {
      const job = ({ print }: TrainingOptions) => {
        print('it said planted-canary');
        return Promise.resolve({ said: ['planted-canary', 1] });
      };
      const args = ['train', '--config', config, '--json'];
      const { stdout, stderr } = await commandLine(args, { jobs: { train: job } });
      expect(stderr).toBe('it said [redacted]\n');
      expect(JSON.parse(stdout)).toEqual({ said: ['[redacted]', 1] });
    } finally {
      delete process.env['ACME_API_TOKEN'];
    }
  });

  test('of eval names the run whose config it uses, and says when there is none', async () => {
    const { code, stderr } = await commandLine(['eval', folder]);
    expect([code, stderr]).toEqual([2, expect.stringContaining('CHECKPOINT_INVALID')]);
    expect(stderr).toContain('is neither a run folder nor a checkpoint of one');
  });
});
