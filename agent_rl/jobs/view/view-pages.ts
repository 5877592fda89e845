import { AgentRlError } from '../../core/errors.ts';
import { EventAnswer, type Page, type PageRequest } from '../../http/answer-request.ts';
import { decodedPart, Refusal } from '../../http/refusal.ts';
import { QueryProblem } from '../../runs/view/episodes/episode-query.ts';
import type { ViewedRun } from '../../runs/view/viewed-run.ts';
import type { ViewedRuns } from '../../runs/view/viewed-runs.ts';

type Answer = (request: PageRequest) => Promise<object>;

/** What a viewer answers: see `runs/view/api.ts`. */
export function viewPages(runs: ViewedRuns): readonly Page[] {
  const known = async (id: string): Promise<ViewedRun> => {
    const run = await runs.indexed(id);
    if (run === undefined) throw new Refusal(404, 'Run not found.');
    return run;
  };
  const ofRun =
    (answer: (run: ViewedRun, request: PageRequest) => Promise<object>): Answer =>
    async (request) =>
      answer(await known(request.groups['id'] ?? ''), request);
  const answers: readonly [path: string, answer: Answer][] = [
    ['/api/runs', () => runs.heads()],
    ['/api/runs/<id>', ofRun(async (run) => run.facts())],
    [
      '/api/runs/<id>/metrics',
      ofRun((run, { query }) => run.metrics(numberOf(query, 'after', -Infinity))),
    ],
    ['/api/runs/<id>/episodes', ofRun((run, { query, signal }) => run.episodes(query, signal))],
    ['/api/runs/<id>/episodes/<episode>', ofRun(wholeEpisode)],
    ['/api/runs/<id>/tasks', ofRun(async (run) => run.tasks())],
    [
      '/api/runs/<id>/timeline',
      ofRun((run, { query }) => run.timeline(numberOf(query, 'iteration', 0))),
    ],
    ['/api/tasks/<task>', async ({ groups }) => runs.task(decodedPart(groups['task'] ?? ''))],
    [
      '/api/compare',
      async ({ query }) =>
        runs.compare(await known(query.get('a') ?? ''), await known(query.get('b') ?? '')),
    ],
    ['/api/events', async ({ signal }) => new EventAnswer(eventTexts(runs, signal))],
  ];
  return answers.map(([path, answer]) => ({
    method: 'GET',
    path: patternOf(path),
    answer: (request) => refusing(() => answer(request)),
  }));
}

/** The last part of a path may hold slashes: ids of episodes do. */
const patternOf = (path: string): RegExp =>
  new RegExp(
    `^${path
      .replace('<id>', '(?<id>[A-Za-z0-9._~-]+)')
      .replace(/<(episode|task)>$/, '(?<$1>.+)')}$`,
  );

/** What the caller or the records are to blame for as a refusal in words. */
async function refusing(answer: () => Promise<object>): Promise<object> {
  try {
    return await answer();
  } catch (thrown) {
    if (thrown instanceof QueryProblem) throw new Refusal(400, `${thrown.message}.`);
    if (AgentRlError.is(thrown)) throw new Refusal(409, thrown.message);
    throw thrown;
  }
}

async function wholeEpisode(run: ViewedRun, { groups, query }: PageRequest): Promise<object> {
  const whole = await run.episode(groups['episode'] ?? '', query.get('whole') === '1');
  if (whole !== undefined) return whole;
  const { ready } = run.index.state();
  throw new Refusal(404, ready ? 'Episode not found.' : 'The run is still being indexed.');
}

/** @throws Refusal */
function numberOf(query: URLSearchParams, name: string, otherwise: number): number {
  const text = query.get(name) ?? '';
  const value = text === '' ? otherwise : Number(text);
  if (!Number.isNaN(value)) return value;
  throw new Refusal(400, `${name} is ${JSON.stringify(text.slice(0, 60))}; expected a number.`);
}

async function* eventTexts(runs: ViewedRuns, signal: AbortSignal): AsyncGenerator<string> {
  for await (const event of runs.events(signal)) yield JSON.stringify(event);
}
