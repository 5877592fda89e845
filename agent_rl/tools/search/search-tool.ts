import { type Static, Type } from '../../core/typebox.ts';
import type { SearchBackend, SearchDocument, SearchHit } from '../../core/services/search.ts';
import { tool, type Tool, type ToolContext, type ToolResult } from '../../core/plugins/tool.ts';
import { openTaskDocuments } from '../../search/corpus/index.ts';
import { WebFailure, type WebFailureKind } from '../../search/web/index.ts';
import { callName, failed } from '../web-call.ts';
import { configureSearch, SearchSettings } from './settings.ts';
import { openSearch, type SharedSearch } from './open-search.ts';

const SearchParameters = Type.Object(
  { query: Type.String({ description: 'What to look for' }) },
  { additionalProperties: false },
);

const mostQueryCharacters = 400;

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
    const { topK, maxSnippetChars, output } = this.given.settings;
    if (output === 'unavailable') return problem('unavailable', 'search is not available');
    const query = args.query.replaceAll(/[\s\p{Cc}]+/gu, ' ').trim();
    if (query === '') return problem('bad-query', 'the query is empty');
    if (query.length > mostQueryCharacters) {
      const text = `the query has ${query.length} characters, at most ${mostQueryCharacters} are allowed`;
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
        'search in mode: task needs inputs.documents from the environment, but received none. Use an environment whose tasks have documents, or another mode.',
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

const ellipsis = '…';

/** The start of a text, cut where the model can see it and between whole characters. */
function cutText(text: string, maxChars: number): string {
  if (text.length <= maxChars) return text;
  const kept = text.slice(0, maxChars - ellipsis.length);
  // The first half of a pair would be no character.
  return `${kept.replace(/[\uD800-\uDBFF]$/, '').trimEnd()}${ellipsis}`;
}

/** Hits as the model reads them, `[1] title` and the text below it. Short: a small model reads it. */
export function formatHits(hits: readonly SearchHit[], showSource: boolean): string {
  if (hits.length === 0) return 'No results.';
  return hits
    .map(({ title, text, url, documentId }, index) => {
      const source = showSource ? (url ?? documentId) : '';
      const head = [title, source === '' ? '' : `(${source})`].filter(Boolean).join(' ');
      return [`[${index + 1}] ${head}`.trimEnd(), text].filter(Boolean).join('\n');
    })
    .join('\n\n');
}
