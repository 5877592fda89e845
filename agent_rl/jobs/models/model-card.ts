import { existsSync, readFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';

import { parse, stringify } from 'yaml';

import type { Config } from '../../config/index.ts';
import { isRecord } from '../../core/is-record.ts';
import { packageRoot, packageVersion } from '../../core/package-root.ts';
import {
  differenceText,
  fewestTasks,
  intervalNote,
  rateText,
} from '../../runs/evaluation-table.ts';
import { runFileOf } from '../../runs/run-folder.ts';
import { percentText } from '../../telemetry/index.ts';
import { redactor } from '../../telemetry/redact.ts';
import type { RunSummary } from '../../runs/summary.ts';

/** Supervised training has no `eval`; its `success` is that of `train.until`. */
type Summary = Partial<RunSummary> & { success?: number | null };

/** The resolved run file, beside the card. */
const runFile = 'training.yaml';

/**
 * Writes `README.md`, the card of a model that a run trained: base model, data and licences, command, seed, and held-out success
 * with intervals. Nothing for a model of no run.
 *
 * @param from a checkpoint
 * @param folder where the card is written
 * @param title the name of the exported model, if it is not that of the folder
 */
export async function writeModelCard(
  from: string,
  folder: string,
  title = basename(folder),
): Promise<void> {
  const file = runFileOf(from);
  const run = dirname(file ?? '');
  // A folder above may have a file of that name for other reasons.
  if (file === undefined || !existsSync(join(run, 'inputs.json'))) return;
  const written = readFileSync(file, 'utf8');
  const config = parse(written) as Config;
  const summary = readJson(join(run, 'summary.json')) as Summary | undefined;
  const inputs = readJson(join(run, 'inputs.json')) as
    { sha256?: Record<string, unknown> } | undefined;
  const { startModel, trainTasks } = inputs?.sha256 ?? {};
  // Of the files of folders; a generator has none.
  const hashes = Array.isArray(trainTasks) ? [...(trainTasks as unknown[])] : [];
  const base = config.model.path;
  const data = config.datasets.map(({ dir, generator }) =>
    dir === undefined
      ? { name: `the task generator ${generator?.type}`, licence: undefined, hash: undefined }
      : { name: dir, licence: licenceIn(dir), hash: hashes.shift() },
  );
  const licence = licenceIn(base);
  const isEnded = isRecord(summary) && summary.checkpoint === from;
  const front = {
    ...(licence === undefined ? {} : { license: licence }),
    library_name: 'agent_rl',
    tags: ['reinforcement-learning', 'tool-use', 'agent_rl'],
  };
  const lines = [
    `---\n${stringify(front)}---\n`,
    `# ${title}\n`,
    `Trained with agent_rl ${packageVersion()} from ${basename(base)}: ${basename(from)} of the run ${basename(run)}.\n`,
    row('', '', '', ''),
    row('---', '---', '---', '---'),
    row('Base model', basename(base), hashText(startModel), licenceText(licence)),
    ...data.map((one) =>
      row('Data', basename(one.name), hashText(one.hash), licenceText(one.licence)),
    ),
    row('Training', `${config.train.mode}, ${config.algorithm.name}`),
    row('Seed', config.run.seed),
    ...(isEnded ? [row('Iterations', summary.iterations)] : []),
    ...(isEnded
      ? [row('Weights', hashText(summary.weightsSha256), 'as the summary of the run has it')]
      : []),
    '',
    `\`\`\`sh\nagent-rl train --config ${runFile}\n\`\`\`\n`,
    '## Held-out success\n',
    ...(isEnded ? heldOut(summary) : ['Not measured for this checkpoint.']),
    '',
  ];
  // What comes with the package is found by its name.
  await writeFile(join(folder, runFile), redactor()(written.replaceAll(`${packageRoot()}/`, '')));
  await writeFile(join(folder, 'README.md'), lines.join('\n'));
}

function heldOut({ eval: evaluated, success }: Summary): string[] {
  if (evaluated === undefined && typeof success === 'number')
    return [`${percentText(success)} of the attempts by which the training was to end.`];
  const { before, after, difference } = evaluated ?? { before: null, after: null };
  if (before === null && after === null) return ['The run did not evaluate.'];
  const solved = [before, after].map((one) => (one ? `${one.successes} of ${one.n}` : '-'));
  if (((before ?? after)?.n ?? 0) < fewestTasks)
    return [`${solved[0]} before, ${solved[1]} after: too few tasks for rates.`];
  const groups = Object.keys({ ...before?.groups, ...after?.groups }).toSorted();
  const line = (
    name: string,
    rates: (Parameters<typeof rateText>[0] | null | undefined)[],
    change?: Parameters<typeof differenceText>[0] | null,
  ) =>
    row(
      name,
      ...rates.map((rate) => (rate ? rateText(rate) : '-')),
      change ? differenceText(change) : '-',
    );
  return [
    row('Tasks', 'Before', 'After', 'Change, points'),
    row('---', '---', '---', '---'),
    line('All tasks, without slices', [before, after], difference),
    ...groups.map((name) =>
      line(name, [before?.groups[name], after?.groups[name]], difference?.groups[name]),
    ),
    `\n${intervalNote}.`,
  ];
}

/** Cells from elsewhere end no row. */
const row = (...cells: (string | number | undefined)[]): string =>
  `| ${cells.map((cell) => String(cell ?? '').replaceAll(/[|\r\n]/g, ' ')).join(' | ')} |`;

const hashText = (hash: unknown): string => (typeof hash === 'string' ? `SHA-256 ${hash}` : '');
const licenceText = (licence: string | undefined): string => `licence: ${licence ?? 'not stated'}`;

/** What the card of a folder of a model or of data says of its licence, in its front matter or in a table. */
function licenceIn(folder: string): string | undefined {
  for (const name of ['README.md', 'CARD.md']) {
    const path = join(folder, name);
    const text = existsSync(path) ? readFileSync(path, 'utf8') : '';
    const [, front] = /^---\n(.*?)\n---/s.exec(text) ?? [];
    const { license }: { license?: unknown } = front === undefined ? {} : (parse(front) ?? {});
    const [, table] = /^\|\s*Licen[cs]e\s*\|([^|\n]+)/im.exec(text) ?? [];
    if (license !== undefined) return [license].flat().map(String).join(', ');
    if (table !== undefined) return table.trim();
  }
  return undefined;
}

const readJson = (file: string): unknown =>
  existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : undefined;
