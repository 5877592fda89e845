import { expect, test } from '@jest/globals';

import { projectFile, type SourceFile, sourceFiles } from '../support/source-files.ts';

/*
 * The English of sources, tests and documents is plain. Phrases that make a reader stop are refused, with what to write
 * instead; a title of a test names what acts and what it does, on its own or after the title of its group.
 */

const phrases: readonly (readonly [RegExp, string])[] = [
  // Python's `is None` and Jinja's `x is none }}` are allowed.
  [/\b(?:[Ii]s|[Aa]re|[Ww]as|[Ww]ere) none\b(?! *\}\})/, '"does not exist", "no X", "invalid"'],
  [/\bwhat (?:is|are|was) no\b/i, 'the name of the thing: "invalid", "not a number"'],
  [/\bso many\b/i, '"this many", "that number of"'],
  [/\bby turns\b/i, '"alternately"'],
  [/\b(?:no|any|some)body\b(?! *[('"`])/i, 'who: "no process", "any client", "the caller"'],
  [/\bin place of\b/i, '"instead of"'],
  [/\ball the same\b/i, '"still", "anyway"'],
  [/\blast bits\b/i, '"floating-point differences"'],
  [/\bgo(?:es)? over\b/i, '"exceeds", "overrides"'],
  [/\b(?:is|are|was|were) told\b/i, '"receives", "is notified", "is shown"'],
  [/\bof one's own\b/i, '"your own"'],
  [/\bfor ever\b/i, '"forever", "indefinitely"'],
  [/\b(?:aloud|mends?|mended|whoever|thereby)\b/i, '"explicitly", "fix", "anyone who"'],
  [/\bthose of\b/i, 'the noun: "the weights of", "the learner\'s"'],
  [/\bin vain\b/i, '"without success"'],
];

/** Words with which a title goes on from nothing: verbs of several, relative clauses, parts of an enumeration. */
const openings = new Set(
  (
    'about also and answer are as ask because believe but come compute cost cut do draw earn elsewhere else end even find ' +
    'follow forget give go guess have hold keep know learn leave let need nor not of or otherwise play refuse remember ' +
    'say see share show so stand stay take tell than that then were which who whoever whose'
  ).split(' '),
);
/** Words that begin a clause, behind which the subject must come. */
const clauses = new Set(
  'after at before below between by for from if in on over since to under unless when where while with within without'.split(
    ' ',
  ),
);

const folders = 'agent_rl configs dataset docs examples model scripts templates tests'.split(' ');
const endings = '.ts .tsx .js .jsx .mjs .md .py .yml .yaml'.split(' ');
const pages = ['README', 'design', 'AGENTS', 'CHANGELOG', 'CONTRIBUTING'].map(
  (name) => `${name}.md`,
);
const files: readonly SourceFile[] = sourceFiles(folders, endings)
  .filter(
    ({ path }) =>
      // The grammar of random templates has Jinja's tests, such as `x is none`.
      !/\/node_modules\/|^(?:templates|examples)\/.*\/runs\/|^tests\/fixtures\/|plain-words|random-templates/.test(
        path,
      ),
  )
  .concat(pages.map((path) => ({ path, text: projectFile(path) })));

/** A message that models were trained with: it stays as it is. */
const readByModels = 'write {} when there are none';

/** A file with its line breaks, comment marks and seams of strings taken out, so that phrases stay whole. */
const flowing = (text: string): string =>
  text.replace(readByModels, '').replaceAll(/['"`]? *\+?\n\s*(?:\/\/|\*(?!\/)|#|>)? *['"`]?/g, ' ');

function phraseProblems({ path, text: whole }: SourceFile): string[] {
  const text = flowing(whole);
  return phrases.flatMap(([phrase, instead]) =>
    [...text.matchAll(new RegExp(phrase, `g${phrase.flags}`))].map(({ index, 0: found }) => {
      const around = text.slice(Math.max(0, index - 50), index + found.length + 30);
      return `${path}: "${found}" in "${around}"; write ${instead}`;
    }),
  );
}

const titleOf =
  /(?:\b(?:test|it)(?:\.\w+)*\(|\]\)\(|^`\(|\)\)\()\s*(?:'((?:[^'\\]|\\.)+)'|"((?:[^"\\]|\\.)+)"|`((?:[^`\\]|\\.)+)`),/gm;

function titleProblems({ path, text }: SourceFile): string[] {
  return [...text.matchAll(titleOf)].flatMap(([, single, double, template]) => {
    const title = single ?? double ?? template ?? '';
    const first = /^[\w'-]+/.exec(title)?.[0].toLowerCase() ?? '';
    const goesOn = openings.has(first) || (clauses.has(first) && !title.includes(','));
    return goesOn ? [`${path}: "${title}" begins with "${first}"; name what acts`] : [];
  });
}

test('no source, test or document has a phrase that makes its reader stop', () => {
  expect(files.length).toBeGreaterThan(2000);
  expect(files.flatMap(phraseProblems)).toEqual([]);
});

test('every title of a test names what acts and what it does', () => {
  const tests = files.filter(({ path }) => /\.test\.tsx?$/.test(path));
  expect(tests.length).toBeGreaterThan(400);
  expect(tests.flatMap(titleProblems)).toEqual([]);
});
