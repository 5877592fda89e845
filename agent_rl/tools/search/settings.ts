import { type Static, Type } from '../../core/typebox.ts';
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
      'What the tool searches. corpus: an index on disk. web: the web. task: the documents of the task',
  }),
  topK: integer('Maximum results', within(1, 50, 5)),
  maxSnippetChars: integer(
    'Maximum characters of one result; the cut is marked',
    within(40, 20_000, 520),
  ),
  showSource: Type.Optional(
    Type.Boolean({
      description:
        'Whether a result shows its URL after the title, or its document if it has no URL; by default only in mode web',
    }),
  ),
  output: Type.Optional(
    choice(
      'What the agent sees of the result. blank: nothing, although the search runs; unavailable: a message that the tool does not exist, and nothing is searched. For measuring how much the tool helps',
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
      throw new Error(`${block}: has no effect in mode ${mode}. Use mode: ${other}, or remove it.`);
    }
  }
  if (mode === 'corpus' && settings.corpus === undefined) {
    throw new Error('mode: corpus needs corpus.path, a folder created by `agent-rl data index`.');
  }
  if (mode === 'web' && web === undefined) {
    throw new Error('mode: web needs web.provider and the settings of that provider.');
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
