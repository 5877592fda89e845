/** What the controls of one seed are made with. */
export interface SeedOptions {
  seed: number;
  config: string;
  sftConfig: string;
  /** `a.b=c`, over the config. */
  sets: readonly string[];
  /** Folder of runs to read instead of repeating them. */
  runs: string;
  /** Where the parts of this seed are kept. */
  folder: string;
  signal: AbortSignal;
  print: (text: string) => void;
}
