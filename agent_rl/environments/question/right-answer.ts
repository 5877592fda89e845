import {
  acceptedAnswers,
  answerKey,
  answerWords,
  isAnswer,
  mentionsAnswer,
} from '../../core/tasks/answer-match.ts';
import { givenAnswer } from '../../core/tasks/find-number.ts';
import { markedText } from '../../core/tasks/marked-text.ts';
import { answerText, sameAnswer } from '../../core/tasks/maths/same-answer.ts';
import { readLabel } from '../../core/tasks/read-label.ts';
import type { Task } from '../../core/tasks/task.ts';
import type { JudgingSettings } from './settings.ts';

type Comparison = Pick<JudgingSettings, 'match' | 'maxAnswerWords'>;

/**
 * Whether a final message gives an accepted answer; false if only rewards judge, and `undefined` if its number cannot
 * be read or compared.
 */
export function isRight(
  said: string,
  accepted: readonly string[],
  { match, maxAnswerWords }: Comparison,
): boolean | undefined {
  if (match === 'rewards') return false;
  if (match === 'number') return comparedNumber(said, accepted);
  if (match === 'contains')
    return answerWords(said).length <= maxAnswerWords && mentionsAnswer(said, accepted);
  const given = markedText(said) ?? said;
  const sameSigns = accepted.filter((answer) => signsOf(answer) === signsOf(given));
  return isAnswer(given, sameSigns);
}

/**
 * Whether the number or expression of a final message is an accepted one; `undefined` if it cannot be read or compared.
 */
function comparedNumber(said: string, accepted: readonly string[]): boolean | undefined {
  const given = givenAnswer(said);
  if (given === undefined) return false;
  if (given === 'undecided') return undefined;
  const found = new Set(
    accepted.map((answer) => {
      const expected = readLabel(answer);
      return expected && sameAnswer(given, expected);
    }),
  );
  return found.has(true) || (found.has(undefined) ? undefined : false);
}

/** The answer of a final message in a canonical form; `undefined` without an answer. */
export function keyOfAnswer(said: string, match: JudgingSettings['match']): string | undefined {
  if (match === 'number') {
    const given = givenAnswer(said);
    return given === undefined || given === 'undecided' ? undefined : answerText(given);
  }
  const given = match === 'contains' ? said : (markedText(said) ?? said);
  const key = answerKey(given);
  if (key === '') return undefined;
  return match === 'whole' ? `${key} ${signsOf(given)}`.trim() : key;
}

const before = String.raw`(?:\p{N}|[)}\]]|(?<![\p{L}\p{N}])\p{L})\s*`;
const behind = String.raw`\s*(?:[\p{N}({[\\-]|\p{L}(?![\p{L}\p{N}]))`;
const signs = new RegExp(
  [
    String.raw`[±∓√∛∜≤≥≠]|(?<=\p{N})!(?!=)|\^[\s({]*-?`,
    `(?=[+*×·÷<>!])(?<=${before})(?:[+*×·÷]|[<>]=?|!=)(?=${behind})`,
  ].join('|'),
  'gu',
);
const alike: Readonly<Record<string, string>> = {
  '<=': '≤',
  '>=': '≥',
  '!=': '≠',
  '×': '*',
  '·': '*',
};

/** The mathematical signs in a text, which its words omit: `x + 1` and `x - 1` differ in them. */
function signsOf(text: string): string {
  const found = text.normalize('NFKC').replaceAll('−', '-').matchAll(signs);
  return [...found].map(([sign]) => alike[sign] ?? sign.replaceAll(/[\s({]/g, '')).join('');
}

/** The reason why no final message could be right, or `undefined`. */
export function answerProblem(
  task: Task,
  { match }: Pick<Comparison, 'match'>,
): string | undefined {
  if (match === 'rewards') return undefined;
  const accepted = acceptedAnswers(task);
  if (accepted.length === 0)
    return 'it has no answer. Name the column that holds the answer, as in datasets[].columns: {answer: solution}, or set environment.match to rewards.';
  for (const answer of accepted) {
    const shown = JSON.stringify(answer.slice(-80));
    if (match === 'number' && readLabel(answer) === undefined)
      return `its answer ${shown} is not a single number or expression that can be compared. Extract it with datasets[].answerPattern, or set environment.match to whole.`;
    if (match !== 'number' && answerKey(answer) === '')
      return `its answer ${shown} has no letter or digit to compare.`;
    if (match !== 'number' && answer.includes('####'))
      return `its answer ${shown} is a worked solution. Extract the answer with datasets[].answerPattern: '#### (.+)', or set environment.match to number.`;
  }
  return undefined;
}
