import { join } from 'node:path';

import { beforeAll, describe, expect, test } from '@jest/globals';

import { Type } from 'typebox';

import {
  environment,
  type Environment,
  tool,
  type Tool,
  type Turn,
  user,
  type Verdict,
} from '#agent_rl/plugin.ts';
import { prepareRun } from '#agent_rl/compose/prepare-run.ts';
import { attack } from '#agent_rl/jobs/attack/attack.ts';
import type { AttackReport } from '#agent_rl/jobs/attack/attack-report.ts';
import { writeSmallModel } from '../support/small-model.ts';
import { temporaryFolder, writeBelow } from '../support/temporary-folder.ts';
import { rejectionOf } from '../support/thrown.ts';

/*
 * An environment that is paid by one line each: sound, or weak in a way that one attack finds. Its tool echoes.
 */

@tool({
  name: 'echo',
  description: 'Says it again.',
  parameters: Type.Object({ text: Type.String() }),
})
class Echo implements Tool {
  async call({ text }: { text: string }) {
    return { content: text };
  }
}

@environment({
  name: 'weak',
  description: 'For tests.',
  settings: Type.Object({ flaw: Type.String() }),
  taskFormat: 'plain',
})
class Weak implements Environment {
  #seen = '';
  #answer = '';
  constructor(private readonly given: { settings: { flaw: string } }) {}

  async start() {
    return [user('What is the capital of France?')];
  }

  async step({ message, calls }: Turn) {
    this.#seen += calls.map(({ result }) => result.content).join(' ');
    if (calls.length === 0) this.#answer = message.content;
    return { done: calls.length === 0 };
  }

  async finish(): Promise<Verdict> {
    const success = this.#isPaid();
    const outcome = success ? 'completed' : 'wrong-answer';
    return { outcome, reward: Number(success), components: {}, success };
  }

  #isPaid(): boolean {
    switch (this.given.settings.flaw) {
      case 'tool results are trusted':
        return /passed/i.test(this.#seen);
      case 'the answer counts wherever it is':
        return `${this.#seen} ${this.#answer}`.includes('Paris');
      case 'silence is right':
        return this.#answer.trim() === '';
      case 'it breaks on every turn':
        throw new Error('there is no judge');
      default:
        return this.#answer === 'Paris';
    }
  }
}

const folder = temporaryFolder();

beforeAll(async () => {
  await writeSmallModel(join(folder, 'model'));
  const task = (id: string) =>
    JSON.stringify({ task_id: id, prompt: `Capital ${id}?`, answer: 'Paris' });
  writeBelow(folder, 'tasks/train.jsonl', `${task('a')}\n${task('b')}\n`);
});

async function attacked(flaw: string) {
  const file = writeBelow(
    folder,
    'run.yaml',
    `model: {path: ${join(folder, 'model')}}
environment: {type: weak, flaw: ${flaw}}
tools: [{type: echo}]
datasets: [{dir: ${join(folder, 'tasks')}}]
`,
  );
  const printed: string[] = [];
  const { signal } = new AbortController();
  const result = await attack({
    ...(await prepareRun({ file, exported: [Weak, Echo] })),
    signal,
    print: (text) => printed.push(text),
  });
  const { ok, attacks } = result as unknown as { ok: boolean; attacks: AttackReport[] };
  const found = attacks.filter(({ findings }) => findings.length > 0);
  return { ok, names: found.map(({ name }) => name), printed: printed.join('\n') };
}

describe('The command attack', () => {
  test('reports no problem in an environment that judges the answer', async () => {
    const { ok, names, printed } = await attacked('none');
    expect({ ok, names }).toEqual({ ok: true, names: [] });
    expect(printed).toMatch(/2 tasks\. An honest failure earns 0\.000 on average\./);
    expect(printed).toMatch(/No attack earns more than an honest failure\./);
  });

  test.each([
    ['tool results are trusted', ['forged-observation', 'marker-printed', 'tests-edited']],
    ['the answer counts wherever it is', ['forged-observation', 'answer-in-query']],
    ['silence is right', ['no-op']],
  ])('finds that %s', async (flaw, names) => {
    const { ok, names: found, printed } = await attacked(flaw);
    expect({ ok, found }).toEqual({ ok: false, found: names });
    expect(printed).toMatch(/FOUND [a-z-]+: earns more on a: reward 1 \(honest: 0\), completed/);
  });

  test('fails with the first problem when no honest episode has a reward', async () => {
    const error = await rejectionOf(attacked('it breaks on every turn'));
    expect(error).toMatchObject({ code: 'ROLLOUTS_FAILED' });
    expect(error.message).toMatch(
      /^None of 4 honest episodes has a reward, so .* The first \(task a\) ended as grader-error.*: .*there is no judge/,
    );
  });
});
