import { join } from 'node:path';

import { packageRoot } from '#agent_rl/core/package-root.ts';
import type { GenerationRequest, Sampler } from '#agent_rl/core/services/generator.ts';
import { unbiased } from '#agent_rl/core/services/generator.ts';
import { ServedModel } from '#agent_rl/gateway/sampling/served-model.ts';
import { SteppedGenerator } from '#agent_rl/gateway/sampling/stepped-generator.ts';
import { turnReader } from '#agent_rl/gateway/sampling/turn-reader.ts';
import { Session } from '#agent_rl/gateway/turns/session.ts';
import type { SessionRules } from '#agent_rl/gateway/turns/session-rules.ts';
import { LanguageModelPolicy } from '#agent_rl/policies/language-model-policy.ts';
import { HermesFormat } from '#agent_rl/policies/tool-call-formats/index.ts';
import { type LanguageModel, openLanguageModelFolder } from '#model/text/language-model.ts';

/** Says what the model writes next, without the token that ends the turn. @param prompt all that it has read, as text */
export type Script = (prompt: string, request: GenerationRequest) => string | Promise<string>;

let opened: Promise<LanguageModel> | undefined;

/** The starter's tokenizer and template: its tokens are real, and only what is drawn is not. */
const starterText = (): Promise<LanguageModel> =>
  (opened ??= openLanguageModelFolder(join(packageRoot(), 'model', 'mixed-starter')));

/** A model that writes what a script says; each of its tokens has the log-probability -0.5. */
export async function scriptedModel(script: Script, maxContextTokens = 4096) {
  const text = await starterText();
  const requests: GenerationRequest[] = [];
  const released: string[] = [];
  const sampler: Sampler = {
    async generate(request, signal) {
      requests.push(request);
      const said = await script(text.tokenizer.decode(request.tokens), request);
      const whole = [...text.encodeText(said), text.endOfTurnId];
      const drawn = request.key.drawn ?? 0;
      const tokens = whole.slice(drawn, drawn + request.maxTokens);
      const ended = drawn + tokens.length === whole.length;
      const stop = signal?.aborted === true ? 'aborted' : ended ? 'stop-token' : 'max-tokens';
      return { tokens, logProbs: tokens.map(() => -0.5), stop, version: 7 };
    },
    release: (episode) => void released.push(episode),
  };
  const generator = new SteppedGenerator(sampler);
  const settings = { thinking: true };
  const format = new HermesFormat();
  const policy = new LanguageModelPolicy({ model: text, generator, settings, format });
  const reader = turnReader(text, format, settings);
  const parts = { text, policy, generator, reader };
  const model = new ServedModel({ ...parts, vocabSize: 1000, maxContextTokens });
  return { model, requests, released, text };
}

/** The rules of a rollout's session, with what a test changes of them. */
export const rolloutRules = (changed: Partial<SessionRules> = {}): SessionRules => ({
  secret: 'one rollout',
  sampling: unbiased,
  maxTurnTokens: 512,
  maxTurns: 100,
  history: 'sampled',
  keyOf: (_, __, draw) => ({ seed: 1, taskId: 'task', sample: 0, turn: draw }),
  live: false,
  mostTokens: Infinity,
  attempt: (work) => work(),
  redact: (text) => text,
  ...changed,
});

/** A session of one rollout whose model writes what a script says. */
export async function scriptedSession(script: Script, changed: Partial<SessionRules> = {}) {
  const scripted = await scriptedModel(script);
  return { ...scripted, session: new Session(scripted.model, rolloutRules(changed)) };
}

/** A script that says what is listed for the last of some texts that were said to it. */
export const answering =
  (answers: Readonly<Record<string, string>>): Script =>
  (prompt) => {
    const [last = ''] = Object.keys(answers).toSorted(
      (a, b) => prompt.lastIndexOf(b) - prompt.lastIndexOf(a),
    );
    if (!prompt.includes(last)) throw new Error(`Nothing is scripted for ${prompt}`);
    return answers[last] ?? '';
  };
