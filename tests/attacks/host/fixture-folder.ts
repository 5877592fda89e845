import * as fs from 'node:fs';
import { join } from 'node:path';

import { newSecret } from './secrets.ts';

export interface Secrets {
  /** In the environment of the process that uses the sandbox. */
  environment: string;
  file: string;
  tests: string;
  reference: string;
  work: string;
  /** In a file that a descriptor leads to, which was open when the user of the sandbox was started. */
  inherited: string;
  /** Of a harmless program in the same sandbox. */
  code: string;
  stdin: string;
  output: string;
}

const namesIn = (folder: string): readonly string[] =>
  fs.existsSync(folder) ? fs.readdirSync(folder) : [];

const readOnce = (path: string): string => {
  const stat = fs.lstatSync(path);
  const mode = (stat.mode & 0o7777).toString(8);
  if (stat.isSymbolicLink()) return `link to ${fs.readlinkSync(path)}`;
  if (!stat.isFile()) return `no file, mode ${mode}`;
  return `${stat.nlink} links, mode ${mode}: ${fs.readFileSync(path, 'utf8').slice(0, 10_000)}`;
};

/** Files that all users may read and write, as careless users leave them. Notices when one is changed. */
export class FixtureFolder {
  readonly secretFile: string;
  readonly hiddenTests: string;
  readonly referenceSolution: string;
  readonly workFolder: string;
  readonly #untouched: ReadonlyMap<string, string>;

  constructor(
    readonly folder: string,
    private readonly secrets: Secrets,
  ) {
    this.secretFile = join(folder, 'secret.txt');
    this.hiddenTests = join(folder, 'tests', 'test_hidden.py');
    this.referenceSolution = join(folder, 'tests', 'reference_solution.py');
    this.workFolder = join(folder, 'work');
    this.#layOut();
    this.#untouched = this.#read();
  }

  /** Reports what was changed, and restores it. */
  changes(): readonly string[] {
    const now = this.#read();
    const paths = [...new Set([...this.#untouched.keys(), ...now.keys()])];
    const changed = paths.filter((path) => now.get(path) !== this.#untouched.get(path));
    if (changed.length > 0) this.#layOut();
    return changed.map((path) => `changed ${path.slice(this.folder.length)}`);
  }

  #layOut(): void {
    for (const name of namesIn(this.folder))
      fs.rmSync(join(this.folder, name), { recursive: true });
    for (const place of [this.folder, join(this.folder, 'tests'), this.workFolder]) {
      fs.mkdirSync(place, { recursive: true });
      fs.chmodSync(place, 0o777);
    }
    const { file, tests, reference, work } = this.secrets;
    this.#write(this.secretFile, file);
    this.#write(this.hiddenTests, `assert f(2) == 4  # ${tests}`);
    this.#write(this.referenceSolution, `def f(x): return x * x  # ${reference}`);
    this.#write(join(this.workFolder, 'notes.txt'), work);
  }

  #write(path: string, text: string): void {
    fs.writeFileSync(path, `${text}\n`);
    fs.chmodSync(path, 0o666);
  }

  #read(): ReadonlyMap<string, string> {
    if (!fs.existsSync(this.folder)) return new Map();
    const all = fs
      .readdirSync(this.folder, { recursive: true, encoding: 'utf8' })
      .map((name) => join(this.folder, name));
    return new Map([this.folder, ...all].map((path) => [path, readOnce(path)]));
  }
}

/** @param given secrets that exist already */
export const newSecrets = (given: Pick<Secrets, 'environment' | 'inherited'>): Secrets => {
  const [file, tests, reference, work] = [newSecret(), newSecret(), newSecret(), newSecret()];
  const [code, stdin, output] = [newSecret(), newSecret(), newSecret()];
  return { ...given, file, tests, reference, work, code, stdin, output };
};
