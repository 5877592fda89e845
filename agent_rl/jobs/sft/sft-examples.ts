import type { ResolvedRun } from '../../compose/resolve-run.ts';
import { runLength } from '../../config/index.ts';
import { AgentRlError } from '../../core/errors.ts';
import type { ToolCallFormat } from '../../core/plugins/tool-call-format.ts';
import type { TranscriptRecord } from '../../core/transcript.ts';
import { readConversations } from '../../../dataset/demonstrations/conversations.ts';
import { splitFileToRead } from '../../../dataset/tasks/task-files.ts';
import { LanguageModelPolicy } from '../../policies/language-model-policy.ts';
import { noGenerator } from '../no-generator.ts';
import type { JobContext } from '../job.ts';

/** Conversations to imitate, encoded. */
export interface SftExamples {
  examples: TranscriptRecord[];
  /** Of all together. */
  tokens: number;
}

const mostShown = 5;

/**
 * Reads and encodes all conversations, and prints how often each will be learned from.
 *
 * @throws AgentRlError `DATASET_INVALID` of what no conversation is, and of conversations that are longer than the model
 * has positions
 */
export async function readExamples(
  { config, chosen, model, format }: ResolvedRun,
  { print, quiet }: Pick<JobContext, 'print' | 'quiet'>,
): Promise<SftExamples> {
  const policy = new LanguageModelPolicy(
    model.text,
    noGenerator('Supervised training does not sample.'),
    policySettings(chosen.policy.settings),
    // The run was resolved to show demonstrations.
    format as ToolCallFormat,
  );
  for (const note of policy.notes) print(`Note: ${note}`);
  const { trainSplit } = config.dataset;
  const files = config.datasets.flatMap(({ dir }) =>
    dir === undefined ? [] : splitFileToRead(dir, trainSplit),
  );
  const toolsOfRun = chosen.tools.map(({ entry }) => entry.spec);
  const examples: TranscriptRecord[] = [];
  const tooLong: string[] = [];
  const { maxPositions } = model.description;
  for (const file of files) {
    for (const { messages, tools = toolsOfRun, line } of await readConversations(file)) {
      const place = `${file}:${line}`;
      const example = atPlace(place, () => policy.demonstrate(messages, tools).record());
      const { length } = example.tokens;
      if (length > maxPositions) tooLong.push(`${place} (${length} tokens)`);
      examples.push(example);
    }
  }
  if (tooLong.length > 0) throw conversationsTooLong(tooLong, examples.length, maxPositions);
  const tokens = examples.reduce((sum, example) => sum + example.tokens.length, 0);
  const { batchSize } = config.train;
  const { last: iterations } = runLength(config);
  const passes = (iterations * batchSize) / examples.length;
  if (quiet !== true)
    print(
      `Plan\n  conversations ${examples.length}, ${tokens} tokens\n  updates       ${iterations} steps of ${batchSize} conversations = ${passes.toFixed(2)} passes`,
    );
  return { examples, tokens };
}

function conversationsTooLong(
  places: readonly string[],
  conversations: number,
  maxPositions: number,
): AgentRlError {
  const more = places.length > mostShown ? ', …' : '';
  return new AgentRlError(
    'DATASET_INVALID',
    `${places.length} of ${conversations} conversations are longer than the model's ${maxPositions} positions: ${places.slice(0, mostShown).join(', ')}${more}. Shorten them, take them out, or train a model with more positions.`,
  );
}

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
