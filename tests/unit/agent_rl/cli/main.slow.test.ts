import { join } from 'node:path';

import { describe, expect, test } from '@jest/globals';

import type { Command } from '#agent_rl/cli/command.ts';
import { trainFrom } from '#agent_rl/cli/commands/train.ts';
import type { TrainingOptions } from '#agent_rl/jobs/job.ts';
import { AgentRlError, type ErrorCode, noteNextStep } from '#agent_rl/core/errors.ts';
import { packageRoot } from '#agent_rl/core/package-root.ts';
import { StrayFailure } from '#agent_rl/core/stopping/stray-failure.ts';
import { commandLine, jobOf } from '#tests/support/command-line.ts';
import { temporaryFolder } from '#tests/support/temporary-folder.ts';

const folder = temporaryFolder();
const config = join(packageRoot(), 'configs', 'code_exec_smoke.yaml');

describe('The exit code', () => {
  const failing = (error: unknown, options: { signal?: AbortSignal } = {}, ...more: string[]) => {
    const train = async () => {
      throw error;
    };
    return commandLine(['train', '--config', config, ...more], { jobs: { train }, ...options });
  };

  test.each<[ErrorCode, number]>([
    ['DATASET_INVALID', 2],
    ['OUTPUT_UNWRITABLE', 2],
    ['ENGINE_FAILED', 1],
    ['PARITY_BROKEN', 1],
    ['INTERRUPTED', 130],
  ])('is, for %s, %d, with its sentence alone', async (code, expected) => {
    const ran = await failing(new AgentRlError(code, 'What was wrong.'));
    expect([ran.code, ran.stderr]).toEqual([expected, `${code}: What was wrong.\n`]);
  });

  test.each([new TypeError('x is undefined'), new AgentRlError('SHAPE_MISMATCH', '[2] and [3]')])(
    'comes, for a bug, with its stack: %s',
    async (bug) => {
      const { code, stderr } = await failing(bug);
      expect([code, stderr.includes('    at ')]).toEqual([1, true]);
    },
  );

  test('comes with how to continue, where that is known, in JSON too', async () => {
    const error = new AgentRlError('PARITY_BROKEN', 'They disagree.');
    const next = 'Continue: npx agent-rl train --resume runs/one';
    noteNextStep(error, next);
    expect((await failing(error)).stderr).toBe(`PARITY_BROKEN: They disagree.\n${next}\n`);
    const { stdout } = await failing(error, {}, '--json');
    expect(JSON.parse(stdout)).toEqual({
      error: { code: 'PARITY_BROKEN', message: 'They disagree.', next },
    });
  });

  test('is 130 after Ctrl-C, however the job ended', async () => {
    const signal = AbortSignal.abort();
    expect((await failing(new Error('stopped'), { signal })).code).toBe(130);
    expect((await jobOf('train', `train --config ${config}`, { signal })).code).toBe(130);
  });

  test('is 1 after a stray failure, which is reported once, however the job ended', async () => {
    const failure = new StrayFailure('rejection', new Error('no such host'));
    const signal = AbortSignal.abort(failure);
    const { code, stderr } = await failing(failure, { signal });
    expect([code, stderr]).toEqual([1, '']);
    const ended = await failing(failure, { signal }, '--json');
    expect(JSON.parse(ended.stdout)).toEqual({
      error: { code: 'UNEXPECTED', message: expect.stringContaining('no such host') as unknown },
    });
  });

  test('is 2 for wrong values, with the name of the flag', async () => {
    const { code, stderr } = await commandLine(['train', '--config', config, '--seed', 'x']);
    expect(code).toBe(2);
    expect(stderr).toContain('--seed x run.seed: expected an integer, got "x".');
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

  test('goes to stdout for --help, a bare agent-rl and --version', async () => {
    const help = await commandLine(['--help']);
    expect(help).toMatchObject({ code: 0, stderr: '', stdout: expect.stringContaining('train') });
    expect(await commandLine([])).toEqual(help);
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
    const none = /CHECKPOINT_INVALID: .*is neither a run folder nor a checkpoint/;
    const gone = /There is no .*\/gone\. .*start it again/;
    for (const [args, error] of [
      [['eval', folder], none],
      [['train', '--resume', `${folder}/gone`], gone],
    ] as const)
      expect(await commandLine(args)).toMatchObject({
        code: 2,
        stderr: expect.stringMatching(error),
      });
  });
});
