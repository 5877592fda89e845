import type { EpisodePage } from '../../runs/view/api.ts';
import { countText } from '../../telemetry/figures.ts';
import { pageSize } from './episode-query.ts';

interface PagerProps {
  page: EpisodePage;
  offset: number;
  turn: (offset: number) => void;
  isWaiting: boolean;
}

const number = (value: number): string => value.toLocaleString('en');

/** How many episodes there are, and which of them are shown. */
export function Pager({ page, offset, turn, isWaiting }: PagerProps) {
  const { matching, total, rows } = page;
  return (
    <div class="pager">
      <span role="status">
        {rows.length === 0 ? 'none' : `${number(offset + 1)}–${number(offset + rows.length)}`} of{' '}
        {matching === total
          ? countText(total, 'episode')
          : `${number(matching)} that match, of ${countText(total, 'episode')}`}
        {!page.index.ready && '; more are being read'}
        {isWaiting && ' …'}
      </span>
      <button type="button" disabled={offset === 0} onClick={() => turn(offset - pageSize)}>
        ← previous
      </button>
      <button
        type="button"
        disabled={offset + pageSize >= matching}
        onClick={() => turn(offset + pageSize)}
      >
        next →
      </button>
    </div>
  );
}
