import { checkInvariants, type Violation } from '../../src/ledger/store/check-invariants.ts';
import { claimCursor, giveCursorBack } from '../../src/payments/reconcile/chain-cursor-store.ts';
import { openSql } from '../../src/platform/postgres/sql.ts';
import { startChain } from './chain/chain.ts';
import { startEvilVendor } from './chain/evil-vendor.ts';
import { startHeldServer } from './held-server.ts';
import { attend, lapse } from './payment-attend.ts';
import { expectedOf, type Point, type Row } from './payment-battery.ts';
import {
  type Call,
  isInFlight,
  type Life,
  prepare,
  type Stage,
  send,
  sendUntilDecided,
} from './payment-calls.ts';
import { killAt } from './payment-crash.ts';
import { type Ended, readEnd, readStates } from './payment-verdict.ts';
import { payingEnvironment, until } from './payment-world.ts';
import { type ProcessPlace, processPlace } from './process-place.ts';

/** What a batch of rows came to. */
export type Played = {
  readonly rows: readonly Ended[];
  /** What the start-up self-check would say of the database. */
  readonly violations: readonly Violation[];
};

const VALID_SECONDS = 5;
/** The chain's clock stands still this far back, and moves where a test moves it: nothing lapses by slowness. */
const CHAIN_BEHIND_SECONDS = 600;
/** Longer than the lease of a dead process, and than a new process waits before it may reap. */
const REAPING_MS = 3_000;
const READER = 'the battery';
const READER_MS = 600_000;

/**
 * Plays rows side by side that share the point at which their server is killed: pays, kills, starts it again, asks
 * under every key while the chain has not spoken, lets the chain speak, asks until every key is decided, and reads
 * what the chain, the vendors and the books say then.
 */
export async function play(point: Point, rows: readonly Row[]): Promise<Played> {
  await using place = await processPlace();
  await using chain = await startChain({ timestamp: nowSec() - CHAIN_BEHIND_SECONDS });
  await chain.node.ask('anvil_setBlockTimestampInterval', 0);
  await using vendor = await startEvilVendor(chain);
  const environment = {
    ...place.environment,
    ...payingEnvironment(chain.url),
    X402_VALID_BEFORE_SECONDS: String(VALID_SECONDS),
  };
  const stage: Stage = { chain, vendor, life: await begin(place, environment) };
  try {
    const calls = await prepare(stage, rows);
    await using attending = attend(stage, calls);
    const atCrash = await playCrash(stage, point, calls, () => begin(place, environment));
    await finish(stage, calls);
    await attending[Symbol.asyncDispose]();
    return {
      rows: await Promise.all(
        calls.map(async (call) => readEnd(stage, call, atCrash.get(call.agentId))),
      ),
      violations: await checkInvariants(stage.life.sql),
    };
  } catch (error) {
    const { message } = error as Error;
    throw new Error(`${point.name}: ${message}\n${stage.life.server.output()}`, { cause: error });
  } finally {
    await stage.life.sql.end({ timeout: 1 });
    await stage.life.server.kill();
  }
}

const nowSec = () => Math.floor(Date.now() / 1_000);

async function begin(place: ProcessPlace, environment: Record<string, string>): Promise<Life> {
  const server = await startHeldServer(environment);
  return { server, sql: openSql(place.target, 3) };
}

/** Answers what each row read when its server was dead; of one that was not killed, nothing. */
async function playCrash(
  stage: Stage,
  point: Point,
  calls: readonly Call[],
  begins: () => Promise<Life>,
): Promise<ReadonlyMap<number, string>> {
  const sent = (): Promise<unknown> =>
    Promise.all(
      calls.map(async (call) => {
        call.told = await send(stage, call);
      }),
    );
  if (point.name === 'none') {
    await sent();
    return new Map();
  }
  // As if another process read the chain: what is decided is decided after the crash.
  await until(
    async () => (await claimCursor(stage.life.sql, READER, READER_MS)).kind === 'claimed',
  );
  await killAt(point, stage, calls, sent);
  await stage.life.sql.end({ timeout: 1 });
  stage.life = await begins();
  const atCrash = await readStates(stage.life.sql);
  await askInVain(stage, calls);
  await stage.vendor.settleHeld();
  await giveCursorBack(stage.life.sql, READER, undefined, undefined);
  return atCrash;
}

/** A retry before the chain has decided answers that the work is under way, also once its process is known dead. */
async function askInVain(stage: Stage, calls: readonly Call[]): Promise<void> {
  const end = performance.now() + REAPING_MS;
  const keyed = calls.filter(({ row }) => row.keyed);
  const mayBeTold = ({ row }: Call) => row.point.name === 'kept' || expectedOf(row).isDecided;
  while (performance.now() < end) {
    await Promise.all(
      keyed.map(async (call) => {
        const told = await send(stage, call);
        if (isInFlight(told)) return;
        if (!mayBeTold(call)) call.oddities.push(`decided too early: ${told?.status}`);
        call.told = told;
      }),
    );
    await new Promise((resolve) => setTimeout(resolve, 400));
  }
}

/** Time goes by until nothing is left to be decided, and every key has told its answer, twice. */
async function finish(stage: Stage, calls: readonly Call[]): Promise<void> {
  const keyed = calls.filter(({ row }) => row.keyed);
  await lapse(stage);
  await Promise.all(
    keyed.map(async (call) => {
      call.told ??= await sendUntilDecided(stage, call);
    }),
  );
  await stage.vendor.settleHeld();
  await lapse(stage);
  await until(
    () => isAllDecided(stage.life),
    20_000,
    () => 'the end of every reservation',
  ).catch(
    // Whose it is stands in its row.
    () => {},
  );
  await Promise.all(
    keyed.map(async (call) => {
      const again = await send(stage, call);
      const isSame = JSON.stringify(again?.body) === JSON.stringify(call.told?.body);
      const isReplay = again?.headers.get('x-svc-idempotent-replay') === 'true';
      if (!isSame || !isReplay) call.oddities.push(`no replay: ${JSON.stringify(again?.body)}`);
    }),
  );
}

async function isAllDecided({ sql }: Life): Promise<boolean> {
  const [row] = await sql<{ open: number }[]>`select count(*)::int as open from holds`;
  return row?.open === 0;
}
