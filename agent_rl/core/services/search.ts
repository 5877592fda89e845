import type { ToolResult } from '../plugins/tool.ts';

/** A text that can be searched. `id` is unique in its collection. */
export interface SearchDocument {
  readonly id: string;
  readonly title: string;
  readonly text: string;
  readonly url?: string | undefined;
}

/** A passage that a search returned. */
export interface SearchHit {
  readonly documentId: string;
  /** Other documents with the same or a very similar passage; absent if no others have it. */
  readonly alsoIn?: readonly string[] | undefined;
  readonly title: string;
  /** The passage itself or, from the web, the provider's snippet. */
  readonly text: string;
  readonly url?: string | undefined;
  /** The backend's own scale, higher is better; hits come best first in fused order. */
  readonly score: number;
}

/**
 * The hits of a search, best first and as the policy was shown them: a list of them is what a tool that searches gives
 * as the `data` of its result. `undefined` for any other call, a search that failed included.
 */
export function hitsOf({ data }: ToolResult): readonly SearchHit[] | undefined {
  return Array.isArray(data) && data.every(isHit) ? data : undefined;
}

const isHit = (value: unknown): value is SearchHit =>
  typeof value === 'object' &&
  value !== null &&
  typeof (value as Partial<SearchHit>).documentId === 'string';

export interface SearchRequest {
  readonly query: string;
  readonly topK: number;
  /** Identifies the call within its run, so that its result can be recorded and replayed. */
  readonly call?: string;
  readonly signal?: AbortSignal;
}

/** What the `search` tool asks: a web provider, a corpus, or the documents of one task. */
export interface SearchBackend {
  /** Hits best first. @throws AgentRlError when there is no answer in time, no budget, no match in a replay. */
  search(request: SearchRequest): Promise<readonly SearchHit[]>;
  close(): Promise<void>;
}

/** The role of a text in a comparison: models such as E5 were trained with a role prefix. */
export type EmbeddedAs = 'query' | 'passage';

/** Turns texts into vectors whose inner product measures how similar they are in meaning. */
export interface Embedder {
  /** Model and pooling; two embedders of one name give the same vectors. */
  readonly name: string;
  /** One vector of length 1 per text, in order. @throws AgentRlError when there is no answer. */
  embed(
    texts: readonly string[],
    as: EmbeddedAs,
    signal?: AbortSignal,
  ): Promise<readonly Float32Array[]>;
  /** Texts so far that were longer than the model reads, so that their ends are in no vector; absent where it is not known. */
  readonly shortened?: number;
  close(): Promise<void>;
}
