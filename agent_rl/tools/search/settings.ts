import { type Static, Type } from 'typebox';

import { choice, integer, within } from '../../config/blocks/block.ts';
import {
  CorpusSettings,
  TaskDocumentsSettings,
  settingsProblem,
} from '../../search/corpus/index.ts';
import { WebSearchSettings, checkWebSearch } from '../../search/web/index.ts';
import type { ToolFace } from '../../core/plugins/tool.ts';
import { graceS } from '../web-call.ts';

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

const localDeadlineS = 60;

const blocks = { web: 'web', corpus: 'corpus', task: 'documents' } as const;

/**
 * Checks what belongs together, and gives the tool the deadline and the length its settings need.
 *
 * @throws Error that says what is wrong and what to do.
 */
export function configureSearch(settings: SearchSettings): Partial<ToolFace> {
  const { mode, web, topK, maxSnippetChars } = settings;
  for (const [other, block] of Object.entries(blocks)) {
    if (other !== mode && settings[block] !== undefined) {
      throw new Error(
        `${block}: has no effect in mode ${mode}. Use mode: ${other}, or leave it out.`,
      );
    }
  }
  if (mode === 'corpus' && settings.corpus === undefined) {
    throw new Error('mode: corpus needs corpus.path, a folder that `agent-rl data index` made.');
  }
  if (mode === 'web' && web === undefined) {
    throw new Error('mode: web needs web.provider, and what that provider needs.');
  }
  for (const block of ['corpus', 'documents'] as const) {
    const problem = settingsProblem(settings[block] ?? {});
    if (problem !== undefined) throw new Error(`${block}.${problem}`);
  }
  if (web !== undefined) checkWebSearch(web);
  return {
    deadlineS: web === undefined ? localDeadlineS : web.deadlineS + graceS,
    // Snippets are cut one by one; title and URL come on top.
    maxContentChars: topK * (maxSnippetChars + 500),
  };
}
