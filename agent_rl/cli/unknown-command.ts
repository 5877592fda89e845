import { nearestName } from '../config/checks/nearest-name.ts';
import { alone, type CommandGroup, linesOf, wordOf } from './command.ts';
import { commands } from './commands.ts';

/** Commands have short names, and many words are near to one: only a slip is taken for it. */
const slip = 0.25;
/** Shorter beginnings say too little. */
const leastLetters = 3;

const lastOf = (line: string): string => line.slice(line.lastIndexOf(' ') + 1);

const begins = (whole: string, part: string): boolean =>
  part.length >= leastLetters && whole.startsWith(part);

/** The one that begins as the word does, `eval` for `evaluate`, or else the one most like it. */
function meant(word: string, lines: readonly string[]): string | undefined {
  const near = lines.filter((line) => begins(word, lastOf(line)) || begins(lastOf(line), word));
  if (near.length === 1) return near[0];
  const name = nearestName(word, lines.map(lastOf), slip);
  return lines.find((line) => lastOf(line) === name);
}

/** Names of before there were groups, where they are not the last word of one of today's alone. */
const renamed = new Map([
  ['export', 'model export'],
  ['prepare-data', 'data prepare'],
  ['verify-dataset', 'data verify'],
]);

/** What to do about a word that names no command, neither of the group nor, without one, of all. */
export function explainCommand(word: string, group?: CommandGroup): string {
  const all = [...new Set([...commands.map(wordOf), ...linesOf(commands).map(([line]) => line)])];
  const moved = renamed.get(word) ?? all.find((line) => line !== word && lastOf(line) === word);
  if (group === undefined && moved !== undefined)
    return `agent-rl ${word} is now called agent-rl ${moved}.`;
  const own = group?.commands.map(wordOf).filter((member) => member !== alone) ?? [];
  const ofGroup = own.map((member) => `${group?.name} ${member}`);
  const guess = meant(word, ofGroup) ?? meant(word, all);
  const hint = guess === undefined ? '' : ` Did you mean ${guess}?`;
  const choice = group === undefined ? '' : ` The commands of ${group.name} are ${own.join(', ')}.`;
  return `Unknown command ${word}.${hint}${choice}`;
}
