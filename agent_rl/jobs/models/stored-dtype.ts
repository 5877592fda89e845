import { AgentRlError } from '../../core/errors.ts';
import type { StoredDtype } from '../../../model/weights/safetensors-header.ts';

const widths: readonly string[] = ['F32', 'BF16', 'F16'] satisfies readonly StoredDtype[];

const isWidth = (dtype: string): dtype is StoredDtype => widths.includes(dtype);

/** `--dtype` of a command that writes weights. @throws AgentRlError `CONFIG_INVALID` */
export function storedDtype(dtype = 'F32'): StoredDtype {
  if (isWidth(dtype)) return dtype;
  throw new AgentRlError('CONFIG_INVALID', `--dtype is "${dtype}"; expected ${widths.join(', ')}.`);
}
