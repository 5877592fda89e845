import { describe, expect, test } from '@jest/globals';

import { startProblem } from '#agent_rl/sandbox/native/supervisor-process.ts';

const context = { python: '/usr/bin/python3', preload: ['numpy'] };

describe('Why a supervisor does not start is one sentence with what to do', () => {
  test.each([
    [
      "ModuleNotFoundError: No module named 'numpy'",
      'sandbox.preload names numpy, which /usr/bin/python3 does not have. Install it for this Python, or name another in sandbox.python',
    ],
    [
      "ModuleNotFoundError: No module named 'ssl'",
      '/usr/bin/python3 lacks the module ssl. Name a whole Python in sandbox.python',
    ],
    [
      'OSError: [Errno 1] unshare: Operation not permitted',
      'this kernel or container forbids namespaces (unshare: Operation not permitted). Allow them: user namespaces for a user, CAP_SYS_ADMIN for root in a container',
    ],
    [
      'PermissionError: [Errno 1] unshare: Operation not permitted',
      'this kernel or container forbids namespaces (unshare: Operation not permitted). Allow them: user namespaces for a user, CAP_SYS_ADMIN for root in a container',
    ],
    [
      "PermissionError: [Errno 13] Permission denied: '/proc/self/setgroups'",
      'this kernel or container forbids namespaces (/proc/self/setgroups). Allow them: user namespaces for a user, CAP_SYS_ADMIN for root in a container',
    ],
    [
      'Unavailable: level lite needs Landlock, which this kernel does not offer (5.13 or later)',
      'level lite needs Landlock, which this kernel does not offer (5.13 or later)',
    ],
    [
      "The sandbox's supervisor is gone: spawn /p ENOENT.",
      "The sandbox's supervisor is gone: spawn /p ENOENT",
    ],
    ['  \n', 'its supervisor ended without a message'],
  ])('%s', (failed, sentence) => {
    expect(startProblem(failed, context)).toBe(sentence);
  });

  test('also of a traceback, of which only the end is shown', () => {
    const traceback = `The sandbox's supervisor is gone: it ended with code 1: Traceback (most recent call last):
  File "/app/node_modules/agent_rl/agent_rl/sandbox/native/python/main.py", line 19, in <module>
    from walls import kernel, work_folder
FileNotFoundError: [Errno 2] No such file or directory: '/app/node_modules/agent_rl/agent_rl/sandbox/native/python/walls/syscalls-x86_64.json'
`;
    expect(startProblem(traceback, context)).toBe(
      'the package lacks /app/node_modules/agent_rl/agent_rl/sandbox/native/python/walls/syscalls-x86_64.json. Install it again',
    );
    expect(startProblem(`${traceback}ValueError: odd`, context)).toBe('ValueError: odd');
  });
});
