/** A text that can be searched. `id` is unique in its collection. */
export interface SearchDocument {
  readonly id: string;
  readonly title: string;
  readonly text: string;
  readonly url?: string;
}

/** A passage that a search returned. */
export interface SearchHit {
  readonly documentId: string;
  readonly title: string;
  /** The passage itself or, from the web, the provider's snippet. */
  readonly text: string;
  readonly url?: string;
  /** The backend's own scale, higher is better; hits come best first in fused order. */
  readonly score: number;
}

export interface SearchRequest {
  readonly query: string;
  readonly topK: number;
  readonly signal?: AbortSignal;
}

/** What the `search` tool asks: a web provider, a corpus, or the documents of one task. */
export interface SearchBackend {
  /** Hits best first. @throws AgentRlError when there is no answer in time, no budget, no match in a replay. */
  search(request: SearchRequest): Promise<readonly SearchHit[]>;
  close(): Promise<void>;
}
