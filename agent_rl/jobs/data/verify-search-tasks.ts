import { readdir } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';

import { acceptedAnswers, answerKey, mentionsAnswer } from '../../core/tasks/answer-match.ts';
import { AgentRlError } from '../../core/errors.ts';
import type { SearchBackend, SearchDocument } from '../../core/services/search.ts';
import type { SearchTask } from '../../core/tasks/search-task.ts';
import { openTaskDocuments } from '../../search/corpus/index.ts';
import { readDocuments, SearchTaskDataset } from '../../../dataset/tasks/search-task-dataset.ts';
import { besideSplits } from './prepare-data/write-outputs.ts';
import type { CheckResult } from '../job.ts';
import type { VerifyDatasetOptions } from './verify-dataset-options.ts';

/** A document that no query finds among this many is out of a policy's reach. */
const reach = 10;
const queryChars = 200;

/**
 * Checks questions for search: each answer occurs in the task's documents unless `metadata.absent` says that none states it,
 * queries that do not quote the answer find each of these documents, and no question or document of this split is in another `*.jsonl` of its folder. Of these
 * the file of documents and what `data prepare` writes beside the splits are not splits.
 *
 * @throws AgentRlError `CONFIG_INVALID` without `--documents` where tasks name documents by id, `DATASET_INVALID`
 */
export async function verifySearchTasks(
  tasks: readonly SearchTask[],
  options: VerifyDatasetOptions,
): Promise<CheckResult> {
  const { dataset, print, signal } = options;
  const corpus = options.documents === undefined ? [] : await readDocuments(options.documents);
  const byId = new Map(corpus.map((document) => [document.id, document]));
  if (corpus.length === 0 && tasks.some(namesDocuments)) {
    throw new AgentRlError(
      'CONFIG_INVALID',
      `Tasks of ${dataset} refer to documents by id. Name the file of documents: --documents FILE.`,
    );
  }
  const others = await otherSplits(dataset, options.documents);
  const crossing = await crossings(others, tasks, byId);
  const shared = corpus.length === 0 ? undefined : await openTaskDocuments(corpus);
  const failed: { taskId: string; problem: string }[] = [];
  let byQuestion = 0;
  try {
    for (const task of tasks) {
      if (signal.aborted) break;
      const checked = await checkTask(task, { byId, shared });
      byQuestion += checked.byQuestion ? 1 : 0;
      const problems = [...checked.problems, ...(crossing.get(task.taskId) ?? [])];
      if (problems.length > 0) failed.push({ taskId: task.taskId, problem: problems.join('; ') });
    }
  } finally {
    await shared?.close();
  }
  for (const { taskId, problem } of failed) print(`FAIL ${taskId}: ${problem}`);
  const passed = tasks.length - failed.length;
  print(
    `${passed} of ${tasks.length} tasks are sound. A task is sound if its documents contain the answer, queries find these documents, and no other split has the same question, document or text. For ${byQuestion} of the tasks, the question itself is a query that finds the answer's document.`,
  );
  return {
    ok: failed.length === 0 && !signal.aborted,
    tasks: tasks.length,
    passed,
    byQuestion,
    failed,
  };
}

const namesDocuments = ({ documentIds, documents }: SearchTask): boolean =>
  documentIds.length > documents.length;

interface Library {
  byId: ReadonlyMap<string, SearchDocument>;
  /** Absent when every task brings its documents. */
  shared: SearchBackend | undefined;
}

interface Checked {
  problems: readonly string[];
  /** The question as a query finds a document that holds the answer. */
  byQuestion: boolean;
}

async function checkTask(task: SearchTask, { byId, shared }: Library): Promise<Checked> {
  const own = new Map(task.documents.map((document) => [document.id, document]));
  const missing = task.documentIds.filter((id) => !own.has(id) && !byId.has(id));
  if (missing.length > 0) return broken(`there is no document ${missing.join(', ')}`);
  const documents = task.documentIds.flatMap((id) => own.get(id) ?? byId.get(id) ?? []);
  const accepted = acceptedAnswers(task);
  const holding = documents.filter((document) => mentionsAnswer(wordsOf(document), accepted));
  if (task.metadata['absent'] === true && holding.length > 0)
    return broken(
      'the task is marked as unanswerable, but one of its documents contains the answer',
    );
  if (task.metadata['absent'] !== true && holding.length === 0)
    return broken('none of its documents contains the answer');
  const backend =
    own.size > 0 || shared === undefined ? await openTaskDocuments([...own.values()]) : shared;
  try {
    const unreached: string[] = [];
    for (const document of documents) {
      if (!(await isReached(document, task, backend))) unreached.push(document.id);
    }
    const hits = await find(task.prompt, backend);
    return {
      problems: unreached.map((id) => `no query finds document ${id}`),
      byQuestion: holding.some(({ id }) => hits.has(id)),
    };
  } finally {
    if (backend !== shared) await backend.close();
  }
}

const broken = (problem: string): Checked => ({ problems: [problem], byQuestion: false });

const wordsOf = ({ title, text }: SearchDocument): string => `${title}\n${text}`;

/** Whether the question, the title or a sentence of the document finds it, none of them quoting the answer. */
async function isReached(
  document: SearchDocument,
  task: SearchTask,
  backend: SearchBackend,
): Promise<boolean> {
  const accepted = acceptedAnswers(task);
  const sentences = document.text.split(/(?<=[.!?])\s+/u);
  for (const query of [task.prompt, document.title, ...sentences]) {
    const allowed = query === task.prompt || !mentionsAnswer(query, accepted);
    if (allowed && answerKey(query) !== '' && (await find(query, backend)).has(document.id)) {
      return true;
    }
  }
  return false;
}

async function find(query: string, backend: SearchBackend): Promise<ReadonlySet<string>> {
  const hits = await backend.search({ query: query.slice(0, queryChars), topK: reach });
  return new Set(hits.map(({ documentId }) => documentId));
}

/** What each task shares with another split of its folder. */
async function crossings(
  files: readonly string[],
  tasks: readonly SearchTask[],
  byId: ReadonlyMap<string, SearchDocument>,
): Promise<ReadonlyMap<string, readonly string[]>> {
  const problems = new Map<string, string[]>();
  const keysOf = (task: SearchTask): string[] => [
    `question ${answerKey(task.prompt)}`,
    ...task.documentIds.map((id) => `document ${id}`),
    ...task.documentIds.flatMap((id) => {
      const document = task.documents.find((one) => one.id === id) ?? byId.get(id);
      return document === undefined ? [] : [`text ${answerKey(document.text)}`];
    }),
  ];
  for (const file of files) {
    const { tasks: others } = await SearchTaskDataset.fromPath(file);
    const taken = new Map(others.flatMap((task) => keysOf(task).map((key) => [key, task.taskId])));
    for (const task of tasks) {
      const shared = keysOf(task).find((key) => taken.has(key));
      if (shared === undefined) continue;
      const what = `its ${shared.slice(0, 80)} is also in ${basename(file)}, task ${taken.get(shared)}`;
      problems.set(task.taskId, [...(problems.get(task.taskId) ?? []), what]);
    }
  }
  return problems;
}

async function otherSplits(dataset: string, documents: string | undefined): Promise<string[]> {
  const folder = resolve(dirname(dataset));
  const known = documents === undefined ? [dataset] : [dataset, documents];
  const noSplits = new Set(known.map((file) => resolve(file)));
  const names = await readdir(folder);
  return names
    .filter((name) => name.endsWith('.jsonl') && !besideSplits.has(name))
    .toSorted()
    .map((name) => join(folder, name))
    .filter((file) => !noSplits.has(file));
}
