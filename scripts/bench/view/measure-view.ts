import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout } from 'node:timers/promises';
import { join } from 'node:path';

import { packageRoot } from '../../../agent_rl/core/package-root.ts';
import type { EpisodePage, RunHead } from '../../../agent_rl/runs/view/api.ts';
import { treeUse } from '../sandbox/process-tree.ts';
import { measureTab, type TabReport } from './measure-tab.ts';
import type { WrittenRun } from './write-run.ts';

export interface ViewReport {
  episodes: number;
  bytes: number;
  /** From the command to its address. */
  startS: number;
  /** From there to the list of runs and the first rows, as far as they were indexed. */
  firstViewS: number;
  /** From there to the whole index. */
  indexedS: number;
  filterS: number;
  sortS: number;
  /** Seconds of a search through all texts, in as many requests as it takes. */
  textS: number;
  episodeS: number;
  /** Memory of the server, after all that. */
  rssBytes: number;
  /** Figures of the page in a browser, if there is one. */
  tab: TabReport | undefined;
}

/** Opens a run in a server of its own, and asks it as a page does. */
export async function measureView(
  { folder, bytes }: WrittenRun,
  { episodes, chromium }: Pick<ViewReport, 'episodes'> & { chromium: string | undefined },
): Promise<ViewReport> {
  const began = performance.now();
  const program = join(packageRoot(), 'dist', 'scripts', 'agent-rl.js');
  const server = spawn(process.execPath, [program, 'view', folder, '--port', '0'], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  try {
    const url = await addressOf(server);
    const startS = since(began);
    const ask = asking(url);
    const [run] = await ask<RunHead[]>('/api/runs');
    const path = `/api/runs/${run!.id}/episodes`;
    const opened = performance.now();
    await ask(path);
    const firstViewS = since(opened);
    while (!(await ask<EpisodePage>(`${path}?limit=1`)).index.ready) await setTimeout(5);
    const indexedS = since(opened);
    const timed = async (question: string) => {
      const asked = performance.now();
      const page = await ask<EpisodePage>(path + question);
      return { page, seconds: since(asked) };
    };
    const filter = await timed('?outcome=completed&use=trained&iteration=3-40&rewardFrom=0.5');
    const sort = await timed('?sort=reward&order=desc&limit=500');
    const asked = performance.now();
    let next: number | null = 0;
    while (next !== null) {
      const { page } = await timed(`?text=nowhere+to+be+found&offset=${next}`);
      next = page.search?.next ?? null;
    }
    const textS = since(asked);
    const whole = await timed(`/${sort.page.rows.at(-1)!.id}`);
    const { rssBytes } = treeUse();
    const tab =
      chromium === undefined ? undefined : await measureTab(url, { run: run!.id, chromium });
    return {
      episodes,
      bytes,
      startS,
      firstViewS,
      indexedS,
      filterS: filter.seconds,
      sortS: sort.seconds,
      textS,
      episodeS: whole.seconds,
      rssBytes,
      tab,
    };
  } finally {
    server.kill('SIGINT');
    await once(server, 'exit');
  }
}

const since = (startMs: number): number => (performance.now() - startMs) / 1000;

/** The address that the program prints, with its token. */
async function addressOf({ stdout }: ChildProcess): Promise<URL> {
  let text = '';
  for await (const chunk of stdout!.setEncoding('utf8') as AsyncIterable<string>) {
    text += chunk;
    const [, address] = /View: (\S+)\n/.exec(text) ?? [];
    if (address !== undefined) return new URL(address);
  }
  throw new Error(`The viewer ended: ${text}`);
}

function asking(url: URL) {
  const headers = { authorization: `Bearer ${url.searchParams.get('token')}` };
  return async <Answer>(path: string): Promise<Answer> => {
    const response = await fetch(new URL(path, url), { headers });
    if (!response.ok) throw new Error(`${path}: ${response.status} ${await response.text()}`);
    return (await response.json()) as Answer;
  };
}
