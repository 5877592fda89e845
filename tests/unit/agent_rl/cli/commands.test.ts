import { posix } from 'node:path';

import { describe, expect, test } from '@jest/globals';

import { linesOf } from '#agent_rl/cli/command.ts';
import { commands } from '#agent_rl/cli/commands.ts';
import { commandLine } from '#tests/support/command-line.ts';
import { projectFile } from '#tests/support/source-files.ts';

const all = linesOf(commands);

describe.each(all)('the help of %s', (name, { examples, options }) => {
  test('shows examples whose flags exist', async () => {
    expect(examples.length).toBeGreaterThan(0);
    const flags = examples.flatMap(([line]) => line.match(/(?<=^|\s)--[a-z-]+/g) ?? []);
    expect(flags.filter((flag) => !(flag.slice(2) in options))).toEqual([]);
    const { stdout, code } = await commandLine([...name.split(' '), '--help']);
    expect(code).toBe(0);
    expect(stdout).toMatch(new RegExp(`^Usage: agent-rl ${name}\\b`));
    // Each example stands on lines of its own, whole.
    for (const [line, meaning] of examples)
      expect(stdout.replaceAll(/ \\\n +/g, ' ')).toContain(
        `\n  ${meaning}\n    agent-rl ${name} ${line}`.trimEnd(),
      );
  });

  test('shows numbers as numbers', () => {
    const numeric =
      /seed|threads|workers|tokens$|^batch|top-|min-p|temperature|rank|alpha|size|iterations|^samples$|^port$/;
    const others = Object.entries(options).filter(
      ([flag, { type, array }]) => numeric.test(flag) && array !== true && type !== 'number',
    );
    expect(others.map(([flag]) => flag)).toEqual([]);
  });
});

/** What a file needs before it can run: neither types nor what is imported when it is needed. */
const loadedAtOnce = (path: string): string[] =>
  [...projectFile(path).matchAll(/^(?:import|export) (?!type )[^;']*from '([^']+)';/gm)]
    .map(([, target = '']) => target)
    .map((target) => (target.startsWith('.') ? posix.join(posix.dirname(path), target) : target));

test('--help loads yargs and no other package', () => {
  const seen = new Set<string>();
  const packages = new Set<string>();
  const visit = (path: string): void => {
    if (seen.has(path)) return;
    seen.add(path);
    for (const target of loadedAtOnce(path)) {
      if (target.startsWith('node:')) continue;
      if (target.endsWith('.ts')) visit(target);
      else packages.add(target);
    }
  };
  visit('scripts/agent-rl.ts');
  expect([...packages]).toEqual(['yargs']);
  expect(seen.size).toBeLessThan(70);
});

describe('A terminal of 60 columns', () => {
  const program = [
    '[sampled]',
    '  x = 1    # the first    comment of a program, beyond 60 columns',
    '  y = 2    # the second   comment',
  ].join('\n');
  const job = async ({ print }: { print: (text: string) => void }) => (print(program), {});

  test('shows the text of an episode as it was written', async () => {
    const jobs = { showRun: job };
    const { stdout } = await commandLine(['runs', 'show', 'run'], { jobs, columns: 60 });
    expect(stdout).toBe(`${program}\n`);
  });

  test('gets a table that is too wide as a list', async () => {
    const jobs = { compareRuns: job };
    const { stdout } = await commandLine(['runs', 'compare', 'a', 'b'], { jobs, columns: 60 });
    expect(stdout).toContain('  x = 1\n  y = 2\n    # the first');
  });
});

/** The error of a command line that is the user's mistake; no job runs. */
async function refusal(line: string): Promise<string> {
  const { code, stderr } = await commandLine(line.split(' '));
  expect({ code, stderr }).toMatchObject({ code: 2 });
  return stderr;
}

const tokens = '--model m --input in.jsonl --output out.jsonl';
const quantize = 'model quantize --model m --output four';
const verify = 'data verify --dataset x';

test.each([
  ['--json', 'Name a command'],
  ['model --json', 'agent-rl model needs a command: generate, score, merge-lora'],
  ['train my_run.yaml', 'Unknown argument my_run.yaml.'],
  ['train --config', 'Not enough arguments following: config'],
  ['train --resume', 'CONFIG_INVALID: agent-rl train needs --config FILE'],
  ['train', '--config configs/workspace_grpo.yaml\n'],
  ['sft --seed 2', 'The package has run files in '],
  ['data judge-calibration --labels x', 'No run file is given, so the reward is unknown.'],
  ['data verify', 'Missing required argument: dataset'],
  ['model score --model m', 'Missing required arguments: input, output'],
  // An option that the command does not have.
  ['train --sede 3', 'Unknown option --sede. Did you mean --seed?\nSee agent-rl train --help'],
  ['train --iterations 3', 'Did you mean --max-iterations? To change the setting train.iterations'],
  ['train --learning-rate=1e-4', 'use --set train.learningRate=VALUE.'],
  ['train --maxIterations 3', 'Did you mean --max-iterations?'],
  ['model score --modle m', 'Unknown option --modle. Did you mean --model?'],
  ['sandbox serve --prot 1', 'Did you mean --port?'],
  ['eval --log-rollouts', 'Unknown option'],
  ['chat --prompt Hello. --async-rollout-workers 4', 'Unknown option'],
  // An option without an effect.
  [`${quantize} --lora-rank 0 --lora-alpha 3`, 'no effect with --lora-rank 0'],
  [`${quantize} --lora-rank 0 --lora-targets mlp`, 'no effect with --lora-rank 0'],
  [`model score ${tokens} --quantize-block-size 32`, 'no effect without --quantize'],
  [`${verify} --documents x`, '--documents has no effect on code tasks'],
  [
    `${verify} --format plain --sandbox-workers 1`,
    '--sandbox-workers has no effect on plain tasks',
  ],
  [`${verify} --format search --sandbox-type native`, '--sandbox-type has no effect on search'],
  [`${verify} --format search --degenerate`, '--degenerate has no effect on search'],
  ['eval runs/one --model m --config x', 'checkpoint runs/one and model m were both given'],
  // A value that cannot be.
  [`${verify} --column problem`, 'not of the form FIELD=COLUMN'],
  [`${verify} --column a=b --column a=c`, '--column a=c repeats a field'],
  ['eval model/one model/two', 'model/one, model/two are not part of a run'],
  ['eval  --config x', 'The value of checkpoint is empty.'],
  ['sandbox serve --token-env=', 'The value of token-env is empty.'],
  ['sandbox serve --port 70000', '--port is "70000"; expected a whole number from 0 to 65535'],
  ['sandbox serve --port=', '--port is ""; expected a whole number'],
  ['sandbox serve --type remote', 'remote'],
  ['view runs/one --export x --export-episodes many', 'is "many"; expected a whole number from 0'],
  [`${verify} --sandbox-workers 0`, 'is "0"; expected a whole number from 1 to 256'],
  [`${quantize} --block-size abc`, '--block-size is "abc"; expected a whole number from 16.'],
  [`${quantize} --text-tokens 0`, '--text-tokens is "0"; expected a whole number from 2.'],
  [`${quantize} --lora-rank -1`, '--lora-rank is "-1"; expected a whole number from 0.'],
  [`${quantize} --lora-alpha 0`, '--lora-alpha is "0"; expected a number above 0.'],
  [`model score ${tokens} --batch-tokens 1.5`, 'is "1.5"; expected a whole number from 1.'],
  [`model generate ${tokens} --temperature Infinity`, 'is "Infinity"; expected a number from 0.'],
  [`model generate ${tokens} --top-p 0`, '--top-p is "0"; expected a number above 0 to 1.'],
  [`model generate ${tokens} --min-p 2`, '--min-p is "2"; expected a number from 0 to 1.'],
  [`model generate ${tokens} --top-k=\t`, '; expected a whole number from 0.'],
  [`model generate ${tokens} --seed 1e99`, '--seed is "1e99"; expected a whole number from 0.'],
  // An option that is repeated.
  ['train --config a --config b', '--config was given 2 times (a, b). Give it once.'],
  ['train --seed 1 --seed 1', '--seed was given 2 times (1, 1)'],
  ['train --json --json', '--json was given 2 times (--json, --json)'],
  ['chat --color --no-color', '--color was given 2 times (--color, --no-color)'],
  [`${verify} --format mbpp --format plain`, '--format was given 2 times (mbpp, plain)'],
  ['train --model m --model-path n', '--model was given 2 times (m, n). Give it once.'],
  ['merge-lora --model m --base-model n --adapter a --output out', 'given 2 times (m, n)'],
  // An argument that is missing.
  ['runs compare a', 'runs compare needs B, the folder of the other run.'],
  ['runs compare', 'needs A, the folder of a run, and B, the folder of the other run'],
  ['runs report --out x', 'runs report needs RUNS, the folders of runs.'],
])('agent-rl refuses the line "%s"', async (line, error) => {
  expect(await refusal(line)).toContain(error);
});

describe('The error for an unknown command', () => {
  test.each([
    ['explian', 'Unknown command explian. Did you mean runs explain?\nSee agent-rl --help.\n'],
    ['shw', 'Unknown command shw. Did you mean runs show?\nSee agent-rl --help.\n'],
    ['run', 'Unknown command run. Did you mean runs?\nSee agent-rl --help.\n'],
    ['merge', 'Unknown command merge. Did you mean model merge-lora?\nSee agent-rl --help.\n'],
    // The old names.
    ['index', 'agent-rl index is now called agent-rl data index.\nSee agent-rl --help.\n'],
    [
      'export --onnx x',
      'agent-rl export is now called agent-rl model export.\nSee agent-rl --help.\n',
    ],
    [
      'attack --help',
      'agent-rl attack is now called agent-rl plugins attack.\nSee agent-rl --help.\n',
    ],
    // Nothing is near.
    ['list', 'Unknown command list.\nSee agent-rl --help.\n'],
    ['help runs', 'Unknown command help.\nSee agent-rl --help.\n'],
    ['ex', 'Unknown command ex.\nSee agent-rl --help.\n'],
    ['constructor', 'Unknown command constructor.\nSee agent-rl --help.\n'],
    // An option of all commands.
    ['--hlp', 'Unknown option --hlp. Did you mean --help?\nSee agent-rl --help.\n'],
    [
      'runs show --vesion',
      'Unknown option --vesion. Did you mean --version?\nSee agent-rl runs show --help.\n',
    ],
  ])('is of "%s" the whole text', async (line, expected) => {
    expect(await refusal(line)).toBe(expected);
  });

  test.each([
    ['data prepare-data', 'Unknown command prepare-data. Did you mean data prepare?'],
    ['model show', 'Unknown command show. Did you mean runs show?'],
    ['sandbox stop', 'Unknown command stop.'],
  ])('lists, for "%s", the commands of the group', async (line, expected) => {
    const [group] = line.split(' ');
    const stderr = await refusal(line);
    expect(stderr).toContain(`${expected} The commands of ${group} are `);
    expect(stderr).toContain(`\nSee agent-rl ${group} --help.\n`);
  });
});
