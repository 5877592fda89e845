import type { LocalSandboxType } from '../../jobs/machine/local-sandbox-type.ts';
import type { VerifyDatasetOptions } from '../../jobs/data/verify-dataset-options.ts';
import { AgentRlError } from '../../core/errors.ts';
import { namedOrShipped } from '../../core/package-root.ts';
import type { Command } from '../command.ts';
import { jsonFlag, numberFlag, numberOf, type Parsed, textFlag, textOf } from '../flags/flag.ts';
import { localSandboxTypes } from '../flags/sandbox-flags.ts';
import { printer, writeJson } from '../io.ts';

export const verifyDataset: Command = {
  name: 'verify-dataset',
  describe: 'Check a dataset: reference solutions against their tests, answers against documents',
  examples: [
    ['--dataset my_tasks/train.jsonl', 'Run the reference solutions of code tasks'],
    ['--dataset rides.jsonl --format plain', 'Read tasks for an environment of your own'],
    [
      '--dataset questions.jsonl --format search --documents documents.jsonl',
      'Look for the answers of search tasks in their documents',
    ],
  ],
  options: {
    dataset: textFlag('JSONL file of tasks', { demandOption: true }),
    format: textFlag('code (the default), humaneval, mbpp, search, mixed or plain'),
    documents: textFlag('Search tasks: JSONL file of the corpus'),
    'sandbox-type': {
      choices: localSandboxTypes,
      requiresArg: true,
      describe: 'Code tasks: sandbox for the reference solutions; the strongest here otherwise',
    },
    'sandbox-python': textFlag('Code tasks: Python of the native sandbox'),
    'sandbox-workers': numberFlag('Code tasks: programs run at once'),
    json: jsonFlag,
  },
  run: async (parsed, { io, jobs }) => {
    const json = parsed['json'] === true;
    const [format, documents] = [textOf(parsed, 'format'), textOf(parsed, 'documents')];
    refuseIdle(parsed, format);
    const result = await jobs.verifyDataset({
      dataset: namedOrShipped(String(parsed['dataset'])),
      signal: io.signal,
      print: printer(io, json),
      ...(format !== undefined && { format }),
      ...(documents !== undefined && { documents: namedOrShipped(documents) }),
      ...sandboxOf(parsed),
    });
    if (json) writeJson(io, result);
    return result.ok ? 0 : 1;
  },
};

const ofCode = ['sandbox-type', 'sandbox-python', 'sandbox-workers'] as const;

/** Flags that a format has no use for; `mixed` has one for all. */
const idleFlags = new Map<string, readonly string[]>([
  ['search', ofCode],
  ['mixed', []],
  ['plain', [...ofCode, 'documents']],
]);

/** @throws AgentRlError `CONFIG_INVALID` for flags that the format has no use for */
function refuseIdle(parsed: Parsed, format = 'code'): void {
  const idle = (idleFlags.get(format) ?? ['documents']).filter(
    (flag) => parsed[flag] !== undefined,
  );
  if (idle.length === 0) return;
  const flags = idle.map((flag) => `--${flag}`).join(', ');
  throw new AgentRlError(
    'CONFIG_INVALID',
    `${flags}: no effect on ${format} tasks. Leave ${idle.length === 1 ? 'it' : 'them'} out.`,
  );
}

/** @throws AgentRlError `CONFIG_INVALID` */
function sandboxOf(
  parsed: Parsed,
): Pick<VerifyDatasetOptions, 'sandboxType' | 'sandboxPython' | 'sandboxWorkers'> {
  const [type, python] = [textOf(parsed, 'sandbox-type'), textOf(parsed, 'sandbox-python')];
  const workers = numberOf(parsed, 'sandbox-workers', { from: 1, to: 256, whole: true });
  return {
    ...(type !== undefined && { sandboxType: type as LocalSandboxType }),
    ...(python !== undefined && { sandboxPython: python }),
    ...(workers !== undefined && { sandboxWorkers: workers }),
  };
}
