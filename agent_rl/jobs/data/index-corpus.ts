import { configInvalid, type Problem, validateBlock } from '../../config/index.ts';
import { applyOverrides, type Override, parseSet } from '../../config/yaml/overrides.ts';
import { settingsText } from '../../config/yaml/read-config-file.ts';
import { readYaml } from '../../config/yaml/read-yaml.ts';
import { AgentRlError, messageOf } from '../../core/errors.ts';
import { abortableStart } from '../../core/stopping/abort.ts';
import { packageVersion } from '../../core/package-root.ts';
import { buildCorpus, BuildSettings } from '../../search/corpus/index.ts';
import { Stopwatch } from '../../telemetry/index.ts';
import { readCorpus } from '../../tools/search/read-corpus.ts';
import type { JobContext, JobResult } from '../job.ts';

export interface IndexOptions extends JobContext {
  /** JSONL file or folder of prepared data. */
  input: string;
  /** Folder of the index. */
  output: string;
  /** YAML file of settings. */
  config?: string;
  /** Settings as `path=value`, which override the settings of the file. */
  sets?: readonly string[];
  /** Replaces an index that is there. */
  rebuild?: boolean;
}

/**
 * Builds the index of a corpus, or finds that it is there.
 *
 * @throws AgentRlError `CONFIG_INVALID` for wrong settings, and as `readCorpus` and `buildCorpus` do
 */
export async function indexCorpus(options: IndexOptions): Promise<JobResult> {
  const { input, output, config, sets = [], rebuild = false, print, signal } = options;
  const settings = buildSettings(config, sets);
  const source = await abortableStart(readCorpus(input), signal);
  if (settings.chunking !== undefined && !source.hasDocuments) {
    throw new AgentRlError(
      'CONFIG_INVALID',
      `The setting chunking has no effect: ${source.files.join(', ')} of ${input} already contains passages. Remove chunking, or index a file of whole documents.`,
    );
  }
  const watch = new Stopwatch();
  const { manifest, built, shortened } = await buildCorpus({
    source,
    output,
    settings,
    rebuild,
    version: packageVersion(),
    signal,
  });
  const { counts, dense, approximate } = manifest;
  const how = dense === null ? 'by words' : `by words and by vectors of ${dense.embedder}`;
  print(
    built
      ? `Indexed ${counts.documents} documents (${counts.passages} passages) in ${watch.total.toFixed(1)} s, for search ${how}: ${output}`
      : `${output} already contains this index: ${counts.documents} documents (${counts.passages} passages), for search ${how}.`,
  );
  if (shortened !== undefined && shortened > 0)
    print(
      `${shortened} of ${counts.passages} passages are longer than ${String(dense?.embedder)} can embed. The text past that limit is found by keyword search only. Make passages shorter: lower chunking.tokens, and set chunking.tokenizer to the embedder's tokenizer.`,
    );
  return {
    output,
    built,
    ...counts,
    dense: dense === null ? 'none' : dense.embedder,
    approximate,
    ...(shortened !== undefined && { shortenedPassages: shortened }),
    inputSha256: manifest.input.sha256,
  };
}

/** Settings of a YAML file, if one is named, overridden by `--set`. */
function buildSettings(file: string | undefined, sets: readonly string[]): BuildSettings {
  const tree = file === undefined ? readYaml('{}', 'defaults') : readYaml(textOf(file), file);
  if (tree.problems.length > 0) throw configInvalid(tree.problems);
  const parsed = sets.map(parseSet);
  const unread = parsed.filter((set): set is Problem => !('value' in set));
  if (unread.length > 0) throw configInvalid(unread);
  const overrides = parsed.filter((set): set is Override => 'value' in set);
  const { value, places, problems } = applyOverrides(tree, overrides);
  if (problems.length > 0) throw configInvalid(problems);
  return validateBlock(BuildSettings, value, { path: '', places });
}

function textOf(file: string): string {
  try {
    return settingsText(file);
  } catch (cause) {
    throw new AgentRlError('CONFIG_INVALID', `--config ${file}: ${messageOf(cause)}.`, { cause });
  }
}
