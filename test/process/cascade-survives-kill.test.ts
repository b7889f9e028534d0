import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { checkInvariants } from '../../src/ledger/store/check-invariants.ts';
import type { SessionStep } from '../../src/voice/live/session-steps.ts';
import { type TestDatabase, testDatabase } from '../support/database.ts';
import {
  CASCADES,
  type CascadeKind,
  type CascadePeers,
  cascadePeers,
  DoomedCascades,
  TURN_RAW,
} from '../support/doomed-cascades.ts';
import { exhaustive } from '../support/exhaustive.ts';
import { type HeldServer, startHeldServer } from '../support/held-server.ts';
import { type ProcessPlace, processPlace } from '../support/process-place.ts';

/** Two leases of the dead and what the living one waits for, on a busy machine. */
const REAPED_WITHIN_MS = 45_000;

const MAKERS = ['acme', 'hearer', 'voicer'];
/** A hold a maker in each of the sessions. */
const HOLDS = MAKERS.length * CASCADES.length;
/** That pass where the others stay: no session is whole then. */
const SOME = 2;

type Point = {
  readonly says: string;
  /** Where each hold is held; the last to come there ends the process. */
  readonly step?: SessionStep;
  /** Where all stand before some of them go on to `step`, while the others stay. */
  readonly from?: SessionStep;
  /** What the sessions do until they stand there. */
  readonly until: 'asked' | 'greeted' | 'bought' | 'in the next turn' | 'left';
  /** How many holds hold something when the process is dead, and how many have a line in the journal. */
  readonly open: number;
  readonly journaled: number;
  readonly toldTurns: 0 | 1;
  /** What was journaled is held beside a turn's reserve again. */
  readonly isWhole?: boolean;
};

const BEFORE = { open: HOLDS, journaled: 0, toldTurns: 0 } as const;
const BEHIND = { open: HOLDS, journaled: HOLDS, toldTurns: 1 } as const;

const EVERY_POINT: readonly Point[] = [
  {
    says: 'when some makers’ holds stand',
    from: 'opening',
    step: 'opened',
    until: 'asked',
    ...BEFORE,
    open: SOME,
  },
  { says: 'when they were greeted', until: 'greeted', ...BEFORE },
  { says: 'before what they bought is journaled', step: 'journaling', until: 'bought', ...BEFORE },
  {
    says: 'when the journal has it of some makers',
    from: 'journaling',
    step: 'journaled',
    until: 'bought',
    ...BEFORE,
    journaled: SOME,
  },
  {
    says: 'behind the journal, before a client is told',
    step: 'journaled',
    until: 'bought',
    ...BEHIND,
    toldTurns: 0,
  },
  {
    says: 'in the turn behind one that was told',
    until: 'in the next turn',
    ...BEHIND,
    isWhole: true,
  },
  {
    says: 'when they have held more',
    step: 'extended',
    until: 'bought',
    ...BEHIND,
    isWhole: true,
  },
  {
    says: 'before they are settled',
    step: 'closing',
    until: 'left',
    ...BEHIND,
    isWhole: true,
  },
  {
    says: 'when some makers’ holds are settled',
    from: 'closing',
    step: 'closed',
    until: 'left',
    ...BEHIND,
    open: HOLDS - SOME,
  },
  { says: 'when all are settled', step: 'closed', until: 'left', ...BEHIND, open: 0 },
];

/**
 * By default those where makers differ, and the two whose like in `voice-survives-kill` is not marked `byDefault`: in the
 * turn behind one that was told, and when they have held more.
 */
const POINTS = EVERY_POINT.filter(
  ({ from, step, until }) =>
    exhaustive || from !== undefined || until === 'in the next turn' || step === 'extended',
);

/** What a session has of one maker. */
type HoldBook = {
  readonly maker: string;
  readonly ended: boolean;
  readonly heldRaw: bigint;
  readonly journaled: bigint;
  readonly charged: bigint;
  /** Of history, that cost something. */
  readonly lines: number;
};

type Left = { readonly point: Point; readonly sessions: DoomedCascades };

let database: TestDatabase;
let place: ProcessPlace;
let peers: CascadePeers;
const left: Left[] = [];

beforeAll(async () => {
  database = await testDatabase();
  place = await processPlace();
  peers = await cascadePeers();
});
afterAll(async () => {
  await peers[Symbol.asyncDispose]();
  await place[Symbol.asyncDispose]();
  await database[Symbol.asyncDispose]();
});

const start = () =>
  startHeldServer({ ...place.environment, ...peers.environment(place.directory) }, database.target);

/** Has all holds stand at the point, where the process dies, or at the step before. */
function holdAt(server: HeldServer, { from, step }: Point): void {
  if (step === undefined) return;
  if (from === undefined) server.hold({ step, count: HOLDS, last: 'dies' });
  else server.hold({ step: from, count: HOLDS, last: 'tells' });
}

async function killAt(point: Point): Promise<DoomedCascades> {
  await using server = await start();
  const { from, step, until } = point;
  const isLeft = until === 'left';
  const sessions = await DoomedCascades.ask(server, () => {
    if (!isLeft) holdAt(server, point);
  });
  if (until !== 'asked') await sessions.greeted();
  const reserves = await heldBy(sessions);
  if (until !== 'asked' && until !== 'greeted') await sessions.buy();
  if (until === 'in the next turn') await sessions.inTheNextTurn();
  if (isLeft) {
    await sessions.toldOfTurn();
    // The turn is told before its cost is held anew.
    await expect.poll(async () => moreThan(reserves, await heldBy(sessions))).toBe(HOLDS);
    holdAt(server, point);
    sessions.leave();
  }
  if (from !== undefined && step !== undefined) {
    await server.held();
    server.hold({ step, count: SOME, last: 'dies', letting: SOME });
  }
  if (step === undefined) await server.kill();
  await server.died();
  await sessions.lost();
  expect(server.output()).not.toContain('uWS');
  if (until !== 'asked' && point.open === HOLDS) {
    const held = await heldBy(sessions);
    for (const { key, journaled, heldRaw } of held) {
      const reserve = reserves.find((one) => one.key === key)?.heldRaw ?? 0n;
      expect([key, heldRaw - reserve]).toEqual([key, point.isWhole === true ? journaled : 0n]);
    }
  }
  return sessions;
}

async function heldBy({ agents }: DoomedCascades) {
  const books = await Promise.all(
    CASCADES.map(async (kind) =>
      (await bookOf(agents[kind].agentId)).map((book) => ({
        ...book,
        key: `${kind} ${book.maker}`,
      })),
    ),
  );
  return books.flat().filter(({ heldRaw }) => heldRaw > 0n);
}

type Held = Awaited<ReturnType<typeof heldBy>>;

const moreThan = (before: Held, now: Held): number =>
  now.filter(({ heldRaw, key }) => before.some((one) => one.key === key && one.heldRaw < heldRaw))
    .length;

/** The holds of an agent's one session, by maker. */
const bookOf = (agentId: number) =>
  database.sql<HoldBook[]>`
    select s.maker, s.ended_at is not null as ended,
      coalesce((select amount_raw from holds where id = s.id), 0)::bigint as "heldRaw",
      (select coalesce(sum(cost_raw), 0)::bigint from session_journal
        where session_id = s.id) as journaled,
      (select coalesce(sum(cost_raw), 0)::bigint from charges
        where agent_id = s.agent_id and target_host = s.maker) as charged,
      (select count(*)::int from charges
        where agent_id = s.agent_id and target_host = s.maker and cost_raw > 0) as lines
    from (select *, split_part(model, '/', 1) as maker from sessions
          where agent_id = ${agentId}) s
    order by s.maker`;

async function fundsOf(agentId: number) {
  const [row] = await database.sql<{ consumed: bigint; charged: bigint }[]>`
    select consumed_raw as consumed, (select coalesce(sum(cost_raw), 0)::bigint from charges
      where agent_id = ${agentId}) as charged
    from agent_funds where agent_id = ${agentId}`;
  if (row === undefined) throw new Error('an agent that was credited has funds');
  return row;
}

const sumOf = (amounts: readonly bigint[]) => amounts.reduce((sum, raw) => sum + raw, 0n);

const turnRaw = (kind: CascadeKind) => sumOf(Object.values(TURN_RAW[kind]));

describe('a server with sessions that several makers are paid for, that is killed', () => {
  it.each(POINTS.map((point) => [point.says, point] as const))(
    'a server with cascade sessions that is killed %s has journaled each cost that a client got, by provider',
    async (_, point) => {
      const sessions = await killAt(point);
      left.push({ point, sessions });
      const told = sessions.told();
      let open = 0;
      let journaled = 0;
      for (const kind of CASCADES) {
        expect([kind, told[kind]]).toEqual([kind, BigInt(point.toldTurns) * turnRaw(kind)]);
        const book = await bookOf(sessions.agents[kind].agentId);
        const held = book.filter(({ heldRaw }) => heldRaw > 0n);
        if (point.open === HOLDS) expect(held.map(({ maker }) => maker)).toEqual(MAKERS);
        open += held.length;
        const bought = book.filter(({ journaled: raw }) => raw > 0n);
        journaled += bought.length;
        for (const { maker, journaled: raw } of bought) {
          expect([kind, maker, raw]).toEqual([kind, maker, TURN_RAW[kind][maker]]);
        }
      }
      expect({ open, journaled }).toEqual({ open: point.open, journaled: point.journaled });
    },
    90_000,
  );

  it('each hold that a killed server’s cascade sessions left is settled to its journal by one of two others', async () => {
    expect(left).toHaveLength(POINTS.length);
    // Both find what is left, and only one of them may settle a hold.
    await using _ = await start();
    await using __ = await start();
    const held = async () => {
      const [row] = await database.sql<{ open: number }[]>`select count(*)::int as open from holds`;
      return row?.open;
    };
    await expect.poll(held, { timeout: REAPED_WITHIN_MS, interval: 200 }).toBe(0);
    for (const { point, sessions } of left) {
      const told = sessions.told();
      for (const kind of CASCADES) {
        const { agentId } = sessions.agents[kind];
        const book = await bookOf(agentId);
        for (const { maker, journaled, ...rest } of book) {
          expect([point.says, kind, maker, rest]).toEqual([
            point.says,
            kind,
            maker,
            { ended: true, heldRaw: 0n, charged: journaled, lines: journaled > 0n ? 1 : 0 },
          ]);
        }
        const sumRaw = sumOf(book.map(({ journaled }) => journaled));
        if (point.toldTurns > 0) expect(sumRaw).toBe(told[kind]);
        expect([point.says, kind, await fundsOf(agentId)]).toEqual([
          point.says,
          kind,
          { consumed: sumRaw, charged: sumRaw },
        ]);
      }
    }
    expect(await checkInvariants(database.sql)).toEqual([]);
  }, 90_000);
});
