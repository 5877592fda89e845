import { askBy, type ChatMessage, result, said, tool, user } from './agent-client.ts';

const tools = [tool('search')];
const delay = (most: number) => new Promise((resolve) => setTimeout(resolve, Math.random() * most));

/**
 * An agent that asks three branches at once, one of which asks a sub-agent first, calls tools of its own, and prunes its history before
 * it asks for the last time. It takes its time: another each time it is run.
 */
export async function delayedAgent({
  task,
  fetch,
  mostMs,
}: {
  task: { prompt?: unknown };
  fetch: typeof globalThis.fetch;
  mostMs: number;
}): Promise<string> {
  const askNow = askBy(fetch);
  const ask = async (messages: readonly ChatMessage[]) => {
    await delay(mostMs);
    return askNow({ messages, tools, temperature: 0 });
  };
  const question = user(String(task.prompt));
  const branch = async (name: string): Promise<string> => {
    const help = name === 'b' ? await sub(name) : 'none';
    const messages: ChatMessage[] = [question, user(`Branch ${name}, ${help}.`)];
    for (let turn = 0; turn < 2; turn++) {
      const answer = await ask(messages);
      const calls = answer.choices[0]?.message.tool_calls ?? [];
      messages.push(said(answer));
      if (calls.length === 0) return String(answer.choices[0]?.message.content);
      await delay(mostMs);
      messages.push(result(answer, `nothing ${turn}`));
      // Other calls of the turn have no answer yet.
      for (const { id } of calls.slice(1))
        messages.push({ role: 'tool', tool_call_id: id, content: 'none' });
    }
    return 'none';
  };
  const sub = async (name: string): Promise<string> => {
    const answer = await ask([{ role: 'system', content: 'Sub.' }, user(`Help ${name}.`)]);
    return String(answer.choices[0]?.message.content);
  };
  const found = await Promise.all(['a', 'b', 'c'].map(branch));
  const messages = [question, user(found.join(' '))];
  messages.push(said(await ask(messages)), user('Shorter.'));
  const { content } = (await ask(messages)).choices[0]!.message;
  const pruned = await ask([user('Shorter.'), { role: 'assistant', content }, user('Shorter.')]);
  return String(pruned.choices[0]?.message.content);
}
