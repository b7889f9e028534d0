import type { KeyObject } from 'node:crypto';
import { z } from 'zod';
import { tryParseJson } from '../../kernel/json/parse-json.ts';
import type { Fetch } from '../../platform/egress/fetch.ts';
import { parseAddress } from '../../x402/address.ts';
import type { typedTransfer } from '../../x402/authorization.ts';
import { ACCOUNT_LIMITS } from '../limits.ts';
import { publicKeyText, signRequest } from './request-signature.ts';

/** Thrown when the provider cannot be reached, refuses, or answers with something else than a wallet or a signature. */
export class WalletProviderError extends Error {
  override readonly name = 'WalletProviderError';
  /** HTTP status of the provider's response. Undefined when there was no response. */
  readonly status: number | undefined;

  constructor(message: string, status?: number, cause?: unknown) {
    super(message, { cause });
    this.status = status;
  }
}

export type ProviderSettings = {
  /** Origin of the provider's API without a path, such as `https://wallets.example`. */
  readonly baseUrl: string;
  readonly appId: string;
  readonly appSecret: string;
  readonly signingKey: KeyObject;
  /** Prefix of the provider's own headers. */
  readonly headerPrefix: string;
};

/** A wallet's id at its provider, and its address. */
export type ProvidedWallet = { readonly walletId: string; readonly address: string };

/** A service that holds wallets behind a REST API. Every method rejects with WalletProviderError only. */
export interface WalletProvider {
  /** Finds the wallet that was created with this external id. Undefined when the provider has none. */
  find(externalId: string): Promise<ProvidedWallet | undefined>;
  /** Creates the wallet of this id, or returns the existing wallet: a repeated call creates no second wallet. */
  create(externalId: string): Promise<ProvidedWallet>;
  /** Returns the wallet's signature as the provider gives it: 65 bytes in 0x hex, unchecked. */
  signTransfer(walletId: string, transfer: ReturnType<typeof typedTransfer>): Promise<string>;
}

const Wallet = z.object({
  id: z.string().regex(/^[\w-]{1,128}$/),
  address: z.string().transform((text, context) => {
    const address = parseAddress(text);
    if (address === undefined) context.addIssue('not an address');
    return address ?? z.NEVER;
  }),
  chain_type: z.literal('ethereum'),
  external_id: z.string().nullish(),
});
const Wallets = z.object({ data: z.array(z.unknown()) });
const Signed = z.object({
  data: z.object({ signature: z.string().regex(/^0x[0-9a-fA-F]{130}$/) }),
});
const Refused = z.object({ error: z.string() });

const CONFLICT = 409;

type Ask = {
  readonly path: string;
  /** Body of a POST, which is signed. Absent: the request is a GET without a signature. */
  readonly body?: object;
  readonly idempotencyKey?: string;
};

/**
 * Creates the client of a hosted wallet provider. Requests are signed with a key, since the app's secret alone does not
 * authorize them; the time, the response size and the number of concurrent requests are bounded.
 */
export function createWalletProvider(
  deps: ProviderSettings & { readonly fetch: Fetch },
): WalletProvider {
  let underWay = 0;

  async function ask(question: Ask): Promise<unknown> {
    if (underWay >= ACCOUNT_LIMITS.wallet.underWay) {
      throw new WalletProviderError('too many requests to the wallet provider are under way');
    }
    underWay++;
    try {
      return await exchange(deps, question);
    } finally {
      underWay--;
    }
  }

  async function find(externalId: string): Promise<ProvidedWallet | undefined> {
    const query = new URLSearchParams({ external_id: externalId, chain_type: 'ethereum' });
    const { data } = read(Wallets, await ask({ path: `/v1/wallets?${query}` }));
    // A provider that ignores the filter returns the wallets of all customers.
    const ours = data
      .map((entry) => Wallet.safeParse(entry).data)
      .filter((wallet) => wallet?.external_id === externalId);
    if (ours.length > 1) throw new WalletProviderError('the provider has two wallets of one id');
    return ours[0] && provided(ours[0]);
  }

  return {
    find,

    async create(externalId) {
      const owner = { public_key: publicKeyText(deps.signingKey) };
      const body = { chain_type: 'ethereum', external_id: externalId, owner };
      try {
        const answer = await ask({ path: '/v1/wallets', body, idempotencyKey: externalId });
        const wallet = read(Wallet, answer);
        if ((wallet.external_id ?? externalId) === externalId) return provided(wallet);
        throw new WalletProviderError('the provider made a wallet under another id');
      } catch (error) {
        const isThere = error instanceof WalletProviderError && error.status === CONFLICT;
        const wallet = isThere ? await find(externalId) : undefined;
        if (wallet === undefined) throw error;
        return wallet;
      }
    },

    async signTransfer(walletId, transfer) {
      const { primaryType, ...rest } = transfer;
      const params = { typed_data: { ...rest, primary_type: primaryType } };
      const body = { method: 'eth_signTypedData_v4', params };
      const path = `/v1/wallets/${encodeURIComponent(walletId)}/rpc`;
      return read(Signed, await ask({ path, body })).data.signature;
    },
  };
}

const provided = (wallet: z.output<typeof Wallet>): ProvidedWallet => ({
  walletId: wallet.id,
  address: wallet.address,
});

function read<T extends z.ZodType>(schema: T, answer: unknown): z.output<T> {
  const parsed = schema.safeParse(answer);
  if (parsed.success) return parsed.data;
  throw new WalletProviderError(`the wallet provider answered no ${nameOf(schema)}`);
}

const nameOf = (schema: z.ZodType): string => (schema === Signed ? 'signature' : 'wallet');

async function exchange(
  deps: ProviderSettings & { readonly fetch: Fetch },
  { path, body, idempotencyKey }: Ask,
): Promise<unknown> {
  const url = `${deps.baseUrl.replace(/\/+$/, '')}${path}`;
  const own: Record<string, string> = { [`${deps.headerPrefix}-app-id`]: deps.appId };
  if (idempotencyKey !== undefined) own[`${deps.headerPrefix}-idempotency-key`] = idempotencyKey;
  const credentials = Buffer.from(`${deps.appId}:${deps.appSecret}`).toString('base64');
  const headers: Record<string, string> = { ...own, authorization: `Basic ${credentials}` };
  if (body !== undefined) {
    headers['content-type'] = 'application/json';
    headers[`${deps.headerPrefix}-authorization-signature`] = signRequest(deps.signingKey, {
      method: 'POST',
      url,
      body,
      headers: own,
    });
  }
  const answer = await deps
    .fetch({
      url,
      headers,
      ...(body === undefined ? { method: 'GET' } : { method: 'POST', body: JSON.stringify(body) }),
      timeoutMs: ACCOUNT_LIMITS.wallet.timeoutMs,
      maxResponseBytes: ACCOUNT_LIMITS.wallet.answerBytes,
    })
    .catch((cause: unknown) => {
      throw new WalletProviderError('the wallet provider cannot be reached', undefined, cause);
    });
  const said = tryParseJson(answer.body);
  if (answer.status >= 200 && answer.status < 300) return said;
  const reason = Refused.safeParse(said).data?.error ?? '';
  const words = reason.slice(0, ACCOUNT_LIMITS.wallet.reasonChars);
  throw new WalletProviderError(
    `the wallet provider answered ${answer.status} ${words}`,
    answer.status,
  );
}
