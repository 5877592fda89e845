import {
  bytesField,
  doubleField,
  type Field,
  fieldsOf,
  packedField,
  wholeField,
} from '../core/wire/protobuf.ts';

/*
 * The protobuf messages of the Tinker protocol, package tinker_public. No schema is published: field numbers come from the
 * descriptor in the Python package tinker 0.25.0, and the tests hold bytes of a real server.
 */

const dtypes = { float32: 1, int64: 2 } as const;

/** The inputs of a loss for each token of a sequence: whole numbers or floats. */
export type LossInput = Int32Array | Float32Array;

/** A sequence and what its loss is given. */
export interface Datum {
  tokens: Int32Array;
  /** By name: target_tokens, weights, logprobs, advantages. */
  inputs: Readonly<Record<string, LossInput>>;
}

export interface ForwardBackward {
  modelId: string;
  seqId: number;
  data: readonly Datum[];
  loss: string;
  lossConfig: Readonly<Record<string, number>>;
  /** Only the log-probabilities: no gradient is added. */
  forwardOnly: boolean;
}

/** The results for each sequence, by name: `logprobs`, and with some servers `elementwise_loss`. */
export interface ForwardBackwardOutput {
  perDatum: ReadonlyMap<string, readonly Float32Array[]>;
  metrics: ReadonlyMap<string, number>;
}

export interface SampledSequence {
  stopReason: 'stop' | 'length';
  tokens: Int32Array;
  /** Undefined where the server gave none. */
  logProbs: Float32Array | undefined;
}

/** Little-endian bytes of a typed array, whatever the machine: all that Node runs on are little-endian. */
const bytesOf = ({ buffer, byteOffset, byteLength }: LossInput | BigInt64Array): Buffer =>
  Buffer.from(buffer, byteOffset, byteLength);

/** Tensor { bytes dense = 1; DType dtype = 3; repeated int64 shape = 4 } */
const tensor = (values: LossInput): Buffer[] => {
  const isFloat = values instanceof Float32Array;
  const data = isFloat ? values : BigInt64Array.from(values, BigInt);
  const dtype = isFloat ? dtypes.float32 : dtypes.int64;
  return [bytesField(1, bytesOf(data)), wholeField(3, dtype), packedField(4, [values.length])];
};

/** Datum { repeated Chunk model_input = 1; map<string, Tensor> loss_fn_inputs = 2 }, of one chunk of text. */
const datum = ({ tokens, inputs }: Datum): Buffer[] => [
  bytesField(1, bytesField(1, bytesField(1, bytesOf(tokens)))),
  ...Object.entries(inputs).map(([name, values]) =>
    bytesField(2, bytesField(1, name), bytesField(2, ...tensor(values))),
  ),
];

/** The body of a request to `forward_backward`. */
export function forwardBackwardRequest(request: ForwardBackward): Buffer {
  const { modelId, seqId, data, loss, lossConfig, forwardOnly } = request;
  return Buffer.concat([
    bytesField(1, modelId),
    wholeField(2, seqId),
    ...data.map((one) => bytesField(3, ...datum(one))),
    bytesField(4, loss),
    ...Object.entries(lossConfig).map(([name, value]) =>
      bytesField(5, bytesField(1, name), doubleField(2, value)),
    ),
    ...(forwardOnly ? [wholeField(6, 1)] : []),
  ]);
}

const all = (fields: readonly Field[], number: number): Buffer[] =>
  fields.filter(({ field }) => field === number).map(({ body }) => body);
const first = (fields: readonly Field[], number: number): Buffer =>
  all(fields, number)[0] ?? Buffer.alloc(0);
const numberOf = (fields: readonly Field[], number: number): number =>
  fields.find(({ field }) => field === number)?.number ?? 0;

/** A copy, since the bytes of a message lie at any place. @throws Error for a length that is no multiple of four */
function numbersOf<Kind extends Float32Array | Int32Array>(
  bytes: Buffer,
  kind: new (buffer: ArrayBuffer) => Kind,
): Kind {
  if (bytes.length % 4 !== 0)
    throw new Error(`${bytes.length} bytes cannot be a list of four-byte numbers.`);
  return new kind(Uint8Array.from(bytes).buffer);
}

/** Entries of a map field, by key. */
const entriesOf = (fields: readonly Field[], number: number): [string, Field[]][] =>
  all(fields, number).map((entry) => {
    const parts = fieldsOf(entry);
    return [first(parts, 1).toString(), parts];
  });

/**
 * BatchedTensor { bytes data = 1; bytes offsets = 2; DType dtype = 3 }: offsets are where each sequence begins, in bytes, and
 * where the last ends.
 */
function slicesOf(batched: readonly Field[]): Float32Array[] | undefined {
  if (numberOf(batched, 3) !== dtypes.float32) return undefined;
  const [data, offsets] = [first(batched, 1), first(batched, 2)];
  const bounds = Array.from({ length: Math.floor(offsets.length / 8) }, (_, i) =>
    Number(offsets.readBigInt64LE(8 * i)),
  );
  if (bounds.some((at, i) => at < (bounds[i - 1] ?? 0) || at > data.length))
    throw new Error('The offsets of a tensor are not in order.');
  return bounds.slice(1).map((end, i) => numbersOf(data.subarray(bounds[i], end), Float32Array));
}

/** @throws Error for bytes that are no such message */
export function readForwardBackwardOutput(message: Buffer): ForwardBackwardOutput {
  const fields = fieldsOf(message);
  const perDatum = new Map<string, Float32Array[]>();
  for (const record of all(fields, 2))
    for (const [name, entry] of entriesOf(fieldsOf(record), 2)) {
      const slices = slicesOf(fieldsOf(first(entry, 2)));
      if (slices !== undefined) perDatum.set(name, [...(perDatum.get(name) ?? []), ...slices]);
    }
  const metrics = entriesOf(fields, 3).map(([name, entry]): [string, number] => {
    const value = first(entry, 2);
    return [name, value.length === 8 ? value.readDoubleLE() : 0];
  });
  return { perDatum, metrics: new Map(metrics) };
}

/** The sequences of a SampleResponse. @throws Error for bytes that are no such message */
export const readSampledSequences = (message: Buffer): SampledSequence[] =>
  all(fieldsOf(message), 1).map((sequence) => {
    const fields = fieldsOf(sequence);
    const logProbs = all(fields, 3)[0];
    return {
      stopReason: numberOf(fields, 1) === 1 ? 'length' : 'stop',
      tokens: numbersOf(first(fields, 2), Int32Array),
      logProbs: logProbs && numbersOf(logProbs, Float32Array),
    };
  });
