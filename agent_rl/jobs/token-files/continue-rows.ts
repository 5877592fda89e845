import { underSignals } from '../../core/stopping/abort.ts';
import type { GenerationRequest, Sampler, Sampling } from '../../core/services/generator.ts';
import type { AssistantMessage } from '../../core/message.ts';
import type { Policy } from '../../core/plugins/policy.ts';
import type { GenerationRow } from './generation-rows.ts';
import type { InputRow } from './input-rows.ts';
import { throwIfInterrupted } from './job-usage.ts';
import { messageRow } from '../../../dataset/demonstrations/conversations.ts';
import { float32Numbers } from './float32-numbers.ts';
import type { ModelTexts } from './model-texts.ts';

/** What was drawn for one sample of one row. */
export interface Continuation extends InputRow<GenerationRow> {
  sample: number;
  tokens: readonly number[];
  /** Under the distribution each token was drawn from, nats. */
  logProbs: readonly number[];
  stop: 'stop-token' | 'max-tokens' | 'context-full';
  /** What was said, where a conversation is continued. */
  message?: AssistantMessage;
}

export interface ContinueOptions {
  generator: Sampler;
  /** Continues conversations. */
  policy: Policy | undefined;
  /** Rows in flight. */
  lanes: number;
  samples: number;
  seed: number;
  sampling: Sampling;
  maxTokens: number;
  maxPositions: number;
  stopTokens: readonly number[];
  signal: AbortSignal;
  /** Called in the order of the rows, and of the samples of each. */
  onContinuation: (continuation: Continuation) => void;
}

/** Hands on what arrives in any order by its place, from 0 without gaps. */
export function inOrder<Item>(handOn: (item: Item) => void): (place: number, item: Item) => void {
  const early = new Map<number, Item>();
  let next = 0;
  return (place, item) => {
    early.set(place, item);
    for (let due = early.get(next); due !== undefined; due = early.get(next)) {
      early.delete(next);
      next += 1;
      handOn(due);
    }
  };
}

interface Draw extends InputRow<GenerationRow> {
  sample: number;
  /** Among all draws. */
  place: number;
}

/**
 * Continues every row `samples` times, many at once.
 *
 * A draw is keyed by seed, line and sample, so it is the same whatever is in flight beside it.
 *
 * @throws AgentRlError `INTERRUPTED`, and what generating throws; nothing is in flight then.
 */
export async function continueRows(
  rows: AsyncIterable<InputRow<GenerationRow>>,
  options: ContinueOptions,
): Promise<void> {
  const failed = new AbortController();
  const put = inOrder(options.onContinuation);
  const draws = drawsOf(rows, options.samples);
  const lane = async (signal: AbortSignal): Promise<void> => {
    for await (const draw of draws) {
      if (signal.aborted) return;
      const continuation = await continueOne(draw, { ...options, signal });
      if (continuation !== undefined) put(draw.place, continuation);
    }
  };
  const guarded = (signal: AbortSignal): Promise<void> =>
    lane(signal).catch((problem: unknown) => {
      failed.abort();
      throw problem;
    });
  const ends = await underSignals([options.signal, failed.signal], (signal) =>
    Promise.allSettled(Array.from({ length: options.lanes }, () => guarded(signal))),
  );
  for (const end of ends) if (end.status === 'rejected') throw end.reason;
  throwIfInterrupted(options.signal);
}

async function* drawsOf(
  rows: AsyncIterable<InputRow<GenerationRow>>,
  samples: number,
): AsyncGenerator<Draw> {
  let place = 0;
  for await (const row of rows) {
    for (let sample = 0; sample < samples; sample++) yield { ...row, sample, place: place++ };
  }
}

/** Nothing when it was stopped meanwhile. */
async function continueOne(
  { line, row, sample }: Draw,
  options: ContinueOptions,
): Promise<Continuation | undefined> {
  const { seed, sampling, maxPositions, signal } = options;
  const room = maxPositions - row.ids.length;
  const request = {
    episode: `${line}:${sample}`,
    maxTokens: Math.min(options.maxTokens, room),
    sampling,
    key: { seed, taskId: String(line), sample, turn: 0 },
  };
  try {
    const { stop, ...drawn } =
      row.conversation === undefined
        ? await continueIds(row, request, options)
        : await answer(row.conversation, request, options);
    if (stop === 'aborted' || signal.aborted) return undefined;
    const full = stop === 'max-tokens' && room < options.maxTokens;
    return { line, row, sample, ...drawn, stop: full ? 'context-full' : stop };
  } finally {
    options.generator.release(request.episode);
  }
}

type Request = Omit<GenerationRequest, 'tokens' | 'stopTokens'>;

async function continueIds(
  { ids }: GenerationRow,
  request: Request,
  { generator, stopTokens, signal }: ContinueOptions,
) {
  const whole = { ...request, tokens: ids, stopTokens };
  const { tokens, logProbs, stop } = await generator.generate(whole, signal);
  return { tokens, logProbs, stop };
}

async function answer(
  { messages, tools }: NonNullable<GenerationRow['conversation']>,
  request: Request,
  { policy, signal }: ContinueOptions,
) {
  if (policy === undefined) throw new Error('A conversation came without a policy to continue it.');
  const transcript = policy.begin(messages, tools);
  const from = transcript.length;
  const turn = await policy.act(transcript, { ...request, signal });
  const { tokens, logProbs } = transcript.record();
  return {
    tokens: tokens.slice(from),
    logProbs: logProbs.slice(from),
    stop: turn.stop === 'end-of-turn' ? ('stop-token' as const) : turn.stop,
    message: turn.message,
  };
}

/**
 * What came of one sample, as it is written: its token ids, their text without the token that ended it, and of a
 * conversation also the prompt as ids and the assistant's message.
 *
 * @param file names the place of a log-probability that is not a number
 */
export function continuationLine(
  { line, row, sample, tokens, logProbs, stop, message }: Continuation,
  { tokenizer }: Pick<ModelTexts, 'tokenizer'>,
  file: string,
): object {
  const shown = stop === 'stop-token' ? tokens.slice(0, -1) : tokens;
  return {
    ...(row.id !== undefined && { id: row.id }),
    sample,
    ids: tokens,
    text: tokenizer === undefined ? null : tokenizer.decode(shown),
    logprobs: float32Numbers(logProbs, `${file}:${line}`),
    stop,
    ...(message !== undefined && {
      prompt_ids: row.ids,
      message: {
        ...messageRow(message),
        ...(message.malformedCalls !== undefined && {
          malformed_calls: message.malformedCalls.map(({ text, problem }) => ({ text, problem })),
        }),
      },
    }),
  };
}
