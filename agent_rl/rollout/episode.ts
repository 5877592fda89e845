import type { EpisodeEnd, Verdict } from '../core/plugins/environment.ts';
import { runningPlugin } from '../core/plugins/plugin-failure.ts';
import { AgentRlError, messageOf, runEndingError } from '../core/errors.ts';
import { PluginError } from '../core/failure.ts';
import type { Message, ToolCall } from '../core/message.ts';
import { isSystemFailure } from '../core/outcome.ts';
import { keyText, onlyAgent } from '../core/rollout.ts';
import type { AttemptJournal } from '../core/services/journal.ts';
import { redactor } from '../telemetry/redact.ts';
import { answerTurn } from './answer-turn.ts';
import { checkVerdict } from './check-verdict.ts';
import { combineRewards, solvedBy } from './combine-rewards.ts';
import { EpisodeLog } from './episode-log.ts';
import { type EpisodeParts, type EpisodeRequest, playerOf, policyOf } from './episode-parts.ts';
import { append } from '../core/long-lists.ts';
import { abortable, inTime, underSignals } from '../core/stopping/abort.ts';
import { failed, failedByVerdict, failedOutcome, type Judged, keptOf } from './judged.ts';
import { retrying } from './retrying.ts';
import { playOutside } from './play-outside.ts';
import { callOnce } from './tools/call-once.ts';
import type { EpisodeAgent } from './world.ts';

/*
 * One episode: begin, then [act, run the calls, step the environment, observe] until something ends it, then judge.
 * With several agents, the environment names the next agent after each turn; an agent's transcript begins with its
 * first turn.
 *
 * - Mistakes of the policy (malformed, unknown or invalid calls) are reported to it as tool messages.
 * - Failures of the system (an error of the generator or the environment, a plugin that exceeds its deadline) end this
 *   episode only, for all its agents: the outcome says so, the reward is absent, `problem` says why and `failure` who
 *   caused it. A temporary failure is retried under the same key.
 * - Sampling has no deadline, and waits for the sandbox do not count: the load of the machine has no influence.
 * - A cancelled episode is `aborted` and has no reward.
 * - Only errors that end the run are thrown: a spent budget, or a replay without a recording.
 */

/** What happened so far, by agent. */
export type Logs = ReadonlyMap<string, EpisodeLog>;

export const logsOf = (
  agents: readonly EpisodeAgent[],
  { step, task, key }: Pick<EpisodeRequest, 'step' | 'task' | 'key'>,
): Logs =>
  new Map(
    agents.map(({ name }) => {
      const own = agents.length > 1 ? ` ${name}` : '';
      return [name, new EpisodeLog(`${task.taskId} ${key.sample}${own} at ${step}`)];
    }),
  );

export const ofAll = (logs: Logs, judged: Judged): ReadonlyMap<string, Judged> =>
  new Map([...logs.keys()].map((agent) => [agent, judged]));

export function entryOf<Entry>(entries: ReadonlyMap<string, Entry>, agent: string): Entry {
  const entry = entries.get(agent);
  if (entry === undefined) throw new Error(`The episode has no agent "${agent}".`);
  return entry;
}

interface Stage {
  parts: EpisodeParts;
  logs: Logs;
  /** Absent outside a run. */
  journal?: AttemptJournal | undefined;
}

/** One attempt at an episode. */
export class Episode {
  /** Whose turn it is. */
  #agent: string | undefined;
  /** What the generator keeps the acting agent's context under. */
  #name = '';

  constructor(
    private readonly stage: Stage,
    private readonly request: EpisodeRequest,
  ) {}

  /** Under its own signal, since the run's would collect the listeners of all episodes in flight. */
  run(cancelled: AbortSignal): Promise<ReadonlyMap<string, Judged>> {
    return underSignals([cancelled], (signal) => this.#run(signal));
  }

  async #run(signal: AbortSignal): Promise<ReadonlyMap<string, Judged>> {
    const { parts, logs, journal } = this.stage;
    if (parts.replays === 'never' && journal?.isReplayed === true) journal.beginAnew();
    try {
      return await this.#judge(await this.#play(signal), signal);
    } catch (thrown) {
      const outcome = failedOutcome(thrown, signal);
      // The environment is notified once, so that it can release resources; its verdict on an incomplete episode is
      // meaningless.
      const problems = await problemOf(() => this.#finish('aborted', signal), signal);
      const ending = runEndingError(thrown);
      if (ending !== undefined) throw ending;
      return ofAll(logs, failed(outcome, thrown, problems));
    } finally {
      try {
        policyOf(parts, this.#acting).release(this.#name);
      } finally {
        await parts.close?.();
      }
    }
  }

  async #play(signal: AbortSignal): Promise<EpisodeEnd> {
    const { parts, logs } = this.stage;
    const { world } = parts;
    if (world.outside !== undefined) {
      this.#agent = onlyAgent;
      const log = entryOf(logs, onlyAgent);
      const timed = (work: (within: AbortSignal) => Promise<unknown>) =>
        this.#timed('run', work, signal);
      return playOutside(parts, { request: this.request, log, timed, signal });
    }
    const { conversations, first } = await this.#timed(
      'start',
      (timed) => world.start(timed),
      signal,
    );
    for (const [agent, conversation] of Object.entries(conversations))
      append(entryOf(logs, agent).messages, redactedMessages(conversation));
    let agent = first;
    for (;;) {
      this.#passTo(agent);
      this.#read(agent);
      const { end, next } = await this.#turn(agent, signal);
      if (end !== undefined) return end;
      agent = next;
    }
  }

  /** Gives an agent the turn. The generator frees the context of the other agent: an episode uses one of its rows. */
  #passTo(agent: string): void {
    if (this.#agent === agent) return;
    const { seed, step, task, key } = this.request;
    if (this.#agent !== undefined) policyOf(this.stage.parts, this.#agent).release(this.#name);
    const { length: turn } = entryOf(this.stage.logs, agent).turns;
    // A new name each time, so that a late release cannot free the new context.
    const own = this.#isOneOfSeveral ? [agent, turn] : [];
    this.#name = [seed, step, task.taskId, key.sample, ...own].join('/');
    this.#agent = agent;
  }

  /** Prepares an agent's transcript for its next turn. */
  #read(agent: string): void {
    const { toolRunner, limits } = this.stage.parts;
    const policy = policyOf(this.stage.parts, agent);
    const log = entryOf(this.stage.logs, agent);
    if (log.transcript === undefined) {
      if (this.#isOneOfSeveral && log.messages.length === 0)
        throw new PluginError(
          `${this.#environmentName} sent no message to ${agent} before the first turn of this agent.`,
        );
      log.transcript = policy.begin(log.messages, toolRunner.specs);
      checkPromptFits(log.transcript.length, limits.maxEpisodeTokens);
    } else {
      policy.observe(log.transcript, log.unread);
      // It is not trained on. If it does not fit, neither does the next turn, and the episode ends.
      log.cutTokens += log.transcript.cutAt(limits.maxEpisodeTokens);
    }
    log.unread = [];
  }

  /** Plays one turn; returns the reason if the episode ends, and who acts next. */
  async #turn(
    agent: string,
    signal: AbortSignal,
  ): Promise<{ end: EpisodeEnd; next?: undefined } | { end?: undefined; next: string }> {
    const { parts, logs, journal } = this.stage;
    const { limits, world } = parts;
    const log = entryOf(logs, agent);
    const { length: index } = log.turns;
    const room = limits.maxEpisodeTokens - (log.transcript?.length ?? 0);
    if (room <= 0) return { end: 'token-limit' };
    const { message, stop } = await this.#act(agent, Math.min(room, limits.maxTurnTokens), signal);
    log.messages.push(message);
    log.malformedCalls += message.malformedCalls?.length ?? 0;
    // The calls of a truncated turn are not run, because they may be incomplete.
    if (stop === 'max-tokens' || stop === 'context-full') return { end: 'token-limit' };
    if (stop === 'aborted') throw new Error('The generator aborted a turn that was not cancelled.');

    const { receive } = world;
    if (receive !== undefined)
      await this.#timed('receive', (timed) => receive(message, timed), signal);
    const answered = await log.watch.time('tools', async () =>
      answerTurn(message, async (call, place) => this.#call(agent, call, [index, place], signal)),
    );
    const turn = { index, message, calls: answered.calls };
    log.turns.push(turn);
    append(log.calls, answered.calls);
    const step = await this.#timed('step', (timed) => world.step(turn, agent, timed), signal);
    const { done, tell } = step;
    journal?.stepped({ agent, turn: index }, { done, next: step.next, tell });
    log.show(redactedMessages(answered.messages));
    if (done) return { end: 'done' };
    for (const [told, messages] of Object.entries(tell))
      entryOf(logs, told).show(redactedMessages(messages));
    if (log.invalidCalls >= limits.invalidCallLimit) return { end: 'invalid-calls' };
    const next = entryOf(logs, step.next);
    if (next.turns.length === limits.maxTurns) return { end: 'turn-limit' };
    if (next.transcript !== undefined && next.unread.length === 0) {
      throw new Error('The environment neither ended the episode nor sent a message.');
    }
    return { next: step.next };
  }

  async #act(agent: string, maxTokens: number, signal: AbortSignal) {
    const { parts, logs } = this.stage;
    const { seed, step: version, task, sampling } = this.request;
    const { sample } = this.request.key;
    const log = entryOf(logs, agent);
    const { transcript } = log;
    if (transcript === undefined)
      throw new Error(`The agent ${agent} acts before its conversation has started.`);
    const { length: turn } = log.turns;
    const key = { seed, taskId: task.taskId, sample, turn, agent: this.#among(agent) };
    // Named policies count their own steps, and hold one version.
    const own = playerOf(parts.world, agent) === onlyAgent ? { version } : {};
    const options = { episode: this.#name, sampling, maxTokens, key, ...own, signal };
    return log.watch.time('generation', () =>
      retrying(async () => abortable(policyOf(parts, agent).act(transcript, options), signal), {
        retries: parts.limits.retries ?? 0,
        signal,
        onRetry: (thrown) => log.retried(messageOf(thrown)),
      }),
    );
  }

  async #call(
    agent: string,
    call: ToolCall,
    place: readonly [number, number],
    signal: AbortSignal,
  ) {
    const { parts, logs, journal } = this.stage;
    const { toolRunner, tools, limits, world, replays = 'again' } = parts;
    const { seed, task, key } = this.request;
    const log = entryOf(logs, agent);
    const inputs = await this.#plugin('toolInputs', () => world.toolInputs(call, agent));
    log.hide(call.id, inputs);
    const own = this.#isOneOfSeveral ? [agent] : [];
    const randomPath = [seed, 'tool', task.taskId, key.sample, ...own, ...place];
    const [turn, index] = place;
    const named = { agent, turn, call: index };
    const idempotencyKey = [key.run, keyText(key), agent, ...place].join('/');
    const run = () =>
      retrying(() => toolRunner.run(call, { tools, inputs, randomPath, idempotencyKey, signal }), {
        retries: limits.retries ?? 0,
        signal,
        onRetry: (thrown) => log.retried(messageOf(thrown)),
      });
    return callOnce(named, call, { journal, replays, repeats: toolRunner.repeats(call.name), run });
  }

  async #judge(end: EpisodeEnd, signal: AbortSignal): Promise<ReadonlyMap<string, Judged>> {
    const { logs } = this.stage;
    // Of the agent whose turn ended the episode.
    const { watch } = entryOf(logs, this.#acting);
    try {
      return await watch.time('grading', async () => {
        const given = await this.#finish(end, signal);
        const verdicts = new Map(Object.entries(given));
        const judged = new Map<string, Judged>();
        for (const agent of logs.keys())
          judged.set(agent, await this.#judgeAgent(agent, entryOf(verdicts, agent), signal));
        this.stage.journal?.judged(given);
        const failure = [...verdicts.values()].find(({ outcome }) => isSystemFailure(outcome));
        if (failure === undefined) return judged;
        return new Map(
          [...logs.keys()].map((agent) => {
            const kept = keptOf(entryOf(verdicts, agent));
            return [agent, { ...failedByVerdict(failure), ...kept }];
          }),
        );
      });
    } catch (thrown) {
      if (runEndingError(thrown) !== undefined) throw thrown;
      return ofAll(logs, failed(signal.aborted ? 'aborted' : 'grader-error', thrown));
    }
  }

  async #judgeAgent(agent: string, verdict: Verdict, signal: AbortSignal): Promise<Judged> {
    const { parts, logs } = this.stage;
    const { rewards, environmentWeight = 1, invalidCallPenalty } = parts;
    const { messages, turns, answer, thrown, invalidCalls, turnCounts } = entryOf(logs, agent);
    await this.#plugin('finish', () => checkVerdict(verdict, this.#among(agent), turnCounts));
    const { task } = this.request;
    const view = { task, agent, messages, turns, answer, verdict };
    const penalty = { invalidCallPenalty, invalidCalls };
    const options = { rewards, environmentWeight, ...penalty, turns: turnCounts };
    const combined = await this.#graded(() => combineRewards(view, options), signal);
    const { outcome, success } = verdict;
    return {
      outcome,
      success,
      ...solvedBy(verdict, combined),
      ...keptOf(withThrown(verdict, thrown)),
      ...combined,
      turnStates: verdict.turnStates,
    };
  }

  #finish(end: EpisodeEnd, signal: AbortSignal): Promise<Readonly<Record<string, Verdict>>> {
    const { world } = this.stage.parts;
    const answer = this.stage.logs.get(this.#acting)?.returned;
    return this.#graded(
      (timed) => this.#plugin('finish', () => world.finish(end, timed, this.#agent, answer)),
      signal,
    );
  }

  #graded<Value>(
    work: (signal: AbortSignal) => Promise<Value>,
    signal: AbortSignal,
  ): Promise<Value> {
    const { deadlines } = this.stage.parts.limits;
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
    const { deadlines } = this.stage.parts.limits;
    if (deadlines === undefined) return abortable(named(signal), signal);
    const { environmentS: seconds } = deadlines;
    const late = `${this.#environmentName} took longer than ${seconds} s in ${method} (rollout.deadlines.environmentS).`;
    return inTime(named, { seconds, signal, late: new PluginError(late) });
  }

  #plugin<Value>(method: string, work: () => Value | Promise<Value>): Promise<Value> {
    const { environmentSource: source } = this.stage.parts;
    return runningPlugin(this.#environmentName, work, { method, source });
  }

  /** The agent whose turn it is, or else the first. */
  get #acting(): string {
    return this.#agent ?? [...this.stage.logs.keys()][0] ?? '';
  }

  /** Only then random paths, seeds and messages include the agent. */
  get #isOneOfSeveral(): boolean {
    return this.stage.logs.size > 1;
  }

  #among(agent: string): string | undefined {
    return this.#isOneOfSeveral ? agent : undefined;
  }

  get #environmentName(): string {
    const { environmentName: name } = this.stage.parts;
    return name === undefined ? 'Environment' : `Environment "${name}"`;
  }
}

/** A verdict that records the error of an external agent. */
const withThrown = (verdict: Verdict, thrown: string | undefined): Verdict =>
  thrown === undefined ? verdict : { ...verdict, record: { ...verdict.record, thrown } };

/** Messages to the model are stored as tokens, in which a secret could no longer be found. */
function redactedMessages<One extends Message>(messages: readonly One[]): readonly One[] {
  const redact = redactor();
  return messages.map((message) => ({ ...message, content: redact(message.content) }));
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
    `The prompt has ${promptTokens} tokens and leaves no room to answer; rollout.maxEpisodeTokens is ${maxEpisodeTokens}. Raise it, or shorten the tasks.`,
  );
}
