/** Errors of frameworks for an unusable turn of the model. Other errors are the agent's own failures. */
const names: ReadonlySet<string> = new Set([
  // AI SDK
  'AI_NoSuchToolError',
  'AI_InvalidToolInputError',
  'AI_InvalidToolArgumentsError',
  'AI_ToolChoiceViolationError',
  'AI_NoObjectGeneratedError',
  'AI_NoOutputGeneratedError',
  // OpenAI Agents, for JavaScript and Python
  'ModelBehaviorError',
  'MaxTurnsExceededError',
  'MaxTurnsExceeded',
  // LangGraph
  'GraphRecursionError',
]);

/**
 * Whether the model is at fault, by the name of the error or its cause. @param own decides for the agent's own errors
 */
export function isModelError(thrown: unknown, own?: (thrown: unknown) => boolean): boolean {
  if (own?.(thrown) === true) return true;
  const seen = new Set<unknown>();
  for (let one = thrown; typeof one === 'object' && one !== null && !seen.has(one);) {
    seen.add(one);
    const { name, cause, isModelError: known } = one as Partial<Error & { isModelError: boolean }>;
    if (known === true || names.has(name ?? '')) return true;
    one = cause;
  }
  return false;
}

/** The name of the error that a program ended with, from what it wrote to stderr: `agents.exceptions.ModelBehaviorError: …`. */
export const errorNameIn = (stderr: string): string | undefined =>
  [...stderr.matchAll(/^(?:Uncaught )?(?:\w+\.)*(\w*(?:Error|Exception|Exceeded))\b(?=:|\s|$)/gm)]
    .at(-1)
    ?.at(1);
