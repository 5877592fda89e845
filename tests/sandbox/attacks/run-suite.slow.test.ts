import { existsSync } from 'node:fs';

import { describe, expect, test } from '@jest/globals';

import type { Attack } from '#tests/attacks/attack.ts';
import type { Backend } from '#tests/attacks/backend.ts';
import { attacks } from '#tests/attacks/cases/index.ts';
import { findSecrets } from '#tests/attacks/find-secrets.ts';
import type { Finding } from '#tests/attacks/run-attack.ts';
import { runSuite } from '#tests/attacks/run-suite.ts';
import { PyodideSandbox } from '#agent_rl/sandbox/pyodide/pyodide-sandbox.ts';
import { behindLayers } from '#agent_rl/sandbox/open-sandbox.ts';
import { unsafeSandbox } from '#tests/support/unsafe-sandbox.ts';

const all = Object.values(attacks).flat();

const named = (...names: readonly string[]): readonly Attack[] =>
  names.map((name) => {
    const attack = all.find((given) => given.name === name);
    if (attack === undefined) throw new Error(`No attack is named ${name}.`);
    return attack;
  });

const pyodide: Backend = {
  name: 'pyodide',
  start: async ({ workers }) => behindLayers(await PyodideSandbox.start({ workers }), { workers }),
};
const unsafe: Backend = { name: 'unsafe', start: async () => unsafeSandbox() };
/** Unsafe programs run in a real Python of a system that has signals. */
const onLinux = process.platform === 'linux' && existsSync('/usr/bin/python3') ? test : test.skip;

const withProblems = (findings: readonly Finding[]): readonly Finding[] =>
  findings.filter(({ problems }) => problems.length > 0);

describe('The attack suite', () => {
  test('has many attacks, each with a name of its own and a way to end', () => {
    const names = all.map(({ name }) => name);
    expect(names.length).toBeGreaterThanOrEqual(115);
    expect(new Set(names).size).toBe(names.length);
    expect(all.filter(({ ends }) => ends.length === 0)).toEqual([]);
  });

  test('finds nothing wrong with a sandbox that holds', async () => {
    const quick = named(
      'an endless loop',
      'a forged report on every descriptor',
      'streams that raise',
      'three mebibytes at once',
      'endless recursion',
      'a read at address 0',
      'a shell',
      'files of the host by their paths',
      'the environment of the host',
      'changes to the tests it is judged by',
      'what the program before it left',
      'guesses at the working folder of the program beside it',
      'a number as code',
    );
    const findings = await runSuite(pyodide, { attacks: quick, lanes: 2 });
    expect(findings.map(({ attack }) => attack)).toEqual([
      ...quick.map(({ name }) => name),
      'the sandbox after it was closed',
    ]);
    expect(withProblems(findings)).toEqual([]);
  });

  onLinux('finds what each attack does where nothing holds it', async () => {
    const seen: Readonly<Record<string, RegExp>> = {
      'three mebibytes at once': /characters of output/,
      'a shell': /^LEAK/,
      'a daemon that outlives the program': /outlived its program/,
      'signals to a process of the host': /ended the victim process by SIG/,
      'files of the host by their paths': /told the secret of: tests/,
      'the environment of the host': /told the secret of: environment/,
      'changes to the tests it is judged by': /^changed/,
      'links of all kinds': /told the secret of: file/,
      'a connection to the host': /reached the TCP listener/,
      'a datagram to the host': /reached the UDP listener/,
      'a socket in the file system': /reached the unix socket listener/,
      'a socket without a file': /reached the abstract socket listener/,
      'a server': /listened on a port/,
      'many open files': /^LEAK/,
    };
    const findings = await runSuite(unsafe, { attacks: named(...Object.keys(seen)), lanes: 1 });
    for (const { attack, problems } of findings.slice(0, -1)) {
      expect([attack, problems.join('\n')]).toEqual([attack, expect.stringMatching(seen[attack]!)]);
    }
  });

  onLinux('sees programs that end otherwise, say nothing or harm one beside them', async () => {
    const quiet = { code: 'pass', ends: ['ok'] } as const;
    const findings = await runSuite(unsafe, {
      lanes: 1,
      attacks: [
        { ...quiet, name: 'another end', ends: ['error'] },
        { ...quiet, name: 'nothing said', says: 'hello' },
        { ...quiet, name: 'no harm', beside: { code: 'print(1)', prints: '1\n' } },
        { ...quiet, name: 'harm', beside: { code: 'print(1)', prints: '2\n' } },
        {
          ...quiet,
          name: 'a dropped file',
          code: ({ workFolder, marker }) => `open("${workFolder}/${marker}", "w")`,
        },
        {
          ...quiet,
          name: 'much too late',
          code: 'import time\ntime.sleep(1)',
          ends: ['timeout'],
        },
        {
          ...quiet,
          name: 'a printed secret',
          code: ({ secretFile }) => `print(open("${secretFile}").read())`,
        },
      ],
    });
    expect(Object.fromEntries(findings.map(({ attack, problems }) => [attack, problems]))).toEqual({
      'another end': ['ended as ok, allowed error: '],
      'nothing said': ['did not print "hello"'],
      'no harm': [],
      harm: [expect.stringContaining('harmed the program beside it')],
      'a dropped file': [expect.stringContaining('changed /work/atk')],
      'much too late': ['ended as ok, allowed timeout: '],
      'a printed secret': ['told the secret of: file'],
      'the sandbox after it was closed': [],
    });
  });

  test.each([
    ['pyodide', pyodide],
    ...(existsSync('/usr/bin/python3') && process.platform === 'linux'
      ? [['unsafe', unsafe] as const]
      : []),
  ] as const)(
    'finds a secret in the memory of a program of %s when there is one',
    async (_, backend) => {
      const search: Attack = {
        name: 'a search',
        code: ({ secrets }) => {
          // Put together only when it runs, so that the source is not what is found.
          const head = secrets.file.slice(0, 12);
          const tail = secrets.file.slice(12);
          return `${findSecrets({ file: secrets.file })}
kept = "".join(["${head}", "${tail}"])
for piece in memory(): look(piece, 'in memory')`;
        },
        limits: { wallS: 20, memoryMiB: 384 },
        ends: ['ok'],
      };
      const [finding] = await runSuite(backend, { attacks: [search], lanes: 1 });
      expect(finding?.problems).toEqual(['LEAK file in memory']);
    },
  );
});
