import type { ToolFace } from '../../core/plugins/tool.ts';
import { settingsProblem } from '../../search/corpus/index.ts';
import { checkWebSearch } from '../../search/web/index.ts';
import { graceS } from '../web-call.ts';
import type { SearchSettings } from './settings.ts';

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
