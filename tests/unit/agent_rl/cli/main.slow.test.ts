import { join } from 'node:path';

import { describe, expect, test } from '@jest/globals';

import type { Command } from '#agent_rl/cli/command.ts';
import { trainFrom } from '#agent_rl/cli/commands/train.ts';
import type { TrainingOptions } from '#agent_rl/jobs/job.ts';
import { AgentRlError, type ErrorCode, noteNextStep } from '#agent_rl/core/errors.ts';
import { packageRoot } from '#agent_rl/core/package-root.ts';
import { StrayFailure } from '#agent_rl/core/stopping/stray-failure.ts';
import { commandLine } from '#tests/support/command-line.ts';
import { temporaryFolder } from '#tests/support/temporary-folder.ts';

const folder = temporaryFolder();
const config = join(packageRoot(), 'configs', 'code_exec_smoke.yaml');

describe('A command line', () => {
  test.each([
    ['eval', '--max-iterations', '3'],
    ['eval', '--train-split', 'other'],
    ['eval', '--log-rollouts'],
    ['chat', '--prompt', 'Hello.', '--async-rollout-workers', '4'],
    ['chat', '--prompt', 'Hello.', '--eval-split', 'other'],
  ])('is refused for an option that %s does not have: %s %s', async (...args) => {
    const { code, stderr } = await commandLine([...args, '--config', config]);
    expect(code).toBe(2);
    expect(stderr).toMatch(/Unknown option/);
  });

  test('is refused where only one of two options can have an effect', async () => {
    const both = ['eval', 'runs/one', '--model', 'model/other', '--config', config];
    const { code, stderr } = await commandLine(both);
    expect(code).toBe(2);
    expect(stderr).toContain('checkpoint runs/one and model model/other were both given');
  });

  test('names a run file where several models come without a run', async () => {
    const given: { checkpoints: readonly string[] }[] = [];
    const evaluateSeveral = async (options: { checkpoints: readonly string[] }) => {
      given.push(options);
      return {};
    };
    const models = ['model/one', 'model/two'];
    const jobs = { evaluateSeveral };
    const none = await commandLine(['eval', ...models], { jobs });
    expect(none.code).toBe(2);
    expect(none.stderr).toContain('model/one, model/two: not part of a run');
    expect((await commandLine(['eval', ...models, '--config', config], { jobs })).code).toBe(0);
    expect(given.map(({ checkpoints }) => checkpoints)).toEqual([models]);
    const empty = await commandLine(['eval', '', '--config', config], { jobs });
    expect(empty.stderr).toContain('The value of checkpoint is empty.');
  });
});

describe('The exit code', () => {
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
  ])('is, for %s, %d', async (code, expected) => {
    const ran = await failing(new AgentRlError(code, 'What was wrong.'));
    expect(ran.code).toBe(expected);
    expect(ran.stderr).toContain(`${code}: `);
    expect(ran.stderr).toContain('What was wrong.');
  });

  test.each<ErrorCode>(['CONFIG_INVALID', 'PARITY_BROKEN', 'ENGINE_FAILED'])(
    'comes, for %s, with its sentence alone',
    async (code) => {
      const { stderr } = await failing(new AgentRlError(code, 'What was wrong.'));
      expect(stderr).toBe(`${code}: What was wrong.\n`);
    },
  );

  test.each([new TypeError('x is undefined'), new AgentRlError('SHAPE_MISMATCH', '[2] and [3]')])(
    'comes, for a bug, with its stack: %s',
    async (bug) => {
      const { code, stderr } = await failing(bug);
      expect([code, stderr.includes('    at ')]).toEqual([1, true]);
    },
  );

  test('comes with how to continue, where that is known, in JSON too', async () => {
    const error = new AgentRlError('PARITY_BROKEN', 'They disagree.');
    noteNextStep(error, 'Continue: npx agent-rl train --resume runs/one');
    const { stderr } = await failing(error);
    expect(stderr).toMatch(/They disagree[^]*\nContinue: npx agent-rl train --resume runs\/one\n$/);
    const { stdout } = await commandLine(['train', '--config', config, '--json'], {
      jobs: {
        train: async () => {
          throw error;
        },
      },
    });
    expect(JSON.parse(stdout)).toEqual({
      error: {
        code: 'PARITY_BROKEN',
        message: 'They disagree.',
        next: 'Continue: npx agent-rl train --resume runs/one',
      },
    });
  });

  test('is 130 after Ctrl-C, however the job ended', async () => {
    const controller = new AbortController();
    controller.abort();
    expect((await failing(new Error('stopped'), controller.signal)).code).toBe(130);
    const ended = await commandLine(['train', '--config', config], {
      jobs: { train: () => Promise.resolve({}) },
      signal: controller.signal,
    });
    expect(ended.code).toBe(130);
  });

  test('is 1 after a stray failure, which is reported once, however the job ended', async () => {
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
      ['data', 'verify', '--dataset', 'a', '--format', 'mbpp', '--format', 'agent_rl'],
      '--format was given 2 times (mbpp, agent_rl)',
    ],
  ])('is 2 for %j, which repeats an option', async (args, expected) => {
    const { code, stderr } = await commandLine(args);
    expect([code, stderr]).toEqual([2, `CONFIG_INVALID: ${expected}. Give it once.\n`]);
  });

  test.each([
    [
      ['train', '--iterations', '3'],
      'Did you mean --max-iterations? To change the setting train.iterations',
    ],
    [['train', '--learning-rate=1e-4'], 'use --set train.learningRate=VALUE.'],
    [['train', '--maxIterations', '3'], 'Did you mean --max-iterations?'],
    [['model', 'score', '--modle', 'm'], 'Unknown option --modle. Did you mean --model?'],
    [['train', 'my_run.yaml'], 'Unknown argument my_run.yaml.'],
  ])('is 2 for %j, with the option that was meant', async (args, expected) => {
    const { code, stderr } = await commandLine(args);
    expect([code, stderr]).toEqual([2, expect.stringContaining(expected)]);
  });

  test.each([
    [['tran'], /Did you mean train\?/],
    [['runs', 'shwo'], /Did you mean runs show\?/],
    [['model', '--json'], /Name a command of model: generate, score, merge-lora/],
    [['--json'], /Name a command/],
    [
      ['train', '--sede', '3'],
      /Unknown option --sede. Did you mean --seed\?\nSee agent-rl train --help/,
    ],
    [
      ['train'],
      /^CONFIG_INVALID: agent-rl train needs a run file[^]*--config configs\/workspace_grpo\.yaml\n/,
    ],
    [['train', '--resume'], /^CONFIG_INVALID: agent-rl train needs a run file/],
    [
      ['sft', '--seed', '2'],
      /needs a run file, .*npx agent-rl new NAME .*The package has run files in .*configs\.\n/,
    ],
    [['data', 'verify'], /Missing required argument: dataset/],
    [['train', '--config'], /Not enough arguments following: config/],
  ])('is 2 for %j, with the mistake', async (args, expected) => {
    const { code, stderr } = await commandLine(args);
    expect([code, stderr]).toEqual([2, expect.stringMatching(expected)]);
  });

  test('is 2 for wrong values, with the name of the flag', async () => {
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
    [['--format', 'search', '--degenerate'], /--degenerate: no effect on search/],
  ])('is 2 for data verify with %j, which starts nothing', async (more, reason) => {
    const { code, stderr } = await commandLine(['data', 'verify', '--dataset', 'x', ...more]);
    expect([code, stderr]).toEqual([2, expect.stringMatching(reason)]);
  });

  test('is 1 for a check that found faults', async () => {
    const verifyDataset = () => Promise.resolve({ ok: false });
    const args = ['data', 'verify', '--dataset', 'x.jsonl'];
    expect((await commandLine(args, { jobs: { verifyDataset } })).code).toBe(1);
  });
});

describe('The error for an unknown command', () => {
  const said = async (line: string): Promise<string> => {
    const { code, stderr } = await commandLine(line.split(' '));
    expect(code).toBe(2);
    return stderr;
  };

  test.each([
    ['explian', 'runs explain'],
    ['shw', 'runs show'],
    ['run', 'runs'],
    ['evaluate', 'eval'],
    ['merge', 'model merge-lora'],
    ['import', 'model import-gguf'],
  ])('suggests, for %s, %s', async (line, meant) => {
    const [word] = line.split(' ');
    expect(await said(line)).toBe(
      `Unknown command ${word}. Did you mean ${meant}?\nSee agent-rl --help.\n`,
    );
  });

  test.each([
    ['compare', 'runs compare'],
    ['export', 'model export'],
    ['prepare-data', 'data prepare'],
    ['index', 'data index'],
    ['verify-dataset --dataset x', 'data verify'],
    ['attack', 'plugins attack'],
    ['algorithms --help', 'plugins algorithms'],
  ])('gives, for the old name %s, the new name %s', async (line, now) => {
    const [word] = line.split(' ');
    expect(await said(line)).toBe(
      `agent-rl ${word} is now called agent-rl ${now}.\nSee agent-rl --help.\n`,
    );
  });

  test.each(['list', 'help runs', 'infer', 'compile', 'ex', 'constructor'])(
    'suggests nothing far off for %s',
    async (line) => {
      const [word] = line.split(' ');
      expect(await said(line)).toBe(`Unknown command ${word}.\nSee agent-rl --help.\n`);
    },
  );

  test.each([
    ['data prepare-data', 'Unknown command prepare-data. Did you mean data prepare?'],
    ['data verify-dataset', 'Unknown command verify-dataset. Did you mean data verify?'],
    ['model show', 'Unknown command show. Did you mean runs show?'],
    ['sandbox stop', 'Unknown command stop.'],
  ])('suggests, for %s, a command, and lists the group', async (line, expected) => {
    const [group] = line.split(' ');
    const stderr = await said(line);
    expect(stderr).toContain(`${expected} The commands of ${group} are `);
    expect(stderr).toContain(`\nSee agent-rl ${group} --help.\n`);
  });

  test('lists the commands of its group', async () => {
    expect(await said('model merge')).toBe(
      'Unknown command merge. Did you mean model merge-lora? The commands of model are generate, score, merge-lora, quantize, export, import-gguf, accept.\nSee agent-rl model --help.\n',
    );
  });

  test.each([
    ['--hlp', 'Unknown option --hlp. Did you mean --help?\nSee agent-rl --help.\n'],
    ['model --hlp', 'Unknown option --hlp. Did you mean --help?\nSee agent-rl model --help.\n'],
    [
      'runs show --hlp',
      'Unknown option --hlp. Did you mean --help?\nSee agent-rl runs show --help.\n',
    ],
    ['--vesion', 'Unknown option --vesion. Did you mean --version?\nSee agent-rl --help.\n'],
  ])('suggests the spelling of an option of all commands: %s', async (line, expected) => {
    expect(await said(line)).toBe(expected);
  });
});

test.each([
  ['runs compare a', 'runs compare needs B, the folder of the run to compare with it.'],
  [
    'runs compare',
    'runs compare needs A, the folder of a run, and B, the folder of the run to compare with it.',
  ],
  ['runs report --out x', 'runs report needs RUNS, the folders of runs.'],
  ['model import-gguf', 'model import-gguf needs FILE, the GGUF file, and FOLDER, the new folder'],
  ['new', 'new needs FOLDER, the folder to create; an existing folder must be empty.'],
])('agent-rl %s says which argument is missing', async (line, expected) => {
  const { code, stderr } = await commandLine(line.split(' '));
  expect([code, stderr]).toEqual([2, expect.stringContaining(`agent-rl ${expected}`)]);
});

test('data verify gives the job the sandbox that was written', async () => {
  const given: object[] = [];
  const verifyDataset = async (options: object) => {
    given.push(options);
    return { ok: true };
  };
  const sandbox = ['--sandbox-type', 'native:lite', '--sandbox-python', '/p'];
  const args = ['data', 'verify', '--dataset', 'x', ...sandbox, '--sandbox-workers', '3'];
  expect((await commandLine(args, { jobs: { verifyDataset } })).code).toBe(0);
  expect(given[0]).toMatchObject({
    sandboxType: 'native:lite',
    sandboxPython: '/p',
    sandboxWorkers: 3,
  });
});

describe('The output', () => {
  test.each<[string[], Command | undefined, string]>([
    [[], trainFrom('search_qa_grpo.yaml'), 'search_qa_grpo.yaml'],
    [['plugins', 'attack'], undefined, 'code_exec_grpo.yaml'],
    [['serve', '--model', 'model/starter'], undefined, 'code_exec_grpo.yaml'],
  ])('names, for %j, the run file it uses where none was named', async (args, only, file) => {
    const job = () => Promise.resolve({ ok: true });
    const jobs = { train: job, attack: job, serveModel: job };
    const { code, stdout } = await commandLine(args, { jobs, only });
    const path = join(packageRoot(), 'configs', file);
    expect([code, stdout]).toEqual([0, `No run file was named with --config: using ${path}\n`]);
  });

  test('is an error as JSON with --json', async () => {
    const { stdout, code } = await commandLine(['train', '--config', 'none.yaml', '--json']);
    expect(code).toBe(2);
    expect(JSON.parse(stdout)).toEqual({
      error: { code: 'CONFIG_INVALID', message: expect.stringContaining('none.yaml') as unknown },
    });
  });

  test('is the help for a bare agent-rl', async () => {
    const { code, stdout, stderr } = await commandLine([]);
    expect([code, stderr]).toEqual([0, '']);
    expect(stdout).toBe((await commandLine(['--help'])).stdout);
  });

  test('goes to stdout for --help and --version', async () => {
    const help = await commandLine(['train', '--help']);
    expect([help.code, help.stderr]).toEqual([0, '']);
    expect(help.stdout).toContain('--async-rollout-workers');
    expect((await commandLine(['--version'])).stdout).toMatch(/^\d+\.\d+\.\d+\n$/);
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

  test('names the run whose config eval uses, or says that no run exists', async () => {
    const { code, stderr } = await commandLine(['eval', folder]);
    expect([code, stderr]).toEqual([2, expect.stringContaining('CHECKPOINT_INVALID')]);
    expect(stderr).toContain('is neither a run folder nor a checkpoint');
    const gone = await commandLine(['train', '--resume', `${folder}/gone`]);
    expect([gone.code, gone.stderr]).toEqual([
      2,
      expect.stringMatching(/There is no .*\/gone\. .*start it again/),
    ]);
  });
});
