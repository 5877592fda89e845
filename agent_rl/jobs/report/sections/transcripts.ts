import type { EpisodeRecord } from '../../../runs/episodes/read-episodes.ts';
import { partText } from '../../../runs/query/parts.ts';
import { requestLine } from '../../../runs/query/played-turns.ts';
import { entriesOf, type TranscriptEntry } from '../../show/transcript-entries.ts';
import { type EpisodeKind, episodeKinds } from '../read/chosen-episodes.ts';
import type { ReportedRun } from '../read/reported-run.ts';
import { type Block, type Section, table, text, cutText } from '../report.ts';
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
      : `the last training iteration (${iteration}), because the run has no evaluation after training`;
  const rows = kinds.map((kind) => [episodeKinds[kind], counted(counts[kind])]);
  if (unjudged > 0) rows.push(['System failures, not scored', counted(unjudged)]);
  return [
    text(
      `Episodes of ${source}, including slices. For each kind, the report shows the first episode in task order.`,
    ),
    ...table(['Kind', 'episodes'], rows),
    ...kinds.map((kind): Block => {
      const episode = first[kind];
      return episode === undefined
        ? text(`${episodeKinds[kind]}: no episodes.`)
        : transcript(episodeKinds[kind], episode);
    }),
  ];
}

function transcript(title: string, episode: EpisodeRecord): Block {
  const { reward, outcome, turns } = episode;
  const about = `Episode ${partText(episode)} of ${cutText(episode.taskId, mostOfALabel)}: ${outcome}, ${reward === null ? 'no reward' : `reward ${reward.toFixed(2)}`}, ${countText(turns, 'turn')}`;
  const asked = requestLine(episode);
  const all = entriesOf(episode);
  const entries = all.slice(0, mostEntries).map(({ who, label, text: words }) => ({
    who,
    label: cutText(label, mostOfALabel),
    text: cutText(words, mostCharacters),
  }));
  const left = all.length - entries.length;
  const rest = note(`${left} further entries of this episode are not shown.`);
  return {
    kind: 'transcript',
    title,
    about: asked === undefined ? about : `${about}; ${cutText(asked, mostCharacters)}`,
    entries: left > 0 ? [...entries, rest] : entries,
  };
}

const note = (words: string): TranscriptEntry => ({ who: 'note', label: '', text: words });
