import type { ComponentChildren } from 'preact';

import { escapeUnseen } from '../text/visible-text.ts';
import { Scroll } from './scroll.tsx';

interface TableProps {
  label: string;
  head: readonly string[];
  class?: string;
  /** Scrolls vertically as well, past a height. */
  isLow?: boolean;
  children: ComponentChildren;
}

/** Rows under headings. */
export const Table = ({ label, head, class: name, isLow, children }: TableProps) => (
  <Scroll label={label} isLow={isLow}>
    <table class={name}>
      <thead>
        <tr>
          {head.map((title) => (
            <th key={title} scope="col">
              {title}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>{children}</tbody>
    </table>
  </Scroll>
);

interface FactsProps {
  caption?: string;
  rows: readonly (readonly [name: string, value: ComponentChildren])[];
}

/** Named values, one per row; renders nothing for an empty list. */
export const Facts = ({ caption, rows }: FactsProps) =>
  rows.length === 0 ? null : (
    <table class="numbers">
      {caption !== undefined && <caption>{caption}</caption>}
      <tbody>
        {rows.map(([name, value]) => (
          <tr key={name}>
            <th scope="row">{escapeUnseen(name)}</th>
            <td class="value">{typeof value === 'string' ? escapeUnseen(value) : value}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
