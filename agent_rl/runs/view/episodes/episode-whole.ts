import { isRecord } from '../../../core/is-record.ts';
import type { LearnedRecord } from '../../episodes/learned-line.ts';
import type {
  Cut,
  EpisodeCall,
  EpisodeTokens,
  EpisodeVerdict,
  EpisodeWhole,
  HiddenTest,
  LearnedFacts,
} from '../api.ts';
import type { EpisodeIndex } from '../index/episode-index.ts';
import { type EpisodeLine, episodeOf, type IndexedEpisode } from '../index/episode-row.ts';
import { readAt } from '../index/read-appended.ts';
import { cutTexts } from './cut-texts.ts';
import { learnedColumns, useMeanings } from './learned-columns.ts';
import { siblingsOf } from './siblings.ts';
import type { LazyTokenTexts } from './token-texts.ts';

/** A line with what `EpisodeRecord` leaves out. */
interface WholeLine extends EpisodeLine {
  tokens: readonly number[];
  logProbs: readonly number[];
  toolCalls: readonly (EpisodeLine['toolCalls'][number] & {
    arguments?: unknown;
    content?: string;
  })[];
  retries?: readonly unknown[];
  failure?: unknown;
  sandboxLevel?: string | null;
  hidden_tests?: readonly string[];
}

export interface WholeRequest {
  run: string;
  index: EpisodeIndex;
  texts: LazyTokenTexts;
  /** Very long texts are not cut. */
  uncut: boolean;
}

/** Reads one episode with all that is recorded of it, and how its group differs from it. */
export async function episodeWhole(
  episode: IndexedEpisode,
  { run, index, texts, uncut }: WholeRequest,
): Promise<EpisodeWhole> {
  const { row, set, line } = episode;
  const place = `${index.fileOf(set)}:${line + 1}`;
  const record = (await lineOf(episode, index)) as WholeLine;
  const learned = await learnedOf(episode, index);
  const cut: Cut[] = [];
  const shown = <Value>(value: Value, path: string): Value =>
    uncut ? value : cutTexts(value, path, cut);
  return {
    run,
    row,
    place,
    seed: record.seed ?? null,
    drawnAt: record.place ?? null,
    step: record.step ?? null,
    learns: record.learns !== false,
    messages: shown(record.messages, 'messages'),
    calls: shown(callsOf(record), 'calls'),
    malformedCalls: record.malformedCalls ?? 0,
    tokens: await tokensOf(record, learned, texts),
    learned: learned === undefined ? null : factsOf(learned),
    verdict: verdictOf(record),
    seconds: record.seconds ?? null,
    sandboxLevel: record.sandboxLevel ?? null,
    problem: shown(record.problem ?? null, 'problem'),
    failure: shown(record.failure ?? null, 'failure'),
    failedAttempts: shown(record.failedAttempts ?? [], 'failedAttempts'),
    retries: shown(record.retries ?? [], 'retries'),
    cutTokens: record.cutTokens ?? 0,
    hidden: shown(hiddenOf(record), 'hidden'),
    siblings: await siblingsOf(episode, record.tokens, index),
    ...index.neighbours(episode),
    cut,
  };
}

/** The line of an episode. @throws Error where the file has another one there now */
async function lineOf({ row, set, line, offset, bytes }: IndexedEpisode, index: EpisodeIndex) {
  const file = index.fileOf(set);
  const record = episodeOf(await readAt(file, offset, bytes), `${file}:${line + 1}`);
  if (record.taskId === row.taskId && record.iteration === row.iteration) return record;
  throw new Error(`${file} was rewritten while it was read`);
}

async function learnedOf(
  { learned }: IndexedEpisode,
  index: EpisodeIndex,
): Promise<LearnedRecord | undefined> {
  if (learned === undefined) return undefined;
  const bytes = await readAt(index.fileOf('learned'), learned.offset, learned.bytes);
  return JSON.parse(bytes.toString()) as LearnedRecord;
}

const factsOf = ({ use, advantage }: LearnedRecord): LearnedFacts => ({
  use,
  meaning: useMeanings[use] ?? use,
  advantage,
});

async function tokensOf(
  { tokens, spans, logProbs }: WholeLine,
  learned: LearnedRecord | undefined,
  lazy: LazyTokenTexts,
): Promise<EpisodeTokens> {
  const { texts, problem } = await lazy.open();
  const sampled: (number | null)[] = tokens.map(() => null);
  for (const { source, start, end } of spans)
    if (source === 'sampled')
      for (let at = start; at < end; at++) sampled[at] = logProbs[at] ?? null;
  return {
    ids: tokens,
    texts: texts === null ? null : tokens.map((id) => texts.of(id)),
    problem,
    spans,
    logProbs: sampled,
    learned: learned === undefined ? null : learnedColumns(learned, sampled),
  };
}

/** What the policy could not see of calls, by their ids. */
function partOf(
  record: WholeLine,
  name: 'toolInputs' | 'toolData',
): Readonly<Record<string, unknown>> {
  const part = record.hidden?.[name];
  return isRecord(part) ? part : {};
}

function callsOf(record: WholeLine): EpisodeCall[] {
  const [inputs, data] = [partOf(record, 'toolInputs'), partOf(record, 'toolData')];
  return (record.toolCalls ?? []).map((call) => {
    const { id, name, status, wallMs: ms, content = '', problem = null } = call;
    const shown = { id, name, arguments: call.arguments ?? {}, status, content, ms, problem };
    return Object.assign(
      shown,
      Object.hasOwn(inputs, id) && { hiddenInput: inputs[id] },
      Object.hasOwn(data, id) && { hiddenData: data[id] },
    );
  });
}

/** The rest of what is hidden. */
function hiddenOf({ hidden = {} }: WholeLine): Readonly<Record<string, unknown>> {
  const { toolInputs: _inputs, toolData: _data, ...rest } = hidden;
  return rest;
}

function verdictOf(record: WholeLine): EpisodeVerdict {
  const { components, scores, metrics, judgedBy, groupReward } = record;
  return {
    components: components ?? {},
    scores: scores ?? {},
    metrics: metrics ?? {},
    judgedBy: judgedBy ?? null,
    groupReward: groupReward === undefined || groupReward === null ? null : { ...groupReward },
    hiddenTests: record.hidden_tests?.map(hiddenTest) ?? null,
  };
}

const hiddenTest = (status: string, at: number): HiddenTest => ({
  name: `test ${at + 1}`,
  passed: status === 'passed',
  status,
});
