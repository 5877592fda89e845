import type { EpisodeTurn, EpisodeWhole } from '../../runs/view/api.ts';

/** The sequence that is shown, up to a turn if one is chosen. */
export interface Chosen {
  sequence: number;
  turn?: EpisodeTurn;
}

export interface SequenceChoice {
  chosen: Chosen | undefined;
  choose: (to: Chosen) => void;
}

/** The turns of a part with several sequences. A click shows the sequence up to that turn. */
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
