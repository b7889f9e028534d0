import fc from 'fast-check';
import { isLive, type ReservationState } from '../../machines/reservation.ts';
import { factsOf, type HoldOperation, type Operation } from '../../src/ledger/rules/operation.ts';
import type { ReservationMove } from '../../src/ledger/rules/payment.ts';
import type { Destination, Spender } from '../../src/ledger/rules/requests.ts';
import type { PaymentRow, PaymentRows } from './fakes/memory-payments.ts';
import { nonceOf, paidCharge, payoutOf, reservationOf } from './payments.ts';

/** No other holds have these names: what is signed away ends with its row and in no other way. */
const NAMES = ['pay 1', 'pay 2', 'pay 3', 'pay 4', 'pay 5', 'pay null', 'pay é, "q"\\'];
const LIVE: readonly ReservationState[] = ['reserved', 'sent', 'pending_settlement'];
const STEPS: readonly ReservationState[] = ['sent', 'pending_settlement'];
const GIVEN_BACK: readonly ReservationState[] = [
  ...(['expired_unsettled', 'payment_rejected', 'released'] as const),
];

/** Policies match the one in another way than the other. */
const ASKS: readonly { spender: Omit<Spender, 'agentId'>; destination: Destination }[] = [
  {
    spender: { taskId: 't1', actionId: 'act', customerId: 'customer' },
    destination: { host: 'acme.test', payee: '0xaa' },
  },
  {
    spender: { keyRootId: 1, actionId: 'act' },
    destination: { host: 'api.acme.test', payee: '0xbb' },
  },
];
const askOf = (name: string) =>
  ASKS[NAMES.indexOf(name) % 2] ?? { spender: {}, destination: NOWHERE };
const NOWHERE: Destination = { host: null, payee: null };
const factsOfPayment = (name: string) => {
  const { spender, destination } = askOf(name);
  return factsOf({ spender: { agentId: 0, ...spender }, destination });
};

const learnt: fc.Arbitrary<ReservationMove['learnt']> = fc.constantFrom(
  undefined,
  {},
  { txHash: '0xfe' },
  { responseStatusCode: 402, refused: true as const },
  { responseStatusCode: 200, latencyMs: 12 },
);

/** Payments and payouts of few names, so that repeats, conflicts and steps from the wrong state are the rule. */
export const arbitraryPayment = (agents: number): fc.Arbitrary<Operation> => {
  const drawn = fc.record({
    agentId: fc.nat({ max: agents - 1 }),
    name: fc.constantFrom(...NAMES),
    amountRaw: fc.bigInt({ min: 0n, max: 40n }),
    from: fc.constantFrom(...LIVE),
    learnt,
  });
  return fc.oneof(
    { weight: 4, arbitrary: drawn.map(paymentOf) },
    { weight: 3, arbitrary: fc.tuple(drawn, fc.constantFrom(...STEPS)).map(stepOf) },
    {
      weight: 4,
      arbitrary: fc.tuple(drawn, fc.constantFrom('settled' as const, ...GIVEN_BACK)).map(endOf),
    },
    { weight: 2, arbitrary: fc.tuple(drawn, fc.constantFrom(...GIVEN_BACK)).map(correctionOf) },
    {
      weight: 1,
      arbitrary: drawn.map(
        ({ agentId, name }): Operation => ({
          kind: 'withdraw',
          agentId,
          reference: name,
          payout: payoutOf(`${agentId} ${name}`),
        }),
      ),
    },
    {
      weight: 2,
      arbitrary: drawn.map(
        ({ agentId, name, amountRaw }): Operation => ({
          kind: 'sweep',
          agentId,
          payout: payoutOf(name, 'sweep'),
          leastRaw: amountRaw / 4n,
        }),
      ),
    },
    {
      weight: 3,
      arbitrary: drawn.map(
        ({ agentId, name, amountRaw }): Operation => ({
          kind: 'paid',
          agentId,
          nonce: nonceOf(name),
          amountRaw,
          txHash: '0xda',
        }),
      ),
    },
  );
};

type DrawnPayment = {
  readonly agentId: number;
  readonly name: string;
  readonly amountRaw: bigint;
  readonly from: ReservationState;
  readonly learnt: ReservationMove['learnt'];
};

function paymentOf({ agentId, name, amountRaw }: DrawnPayment): Operation {
  const { spender, destination } = askOf(name);
  const x402Version = NAMES.indexOf(name) % 2 === 0 ? 1 : 2;
  return {
    kind: 'hold',
    agentId,
    holdId: name,
    amountRaw,
    destination,
    session: null,
    spender: { agentId, ...spender },
    reservation: reservationOf(name, { x402Version, method: 'POST', network: 'base' }),
  };
}

const moveOf = (x: DrawnPayment, to: ReservationState): ReservationMove => ({
  nonce: nonceOf(x.name),
  from: x.from,
  to,
  ...(x.learnt === undefined ? {} : { learnt: x.learnt }),
});

const stepOf = ([x, to]: readonly [DrawnPayment, ReservationState]): Operation => ({
  kind: 'advance',
  agentId: x.agentId,
  holdId: x.name,
  move: moveOf(x, to),
});

const endOf = ([x, to]: readonly [DrawnPayment, ReservationState]): Operation =>
  endAt(x.agentId, x.name, x.amountRaw, moveOf(x, to));

const correctionOf = ([x, from]: readonly [DrawnPayment, ReservationState]): Operation => ({
  kind: 'correct',
  agentId: x.agentId,
  amountRaw: x.amountRaw + 1n,
  facts: factsOfPayment(x.name),
  move: moveOf({ ...x, from }, from),
  charge: (chargedRaw) => paidCharge(x.agentId, chargedRaw, factsOfPayment(x.name)),
});

/** All of the hold is taken, or nothing. */
function endAt(
  agentId: number,
  holdId: string,
  amountRaw: bigint,
  move: ReservationMove,
): Operation {
  const facts = factsOfPayment(holdId);
  const isPaid = move.to === 'settled';
  const actualRaw = isPaid ? amountRaw : 0n;
  const request = { actualRaw, account: 'chain:usdc', source: 'x402' } as const;
  const charges = (chargedRaw: bigint) => [paidCharge(agentId, chargedRaw, facts)];
  return {
    kind: 'settle',
    agentId,
    hold: { holdId, agentId, amountRaw, facts },
    ends: null,
    move,
    request: isPaid ? { ...request, charges } : request,
  };
}

/** What is drawn here, and nowhere else. */
export const isPayment = (operation: Operation): boolean => {
  if (operation.kind === 'hold') return operation.reservation !== null;
  if (operation.kind === 'settle') return operation.move !== null;
  if (operation.kind === 'withdraw') return operation.payout !== null;
  return ['advance', 'correct', 'sweep', 'paid'].includes(operation.kind);
};

/** The row of this nonce if it will do, else another one that does. */
function findRow<T>(rows: ReadonlyMap<string, T>, nonce: string, suits: (row: T) => boolean) {
  const named = rows.get(nonce);
  if (named !== undefined && suits(named)) return { nonce, row: named };
  const others = [...rows].filter(([, row]) => suits(row));
  const other = others[Number(BigInt(nonce) % BigInt(Math.max(1, others.length)))];
  return other && { nonce: other[0], row: other[1] };
}

/**
 * What was drawn, as this agent asks it; a caller that `knows` names an existing row, with what is true of it.
 * Undefined: no caller would ask it. What the chain has said is true: there is no correction and no payout of
 * another amount.
 */
export function askedPayment(
  operation: Operation,
  knows: boolean,
  agentId: number,
  known: PaymentRows,
): Operation | undefined {
  switch (operation.kind) {
    case 'hold': {
      const named = { ...operation, agentId, spender: { ...operation.spender, agentId } };
      return knows ? named : askedAgain(named, known);
    }
    case 'advance': {
      const found = knows ? findLive(operation.move, known) : undefined;
      if (found === undefined) return { ...operation, agentId };
      const { agentId: owner, holdId } = found.row;
      return { ...operation, agentId: owner, holdId, move: found.move };
    }
    case 'settle': {
      const { move, hold } = operation;
      if (move === null) return undefined;
      const found = knows ? findLive(move, known) : undefined;
      if (found === undefined) return endAt(agentId, hold.holdId, hold.amountRaw, move);
      return endAt(found.row.agentId, found.row.holdId, found.row.valueRaw, found.move);
    }
    case 'correct':
      return askedCorrection(operation, knows, agentId, known);
    case 'paid': {
      const found = findRow(known.payouts, operation.nonce, ({ state }) =>
        knows ? state !== 'done' : state === 'done',
      );
      if (found === undefined) return undefined;
      const { nonce, row } = found;
      // Told again of what is done, or of something else.
      const amountRaw = knows ? row.amountRaw : operation.amountRaw;
      return { ...operation, agentId: row.agentId, nonce, amountRaw };
    }
    case 'withdraw':
    case 'sweep':
      return { ...operation, agentId };
    default:
      return undefined;
  }
}

/** Who does not know that it stands signs another payment for the same. */
function askedAgain(operation: HoldOperation, { reservations }: PaymentRows): HoldOperation {
  const { holdId, reservation, spender } = operation;
  const stands = [...reservations.values()].find((row) => row.holdId === holdId);
  const agentId = stands?.agentId ?? operation.agentId;
  return {
    ...operation,
    agentId,
    spender: { ...spender, agentId },
    amountRaw: stands?.valueRaw ?? operation.amountRaw,
    reservation: reservation && { ...reservation, nonce: nonceOf(`${holdId}!`) },
  };
}

function findLive(move: ReservationMove, { reservations }: PaymentRows) {
  const found = findRow(reservations, move.nonce, ({ state }) => isLive(state));
  return found && { row: found.row, move: { ...move, nonce: found.nonce, from: found.row.state } };
}

function askedCorrection(
  operation: Extract<Operation, { kind: 'correct' }>,
  knows: boolean,
  agentId: number,
  { reservations }: PaymentRows,
): Operation | undefined {
  const suits = ({ state, corrected, valueRaw }: PaymentRow) =>
    valueRaw > 0n && (knows ? GIVEN_BACK.includes(state) : corrected);
  const found = findRow(reservations, operation.move.nonce, suits);
  // A reservation that no caller has asked for: its guard fails.
  if (found === undefined) return reservations.size === 0 ? { ...operation, agentId } : undefined;
  const { nonce, row } = found;
  const move = { ...operation.move, nonce, from: row.state, to: row.state };
  const facts = factsOfPayment(row.holdId);
  const amountRaw = knows ? row.valueRaw : operation.amountRaw;
  const charge = (chargedRaw: bigint) => paidCharge(row.agentId, chargedRaw, facts);
  return { ...operation, agentId: row.agentId, amountRaw, facts, move, charge };
}
