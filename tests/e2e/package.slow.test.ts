import { mkdirSync, readFileSync, renameSync } from 'node:fs';
import { join } from 'node:path';

import { beforeAll, describe, expect, test } from '@jest/globals';

import { packageRoot } from '#agent_rl/core/package-root.ts';
import { filesBelow, readJson, readLines } from '../support/acme-project.ts';
import { builtProgram } from '../support/built-program.ts';
import { documentCommands, writePageFiles } from '../support/package/document-commands.ts';
import { installedCommands, own } from '../support/package/installed-commands.ts';
import {
  inShell,
  installProject,
  packPackage,
  type Packed,
  runTogether,
} from '../support/package/installed-project.ts';
import { episodesIn } from '../support/journal.ts';
import { codeBlocks, readDocument } from '../support/markdown.ts';
import { temporaryFolder, writeBelow } from '../support/temporary-folder.ts';

const folder = temporaryFolder();
const project = join(folder, 'project');
const tools = ['typescript', 'jest', '@jest/globals', 'zod'];
let packed: Packed;

/** The task of a reward has the type of its row. */
const typedRows = `
import { type EpisodeOf, evaluateAgent, trainAgent } from 'agent_rl';
const tasks = [{ question: 'How many?', answer: 42, level: 3 }];
trainAgent({ tasks, reward: ({ task }) => (task.answer === '42' ? task.metadata.level : 0) });
// @ts-expect-error A row has no such field.
trainAgent({ tasks, reward: ({ task }) => task.answr.length });
// @ts-expect-error It is a number.
trainAgent({ tasks, reward: ({ task }) => task.metadata.level.length });
async function* stream() {
  yield { prompt: 'Guess.', secret: 7 };
}
trainAgent({ tasks: stream(), reward: ({ task }) => task.metadata.secret });
interface Row {
  question: string;
  answer: string;
}
const reward = ({ task }: EpisodeOf<Row>) => task.answer.length;
evaluateAgent('runs/one', { reward });
evaluateAgent<Row>('runs/one', { reward: ({ task }) => task.answer.length });
`;

// Outside this repository, without the network: what npm needs, npm ci of the repository has left in its cache.
beforeAll(() => {
  packed = packPackage(folder);
  installProject(project, packed, tools);
  mkdirSync(join(project, 'below', 'it'), { recursive: true });
  writePageFiles(join(project, 'pages'));
}, 600_000);

describe('The packed package', () => {
  test('contains every file that its programs read', () => {
    const beside = filesBelow(join(packageRoot(), 'agent_rl'))
      .filter((file) => /\.(?:py|json)$/.test(file) && !file.endsWith('tsconfig.json'))
      .map((file) => file.slice(packageRoot().length + 1).replaceAll('\\', '/'));
    expect(beside.toSorted().join()).toMatch(/syscalls-x86_64\.json.*trackers\/wandb\/sidecar\.py/);
    expect(packed.files).toEqual(expect.arrayContaining(beside));
    const { bin } = readJson(packageRoot(), 'package.json') as { bin: Record<string, string> };
    expect(packed.files).toEqual(expect.arrayContaining(Object.values(bin)));
  });

  test('contains no program but its commands, no test but the contracts and no source map', () => {
    const programs = packed.files.filter((file) => file.startsWith('dist/scripts/'));
    const { bin } = readJson(packageRoot(), 'package.json') as { bin: Record<string, string> };
    expect(programs.toSorted()).toEqual(Object.values(bin).toSorted());
    const others =
      /^dist\/tests\/(?!contracts\/)|\.map$|^tests\/|^scripts\/|^(?!templates\/).*\.ts$/;
    const isDeclaration = (file: string): boolean => /^dist\/.*\.d\.ts$/.test(file);
    expect(packed.files.filter((file) => others.test(file) && !isDeclaration(file))).toEqual([]);
  });
});

describe('A project that installed the package', () => {
  test.each(installedCommands)('$title', ({ command, writes, folder: below = '.' }) => {
    const { code, stdout, stderr } = inShell(command, join(project, below));
    expect(`${stdout}\n${stderr}`).toMatch(writes);
    expect(code).toBe(0);
  });

  test('creates a new project that type-checks its libraries, makes its data and trains', async () => {
    const made = join(project, own);
    expect(readJson(made, 'tsconfig.json')).not.toHaveProperty('compilerOptions.skipLibCheck');
    expect(readJson(made, 'package.json')).toMatchObject({
      scripts: {
        tasks: 'npm run build && node build/data/make-tasks.js',
        demonstrations: 'npm run build && node build/data/make-demonstrations.js',
      },
    });
    const lines = (name: string) => readLines(made, 'tasks', `${name}.jsonl`).length;
    expect(['train', 'eval', 'demonstrations'].map(lines)).toEqual([480, 210, 2400]);
    const run = join(made, 'runs', 'grpo-seed1');
    expect(readJson(run, 'summary.json')).toMatchObject({
      iterations: 1,
      eval: { after: { n: 3, groups: { 'unseen-pair': { n: 1 } } } },
    });
    expect(await episodesIn(run, 'train')).toHaveLength(4);
  });

  test('compiles the snippets of the guide for code with strict types', () => {
    const blocks = codeBlocks(readDocument('docs/guides/from-code.md'));
    const files = blocks
      .filter(({ language }) => language === 'ts')
      .map(({ text }, index) => writeBelow(project, `guide/${index}.ts`, text));
    expect(files).toHaveLength(3);
    const typed = writeBelow(project, 'guide/typed.ts', typedRows);
    const strict = '--ignoreConfig --noEmit --strict --skipLibCheck false --module nodenext';
    const options = `${strict} --target es2023 --types node`;
    const { code, stdout } = inShell(`npx tsc ${options} ${[...files, typed].join(' ')}`, project);
    expect([code, stdout]).toEqual([0, '']);
  });

  test('runs the commands of the pages', () => {
    expect(documentCommands).toHaveLength(13);
    expect(runTogether(documentCommands, join(project, 'pages'))).toEqual(
      documentCommands.map((command) => ({ command, code: 0, stderr: '' })),
    );
  });

  test('has the same sandbox as a checkout on this machine', () => {
    interface Doctor {
      findings: { name: string; detail: string }[];
    }
    const sandboxOf = (text: string) =>
      (JSON.parse(text) as Doctor).findings.find(({ name }) => name === 'sandbox')?.detail ?? '';
    const { stdout } = builtProgram('agent-rl', ['doctor', '--json'], packageRoot());
    const here = sandboxOf(stdout);
    expect(sandboxOf(readFileSync(join(project, 'doctor.json'), 'utf8'))).toBe(here);
    const run = join(project, 'below', 'it', 'runs', 'smoke');
    const { sandboxLevel, iterations } = readJson(run, 'summary.json');
    expect([here.split(',')[0], 2]).toEqual([sandboxLevel, iterations]);
  });

  test('prints what to run when ONNX Runtime was not installed', () => {
    const installed = join(project, 'node_modules', 'onnxruntime-node');
    renameSync(installed, `${installed}-away`);
    const remedy = /onnxruntime-node is not installed: .*npm install --ignore-scripts/;
    const doctor = inShell('npx agent-rl doctor', project);
    expect(doctor.stdout).toMatch(/NO +device cpu +onnxruntime-node is not installed/);
    const train = inShell('npx agent-rl train --config configs/code_exec_smoke.yaml', project);
    expect(train.stderr).toMatch(remedy);
    expect([doctor.code, train.code]).toEqual([1, 2]);
    renameSync(`${installed}-away`, installed);
  });
});
