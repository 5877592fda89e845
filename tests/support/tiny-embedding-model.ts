import onnxProto from 'onnx-proto';

import { writeBelow } from './temporary-folder.ts';

const { onnx } = onnxProto;

/** Words the model knows, and the vector of each, which is what the ONNX graph looks up. */
const table: Readonly<Record<string, readonly [number, number, number]>> = {
  '[PAD]': [0, 0, 0],
  '[UNK]': [0, 0, 9],
  'query:': [1, 0, 0],
  'passage:': [0, 1, 0],
  cat: [3, 0, 0],
  dog: [0, 4, 0],
  sun: [0, 0, 5],
  puppy: [0, 2, 0],
};

/**
 * Writes an embedding model that can be worked out by hand: each word's vector is looked up and nothing else is done,
 * so that mean pooling gives the mean of the words' vectors.
 */
export function writeTinyEmbeddingModel(folder: string): string {
  const words = Object.keys(table);
  const vocab = Object.fromEntries(words.map((word, id) => [word, id]));
  writeBelow(folder, 'config.json', JSON.stringify({ model_type: 'bert', hidden_size: 3 }));
  writeBelow(
    folder,
    'tokenizer_config.json',
    JSON.stringify({
      tokenizer_class: 'BertTokenizer',
      pad_token: '[PAD]',
      unk_token: '[UNK]',
      model_max_length: 16,
    }),
  );
  writeBelow(folder, 'tokenizer.json', JSON.stringify(tokenizerOf(vocab)));
  writeBelow(folder, 'onnx/model.onnx', modelOf(Object.values(table)));
  return folder;
}

const tokenizerOf = (vocab: Readonly<Record<string, number>>) => ({
  version: '1.0',
  truncation: null,
  padding: null,
  added_tokens: [
    {
      id: 0,
      content: '[PAD]',
      special: true,
      single_word: false,
      lstrip: false,
      rstrip: false,
      normalized: false,
    },
  ],
  normalizer: null,
  pre_tokenizer: { type: 'WhitespaceSplit' },
  post_processor: null,
  decoder: null,
  model: { type: 'WordLevel', vocab, unk_token: '[UNK]' },
});

function modelOf(rows: readonly (readonly number[])[]): Uint8Array {
  const { FLOAT, INT64 } = onnx.TensorProto.DataType;
  const tensor = (elemType: number, dims: readonly (string | number)[]) => ({
    tensorType: {
      elemType,
      shape: {
        dim: dims.map((dim) => (typeof dim === 'string' ? { dimParam: dim } : { dimValue: dim })),
      },
    },
  });
  const model = {
    irVersion: 8,
    producerName: 'test',
    opsetImport: [{ domain: '', version: 17 }],
    graph: {
      name: 'lookup',
      node: [{ opType: 'Gather', input: ['table', 'input_ids'], output: ['last_hidden_state'] }],
      initializer: [
        {
          name: 'table',
          dims: [rows.length, 3],
          dataType: FLOAT,
          rawData: new Uint8Array(Float32Array.from(rows.flat()).buffer),
        },
      ],
      input: [
        { name: 'input_ids', type: tensor(INT64, ['batch', 'tokens']) },
        { name: 'attention_mask', type: tensor(INT64, ['batch', 'tokens']) },
      ],
      output: [{ name: 'last_hidden_state', type: tensor(FLOAT, ['batch', 'tokens', 3]) }],
    },
  };
  return onnx.ModelProto.encode(onnx.ModelProto.fromObject(model)).finish();
}
