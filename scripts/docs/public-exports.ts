import { readFileSync } from 'node:fs';
import { join, posix } from 'node:path';

import { packageRoot } from '../../agent_rl/core/package-root.ts';

/** A name that the package exports. */
export interface Export {
  name: string;
  /** `class`, `function`, `type` or `value`. */
  kind: string;
  /** The first sentence of its comment; empty where it has none. */
  doc: string;
}

const textOf = (file: string): string => readFileSync(join(packageRoot(), file), 'utf8');

const kinds: Readonly<Record<string, string>> = { const: 'value', interface: 'type' };

/** A comment, decorators of a class, and what is declared. */
const declaration =
  /(?:^\/\*\*((?:(?!\*\/)[\s\S])*)\*\/\s*)?(?:^@(?:(?!^export |^\/\*\*)[\s\S])*)?^export (?:declare |abstract |async )*(class|function|const|interface|type) (\w+)/gm;

const firstSentence = (comment: string): string =>
  comment
    .replaceAll(/^\s*\* ?/gm, '')
    .trim()
    .split(/\n\s*\n|\n@|(?<=[^.]\.)\s/, 1)
    .join('')
    .replaceAll(/\{@link (\w+)\}/g, '`$1`')
    .replaceAll(/\s+/g, ' ');

/** What a file declares; of a type and a value of one name, or overloads, that which has a comment. */
function declared(file: string): Map<string, Export> {
  const found = new Map<string, Export>();
  for (const [, comment = '', kind = '', name = ''] of textOf(file).matchAll(declaration)) {
    const known = found.get(name);
    if (known === undefined || known.doc === '')
      found.set(name, { name, kind: kinds[kind] ?? kind, doc: firstSentence(comment) });
  }
  return found;
}

const passedOn = /^export (?:type )?\{([^}]*)\} from '([^']+)';/gm;

/** The names that an entry of the package passes on, by name. What comes from other packages has pages there. */
export function publicExports(entry: string): Export[] {
  return [...textOf(entry).matchAll(passedOn)]
    .flatMap(([, list = '', target = '']) => {
      const names = [...list.matchAll(/(?:type )?(\w+)/g)].map(([, name = '']) => name);
      if (!target.startsWith('.'))
        return names.map((name) => ({ name, kind: 'value', doc: `\`${name}\` of ${target}.` }));
      const found = declared(posix.join(posix.dirname(entry), target));
      return names.map((name) => {
        const one = found.get(name);
        if (one === undefined) throw new Error(`${entry}: ${target} does not declare ${name}.`);
        return one;
      });
    })
    .toSorted((a, b) => (a.name < b.name ? -1 : 1));
}
