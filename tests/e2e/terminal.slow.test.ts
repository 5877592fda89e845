import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

import { describe, expect, test } from '@jest/globals';

import { packageRoot } from '#agent_rl/core/package-root.ts';
import { builtProgram, sets } from '../support/built-program.ts';
import { hasPseudoTerminal, inPseudoTerminal } from '../support/pseudo-terminal.ts';
import { temporaryFolder, writeBelow } from '../support/temporary-folder.ts';

/*
 * What a person sees of a run: the programs in a pseudo-terminal, whose bytes a terminal emulator shows.
 */

const folder = temporaryFolder();
const onTerminal = hasPseudoTerminal ? describe : describe.skip;
const trainFile = join(packageRoot(), 'dist', 'scripts', 'train-code-exec-agent.js');
const smokeFile = join(packageRoot(), 'configs', 'code_exec_smoke.yaml');
const toFolder = ['--config', smokeFile, '--output', folder];
const smoke = (name: string, ...more: string[]): string[] => [
  ...toFolder,
  ...sets(`run.name=${name}`),
  ...more,
];
const runOf = (name: string): string => join(folder, name);
const loggedIn = (name: string): string[] => {
  const lines = readFileSync(join(runOf(name), 'run.log'), 'utf8')
    .trimEnd()
    .split('\n');
  return lines.map((line) => line.replace(/^\S+Z (error|warn|info) /, ''));
};
const times = (lines: readonly string[], line: string): number =>
  lines.filter((one) => one === line).length;
/** What a run prints at its end. */
const placesOf = (name: string): string[] => [
  `Outputs: ${runOf(name)}`,
  `Checkpoint: ${join(runOf(name), 'checkpoints', 'step-2')}`,
  `Report: ${join(runOf(name), 'report.html')}`,
];

onTerminal('A training in a terminal (skipped without python3)', () => {
  test.each([80, 110])(
    'shows whole lines and no remains of its panel at %d columns',
    async (columns) => {
      const name = `wide-${columns}`;
      const args = [trainFile, ...smoke(name, '--log-rollouts')];
      const { terminal, code } = await inPseudoTerminal(args, { columns, cwd: folder });
      const lines = await terminal.linesShown();
      const logged = loggedIn(name);
      // 16 rollouts of training, as many in evaluations, and what is said of the run.
      expect(logged.length).toBeGreaterThan(32);
      // Indented lines, as of the plan, are wrapped between words.
      const [indented, whole] = [true, false].map((is) =>
        logged.filter((line) => line.startsWith('  ') === is),
      ) as [string[], string[]];
      expect(whole.filter((line) => times(lines, line) !== times(logged, line))).toEqual([]);
      const words = lines.join(' ').replaceAll(/ +/g, ' ');
      expect(indented.filter((line) => !words.includes(line.replaceAll(/ +/g, ' ')))).toEqual([]);
      expect(lines.slice(-3)).toEqual(placesOf(name));
      expect(lines.filter((line) => line.startsWith('  held-out success  '))).toHaveLength(1);
      expect(lines.filter((line) => /[█░▁]|waiting for|left \d/.test(line))).toEqual([]);
      // It was there.
      expect(terminal.bytes).toMatch(/collecting: waiting for \d of 8 episodes, \d+ s/);
      expect(terminal.bytes).toMatch(
        /reward [▁▂▃▄▅▆▇█]{1,2} -?\d\.\d\d {2}success [▁▂▃▄▅▆▇█]{1,2} \d+ %/,
      );
      expect(terminal.bytes).not.toContain('\u001B[?25l');
      expect(code).toBe(0);
    },
  );

  test('shows only its result with --quiet, and logs everything', async () => {
    const { terminal, code } = await inPseudoTerminal([trainFile, ...smoke('quiet', '--quiet')], {
      columns: 80,
      cwd: folder,
    });
    const lines = await terminal.linesShown();
    expect(code).toBe(0);
    expect(terminal.bytes).not.toContain('\u001B');
    expect(lines[0]).toMatch(/^ {2}held-out success /);
    expect(lines.slice(-3)).toEqual(placesOf('quiet'));
    expect(loggedIn('quiet')).toContainEqual(expect.stringMatching(/^Computes on: /));
  });
});

test('a training in a pipe prints one plain line per iteration', () => {
  const { code, stdout, stderr } = builtProgram('train-code-exec-agent', smoke('piped'), folder);
  expect(code).toBe(0);
  expect(stdout + stderr).not.toContain('\u001B');
  const numbers = String.raw`reward -?\d\.\d\d  success \d+ %  failed 0 %  calls \d+ %  \d+ tok/s`;
  const progress = stderr.split('\n').filter((line) => /^(train|eval) /.test(line));
  expect(progress).toEqual([
    'eval 8/8  left 0 s',
    expect.stringMatching(new RegExp(`^train 1/2  left \\d+ s  ${numbers}$`)),
    expect.stringMatching(new RegExp(`^train 2/2  left \\d+ s  ${numbers}$`)),
    'eval 8/8  left 0 s',
  ]);
});

const telemetry = pathToFileURL(join(packageRoot(), 'dist', 'agent_rl', 'telemetry', 'index.js'));
const cli = pathToFileURL(join(packageRoot(), 'dist', 'agent_rl', 'cli', 'run-program.js'));
const hostile = String.raw`'\u001b[2J\u001b]0;title\u0007<script>' + 'x'.repeat(1e7)`;

/** A program that shows progress, logs what a hostile model wrote, and ends in a way of its own. */
const probe = (name: string, ending: string): string =>
  writeBelow(
    folder,
    `${name}.mjs`,
    `
import { createLog, withProgress } from '${telemetry.href}';
const log = createLog({ level: 'info', file: '${name}.log', console: 'all' });
await withProgress({ label: 'probe', total: 2 }, async (bar) => {
  bar.update(1);
  log.info(${hostile});
  log.warn('A warning.');
  console.log('by a plugin', { some: 1 });
  process.stdout.write('begun');
  await new Promise((resolve) => setTimeout(resolve, 200));
  ${ending}
});
await log.close();
`,
  );

const shownOfHostile = String.raw`\x1b[2J\x1b]0;title\x07<script>`;

onTerminal('Progress in a terminal (skipped without python3)', () => {
  test.each([
    ['returns', '', 0],
    ['throws', "throw new Error('no engine');", 1],
    ['exits', 'process.exit(3);', 3],
    [
      'is-asked-to-end',
      "process.kill(process.pid, 'SIGTERM'); await new Promise(() => setTimeout(() => {}, 5000));",
      241,
    ],
  ])('is removed when the process %s', async (name, ending, expected) => {
    const { terminal, code } = await inPseudoTerminal([probe(name, ending)], {
      columns: 80,
      cwd: folder,
    });
    const lines = await terminal.linesShown();
    expect(terminal.bytes).toContain('probe  [');
    expect(lines.filter((line) => line.includes('probe  ['))).toEqual([]);
    expect(lines).toContain('A warning.');
    // Its colour stays.
    expect(lines).toContain('by a plugin { some: 1 }');
    expect(terminal.bytes).toContain('\u001B[33m1\u001B[39m');
    expect(lines.some((line) => line.startsWith('begun'))).toBe(true);
    // Of its 10,000,022 characters 2000 are shown, 22 of them before the x.
    expect(
      lines[0] ===
        `${shownOfHostile}${'x'.repeat(1978)}… (9998022 more characters, all in ${name}.log)`,
    ).toBe(true);
    expect(code).toBe(expected);
  });

  test('is removed after a second Ctrl-C, which ends the process immediately', async () => {
    const waiting = writeBelow(
      folder,
      'waiting.mjs',
      `
import { withProgress } from '${telemetry.href}';
import { runProgram } from '${cli.href}';
const run = () => withProgress({ label: 'probe', total: 2 }, () => new Promise(() => setTimeout(() => {}, 60_000)));
await runProgram('probe', { name: 'probe', describe: 'A command.', examples: [], options: {}, positionals: {}, run });
`,
    );
    const { terminal, code } = await inPseudoTerminal([waiting], {
      columns: 80,
      cwd: folder,
      types: [
        [/probe {2}\[/, '\u0003'],
        // The time under it goes on: more than the second that a press may arrive twice in.
        [/Stopping[^]*probe[^]*probe[^]*probe/, '\u0003'],
      ],
    });
    const lines = await terminal.linesShown();
    expect(lines).toContain(
      'Stopping at the next safe point. Press Ctrl-C again to stop immediately.',
    );
    expect(lines.filter((line) => line.includes('['))).toEqual([]);
    // By SIGINT.
    expect(code).toBe(254);
  });
});
