import { request } from 'undici';

/** Thrown when the server answers with an error status. The message has the server's sentence. */
class ApiFailure extends Error {
  override readonly name = 'ApiFailure';
  /** Body of the response, as text. */
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

/**
 * Creates a small JSON client of this server. A call throws when the server answers with a status of 400 or more; the error
 * names the call and the answer.
 */
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

/** Returns the `message` of an error body, or the whole body when it has none. */
function sentenceOf(text: string): string {
  try {
    const { message } = JSON.parse(text) as { readonly message?: unknown };
    return typeof message === 'string' ? message : text;
  } catch {
    return text;
  }
}

export const bearer = (key: string) => ({ authorization: `Bearer ${key}` });
