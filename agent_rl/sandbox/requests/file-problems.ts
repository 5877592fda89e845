import { toUSVString } from 'node:util';

import { type Fields, isPlainObject, seen } from '../../core/python/seen-value.ts';
import type { Problem } from './request-problems.ts';

const mostFileChars = 64 * 1024 * 1024;
const mostNameBytes = 255;
/** Less than any system's limit, which holds for the working folder's own path too. */
const mostPathBytes = 1024;

/** Only what no file system could take is refused here; the quota of files is kept where they are written. */
export function filesProblem(files: unknown): Problem {
  if (files === undefined) return undefined;
  if (!isPlainObject(files)) {
    return `files must be an object of contents by path, got ${seen(files)}`;
  }
  for (const [path, content] of Object.entries(files)) {
    const problem = pathProblem(path);
    if (problem !== undefined) return `the path ${seen(path)} in files ${problem}`;
    if (!isBase64(content)) {
      return `the content of ${seen(path)} in files is not base64, got ${seen(content)}`;
    }
  }
  return sharedPathProblem(files) ?? sizeProblem(files);
}

function sizeProblem(files: Fields): Problem {
  const chars = Object.values(files).reduce<number>((sum, text) => sum + String(text).length, 0);
  if (chars <= mostFileChars) return undefined;
  return `files has ${chars} characters of base64, at most ${mostFileChars} are allowed`;
}

function pathProblem(path: string): Problem {
  if (path.startsWith('/')) return 'must be relative to the working folder';
  if (path.includes('\0')) return 'has a NUL character';
  if (toUSVString(path) !== path) return 'has half of a surrogate pair';
  if (Buffer.byteLength(path) > mostPathBytes) return `has more than ${mostPathBytes} bytes`;
  const names = path.split('/');
  if (names.includes('..')) return 'leads out of the working folder';
  if (names.some((name) => name === '' || name === '.')) return 'has an empty part';
  if (names.every((name) => Buffer.byteLength(name) <= mostNameBytes)) return undefined;
  return `has a part of more than ${mostNameBytes} bytes`;
}

function sharedPathProblem(files: Fields): Problem {
  for (const path of Object.keys(files)) {
    for (let end = path.indexOf('/'); end >= 0; end = path.indexOf('/', end + 1)) {
      const folder = path.slice(0, end);
      if (Object.hasOwn(files, folder)) {
        return `the path ${seen(folder)} in files is a file and the folder of ${seen(path)}; it can be one of them only`;
      }
    }
  }
  return undefined;
}

const isBase64 = (content: unknown): boolean =>
  typeof content === 'string' && content.length % 4 === 0 && /^[A-Za-z0-9+/]*={0,2}$/.test(content);
