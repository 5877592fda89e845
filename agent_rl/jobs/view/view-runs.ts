import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { resolve } from 'node:path';

import { AgentRlError, messageOf } from '../../core/errors.ts';
import { answerRequest, type Shared } from '../../http/answer-request.ts';
import { closeServer, listen, loopback } from '../../http/listen.ts';
import { Refusal } from '../../http/refusal.ts';
import { refuseStrangers } from '../../http/refuse-strangers.ts';
import { requireReadable } from '../../runs/episodes/read-episodes.ts';
import { runFolderAt } from '../../runs/run-folder.ts';
import type { ApiError } from '../../runs/view/api.ts';
import { ViewedRuns } from '../../runs/view/viewed-runs.ts';
import { visibleControls } from '../../telemetry/index.ts';
import type { JobContext, JobResult } from '../job.ts';
import { exportView } from './export-view.ts';
import { refuseWriting, setHeaders } from './guard.ts';
import { builtPage, pageFiles, pageProblem, readPageFile } from './page-files.ts';
import { servedAddresses } from './served-addresses.ts';
import { viewPages } from './view-pages.ts';

export interface ViewRunsOptions extends JobContext {
  /** Folders of runs; all runs below `runs/` without any. */
  runs?: readonly string[];
  host: string;
  /** 0 takes a free one; without it the usual one, or a free one where that is taken. */
  port?: number;
  /** Writes a static copy into this folder instead of serving. */
  export?: string;
  /** Training episodes of each run that it holds, the newest; all without it. */
  exportEpisodes?: number;
  /** Where the page was built; for tests. */
  page?: string;
  /** Told where the page is, once it is served. */
  onListening?: (url: string) => void;
}

/** Where runs are looked for when none is named. */
const usualFolder = 'runs';
const usualPort = 7410;
/** Listening pages included, each of which has one request open. */
const mostRequests = 256;

/**
 * Serves a page over runs until the signal is aborted, or writes a static copy of it.
 *
 * @returns the address or the folder, and the runs
 * @throws AgentRlError for what the user can fix
 */
export async function viewRuns(options: ViewRunsOptions): Promise<JobResult> {
  const { print, runs: folders = [], page = builtPage() } = options;
  if (options.exportEpisodes !== undefined && options.export === undefined)
    throw new AgentRlError(
      'CONFIG_INVALID',
      '--export-episodes has no effect without --export DIR. Give both or neither.',
    );
  const warn = (text: string): void => print(`Note: ${visibleControls(text)}`);
  const runs = new ViewedRuns({
    folders: folders.length > 0 ? folders : undefined,
    parent: usualFolder,
    warn,
  });
  for (const folder of folders) await requireReadable(runFolderAt(resolve(folder)));
  const problem = pageProblem(page);
  if (options.export !== undefined) {
    if (problem !== undefined) throw new AgentRlError('PAGE_MISSING', problem);
    const { exportEpisodes: mostEpisodes = Infinity } = options;
    return exportView(runs, { folder: options.export, mostEpisodes, page, print });
  }
  if (problem !== undefined) warn(problem);
  return serve(runs, { ...options, page });
}

async function serve(
  runs: ViewedRuns,
  options: ViewRunsOptions & { page: string },
): Promise<JobResult> {
  const { print, signal } = options;
  const token = randomBytes(32).toString('base64url');
  const stop = new AbortController();
  const server = await listening(
    options,
    answering(runs, { ...options, token, stop: stop.signal }),
  );
  const addresses = servedAddresses(server);
  const [address = ''] = addresses;
  const urls = addresses.map((one) => `${one}/?token=${token}`);
  try {
    for (const note of notesOf(options, address)) print(note);
    print(`${urls.map((url) => `View: ${url}`).join('\n')}\nStop with Ctrl-C.`);
    options.onListening?.(urls[0] ?? '');
    void runs.indexAll().catch((thrown: unknown) => print(`Note: ${messageOf(thrown)}`));
    if (!signal.aborted) await once(signal, 'abort');
    return { url: address, runs: runs.all().map(({ folder }) => folder.path) };
  } finally {
    stop.abort(new Refusal(503, 'The server is closing.'));
    await closeServer(server);
  }
}

/** What the user should know of where it listens. */
function notesOf({ host, port }: ViewRunsOptions, address: string): string[] {
  const other = port === undefined && !address.endsWith(`:${usualPort}`);
  return [
    ...(other ? [`Note: port ${usualPort} is in use; choose another with --port.`] : []),
    ...(loopback.has(host)
      ? []
      : [
          'Note: anyone who has this address and its token can read these runs. The connection is not encrypted.',
        ]),
  ];
}

type Handler = (request: IncomingMessage, response: ServerResponse) => void;

/** A server on the port that is wanted, or on a free one where the usual one is taken and none was named. */
async function listening({ host, port }: ViewRunsOptions, handler: Handler) {
  const on = async (number: number) => {
    const server = createServer(handler);
    await listen(server, { host, port: number, code: 'CONFIG_INVALID', what: 'The viewer' });
    return server;
  };
  if (port !== undefined) return on(port);
  try {
    return await on(usualPort);
  } catch (failure) {
    if (!/EADDRINUSE/.test(messageOf(failure))) throw failure;
    return on(0);
  }
}

interface Serving extends ViewRunsOptions {
  page: string;
  token: string;
  stop: AbortSignal;
}

function answering(runs: ViewedRuns, { host, page, token, stop, print }: Serving): Handler {
  const shared: Shared = {
    host,
    pages: viewPages(runs),
    token,
    mostRequests,
    stopped: stop,
    underWay: { count: 0 },
    arriving: { bytes: 0 },
    errorBody: errorBodyOf,
  };
  return (request, response) => {
    setHeaders(response);
    try {
      refuseStrangers(request, host);
      refuseWriting(request);
    } catch (refusal) {
      refuse(response, refusal as Refusal);
      return;
    }
    if (servedFile(request, response, page)) return;
    answerRequest(request, response, shared).catch((error: unknown) =>
      print(`Note: a request failed: ${visibleControls(messageOf(error))}`),
    );
  };
}

const errorBodyOf = ({ message }: Refusal): ApiError => ({ error: message });

function refuse(response: ServerResponse, refusal: Refusal): void {
  response.writeHead(refusal.status, { 'content-type': 'application/json', connection: 'close' });
  response.end(JSON.stringify(errorBodyOf(refusal)));
}

/** Sends a file of the page, which holds no data and needs no token. @returns whether it was one */
function servedFile(
  { url = '' }: IncomingMessage,
  response: ServerResponse,
  page: string,
): boolean {
  const [path = ''] = url.split('?', 1);
  const file = Object.hasOwn(pageFiles, path) ? pageFiles[path] : undefined;
  if (file === undefined) return false;
  const problem = pageProblem(page);
  if (problem !== undefined) {
    response.writeHead(503, { 'content-type': 'text/plain; charset=utf-8' });
    response.end(`${problem}\n`);
    return true;
  }
  response.writeHead(200, { 'content-type': file.type });
  response.end(readPageFile(page, file));
  return true;
}
