import { readFileSync } from 'node:fs';

import { ChatTemplate } from '../../../model/text/chat-template.ts';
import { importGguf as importModel } from '../../../model/gguf/import-gguf.ts';
import { absolutePath } from '../../compose/absolute-paths.ts';
import { AgentRlError, messageOf } from '../../core/errors.ts';
import type { JobContext, JobResult } from '../job.ts';
import { refuseExisting } from '../token-files/fresh-lines.ts';
import { storedDtype } from './stored-dtype.ts';

export interface ImportGgufOptions extends JobContext {
  file: string;
  /** Folder to write, which must not be there. */
  folder: string;
  /** `F32` by default, `BF16` or `F16`. */
  dtype?: string;
  /** File of a chat template, instead of the model's own. */
  chatTemplate?: string;
}

/**
 * Writes the model of a GGUF file as a Hugging Face folder, which every other command takes.
 *
 * @throws AgentRlError `MODEL_INVALID` for what is not read, `OUTPUT_UNWRITABLE`, `CONFIG_INVALID`, `TOKENIZER_INVALID` for a template that cannot be parsed; there is no folder then
 */
export async function importGguf(options: ImportGgufOptions): Promise<JobResult> {
  const { file, folder, print } = options;
  const dtype = storedDtype(options.dtype);
  refuseExisting(folder, 'folder');
  const template =
    options.chatTemplate === undefined ? undefined : readTemplate(options.chatTemplate);
  const { architecture, parameters, stored, hasTemplate } = await importModel(
    file,
    folder,
    dtype,
    template,
  );
  const types = Object.entries(stored).map(([name, count]) => `${name}: ${count}`);
  print(
    `${architecture}, ${(parameters / 1e6).toFixed(1)} M parameters (tensors ${types.join(', ')}) as ${dtype}: ${folder}`,
  );
  if (!hasTemplate)
    print(`Note: ${file} has no chat template. Write one to ${folder}/chat_template.jinja.`);
  return { folder, file, architecture, parameters, stored, dtype, hasTemplate };
}

/** The text of a template that can be parsed. */
export function readTemplate(file: string): string {
  const path = absolutePath(file);
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch (cause) {
    const why = messageOf(cause);
    throw new AgentRlError('CONFIG_INVALID', `--chat-template ${file}: ${why}.`, { cause });
  }
  // Parsed before the model is read, so that what is wrong with it is known at once.
  void new ChatTemplate(text);
  return text;
}
