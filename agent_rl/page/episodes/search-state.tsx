import type { EpisodePage, TextSearch } from '../../runs/view/api.ts';
import { bytesText } from '../../telemetry/figures.ts';

interface SearchStateProps {
  page: EpisodePage;
  search: TextSearch;
  offset: number;
  turn: (offset: number) => void;
  isWaiting: boolean;
}

/** How far a search through texts came: it reads so many bytes, or finds so many episodes, and stops. */
export function SearchState({ page, search, offset, turn, isWaiting }: SearchStateProps) {
  const { searched, of, bytes, next } = search;
  return (
    <div class="pager">
      <span role="status">
        {page.rows.length.toLocaleString('en')} found in {searched.toLocaleString('en')} of{' '}
        {of.toLocaleString('en')} episodes ({bytesText(bytes)} read)
        {isWaiting && ' …'}
      </span>
      <button type="button" disabled={offset === 0} onClick={() => turn(0)}>
        from the start
      </button>
      <button type="button" disabled={next === null} onClick={() => turn(next ?? 0)}>
        search on →
      </button>
    </div>
  );
}
