import { validateBlock } from '../../config/index.ts';
import { AgentRlError } from '../../core/errors.ts';
import { overlapProblem } from './chunk-document.ts';
import { type TaskDocumentsSettings, TextSettings } from './settings.ts';

/** What is checked together, of an index, a search in one, or the documents of a task. */
type Settings = Pick<TaskDocumentsSettings, 'dense' | 'fusion' | 'chunking' | 'text'>;

// LanceDB 0.27 has stems of these and no list of their stop words.
const withoutStopWords = new Set(['Arabic', 'Greek', 'Romanian', 'Tamil', 'Turkish']);

/** The problem of settings that fit their schema but not each other, as `key: …`; undefined without one. */
export function settingsProblem(settings: Settings): string | undefined {
  const { dense = 'none', fusion, chunking = {}, text = {} } = settings;
  if (fusion !== undefined && dense === 'none') {
    return 'fusion: has no effect without vectors. Set dense to an embedder, or remove fusion.';
  }
  if (fusion?.type === 'weighted' && fusion.denseWeight === 0 && fusion.textWeight === 0) {
    return 'fusion: denseWeight and textWeight are both 0. Set at least one of them above 0.';
  }
  const overlap = overlapProblem(chunking);
  if (overlap !== undefined) return overlap;
  const { language = 'English', removeStopWords = true } = text;
  return removeStopWords && withoutStopWords.has(language)
    ? `text.removeStopWords: there is no list of stop words for ${language}. Set removeStopWords to false.`
    : undefined;
}

/**
 * Checks what is about to reach LanceDB, which ends the process over a language it does not know.
 *
 * @throws AgentRlError `CONFIG_INVALID`
 */
export function checkSettings(settings: Settings): void {
  validateBlock(TextSettings, settings.text ?? {}, { path: 'text', places: new Map() });
  const problem = settingsProblem(settings);
  if (problem !== undefined) throw new AgentRlError('CONFIG_INVALID', problem);
}
