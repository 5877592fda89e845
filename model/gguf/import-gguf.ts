import { join } from 'node:path';

import { writeFileAtomic, writeFolderAtomic } from '../../agent_rl/telemetry/index.ts';
import { writeModelConfig } from '../config/model-config.ts';
import { writeSafetensors } from '../weights/safetensors.ts';
import type { StoredDtype } from '../weights/safetensors-header.ts';
import { storedTypes } from './dequantise.ts';
import { ggufConfig } from './gguf-config.ts';
import { GgufFile } from './gguf-file.ts';
import { ggufTensors } from './gguf-tensors.ts';
import { ggufText } from './gguf-tokenizer.ts';

export interface ImportedGguf {
  architecture: string;
  parameters: number;
  /** How many tensors are stored as which type. */
  stored: Readonly<Record<string, number>>;
  hasTemplate: boolean;
}

const torchDtypes = { F32: 'float32', BF16: 'bfloat16', F16: 'float16' } as const;

/**
 * Writes the model of a GGUF file as a Hugging Face folder: config.json, model.safetensors, tokenizer.json and
 * tokenizer_config.json with the chat template. One tensor is held at a time.
 *
 * @param chatTemplate written as chat_template.jinja instead of the file's own
 * @throws AgentRlError `MODEL_INVALID` names what is unsupported; `OUTPUT_UNWRITABLE`. No folder is left then.
 */
export async function importGguf(
  path: string,
  folder: string,
  dtype: StoredDtype,
  chatTemplate?: string,
): Promise<ImportedGguf> {
  const file = await GgufFile.open(path);
  try {
    const config = ggufConfig(file);
    const text = ggufText(file, config.maxPositions);
    const tensors = ggufTensors(file, config);
    await writeFolderAtomic(folder, async (partial) => {
      const write = (name: string, json: object): void =>
        writeFileAtomic(join(partial, name), `${JSON.stringify(json, null, 1)}\n`);
      write('config.json', writeModelConfig(config, torchDtypes[dtype]));
      write('tokenizer.json', text.tokenizer);
      const { chatTemplate: own } = text;
      const kept = chatTemplate === undefined && own !== undefined;
      write('tokenizer_config.json', { ...text.config, chat_template: kept ? own : undefined });
      if (chatTemplate !== undefined)
        writeFileAtomic(join(partial, 'chat_template.jinja'), chatTemplate);
      await writeSafetensors(join(partial, 'model.safetensors'), tensors, { dtype });
    });
    const stored: Record<string, number> = {};
    let parameters = 0;
    for (const { type, shape } of file.tensors) {
      const { name } = storedTypes.get(type)!;
      stored[name] = (stored[name] ?? 0) + 1;
      parameters += shape.reduce((product, size) => product * size, 1);
    }
    const hasTemplate = (chatTemplate ?? text.chatTemplate) !== undefined;
    return { architecture: config.family, parameters, stored, hasTemplate };
  } finally {
    file.close();
  }
}
