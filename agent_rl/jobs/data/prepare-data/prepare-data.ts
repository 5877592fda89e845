import { AgentRlError } from '../../../core/errors.ts';
import type { SearchDocument } from '../../../core/services/search.ts';
import { crawlPages } from '../../../search/crawl/index.ts';
import { Collection, type PreparedQuestion } from '../../../../dataset/prepare/collection.ts';
import { canonicalUrl } from '../../../../dataset/prepare/document-id.ts';
import { fetchHubDataset } from '../../../../dataset/prepare/hub-dataset.ts';
import { chunkDocuments } from '../../../../dataset/prepare/passages/chunks.ts';
import { tokenCounter } from '../../../../dataset/prepare/passages/token-counter.ts';
import {
  detectFormat,
  readSource,
  type SourceFormat,
} from '../../../../dataset/prepare/readers/read-source.ts';
import { findSource } from '../../../../dataset/prepare/readers/source-files.ts';
import type { Dropped, SourceProblem } from '../../../../dataset/prepare/source-record.ts';
import { withAllHolders } from '../../../../dataset/prepare/split/all-holders.ts';
import { splitQuestions } from '../../../../dataset/prepare/split/split-questions.ts';
import type { PrepareDataOptions } from './prepare-data-options.ts';
import { type PrepareDataReport, reportOf, reportText } from './report.ts';
import { checkOutputFolder, writeOutputs } from './write-outputs.ts';
import { append } from '../../../core/long-lists.ts';

/**
 * Makes documents, passages and questions with a split out of a source, and a report of what was left out.
 *
 * @throws AgentRlError `CONFIG_INVALID`, `DATASET_INVALID`, `SOURCE_UNAVAILABLE`, `TOKENIZER_INVALID`,
 *   `OUTPUT_UNWRITABLE`, `INTERRUPTED`
 */
export async function prepareData(options: PrepareDataOptions): Promise<PrepareDataReport> {
  const { source, outputDir, columns, print, signal } = options;
  checkOutputFolder(outputDir, options.overwrite);
  const tokens = await tokenCounter(options.tokenizer);
  const files = await filesOf(options);
  const format = options.format ?? (await detectFormat(files, columns));
  checkFormat(format, options);
  print(`${source}: ${files.length} files, read as ${format}.`);

  const { collection, dropped, records } = await collect(files, format, options);
  const crawled = await pagesOf(collection, options);
  append(dropped, crawled.dropped);
  const documents = crawled.documents.map(withoutPlace);
  const questions = answerable(collection.questions(), documents, dropped);
  if (documents.length === 0) throw nothingLeft(source, dropped);

  signal.throwIfAborted();
  const chunked = chunkDocuments(documents, {
    ...options,
    tokens,
    overlapTokens: options.chunkOverlap,
  });
  const complete = withAllHolders(questions, documents, chunked);
  const split = splitQuestions(complete, chunked, options);
  const report = reportOf({
    options,
    format,
    files: files.length,
    records,
    documents: documents.length,
    dropped,
    chunked,
    split,
    ...(crawled.counts === undefined ? {} : { crawl: crawled.counts }),
  });
  writeOutputs(outputDir, { documents, chunks: chunked.chunks, ...split, dropped, report });
  print(`${reportText(report)}\nwritten to  ${outputDir}`);
  return report;
}

async function filesOf(options: PrepareDataOptions): Promise<readonly string[]> {
  const { hub, cacheDir, signal, print } = options;
  const found = findSource(options.source);
  if (found.kind === 'files') return found.files;
  print(`${found.dataset} is a dataset at ${hub.hubUrl}, revision ${hub.revision}.`);
  return fetchHubDataset(found.dataset, {
    ...hub,
    cacheDir,
    signal,
    print,
    accessToken: process.env['HF_TOKEN'] || undefined,
  });
}

function checkFormat(format: SourceFormat, { crawl, columns }: PrepareDataOptions): void {
  const problem =
    format === 'urls' && crawl === undefined
      ? 'A list of URLs does not contain the texts of the pages. Fetch the texts with --crawl --contact MAIL.'
      : format === 'hotpotqa' && crawl !== undefined
        ? 'HotpotQA contains its texts and no URLs. Remove --crawl.'
        : format === 'records' && Object.keys(columns).length === 0
          ? 'The format of the table is not known. Name its columns, as in --column question=query --column answer=reply --column text=body.'
          : undefined;
  if (problem !== undefined) throw new AgentRlError('CONFIG_INVALID', problem);
}

async function collect(
  files: readonly string[],
  format: SourceFormat,
  options: PrepareDataOptions,
) {
  const { columns, crawl, maxRecords = Infinity, skipInvalid, signal } = options;
  const collection = new Collection();
  const dropped: Dropped[] = [];
  const problems: SourceProblem[] = [];
  let records = 0;
  for await (const item of readSource(files, { format, columns, fetched: crawl !== undefined })) {
    signal.throwIfAborted();
    records += 1;
    if ('problem' in item) problems.push(item.problem);
    else if ('dropped' in item) dropped.push(item.dropped);
    else if (records > maxRecords) {
      dropped.push({ reason: 'beyond-max-records', where: item.record.where, detail: '' });
    } else {
      const repeated = collection.add(item.record);
      if (repeated !== undefined) dropped.push(repeated);
    }
  }
  if (problems.length > 0 && !skipInvalid) throw invalid(problems);
  for (const { where, text } of problems) {
    dropped.push({ reason: 'unreadable-record', where, detail: text });
  }
  return { collection, dropped, records };
}

const mostShown = 100;

function invalid(problems: readonly SourceProblem[]): AgentRlError {
  const shown = problems.slice(0, mostShown).map(({ where, text }) => `${where}: ${text}`);
  const more = problems.length - shown.length;
  return new AgentRlError(
    'DATASET_INVALID',
    [
      ...shown,
      ...(more > 0 ? [`and ${more} more.`] : []),
      'Fix the source, or skip these records with --skip-invalid.',
    ].join('\n'),
  );
}

const withoutPlace = ({ id, title, text, url }: Located): SearchDocument =>
  url === undefined ? { id, title, text } : { id, title, text, url };

type Located = ReturnType<Collection['documents']>[number];

/** The documents with the texts of their pages, where pages are to be fetched. */
async function pagesOf(collection: Collection, options: PrepareDataOptions) {
  const { crawl, signal, print } = options;
  const documents = collection.documents();
  if (crawl === undefined) return { documents, dropped: [], counts: undefined };
  const targets = documents.flatMap(({ id, url }) =>
    url === undefined || canonicalUrl(url) === undefined ? [] : [{ id, url }],
  );
  const { pages, counts } = await crawlPages(targets, {
    settings: crawl,
    environment: process.env,
    signal,
    print,
  });
  const dropped: Dropped[] = [];
  const kept = documents.flatMap((document) => {
    const where = document.url ?? document.where;
    const page = pages.get(document.id);
    if (page === undefined) {
      dropped.push({ reason: 'bad-url', where: document.where, detail: document.url ?? '' });
      return [];
    }
    if ('failure' in page) {
      const { kind, detail } = page.failure;
      dropped.push({ reason: `page-${kind}`, where, detail });
      return [];
    }
    return [{ ...document, title: document.title || page.title, text: page.text }];
  });
  return { documents: kept, dropped, counts };
}

/** Questions whose documents are all there; the others are added to what is dropped. */
function answerable(
  questions: readonly PreparedQuestion[],
  documents: readonly { id: string }[],
  dropped: Dropped[],
): PreparedQuestion[] {
  const ids = new Set(documents.map(({ id }) => id));
  return questions.filter((question) => {
    const kept = question.documents.every((id) => ids.has(id));
    if (!kept) {
      const { where, question: detail } = question;
      dropped.push({ reason: 'document-dropped', where, detail });
    }
    return kept;
  });
}

function nothingLeft(source: string, dropped: readonly Dropped[]): AgentRlError {
  const [first] = dropped;
  const seen =
    first === undefined
      ? 'The source is empty.'
      : `${dropped.length} records were dropped; the first: ${first.where} ${first.reason} ${first.detail}`;
  return new AgentRlError('DATASET_INVALID', `${source} contains no documents. ${seen}`);
}
