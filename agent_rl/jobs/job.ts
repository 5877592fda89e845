import type { Sampling } from '../core/services/sampling.ts';
import type { ModelChoice } from './models/model-choice.ts';
import type { PrepareDataOptions } from './data/prepare-data/prepare-data-options.ts';
import type { PreparedRun } from '../compose/prepare-run.ts';
import type { SandboxType } from '../sandbox/choose-backend.ts';
import type { SandboxDoctorOptions } from './machine/sandbox-doctor.ts';
import type { NewProjectOptions } from './new/new-project.ts';
import type { ServeSandboxOptions } from './machine/serve-sandbox.ts';

/** A sandbox of this machine. */
export type LocalSandboxType = Exclude<SandboxType, 'remote'>;

/** What every job is given. */
export interface JobOptions extends PreparedRun {
  /** Aborted by Ctrl-C: end at the next safe place, with a checkpoint. */
  signal: AbortSignal;
  /** Shows a result to the user. Progress and logs go elsewhere. */
  print: (text: string) => void;
}

export interface TrainingOptions extends JobOptions {
  /** Folder of the run to continue; `newest` takes the newest run of this config's output folder. */
  resume?: string;
  /** Only prints the resolved plan. */
  dryRun: boolean;
}

export interface EvaluationOptions extends JobOptions {
  /** Run folder or checkpoint to evaluate instead of `model.path`. */
  checkpoint?: string;
  /** Split to attempt instead of `dataset.evalSplit`. */
  split?: string;
}

export interface ChatOptions extends JobOptions {
  /** Run folder or checkpoint to talk to instead of `model.path`. */
  checkpoint?: string;
  /** Said alone; without it, `ask` is. */
  prompt?: string;
  /** The next line that the person types, `undefined` when there are no more. */
  ask?: () => Promise<string | undefined>;
  /** Whether the transcript is coloured by where its tokens came from. */
  color: boolean;
}

export interface VerifyDatasetOptions {
  /** A JSONL file. */
  dataset: string;
  /** `mbpp` or `search`; our own of code tasks when absent. */
  format?: string;
  /** Of search tasks: JSONL file of the documents they name by id. */
  documents?: string;
  /** Of code tasks: where reference solutions run. Default `auto`. */
  sandboxType?: LocalSandboxType;
  /** Of code tasks: the Python of the native sandbox. */
  sandboxPython?: string;
  /** Of code tasks: programs run at once. */
  sandboxWorkers?: number;
  signal: AbortSignal;
  print: (text: string) => void;
}

export interface IndexOptions {
  /** JSONL file or folder of prepared data. */
  input: string;
  /** Folder of the index. */
  output: string;
  /** YAML file of settings. */
  config?: string;
  /** Settings as `path=value`, over those of the file. */
  sets?: readonly string[];
  /** Replaces an index that is there. */
  rebuild?: boolean;
  signal: AbortSignal;
  print: (text: string) => void;
}

/** A model that a job runs by itself, without an agent. */
export interface ModelJobOptions extends ModelChoice {
  /** Aborted by Ctrl-C. */
  signal: AbortSignal;
  print: (text: string) => void;
}

export interface QuantizeOptions {
  /** Folder of a float model, or a model of the hub as `org/name`. */
  model: string;
  /** Branch, tag or commit of a model of the hub. */
  revision?: string;
  /** Folder that is not there yet. */
  output: string;
  blockSize: number;
  /** File of UTF-8 text to compare on; random tokens when absent. */
  text?: string;
  /** Most tokens of the text that are used. */
  textTokens: number;
  /** The adapter to write beside the model; none when absent. */
  lora?: {
    rank: number;
    alpha: number;
    targets: readonly string[];
  };
  seed: number;
  device: string;
  engineThreads?: number;
  signal: AbortSignal;
  print: (text: string) => void;
}

export interface ScoreOptions extends ModelJobOptions {
  /** JSONL file of `{"ids": [...], "id"?: ...}`. */
  input: string;
  /** File to write, which must not be there. */
  output: string;
  /** Most tokens, padding included, in one forward pass. */
  batchTokens: number;
}

export interface GenerateOptions extends ModelJobOptions {
  /** JSONL file of `{"messages": [...]}` and `{"ids": [...]}`; or `prompt`. */
  input?: string;
  /** What a user says. */
  prompt?: string;
  /** File to write, which must not be there; without one the result holds what was generated. */
  output?: string;
  /** JSON file of the tools that conversations without their own are told of. */
  tools?: string;
  thinking: boolean;
  maxTokens: number;
  sampling: Sampling;
  seed: number;
  /** Of each line. */
  samples: number;
  /** Most samples in flight. */
  batch: number;
}

export interface MergeLoraOptions {
  /** Folder of a model, or a model of the hub as `org/name`. */
  baseModel: string;
  /** Branch, tag or commit of a model of the hub. */
  revision?: string;
  /** Folders of adapters, in order; those that one of them was trained over are found. */
  loraModels: readonly string[];
  /** Folder to write, which must not be there. */
  outputPath: string;
  /** `F32` by default, `BF16` or `F16`. */
  dtype?: string;
  signal: AbortSignal;
  print: (text: string) => void;
}

export interface ExportOptions {
  /** Model folder, run folder or checkpoint, or a model of the hub as `org/name`. */
  model: string;
  /** Branch, tag or commit of a model of the hub. */
  revision?: string;
  /** Folders of adapters over it. */
  adapters?: readonly string[];
  /** Folder to write, which is not there or empty. */
  onnx: string;
  signal: AbortSignal;
  print: (text: string) => void;
}

/** What a job found, as `--json` prints it. */
export type JobResult = Readonly<Record<string, unknown>>;

/** A result that says whether all was well. */
export interface CheckResult extends JobResult {
  ok: boolean;
}

/** The jobs behind the commands. */
export interface Jobs {
  train(options: TrainingOptions): Promise<JobResult>;
  sft(options: TrainingOptions): Promise<JobResult>;
  evaluate(options: EvaluationOptions): Promise<JobResult>;
  chat(options: ChatOptions): Promise<JobResult>;
  verifyDataset(options: VerifyDatasetOptions): Promise<CheckResult>;
  index(options: IndexOptions): Promise<JobResult>;
  quantize(options: QuantizeOptions): Promise<JobResult>;
  prepareData(options: PrepareDataOptions): Promise<object>;
  score(options: ScoreOptions): Promise<JobResult>;
  generate(options: GenerateOptions): Promise<JobResult>;
  mergeLora(options: MergeLoraOptions): Promise<JobResult>;
  exportModel(options: ExportOptions): Promise<JobResult>;
  serveSandbox(options: ServeSandboxOptions): Promise<JobResult>;
  sandboxDoctor(options: SandboxDoctorOptions): Promise<CheckResult>;
  newProject(options: NewProjectOptions): Promise<JobResult>;
  doctor(options: { print: (text: string) => void }): Promise<CheckResult>;
}
