/** What a text is to its embedder: many models want to be told. */
export type TextRole = 'query' | 'passage';

/** Settings that change vectors. An index holds those it was built with. */
export type EmbedderIdentity = Readonly<Record<string, string | number | boolean>>;

/** Makes vectors of texts. */
export interface Embedder {
  readonly identity: EmbedderIdentity;
  /**
   * One vector of unit length for each text, in order.
   *
   * @throws AgentRlError `EMBEDDING_FAILED`; the signal's reason when it is aborted
   */
  embed(
    texts: readonly string[],
    role: TextRole,
    signal?: AbortSignal,
  ): Promise<readonly Float32Array[]>;
  close(): Promise<void>;
}
