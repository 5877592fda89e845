import { setMaxListeners } from 'node:events';
import { isNativeError } from 'node:util/types';
import { pathToFileURL } from 'node:url';

import { AgentRlError, messageOf } from '../../core/errors.ts';
import { KeyedRng } from '../../core/keyed-rng.ts';
import type { AgentFunction } from '../../core/plugins/agent.ts';
import { isClass } from '../../core/plugins/plugin-rules.ts';
import { rollouts } from '../../core/services/rollout-scope.ts';
import { showValue } from '../../core/show-value.ts';
import type { ModuleHooks } from '../../threads/thread.ts';
import { registerHooks } from '../../threads/plugin-hooks.ts';
import type { AgentCall, AgentOutput, SentThrown } from './agent-runner.ts';
import { isModelError } from './model-errors.ts';

/** Start data of the thread or process of an agent file. */
export interface AgentFileStart {
  path: string;
  hooks: readonly ModuleHooks[];
}

/** Loads the agent of a file. @throws AgentRlError `PLUGIN_LOAD_FAILED` */
export async function openAgentFile({ path, hooks }: AgentFileStart) {
  registerHooks(hooks);
  // Here every request belongs to a rollout, and must not reach a provider.
  rollouts.open += 1;
  const { agent, own } = await agentIn(path);
  return async (call: AgentCall, signal: AbortSignal): Promise<AgentOutput> => {
    setMaxListeners(0, signal);
    const { task, baseURL, apiKey, randomPath } = call;
    const scope = { fetch: fetchOf(call) };
    const context = { task, signal, random: new KeyedRng(...randomPath), baseURL, apiKey };
    try {
      const answer = await rollouts.scope.run(scope, () => agent({ ...context, ...scope }));
      return { answer: JSON.stringify(answer) };
    } catch (thrown) {
      return { thrown: sentOf(thrown, own) };
    }
  };
}

type IsModelError = ((thrown: unknown) => boolean) | undefined;

async function agentIn(path: string): Promise<{ agent: AgentFunction; own: IsModelError }> {
  const failed = (problem: string, cause?: unknown) =>
    new AgentRlError('PLUGIN_LOAD_FAILED', `The agent ${path} ${problem}`, { cause });
  let exported: Record<string, unknown>;
  try {
    exported = (await import(pathToFileURL(path).href)) as Record<string, unknown>;
  } catch (cause) {
    throw failed(`could not be loaded: ${messageOf(cause)}`, cause);
  }
  const { default: agent = exported['agent'], isModelError: own } = exported;
  if (agent === undefined)
    throw failed(
      `exports no agent. Export a function as default or as agent. It exports ${Object.keys(exported).join(', ') || 'nothing'}.`,
    );
  if (typeof agent !== 'function' || isClass(agent))
    throw failed(
      `exports ${isClass(agent) ? 'a class' : showValue(agent, 60)}; expected a function. For a class marked with @agent, list the file under plugins: and set environment: {type: NAME}.`,
    );
  return { agent: agent as AgentFunction, own: own as IsModelError };
}

function sentOf(thrown: unknown, own?: IsModelError, depth = 0): SentThrown {
  const error = isNativeError(thrown) ? thrown : new Error(messageOf(thrown));
  const { name, message, stack, cause } = error;
  // Causes can go round in a circle.
  const ends = cause === undefined || depth > 8;
  const sent = { cause: ends ? undefined : sentOf(cause, undefined, depth + 1) };
  return { name, message, stack, ...sent, isModelError: isModelError(thrown, own) };
}

/** Sends requests to any host to the model of the rollout. */
const fetchOf =
  ({ baseURL, apiKey }: AgentCall): typeof fetch =>
  (input, init) => {
    const asked = input instanceof Request ? input : undefined;
    const { pathname, search } = new URL(input instanceof Request ? input.url : input);
    const url = baseURL + pathname.replace(/^.*?\/v1(?=\/|$)/, '') + search;
    const headers = new Headers(init?.headers ?? asked?.headers);
    headers.set('authorization', `Bearer ${apiKey}`);
    return fetch(asked === undefined ? url : new Request(url, asked), { ...init, headers });
  };
