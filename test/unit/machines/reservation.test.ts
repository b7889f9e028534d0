import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  isLive,
  planReservation,
  type ReservationEvent,
  type ReservationState,
  type ReservationStep,
  reservationMachine,
} from '../../../machines/reservation.ts';

const STATES = Object.keys(reservationMachine.states) as ReservationState[];
const LIVE: readonly ReservationState[] = ['reserved', 'sent', 'pending_settlement'];
const UNANSWERED: readonly ReservationState[] = ['reserved', 'sent'];

/** What happens, by the names that the tables below use. */
const EVENTS = {
  'request.sent': { type: 'request.sent' },
  'request.broken': { type: 'request.broken' },
  'request.unsent': { type: 'request.unsent' },
  'response.arrived': { type: 'response.arrived' },
  'authorization.used': { type: 'authorization.used' },
  'void after a refusal': { type: 'authorization.void', refused: true },
  void: { type: 'authorization.void', refused: false },
} as const satisfies Record<string, ReservationEvent>;
type EventName = keyof typeof EVENTS;
const NAMES = Object.keys(EVENTS) as EventName[];

type Row = {
  readonly name: string;
  readonly from: readonly ReservationState[];
  readonly on: EventName;
  readonly to: ReservationState;
  readonly effect?: ReservationStep['effect'];
};

/** The specification's table, row by row, and what its silences are filled with. */
const ROWS: readonly Row[] = [
  {
    name: 'reserved or sent | network error | after the header was attached -> pending_settlement',
    from: UNANSWERED,
    on: 'request.broken',
    to: 'pending_settlement',
  },
  {
    name: 'pending_settlement | reconciliation | a transfer is observed -> settled, funds consumed',
    from: ['pending_settlement'],
    on: 'authorization.used',
    to: 'settled',
    effect: 'consume',
  },
  {
    name: 'pending_settlement | reconciliation | validBefore passes -> expired_unsettled, funds released',
    from: ['pending_settlement'],
    on: 'void',
    to: 'expired_unsettled',
    effect: 'release',
  },
  {
    name: 'pending_settlement | reconciliation | rejection is established -> payment_rejected, funds released',
    from: ['pending_settlement'],
    on: 'void after a refusal',
    to: 'payment_rejected',
    effect: 'release',
  },
  {
    name: 'reserved | the payment header is attached -> sent',
    from: ['reserved'],
    on: 'request.sent',
    to: 'sent',
  },
  {
    name: 'sent | the vendor answers 2xx in time -> pending_settlement (reserved: its step to sent was lost)',
    from: UNANSWERED,
    on: 'response.arrived',
    to: 'pending_settlement',
  },
  {
    name: 'reserved or sent | the chain has spoken while the vendor has not -> settled',
    from: UNANSWERED,
    on: 'authorization.used',
    to: 'settled',
    effect: 'consume',
  },
  {
    name: 'reserved or sent | left behind by a dead process until validBefore -> expired_unsettled',
    from: UNANSWERED,
    on: 'void',
    to: 'expired_unsettled',
    effect: 'release',
  },
  {
    name: 'reserved or sent | left behind after a refusal until validBefore -> payment_rejected',
    from: UNANSWERED,
    on: 'void after a refusal',
    to: 'payment_rejected',
    effect: 'release',
  },
];

/** Where a published word is not followed: what it says, and what happens here. */
const DEPARTURES: readonly (Row & { readonly instead: string })[] = [
  {
    name: 'sent | 2xx when validBefore has passed -> released, safe to retry',
    instead: 'the vendor may have been paid in time: the chain decides',
    from: ['sent'],
    on: 'response.arrived',
    to: 'pending_settlement',
  },
  {
    name: 'sent | 402 to the paid request -> payment_rejected, funds released',
    instead: 'a holder of the signature can still use it: the refusal is noted, the chain decides',
    from: ['sent'],
    on: 'response.arrived',
    to: 'pending_settlement',
  },
  {
    name: 'sent | stopped before any byte was sent -> payment_rejected, funds released',
    instead: 'the vendor refused nothing: it is released, and reads as expired_unsettled',
    from: UNANSWERED,
    on: 'request.unsent',
    to: 'released',
    effect: 'release',
  },
];

const stepOf = ({ to, effect }: Row): ReservationStep => ({ to, effect });

describe('reservation', () => {
  it('a new reservation starts in the state `reserved`', () => {
    expect(reservationMachine.config.initial).toBe('reserved');
  });

  it.each(ROWS)('a reservation takes the specified step: $name', (row) => {
    for (const from of row.from)
      expect(planReservation(from, EVENTS[row.on]), from).toEqual(stepOf(row));
  });

  it.each(DEPARTURES)('a reservation does not take the published step "$name"; $instead', (row) => {
    for (const from of row.from)
      expect(planReservation(from, EVENTS[row.on]), from).toEqual(stepOf(row));
  });

  it('a reservation has no other transitions than the listed ones', () => {
    const listed = [...ROWS, ...DEPARTURES].flatMap(({ from, on, to }) =>
      from.map((state) => `${state} ${on} ${to}`),
    );
    const possible = STATES.flatMap((from) =>
      NAMES.flatMap((on) => {
        const step = planReservation(from, EVENTS[on]);
        return step === undefined ? [] : [`${from} ${on} ${step.to}`];
      }),
    );
    expect(possible.sort()).toEqual([...new Set(listed)].sort());
  });

  it('a reservation is live exactly in the states that the machine has not ended', () => {
    expect(STATES.filter(isLive)).toEqual(LIVE);
    for (const state of STATES) {
      expect(reservationMachine.states[state]?.type === 'final', state).toBe(!isLive(state));
    }
  });

  it('a reservation never releases or takes funds on the word of a vendor', () => {
    for (const from of STATES) {
      expect(planReservation(from, EVENTS['response.arrived'])?.effect).toBeUndefined();
      expect(planReservation(from, EVENTS['request.broken'])?.effect).toBeUndefined();
    }
  });

  it('a reservation resolves its hold exactly once and only at its end, whatever the order of events', () => {
    fc.assert(
      fc.property(fc.array(fc.constantFrom(...NAMES), { maxLength: 12 }), (names) => {
        let state: ReservationState = 'reserved';
        const effects: string[] = [];
        for (const name of names) {
          const step = planReservation(state, EVENTS[name]);
          // What has ended swallows everything; what lives goes on to somewhere else, or stays.
          if (!isLive(state)) expect(step).toBeUndefined();
          if (step === undefined) continue;
          expect(step.to).not.toBe(state);
          expect(step.effect !== undefined).toBe(!isLive(step.to));
          state = step.to;
          if (step.effect !== undefined) effects.push(step.effect);
        }
        expect(effects).toEqual(isLive(state) ? [] : [state === 'settled' ? 'consume' : 'release']);
      }),
    );
  });

  it('a live reservation is always ended by the chain, whatever the vendor or a crash did', () => {
    for (const from of LIVE) {
      expect(planReservation(from, EVENTS['authorization.used'])?.to).toBe('settled');
      expect(planReservation(from, EVENTS.void)?.effect).toBe('release');
    }
  });
});
