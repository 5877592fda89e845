import { brave } from './brave.ts';
import { custom } from './custom.ts';
import { exa } from './exa.ts';
import type { Provider } from './provider.ts';
import { searxng } from './searxng.ts';
import { serper } from './serper.ts';
import { tavily } from './tavily.ts';
import { webIq } from './web-iq.ts';

export type { FoundPage, Provider } from './provider.ts';

const providers: ReadonlyMap<string, Provider> = new Map(
  [tavily, serper, brave, exa, searxng, webIq, custom].map((one) => [one.name, one]),
);

const providerNames: readonly string[] = [...providers.keys()];

/** @throws Error that says what there is, and what became of Bing. */
export function providerOf(name: string): Provider {
  const found = providers.get(name);
  if (found !== undefined) return found;
  if (name.toLowerCase() === 'bing') {
    throw new Error(
      'provider "bing" is gone: Microsoft retired the Bing Search API on 11 August 2025. Its successor is Microsoft Web IQ: use provider: web_iq with a key of its own, or provider: custom with the endpoint of a server that still speaks for Bing.',
    );
  }
  throw new Error(`provider "${name}" is not known. Known: ${providerNames.join(', ')}.`);
}
