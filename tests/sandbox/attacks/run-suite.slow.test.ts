import { existsSync } from 'node:fs';

import { describe, expect, test } from '@jest/globals';

import type { Attack } from '#tests/attacks/attack.ts';
import { type Backend, packageBackends } from '#tests/attacks/backends.ts';
import { attacks } from '#tests/attacks/cases/index.ts';
import { findSecrets } from '#tests/attacks/find-secrets.ts';
import type { Bait } from '#tests/attacks/host/bait.ts';
import { runSuite } from '#tests/attacks/run-suite.ts';
import { offersLevel } from '#tests/support/python.ts';
import { unsafeSandbox } from '#tests/support/unsafe-sandbox.ts';

const all = Object.values(attacks).flat();

const named = (names: readonly string[]): readonly Attack[] =>
  names.map((name) => {
    const attack = all.find((given) => given.name === name);
    if (attack === undefined) throw new Error(`No attack is named ${name}.`);
    return attack;
  });

const unsafe: Backend = { name: 'unsafe', start: async () => unsafeSandbox() };
/** Unsafe programs run in a real Python of a system that has signals. */
const onLinux = process.platform === 'linux' && existsSync('/usr/bin/python3') ? test : test.skip;
const offered = packageBackends.filter(
  ({ name }) =>
    name === 'pyodide' ||
    (['ns', 'lite'] as const).some((level) => name.endsWith(level) && offersLevel(level)),
);

/** One or more of every theme; `npm run test:sandbox` runs all. */
const quick = named(
  `
  an endless loop | a loop that catches whatever ends it | a backtracking pattern |
  an exit function that never returns | a huge power | a storm of timers | a shell |
  forks of forks | many threads | a signal to every process | a list that grows forever |
  a program that goes on without the memory it wanted | an exit function that wants memory |
  a bracket in a bracket, again and again | endless recursion | recursion without a limit |
  a gibibyte of lines | endless errors | three mebibytes at once | a closed standard output |
  streams that are swapped before an error | streams that raise | a leave without goodbye |
  a forged report on every descriptor | a read at address 0 | a write near address 0 |
  broken bytecode | built-ins that are gone | files of the host by their paths |
  changes to the tests it is judged by | links of all kinds | the environment of the host |
  devices | one large file | a hundred thousand empty files | a connection to the host |
  a page of the host | namespaces of its own | what the program before it left |
  objects of those around it | guesses at the working folder of the program beside it |
  a number as code | files that the program before it gave names of object properties |
  flags that the program before it gave the standard streams |
  names of hosts and pipes that the program before it used`
    .split('|')
    .map((name) => name.trim()),
);

describe('The attack suite', () => {
  test('has many attacks, each with its own name and a way to end', () => {
    const names = all.map(({ name }) => name);
    expect(names.length).toBeGreaterThanOrEqual(115);
    expect(new Set(names).size).toBe(names.length);
    expect(all.filter(({ ends }) => ends.length === 0)).toEqual([]);
  });

  test.each(offered)(
    'finds nothing wrong with $name',
    async (backend) => {
      const findings = await runSuite(backend, { attacks: quick, lanes: 2 });
      const names = [...quick.map(({ name }) => name), 'the sandbox after it was closed'];
      expect(findings.map(({ attack }) => attack)).toEqual(names);
      expect(findings.filter(({ problems }) => problems.length > 0)).toEqual([]);
    },
    600_000,
  );

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
    const findings = await runSuite(unsafe, { attacks: named(Object.keys(seen)), lanes: 1 });
    for (const { attack, problems } of findings.slice(0, -1)) {
      expect([attack, problems.join('\n')]).toEqual([attack, expect.stringMatching(seen[attack]!)]);
    }
  });

  onLinux('finds programs that end otherwise, say nothing or harm another one', async () => {
    const dropping = ({ workFolder, marker }: Bait) => `open("${workFolder}/${marker}", "w")`;
    const telling = ({ secretFile }: Bait) => `print(open("${secretFile}").read())`;
    const harmed: unknown = expect.stringContaining('harmed the program beside it');
    const cases: readonly [Omit<Attack, 'code' | 'ends'> & Partial<Attack>, unknown[]][] = [
      [{ name: 'another end', ends: ['error'] }, ['ended with ok, allowed: error.']],
      [{ name: 'nothing said', says: 'hello' }, ['did not print "hello"']],
      [{ name: 'no harm', beside: { code: 'print(1)', prints: '1\n' } }, []],
      [{ name: 'harm', beside: { code: 'print(1)', prints: '2\n' } }, [harmed]],
      [{ name: 'a dropped file', code: dropping }, [expect.stringContaining('changed /work/atk')]],
      [{ name: 'a printed secret', code: telling }, ['told the secret of: file']],
    ];
    const findings = await runSuite(unsafe, {
      lanes: 1,
      attacks: cases.map(([attack]) => ({ code: 'pass', ends: ['ok'], ...attack })),
    });
    expect(findings.map(({ attack, problems }) => [attack, problems])).toEqual([
      ...cases.map(([{ name }, problems]) => [name, problems]),
      ['the sandbox after it was closed', []],
    ]);
  });

  test.each([
    packageBackends.find(({ name }) => name === 'pyodide')!,
    ...(onLinux === test ? [unsafe] : []),
  ])('finds a secret in the memory of a program of $name', async (backend) => {
    const search: Attack = {
      name: 'a search',
      code: ({ secrets: { file } }) =>
        // Put together only when it runs, so that the source is not what is found.
        `${findSecrets({ file })}
kept = "".join(["${file.slice(0, 12)}", "${file.slice(12)}"])
for piece in memory(): look(piece, 'in memory')`,
      limits: { wallS: 20, memoryMiB: 384 },
      ends: ['ok'],
    };
    const [finding] = await runSuite(backend, { attacks: [search], lanes: 1 });
    expect(finding?.problems).toEqual(['LEAK file in memory']);
  });
});
