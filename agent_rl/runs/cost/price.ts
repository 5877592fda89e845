import type { Config } from '../../config/index.ts';
import type { TokenCounts } from '../../rollout/tokens/token-counts.ts';

export type Prices = NonNullable<Config['run']['prices']>;

/** What a service charges for a number of tokens, in the currency of the prices. */
export const priceOf = ({ read, sampled, trained }: TokenCounts, prices: Prices): number =>
  (read * prices.read + sampled * prices.sampled + trained * prices.trained) / 1e6;

const moneyText = (amount: number, { currency }: Prices): string =>
  `${amount.toLocaleString('en', { minimumFractionDigits: 2, maximumFractionDigits: 2 })} ${currency}`;

const rounded = (tokens: number): string =>
  tokens.toLocaleString('en', { notation: 'compact', maximumSignificantDigits: 3 });

/** Tokens in words, and what they cost where prices are known. */
export function tokensText(tokens: TokenCounts, prices: Prices | undefined): string {
  const { read, sampled, trained } = tokens;
  const counts = `${rounded(read)} tokens read, ${rounded(sampled)} sampled, ${rounded(trained)} trained on`;
  return prices === undefined ? counts : `${counts}: ${moneyText(priceOf(tokens, prices), prices)}`;
}
