import { afterAll, beforeAll, expect } from 'vitest';
import type { AnyRoute } from '../../src/http/route/route.ts';
import { createRouter } from '../../src/http/server/router.ts';
import type { LiveLedger } from '../../src/ledger/engine/ledger.ts';
import type { Hold } from '../../src/ledger/rules/requests.ts';
import { decodeCounters } from '../../src/ledger/store/counter-codec.ts';
import { ROUTES } from '../../src/routes/index.ts';
import { accountsWorld } from './accounts.ts';
import { type Ask, accountsEdge } from './accounts-edge.ts';
import { testDatabase } from './database.ts';
import { bearer } from './edge.ts';
import { liveLedger } from './ledger-load.ts';
import { ManualClock } from './manual-clock.ts';

/** What a spending is for; by default it matches no cap but those on everything. */
export type Purpose = {
  readonly taskId?: string;
  readonly host?: string;
  readonly payee?: string;
  readonly keyId?: number;
  readonly keyRootId?: number;
};

export type Answer = Awaited<ReturnType<Awaited<ReturnType<typeof openControls>>['ask']>>;

/** The controls' routes before a ledger that counts, on a database of their own, for all tests of a file. */
export function useControls() {
  let opened: Awaited<ReturnType<typeof openControls>>;
  beforeAll(async () => {
    opened = await openControls();
  });
  afterAll(() => opened[Symbol.asyncDispose]());
  return {
    get on() {
      return opened;
    },
  };
}

async function openControls() {
  const db = await testDatabase();
  const ledger = liveLedger(db.sql, 'controls');
  const world = accountsWorld(db.sql, { ledger, clock: new ManualClock(Date.now()) });
  world.invalidations.subscribe((notice) => {
    if ('agentId' in notice) ledger.invalidate(notice.agentId);
  });
  const edge = await accountsEdge(world, {
    rateLimits: { developerKeyPerMinute: 1_000_000, globalPerMinute: 1_000_000 },
  });
  let names = 0;
  const ask: Ask = async (method, path, how) => {
    const answer = await edge.ask(method, path, how);
    checkDescribed(method, path, answer);
    return answer;
  };
  return {
    ...edge,
    ask,
    ...spending(ledger),
    sql: db.sql,
    ledger,
    /** An agent of a developer of its own, funded, with one key. */
    async agent(fundedRaw = 1_000_000n) {
      const made = await edge.agentOf(`controlled ${++names}`);
      const agentId: number = made.agent.agentId;
      await ledger.credit({ agentId, amountRaw: fundedRaw, reference: `fund ${names}` });
      return { ...made, agentId, keyId: made.minted.id as number };
    },
    secondAgent: async (headers: Record<string, string>) => {
      const body = { name: `second ${++names}`, maxRateBps: 1_000, expirySeconds: 86_400 };
      const made = await edge.ask('POST', '/v1/developer/agents', { headers, body });
      const agentId: number = made.body.agentId;
      await ledger.credit({ agentId, amountRaw: 1_000_000n, reference: `fund ${names}` });
      const path = `/v1/developer/agents/${agentId}`;
      const minted = await edge.ask('POST', `${path}/keys`, { headers });
      return {
        agentId,
        path,
        headers,
        keyId: minted.body.id as number,
        key: bearer(minted.body.key),
      };
    },
    /** What is held under each own policy, as it is stored. */
    async ownCounters(agentId: number) {
      const [row] = await db.sql<{ counters: string | null }[]>`
        select counters from agent_funds where agent_id = ${agentId}`;
      return new Map(decodeCounters(row?.counters ?? null).map((c) => [c.policyId, c]));
    },
    async [Symbol.asyncDispose]() {
      await edge[Symbol.asyncDispose]();
      await ledger[Symbol.asyncDispose]();
      await db[Symbol.asyncDispose]();
    },
  };
}

const ROUTER = createRouter<AnyRoute>(ROUTES);

/** What succeeds has the status and exactly the shape that the API description promises. */
function checkDescribed(method: string, path: string, answer: { status: number; body: unknown }) {
  if (answer.status >= 300) return;
  const route = ROUTER.find(path.split('?')[0] ?? '')?.byMethod.get(method);
  expect(answer.status, `${method} ${path}`).toBe(route?.status ?? 200);
  expect(route?.response?.parse(answer.body), `${method} ${path}`).toEqual(answer.body);
}

/** Holds and settles as callers do, and writes down what was bought. */
function spending(ledger: LiveLedger) {
  let holds = 0;
  const hold = (agentId: number, amountRaw: bigint, purpose: Purpose = {}) => {
    const { keyId, keyRootId, taskId, host = null, payee = null } = purpose;
    return ledger.hold({
      spender: {
        agentId,
        ...(keyId !== undefined && { keyId }),
        ...(keyRootId !== undefined && { keyRootId }),
        ...(taskId !== undefined && { taskId }),
      },
      holdId: `controls-${++holds}`,
      amountRaw,
      destination: { host, payee },
    });
  };
  const open = async (agentId: number, amountRaw: bigint, purpose?: Purpose): Promise<Hold> => {
    const verdict = await hold(agentId, amountRaw, purpose);
    if (verdict.kind !== 'held') throw new Error(`refused: ${verdict.refusal.reason}`);
    return verdict.hold;
  };
  const settle = (held: Hold, actualRaw: bigint, keyId: number | null = null) =>
    ledger.settle({
      hold: held,
      actualRaw,
      account: 'gateway',
      source: 'acme',
      charges: (costRaw) => [
        {
          agentId: held.agentId,
          keyId,
          targetUrl: 'x',
          method: 'POST',
          costRaw,
          targetHost: held.facts.host ?? 'none',
          status: 'success',
          model: null,
          rail: null,
          usage: {},
          taskId: held.facts.taskId,
          actionId: null,
          customerId: null,
          sessionId: null,
          payee: held.facts.payee,
          responseStatusCode: 200,
          latencyMs: 1,
          overheadMs: null,
          upstreamMs: null,
        },
      ],
    });
  return {
    open,
    settle,
    /** The reason of a refusal; undefined where it was let through, and given back. */
    async refused(agentId: number, amountRaw: bigint, purpose?: Purpose) {
      const verdict = await hold(agentId, amountRaw, purpose);
      if (verdict.kind === 'refused') return verdict.refusal.reason;
      await ledger.settle({
        hold: verdict.hold,
        actualRaw: 0n,
        account: 'gateway',
        source: 'acme',
      });
      return undefined;
    },
    async spend(agentId: number, amountRaw: bigint, purpose: Purpose = {}) {
      await settle(await open(agentId, amountRaw, purpose), amountRaw, purpose.keyId ?? null);
    },
    release: (held: Hold) =>
      ledger.settle({ hold: held, actualRaw: 0n, account: 'gateway', source: 'acme' }),
  };
}
