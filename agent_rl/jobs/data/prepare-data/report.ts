import type { CrawlCounts } from '../../../search/crawl/index.ts';
import type { Chunked } from '../../../../dataset/prepare/passages/chunks.ts';
import {
  type Dropped,
  type DropReason,
  dropReasons,
} from '../../../../dataset/prepare/source-record.ts';
import type { SplitQuestions } from '../../../../dataset/prepare/split/split-questions.ts';
import type { PrepareDataOptions } from './prepare-data-options.ts';

/** How many of a reason's cases the report shows; dropped.jsonl has all. */
const mostExamples = 5;

export interface DroppedGroup {
  count: number;
  meaning: string;
  examples: readonly { where: string; detail: string }[];
}

/** What was made of a source, as report.json says it. */
export type PrepareDataReport = ReturnType<typeof reportOf>;

export interface ReportFacts {
  options: PrepareDataOptions;
  format: string;
  files: number;
  records: number;
  documents: number;
  dropped: readonly Dropped[];
  chunked: Chunked;
  split: SplitQuestions;
  crawl?: CrawlCounts;
}

const rounded = (value: number): number => Math.round(value * 1000) / 1000;

export function reportOf(facts: ReportFacts) {
  const { options, chunked, split, crawl } = facts;
  const questions = split.train.length + split.eval.length;
  const { chunkTokens, chunkOverlap, nearDuplicateThreshold, tokenizer, columns } = options;
  return {
    source: options.source,
    format: facts.format,
    files: facts.files,
    records: facts.records,
    documents: facts.documents,
    passages: chunked.passages,
    chunks: chunked.chunks.length,
    questions,
    train: split.train.length,
    eval: split.eval.length,
    dropped: groupDropped(facts.dropped),
    duplicates: {
      // Passages with the same words as an earlier one.
      exactPassages: chunked.exactDuplicates,
      nearPassages: chunked.nearDuplicates,
      // In several documents.
      sharedChunks: chunked.chunks.filter(({ documentIds }) => documentIds.length > 1).length,
    },
    tokens: { mean: rounded(chunked.meanTokens), most: chunked.mostTokens, allowed: chunkTokens },
    split: {
      seed: options.seed,
      by: options.splitBy,
      families: split.families,
      largestFamily: split.largestFamily,
      evalShareWanted: options.evalShare,
      evalShare: questions === 0 ? 0 : rounded(split.eval.length / questions),
    },
    crawl,
    settings: { tokenizer, chunkTokens, chunkOverlap, nearDuplicateThreshold, columns },
  };
}

function groupDropped(dropped: readonly Dropped[]) {
  const groups: Partial<Record<DropReason, DroppedGroup>> = {};
  for (const { reason, where, detail } of dropped) {
    const { count = 0, examples = [] } = groups[reason] ?? {};
    groups[reason] = {
      count: count + 1,
      meaning: dropReasons[reason],
      examples: count < mostExamples ? [...examples, { where, detail }] : examples,
    };
  }
  return groups;
}

/** The report for a terminal. */
export function reportText(report: PrepareDataReport): string {
  const { duplicates, tokens, split, crawl } = report;
  const dropped = Object.entries(report.dropped).toSorted((a, b) => b[1].count - a[1].count);
  const crawled =
    crawl === undefined
      ? []
      : [`pages       ${crawl.fetched} fetched, ${crawl.known} cached, ${crawl.failed} failed`];
  return [
    `source      ${report.source} (${report.format}, ${report.files} files, ${report.records} records)`,
    ...crawled,
    `documents   ${report.documents}`,
    `chunks      ${report.chunks} of ${report.passages} passages: ${duplicates.exactPassages} exact and ${duplicates.nearPassages} near duplicates removed; ${duplicates.sharedChunks} chunks occur in several documents; ${tokens.mean.toFixed(0)} tokens on average, ${tokens.most} at most`,
    `questions   ${report.questions}: ${report.train} train, ${report.eval} eval (${(100 * split.evalShare).toFixed(1)} %, requested ${(100 * split.evalShareWanted).toFixed(1)} %); ${split.families} families of documents, the largest with ${split.largestFamily} questions`,
    ...(dropped.length === 0 ? ['dropped     nothing'] : ['dropped']),
    ...dropped.flatMap(droppedLines),
  ].join('\n');
}

function droppedLines([reason, { count, meaning, examples }]: [string, DroppedGroup]): string[] {
  const line = `  ${String(count).padStart(6)}  ${reason}: ${meaning}`;
  const [first] = examples;
  if (first === undefined) return [line];
  return [line, `          e.g. ${first.where} ${first.detail}`.trimEnd()];
}
