import { extname } from 'node:path';

const counted: ReadonlySet<string> = new Set(['.json', '.parquet']);

/** Whether rows of a file are told by their line, or counted from 1. */
export const rowUnit = (file: string): 'line' | 'row' =>
  counted.has(extname(file).toLowerCase()) ? 'row' : 'line';
