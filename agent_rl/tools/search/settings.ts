import { type Static, Type } from 'typebox';

import { choice, integer, within } from '../../config/blocks/block.ts';
import { CorpusSettings, TaskDocumentsSettings } from '../../search/corpus/index.ts';
import { WebSearchSettings } from '../../search/web/index.ts';

/** The tool's block in YAML. */
export const SearchSettings = Type.Object({
  mode: Type.Enum(['corpus', 'web', 'task'], {
    description:
      'What is searched: an index on disk, the web, or the documents that the task brings along',
  }),
  topK: integer('Most results', within(1, 50, 5)),
  maxSnippetChars: integer(
    'Longest text of one result; the rest is cut visibly',
    within(40, 20_000, 520),
  ),
  showSource: Type.Optional(
    Type.Boolean({
      description:
        "Whether a result's URL or, without one, its document follows the title; by default in mode web only",
    }),
  ),
  output: Type.Optional(
    choice(
      'What the agent reads. blank: nothing, though it searched; unavailable: that the tool is not there, and nothing is searched. For measuring what the tool is worth',
      ['shown', 'blank', 'unavailable'],
      'shown',
    ),
  ),
  web: Type.Optional(WebSearchSettings),
  corpus: Type.Optional(CorpusSettings),
  documents: Type.Optional(TaskDocumentsSettings),
});

export type SearchSettings = Static<typeof SearchSettings>;
