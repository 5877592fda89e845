import { describe, expect, test } from '@jest/globals';

import { prepareRun } from '#agent_rl/compose/prepare-run.ts';
import { blocksOf, kinds } from '#agent_rl/compose/plugins/kinds.ts';
import { checkConfig, loadConfig } from '#agent_rl/config/index.ts';
import type { Turn } from '#agent_rl/core/plugins/environment.ts';
import { ToolChoice } from '#agent_rl/environments/tool-choice.ts';
import { type Answer, ask } from '#tests/support/scripted-questions.ts';
import { ScriptedEnvironment } from '#tests/support/scripted-environment.ts';
import { problemPaths } from '#tests/support/problem-places.ts';
import { temporaryFolder, writeBelow } from '#tests/support/temporary-folder.ts';
import { errorOf, rejectionOf, thrownBy } from '#tests/support/thrown.ts';

const folder = temporaryFolder();
const write = (path: string, text: string): string => writeBelow(folder, path, text);

write('maths/eval.csv', 'question,answer\nTwo and two?,4\n');
write('words/eval.csv', 'question,answer\nOf what is cheese made?,milk\n');
write('own/eval.jsonl', '{"question":"Q","answer":"4","metadata":{"environment":"numbers"}}\n');

const numbers = { type: 'question', name: 'numbers', match: 'number', successReward: 2 };
const worlds = [numbers, { type: 'question', name: 'texts' }];
const folders = {
  maths: { dir: `${folder}/maths`, environment: 'numbers' },
  words: { dir: `${folder}/words`, environment: 'texts' },
  own: { dir: `${folder}/own`, environment: 'texts' },
};
const answer: Answer = ({ answer: right }) => `The answer is ${right}, I think, and not 5 or 4`;

describe('A run with several environments', () => {
  const played = async (datasets: readonly object[]) =>
    (await ask({ environment: worlds, datasets }, { split: 'eval', answer })).map(
      ({ taskId, parts: [part], judgedBy }) => `${taskId} ${part?.reward} ${judgedBy?.environment}`,
    );

  test('plays each task in the environment of its metadata or its folder', async () => {
    const expected = ['maths-eval-2 2 numbers', 'words-eval-2 0 texts', 'own-eval-1 2 numbers'];
    expect(await played(Object.values(folders))).toEqual(expected);
  });

  test('refuses tasks without an environment or with an unknown one', async () => {
    write('lost/eval.jsonl', '{"question":"Q","answer":"4","metadata":{"environment":"chess"}}\n');
    const { environment: _none, ...nameless } = folders.maths;
    const error = await rejectionOf(played([nameless, { dir: `${folder}/lost` }]));
    expect(error).toMatchObject(errorOf('DATASET_INVALID', /^2 of 2 tasks/));
    expect(error.message).toContain(`${folder}/maths/eval.csv:2 Task "maths-eval-2": `);
    expect(error.message).toContain(`${folder}/lost/eval.jsonl:1 Task "lost-eval-1": `);
  });
});

describe('The names of environments', () => {
  const problemsOf = async (settings: object) =>
    problemPaths((await rejectionOf(prepareRun({ file: 'run.yaml', settings }))).message);
  const tools = [{ type: 'search', mode: 'task' }, { type: 'code_exec' }];

  test('each name is unique, and datasets refer to existing ones', async () => {
    const environment = [{ type: 'question' }, { type: 'question' }];
    const datasets = [{ dir: 'a', environment: 'chess' }];
    const wrong = ['environment.1', 'datasets.0.environment'];
    expect(await problemsOf({ environment, datasets })).toEqual(wrong);
  });

  test('a dataset needs a name if the environments read different formats', async () => {
    const environment = [{ type: 'search' }, { type: 'code_exec' }];
    const datasets = [{ dir: 'a' }, { dir: 'b', format: 'mbpp' }];
    expect(await problemsOf({ environment, tools, datasets })).toEqual(['datasets.0']);
  });
});

describe('The setting environment', () => {
  const below = write('below.yaml', 'environment: {type: search}\ndatasets: [{dir: a}]\n');
  const several = 'environment: [{type: search}, {type: question}]\n';
  const typesOf = (file: string, overrides: string[] = []) => {
    const { loaded, problems } = checkConfig({ file, overrides });
    expect(problems).toEqual([]);
    return blocksOf(loaded.config, kinds.environments).map(
      ({ path, value }) => `${path} ${(value as { type: string }).type}`,
    );
  };

  test('replaces a block by a list and a list by a block', () => {
    const above = write('above.yaml', `extends: ${below}\n${several}`);
    const again = write('again.yaml', `extends: ${above}\nenvironment: {type: question}\n`);
    expect(typesOf(above)).toEqual(['environment.0 search', 'environment.1 question']);
    expect(typesOf(again)).toEqual(['environment question']);
    expect(typesOf(above, ['environment={type: code_exec}'])).toEqual(['environment code_exec']);
    expect(typesOf(below, ['environment=[{type: question}]'])).toEqual(['environment.0 question']);
  });

  test.each([
    ['environment: code_exec', 'environment'],
    ['environment: [{}]', 'environment.0.type'],
    ['environment: []', 'environment'],
    ['tools: []', 'environment'],
    ['environments: [{type: search}]', 'environments'],
  ])('refuses %s', (text, path) => {
    const file = write('wrong.yaml', `${text}\ndatasets: [{dir: a}]\n`);
    expect(problemPaths(thrownBy(() => loadConfig({ file })).message)).toContain(path);
  });
});

test.each([
  [['code_exec', 'search'], 1, 1],
  [['calculator', 'code_exec'], 0, 1],
  [[], 0, 0],
])('calls of %j have toolChoiceRight %d and toolUsed %d', async (names, right, used) => {
  const environment = new ToolChoice(new ScriptedEnvironment(), ['code_exec']);
  const { signal } = new AbortController();
  await environment.start(signal);
  for (const [index, name] of names.entries()) {
    const call = { id: 'c', name, arguments: {} };
    const calls = [{ call, result: { content: '' }, status: 'ok', wallMs: 0 }] as const;
    const turn: Turn = { index, message: { role: 'assistant', content: '' }, calls };
    await environment.step(turn, signal);
  }
  const { metrics } = await environment.finish('done', signal);
  expect(metrics).toEqual({ toolChoiceRight: right, toolUsed: used });
});
