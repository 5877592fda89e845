import { openAgent } from '../../compose/open-agent.ts';
import { prepareRun } from '../../compose/prepare-run.ts';
import { resolveRun } from '../../compose/resolve-run.ts';
import { samplingOf } from '../../config/index.ts';
import type { Sampling } from '../../core/services/generator.ts';
import type { Message } from '../../core/message.ts';
import { AgentRlError } from '../../core/errors.ts';
import { showValue } from '../../core/show-value.ts';
import { throwIfFailed } from '../../core/stopping/stray-failure.ts';
import { keyOutsideRuns, type Rollout } from '../../core/rollout.ts';
import { answerAsText } from '../../environments/question/judge-answer.ts';
import { runEpisode } from '../../rollout/run-episode.ts';
import type { KindName, Kinds } from '../../compose/plugins/kinds.ts';
import { agentInCode, type AgentParts } from './agent-in-code.ts';
import { callInstead } from './call-instead.ts';
import { checkLoadOptions } from './check-options.ts';
import { checkpointGiven } from './checkpoint-given.ts';
import { chatTask, ownLoopTask } from '../play/chat-task.ts';

/** What judges an episode. */
type JudgingPart = {
  [Name in KindName]: Kinds[Name]['needs'] extends 'all' ? PartOf<Kinds[Name]['at']> : never;
}[KindName];
type PartOf<At extends string> = At extends `${infer Part}.*` ? Part : At;

/** Parts that are not given are as in the checkpoint's run; tools that a program gave must be given again. */
export interface LoadAgentOptions extends Omit<
  AgentParts,
  'reward' | Exclude<JudgingPart, 'environment'>
> {
  /** The policy to open, of a run with several; the one at the top level by default. */
  policyName?: string;
  /** Stops the opening. */
  signal?: AbortSignal;
  print?: (text: string) => void;
}

/** How one question is asked. */
export interface AskOptions {
  /** Instead of the run's own. */
  sampling?: Partial<Sampling>;
  /** Keys the answer: the same seed and weights give the same answer. 0 by default. */
  seed?: number;
  signal?: AbortSignal;
}

/** What an agent answered, and how it came to it. */
export interface Answer {
  /** What the agent said last. */
  text: string;
  /** The whole conversation: continue it by asking with these and another message. */
  messages: readonly Message[];
  /** Tokens, log-probabilities, calls and their results. */
  rollout: Rollout;
}

/** An agent that can be asked. */
export interface LoadedAgent {
  /**
   * Says something to the agent, which calls its tools until it answers. Nothing is judged. Answers are given one after
   * another.
   *
   * @param prompt a text, or the conversation so far
   */
  ask(prompt: string | readonly Message[], options?: AskOptions): Promise<Answer>;
  close(): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
}

/** What `loadAgent` does; it loads the engine, so it is imported when it is called. */
export async function openLoadedAgent(
  checkpoint: string,
  options: LoadAgentOptions,
): Promise<LoadedAgent> {
  checkLoadOptions(options);
  const { signal = new AbortController().signal, print = () => undefined } = options;
  const { policyName: policy } = options;
  const { path, base } = checkpointGiven('loadAgent', checkpoint);
  const described = await agentInCode(
    { ...options, rewards: [], trackers: [] },
    // Nothing reads the tasks: a model that no run made needs none.
    { caller: 'loadAgent', base, dir: (base ?? options.dataset) ? undefined : '.' },
  );
  const instead = callInstead.load(checkpoint);
  const prepared = await prepareRun({ ...described, needs: 'agent', instead }, signal);
  const opening = { checkpoint: path, policy, signal, print, trains: false };
  const run = await resolveRun(prepared, opening);
  const agent = await openAgent(run, { workers: 1, trains: false, packs: true, signal });
  agent.model?.incidents.listen((text) => print(`Note: ${text}`));
  const play = async (
    prompt: string | readonly Message[],
    { sampling, seed = 0, signal: until = signal }: AskOptions,
  ): Promise<Answer> => {
    const request = {
      task: { taskId: 'ask', prompt: '', metadata: {} },
      key: keyOutsideRuns(),
      step: 0,
      seed,
      sampling: { ...samplingOf(run.config), ...sampling },
    };
    const own = options.agent === undefined ? undefined : ownLoopTask(agent.make);
    const asked = typeof prompt === 'string' ? prompt : undefined;
    if (own !== undefined && asked === undefined)
      throw new AgentRlError(
        'CONFIG_INVALID',
        'ask: expected a string, got a list of messages. The agent function given to loadAgent keeps its own conversation.',
      );
    const task = { ...request.task, prompt: (own && asked) ?? '' };
    const make = own?.make ?? chatTask(agent.make, { prompt });
    const rollout = await runEpisode(make, { ...request, task }, until);
    throwIfFailed(until);
    const { messages = [] } = rollout.parts[0] ?? {};
    const last = messages.findLast(({ role }) => role === 'assistant');
    const text = own === undefined ? last?.content.trim() : answerAsText(own.answer());
    return { text: text ?? '', messages, rollout };
  };
  // One after another: what keys an answer is its seed alone.
  let before: Promise<unknown> = Promise.resolve();
  let closed = false;
  const ask: LoadedAgent['ask'] = async (prompt, asked = {}) => {
    if (closed)
      throw new AgentRlError(
        'ENGINE_FAILED',
        'This agent was closed. Load it again with loadAgent.',
      );
    if (typeof prompt !== 'string' && !Array.isArray(prompt))
      throw new AgentRlError(
        'CONFIG_INVALID',
        `ask: expected a string or a list of messages, got ${showValue(prompt, 60)}.`,
      );
    const answer = before.then(() => play(prompt, asked));
    before = answer.catch(() => undefined);
    return answer;
  };
  const close = () => {
    closed = true;
    return agent.close();
  };
  return { ask, close, [Symbol.asyncDispose]: close };
}
