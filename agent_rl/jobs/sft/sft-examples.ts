import type { ResolvedRun } from '../../compose/resolve-run.ts';
import type { Config } from '../../config/index.ts';
import { AgentRlError } from '../../core/errors.ts';
import type { Message, ToolCall } from '../../core/message.ts';
import type { ToolCallFormat } from '../../core/plugins/tool-call-format.ts';
import type { TranscriptRecord } from '../../core/transcript.ts';
import { readConversations } from '../../../dataset/demonstrations/conversations.ts';
import { splitFileToRead } from '../../../dataset/tasks/task-files.ts';
import { percentText } from '../../telemetry/index.ts';
import { LanguageModelPolicy } from '../../policies/language-model-policy.ts';
import { ToolRunner } from '../../rollout/tools/tool-runner.ts';
import { noGenerator } from '../no-generator.ts';
import type { JobContext } from '../job.ts';
import { countText } from '../../telemetry/index.ts';
import { firstOf } from '../train/ready/too-long.ts';

/** Conversations to imitate, encoded. */
export interface SftExamples {
  examples: TranscriptRecord[];
  /** Of all together. */
  tokens: number;
  /** Places of conversations that are too long, with their tokens. */
  leftOut: readonly string[];
}

/**
 * Reads and encodes all conversations, and prints how often each will be learned from.
 *
 * @throws AgentRlError `DATASET_INVALID` of what no conversation is, and of conversations that are longer than the model
 * has positions, unless `dataset.tooLong` is `skip` and others are left
 */
export async function readExamples(
  { config, chosen, model, format, length: { last } }: ResolvedRun,
  { print, quiet }: Pick<JobContext, 'print' | 'quiet'>,
): Promise<SftExamples> {
  const policy = new LanguageModelPolicy({
    model: model.text,
    generator: noGenerator('Supervised training does not sample.'),
    settings: policySettings(chosen.policy.settings),
    // The run was resolved to show demonstrations.
    format: format as ToolCallFormat,
  });
  for (const note of policy.notes) print(`Note: ${note}`);
  const { trainSplit } = config.dataset;
  const files = config.datasets.flatMap(({ dir }) =>
    dir === undefined ? [] : splitFileToRead(dir, trainSplit),
  );
  const toolsOfRun = chosen.tools.map(({ entry }) => entry.spec);
  const runner = new ToolRunner(toolsOfRun);
  const rejected: string[] = [];
  const examples: TranscriptRecord[] = [];
  const tooLong: string[] = [];
  const { maxPositions } = model.description;
  for (const file of files) {
    for (const { messages, tools = toolsOfRun, line } of await readConversations(file)) {
      const place = `${file}:${line}`;
      const example = atPlace(place, () => policy.demonstrate(messages, tools).record());
      // Conversations with tools of their own may imitate what this run does not have.
      if (tools === toolsOfRun) {
        const problem = callsOf(messages)
          .map((call) => runner.problemOf(call))
          .find(Boolean);
        if (problem !== undefined)
          rejected.push(`${place}: ${problem.replaceAll(/^Error: |\.$/gu, '')}`);
      }
      const { length } = example.tokens;
      if (length > maxPositions) tooLong.push(`${place} (${length} tokens)`);
      else examples.push(example);
    }
  }
  const skips = config.dataset.tooLong === 'skip' && examples.length > 0;
  const all = examples.length + tooLong.length;
  if (tooLong.length > 0 && !skips)
    throw conversationsTooLong(tooLong, all, { maxPositions, ...config.dataset });
  if (tooLong.length > 0) print(`Note: ${leftOutConversations(tooLong)}`);
  if (rejected.length > 0)
    print(
      `Note: ${countText(rejected.length, 'conversation')} of ${all} ${rejected.length === 1 ? 'makes' : 'make'} a call that the run's tools reject: ${firstOf(rejected)}. Fix these calls, unless they are meant to teach what to do after an error.`,
    );
  const tokens = examples.reduce((sum, example) => sum + example.tokens.length, 0);
  const { batchSize } = config.train;
  const passes = (last * batchSize) / examples.length;
  if (quiet !== true)
    print(
      `Plan\n  conversations ${examples.length}, ${tokens} tokens\n  updates       ${untilText(config)}${last} steps of ${batchSize} conversations = ${passes.toFixed(2)} passes over the data`,
    );
  return { examples, tokens, leftOut: tooLong };
}

function conversationsTooLong(
  places: readonly string[],
  conversations: number,
  { maxPositions, tooLong }: { maxPositions: number } & Pick<Config['dataset'], 'tooLong'>,
): AgentRlError {
  const skip = tooLong === 'refuse' ? ', skip them with dataset.tooLong: skip' : '';
  return new AgentRlError(
    'DATASET_INVALID',
    `${places.length} of ${conversations} conversations are longer than the model's ${maxPositions} positions: ${firstOf(places)}. Shorten them, remove them${skip}, or train a model with more positions.`,
  );
}

/** For the user: which conversations are left out. */
export const leftOutConversations = (places: readonly string[], shown = firstOf(places)): string =>
  `Skipped ${countText(places.length, 'conversation')} that exceed the model's context (dataset.tooLong: skip): ${shown}.`;

const callsOf = (messages: readonly Message[]): readonly ToolCall[] =>
  messages.flatMap((message) => (message.role === 'assistant' ? (message.toolCalls ?? []) : []));

/** The result of an action; what it throws names the place. */
function atPlace<Result>(place: string, action: () => Result): Result {
  try {
    return action();
  } catch (cause) {
    if (!AgentRlError.is(cause)) throw cause;
    throw new AgentRlError(cause.code, `${place}: ${cause.message}`, { cause });
  }
}

const policySettings = ({ thinking, templateDate }: Readonly<Record<string, unknown>>) => ({
  thinking: thinking === true,
  ...(typeof templateDate === 'string' && { templateDate }),
});

const untilText = ({ train: { until } }: Config): string =>
  until === undefined ? '' : `until ${percentText(until.success)} of attempts succeed, at most `;
