import type { Refusal } from '../../http/refusal.ts';

const types: Readonly<Record<number, string>> = {
  401: 'authentication_error',
  404: 'not_found_error',
  503: 'overloaded_error',
};

/** A refusal as the OpenAI API writes it. */
export const openAiError = ({ status, message, problems, code }: Refusal): object => ({
  error: {
    message,
    type: types[status] ?? (status >= 500 ? 'server_error' : 'invalid_request_error'),
    param: problems[0]?.path.join('.') ?? null,
    code: code ?? null,
  },
});
