import { sizeOf } from '../../../agent_rl/engine/check-inputs.ts';
import type { StoredDtype } from '../safetensors-header.ts';
import { refused, Tuple } from './pickle-bytes.ts';

interface Storage {
  /** Its entry's name below `data/`. */
  key: string;
  dtype: StoredDtype;
  /** How many values it has. */
  length: number;
}

/** A tensor as the pickle describes it: a view of a storage. Offset and strides count values. */
export interface TorchTensor {
  storage: Storage;
  offset: number;
  shape: readonly number[];
  strides: readonly number[];
}

/** One of the few names a pickle may use. */
class Allowed {
  constructor(
    readonly kind: 'rebuild' | 'dict' | 'storage',
    readonly dtype?: StoredDtype,
  ) {}
}

/** Everything a pickle may name; the rest of Python is refused by name. */
const allowed: ReadonlyMap<string, Allowed> = new Map([
  ['torch._utils._rebuild_tensor_v2', new Allowed('rebuild')],
  ['collections.OrderedDict', new Allowed('dict')],
  ['torch.FloatStorage', new Allowed('storage', 'F32')],
  ['torch.HalfStorage', new Allowed('storage', 'F16')],
  ['torch.BFloat16Storage', new Allowed('storage', 'BF16')],
]);

/** PyTorch has no tensors of more. */
const mostDimensions = 64;

/** What a pickle may name, call and refer to: what `torch.save` of a state dict needs, and nothing else. */
export class TorchRules {
  /** What was rebuilt, to distinguish it from dicts. */
  readonly #tensors = new WeakSet();
  readonly #ordered = new WeakSet();

  constructor(private readonly file: string) {}

  isTensor(value: unknown): value is TorchTensor {
    return typeof value === 'object' && value !== null && this.#tensors.has(value);
  }

  /** What `module.name` stands for. */
  global(name: string): unknown {
    const found = allowed.get(name);
    if (found !== undefined) return found;
    const hint = /^torch\.\w+Storage$/.test(name)
      ? ', values other than float32, float16 and bfloat16'
      : '';
    throw refused(this.file, `${shown(name)}${hint}`);
  }

  /** What an id of something kept outside of the pickle stands for. */
  persistent(id: unknown): Storage {
    const parts = id instanceof Tuple ? id.items : [];
    const [kind, type, key, , length] = parts;
    const dtype = type instanceof Allowed ? type.dtype : undefined;
    if (
      parts.length !== 5 ||
      kind !== 'storage' ||
      dtype === undefined ||
      typeof key !== 'string' ||
      !/^\d{1,9}$/.test(key) ||
      !isCount(length)
    )
      throw refused(this.file, 'a reference to something other than a storage of floats');
    return { key, dtype, length };
  }

  /** What calling one of the globals gives. */
  reduce(callable: unknown, args: readonly unknown[]): unknown {
    const kind = callable instanceof Allowed ? callable.kind : undefined;
    if (kind === 'rebuild') return this.#rebuild(args);
    if (kind === 'dict' && args.length === 0) {
      const dict = new Map();
      this.#ordered.add(dict);
      return dict;
    }
    throw refused(this.file, 'a call of something other than a tensor function');
  }

  /** Takes state for an object already made: a module's `state_dict` carries `_metadata`, notes on versions of its parts; they are not needed. */
  build(object: unknown, state: unknown): void {
    const keys = state instanceof Map ? [...state.keys()] : [];
    const isOrdered = object instanceof Map && this.#ordered.has(object);
    if (isOrdered && keys.length === 1 && keys[0] === '_metadata') return;
    throw refused(this.file, 'state (opcode BUILD) for something other than a state dict');
  }

  #rebuild(args: readonly unknown[]): TorchTensor {
    const [storage, offset, size, stride] = args;
    const shape = this.#counts(size);
    const strides = this.#counts(stride);
    if (!isStorage(storage) || !isCount(offset) || strides.length !== shape.length)
      throw refused(this.file, 'a tensor with an invalid description');
    const count = sizeOf(shape);
    const last = shape.reduce((at, length, i) => at + (length - 1) * strides[i]!, offset);
    // A view that repeats values could be made as large as one likes out of a single one.
    if (count > storage.length || (count > 0 && last >= storage.length)) {
      throw refused(
        this.file,
        `a tensor [${shape.join(', ')}] that reaches beyond the ${storage.length} values of its storage`,
      );
    }
    const tensor = { storage, offset, shape, strides };
    this.#tensors.add(tensor);
    return tensor;
  }

  #counts(value: unknown): readonly number[] {
    const items = value instanceof Tuple ? value.items : undefined;
    if (items === undefined || items.length > mostDimensions || !items.every(isCount))
      throw refused(this.file, 'a tensor with invalid sizes');
    return items;
  }
}

const isCount = (value: unknown): value is number =>
  typeof value === 'number' && Number.isSafeInteger(value) && value >= 0;

const isStorage = (value: unknown): value is Storage =>
  typeof value === 'object' && value !== null && 'key' in value && 'dtype' in value;

/** A name from the file, without characters that could control a terminal. */
const shown = (name: string): string => JSON.stringify(name.slice(0, 200)).slice(1, -1);
