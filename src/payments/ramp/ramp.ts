import { z } from 'zod';
import type { Clock } from '../../kernel/clock.ts';
import { parseBoundedJson } from '../../kernel/json/parse-json.ts';
import type { Log } from '../../kernel/log.ts';
import type { Random } from '../../kernel/random.ts';
import type { Fetch } from '../../platform/egress/fetch.ts';
import { rampErrors } from '../errors.ts';
import { PAYMENT_LIMITS } from '../limits.ts';
import type { RampKey } from './ramp-key.ts';
import { readSales, type Sale, SalesAnswer } from './sale.ts';
import { signRequest } from './sign-request.ts';

/** Token of one visit to the provider's page, which takes it once and within five minutes. */
export type RampToken = { readonly token: string; readonly channelId: string | null };

/** A provider that changes money into USDC and back. */
export interface Ramp {
  /** Makes a token for a visitor at `clientIp` and the wallet `address`. Throws 502 when the provider does not make one. */
  makeToken(visit: { readonly address: string; readonly clientIp: string }): Promise<RampToken>;
  /** Returns the address of the page on which a user sells USDC under an order's reference. */
  sellUrl(visit: { readonly token: string; readonly ref: string; readonly amount: string }): string;
  /** Returns the sales under an order's reference, newest first. Rejects when the provider cannot be asked. */
  sales(ref: string): Promise<readonly Sale[]>;
}

export type RampDeps = {
  readonly fetch: Fetch;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  readonly key: RampKey;
  /** Origin of the provider's API, and of its pages. */
  readonly baseUrl: string;
  readonly pageUrl: string;
  /** Page to which the provider sends the user back. Undefined: the provider's own. */
  readonly redirectUrl: string | undefined;
};

const TokenAnswer = z.object({
  token: z.string().min(1).max(8_192),
  channel_id: z.string().max(256).nullish(),
});

/** Creates the client of the provider. Each request has a credential of its own. */
export function createRamp(deps: RampDeps): Ramp {
  const { log, baseUrl, pageUrl, redirectUrl } = deps;
  let underWay = 0;

  const ask = async <T>(
    answer: z.ZodType<T>,
    method: 'GET' | 'POST',
    path: string,
    body?: object,
  ): Promise<T> => {
    const url = new URL(`${baseUrl.replace(/\/$/, '')}${path}`);
    const { timeoutMs, answerBytes: maxResponseBytes } = PAYMENT_LIMITS.ramp;
    const credential = await signRequest(deps, { method, url });
    const reply = await deps.fetch({
      url: url.href,
      method,
      headers: {
        authorization: `Bearer ${credential}`,
        accept: 'application/json',
        ...(body !== undefined && { 'content-type': 'application/json' }),
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
      timeoutMs,
      maxResponseBytes,
    });
    if (reply.status !== 200) throw new Error(`the provider answered ${reply.status}`);
    return answer.parse(parseBoundedJson(reply.body));
  };

  return {
    async makeToken({ address, clientIp }) {
      if (clientIp === 'unknown') throw rampErrors.clientUnknown();
      if (underWay >= PAYMENT_LIMITS.ramp.underWay) throw rampErrors.busy();
      underWay++;
      try {
        const made = await ask(TokenAnswer, 'POST', '/onramp/v1/token', {
          addresses: [{ address, blockchains: ['base'] }],
          assets: ['USDC'],
          clientIp,
        });
        return { token: made.token, channelId: made.channel_id ?? null };
      } catch (err) {
        log.warn({ err }, 'the provider of the ramp did not make a token');
        throw rampErrors.unavailable();
      } finally {
        underWay--;
      }
    },

    sellUrl({ token, ref, amount }) {
      const url = new URL(`${pageUrl.replace(/\/$/, '')}/v3/sell/input`);
      const query = {
        sessionToken: token,
        partnerUserRef: ref,
        defaultAsset: 'USDC',
        defaultNetwork: 'base',
        presetCryptoAmount: amount,
        ...(redirectUrl !== undefined && { redirectUrl }),
      };
      for (const [name, value] of Object.entries(query)) url.searchParams.set(name, value);
      return url.href;
    },

    async sales(ref) {
      const path = `/onramp/v1/sell/user/${encodeURIComponent(ref)}/transactions?pageSize=${PAYMENT_LIMITS.cashOut.sales}`;
      return readSales(await ask(SalesAnswer, 'GET', path), log);
    },
  };
}
