import { AutoModelForCausalLM, Tensor, type PreTrainedModel } from '@huggingface/transformers';

/** A folder as transformers.js opens it, on one thread and without a network. */
export const openInTransformersJs = (folder: string): Promise<PreTrainedModel> =>
  AutoModelForCausalLM.from_pretrained(folder, {
    local_files_only: true,
    session_options: { intraOpNumThreads: 1 },
  });

/** Token ids as a batch of rows of one length. */
export const idTensor = (rows: readonly (readonly number[])[]): Tensor =>
  new Tensor('int64', BigInt64Array.from(rows.flat(), BigInt), [rows.length, rows[0]!.length]);

/** The tokens transformers.js adds to a prompt, by the generation_config.json of the folder. */
export async function generatedBy(
  model: PreTrainedModel,
  prompt: readonly number[],
  count: number,
) {
  const output = await model.generate({ inputs: idTensor([prompt]), max_new_tokens: count });
  const [row = []] = (output as Tensor).tolist() as bigint[][];
  return row.slice(prompt.length).map(Number);
}

/** Logits of every position of every row, [rows][positions][vocabulary]. */
export async function logitsBy(model: PreTrainedModel, inputs: Readonly<Record<string, unknown>>) {
  const { logits } = (await model.forward(inputs)) as { logits: Tensor };
  return logits.tolist() as number[][][];
}
