import { existsSync } from 'node:fs';
import { join } from 'node:path';

import { expect, test } from '@jest/globals';

import { loadConfig, runLength } from '#agent_rl/config/index.ts';
import { howToContinue, tooShortToLearn } from '#agent_rl/jobs/train/how-to-continue.ts';
import { runToResume } from '#agent_rl/runs/resume-point.ts';
import { resumeCommand } from '#agent_rl/runs/run-folder.ts';
import { temporaryFolder, writeBelow } from '#tests/support/temporary-folder.ts';

const smoke = (...overrides: string[]) => {
  const { config } = loadConfig({ file: 'configs/code_exec_smoke.yaml', overrides });
  return { config, length: runLength(config) };
};

test('the command that continues a run is whole and can be pasted, whatever the folder is called', () => {
  expect(resumeCommand('/home/me/runs/a-seed1')).toBe(
    'npx agent-rl train --resume /home/me/runs/a-seed1',
  );
  expect(resumeCommand("/my runs/it's $1", '--max-iterations 3')).toBe(
    String.raw`npx agent-rl train --resume '/my runs/it'\''s $1' --max-iterations 3`,
  );
});

test('a run that ended early gives the command, and one at its planned end gives none', () => {
  const cut = smoke('train.iterations=5', 'train.maxIterations=2');
  expect(howToContinue(cut, '/r/a b', { interrupted: true })).toBe(
    "Interrupted. Continue: npx agent-rl train --resume '/r/a b'",
  );
  expect(howToContinue(cut, '/r/a', { interrupted: false })).toBe(
    'Ended after 2 of 5 iterations. Continue: npx agent-rl train --resume /r/a --max-iterations 5',
  );
  expect(howToContinue(smoke(), '/r/a', { interrupted: false })).toBeUndefined();
});

test('only a run that is planned as a trial says that it was not meant to learn', () => {
  expect(tooShortToLearn(smoke())).toContain('2 iterations are too few to learn');
  expect(tooShortToLearn(smoke('train.iterations=4', 'train.maxIterations=2'))).toBeUndefined();
});

const folder = temporaryFolder();
const text = `environment: {type: a}\ndatasets: [{dir: x}]\nrun: {outputDir: ${join(folder, 'runs')}, seed: 3}\n`;
const file = writeBelow(folder, 'small.yaml', text);
const { config } = loadConfig({ file });
const found = (resume: string) => runToResume({ resume, config, file });

test('the run to resume has to be there, and is not made', () => {
  const missing = join(folder, 'runs', 'missing');
  expect(() => found(missing)).toThrow(`${missing} is not a run folder`);
  expect(existsSync(missing)).toBe(false);
  expect(() => found('newest')).toThrow('There is no run "small-seed3" to resume');
});

test('the run to resume is left as it is', () => {
  const run = join(folder, 'runs', 'small-seed3');
  writeBelow(run, 'inputs.json', '{}');
  const partial = writeBelow(run, 'x.1.partial', 'half');
  expect([found(run), found('newest')]).toEqual([run, run]);
  expect([existsSync(partial), existsSync(join(run, 'run.lock'))]).toEqual([true, false]);
});
