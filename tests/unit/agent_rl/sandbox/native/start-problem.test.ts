import { expect, test } from '@jest/globals';

import { startProblem } from '#agent_rl/sandbox/native/supervisor-process.ts';

const problemOf = (failed: string): string =>
  startProblem(failed, { python: '/usr/bin/python3', preload: ['numpy'] });

test.each([
  ["ModuleNotFoundError: No module named 'numpy'", /^sandbox\.preload .*numpy.*\/python3/],
  ["ModuleNotFoundError: No module named 'ssl'", /^\/usr\/bin\/python3 .*ssl.*sandbox\.python/],
  ['PermissionError: [Errno 1] unshare: Operation not permitted', /\(unshare: .*CAP_SYS_ADMIN/],
  ["PermissionError: [Errno 13] Permission denied: '/proc/self/setgroups'", /setgroups\).*CAP_SYS/],
  ['Unavailable: level lite needs Landlock', /^level lite needs Landlock$/],
  ["The sandbox's supervisor process is no longer running: spawn /p ENOENT.", /spawn \/p ENOENT$/],
  ['  \n', /./],
])('A supervisor that does not start is explained in one sentence: %j', (failed, sentence) => {
  expect(problemOf(failed)).toMatch(sentence);
  expect(problemOf(failed)).not.toMatch(/Error|\.$/);
});

test('A supervisor that ends with a traceback is explained by its last line', () => {
  const file =
    '/app/node_modules/agent_rl/agent_rl/sandbox/native/python/walls/syscalls-x86_64.json';
  const traceback = `The sandbox's supervisor process is no longer running: it ended with code 1: Traceback (most recent call last):
  File "/app/node_modules/agent_rl/agent_rl/sandbox/native/python/main.py", line 19, in <module>
    from walls import kernel, work_folder
FileNotFoundError: [Errno 2] No such file or directory: '${file}'
`;
  expect(problemOf(traceback)).toMatch(`lacks ${file}`);
  expect(problemOf(`${traceback}ValueError: odd`)).toBe('ValueError: odd');
});
