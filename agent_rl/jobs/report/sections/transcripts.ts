import type { Message } from '../../../core/message.ts';
import type { EpisodeRecord } from '../../../runs/episodes/read-episodes.ts';
import { episodeId } from '../../../runs/episodes/episode-id.ts';
import { type EpisodeKind, episodeKinds } from '../read/chosen-episodes.ts';
import type { ReportedRun } from '../read/reported-run.ts';
import { cutText } from '../render/cut-text.ts';
import { type Block, type Section, table, text, type TranscriptEntry } from '../report.ts';
import { countText } from '../../../telemetry/figures.ts';
import { counted } from './by-run.ts';

/** So that a report stays small whatever a model writes. */
const [mostCharacters, mostOfALabel, mostEntries] = [4000, 200, 80];

const kinds = Object.keys(episodeKinds) as EpisodeKind[];

/** Real episodes: the first of each kind. */
export function transcriptSections(runs: readonly ReportedRun[]): Section[] {
  return runs.flatMap((run) => {
    if (run.episodes === undefined) return [];
    const name = runs.length > 1 ? `Episodes of ${run.folder.name}` : 'Episodes';
    return [{ title: name, blocks: blocksOf(run.episodes) }];
  });
}

function blocksOf({
  from,
  iteration,
  first,
  counts,
  unjudged,
}: NonNullable<ReportedRun['episodes']>) {
  const source =
    from === 'eval'
      ? `the evaluation after training (iteration ${iteration})`
      : `the last iteration of training (${iteration}), since there was no evaluation after it`;
  const rows = kinds.map((kind) => [episodeKinds[kind], counted(counts[kind])]);
  if (unjudged > 0) rows.push(['Failed by the system, without a verdict', counted(unjudged)]);
  return [
    text(
      `Episodes of ${source}, slices among them. Shown is the first of each kind in the order of the tasks, whatever it looks like.`,
    ),
    ...table(['Kind', 'episodes'], rows),
    ...kinds.map((kind): Block => {
      const episode = first[kind];
      return episode === undefined
        ? text(`${episodeKinds[kind]}: there is none.`)
        : transcript(episodeKinds[kind], episode);
    }),
  ];
}

function transcript(title: string, episode: EpisodeRecord): Block {
  const { reward, outcome, turns } = episode;
  const about = `Episode ${cutText(episodeId(episode), mostOfALabel)}: ${outcome}, ${reward === null ? 'no reward' : `reward ${reward.toFixed(2)}`}, ${countText(turns, 'turn')}`;
  const all = entriesOf(episode);
  const entries = all.slice(0, mostEntries).map(({ who, label, text: words }) => ({
    who,
    label: cutText(label, mostOfALabel),
    text: cutText(words, mostCharacters),
  }));
  const left = all.length - entries.length;
  const rest = note(`${left} more entries of this episode are left out.`);
  return { kind: 'transcript', title, about, entries: left > 0 ? [...entries, rest] : entries };
}

const note = (words: string): TranscriptEntry => ({ who: 'note', label: '', text: words });

function entriesOf(episode: EpisodeRecord): TranscriptEntry[] {
  const { messages, problem } = episode;
  const said = messages.flatMap((message) => entriesOfMessage(message, episode));
  return problem === null ? said : [...said, { who: 'failure', label: 'problem', text: problem }];
}

function entriesOfMessage(message: Message, { toolCalls }: EpisodeRecord): TranscriptEntry[] {
  const { role, content } = message;
  if (role === 'tool') {
    const status = toolCalls.find(({ id }) => id === message.callId)?.status ?? 'ok';
    const failed = status !== 'ok';
    const label = failed ? `${message.name}: ${status}` : message.name;
    return [{ who: failed ? 'failure' : 'tool', label, text: content }];
  }
  if (role !== 'assistant') return [{ who: role, label: role, text: content }];
  const { reasoning = '', toolCalls: calls = [], malformedCalls = [] } = message;
  return [
    ...(reasoning === ''
      ? []
      : [{ who: 'thought', label: 'assistant, thinking', text: reasoning } as const]),
    ...(content === '' ? [] : [{ who: role, label: role, text: content } as const]),
    ...calls.map((call): TranscriptEntry => ({
      who: 'call',
      label: `assistant calls ${call.name}`,
      text: argumentsText(call.arguments),
    })),
    ...malformedCalls.map((call): TranscriptEntry => ({
      who: 'failure',
      label: `a call that could not be read: ${call.problem}`,
      text: call.text,
    })),
  ];
}

/** Text as it is and the rest as JSON; of a single argument the value alone. */
function argumentsText(given: Readonly<Record<string, unknown>>): string {
  const values = Object.entries(given).map(
    ([name, value]) => [name, typeof value === 'string' ? value : JSON.stringify(value)] as const,
  );
  const [only] = values;
  if (only !== undefined && values.length === 1) return only[1];
  return values.map(([name, value]) => `${name}: ${value}`).join('\n');
}
