import { fileURLToPath } from 'node:url';

import { environments } from '#agent_rl/core/plugins/environment.ts';
import { KeyedRng } from '#agent_rl/core/keyed-rng.ts';
import type { AgentContext } from '#agent_rl/core/plugins/agent.ts';
import type { QuestionTask } from '#agent_rl/core/tasks/question-task.ts';
import type { AgentRunner } from '#agent_rl/environments/external/agent-runner.ts';
import { ExternalEnv } from '#agent_rl/environments/external/external-env.ts';
import type { ExternalSettings } from '#agent_rl/environments/external/settings.ts';
import { httpDouble } from './http-double.ts';

/** Path of an agent in `tests/fixtures/own-loops`. */
export const ownLoop = (name: string): string =>
  fileURLToPath(new URL(`../fixtures/own-loops/${name}`, import.meta.url));

export const defaults: ExternalSettings = {
  env: [],
  mostOutputKiB: 1024,
  match: 'whole',
  maxAnswerWords: 40,
  successReward: 1,
  solvedAt: 1,
  noAnswerPenalty: 0,
};

export const questionOf = (prompt: string, answer = '42'): QuestionTask => ({
  taskId: prompt,
  prompt,
  answer,
  aliases: [],
  metadata: {},
});

/** A model that repeats its messages and who asked for what. */
export async function openStub() {
  const asked: string[] = [];
  const { url, close } = await httpDouble(({ method, path, headers, text }) => {
    asked.push(`${method} ${path} ${headers.authorization}`);
    if (method === 'GET') return { status: 200, json: { url: path, own: headers['x-own'] } };
    const { messages } = JSON.parse(text) as { messages: { content: string }[] };
    const message = { role: 'assistant', content: messages.at(-1)?.content };
    return { status: 200, json: { choices: [{ message }] } };
  });
  return { baseURL: `${url}/v1`, asked, close };
}

export type OwnLoop = Awaited<ReturnType<ReturnType<typeof ownLoops>['open']>>;

/** Opens agents of the environment `external`, and closes them all. */
export function ownLoops(environment: NodeJS.ProcessEnv = process.env) {
  const opened: AgentRunner[] = [];
  const open = async (given: Partial<ExternalSettings>) => {
    const settings = { ...defaults, ...given };
    const spec = environments.specOf(ExternalEnv);
    const shared = (await spec?.open?.(settings, { environment })) as AgentRunner;
    opened.push(shared);
    /** One episode. */
    const play = (prompt: string, context: Partial<AgentContext> = {}) => {
      const task = questionOf(prompt);
      const one = new ExternalEnv({ task, settings, shared });
      const answer = one.run({
        task,
        signal: new AbortController().signal,
        random: new KeyedRng(1, 'agent', prompt),
        fetch,
        baseURL: 'http://127.0.0.1:9/v1',
        apiKey: 'key-of-rollout',
        ...context,
      });
      return { environment: one, answer };
    };
    return { shared, play };
  };
  const close = async () => {
    for (const one of opened.splice(0)) await one.close();
  };
  return { open, close };
}

/** What a promise rejects with; fails when it does not. */
export const thrownOf = (promise: Promise<unknown>): Promise<unknown> =>
  promise.then(
    () => Promise.reject(new Error('Nothing was thrown.')),
    (thrown: unknown) => thrown,
  );
