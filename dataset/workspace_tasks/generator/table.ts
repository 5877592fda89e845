import type { KeyedRng } from '../../../agent_rl/core/keyed-rng.ts';

/** How the lines or records of a file are laid out. */
export const layouts = ['comma', 'semicolon', 'tab', 'bar', 'spaces', 'list', 'nested'] as const;
export type Layout = (typeof layouts)[number];

/** How a table is written. The prompt says none of it. */
export interface TableForm {
  layout: Layout;
  /** Whether the first line names the columns. Records always name them. */
  header: boolean;
  /** The decimal sign of its numbers. */
  decimals: 'point' | 'comma';
}

/** A number for each of some things, in a file. */
export interface Table {
  /** Without its ending. */
  file: string;
  /** What its columns are called. */
  thing: string;
  number: string;
  /** A second number, in tables that name their columns. */
  other?: string | undefined;
  /** The key that a nested table is under. */
  key: string;
  form: TableForm;
  /** Names of the columns, in the order of the file. */
  columns: readonly string[];
  quoted: boolean;
  rows: readonly TableRow[];
}

/** Numbers in tenths. */
export interface TableRow {
  thing: string;
  number: number;
  other: number;
}

const separators: Readonly<Partial<Record<Layout, string>>> = {
  comma: ',',
  semicolon: ';',
  tab: '\t',
  bar: '|',
  spaces: '   ',
};

const isJson = ({ layout }: TableForm): boolean => separators[layout] === undefined;

export const tableFormName = ({ layout, header, decimals }: TableForm): string =>
  [layout, ...(header ? [] : ['bare']), ...(decimals === 'point' ? [] : ['decimal-comma'])].join(
    '-',
  );

const forms = layouts
  .flatMap((layout) =>
    [true, false].flatMap((header) =>
      (['point', 'comma'] as const).map((decimals): TableForm => ({ layout, header, decimals })),
    ),
  )
  .filter((form) => form.header || !isJson(form));

/** Ways to write a layout that training never shows: header and point, header and comma, bare and point, bare and comma. */
const unseenVariants: Readonly<Record<Layout, readonly number[]>> = {
  comma: [1, 2],
  semicolon: [0, 3],
  tab: [1, 2],
  bar: [3],
  spaces: [1],
  list: [],
  nested: [1],
};

const isUnseen = ({ layout, header, decimals }: TableForm): boolean =>
  unseenVariants[layout].includes((header ? 0 : 2) + (decimals === 'point' ? 0 : 1));

/** Shown in training: every layout, every way to write it, with and without names of columns. */
export const trainedTableForms: readonly TableForm[] = forms.filter((form) => !isUnseen(form));

/** Never shown in training: each part of them is, with others. */
export const unseenTableForms: readonly TableForm[] = forms.filter(isUnseen);

export const fileName = ({ file, form }: Pick<Table, 'file' | 'form'>): string =>
  `${file}.${isJson(form) ? 'json' : 'csv'}`;

/** Tenths as a program prints them. */
export const decimal = (tenths: number): string => (tenths / 10).toFixed(1);

/** A table of these rows. Its columns, and whether its texts are quoted, are drawn. */
export function makeTable(
  form: TableForm,
  [file, thing, number, other, key]: readonly [string, string, string, string, string],
  rows: readonly TableRow[],
  rng: KeyedRng,
): Table {
  const named = form.header;
  const columns = rng.child('columns').shuffle(named ? [thing, number, other] : [thing, number]);
  const quoted = rng.child('quoted').uniform() < 0.5;
  return {
    file,
    thing,
    number,
    other: named ? other : undefined,
    key,
    form,
    columns,
    quoted,
    rows,
  };
}

/** The text of the file. */
export function tableText(table: Table): string {
  const { form, columns, key } = table;
  const records = table.rows.map((row) =>
    columns.map((column): [string, string | number] => [column, cell(table, column, row)]),
  );
  if (isJson(form)) {
    const objects = records.map((record) => `{${record.map(jsonField).join(', ')}}`);
    const list = `[${objects.join(', ')}]`;
    return form.layout === 'nested' ? `{"${key}": ${list}}` : list;
  }
  const separator = separators[form.layout] ?? '';
  const lines = records.map((record) => record.map(([, value]) => textField(table, value)));
  const names = columns.map((column) => (table.quoted ? `"${column}"` : column));
  return [...(form.header ? [names] : []), ...lines]
    .map((fields) => `${fields.join(separator)}\n`)
    .join('');
}

function cell({ thing, number, form }: Table, column: string, row: TableRow): string | number {
  if (column === thing) return row.thing;
  const tenths = column === number ? row.number : row.other;
  if (form.decimals === 'comma') return decimal(tenths).replace('.', ',');
  return isJson(form) ? tenths / 10 : decimal(tenths);
}

const jsonField = ([name, value]: [string, string | number]): string =>
  `"${name}": ${JSON.stringify(value)}`;

function textField({ quoted, form }: Table, value: string | number): string {
  const text = String(value);
  return quoted || (form.layout === 'comma' && text.includes(',')) ? `"${text}"` : text;
}

/** Characters of a file that are enough to see how it is written. */
const glance = 40;

/** Python that shows how a file begins. */
export const look = (table: Table): string => `open('${fileName(table)}').read(${glance})`;

/** Python for the rows of a table, as one who takes it to have a form would write it. */
function rowsCode(table: Table, form: TableForm): string {
  const opened = `open('${fileName(table)}')`;
  if (form.layout === 'list') return `json.load(${opened})`;
  if (form.layout === 'nested') return `json.load(${opened})['${table.key}']`;
  const how: Readonly<Partial<Record<Layout, string>>> = {
    semicolon: ", delimiter=';'",
    tab: String.raw`, delimiter='\t'`,
    bar: ", delimiter='|'",
    spaces: ", delimiter=' ', skipinitialspace=True",
  };
  return `csv.${form.header ? 'DictReader' : 'reader'}(${opened}${how[form.layout] ?? ''})`;
}

/** Python that picks a column of a row: by its name, or by its place where no line names the columns. */
const pick = ({ columns }: Table, { header }: TableForm, column: string): string =>
  header ? `['${column}']` : `[${columns.indexOf(column)}]`;

const numberCode = (table: Table, form: TableForm): string => {
  const read = `r${pick(table, form, table.number)}`;
  return form.decimals === 'point' ? `float(${read})` : `float(${read}.replace(',', '.'))`;
};

/** Python for the thing with the largest number. */
export const largestCode = (table: Table, form: TableForm): string =>
  `max(${rowsCode(table, form)}, key=lambda r: ${numberCode(table, form)})${pick(table, form, table.thing)}`;

/** Python for the sum of a thing's numbers. */
export const totalCode = (table: Table, form: TableForm, thing: string): string =>
  `round(sum(${numberCode(table, form)} for r in ${rowsCode(table, form)} if r${pick(table, form, table.thing)} == '${thing}'), 1)`;
