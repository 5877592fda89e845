import { basesOf, basisHash } from './basis-hash.ts';

/** Part of a page that holds measured figures, with the comment that says what they rest on. */
export interface Figures {
  /** Number of its first line, from 1. */
  line: number;
  kind: 'table' | 'text';
  /** The comment directly above a table, or the nearest in the section of a text, without its marks; undefined without one. */
  basis: string | undefined;
  /** Whether a table shows success, as `90.5 % [82.9, 96.8]`: then a commit and a machine are not enough. */
  success: boolean;
}

interface Block {
  line: number;
  text: string;
}

const blank = (text: string): string => text.replaceAll(/[^\n]/g, '');

/** Blocks that blank lines part. Of fenced code only commands are kept, whose comments tell of minutes. */
function blocksOf(page: string): Block[] {
  const prose = page.replaceAll(/^```(\w*)\n[\s\S]*?^```$/gm, (fenced, language) =>
    language === 'sh' ? fenced.replaceAll('```', '') : blank(fenced),
  );
  const blocks: Block[] = [];
  let line = 1;
  for (const text of prose.split(/(\n{2,})/)) {
    const before = text.match(/^\n*/)?.[0].length ?? 0;
    if (text.trim() !== '') blocks.push({ line: line + before, text: text.trim() });
    line += text.split('\n').length - 1;
  }
  return blocks;
}

const basisOf = ({ text }: Block): string | undefined =>
  /^<!-- ((?:rests on|measured at|not measured): [\s\S]+|measured at [\s\S]+) -->$/
    .exec(text)?.[1]
    ?.replaceAll(/\s+/g, ' ');

/** What only a measurement gives: shares, intervals, amounts of seconds and memory, and cells that begin with a fraction. */
const measured =
  /\d ?%|[[(][-+]?\d[\d.,]* ?(?:,|to) ?[-+]?\d|\|\s*[*<+-]*\d+[.,]\d|\de-\d|\b\d[\d,]* (?:s|ms|min|minutes|GB|MB|MiB|GiB|x|nats|points)\b/;
/** In running text, which also names bounds and settings, only success and the cost of jobs count. */
const measuredText = /\d ?%|(?:\d|two|three|four|five|six|seven|eight|nine|ten) minutes/;
/** How wide an interval is, not what was measured. */
const width = /95 % (?=intervals?\b|by |over )/g;
/** A unit in the head of a table stands for its cells. */
const unit = /%|tokens\/s|\b(?:s|ms|GB|MB)\b/;

const withoutCode = (text: string): string =>
  text.replaceAll(/`[^`]*`/g, '').replaceAll(/\]\([^)]*\)/g, ']');

function isMeasured(kind: Figures['kind'], text: string): boolean {
  if (kind === 'text') return measuredText.test(withoutCode(text).replaceAll(width, ''));
  const [head = '', , ...rows] = withoutCode(text).split('\n');
  const cells = rows.join('\n');
  return measured.test(cells) || (unit.test(head) && /\| *\d/.test(cells));
}

const kindOf = ({ text }: Block): Figures['kind'] | undefined => {
  if (text.startsWith('|')) return 'table';
  return /^(?:#|<!--)/.test(text) ? undefined : 'text';
};

/** The parts of a page that hold measured figures. */
export function readFigures(page: string): Figures[] {
  const blocks = blocksOf(page);
  return blocks.flatMap((block, index) => {
    const kind = kindOf(block);
    if (kind === undefined || !isMeasured(kind, block.text)) return [];
    const above = blocks.slice(0, index);
    const heading = above.findLastIndex(({ text }) => text.startsWith('#'));
    const length = blocks.slice(index).findIndex(({ text }) => text.startsWith('#'));
    const section = [
      ...above.slice(heading + 1).toReversed(),
      ...blocks.slice(index, length < 0 ? undefined : index + length),
    ];
    const places = kind === 'table' ? above.slice(-1) : section;
    const basis = places.map(basisOf).find((found) => found !== undefined);
    const success = kind === 'table' && /% ?\**\s*\[\d/.test(block.text);
    return [{ line: block.line, kind, basis, success }];
  });
}

const named = /^(\S+?)(?:@([0-9a-f]{8}))?$/;

/** Why figures cannot be trusted, a sentence each; none where they rest on what ships. */
export function problemsOf({ basis, success }: Pick<Figures, 'basis' | 'success'>): string[] {
  if (basis === undefined) return ['does not name the files that it rests on'];
  if (success && !basis.startsWith('rests on: ')) {
    return ['shows success but does not name the run file, starter and tasks that it rests on'];
  }
  if (/^not measured: .{10,}/.test(basis)) return [];
  if (/^measured at [0-9a-f]{8}: .{5,}/.test(basis)) return [];
  const [, list] = /^rests on: (.+)$/.exec(basis) ?? [];
  if (list === undefined) return [`"${basis}" is not in one of the three allowed forms`];
  const entries = list.split(' ').map((entry) => named.exec(entry) ?? [entry, entry]);
  const names = entries.map(([, name = '']) => name);
  const missing = names
    .filter((name) => name.endsWith('.yaml'))
    .flatMap((file) => basesOf(file).filter((base) => !names.includes(base)))
    .map((base) => `does not name ${base}, which its run file uses`);
  const changed = entries.flatMap(([, name = '', hash]) =>
    hash === basisHash(name) ? [] : `${name} is ${basisHash(name)} now, not ${hash}`,
  );
  return [...new Set([...missing, ...changed])];
}

/** A basis with the hashes of today, completed by what its run files name. */
export function withHashes(basis: string): string {
  const [, list] = /^rests on: (.+)$/.exec(basis) ?? [];
  if (list === undefined) return basis;
  const names = list.split(' ').map((entry) => named.exec(entry)?.[1] ?? entry);
  const all = names.flatMap((name) =>
    name.endsWith('.yaml') ? [name].concat(basesOf(name)) : name,
  );
  return `rests on: ${[...new Set(all)].map((name) => `${name}@${basisHash(name)}`).join(' ')}`;
}
