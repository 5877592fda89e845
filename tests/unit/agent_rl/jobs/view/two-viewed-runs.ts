import { writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { user } from '#agent_rl/core/message.ts';
import { viewRuns, type ViewRunsOptions } from '#agent_rl/jobs/view/view-runs.ts';
import { episodeEvent, record, recordedFolder } from '#tests/support/recorded-folder.ts';
import { temporaryFolder, writeBelow } from '#tests/support/temporary-folder.ts';

export interface Viewer {
  url: URL;
  token: string;
  printed: string[];
  stop: () => Promise<Readonly<Record<string, unknown>>>;
}

/** Two runs with a hostile episode each, and a page to show them, in a folder that goes with the tests of the file. */
export function twoViewedRuns() {
  const folder = temporaryFolder();
  const runs = join(folder, 'runs');
  const page = join(folder, 'page');
  const hostile = '</script><img src=x onerror=alert(1)>\u001b]0;title\u0007';
  const one = recordedFolder(runs, 'one');
  const two = recordedFolder(runs, 'two <b>', { run: { seed: 8 } });
  const html = '<!doctype html><html><head lang="en"><title>t</title></head></html>';
  writeBelow(page, 'page.html', html);
  writeBelow(page, 'page.js', 'void 0;');
  writeBelow(page, 'page.css', 'a { color: red }');
  const messages = [user(hostile)];
  record(one, episodeEvent({ iteration: 1, taskId: hostile, messages }));
  record(two, episodeEvent({ iteration: 2, taskId: hostile, messages }));
  writeFileSync(one.metrics, '{"iteration":1,"train/loss":1}\n');
  /** Serves them, or what is given, at any free port. */
  async function viewer(given: Partial<ViewRunsOptions> = {}): Promise<Viewer> {
    const stop = new AbortController();
    const printed: string[] = [];
    let served: ReturnType<typeof viewRuns> | undefined;
    const address = await new Promise<string>((resolve, reject) => {
      served = viewRuns({
        runs: [one.path, two.path],
        host: '127.0.0.1',
        port: 0,
        page,
        signal: stop.signal,
        print: (text) => printed.push(text),
        onListening: resolve,
        ...given,
      });
      served.catch(reject);
    });
    const url = new URL(address);
    const stopped = async () => {
      stop.abort();
      return (await served) ?? {};
    };
    return { url, token: url.searchParams.get('token') ?? '', printed, stop: stopped };
  }
  return { folder, runs, page, hostile, one, two, viewer };
}
