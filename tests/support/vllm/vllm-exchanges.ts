import { captured, comparableBy, exchanged } from '../exchanges.ts';

/** Asked of a server of its own: the next generation after a loading that failed ends its engine. */
export const breaking = 'no such folder';

export const capturedVllm = () => captured('vllm/exchanges.json');

export const askVllm = (url: string) =>
  exchanged(
    url,
    capturedVllm().exchanges.filter(({ name }) => name !== breaking),
  );

/** What means something to the generator counts; the rest may be another value of its kind. */
export const comparable = comparableBy(
  'finish_reason stop_reason weight_versions weight_version version is_paused max_model_len parent code prompt_tokens',
);
