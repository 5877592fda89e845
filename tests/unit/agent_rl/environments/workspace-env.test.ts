import { describe, expect, test } from '@jest/globals';
import { Value } from 'typebox/value';

import type { EpisodeEnd, Turn } from '#agent_rl/core/plugins/environment.ts';
import { environments } from '#agent_rl/core/plugins/environment.ts';
import type { QuestionTask } from '#agent_rl/core/tasks/question-task.ts';
import { WorkspaceSettings } from '#agent_rl/environments/workspace/settings.ts';
import { WorkspaceEnv } from '#agent_rl/environments/workspace/workspace-env.ts';
import { describeEnvironmentContract } from '#tests/contracts/environment-contract.ts';

const task: QuestionTask = {
  taskId: 't',
  prompt: 'What is the zof of Velmora ?',
  answer: 'Kalpeno',
  aliases: [],
  metadata: {
    setup: 'zof = {"Velmora": "Kalpeno"}',
    other: { setup: 'zof = {"Velmora": "Wirdana"}', answer: 'Wirdana' },
  },
};
const defaults = Value.Default(WorkspaceSettings, { successReward: 2 }) as WorkspaceSettings;

const make = (settings: Partial<WorkspaceSettings> = {}): WorkspaceEnv =>
  new WorkspaceEnv({ task, settings: { ...defaults, ...settings } });

const message = (content: string) => ({ role: 'assistant', content }) as const;
const saying = (content: string): Turn => ({ index: 0, message: message(content), calls: [] });

const call = { id: 'call_0_0', name: 'code_exec', arguments: { code: 'print(zof)' } };

const running = (status: 'ok' | 'error' | 'rejected', name = call.name): Turn => {
  const made = { ...call, name };
  return {
    index: 0,
    message: { role: 'assistant', content: 'Kalpeno', toolCalls: [made] },
    calls: [{ call: made, status, wallMs: 1, result: { content: '' } }],
  };
};

type Settings = Partial<WorkspaceSettings>;
async function played(turns: readonly Turn[], settings: Settings = {}, end?: EpisodeEnd) {
  const environment = make(settings);
  let isDone = false;
  for (const turn of turns) ({ done: isDone } = await environment.step(turn));
  return environment.finish(end ?? (isDone ? 'done' : 'turn-limit'));
}

const winningTurns = [running('ok'), saying('It is Kalpeno.')];
describeEnvironmentContract('WorkspaceEnv', { plugin: WorkspaceEnv, create: make, winningTurns });

test('differently worded equal answers have the same canonical form', async () => {
  for (const said of ['Kalpeno', 'It is Kalpeno.', 'the answer is  KALPENO'])
    expect((await played([saying(said)])).answer).toBe('kalpeno');
  expect((await played([running('ok')])).answer).toBeUndefined();
});

describe('A question about a workspace', () => {
  test.each([
    [true, ['Kalpeno', 'It is Kalpeno.', 'it is kalpeno', 'The answer is Kalpeno.']],
    [false, ['', 'Wirdana', 'Kalpeno or Wirdana', 'It is not Kalpeno.', 'Kalpeno Wirdana', 'Kal']],
  ])('is answered (%j) by %j', async (success, messages) => {
    for (const said of messages)
      expect(await played([saying(said)])).toMatchObject({ success, reward: success ? 2 : 0 });
  });

  test('is not answered by text beside a call', async () => {
    const verdict = await played([running('ok')]);
    expect(verdict).toMatchObject({ success: false, outcome: 'truncated-turns' });
    expect(verdict.metrics).toMatchObject({ noAnswer: 1, programs: 1, programErrors: 0 });
  });

  test('is judged by its own world, and programs run in the configured one', () => {
    expect(make().toolInputs(call)).toEqual({ setup: 'zof = {"Velmora": "Kalpeno"}' });
    const other = { setup: 'zof = {"Velmora": "Wirdana"}' };
    expect(make({ world: 'other' }).toolInputs(call)).toEqual(other);
    expect(make().toolInputs({ ...call, name: 'search' })).toEqual({});
  });

  test('counts answers of the other world', async () => {
    const { success, metrics } = await played([saying('It is Wirdana.')], { world: 'other' });
    expect([success, metrics?.['saidOther']]).toEqual([false, 1]);
    expect((await played([saying('It is Kalpeno.')])).metrics?.['saidOther']).toBe(0);
  });

  test('says what each turn cost, and leaves the rest to the last', async () => {
    const turns = [running('ok'), running('error'), running('rejected'), saying('Kalpeno')];
    const settings = { callPenalty: 0.1, errorPenalty: 0.25 };
    const { turnRewards } = await played(turns, settings);
    expect(turnRewards).toEqual([-0.1, -0.35, 0, 0].map((value) => expect.closeTo(value, 12)));
  });

  test('names the state of a turn by all that was seen before it', async () => {
    const seeing = (content: string, problem?: string): Turn => ({
      ...running('ok'),
      message: {
        ...message('whatever it says'),
        ...(problem !== undefined && { malformedCalls: [{ id: 'm', text: '{', problem }] }),
      },
      calls: running('ok').calls.map((one) => Object.assign({}, one, { result: { content } })),
    });
    const states = async (...turns: readonly Turn[]) => (await played(turns)).turnStates ?? [];
    const [first, , second] = await states(seeing('a'), seeing('b'));
    expect(first).toBe('');
    // The same results in the same order, whatever was said; one more state than turns.
    const again = await states(seeing('a'), { ...seeing('b'), message: message('other') });
    expect(again).toHaveLength(3);
    expect(again[2]).toBe(second);
    const others = [
      [seeing('b'), seeing('a')],
      [seeing('a'), seeing('c')],
      [seeing('a'), seeing('b', 'not JSON')],
      [seeing('b')],
    ];
    for (const turns of others) expect((await states(...turns)).at(-1)).not.toBe(second);
  });

  test('charges for programs, for failed ones and for reaching the turn limit', async () => {
    const turns = [running('ok'), running('error'), running('rejected'), saying('Kalpeno')];
    const settings = { callPenalty: 0.1, errorPenalty: 0.25, turnLimitPenalty: 0.5 };
    const verdict = await played(turns, settings);
    expect(verdict.components).toEqual({ success: 2, calls: -0.2, errors: -0.25 });
    expect(verdict.metrics).toMatchObject({ programs: 2, programErrors: 1, noAnswer: 0 });
    const cut = await played([running('rejected')], settings);
    expect(cut.components).toEqual({ turnLimit: -0.5 });
  });

  test('has no reward if the episode was aborted', async () => {
    const verdict = await played([saying('Kalpeno')], {}, 'aborted');
    expect(verdict).toMatchObject({ outcome: 'aborted', reward: undefined });
  });
});

describe('A task of the workspace', () => {
  const problemOf = (changes: object): string | undefined =>
    environments.specOf(WorkspaceEnv)?.taskProblem?.({ ...task, ...changes }, defaults);

  test('is accepted with both its worlds', () => {
    expect(problemOf({})).toBeUndefined();
  });

  test.each([
    [{ metadata: {} }, 'it needs answer, setup'],
    [{ answer: undefined }, 'it needs answer, setup'],
    [{ answer: '…' }, 'no letter or digit'],
    [{ answer: 'wirdana' }, 'its two worlds have the same answer'],
  ])('is refused with %j', (changes, problem) => {
    expect(problemOf(changes)).toContain(problem);
  });
});
