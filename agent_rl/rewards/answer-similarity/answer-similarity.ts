import { type Static, Type } from '../../core/typebox.ts';
import { integer, within } from '../../config/blocks/block.ts';
import { acceptedAnswers } from '../../core/tasks/answer-match.ts';
import { AgentRlError, messageOf } from '../../core/errors.ts';
import {
  type EpisodeView,
  reward,
  type RewardHost,
  type RewardShared,
} from '../../core/plugins/reward.ts';
import type { Embedder } from '../../core/services/search.ts';
import type { PluginReport } from '../../core/plugins/tool.ts';
import { cosine } from '../../search/corpus/embedders/unit-vector.ts';
import { DenseSettings } from '../../search/corpus/settings.ts';
import { openEmbedder } from '../../search/corpus/open-embedder.ts';
import { finalAnswer } from '../final-answer.ts';
import { calibrated, randomPairFloor } from './similarity-scale.ts';
import { wordEmbedder } from './word-embedder.ts';
import { largest } from '../../core/long-lists.ts';

const [, ...models] = DenseSettings.anyOf;

const AnswerSimilaritySettings = Type.Object({
  embedder: Type.Union([Type.Object({ type: Type.Literal('words') }), ...models], {
    default: { type: 'words' },
    description:
      'How answers are compared. words: by their words, without a model. Other types: by an embedding model, with the same settings as `dense` of a corpus',
  }),
  floor: Type.Union([Type.Literal('measured'), Type.Number({ minimum: -1, maximum: 0.999 })], {
    default: 'measured',
    description:
      "Similarity that becomes score 0. measured: the mean similarity of random pairs of the tasks' answers",
  }),
  pairs: integer('Number of random pairs for a measured floor', {
    ...within(8, 4096, 64),
    actsWith: { floor: 'measured' },
  }),
});
type AnswerSimilaritySettings = Static<typeof AnswerSimilaritySettings>;

/** An answer is embedded once for all episodes of its task; the oldest are evicted. */
const rememberedAnswers = 4096;

/** The embedder of a run, its scale, and a cache of answers. */
export class SimilarityScale implements RewardShared {
  readonly #known = new Map<string, Promise<Float32Array>>();

  constructor(
    private readonly embedder: Embedder,
    readonly floor: number,
  ) {}

  /** The similarity of the text and the most similar of `accepted`, from 0 to 1. */
  async compare(said: string, accepted: readonly string[]): Promise<number> {
    // Both sides as queries, as E5 expects when neither is a passage.
    const [[given], ...expected] = await Promise.all([
      this.embedder.embed([said], 'query'),
      ...accepted.map((answer) => this.#remembered(answer)),
    ]);
    const nearest = largest(expected.map((answer) => cosine(given as Float32Array, answer)));
    return calibrated(nearest, this.floor);
  }

  report(): PluginReport {
    return { floor: this.floor };
  }

  /** The floor in use; earlier sessions measured it on the same tasks. */
  joinReports(_earlier: PluginReport, session: PluginReport): PluginReport {
    return session;
  }

  close(): Promise<void> {
    return this.embedder.close();
  }

  #remembered(answer: string): Promise<Float32Array> {
    const known = this.#known.get(answer);
    if (known !== undefined) return known;
    const made = this.embedder.embed([answer], 'query').then(([vector]) => vector as Float32Array);
    this.#known.set(answer, made);
    // A failure may be temporary: this one reaches its caller, and the next episode retries.
    made.catch(() => this.#known.delete(answer));
    const [oldest] = this.#known.keys();
    if (this.#known.size > rememberedAnswers && oldest !== undefined) this.#known.delete(oldest);
    return made;
  }
}

/** Opens the embedder and measures its floor. @throws AgentRlError `CONFIG_INVALID`, and what the embedder throws */
export async function openSimilarityScale(
  settings: AnswerSimilaritySettings,
  { tasks }: RewardHost,
): Promise<SimilarityScale> {
  const { embedder: chosen, floor, pairs } = settings;
  const embedder = chosen.type === 'words' ? wordEmbedder : await openEmbedder(chosen);
  try {
    if (floor !== 'measured') return new SimilarityScale(embedder, floor);
    const answers = tasks.flatMap((task) => acceptedAnswers(task).slice(0, 1));
    return new SimilarityScale(embedder, await randomPairFloor(embedder, answers, pairs));
  } catch (cause) {
    await embedder.close();
    if (!(cause instanceof RangeError)) throw cause;
    throw new AgentRlError('CONFIG_INVALID', `Reward answer_similarity: ${messageOf(cause)}`, {
      cause,
    });
  }
}

/**
 * How similar the final message and the task's answer are in meaning, from 0 (like random pairs of answers) to 1. 0
 * without a final message; does not apply to a task without an answer.
 */
@reward({
  name: 'answer_similarity',
  description:
    "Similarity of the final message to the task's answer, scaled so that random pairs of answers get 0",
  settings: AnswerSimilaritySettings,
  open: (settings, host) => openSimilarityScale(settings as AnswerSimilaritySettings, host),
})
export class AnswerSimilarity {
  constructor(private readonly given: { shared: SimilarityScale }) {}

  async score({ task, messages }: EpisodeView): Promise<number | undefined> {
    const accepted = acceptedAnswers(task);
    if (accepted.length === 0) return undefined;
    const said = finalAnswer(messages);
    return said === undefined ? 0 : this.given.shared.compare(said, accepted);
  }
}
