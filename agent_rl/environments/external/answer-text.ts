/** The answer of an agent as text: texts as they are, other values as JSON; `undefined` where it gave none. */
export function answerText(answer: unknown): string | undefined {
  if (answer === undefined || answer === null) return undefined;
  const text = typeof answer === 'string' ? answer : JSON.stringify(answer);
  return text.trim() === '' ? undefined : text;
}
