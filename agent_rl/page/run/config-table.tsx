import { useState } from 'preact/hooks';

import type { ConfigRow } from '../../runs/view/api.ts';
import { Field } from '../shell/field.tsx';
import { formatValue } from '../text/format.ts';
import { Visible } from '../text/plain-text.tsx';
import { Table } from '../shell/table.tsx';
import { escapeUnseen } from '../text/visible-text.ts';

/** The settings with their sources. */
export function ConfigTable({ rows }: { rows: readonly ConfigRow[] }) {
  const [search, setSearch] = useState('');
  const [hasDefaults, setDefaults] = useState(false);
  const defaults = rows.filter(({ source }) => source === 'default').length;
  const shown = rows
    .filter(({ source }) => hasDefaults || source !== 'default')
    .filter(({ path }) => path.toLowerCase().includes(search.toLowerCase()));
  return (
    <section aria-label="Settings">
      <h2>Settings</h2>
      <div class="controls">
        <Field label="Find a setting" value={search} set={setSearch} />
        {defaults > 0 && (
          <label>
            <input
              type="checkbox"
              checked={hasDefaults}
              onChange={() => setDefaults(!hasDefaults)}
            />{' '}
            Show {defaults} defaults
          </label>
        )}
      </div>
      <Table label="Settings" head={['setting', 'value', 'source']} class="config" isLow>
        {shown.map(({ path, value, source, place }) => (
          <tr key={path}>
            <th scope="row">{escapeUnseen(path)}</th>
            <td class="value">
              <Visible text={value === null ? 'not set' : formatValue(value)} />
            </td>
            <td>
              <span class={`from ${source}`}>{source}</span>{' '}
              <span class="place">{escapeUnseen(place ?? '')}</span>
            </td>
          </tr>
        ))}
      </Table>
    </section>
  );
}
