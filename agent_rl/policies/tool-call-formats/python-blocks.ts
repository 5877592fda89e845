import type { Stretch } from './read-turn.ts';

export const fence = '```';

export interface PythonBlock extends Stretch {
  /** Undefined when it is not closed. */
  code: string | undefined;
  /** What opens it, three marks or more. */
  mark: string;
}

interface OpenBlock {
  start: number;
  mark: string;
  /** Columns before the fence, which its lines are freed of. */
  indent: number;
  python: boolean;
  lines: string[];
}

/** What a fence may stand behind: white space, and marks of items of lists that begin on its line. */
const before = String.raw`(?<before>[ \t]*(?:(?:[-*+]|\d{1,9}[.)])[ \t]+)*)`;
const opening = new RegExp(
  `^${before}(?<mark>\`{3,}(?=[^\`]*$)|~{3,})[ \\t]*(?<language>[\\w+.-]*)`,
);
const closing = /^(?<before>[ \t]*)(?<mark>`{3,}|~{3,})[ \t]*$/;
const pythonName = /^py(?:thon)?[\d.]*$/i;

/** Blocks of Python, in order. A fence inside a block of another language opens nothing. */
export function pythonBlocks(text: string): readonly PythonBlock[] {
  const blocks: PythonBlock[] = [];
  let open: OpenBlock | undefined;
  for (const { 1: line = '', index: at } of text.matchAll(/([^\r\n]*)(?:\r\n|\r|\n|$)/g)) {
    if (open === undefined) open = openedBy(line, at);
    else if (closes(line, open)) {
      const { start, mark, lines, python } = open;
      if (python) blocks.push({ start, end: at + line.length, code: lines.join('\n'), mark });
      open = undefined;
    } else open.lines.push(withoutIndent(line, open.indent));
  }
  if (open?.python === true) {
    const { start, mark } = open;
    blocks.push({ start, end: text.length, code: undefined, mark });
  }
  return blocks;
}

function openedBy(line: string, at: number): OpenBlock | undefined {
  const groups = opening.exec(line)?.groups;
  if (groups === undefined) return undefined;
  const { before: lead = '', mark = '', language = '' } = groups;
  const start = at + lead.length;
  return { start, mark, indent: columnsOf(lead), python: pythonName.test(language), lines: [] };
}

/** As long a fence of the same marks, and not so far to the right that it is a line of code. */
function closes(line: string, { mark, indent }: OpenBlock): boolean {
  const found = closing.exec(line)?.groups;
  return (
    found?.['mark']?.startsWith(mark) === true && columnsOf(found['before'] ?? '') < indent + 4
  );
}

const columnsAfter = (columns: number, character: string): number =>
  character === '\t' ? columns + 4 - (columns % 4) : columns + 1;

const columnsOf = (text: string): number => text.split('').reduce(columnsAfter, 0);

/** A line without white space in its first columns; of a tab that reaches further, spaces stay. */
function withoutIndent(line: string, indent: number): string {
  let [columns, at] = [0, 0];
  for (; columns < indent && (line[at] === ' ' || line[at] === '\t'); at += 1)
    columns = columnsAfter(columns, line[at] ?? '');
  return ' '.repeat(Math.max(0, columns - indent)) + line.slice(at);
}
