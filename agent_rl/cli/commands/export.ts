import type { Command } from '../command.ts';
import { textsOf } from '../config-flags.ts';
import { printer, writeJson } from '../io.ts';
import { revisionOf, revisionOption } from '../model-flags.ts';

/** `agent-rl export` is named after what it does; `export` itself is not a name to export. */
export const exportModel: Command = {
  name: 'export',
  describe: 'Write a model for other programs: an ONNX folder that transformers.js generates from',
  options: {
    model: {
      type: 'string',
      demandOption: true,
      requiresArg: true,
      describe: 'Model folder, run folder or checkpoint, or a model of the hub as org/name',
    },
    revision: revisionOption,
    adapter: {
      type: 'string',
      array: true,
      nargs: 1,
      describe: 'Folder of an adapter over the model',
    },
    onnx: {
      type: 'string',
      demandOption: true,
      requiresArg: true,
      describe: 'New folder: config.json, tokenizer and onnx/model.onnx in float32',
    },
    json: { type: 'boolean', default: false, describe: 'Print the result as JSON on stdout' },
  },
  run: async (parsed, { io, jobs }) => {
    const json = parsed['json'] === true;
    const result = await jobs.exportModel({
      model: String(parsed['model']),
      ...revisionOf(parsed),
      adapters: textsOf(parsed['adapter']),
      onnx: String(parsed['onnx']),
      signal: io.signal,
      print: printer(io, json),
    });
    if (json) writeJson(io, result);
    return 0;
  },
};
