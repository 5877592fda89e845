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
  readonly count: number;
  readonly meaning: string;
  readonly examples: readonly { readonly where: string; readonly detail: string }[];
}

/** What was made of a source, as report.json says it. */
export interface PrepareDataReport {
  readonly source: string;
  readonly format: string;
  readonly files: number;
  readonly records: number;
  readonly documents: number;
  readonly passages: number;
  readonly chunks: number;
  readonly questions: number;
  readonly train: number;
  readonly eval: number;
  readonly dropped: Readonly<Partial<Record<DropReason, DroppedGroup>>>;
  readonly duplicates: {
    /** Passages with the same words as an earlier one. */
    readonly exactPassages: number;
    readonly nearPassages: number;
    /** Chunks that stand in several documents. */
    readonly sharedChunks: number;
  };
  readonly tokens: { readonly mean: number; readonly most: number; readonly allowed: number };
  readonly split: {
    readonly seed: number;
    readonly by: string;
    readonly families: number;
    readonly largestFamily: number;
    readonly evalShareWanted: number;
    readonly evalShare: number;
  };
  readonly crawl?: CrawlCounts;
  readonly settings: Readonly<Record<string, unknown>>;
}

export interface ReportFacts {
  readonly options: PrepareDataOptions;
  readonly format: string;
  readonly files: number;
  readonly records: number;
  readonly documents: number;
  readonly dropped: readonly Dropped[];
  readonly chunked: Chunked;
  readonly split: SplitQuestions;
  readonly crawl?: CrawlCounts;
}

const rounded = (value: number): number => Math.round(value * 1000) / 1000;

export function reportOf(facts: ReportFacts): PrepareDataReport {
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
      exactPassages: chunked.exactDuplicates,
      nearPassages: chunked.nearDuplicates,
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
    ...(crawl === undefined ? {} : { crawl }),
    settings: { tokenizer, chunkTokens, chunkOverlap, nearDuplicateThreshold, columns },
  };
}

function groupDropped(dropped: readonly Dropped[]): PrepareDataReport['dropped'] {
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
      : [
          `pages       ${crawl.fetched} fetched, ${crawl.known} known already, ${crawl.failed} without a text`,
        ];
  return [
    `source      ${report.source} (${report.format}, ${report.files} files, ${report.records} records)`,
    ...crawled,
    `documents   ${report.documents}`,
    `chunks      ${report.chunks} of ${report.passages} passages: ${duplicates.exactPassages} exact and ${duplicates.nearPassages} near duplicates kept once; ${duplicates.sharedChunks} chunks have several documents; ${tokens.mean.toFixed(0)} tokens on average, ${tokens.most} at most`,
    `questions   ${report.questions}: ${report.train} train, ${report.eval} eval (${(100 * split.evalShare).toFixed(1)} % of ${(100 * split.evalShareWanted).toFixed(1)} % wanted); ${split.families} families of documents, the largest with ${split.largestFamily} questions`,
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
