import { describe, expect, test } from '@jest/globals';

import { csvRecords } from '#dataset/tables/csv.ts';
import * as fc from '#tests/support/properties.ts';

const read = (text: string, delimiter = ',') => [...csvRecords(text, delimiter)];

describe('csvRecords', () => {
  test('reads delimiters, line ends and doubled quotes inside quotes', () => {
    expect(read('q,a\n"Who, then?\nSay ""who"".",me\r\nx,\n')).toEqual([
      { line: 1, cells: ['q', 'a'] },
      { line: 2, cells: ['Who, then?\nSay "who".', 'me'] },
      { line: 4, cells: ['x', ''] },
    ]);
  });

  test('keeps a quote inside a plain cell, and skips blank lines', () => {
    expect(read('5" pipe,1\n\n\nlast,2')).toEqual([
      { line: 1, cells: ['5" pipe', '1'] },
      { line: 4, cells: ['last', '2'] },
    ]);
  });

  test('reports a quote that is not closed, and text after one', () => {
    expect(read('a,b\n"x"y,z\nc,d\n"e')).toEqual([
      { line: 1, cells: ['a', 'b'] },
      { line: 2, text: expect.stringContaining('text after a closing quote') },
      { line: 3, cells: ['c', 'd'] },
      { line: 4, text: 'has a quote that is never closed.' },
    ]);
  });

  test('reads any cells back as they were written, whatever ends the lines', () => {
    const rows = fc.array(fc.array(fc.string(), { minLength: 2, maxLength: 4 }));
    fc.assert(
      fc.property(
        rows,
        fc.constantFrom('\n', '\r\n'),
        fc.constantFrom(',', '\t'),
        (cells, end, by) => {
          const quoted = (cell: string): string => `"${cell.replaceAll('"', '""')}"`;
          const text = cells.map((row) => row.map(quoted).join(by) + end).join('');
          expect(read(text, by).map((one) => ('cells' in one ? one.cells : one.text))).toEqual(
            cells,
          );
        },
      ),
    );
  });
});
