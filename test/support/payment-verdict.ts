import type { Sql } from '../../src/platform/postgres/sql.ts';
import {
  DEPOSIT_RAW,
  type Expected,
  expectedOf,
  type Outcome,
  PRICE_RAW,
  type Row,
} from './payment-battery.ts';
import type { Call, Stage } from './payment-calls.ts';
import { ask, type Told } from './whole-world.ts';

/** A row when it is over: what is shown of it, and everything that is not as it has to be. */
export type Ended = {
  readonly row: Row;
  readonly atCrash: string | undefined;
  /** The ends of its payments, in their order. */
  readonly ends: readonly string[];
  readonly told: string;
  readonly problems: readonly string[];
};

/** By agent: each has one reservation when its server dies. */
export async function readStates(sql: Sql): Promise<ReadonlyMap<number, string>> {
  const rows = await sql<{ agent_id: number; states: string }[]>`
    select agent_id, string_agg(state, '+') as states from reservations group by agent_id`;
  return new Map(rows.map((row) => [row.agent_id, row.states]));
}

type ReservationRow = {
  nonce: string;
  state: string;
  payee: string;
  value_raw: bigint;
  tx_hash: string | null;
  valid_before: bigint;
};

type FundsRow = Record<
  'spendable' | 'held' | 'credited' | 'consumed' | 'wallet' | 'promised' | 'charged' | 'successes',
  bigint
>;

/** Reads a row in all its books and compares them with each other and with what was demanded. */
export async function readEnd(
  stage: Stage,
  call: Call,
  atCrash: string | undefined,
): Promise<Ended> {
  const { row, agentId, told } = call;
  const expected = expectedOf(row);
  const reservations = await stage.life.sql<ReservationRow[]>`
    select nonce, state, payee, value_raw, tx_hash, valid_before from reservations
    where agent_id = ${agentId} order by id`;
  const outcome = outcomeOf(row, told, reservations.at(-1));
  const ends = reservations.map(({ state }) => state);
  const problems = [
    ...call.oddities,
    ...unlike(
      'ends',
      ends,
      expected.payments.map(({ end }) => end),
    ),
    ...unlike('told', outcome, expected.told),
    ...crashProblems(atCrash, expected),
    ...vendorProblems(stage, call, expected, reservations),
    ...(await chainProblems(stage, call, reservations)),
    ...(await fundsProblems(stage, call, ends.filter((end) => end === 'settled').length)),
    ...(await lookupProblems(stage, call, reservations)),
  ];
  return { row, atCrash, ends, told: outcome, problems };
}

function unlike(what: string, is: unknown, wanted: unknown): string[] {
  const [a, b] = [is, wanted].map((value) => JSON.stringify(value));
  return a === b ? [] : [`${what}: ${a} instead of ${b}`];
}

function crashProblems(atCrash: string | undefined, { atCrash: allowed }: Expected): string[] {
  const isRight =
    atCrash === undefined ? allowed.length === 0 : allowed.some((state) => state === atCrash);
  return isRight ? [] : [`at the crash: ${atCrash} instead of ${allowed.join(' or ')}`];
}

/** What a caller was told, where it is all that it has to be; otherwise what is wrong with it. */
function outcomeOf(
  { keyed }: Row,
  told: Told | undefined,
  last: ReservationRow | undefined,
): Outcome | string {
  if (told === undefined) return 'lost';
  const { status, body, headers } = told;
  const kind = `${status} ${status < 300 ? headers.get('x-svc-payment') : body.error}`;
  const outcome = OUTCOMES[kind];
  if (outcome === undefined) return `${kind} ${JSON.stringify(body)}`;
  // What was not paid may be tried again, but not under the key that this answer is kept under.
  const retry = String(outcome === 'unsettled' && !keyed);
  const wrong = outcome === 'paid' ? wrongInReceipt(told, last) : wrongInRefusal(told, last, retry);
  return wrong.length === 0 ? outcome : `${outcome}, but ${wrong.join(', ')}`;
}

const OUTCOMES: Readonly<Record<string, Outcome>> = {
  '200 paid': 'paid',
  '502 upstream_paid_request_failed_ambiguous': 'ambiguous',
  '402 Payment was not accepted by resource server': 'refused',
  '502 upstream_payment_unsettled': 'unsettled',
};

function wrongInReceipt({ headers, body }: Told, last: ReservationRow | undefined): string[] {
  const relayed = headers.get('payment-response') ?? headers.get('x-payment-response') ?? '';
  const receipt = Buffer.from(relayed, 'base64').toString();
  return [
    ...unlike('nonce', body.nonce, last?.nonce),
    ...unlike('cost', headers.get('x-svc-cost-usdc'), String(PRICE_RAW)),
    ...unlike('amount', headers.get('x-svc-payment-amount'), '0.010000'),
    ...(receipt.includes(String(last?.tx_hash)) ? [] : [`receipt: ${receipt}`]),
  ];
}

const wrongInRefusal = (
  { headers, body }: Told,
  last: ReservationRow | undefined,
  retry: string,
): string[] => [
  ...unlike('retry', headers.get('x-should-retry'), retry),
  ...unlike('reservation', body.reservation, {
    nonce: last?.nonce,
    validBefore: Number(last?.valid_before),
  }),
];

/** The vendor was handed the nonces that were written down, in their order, and each once. */
function vendorProblems(
  { vendor }: Stage,
  { url }: Call,
  { payments }: Expected,
  reservations: readonly ReservationRow[],
): string[] {
  const handed = reservations.filter((_, i) => payments[i]?.delivered).map(({ nonce }) => nonce);
  const paid = vendor.seen(url).filter(({ payment }) => payment !== undefined);
  return [
    ...unlike('nonces at the vendor', vendor.nonces(url), handed),
    ...unlike('paid requests', paid.length, handed.length),
  ];
}

/** What left the wallet is what the settled rows say, by their transactions. */
async function chainProblems(
  { chain }: Stage,
  { wallet }: Call,
  reservations: readonly ReservationRow[],
): Promise<string[]> {
  const settled = reservations.filter(({ state }) => state === 'settled');
  const moved = await chain.transferLogs({ from: wallet });
  const used = await Promise.all(
    reservations.map(({ nonce }) => chain.authorizationState(wallet, nonce as `0x${string}`)),
  );
  return [
    ...unlike(
      'moved on chain',
      moved.map(({ to, value, txHash }) => [to.toLowerCase(), String(value), txHash]),
      settled.map((row) => [row.payee, String(row.value_raw), row.tx_hash]),
    ),
    ...unlike(
      'used on chain',
      used,
      reservations.map(({ state }) => state === 'settled'),
    ),
  ];
}

/** Chain, ledger and balance, to the raw unit. */
async function fundsProblems(
  { chain, life }: Stage,
  { agentId, wallet }: Call,
  payments: number,
): Promise<string[]> {
  const [funds] = await life.sql<FundsRow[]>`
    select spendable_raw as spendable, held_raw as held, credited_raw as credited,
      consumed_raw as consumed, wallet_raw as wallet, promised_raw as promised,
      (select coalesce(sum(cost_raw), 0)::bigint from charges c where c.agent_id = f.agent_id) as charged,
      (select count(*) from charges c where c.agent_id = f.agent_id and c.status = 'success') as successes
    from agent_funds f where agent_id = ${agentId}`;
  const [holds] = await life.sql<{ open: number }[]>`
    select count(*)::int as open from holds where agent_id = ${agentId}`;
  const paidRaw = BigInt(payments) * PRICE_RAW;
  const leftRaw = DEPOSIT_RAW - paidRaw;
  const wanted: FundsRow = {
    spendable: leftRaw,
    held: 0n,
    credited: DEPOSIT_RAW,
    consumed: paidRaw,
    wallet: leftRaw,
    promised: 0n,
    charged: paidRaw,
    successes: BigInt(payments),
  };
  return [
    ...unlike('books', textOf(funds), textOf(wanted)),
    ...unlike('open holds', holds?.open, 0),
    ...unlike('USDC in the wallet', String(await chain.usdcOf(wallet)), String(leftRaw)),
  ];
}

const textOf = (funds: FundsRow | undefined): Record<string, string> =>
  Object.fromEntries(Object.entries(funds ?? {}).map(([name, raw]) => [name, String(raw)]));

/** A lookup of a payment shows that it is over, and when it was settled if it was. */
async function lookupProblems(
  { life }: Stage,
  { agentKey }: Call,
  reservations: readonly ReservationRow[],
): Promise<string[]> {
  const headers = { authorization: `Bearer ${agentKey}` };
  const told = await Promise.all(
    reservations.map(({ nonce }) =>
      ask(`${life.server.url}/v1/agents/reservations/${nonce}`, { headers }),
    ),
  );
  return told.flatMap(({ body }, i) => {
    const { state, terminal, txHash, settledAt } = body;
    const row = reservations[i];
    const isSettled = row?.state === 'settled';
    return unlike(
      'lookup',
      [state, terminal, txHash, settledAt !== null],
      [row?.state, true, row?.tx_hash, isSettled],
    );
  });
}
