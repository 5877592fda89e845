import { readFileSync } from 'node:fs';
import { join, posix } from 'node:path';

import { packageRoot } from '../../agent_rl/core/package-root.ts';
import { signatureAt } from './signature.ts';

/** A public name of the package. */
export interface Export {
  name: string;
  /** `class`, `function`, `type` ... */
  kind: string;
  /** Its comment, with empty lines between paragraphs; empty where it has none. */
  doc: string;
  /** How it is declared, as far as a reader of the types needs it. */
  signature: string;
  /** Where it is declared, from the root. */
  file: string;
}

const textOf = (file: string): string => readFileSync(join(packageRoot(), file), 'utf8');

/** A comment, decorators of a class, and what is declared. */
const declaration =
  /(?:^\/\*\*((?:(?!\*\/)[\s\S])*)\*\/\s*)?(?:^@(?:(?!^export |^\/\*\*)[\s\S])*)?^export (?:declare |abstract |async )*(class|function|const|interface|type) (\w+)/gm;

function textOfComment(comment: string): string {
  const lines = comment.split('\n').map((line) => line.replace(/^\s*\*? ?/, '').trimEnd());
  const [before = '', ...examples] = lines.join('\n').trim().split('@example');
  const paragraphs = before
    .replaceAll(/\{@link (\w+)\}/g, '`$1`')
    .replaceAll(/\s*@throws /g, '\n\nThrows ')
    .replaceAll(/\s*@returns /g, '\n\nReturns ')
    .replaceAll(/\s*@param (\w+) /g, '\n\n`$1`: ')
    .split(/\n\s*\n/)
    .map((paragraph) => paragraph.split('\n').join(' ').trim());
  return [...paragraphs, ...examples.map((example) => example.trim())]
    .filter((part) => part !== '')
    .join('\n\n');
}

function declared(file: string): Export[] {
  const text = textOf(file);
  return [...text.matchAll(declaration)].map((match) => {
    const [whole, comment = '', kind = '', name = ''] = match;
    const start = match.index + whole.lastIndexOf('export ');
    return {
      name,
      kind,
      doc: textOfComment(comment),
      signature: signatureAt(text.slice(start), kind),
      file,
    };
  });
}

const reexport = /^export (?:type )?(?:\*|\{([^}]*)\})(?: from '([^']+)')?;/gm;

function sourceOf(text: string, name: string): string {
  const imports = [...text.matchAll(/^import \{([^}]*)\} from '([^']+)';/gm)];
  const found = imports.find(([, names = '']) => new RegExp(`\\b${name}\\b`).test(names));
  return found?.[2] ?? '';
}

/** What a file exports, what it passes on included. Packages are left out: they have pages of their own. */
function exportsOf(file: string): Export[] {
  const text = textOf(file);
  const from = (target: string): Export[] =>
    target.startsWith('.') ? exportsOf(posix.join(posix.dirname(file), target)) : [];
  const passedOn = [...text.matchAll(reexport)].flatMap(([, names, target]) => {
    if (names === undefined) return from(target ?? '');
    return names.split(',').flatMap((part) => {
      const [own = '', name = own] = part
        .trim()
        .replace(/^type /, '')
        .split(' as ');
      const found = from(target ?? sourceOf(text, own)).find((one) => one.name === own);
      return found === undefined ? [] : [{ ...found, name }];
    });
  });
  return [...declared(file), ...passedOn];
}

/** The public names of the package, by name; one that is a type and a value is listed once, with its comment. */
export function publicExports(): Export[] {
  const byName = new Map<string, Export>();
  for (const one of exportsOf('agent_rl/index.ts')) {
    const known = byName.get(one.name);
    if (known === undefined || (known.doc === '' && one.doc !== '')) byName.set(one.name, one);
  }
  return [...byName.values()].toSorted((a, b) => (a.name < b.name ? -1 : 1));
}
