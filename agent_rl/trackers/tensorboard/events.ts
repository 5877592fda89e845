import {
  bytesField as bytes,
  doubleField as double,
  fieldsOf,
  floatField as float,
  wholeField as whole,
} from '../../core/wire/protobuf.ts';

/*
 * The messages of an event file, in protobuf. Field numbers: tensorboard/compat/proto/event.proto, summary.proto and
 * tensor.proto.
 */

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

/** The parts of an event that a resume needs. */
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
