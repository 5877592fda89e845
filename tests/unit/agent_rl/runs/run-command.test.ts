import { expect, test } from '@jest/globals';

import { loadConfig, runLength } from '#agent_rl/config/index.ts';
import { howToContinue, tooShortToLearn } from '#agent_rl/jobs/train/how-to-continue.ts';
import { resumeCommand } from '#agent_rl/runs/run-folder.ts';

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

test('a run that is planned as a trial says that it was not meant to learn', () => {
  expect(tooShortToLearn(smoke())).toBe(
    'This run only tests that everything works: 2 iterations are too few to learn.',
  );
  expect(tooShortToLearn(smoke('train.iterations=1'))).toContain('1 iteration is too few');
  expect(tooShortToLearn(smoke('train.iterations=4', 'train.maxIterations=2'))).toBeUndefined();
});
