import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { checkInvariants } from '../../src/ledger/store/check-invariants.ts';
import type { SessionStep } from '../../src/voice/live/session-steps.ts';
import { type TestDatabase, testDatabase } from '../support/database.ts';
import {
  DoomedSessions,
  KINDS,
  type Kind,
  RELAYED_TURN_RAW,
  upstreamEnvironment,
} from '../support/doomed-sessions.ts';
import { exhaustive } from '../support/exhaustive.ts';
import { startHeldServer } from '../support/held-server.ts';
import { type ProcessPlace, processPlace } from '../support/process-place.ts';
import { type RealtimeUpstream, realtimeUpstream } from '../support/realtime-upstream.ts';

/** Two leases of the dead and what the living one waits for, on a busy machine. */
const REAPED_WITHIN_MS = 45_000;

type Point = {
  readonly says: string;
  /** Where each session is held; the last to come there ends the process. */
  readonly step?: SessionStep;
  /** What the sessions do until they stand there. */
  readonly until: 'asked' | 'greeted' | 'bought' | 'in the next turn' | 'left';
  /** Which have a line in the journal by then. */
  readonly journaled: readonly Kind[];
  /** How many turns the clients of both realtime sessions have been told of. */
  readonly toldTurns: 0 | 1;
  /** Killed here by default: each part of a session’s life has one such point. */
  readonly byDefault?: true;
};

const NONE = { journaled: [], toldTurns: 0 } as const;
const ALL = { journaled: KINDS, toldTurns: 1 } as const;

const EVERY_POINT: readonly Point[] = [
  { says: 'before their holds', step: 'opening', until: 'asked', ...NONE, byDefault: true },
  { says: 'behind their holds', step: 'opened', until: 'asked', ...NONE },
  { says: 'when they were greeted', until: 'greeted', ...NONE, byDefault: true },
  { says: 'before what they bought is journaled', step: 'journaling', until: 'bought', ...NONE },
  {
    says: 'behind the journal, before a client is told',
    step: 'journaled',
    until: 'bought',
    journaled: KINDS,
    toldTurns: 0,
    byDefault: true,
  },
  { says: 'in the turn behind one that was told', until: 'in the next turn', ...ALL },
  { says: 'before they hold more', step: 'extending', until: 'bought', ...ALL, byDefault: true },
  { says: 'when they have held more', step: 'extended', until: 'bought', ...ALL },
  { says: 'before they are settled', step: 'closing', until: 'left', ...ALL, byDefault: true },
  { says: 'when they were settled', step: 'closed', until: 'left', ...ALL },
];

const POINTS = EVERY_POINT.filter(({ byDefault }) => exhaustive || byDefault);

type Left = { readonly point: Point; readonly sessions: DoomedSessions };

let database: TestDatabase;
let place: ProcessPlace;
let upstream: RealtimeUpstream;
const left: Left[] = [];

beforeAll(async () => {
  database = await testDatabase();
  place = await processPlace();
  upstream = await realtimeUpstream();
});
afterAll(async () => {
  await upstream[Symbol.asyncDispose]();
  await place[Symbol.asyncDispose]();
  await database[Symbol.asyncDispose]();
});

const start = () =>
  startHeldServer(
    { ...place.environment, ...upstreamEnvironment(place.directory, upstream) },
    database.target,
  );

async function killAt(point: Point): Promise<DoomedSessions> {
  await using server = await start();
  const { step, until } = point;
  const sessions = await DoomedSessions.ask(server, upstream, () => {
    if (step !== undefined) server.hold({ step, count: KINDS.length, last: 'dies' });
  });
  if (until !== 'asked') await sessions.greeted();
  if (until !== 'asked' && until !== 'greeted') sessions.buy();
  if (until === 'in the next turn' || until === 'left') await sessions.inTheNextTurn();
  if (until === 'in the next turn') {
    // Its client is not told of it.
    const { agentId } = sessions.agents.transcribed;
    await expect.poll(async () => (await bookOf(agentId)).journaled).toBeGreaterThan(0n);
  }
  if (until === 'left') sessions.leave();
  if (step === undefined) await server.kill();
  await server.died();
  await sessions.lost();
  expect(server.output()).not.toContain('uWS');
  return sessions;
}

/** What is in the journal of an agent's one session, and what it was charged. */
async function bookOf(agentId: number) {
  const [row] = await database.sql<
    { sessions: number; ended: number; journaled: bigint; charged: bigint; consumed: bigint }[]
  >`
    select
      (select count(*)::int from sessions where agent_id = ${agentId}) as sessions,
      (select count(ended_at)::int from sessions where agent_id = ${agentId}) as ended,
      (select coalesce(sum(j.cost_raw), 0)::bigint from session_journal j
        join sessions s on s.id = j.session_id where s.agent_id = ${agentId}) as journaled,
      (select coalesce(sum(cost_raw), 0)::bigint from charges
        where agent_id = ${agentId}) as charged,
      (select consumed_raw from agent_funds where agent_id = ${agentId}) as consumed`;
  if (row === undefined) throw new Error('a query of scalars has one row');
  return row;
}

describe('a server with a session of each kind that is killed', () => {
  it.each(POINTS.map((point) => [point.says, point] as const))(
    'a server with a voice session of each kind that is killed %s has journaled every cost that a client got',
    async (_, point) => {
      const sessions = await killAt(point);
      left.push({ point, sessions });
      const told = sessions.told();
      expect(told.relayed).toBe(BigInt(point.toldTurns) * RELAYED_TURN_RAW);
      expect(told.local > 0n).toBe(point.toldTurns > 0);
      for (const kind of KINDS) {
        const { journaled } = await bookOf(sessions.agents[kind].agentId);
        expect([kind, journaled > 0n]).toEqual([kind, point.journaled.includes(kind)]);
        expect(journaled).toBeGreaterThanOrEqual(told[kind]);
      }
    },
    90_000,
  );

  it('voice sessions of a killed server are settled once to their journals by another server, with nothing held', async () => {
    expect(left).toHaveLength(POINTS.length);
    await using _ = await start();
    const held = async () => {
      const [row] = await database.sql<{ open: number }[]>`select count(*)::int as open from holds`;
      return row?.open;
    };
    await expect.poll(held, { timeout: REAPED_WITHIN_MS, interval: 200 }).toBe(0);
    for (const { point, sessions } of left) {
      const stood = point.step === 'opening' ? 0 : 1;
      for (const kind of KINDS) {
        const book = await bookOf(sessions.agents[kind].agentId);
        const { journaled } = book;
        expect([point.says, kind, book]).toEqual([
          point.says,
          kind,
          { sessions: stood, ended: stood, journaled, charged: journaled, consumed: journaled },
        ]);
      }
    }
    expect(await checkInvariants(database.sql)).toEqual([]);
  }, 90_000);
});
