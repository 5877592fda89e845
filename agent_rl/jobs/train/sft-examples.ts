import { runLength } from '../../config/index.ts';
import type { ResolvedRun } from '../../compose/resolve-run.ts';
import type { ToolCallFormat } from '../../core/plugins/tool-call-format.ts';
import type { Transcript } from '../../core/transcript.ts';
import { LanguageModelPolicy } from '../../policies/language-model-policy.ts';
import { readConversations } from '../../../dataset/demonstrations/conversations.ts';
import { splitFiles } from '../../../dataset/tasks/task-files.ts';
import { noGenerator } from '../no-generator.ts';

/** Conversations as tokens. */
export interface SftExamples {
  examples: readonly ReturnType<Transcript['record']>[];
  /** In all examples together. */
  tokens: number;
}

/** Reads the conversations of a run, in the policy's own format, and shows the plan. */
export async function readExamples(
  { config, chosen, model, format }: ResolvedRun,
  print: (text: string) => void,
): Promise<SftExamples> {
  const policy = new LanguageModelPolicy(
    model.text,
    noGenerator('Supervised training does not sample.'),
    policySettings(chosen.policy.settings),
    // The run was resolved to show demonstrations.
    format as ToolCallFormat,
  );
  for (const note of policy.notes) print(`Note: ${note}`);
  const files = splitFiles(config.datasets, config.dataset.trainSplit);
  const conversations = (await Promise.all(files.map((file) => readConversations(file)))).flat();
  const tools = chosen.tools.map(({ entry }) => entry.spec);
  const examples = conversations.map((messages) => policy.demonstrate(messages, tools).record());
  const tokens = examples.reduce((sum, example) => sum + example.tokens.length, 0);
  const { batchSize } = config.train;
  const { last: iterations } = runLength(config);
  const passes = (iterations * batchSize) / examples.length;
  print(
    `Plan\n  conversations ${examples.length}, ${tokens} tokens\n  updates       ${iterations} steps of ${batchSize} conversations = ${passes.toFixed(2)} passes`,
  );
  return { examples, tokens };
}

const policySettings = ({ thinking, templateDate }: Readonly<Record<string, unknown>>) => ({
  thinking: thinking === true,
  ...(typeof templateDate === 'string' && { templateDate }),
});
