import type { Sql } from '../../platform/postgres/sql.ts';
import { reportErrors } from '../errors.ts';
import { REPORT_LIMITS } from '../limits.ts';
import { findKeyAgent, findOwnAgents, type OwnAgent } from '../own-agents-store.ts';
import {
  type ActivityEvent,
  type ActivityType,
  byPlace,
  hasNumber,
  RANK,
} from './activity-event.ts';
import { findCharges, findPlatformCalls, findUnpaid } from './calls-store.ts';
import { findCredits, findExternal, findWithdrawals } from './money-store.ts';
import { cursorAt, type Position, readCursor } from './page-cursor.ts';
import type { Wanted } from './wanted-store.ts';

/** Readers of the sources by the kind of activity that they have. Only calls through this server have a key. */
const SOURCES = [
  { type: 'x402_call', hasKeys: true, find: findCharges },
  { type: 'x402_call', hasKeys: true, find: findUnpaid },
  { type: 'x402_call', hasKeys: false, find: findPlatformCalls },
  { type: 'transfer_deposit', hasKeys: false, find: findCredits },
  { type: 'transfer_withdrawal', hasKeys: false, find: findWithdrawals },
  { type: 'transfer_external', hasKeys: false, find: findExternal },
] as const;

export type ActivityFilter = {
  readonly agentId?: number | undefined;
  readonly keyId?: number | undefined;
  readonly types?: readonly ActivityType[] | undefined;
  readonly since?: Date | undefined;
  readonly until?: Date | undefined;
  readonly cursor?: string | undefined;
  readonly limit: number;
  readonly hasDetails: boolean;
};

export type Activity = ReturnType<typeof createActivity>;

/** Creates the list of everything that moved money of an account, newest first, in pages. */
export function createActivity({ sql }: { readonly sql: Sql }) {
  return {
    /**
     * Returns one page. A page may have fewer events than `limit`, or none, while `hasMore` is true: the rows of a key that is
     * seldom used lie far apart, and a page reads `REPORT_LIMITS.activity.scanned` rows at most.
     */
    async page(accountId: string, filter: ActivityFilter) {
      if (filter.since !== undefined && filter.until !== undefined) {
        if (filter.since >= filter.until) throw reportErrors.invalidWindow();
      }
      const before = filter.cursor === undefined ? undefined : readCursor(filter.cursor, hasNumber);
      const agents = await agentsOf(sql, accountId, filter);
      const limit = Math.min(Math.max(filter.limit, 1), REPORT_LIMITS.activity.page.most);
      const { events, next } = await readPage(sql, filter, {
        agentIds: [...agents.keys()],
        keyId: filter.keyId,
        sinceMicros: filter.since && microsOf(filter.since),
        untilMicros: filter.until && microsOf(filter.until),
        before,
        limit: limit + 1,
      });
      return {
        events: events.map((event) => eventRecord(event, agents.get(event.agentId), filter)),
        nextCursor: next === undefined ? null : cursorAt(next, hasNumber(next.rank)),
        hasMore: next !== undefined,
      };
    },
  };
}

const microsOf = (date: Date): bigint => BigInt(date.getTime()) * 1_000n;

/** Returns the agents of the account that the filter admits. Throws 404 when there is none. */
async function agentsOf(
  sql: Sql,
  accountId: string,
  { agentId, keyId }: ActivityFilter,
): Promise<ReadonlyMap<number, OwnAgent>> {
  const agents = new Map((await findOwnAgents(sql, accountId)).map((one) => [one.id, one]));
  if (agents.size === 0) throw reportErrors.noAgents();
  const ofKey = keyId === undefined ? undefined : await findKeyAgent(sql, accountId, keyId);
  if (keyId !== undefined && ofKey === undefined) throw reportErrors.keyNotFound();
  const wanted = [agentId, ofKey].filter((id) => id !== undefined);
  if (agentId !== undefined && !agents.has(agentId)) throw reportErrors.agentNotFound();
  if (wanted.length === 0) return agents;
  return new Map([...agents].filter(([id]) => wanted.every((one) => one === id)));
}

async function readPage(
  sql: Sql,
  { keyId, types }: ActivityFilter,
  wanted: Wanted,
): Promise<{ readonly events: readonly ActivityEvent[]; readonly next: Position | undefined }> {
  const sources = SOURCES.filter(
    ({ hasKeys, type }) =>
      (types === undefined || types.includes(type)) && (keyId === undefined || hasKeys),
  );
  const found = await Promise.all(sources.map(({ find }) => find(sql, wanted)));
  const sorted = found.flatMap(({ events }) => events).sort(byPlace);
  // Events beyond the newest row at which a search ended may be missing: the next page begins there.
  const end = newest(found.flatMap(({ readTo }) => (readTo === undefined ? [] : [readTo])));
  const known = end === undefined ? sorted : sorted.filter((event) => !isBeyond(event, end));
  const events = known.slice(0, wanted.limit - 1);
  const last = events.at(-1);
  if (known.length > events.length && last !== undefined) return { events, next: placeOf(last) };
  return { events, next: end };
}

const placeOf = (event: ActivityEvent): Position => ({
  atMicros: event.atMicros,
  rank: RANK[event.source],
  id: event.rowId,
});

const newest = (places: readonly Position[]): Position | undefined =>
  places.reduce<Position | undefined>(
    (best, place) => (best === undefined || isOlder(best, place) ? place : best),
    undefined,
  );

const isOlder = (a: Position, b: Position): boolean =>
  a.atMicros < b.atMicros || (a.atMicros === b.atMicros && a.rank < b.rank);

const isBeyond = (event: ActivityEvent, end: Position): boolean => {
  const place = placeOf(event);
  return place.rank === end.rank && place.atMicros === end.atMicros
    ? BigInt(place.id) < BigInt(end.id)
    : isOlder(place, end);
};

const eventRecord = (
  event: ActivityEvent,
  agent: OwnAgent | undefined,
  { hasDetails }: ActivityFilter,
) => ({
  id: `${event.source}:${event.rowId}`,
  type: event.type,
  agent: {
    id: event.agentId,
    name: agent?.name ?? '',
    walletAddress: agent?.walletAddress ?? null,
  },
  timestamp: new Date(Number(event.atMicros / 1_000n)).toISOString(),
  status: event.status,
  summary: event.summary,
  amountRaw: event.amountRaw?.toString() ?? null,
  txHash: event.txHash,
  ...(hasDetails && { details: event.details }),
});
