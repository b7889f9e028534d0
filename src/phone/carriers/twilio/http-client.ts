import type { Fetch } from '../../../platform/egress/fetch.ts';
import { PHONE_LIMITS } from '../../limits.ts';

/** A request of the SDK to its HTTP client. */
type SdkRequest = {
  readonly method: string;
  readonly uri: string;
  readonly username?: string | undefined;
  readonly password?: string | undefined;
  readonly headers?: Readonly<Record<string, string>> | undefined;
  readonly params?: Fields | undefined;
  readonly data?: Fields | undefined;
};

type SdkAnswer = {
  readonly statusCode: number;
  readonly body: string;
  readonly headers: Readonly<Record<string, unknown>>;
};

type Fields = Readonly<Record<string, unknown>>;

/**
 * Creates the HTTP client of the SDK on top of the server's own client: bounded in time and in size, at the base URL of the
 * settings.
 */
export function createSdkClient(deps: { readonly fetch: Fetch; readonly baseUrl: string }): {
  request(request: SdkRequest): Promise<SdkAnswer>;
} {
  const base = deps.baseUrl.replace(/\/+$/, '');
  return {
    async request({ method, uri, username, password, headers = {}, params, data }) {
      const { pathname, search } = new URL(uri);
      const query = encoded(params);
      const isWrite = method === 'post';
      const answer = await deps.fetch({
        url: `${base}${pathname}${search}${query === '' ? '' : `${search === '' ? '?' : '&'}${query}`}`,
        method: methodOf(method),
        headers: {
          ...headers,
          authorization: `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}`,
        },
        ...(isWrite && { body: encoded(data) }),
        timeoutMs: PHONE_LIMITS.carrier.timeoutMs,
        maxResponseBytes: PHONE_LIMITS.carrier.answerBytes,
      });
      return {
        statusCode: answer.status,
        body: Buffer.from(answer.body).toString(),
        headers: answer.headers,
      };
    },
  };
}

function methodOf(method: string): 'GET' | 'POST' | 'DELETE' {
  const name = method.toUpperCase();
  if (name === 'GET' || name === 'POST' || name === 'DELETE') return name;
  throw new Error(`the carrier's SDK asked for ${name}`);
}

/** Returns form-encoded fields. A list repeats its name for each element. */
function encoded(fields: Fields = {}): string {
  const form = new URLSearchParams();
  for (const [name, value] of Object.entries(fields)) {
    for (const one of Array.isArray(value) ? value : [value]) {
      if (one !== undefined && one !== null) form.append(name, String(one));
    }
  }
  return form.toString();
}
