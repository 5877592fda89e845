import type { EpisodeEnd, Verdict } from '../core/plugins/environment.ts';
import { runningPlugin } from '../core/plugins/plugin-failure.ts';
import { messageOf, runEndingError } from '../core/errors.ts';
import type { Message, ToolCall } from '../core/message.ts';
import { isSystemFailure, type Outcome } from '../core/outcome.ts';
import type { Trajectory } from '../core/trajectory.ts';
import { redactor } from '../telemetry/redact.ts';
import { answerTurn } from './answer-turn.ts';
import { combineRewards } from './combine-rewards.ts';
import { EpisodeLog } from './episode-log.ts';
import type { EpisodeMaker, EpisodeParts, EpisodeRequest } from './episode-parts.ts';
import { abortable } from '../core/stopping/abort.ts';

/*
 * One episode: begin, then [act, run the calls, tell the environment, observe] until something ends it, then judge.
 *
 * - What the policy does wrong (a call that is malformed, unknown or invalid) is reported to it as a tool message.
 * - What the system does wrong (anything thrown by the policy's generator, the environment or a tool) ends this
 *   episode alone: its outcome says so, its reward is absent and `problem` says why.
 * - A cancelled episode, or one past its wall-clock limit, is `aborted` and has no reward: how long it took is not a
 *   doing of the policy's.
 * - Nothing is thrown but what ends the run: a spent budget, or a recording that does not hold what is replayed.
 */

type Judged = Pick<
  Trajectory,
  'outcome' | 'success' | 'reward' | 'components' | 'scores' | 'metrics' | 'record' | 'problem'
>;

/**
 * Plays one episode to its end. What fails is on the trajectory.
 *
 * @throws AgentRlError only what ends the whole run, see `runEndingError`
 */
export async function runEpisode(
  make: EpisodeMaker,
  request: EpisodeRequest,
  cancelled: AbortSignal,
): Promise<Trajectory> {
  const log = new EpisodeLog();
  let parts: EpisodeParts | undefined;
  let judged: Judged;
  try {
    cancelled.throwIfAborted();
    parts = await make(request);
    judged = await new Episode(parts, request, log).run(cancelled);
  } catch (thrown) {
    const ending = runEndingError(thrown);
    if (ending !== undefined) throw ending;
    judged = failure(cancelled.aborted ? 'aborted' : 'infrastructure-error', messageOf(thrown));
  }
  return Object.freeze({
    ...log.record(),
    taskId: request.task.taskId,
    sample: request.sample,
    step: request.step,
    ...(parts?.sandboxLevel === undefined ? {} : { sandboxLevel: parts.sandboxLevel }),
    ...judged,
  });
}

class Episode {
  readonly #name: string;

  constructor(
    private readonly parts: EpisodeParts,
    private readonly request: EpisodeRequest,
    private readonly log: EpisodeLog,
  ) {
    const { seed, step, task, sample } = request;
    this.#name = [seed, step, task.taskId, sample].join('/');
  }

  async run(cancelled: AbortSignal): Promise<Judged> {
    const { limits, policy } = this.parts;
    const overtime = new AbortController();
    const late = new Error(`The episode took longer than ${limits.episodeTimeoutS} s.`);
    const timer = setTimeout(() => overtime.abort(late), limits.episodeTimeoutS * 1000);
    const signal = AbortSignal.any([cancelled, overtime.signal]);
    try {
      return await this.#judge(await this.#play(signal), signal);
    } catch (thrown) {
      const outcome = signal.aborted ? 'aborted' : 'infrastructure-error';
      // The environment is notified once, so that it can release what it holds; its verdict on half an episode means nothing.
      const problems = await problemOf(() => this.#finish('aborted', signal), signal);
      const ending = runEndingError(thrown);
      if (ending !== undefined) throw ending;
      return failure(outcome, [messageOf(thrown), ...problems].join('; then finish failed: '));
    } finally {
      clearTimeout(timer);
      try {
        policy.release(this.#name);
      } finally {
        await this.parts.close?.();
      }
    }
  }

  async #play(signal: AbortSignal): Promise<EpisodeEnd> {
    const { policy, environment, toolRunner, limits } = this.parts;
    const { log } = this;
    const first = await abortable(
      this.#environment('start', () => environment.start()),
      signal,
    );
    log.messages.push(...redactedMessages(first));
    log.transcript = policy.begin(log.messages, toolRunner.specs);
    checkPromptFits(log.transcript.length, limits.maxEpisodeTokens);
    for (let index = 0; index < limits.maxTurns; index++) {
      const end = await this.#turn(index, signal);
      if (end !== undefined) return end;
    }
    return 'turn-limit';
  }

  /** Plays one turn; the reason the episode ends with it, if it does. */
  async #turn(index: number, signal: AbortSignal): Promise<EpisodeEnd | undefined> {
    const { policy, environment, limits } = this.parts;
    const { log } = this;
    const room = limits.maxEpisodeTokens - log.transcript.length;
    if (room <= 0) return 'token-limit';
    const { message, stop } = await this.#act(index, Math.min(room, limits.maxTurnTokens), signal);
    log.messages.push(message);
    log.malformedCalls += message.malformedCalls?.length ?? 0;
    // A turn that was cut off is not acted on: what it meant to call is unknown.
    if (stop === 'max-tokens' || stop === 'context-full') return 'token-limit';
    if (stop === 'aborted')
      throw new Error('The generator gave up on a turn that was not cancelled.');

    const answered = await log.watch.time('tools', async () =>
      answerTurn(message, async (call, place) => this.#call(call, [index, place], signal)),
    );
    const turn = { index, message, calls: answered.calls };
    log.turns.push(turn);
    log.calls.push(...answered.calls);
    const stepping = this.#environment('step', () => environment.step(turn, signal));
    const step = await abortable(stepping, signal);
    const replies = step.done ? [] : (step.messages ?? []);
    const observed = redactedMessages([...answered.messages, ...replies]);
    log.messages.push(...observed);
    if (step.done) return 'done';
    if (log.invalidCalls >= limits.invalidCallLimit) return 'invalid-calls';
    if (index + 1 === limits.maxTurns) return 'turn-limit';
    if (observed.length === 0) {
      throw new Error('The environment neither ended the episode nor said anything.');
    }
    policy.observe(log.transcript, observed);
    return undefined;
  }

  async #act(turn: number, maxTokens: number, signal: AbortSignal) {
    const { request, log } = this;
    const { seed, sample, task, sampling } = request;
    const key = { seed, taskId: task.taskId, sample, turn };
    const options = { episode: this.#name, sampling, maxTokens, key, signal };
    return log.watch.time('generation', async () =>
      abortable(this.parts.policy.act(log.transcript, options), signal),
    );
  }

  async #call(call: ToolCall, place: readonly [number, number], signal: AbortSignal) {
    const { toolRunner, tools, environment } = this.parts;
    const { seed, task, sample } = this.request;
    const inputs = await this.#environment(
      'toolInputs',
      () => environment.toolInputs?.(call) ?? {},
    );
    const randomPath = [seed, 'tool', task.taskId, sample, ...place];
    return toolRunner.run(call, { tools, inputs, randomPath, signal });
  }

  async #judge(end: EpisodeEnd, signal: AbortSignal): Promise<Judged> {
    const { rewards, environmentWeight = 1, invalidCallPenalty } = this.parts;
    const { log, request } = this;
    try {
      return await log.watch.time('grading', async () => {
        const verdict = await abortable(this.#finish(end, signal), signal);
        const view = { task: request.task, messages: log.messages, turns: log.turns, verdict };
        const { invalidCalls } = log;
        const options = { rewards, environmentWeight, invalidCallPenalty, invalidCalls };
        const combined = await abortable(combineRewards(view, options), signal);
        const { outcome, success, metrics = {}, record, problem } = verdict;
        const kept = record === undefined ? {} : { record };
        if (isSystemFailure(outcome))
          return {
            ...failure(outcome, problem ?? `The environment judged: ${outcome}.`),
            metrics,
            ...kept,
          };
        return { outcome, success, metrics, ...kept, ...combined };
      });
    } catch (thrown) {
      if (runEndingError(thrown) !== undefined) throw thrown;
      return failure(signal.aborted ? 'aborted' : 'grader-error', messageOf(thrown));
    }
  }

  #finish(end: EpisodeEnd, signal: AbortSignal): Promise<Verdict> {
    const { environment } = this.parts;
    return this.#environment('finish', () => environment.finish(end, signal));
  }

  #environment<Value>(method: string, work: () => Value | Promise<Value>): Promise<Value> {
    const { environmentName: name } = this.parts;
    return runningPlugin(
      name === undefined ? 'Environment' : `Environment "${name}"`,
      work,
      method,
    );
  }
}

/** What the model is shown is written down as tokens, in which a secret could no longer be found. */
function redactedMessages<One extends Message>(messages: readonly One[]): readonly One[] {
  const redact = redactor();
  return messages.map((message) => ({ ...message, content: redact(message.content) }));
}

function failure(outcome: Outcome, thrown: string): Judged {
  // What was thrown may quote a request with a key in it, and the problem is shown and written.
  const problem = redactor()(thrown);
  return { outcome, success: false, reward: undefined, components: {}, metrics: {}, problem };
}

async function problemOf(work: () => Promise<unknown>, signal: AbortSignal): Promise<string[]> {
  try {
    await abortable(work(), signal);
    return [];
  } catch (thrown) {
    return signal.aborted ? [] : [messageOf(thrown)];
  }
}

function checkPromptFits(promptTokens: number, maxEpisodeTokens: number): void {
  if (promptTokens < maxEpisodeTokens) return;
  throw new Error(
    `The prompt is ${promptTokens} tokens and leaves no room to answer; rollout.maxEpisodeTokens is ${maxEpisodeTokens}. Raise it, or shorten the tasks.`,
  );
}
