import { tryParseJson } from '../../../kernel/json/parse-json.ts';
import { isObject, type Json } from '../../../kernel/json.ts';
import type { Fetch } from '../../../platform/egress/fetch.ts';
import { PHONE_LIMITS } from '../../limits.ts';
import { CarrierFailed } from '../carrier.ts';
import { carrierAway, failedAnswer } from '../failed-answer.ts';

export type TelnyxAccount = {
  readonly apiKey: string;
  readonly baseUrl: string;
};

export type TelnyxRequest = {
  readonly method: 'GET' | 'POST' | 'DELETE';
  /** Path of the request below `/v2/`, with its query. */
  readonly path: string;
  readonly body?: Json;
};

export type TelnyxApi = {
  /** Makes a request and returns the `data` of the response. Throws CarrierFailed, and nothing else. */
  ask(question: TelnyxRequest): Promise<unknown>;
  /** Sends a command to a call. Returns false when the call is over or unknown. */
  command(callControlId: string, action: string, body: Json): Promise<boolean>;
};

/** Meaning of Telnyx's error codes for a number: another customer has it, or it cannot be called. */
const NUMBERS: ReadonlyMap<string, 'taken' | 'invalid'> = new Map([
  ['85001', 'taken'],
  ['85006', 'taken'],
  ['10016', 'invalid'],
]);
const CALL_IS_OVER = '90018';

/** Creates a client for the v2 API of Telnyx: JSON, with a bearer key. */
export function createTelnyxApi(deps: TelnyxAccount & { readonly fetch: Fetch }): TelnyxApi {
  const root = `${deps.baseUrl.replace(/\/+$/, '')}/v2/`;

  async function ask({ method, path, body }: TelnyxRequest): Promise<unknown> {
    const answer = await deps
      .fetch({
        url: root + path,
        method,
        headers: {
          authorization: `Bearer ${deps.apiKey}`,
          accept: 'application/json',
          ...(body !== undefined && { 'content-type': 'application/json' }),
        },
        ...(body !== undefined && { body: JSON.stringify(body) }),
        timeoutMs: PHONE_LIMITS.carrier.timeoutMs,
        maxResponseBytes: PHONE_LIMITS.carrier.answerBytes,
      })
      .catch((cause: unknown) => {
        throw carrierAway('telnyx', cause);
      });
    const said = tryParseJson(answer.body);
    if (answer.status < 200 || answer.status >= 300) throw failureOf(answer.status, said);
    return isObject(said) ? said.data : undefined;
  }

  return {
    ask,

    async command(callControlId, action, body) {
      const path = `calls/${encodeURIComponent(callControlId)}/actions/${action}`;
      try {
        await ask({ method: 'POST', path, body });
        return true;
      } catch (error) {
        const isOver = error instanceof CarrierFailed && error.code === CALL_IS_OVER;
        if (isOver || isUnknown(error)) return false;
        throw error;
      }
    },
  };
}

function failureOf(status: number, said: unknown): CarrierFailed {
  const errors: unknown = isObject(said) ? said.errors : undefined;
  const [first]: readonly unknown[] = Array.isArray(errors) ? errors : [];
  const { code, title: words } = isObject(first) ? first : {};
  return failedAnswer('telnyx', { status, code, words, number: NUMBERS.get(String(code)) });
}

/** Returns true when Telnyx does not know the call, number or recording of the request. */
export const isUnknown = (error: unknown): boolean =>
  error instanceof CarrierFailed &&
  (error.cause as { status?: unknown } | undefined)?.status === 404;
