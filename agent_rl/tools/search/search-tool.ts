import { type Static, Type } from 'typebox';

import type { SearchBackend, SearchDocument, SearchHit } from '../../core/services/search.ts';
import { tool } from '../../core/plugins/tool.ts';
import type { Tool, ToolContext, ToolResult } from '../../core/plugins/tool.ts';
import { openTaskDocuments } from '../../search/corpus/index.ts';
import { WebFailure, type WebFailureKind } from '../../search/web/index.ts';
import { callName, failed } from '../web-call.ts';
import { configureSearch } from './configure-search.ts';
import { cutText, formatHits } from './format-hits.ts';
import { openSearch, type SharedSearch } from './open-search.ts';
import { SearchSettings } from './settings.ts';

const SearchParameters = Type.Object(
  { query: Type.String({ description: 'What to look for' }) },
  { additionalProperties: false },
);

/** What an environment hands the tool in `mode: task`. */
export interface SearchInputs {
  documents?: readonly SearchDocument[];
}

/** `ToolResult.data` of a search that failed; of one that did not, the hits as shown (`hitsOf`). */
export interface SearchProblem {
  failure: WebFailureKind | 'bad-query' | 'unavailable';
}

/** Looks something up in an index, on the web, or in the documents of the task. */
@tool({
  name: 'search',
  description: 'Search for passages that answer a question.',
  parameters: SearchParameters,
  settings: SearchSettings,
  configure: (settings) => configureSearch(settings as SearchSettings),
  open: (settings, host) => openSearch(settings as SearchSettings, host),
})
export class SearchTool implements Tool<typeof SearchParameters> {
  #taskDocuments: Promise<SearchBackend> | undefined;

  constructor(private readonly given: { shared: SharedSearch; settings: SearchSettings }) {}

  async call(
    args: Static<typeof SearchParameters>,
    { inputs, random, signal }: ToolContext,
  ): Promise<ToolResult> {
    const { topK, maxSnippetChars, maxQueryChars, output } = this.given.settings;
    if (output === 'unavailable') return problem('unavailable', 'search is not available');
    const query = args.query.replaceAll(/[\s\p{Cc}]+/gu, ' ').trim();
    if (query === '') return problem('bad-query', 'the query is empty');
    if (query.length > maxQueryChars) {
      const text = `the query has ${query.length} characters, at most ${maxQueryChars} are allowed`;
      return problem('bad-query', text);
    }
    try {
      const backend = await this.#backend(inputs);
      const found = await backend.search({ query, topK, signal, call: callName(random) });
      const hits = found.slice(0, topK).map((hit) => cutHit(hit, maxSnippetChars));
      return { content: output === 'blank' ? '' : this.#shown(hits), data: hits };
    } catch (error) {
      if (!(error instanceof WebFailure)) throw error;
      const text = `the search failed: ${error.message}`;
      // What the model asked for was all right.
      return { ...problem(error.kind, text), problem: text };
    }
  }

  async close(): Promise<void> {
    const opened = this.#taskDocuments;
    this.#taskDocuments = undefined;
    await (await opened)?.close();
  }

  #shown(hits: readonly SearchHit[]): string {
    return formatHits(hits, this.given.settings.showSource ?? this.given.settings.mode === 'web');
  }

  async #backend(inputs: Readonly<Record<string, unknown>>): Promise<SearchBackend> {
    if (this.given.shared.backend !== undefined) return this.given.shared.backend;
    const { documents } = inputs as SearchInputs;
    if (documents === undefined) {
      throw new Error(
        'search in mode: task searches what the environment hands it as inputs.documents, and it handed nothing. Use an environment whose tasks hold documents, or another mode.',
      );
    }
    this.#taskDocuments ??= openTaskDocuments(documents, this.given.settings.documents ?? {});
    return this.#taskDocuments;
  }
}

const cutHit = (hit: SearchHit, maxChars: number): SearchHit => ({
  ...hit,
  text: cutText(hit.text, maxChars),
});

const problem = (failure: SearchProblem['failure'], text: string): ToolResult =>
  failed(text, { failure } satisfies SearchProblem);
