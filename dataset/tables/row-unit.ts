import { basename, extname } from 'node:path';

const counted: ReadonlySet<string> = new Set(['.json', '.parquet']);

const unpacked = (file: string): string => file.replace(/\.gz$/i, '');

/** What a file of rows ends in, in small letters; of a packed one, `x.csv.gz`, what it ends in once unpacked. */
export const tableEnding = (file: string): string => extname(unpacked(file)).toLowerCase();

/** The name of a file without its folder and endings. */
export const tableName = (file: string): string =>
  basename(unpacked(file), extname(unpacked(file)));

/** Whether messages name a file's rows by their line, or by a count from 1. */
export const rowUnit = (file: string): 'line' | 'row' =>
  counted.has(tableEnding(file)) ? 'row' : 'line';
