import { addressIn, topicOf, wordsOf } from './abi.ts';
import { inChunks } from './chunks.ts';
import { CHAIN_LIMITS } from './limits.ts';
import { byPlace, type LogQuery } from './log-query.ts';
import { type BlockRange, type LogRpc, readAllowance, readRange } from './log-range.ts';
import { RpcUnavailable } from './rpc.ts';
import type { ChainLog } from './rpc-answers.ts';

/** First topics of the logs of the token's events. */
const USDC_EVENTS = {
  used: '0x98de503528ee59b575ef0c0a2576a82497bfc029a5685b209e9ec333479b10a5',
  canceled: '0x1cdd46ff242716cdaa72d159d339a485b3438398348d68f09d7c8c0a59353d81',
  transfer: '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef',
} as const;

/** Position of a log on the chain. `blockHash` and `logIndex` together identify it for ever. */
export type LogPlace = Pick<ChainLog, 'txHash' | 'blockNumber' | 'blockHash' | 'logIndex'>;

/** Transfer of USDC on the chain. */
export type Transfer = LogPlace & {
  readonly from: string;
  readonly to: string;
  readonly valueRaw: bigint;
};

/** Log of an authorization that was used or cancelled, so that it can move nothing any more. */
export type AuthorizationLog = LogPlace & { readonly authorizer: string; readonly nonce: string };

export type UsedAuthorization = AuthorizationLog & {
  /** Transfer of the authorization: the log right behind it. Nothing else proves a payment. */
  readonly transfer: Pick<Transfer, 'to' | 'valueRaw'> | undefined;
};

export type UsdcEvent =
  | { readonly kind: 'used' | 'canceled'; readonly event: AuthorizationLog }
  | { readonly kind: 'transfer'; readonly event: Transfer };

/** Reads one log of the token. Throws for a log that the token cannot write, since a half-read log would be money misread. */
function decodeLog(log: ChainLog): UsdcEvent {
  const { txHash, blockNumber, blockHash, logIndex } = log;
  const place = { txHash, blockNumber, blockHash, logIndex };
  const [event, first, second, ...more] = log.topics;
  const who = first === undefined ? undefined : addressIn(first);
  if (who !== undefined && second !== undefined && more.length === 0) {
    if (event === USDC_EVENTS.transfer) {
      const to = addressIn(second);
      const [valueRaw, ...rest] = wordsOf(log.data) ?? [];
      if (to !== undefined && valueRaw !== undefined && rest.length === 0) {
        return { kind: 'transfer', event: { ...place, from: who, to, valueRaw } };
      }
    }
    const kind = event === USDC_EVENTS.used ? 'used' : 'canceled';
    if (event === USDC_EVENTS[kind]) {
      return { kind, event: { ...place, authorizer: who, nonce: second } };
    }
  }
  throw new RpcUnavailable('the token emitted an event in an unknown shape');
}

/**
 * Returns the authorizations of some wallets that moved USDC, and those that were canceled, in the order of the chain. Makes
 * one request to the node for every few hundred wallets.
 */
export async function outgoing(
  rpc: LogRpc,
  usdc: string,
  wallets: readonly string[],
  range: BlockRange,
): Promise<{
  readonly used: readonly UsedAuthorization[];
  readonly canceled: readonly AuthorizationLog[];
}> {
  const { used: usedTopic, canceled: canceledTopic, transfer } = USDC_EVENTS;
  const events = [usedTopic, canceledTopic, transfer];
  const logs = await readWallets(rpc, usdc, wallets, range, (some) => [events, some]);
  const decoded = logs.map(decodeLog);
  const transfers = new Map<string, Transfer>();
  for (const { kind, event } of decoded) {
    if (kind === 'transfer') transfers.set(placeKey(event, event.logIndex), event);
  }
  const used: UsedAuthorization[] = [];
  const canceled: AuthorizationLog[] = [];
  for (const { kind, event } of decoded) {
    if (kind === 'canceled') canceled.push(event);
    if (kind !== 'used') continue;
    const next = transfers.get(placeKey(event, event.logIndex + 1));
    const own = next?.from === event.authorizer && next.txHash === event.txHash ? next : undefined;
    used.push({ ...event, transfer: own && { to: own.to, valueRaw: own.valueRaw } });
  }
  return { used, canceled };
}

const placeKey = ({ blockHash }: LogPlace, logIndex: number) => `${blockHash}:${logIndex}`;

/** Returns the authorizations of some wallets that were carried out, in the order of the chain. Does not read the amounts. */
export async function carriedOut(
  rpc: LogRpc,
  usdc: string,
  wallets: readonly string[],
  range: BlockRange,
): Promise<readonly AuthorizationLog[]> {
  const logs = await readWallets(rpc, usdc, wallets, range, (some) => [[USDC_EVENTS.used], some]);
  return logs.map((log) => {
    const { kind, event } = decodeLog(log);
    if (kind !== 'used') throw new RpcUnavailable('the node answered another event');
    return event;
  });
}

/** Returns the transfers into some wallets, in the order of the chain. */
export async function incoming(
  rpc: LogRpc,
  usdc: string,
  wallets: readonly string[],
  range: BlockRange,
): Promise<readonly Transfer[]> {
  const logs = await readWallets(rpc, usdc, wallets, range, (some) => [
    [USDC_EVENTS.transfer],
    null,
    some,
  ]);
  return logs.map((log) => {
    const { kind, event } = decodeLog(log);
    if (kind !== 'transfer') throw new RpcUnavailable('the node answered another event');
    return event;
  });
}

async function readWallets(
  rpc: LogRpc,
  usdc: string,
  wallets: readonly string[],
  { fromBlock, to, witness, maxBytes, onFlood }: BlockRange,
  topicsOf: (wallets: readonly string[]) => readonly (readonly string[] | null)[],
): Promise<readonly ChainLog[]> {
  const parts: (readonly ChainLog[])[] = [];
  for (const some of inChunks(wallets, CHAIN_LIMITS.logs.walletsPerQuery)) {
    const topics = topicsOf(some.map(topicOf));
    const range = { fromBlock, toBlock: to.number, knowing: to, witness, maxBytes };
    const query = { address: usdc, topics, ...range };
    const flooded =
      onFlood &&
      ((part: LogQuery) =>
        onFlood({ wallet: walletIn(part) ?? usdc, blockNumber: part.fromBlock }));
    // Each query has its own allowance: with any number of wallets, a shorter range must reduce the size of an answer.
    parts.push(await readRange(rpc, query, readAllowance(), flooded));
  }
  return parts.flat().sort(byPlace);
}

/** Returns the wallet that a query about one wallet names. Undefined when the last topic is no address. */
const walletIn = ({ topics }: LogQuery): string | undefined =>
  addressIn(topics.at(-1)?.at(-1) ?? '');
