import type { EpisodeEnd, Verdict } from '../core/plugins/environment.ts';
import { runningPlugin } from '../core/plugins/plugin-failure.ts';
import { AgentRlError, messageOf, runEndingError } from '../core/errors.ts';
import { type Failure, failureOf, PluginError } from '../core/failure.ts';
import type { Message, ToolCall } from '../core/message.ts';
import { isSystemFailure, type Outcome } from '../core/outcome.ts';
import type { FailedAttempt, JudgedBy, Trajectory } from '../core/trajectory.ts';
import { redactor } from '../telemetry/redact.ts';
import { answerTurn } from './answer-turn.ts';
import { checkVerdict } from './check-verdict.ts';
import { combineRewards, solvedBy } from './combine-rewards.ts';
import { EpisodeLog } from './episode-log.ts';
import type { EpisodeMaker, EpisodeParts, EpisodeRequest } from './episode-parts.ts';
import { append } from '../core/long-lists.ts';
import { abortable, inTime } from '../core/stopping/abort.ts';
import { sampledTokens } from './ledger.ts';
import { pauseBeforeRetry, retrying } from './retrying.ts';

/*
 * One episode: begin, then [act, run the calls, tell the environment, observe] until something ends it, then judge.
 *
 * - What the policy does wrong (a call that is malformed, unknown or invalid) is reported to it as a tool message.
 * - What the system does wrong (anything thrown by the policy's generator or the environment, a plugin that takes
 *   longer than its deadline) ends this episode alone: its outcome says so, its reward is absent, `problem` says why and
 *   `failure` whose it was. One that may pass is retried under the same key.
 * - Sampling has no deadline, and waiting for the sandbox counts towards none: how busy the machine is decides nothing.
 * - A cancelled episode is `aborted` and has no reward.
 * - Nothing is thrown but what ends the run: a spent budget, or a recording that does not hold what is replayed.
 */

type Judged = Pick<
  Trajectory,
  | 'outcome'
  | 'success'
  | 'reward'
  | 'components'
  | 'scores'
  | 'metrics'
  | 'record'
  | 'problem'
  | 'failure'
>;

/** Which failed episodes are played again under their key, and how often. */
export interface EpisodeRetries {
  count: number;
  outcomes: readonly Outcome[];
}

const noRetries: EpisodeRetries = { count: 0, outcomes: [] };

/**
 * Plays one episode to its end. What fails is on the trajectory; what may pass is tried again first.
 *
 * @throws AgentRlError only what ends the whole run, see `runEndingError`
 */
export async function runEpisode(
  make: EpisodeMaker,
  request: EpisodeRequest,
  cancelled: AbortSignal,
  retries: EpisodeRetries = noRetries,
): Promise<Trajectory> {
  const failedAttempts: FailedAttempt[] = [];
  for (;;) {
    const trajectory = await attempt(make, request, cancelled);
    const { outcome, failure, problem = '' } = trajectory;
    const again =
      failure?.retryable === true &&
      retries.outcomes.includes(outcome) &&
      failedAttempts.length < retries.count &&
      !cancelled.aborted;
    if (!again)
      return failedAttempts.length === 0
        ? trajectory
        : Object.freeze({ ...trajectory, failedAttempts });
    const sampled = sampledTokens(trajectory);
    failedAttempts.push({ outcome, problem, failure, sampledTokens: sampled });
    await pauseBeforeRetry(failedAttempts.length, cancelled);
  }
}

async function attempt(
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
    judged = failed(cancelled.aborted ? 'aborted' : 'infrastructure-error', thrown);
  }
  return Object.freeze({
    ...log.record(),
    taskId: request.task.taskId,
    sample: request.sample,
    step: request.step,
    seed: request.seed,
    ...(request.place && { place: request.place }),
    ...(parts && { judgedBy: judgedBy(parts) }),
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
    const { policy } = this.parts;
    // Its own, since the run's has as many listeners as there are episodes in flight.
    const signal = AbortSignal.any([cancelled]);
    try {
      return await this.#judge(await this.#play(signal), signal);
    } catch (thrown) {
      const outcome = signal.aborted ? 'aborted' : 'infrastructure-error';
      // The environment is notified once, so that it can release what it holds; its verdict on half an episode means nothing.
      const problems = await problemOf(() => this.#finish('aborted', signal), signal);
      const ending = runEndingError(thrown);
      if (ending !== undefined) throw ending;
      return failed(outcome, thrown, problems);
    } finally {
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
    const first = await this.#timed('start', () => environment.start(), signal);
    append(log.messages, redactedMessages(first));
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
    append(log.calls, answered.calls);
    const step = await this.#timed('step', (timed) => environment.step(turn, timed), signal);
    const replies = step.done ? [] : (step.messages ?? []);
    const observed = redactedMessages([...answered.messages, ...replies]);
    append(log.messages, observed);
    if (step.done) return 'done';
    if (log.invalidCalls >= limits.invalidCallLimit) return 'invalid-calls';
    if (index + 1 === limits.maxTurns) return 'turn-limit';
    if (observed.length === 0) {
      throw new Error('The environment neither ended the episode nor said anything.');
    }
    policy.observe(log.transcript, observed);
    // None of it is trained on. Without room for all of it the next turn has none, and the episode ends.
    log.cutTokens += log.transcript.cutAt(limits.maxEpisodeTokens);
    return undefined;
  }

  async #act(turn: number, maxTokens: number, signal: AbortSignal) {
    const { request, log } = this;
    const { seed, sample, task, sampling } = request;
    const key = { seed, taskId: task.taskId, sample, turn };
    const options = { episode: this.#name, sampling, maxTokens, key, signal };
    return log.watch.time('generation', () =>
      retrying(async () => abortable(this.parts.policy.act(log.transcript, options), signal), {
        retries: this.parts.limits.retries ?? 0,
        signal,
        onRetry: (thrown) => log.retried(messageOf(thrown)),
      }),
    );
  }

  async #call(call: ToolCall, place: readonly [number, number], signal: AbortSignal) {
    const { toolRunner, tools, environment, limits } = this.parts;
    const { seed, task, sample } = this.request;
    const inputs = await this.#plugin('toolInputs', () => environment.toolInputs?.(call) ?? {});
    this.log.hide(call.id, inputs);
    const randomPath = [seed, 'tool', task.taskId, sample, ...place];
    return retrying(() => toolRunner.run(call, { tools, inputs, randomPath, signal }), {
      retries: limits.retries ?? 0,
      signal,
      onRetry: (thrown) => this.log.retried(messageOf(thrown)),
    });
  }

  async #judge(end: EpisodeEnd, signal: AbortSignal): Promise<Judged> {
    const { rewards, environmentWeight = 1, invalidCallPenalty } = this.parts;
    const { log, request } = this;
    try {
      return await log.watch.time('grading', async () => {
        const verdict = await this.#finish(end, signal);
        checkVerdict(verdict);
        const view = { task: request.task, messages: log.messages, turns: log.turns, verdict };
        const { invalidCalls } = log;
        const options = { rewards, environmentWeight, invalidCallPenalty, invalidCalls };
        const combined = await this.#graded(() => combineRewards(view, options), signal);
        const { outcome, success, metrics = {}, record, problem } = verdict;
        const kept = record === undefined ? {} : { record };
        if (isSystemFailure(outcome)) {
          const why = new Error(problem ?? `The environment judged: ${outcome}.`);
          // Its own judgement is final; what its sandbox or server failed at may pass.
          const failure = { owner: 'host', retryable: outcome === 'infrastructure-error' } as const;
          return { ...failed(outcome, why), failure, metrics, ...kept };
        }
        return { outcome, success, ...solvedBy(verdict, combined), metrics, ...kept, ...combined };
      });
    } catch (thrown) {
      if (runEndingError(thrown) !== undefined) throw thrown;
      return failed(signal.aborted ? 'aborted' : 'grader-error', thrown);
    }
  }

  #finish(end: EpisodeEnd, signal: AbortSignal): Promise<Verdict> {
    const { environment } = this.parts;
    return this.#graded(
      (timed) => this.#plugin('finish', () => environment.finish(end, timed)),
      signal,
    );
  }

  #graded<Value>(
    work: (signal: AbortSignal) => Promise<Value>,
    signal: AbortSignal,
  ): Promise<Value> {
    const { deadlines } = this.parts.limits;
    if (deadlines === undefined) return abortable(work(signal), signal);
    const { gradingS: seconds } = deadlines;
    const late = `Grading took longer than ${seconds} s (rollout.deadlines.gradingS).`;
    return inTime(work, { seconds, signal, late: new PluginError(late) });
  }

  /** A method of the environment, under its deadline. */
  #timed<Value>(
    method: string,
    work: (signal: AbortSignal) => Promise<Value>,
    signal: AbortSignal,
  ): Promise<Value> {
    const named = (timed: AbortSignal) => this.#plugin(method, () => work(timed));
    const { deadlines } = this.parts.limits;
    if (deadlines === undefined) return abortable(named(signal), signal);
    const { environmentS: seconds } = deadlines;
    const late = `${this.#environmentName} took longer than ${seconds} s in ${method} (rollout.deadlines.environmentS).`;
    return inTime(named, { seconds, signal, late: new PluginError(late) });
  }

  #plugin<Value>(method: string, work: () => Value | Promise<Value>): Promise<Value> {
    return runningPlugin(this.#environmentName, work, method);
  }

  get #environmentName(): string {
    const { environmentName: name } = this.parts;
    return name === undefined ? 'Environment' : `Environment "${name}"`;
  }
}

const judgedBy = ({ environmentName, environmentWeight = 1, rewards }: EpisodeParts): JudgedBy => ({
  ...(environmentName !== undefined && { environment: environmentName }),
  environmentWeight,
  rewards: rewards.map(({ name, weight, tool }) => ({
    name,
    weight,
    ...(tool !== undefined && { tool }),
  })),
});

/** What the model is shown is written down as tokens, in which a secret could no longer be found. */
function redactedMessages<One extends Message>(messages: readonly One[]): readonly One[] {
  const redact = redactor();
  return messages.map((message) => ({ ...message, content: redact(message.content) }));
}

/** @param then what failed while the environment was notified */
function failed(
  outcome: Outcome,
  thrown: unknown,
  then: readonly string[] = [],
): Judged & { failure: Failure } {
  // What was thrown may quote a request with a key in it, and the problem is shown and written.
  const problem = redactor()([messageOf(thrown), ...then].join('; then finish failed: '));
  const none = { success: false, reward: undefined, components: {}, metrics: {} };
  return { outcome, ...none, problem, failure: failureOf(thrown) };
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
  throw new AgentRlError(
    'DATASET_INVALID',
    `The prompt is ${promptTokens} tokens and leaves no room to answer; rollout.maxEpisodeTokens is ${maxEpisodeTokens}. Raise it, or shorten the tasks.`,
  );
}
