import { request } from 'undici';

/** A refusal of the server, with what it said. */
class ApiFailure extends Error {
  override readonly name = 'ApiFailure';
  /** The whole body of the answer. */
  readonly answer: string;

  constructor(message: string, answer: string) {
    super(message);
    this.answer = answer;
  }
}

export type Api = {
  readonly baseUrl: string;
  call<T>(
    method: 'GET' | 'POST',
    path: string,
    options?: { headers?: Record<string, string>; body?: unknown },
  ): Promise<T>;
};

/** A small JSON client of this server. A status of 400 or more throws, naming the call and the answer. */
export function createApi(baseUrl: string): Api {
  return {
    baseUrl,
    async call<T>(
      method: 'GET' | 'POST',
      path: string,
      options: { headers?: Record<string, string>; body?: unknown } = {},
    ) {
      const response = await request(`${baseUrl}${path}`, {
        method,
        headers: { 'content-type': 'application/json', ...options.headers },
        body: options.body === undefined ? null : JSON.stringify(options.body),
      });
      const text = await response.body.text();
      if (response.statusCode >= 400) {
        throw new ApiFailure(
          `${method} ${path} answered ${response.statusCode}: ${sentenceOf(text)}`,
          text,
        );
      }
      return JSON.parse(text) as T;
    },
  };
}

/** The sentence of an error body, or the body where it has none. */
function sentenceOf(text: string): string {
  try {
    const { message } = JSON.parse(text) as { readonly message?: unknown };
    return typeof message === 'string' ? message : text;
  } catch {
    return text;
  }
}

export const bearer = (key: string) => ({ authorization: `Bearer ${key}` });
