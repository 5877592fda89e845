import { HermesFormat } from './hermes-format.ts';
import { Llama3Format } from './llama3-format.ts';
import { PlainFormat } from './plain-format.ts';
import { PythonBlockFormat } from './python-block-format.ts';

export { HermesFormat, Llama3Format, PlainFormat, PythonBlockFormat };

/** Every tool-call format that ships with the framework. */
export const builtinToolCallFormats = [HermesFormat, Llama3Format, PythonBlockFormat, PlainFormat];
