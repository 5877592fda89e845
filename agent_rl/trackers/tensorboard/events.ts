/*
 * The messages of an event file, in protobuf's wire format: a key (field number * 8 + wire type) before each value.
 * Field numbers: tensorboard/compat/proto/event.proto, summary.proto and tensor.proto.
 */

const wire = { varint: 0, eightBytes: 1, bytes: 2, fourBytes: 5 } as const;

const key = (field: number, type: keyof typeof wire): Buffer => varint(field * 8 + wire[type]);

/** A whole number from 0 to 2^53 - 1, seven bits a byte, the lowest first. */
function varint(value: number): Buffer {
  const bytes: number[] = [];
  let rest = value;
  for (; rest >= 0x80; rest = Math.floor(rest / 0x80)) bytes.push((rest % 0x80) + 0x80);
  return Buffer.from([...bytes, rest]);
}

const whole = (field: number, value: number): Buffer =>
  Buffer.concat([key(field, 'varint'), varint(value)]);

function double(field: number, value: number): Buffer {
  const bytes = Buffer.alloc(8);
  bytes.writeDoubleLE(value);
  return Buffer.concat([key(field, 'eightBytes'), bytes]);
}

/** Written by a typed array: `writeFloatLE` refuses numbers beyond float32, which become infinite here. */
function float(field: number, value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32LE(new Uint32Array(Float32Array.of(value).buffer)[0] ?? 0);
  return Buffer.concat([key(field, 'fourBytes'), bytes]);
}

const bytes = (field: number, ...parts: readonly (Buffer | string)[]): Buffer => {
  const body = Buffer.concat(parts.map((part) => Buffer.from(part as string)));
  return Buffer.concat([key(field, 'bytes'), varint(body.length), body]);
};

/** When and where in the run. */
interface EventPlace {
  /** Milliseconds since 1970. */
  time: number;
  step: number;
}

/** Event { double wall_time = 1; int64 step = 2; … } */
const event = ({ time, step }: EventPlace, what: Buffer): Buffer =>
  Buffer.concat([double(1, time / 1000), whole(2, step), what]);

/** The first event of a file: string file_version = 3. */
export const versionEvent = (place: EventPlace): Buffer => event(place, bytes(3, 'brain.Event:2'));

/** Summary summary = 5, of Value { string tag = 1; float simple_value = 2; … } each. Values become float32. */
export const scalarsEvent = (
  place: EventPlace,
  scalars: readonly (readonly [tag: string, value: number])[],
): Buffer =>
  event(
    place,
    bytes(5, ...scalars.map(([tag, value]) => bytes(1, bytes(1, tag), float(2, value)))),
  );

/** One text: Value { TensorProto tensor = 8; SummaryMetadata metadata = 9 } for the plugin `text`, which shows Markdown. */
export function textEvent(place: EventPlace, tag: string, text: string): Buffer {
  // PluginData plugin_data = 1 { string plugin_name = 1 }
  const metadata = bytes(9, bytes(1, bytes(1, 'text')));
  // DataType dtype = 1, DT_STRING is 7; TensorShapeProto tensor_shape = 2 { Dim dim = 2 { int64 size = 1 } }
  const tensor = bytes(8, whole(1, 7), bytes(2, bytes(2, whole(1, 1))), bytes(8, text));
  return event(place, bytes(5, bytes(1, bytes(1, tag), tensor, metadata)));
}

/** What of an event a resume asks for. */
export interface ReadEvent {
  step: number;
  /** Names of its scalars. */
  tags: readonly string[];
}

/** An event that was written by the functions above. */
export function readEvent(payload: Buffer): ReadEvent {
  const fields = fieldsOf(payload);
  const step = fields.find(({ field }) => field === 2)?.number ?? 0;
  const values = fieldsOf(fields.find(({ field }) => field === 5)?.body ?? Buffer.alloc(0));
  const tags = values.flatMap(({ body }) => {
    const parts = fieldsOf(body);
    const isScalar = parts.some(({ field }) => field === 2);
    return isScalar ? [String(parts.find(({ field }) => field === 1)?.body)] : [];
  });
  return { step, tags };
}

interface Field {
  field: number;
  /** Of a varint. */
  number: number;
  /** Of any other. */
  body: Buffer;
}

function fieldsOf(message: Buffer): Field[] {
  let at = 0;
  const next = (): number => {
    let value = 0;
    for (let scale = 1; ; scale *= 0x80) {
      const byte = message[at++] ?? 0;
      value += (byte % 0x80) * scale;
      if (byte < 0x80) return value;
    }
  };
  const take = (length: number): Buffer => message.subarray(at, (at += length));
  const fields: Field[] = [];
  while (at < message.length) {
    const head = next();
    const [field, type] = [Math.floor(head / 8), head % 8];
    const number = type === wire.varint ? next() : 0;
    const body =
      type === wire.bytes
        ? take(next())
        : take(type === wire.eightBytes ? 8 : type === wire.fourBytes ? 4 : 0);
    fields.push({ field, number, body });
  }
  return fields;
}
