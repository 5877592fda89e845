import { existsSync, readFileSync } from 'node:fs';
import { dirname, resolve } from 'node:path';

/** A type or value of this package, by where it is declared. */
export type Declaration = `${string}#${string}`;

interface DeclarationFile {
  /** Text of each declaration, by name; what is declared twice, as overloads are, is joined. */
  declared: ReadonlyMap<string, string>;
  /** Local names of the project's own declarations. */
  imported: ReadonlyMap<string, Declaration>;
  exported: ReadonlyMap<string, Declaration>;
}

/** The names in `{ a, type b as c }`, and what they become. */
const namesIn = (list: string) =>
  [...list.matchAll(/(?:type )?([\w$]+)(?: as ([\w$]+))?/g)].map(
    ([, name = '', as = name]) => [name, as] as const,
  );

const statementsOf = (text: string): string[] =>
  text.replaceAll(/\/\*[\s\S]*?\*\//g, '').split(/\n(?=[a-z])/);

const declaredName =
  /^(export )?(?:declare )?(?:abstract )?(?:class|interface|type|const|let|function|enum) ([\w$]+)/;
const listed = /^(import|export) (?:type )?\{([^}]*)\}(?: from '([^']+)')?/;
const everything = /^export \* from '([^']+)'/;

const files = new Map<string, DeclarationFile>();

/** Reads a `.d.ts` file as the compiler writes them: one statement begins at each unindented word. */
function read(file: string): DeclarationFile {
  const known = files.get(file);
  if (known !== undefined) return known;
  const declared = new Map<string, string>();
  const imported = new Map<string, Declaration>();
  const exported = new Map<string, Declaration>();
  files.set(file, { declared, imported, exported });
  for (const statement of statementsOf(readFileSync(file, 'utf8'))) {
    const [, isExported, name] = declaredName.exec(statement) ?? [];
    if (name !== undefined) {
      declared.set(name, `${declared.get(name) ?? ''}${statement}\n`);
      if (isExported !== undefined) exported.set(name, `${file}#${name}`);
    }
    const [, verb, list = '', from] = listed.exec(statement) ?? [];
    for (const [theirs, as] of namesIn(list)) {
      const own = imported.get(theirs) ?? (`${file}#${theirs}` as const);
      const found = from === undefined ? own : lookUp(file, from, theirs);
      if (found !== undefined) (verb === 'import' ? imported : exported).set(as, found);
    }
    const [, all] = everything.exec(statement) ?? [];
    for (const [theirs, found] of all === undefined ? [] : exportsOf(neighbour(file, all) ?? '')) {
      exported.set(theirs, found);
    }
  }
  return { declared, imported, exported };
}

/** The file of the project an import names; none for another package's. */
function neighbour(file: string, target: string): string | undefined {
  if (!target.startsWith('.')) return undefined;
  const found = resolve(dirname(file), target).replace(/\.(?:ts|js)$/, '.d.ts');
  if (!existsSync(found)) throw new Error(`${file} names ${target}, which is not built.`);
  return found;
}

function lookUp(file: string, target: string, name: string): Declaration | undefined {
  const from = neighbour(file, target);
  return from === undefined ? undefined : read(from).exported.get(name);
}

/** What a declaration file exports, by public name. */
export const exportsOf = (file: string): ReadonlyMap<string, Declaration> => read(file).exported;

/** Declarations of this project that a declaration's text names, itself aside. */
export function namedBy(declaration: Declaration): readonly Declaration[] {
  const [file = '', name = ''] = declaration.split('#');
  const { declared, imported } = read(file);
  const text = declared.get(name);
  if (text === undefined) throw new Error(`${declaration} is not declared.`);
  const words = new Set(text.match(/[\w$]+/g));
  return [...words].flatMap((word): Declaration[] => {
    if (word === name) return [];
    const found = imported.get(word);
    if (found !== undefined) return [found];
    return declared.has(word) ? [`${file}#${word}`] : [];
  });
}
