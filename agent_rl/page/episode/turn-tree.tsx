import type { EpisodeTurn, EpisodeWhole } from '../../runs/view/api.ts';

/** Which sequence of an episode is looked at, and up to which turn; all of it without one. */
export interface Chosen {
  sequence: number;
  turn?: EpisodeTurn;
}

export interface SequenceChoice {
  chosen: Chosen | undefined;
  choose: (to: Chosen) => void;
}

/** The turns of a part with several sequences: choosing one shows the sequence through it. */
export const TurnTree = ({
  turns,
  chosen,
  choose,
}: SequenceChoice & Pick<EpisodeWhole, 'turns'>) => (
  <nav class="turn-tree" aria-label="Turns">
    <ol>
      {turns.map((turn) => (
        <li key={turn.turn} style={{ paddingLeft: `${Math.min(turn.indent, mostIndent)}rem` }}>
          <button
            type="button"
            aria-current={chosen?.turn?.turn === turn.turn ? 'true' : undefined}
            onClick={() => choose({ sequence: turn.sequence, turn })}
          >
            {turn.about}
          </button>
        </li>
      ))}
    </ol>
  </nav>
);

const mostIndent = 12;
