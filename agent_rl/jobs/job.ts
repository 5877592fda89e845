import type { Sampling } from '../core/services/sampling.ts';
import type { ModelChoice } from './models/using-model.ts';
import type { PrepareDataOptions } from './data/prepare-data/prepare-data-options.ts';
import type { PreparedRun } from '../compose/prepare-run.ts';
import type { SandboxType } from '../sandbox/choose-backend.ts';
import type { SandboxDoctorOptions } from './machine/sandbox-doctor.ts';
import type { ServeSandboxOptions } from './machine/serve-sandbox.ts';

/** A sandbox of this machine. */
export type LocalSandboxType = Exclude<SandboxType, 'remote'>;

/** What every job is given. */
export interface JobOptions extends PreparedRun {
  /** Aborted by Ctrl-C: end at the next safe place, with a checkpoint. */
  readonly signal: AbortSignal;
  /** Shows a result to the user. Progress and logs go elsewhere. */
  readonly print: (text: string) => void;
}

export interface TrainingOptions extends JobOptions {
  /** Folder of the run to continue; `newest` takes the newest run of this config's output folder. */
  readonly resume?: string;
  /** Only prints the resolved plan. */
  readonly dryRun: boolean;
}

export interface EvaluationOptions extends JobOptions {
  /** Run folder or checkpoint to evaluate instead of `model.path`. */
  readonly checkpoint?: string;
  /** Split to attempt instead of `dataset.evalSplit`. */
  readonly split?: string;
}

export interface ChatOptions extends JobOptions {
  /** Run folder or checkpoint to talk to instead of `model.path`. */
  readonly checkpoint?: string;
  readonly prompt: string;
  /** Whether the transcript is coloured by where its tokens came from. */
  readonly color: boolean;
}

export interface VerifyDatasetOptions {
  /** A JSONL file. */
  readonly dataset: string;
  /** `mbpp` or `search`; our own of code tasks when absent. */
  readonly format?: string;
  /** Of search tasks: JSONL file of the documents they name by id. */
  readonly documents?: string;
  /** Of code tasks: where reference solutions run. Default `auto`. */
  readonly sandboxType?: LocalSandboxType;
  /** Of code tasks: the Python of the native sandbox. */
  readonly sandboxPython?: string;
  /** Of code tasks: programs run at once. */
  readonly sandboxWorkers?: number;
  readonly signal: AbortSignal;
  readonly print: (text: string) => void;
}

export interface IndexOptions {
  /** JSONL file or folder of prepared data. */
  readonly input: string;
  /** Folder of the index. */
  readonly output: string;
  /** YAML file of settings. */
  readonly config?: string;
  /** Settings as `path=value`, over those of the file. */
  readonly sets?: readonly string[];
  /** Replaces an index that is there. */
  readonly rebuild?: boolean;
  readonly signal: AbortSignal;
  readonly print: (text: string) => void;
}

/** A model that a job runs by itself, without an agent. */
export interface ModelJobOptions extends ModelChoice {
  /** Aborted by Ctrl-C. */
  readonly signal: AbortSignal;
  readonly print: (text: string) => void;
}

export interface QuantizeOptions {
  /** Folder of a float model, or a model of the hub as `org/name`. */
  readonly model: string;
  /** Branch, tag or commit of a model of the hub. */
  readonly revision?: string;
  /** Folder that is not there yet. */
  readonly output: string;
  readonly blockSize: number;
  /** File of UTF-8 text to compare on; random tokens when absent. */
  readonly text?: string;
  /** Most tokens of the text that are used. */
  readonly textTokens: number;
  /** The adapter to write beside the model; none when absent. */
  readonly lora?: {
    readonly rank: number;
    readonly alpha: number;
    readonly targets: readonly string[];
  };
  readonly seed: number;
  readonly device: string;
  readonly engineThreads?: number;
  readonly signal: AbortSignal;
  readonly print: (text: string) => void;
}

export interface ScoreOptions extends ModelJobOptions {
  /** JSONL file of `{"ids": [...], "id"?: ...}`. */
  readonly input: string;
  /** File to write, which must not be there. */
  readonly output: string;
  /** Most tokens, padding included, in one forward pass. */
  readonly batchTokens: number;
}

export interface GenerateOptions extends ModelJobOptions {
  /** JSONL file of `{"messages": [...]}` and `{"ids": [...]}`; or `prompt`. */
  readonly input?: string;
  /** What a user says. */
  readonly prompt?: string;
  /** File to write, which must not be there; without one the result holds what was generated. */
  readonly output?: string;
  /** JSON file of the tools that conversations without their own are told of. */
  readonly tools?: string;
  readonly thinking: boolean;
  readonly maxTokens: number;
  readonly sampling: Sampling;
  readonly seed: number;
  /** Of each line. */
  readonly samples: number;
  /** Most samples in flight. */
  readonly batch: number;
}

export interface MergeLoraOptions {
  /** Folder of a model, or a model of the hub as `org/name`. */
  readonly baseModel: string;
  /** Branch, tag or commit of a model of the hub. */
  readonly revision?: string;
  /** Folders of adapters, in order; those that one of them was trained over are found. */
  readonly loraModels: readonly string[];
  /** Folder to write, which must not be there. */
  readonly outputPath: string;
  /** `F32` by default, `BF16` or `F16`. */
  readonly dtype?: string;
  readonly signal: AbortSignal;
  readonly print: (text: string) => void;
}

export interface ExportOptions {
  /** Model folder, run folder or checkpoint, or a model of the hub as `org/name`. */
  readonly model: string;
  /** Branch, tag or commit of a model of the hub. */
  readonly revision?: string;
  /** Folders of adapters over it. */
  readonly adapters?: readonly string[];
  /** Folder to write, which is not there or empty. */
  readonly onnx: string;
  readonly signal: AbortSignal;
  readonly print: (text: string) => void;
}

/** What a job found, as `--json` prints it. */
export type JobResult = Readonly<Record<string, unknown>>;

/** A result that says whether all was well. */
export interface CheckResult extends JobResult {
  readonly ok: boolean;
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
  doctor(options: { readonly print: (text: string) => void }): Promise<CheckResult>;
}
