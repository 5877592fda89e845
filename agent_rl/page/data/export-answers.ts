import { exportName } from '../../runs/view/export-name.ts';
import type { EpisodePage } from '../../runs/view/api.ts';
import { type Answers, RequestFailed } from './answers.ts';
import { filtered } from './filtered.ts';

declare global {
  /** Each file of an export calls this with its request and the answer. */
  var agentRlAnswer: ((request: string, json: string) => void) | undefined;
}

/** Whether `agent-rl view --export` wrote this page. */
export const isExport = (page: Document): boolean =>
  page.querySelector('meta[name="agent-rl-export"]') !== null;

/**
 * Reads the files of an export. They are scripts and not JSON, since a page opened from the file system may only load
 * scripts. Lists of episodes are filtered here.
 */
export function exportAnswers(page: Document): Answers {
  const held = new Map<string, unknown>();
  // Parsed from a string, so that a key `__proto__` in a model's output stays data.
  globalThis.agentRlAnswer = (request, json) => void held.set(request, JSON.parse(json));
  const load = async (request: string): Promise<unknown> => {
    if (!held.has(request)) await loadScript(page, exportName(request));
    if (held.has(request)) return held.get(request);
    throw new RequestFailed(
      404,
      `The file of the export for ${request} contains the answer to another request.`,
    );
  };
  return {
    live: false,
    get: async <Answer>(path: string, signal: AbortSignal) => {
      const [request = '', query = ''] = path.split('?', 2);
      const isList = /^\/api\/runs\/[^/]+\/episodes$/.test(request);
      const answer = await load(isList ? request : path);
      signal.throwIfAborted();
      return (isList ? filtered(answer as EpisodePage, query) : answer) as Answer;
    },
    events: () => Promise.reject(new RequestFailed(0, 'An export has no live updates.')),
  };
}

function loadScript(page: Document, source: string): Promise<void> {
  return new Promise((resolve, reject) => {
    const script = page.createElement('script');
    script.src = source;
    script.addEventListener('load', () => {
      script.remove();
      resolve();
    });
    script.addEventListener('error', () => {
      script.remove();
      reject(new RequestFailed(404, `The export does not include ${source}.`));
    });
    page.head.append(script);
  });
}
