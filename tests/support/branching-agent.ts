import { chatCompletion } from '#agent_rl/gateway/dialects/chat-completions.ts';
import { sessionRecord } from '#agent_rl/gateway/turns/session-record.ts';
import { WholeAnswer } from '#agent_rl/http/answer-request.ts';
import { scriptedSession } from './scripted-session.ts';

const parameters = { type: 'object', properties: { query: { type: 'string' } } };
const tools = [{ type: 'function', function: { name: 'search', description: '', parameters } }];
const call =
  '<think>look</think><tool_call>\n{"name": "search", "arguments": {"query": "a"}}\n</tool_call>';

type Said = Record<string, unknown> & { tool_calls?: { id: string }[] };

/**
 * What is recorded of an agent that tries two answers of a tool, asks a sub-agent, drops thoughts, and at last its first turn.
 *
 * @param subAgent what the sub-agent says
 */
export async function playBranching(subAgent: string) {
  const { session } = await scriptedSession((prompt) => {
    if (prompt.includes('pruned')) return '<think>end</think>the end';
    if (prompt.includes('sub-agent')) return `<think>asked</think>${subAgent}`;
    return prompt.includes('answered') ? '<think>found</think>done' : call;
  });
  const head = { created: 1, model: 'm' };
  const { signal } = new AbortController();
  const ask = async (messages: readonly object[]): Promise<Said> => {
    const answer = await chatCompletion(
      { messages, tools, temperature: 0 },
      { session, head, signal, seed: 1, retried: false, ignore: (field) => session.ignore(field) },
    );
    if (!(answer instanceof WholeAnswer)) throw new Error('It is a stream.');
    answer.sent();
    return (answer.body as { choices: { message: Said }[] }).choices[0]!.message;
  };
  const question = { role: 'user', content: 'What is a?' };
  const { reasoning_content: _, reasoning: __, ...first } = await ask([question]);
  const told = (content: string) => {
    return { role: 'tool', tool_call_id: first.tool_calls?.[0]?.id, content };
  };
  const second = await ask([question, first, told('answered one')]);
  await ask([question, first, told('answered two')]);
  await ask([{ role: 'user', content: 'sub-agent' }]);
  await ask([question, second, { role: 'user', content: 'pruned' }]);
  await session.end();
  const { sequences, messages, requests, undelivered } = sessionRecord(session, 'the end');
  return { sequences, messages, requests, undelivered };
}
