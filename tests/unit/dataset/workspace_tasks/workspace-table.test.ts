import { describe, expect, test } from '@jest/globals';

import { KeyedRng } from '#agent_rl/core/keyed-rng.ts';
import { follow, misreadings, type TableStep } from '#dataset/workspace_tasks/generator/step.ts';
import {
  largestCode,
  makeTable,
  type Table,
  type TableForm,
  tableText,
  totalCode,
} from '#dataset/workspace_tasks/generator/table.ts';

const rows = [
  { thing: 'Tam', number: 125, other: 30 },
  { thing: 'Vel', number: 990, other: 10 },
  { thing: 'Tam', number: 5, other: 999 },
];

const table = (form: Partial<TableForm>, given: Partial<Table> = {}): Table => ({
  ...makeTable(
    { layout: 'comma', header: true, decimals: 'point', ...form },
    ['mov', 'kel', 'jat', 'zib', 'vex'],
    rows,
    new KeyedRng(1),
  ),
  columns: ['kel', 'jat'],
  quoted: false,
  ...given,
});

describe('A table', () => {
  test.each<[Partial<TableForm>, Partial<Table>, string]>([
    [{}, {}, 'kel,jat\nTam,12.5\nVel,99.0\nTam,0.5\n'],
    [{ layout: 'semicolon', header: false }, {}, 'Tam;12.5\nVel;99.0\nTam;0.5\n'],
    [{ decimals: 'comma' }, {}, 'kel,jat\nTam,"12,5"\nVel,"99,0"\nTam,"0,5"\n'],
    [{ layout: 'bar' }, { quoted: true }, '"kel"|"jat"\n"Tam"|"12.5"\n"Vel"|"99.0"\n"Tam"|"0.5"\n'],
    [{ layout: 'spaces', header: false }, {}, 'Tam   12.5\nVel   99.0\nTam   0.5\n'],
    [
      { layout: 'list' },
      {},
      '[{"kel": "Tam", "jat": 12.5}, {"kel": "Vel", "jat": 99}, {"kel": "Tam", "jat": 0.5}]',
    ],
    [
      { layout: 'nested', decimals: 'comma' },
      {},
      '{"vex": [{"kel": "Tam", "jat": "12,5"}, {"kel": "Vel", "jat": "99,0"}, {"kel": "Tam", "jat": "0,5"}]}',
    ],
  ])('is written in the form %j with %j', (form, given, text) => {
    expect(tableText(table(form, given))).toBe(text);
  });

  test('has a second column of numbers if it has a header', () => {
    const rng = new KeyedRng(1);
    const names = ['mov', 'kel', 'jat', 'zib', 'vex'] as const;
    const made = (header: boolean) =>
      makeTable({ layout: 'tab', header, decimals: 'point' }, names, rows, rng).columns;
    expect([...made(true)].toSorted()).toEqual(['jat', 'kel', 'zib']);
    expect([...made(false)].toSorted()).toEqual(['jat', 'kel']);
  });

  test('is read by a program of its form', () => {
    const plain = table({});
    expect(largestCode(plain, plain.form)).toBe(
      "max(csv.DictReader(open('mov.csv')), key=lambda r: float(r['jat']))['kel']",
    );
    const bare = table({ layout: 'tab', header: false, decimals: 'comma' });
    expect(totalCode(bare, bare.form, 'Tam')).toBe(
      String.raw`round(sum(float(r[1].replace(',', '.')) for r in csv.reader(open('mov.csv'), delimiter='\t') if r[0] == 'Tam'), 1)`,
    );
  });

  test('leads to its largest thing and to the sum of a thing, and misreadings lead elsewhere', () => {
    const largest: TableStep = { kind: 'largest', table: table({}) };
    expect(follow('', largest)).toBe('Vel');
    // The largest of the other column, the smallest, the first row, the last.
    expect(misreadings(largest, '')).toEqual(['Tam', 'Tam', 'Tam', 'Tam']);
    const total: TableStep = { kind: 'total', table: table({}) };
    expect(follow('Tam', total)).toBe('13.0');
    // The other column, all rows, single rows, no number at all, the other thing.
    expect(misreadings(total, 'Tam').join(' ')).toBe('102.9 112.0 12.5 0.5 Tam Vel 99.0');
  });
});
