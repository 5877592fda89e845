const key = String.raw`(?:(?:api|access|subscription|service|bearer|auth\w*) (?:key|token|secret)|apikey|credentials?)`;
const fault = String.raw`(?:invalid|not valid|not found|unknown|missing|wrong|incorrect|malformed|expired|revoked|disabled|unauthori[sz]ed)`;
const refused = new RegExp(`\\b${key}\\b.{0,40}\\b${fault}\\b|\\b${fault}\\b.{0,40}\\b${key}\\b`);

/**
 * Whether the body of a status of 400 to 499 says that the key is not accepted: some providers have no status of its
 * own for that (Brave: 422 with `SUBSCRIPTION_TOKEN_INVALID`).
 *
 * @param query may be repeated in the body; what the policy wrote is not the provider's word.
 */
export function refusesKey(body: string, query: string): boolean {
  const said = body.replaceAll(query === '' ? '\0' : query, '');
  return refused.test(said.toLowerCase().replaceAll(/[^a-z]+/g, ' '));
}
