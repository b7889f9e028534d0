import type { ReservationState } from '../../machines/reservation.ts';
import { BATTERY, type Leg, type Script } from './chain/evil-vendor.ts';

export const PRICE_RAW = 10_000n;
export const DEPOSIT_RAW = 100_000n;

/** What a caller is told, in the words of the contract; `lost` where its server died before it had answered. */
export type Outcome = 'paid' | 'ambiguous' | 'refused' | 'unsettled' | 'lost';

/** What a vendor does with a payment, and what has to come of that where nothing else goes wrong. */
export type Mode = {
  readonly name: string;
  readonly leg: Leg;
  /** The payment reaches the chain in time, submitted by the vendor or a third party. */
  readonly taken: boolean;
  /** The vendor says that it does not take it. */
  readonly refuses?: true;
  /** Its answer waits until the payment has lapsed. */
  readonly slow?: true;
  readonly told: Exclude<Outcome, 'lost'>;
  /** Points of the product that its calls do not pass. */
  readonly without: readonly PointName[];
};

/** Instants between "the hold is committed" and "the answer is sent". */
export type PointName =
  | 'none'
  | 'reserved'
  | 'sending'
  | 'unmarked'
  | 'delivered'
  | 'answered'
  | 'booked'
  | 'judged'
  | 'answering'
  | 'kept';

type Step = 'reserved' | 'sending' | 'answered' | 'booked' | 'judged' | 'answering' | 'kept';

export type Point = {
  readonly name: PointName;
  readonly says: string;
  /** Where calls are held until all of a batch stand there. */
  readonly step?: Step;
  /** The vendor has the payment at that instant. */
  readonly delivered: boolean;
  /** What the vendor said has been written down. */
  readonly booked: boolean;
};

/**
 * Where the process is killed, in the order of a payment's way. `unmarked` and `delivered` are no places in the
 * product: the vendor has the payment and its answer has not come, with and without the row reading `sent`.
 */
export const POINTS: readonly Point[] = [
  { name: 'none', says: 'never', delivered: true, booked: true },
  {
    name: 'reserved',
    says: 'once the hold is committed',
    step: 'reserved',
    delivered: false,
    booked: false,
  },
  {
    name: 'sending',
    says: 'before the first byte of the payment',
    step: 'sending',
    delivered: false,
    booked: false,
  },
  {
    name: 'unmarked',
    says: 'when the vendor has what no row says was sent',
    step: 'reserved',
    delivered: true,
    booked: false,
  },
  { name: 'delivered', says: 'while the vendor has the payment', delivered: true, booked: false },
  {
    name: 'answered',
    says: 'when the answer begins',
    step: 'answered',
    delivered: true,
    booked: false,
  },
  {
    name: 'booked',
    says: 'once the answer is written down',
    step: 'booked',
    delivered: true,
    booked: true,
  },
  {
    name: 'judged',
    says: 'when the chain has spoken of a late answer',
    step: 'judged',
    delivered: true,
    booked: true,
  },
  {
    name: 'answering',
    says: 'before a paid answer is relayed',
    step: 'answering',
    delivered: true,
    booked: true,
  },
  {
    name: 'kept',
    says: 'once the answer of a key is stored',
    step: 'kept',
    delivered: true,
    booked: true,
  },
];

const QUIET: readonly PointName[] = ['answered', 'judged', 'answering'];
const FAILING: readonly PointName[] = ['judged', 'answering'];
const untaken = (leg: Leg): Leg => ({ ...leg, settle: 'never' });

const HONEST: Mode = {
  name: 'clean',
  leg: BATTERY.clean,
  taken: true,
  told: 'paid',
  without: ['judged'],
};

/** The seven modes; those that leave open whether the money moves come both ways. */
export const MODES: readonly Mode[] = [
  HONEST,
  { name: 'timeout', leg: BATTERY.timeout, taken: true, told: 'ambiguous', without: QUIET },
  {
    name: 'timeout, not taken',
    leg: untaken(BATTERY.timeout),
    taken: false,
    told: 'ambiguous',
    without: QUIET,
  },
  { name: '5xx', leg: BATTERY.broken, taken: true, told: 'ambiguous', without: FAILING },
  {
    name: '5xx, not taken',
    leg: untaken(BATTERY.broken),
    taken: false,
    told: 'ambiguous',
    without: FAILING,
  },
  {
    name: 'double 402',
    leg: BATTERY.double402,
    taken: false,
    refuses: true,
    told: 'refused',
    without: FAILING,
  },
  { name: 'slow', leg: BATTERY.slow, taken: true, slow: true, told: 'paid', without: [] },
  {
    name: 'slow, not taken',
    leg: untaken(BATTERY.slow),
    taken: false,
    slow: true,
    told: 'unsettled',
    without: ['answering'],
  },
  {
    name: 'settled late',
    leg: BATTERY.late,
    taken: true,
    refuses: true,
    told: 'refused',
    without: FAILING,
  },
  {
    name: 'front-run',
    leg: BATTERY.frontRun,
    taken: true,
    refuses: true,
    told: 'refused',
    without: FAILING,
  },
];

/** Published vendors of version 1 speak in the body; its specification has a header. */
type Form = { readonly version: 1 | 2; readonly form: 'header' | 'body' };

export type Row = Form & {
  readonly mode: Mode;
  readonly point: Point;
  readonly keyed: boolean;
};

const FORMS: readonly (Form & { readonly keyed: boolean })[] = [
  { version: 1, form: 'body', keyed: true },
  { version: 1, form: 'header', keyed: false },
  { version: 2, form: 'header', keyed: true },
  { version: 2, form: 'header', keyed: false },
];

/** All rows whose process is killed at one point, or as many of them as are wanted. */
export const rowsAt = (point: Point, modes: readonly Mode[] = MODES): readonly Row[] =>
  modes
    .filter(({ without }) => !without.includes(point.name))
    .flatMap((mode) => FORMS.map((form) => ({ ...form, mode, point })))
    .filter(({ keyed }) => keyed || point.name !== 'kept');

export const nameOf = ({ mode, version, form, keyed }: Row): string =>
  `${mode.name}, v${version} ${form}${keyed ? ', with a key' : ''}`;

/** What the vendor of a row does: its mode with the first payment that it gets, and an honest sale afterwards. */
export function scriptOf({ mode, version, form, point }: Row): Script {
  const challenge = { kind: 'challenge', version, form } as const;
  const { leg } = mode;
  const answer = leg.answer.kind === 'challenge' ? { ...leg.answer, ...challenge } : leg.answer;
  const isGated = point.name === 'delivered' || point.name === 'unmarked';
  const first: Leg = { ...leg, answer, ...(isGated && { gated: true }) };
  return {
    priceRaw: PRICE_RAW,
    unpaid: { answer: challenge },
    paid: [first, BATTERY.clean],
  };
}

/** One payment of a call: whether the vendor ever saw it, and its end. */
export type ExpectedPayment = {
  readonly delivered: boolean;
  readonly end: 'settled' | 'expired_unsettled' | 'payment_rejected';
};

export type Expected = {
  /** What the row may read when the process has died. */
  readonly atCrash: readonly ReservationState[];
  /** The chain had been asked, and its word written down, before that. */
  readonly isDecided: boolean;
  readonly payments: readonly ExpectedPayment[];
  /** What the caller knows in the end: under a key, after having asked for as long as it takes. */
  readonly told: Outcome;
};

/** Where nothing else goes wrong. */
const payOut = ({ taken, refuses }: Mode, booked: boolean): ExpectedPayment => ({
  delivered: true,
  end: taken ? 'settled' : refuses && booked ? 'payment_rejected' : 'expired_unsettled',
});

/** What has to become of a row: the whole of what the battery demands. */
export function expectedOf(row: Row): Expected {
  const { mode, point, keyed } = row;
  const { name, delivered, booked } = point;
  const first: ExpectedPayment = delivered
    ? payOut(mode, booked)
    : { delivered: false, end: 'expired_unsettled' };
  // Of a late answer the chain is asked before anything is told of it.
  const isDecided = mode.slow === true && (name === 'answering' || name === 'kept');
  const atCrash = isDecided ? [first.end] : statesAt(name, mode);
  const once = { atCrash, isDecided, payments: [first] };
  if (name === 'none' || name === 'kept') return { ...once, told: mode.told };
  if (!keyed) return { ...once, told: 'lost' };
  if (first.end === 'settled') return { ...once, told: 'ambiguous' };
  // Nothing was paid and nothing can be any more: the key is free, and what is done under it is done anew.
  const anew = delivered ? payOut(HONEST, true) : payOut(mode, true);
  return { ...once, payments: [first, anew], told: delivered ? HONEST.told : mode.told };
}

function statesAt(name: PointName, { slow }: Mode): readonly ReservationState[] {
  switch (name) {
    case 'none':
      return [];
    case 'reserved':
    case 'unmarked':
      return ['reserved'];
    case 'sending':
    case 'delivered':
      return ['sent'];
    case 'answered':
      // The call does not wait for this write.
      return ['reserved', 'sent'];
    case 'booked':
    case 'judged':
      return ['pending_settlement'];
    case 'answering':
    case 'kept':
      // An answer in time is relayed while it is written down.
      return slow ? ['pending_settlement'] : ['reserved', 'sent', 'pending_settlement'];
  }
}
