import { isUtf8 } from 'node:buffer';
import { readFile } from 'node:fs/promises';

import { XMLParser, XMLValidator } from 'fast-xml-parser';

import { showValue } from '../../../agent_rl/core/show-value.ts';
import { isRecord } from '../../../agent_rl/core/is-record.ts';
import { messageOf } from '../../../agent_rl/core/errors.ts';
import { unreadable } from '../../tables/json-lines.ts';
import { drop, problem, type SourceItem } from '../source-record.ts';

type Element = Readonly<Record<string | symbol, unknown>>;

/** MedQuAD is written in three dialects: `<Document>`, `<DiseaseFile>` and `<doc corpus>` with `<pair>`. */
const names: Readonly<Record<string, string>> = {
  doc: 'Document',
  diseasefile: 'Document',
  'doctitle-focus': 'Focus',
  qapairs: 'QAPairs',
  pair: 'QAPair',
  question: 'Question',
  answer: 'Answer',
  '@corpus': '@source',
};

const parser = (): XMLParser =>
  new XMLParser({
    ignoreAttributes: false,
    attributeNamePrefix: '@',
    parseTagValue: false,
    parseAttributeValue: false,
    htmlEntities: true,
    captureMetaData: true,
    isArray: (name) => name === 'QAPair',
    transformTagName: (name) => names[name.toLowerCase()] ?? name,
    transformAttributeName: (name) => names[name.toLowerCase()] ?? name,
  });

/**
 * The records of one MedQuAD file (Ben Abacha and Demner-Fushman 2019, https://arxiv.org/abs/1901.08079): one
 * for every pair of question and answer, all about the page that the file names. The document's text is made
 * of the answers, which were cut from the page; the questions are not part of it.
 *
 * @param fetched The page itself will be fetched.
 * @yields Records, pairs without an answer as dropped, and what is not MedQuAD as problems.
 * @throws AgentRlError `DATASET_INVALID` when the file cannot be read.
 */
export async function* readMedquadXml(
  file: string,
  { fetched }: { fetched: boolean },
): AsyncGenerator<SourceItem> {
  const bytes = await readFile(file).catch((cause: unknown) => {
    throw unreadable(file, cause, 'Give a file of MedQuAD.');
  });
  yield* isUtf8(bytes)
    ? itemsOf(new TextDecoder().decode(bytes), { file, fetched })
    : [problem(`${file}:1`, 'is not UTF-8; save the file as UTF-8.')];
}

function itemsOf(
  xml: string,
  { file, fetched }: { file: string; fetched: boolean },
): readonly SourceItem[] {
  const checked = XMLValidator.validate(xml);
  if (checked !== true) {
    const { line, msg } = checked.err;
    return [problem(`${file}:${line}`, `is not XML: ${msg}`)];
  }
  const lineOf = lineFinder(xml);
  let root: unknown;
  try {
    root = (parser().parse(xml) as Element)['Document'];
  } catch (error) {
    // The parser refuses well-formed XML too: external, too many or too long entities.
    const line = xml.slice(0, Math.max(0, xml.indexOf('<!DOCTYPE'))).split('\n').length;
    return [problem(`${file}:${line}`, `cannot be read: ${messageOf(error)}`)];
  }
  const wrong = (element: unknown, text: string) => problem(`${file}:${lineOf(element)}`, text);
  if (!isElement(root)) return [wrong(root, 'has no <Document>; expected a MedQuAD file.')];
  const url = textOf(root['@url']);
  if (url === '') return [wrong(root, '<Document> has no url; expected the address of its page.')];
  const list = isElement(root['QAPairs']) ? root['QAPairs']['QAPair'] : undefined;
  const pairs: readonly unknown[] = Array.isArray(list) ? list : [];
  const where = `${file}:${lineOf(root)}`;
  if (pairs.length === 0) return [drop(where, 'no-pairs', url)];
  return pairs.map((pair) =>
    isElement(pair)
      ? recordOfPair(pair, { root, url, where: `${file}:${lineOf(pair)}`, fetched })
      : wrong(root, `has a <QAPair> that is ${showValue(pair)}; expected Question and Answer.`),
  );
}

interface PairContext {
  root: Element;
  url: string;
  where: string;
  fetched: boolean;
}

function recordOfPair(pair: Element, { root, url, where, fetched }: PairContext): SourceItem {
  const question = pair['Question'];
  const attributes = isElement(question) ? question : {};
  const asked = textOf(isElement(question) ? question['#text'] : question);
  const answer = textOf(isElement(pair['Answer']) ? pair['Answer']['#text'] : pair['Answer']);
  if (asked === '') return drop(where, 'no-question', url);
  if (answer === '') return drop(where, 'no-answer', asked);
  const title = textOf(root['Focus']);
  return {
    record: {
      where,
      documents: [{ url, title, text: fetched ? '' : answer }],
      question: {
        id: textOf(attributes['@qid']),
        text: asked,
        answer,
        aliases: [],
        relevant: [0],
        metadata: {
          document_source: textOf(root['@source']),
          question_type: textOf(attributes['@qtype']),
          question_focus: title,
        },
      },
    },
  };
}

const isElement = (value: unknown): value is Element => isRecord(value);

const textOf = (value: unknown): string => (typeof value === 'string' ? value.trim() : '');

/** The line an element begins on, from the parser's notes; 1 without notes. */
function lineFinder(xml: string): (element: unknown) => number {
  const noted = XMLParser.getMetaDataSymbol() as unknown as symbol;
  return (element) => {
    const start = isElement(element)
      ? (element[noted] as { startIndex?: number } | undefined)?.startIndex
      : undefined;
    return start === undefined ? 1 : xml.slice(0, start).split('\n').length;
  };
}
