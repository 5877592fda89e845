import { importGguf as importModel } from '../../../model/gguf/import-gguf.ts';
import type { JobContext, JobResult } from '../job.ts';
import { refuseExisting } from '../token-files/fresh-lines.ts';
import { storedDtype } from './stored-dtype.ts';

export interface ImportGgufOptions extends JobContext {
  file: string;
  /** Folder to write, which must not be there. */
  folder: string;
  /** `F32` by default, `BF16` or `F16`. */
  dtype?: string;
}

/**
 * Writes the model of a GGUF file as a Hugging Face folder, which every other command takes.
 *
 * @throws AgentRlError `MODEL_INVALID` for what is not read, `OUTPUT_UNWRITABLE`, `CONFIG_INVALID`; there is no folder then
 */
export async function importGguf(options: ImportGgufOptions): Promise<JobResult> {
  const { file, folder, print } = options;
  const dtype = storedDtype(options.dtype);
  refuseExisting(folder, 'folder');
  const { architecture, parameters, stored, hasTemplate } = await importModel(file, folder, dtype);
  const types = Object.entries(stored).map(([name, count]) => `${name}: ${count}`);
  print(
    `${architecture}, ${(parameters / 1e6).toFixed(1)} M parameters (tensors ${types.join(', ')}) as ${dtype}: ${folder}`,
  );
  if (!hasTemplate)
    print(`Note: ${file} has no chat template. Put one into ${folder}/chat_template.jinja.`);
  return { folder, file, architecture, parameters, stored, dtype, hasTemplate };
}
