import { symlinkSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';

import { describe, expect, test } from '@jest/globals';

import { startProgram } from '../support/built-program.ts';
import { promisedJobs, type PromisedJob, successOfNewestRun } from '../support/promised-jobs.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

// Every job that ships, in full and in a folder of its own, held to the table "What the shipped jobs promise" of
// docs/design/evidence.md: `npm run test:real -- shipped-jobs -t '^search '`. The medquad job takes its pages from AGENT_RL_MEDQUAD, a
// checkout of MedQuAD, and is skipped without one.

const { AGENT_RL_MEDQUAD: medquad } = process.env;
const folder = temporaryFolder();
/** Of the longest, a starter made on busy cores. */
const timeoutMs = 3 * 3_600_000;

const ownTool = 'own-tool';
const runnable = ({ name }: PromisedJob): boolean =>
  name !== ownTool && (name !== 'medquad' || medquad !== undefined);

describe.each(promisedJobs().filter(runnable))('$name', ({ name, commands, least }) => {
  test(
    'keeps the promise of docs/design/evidence.md',
    async () => {
      const cwd = join(folder, name);
      await mkdir(cwd);
      if (medquad !== undefined) symlinkSync(medquad, join(cwd, 'MedQuAD'));
      let stdout = '';
      for (const command of commands) {
        const [program = '', ...args] = command.split(' ');
        const ended = await startProgram(program, args, cwd, { timeoutMs }).ended;
        const { code, stderr } = ended;
        if (code !== 0) throw new Error(`${command} ended with ${code}:\n${stderr}`);
        ({ stdout } = ended);
      }
      const asked = commands.at(-1)?.startsWith('agent-rl eval ');
      const success = asked
        ? (JSON.parse(stdout) as { successRate: number }).successRate
        : successOfNewestRun(cwd);
      const promised = least ?? 0;
      process.stderr.write(
        `${name}: ${(100 * success).toFixed(1)} %, promised ${100 * promised} %\n${stdout.split('\n').slice(-12).join('\n')}`,
      );
      expect(success).toBeGreaterThanOrEqual(promised);
    },
    timeoutMs,
  );
});
