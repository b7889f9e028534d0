import { assign, setup } from 'xstate';
import { DRAINING } from './draining.ts';
import { MACHINE_LIMITS } from './limits.ts';
import type { Ending } from './transcription-stream.ts';

export type RealtimeRelayEvent =
  /** Every turn is billed, and no turn is in progress. */
  | { type: 'turns.over' }
  /** The hold does not cover the turns in progress or the next turn. */
  | { type: 'budget.spent'; ending: Ending }
  | { type: 'drain.requested' }
  /** The client broke a rule of the protocol or reads too slowly, or the ledger failed. */
  | { type: 'session.failed'; ending: Ending }
  | { type: 'socket.closed' }
  | { type: 'upstream.closed'; ending: Ending }
  | { type: 'claim.lost' };

/** Effects and queries that the owner of both sockets implements. Given with the input. */
export type RelayEffects = {
  /** Sends the reason and closes the client's socket. */
  readonly hangUp: (ending: Ending) => void;
  /** Cancels the turns at the upstream, which still reports their usage. */
  readonly cancelTurns: () => void;
  readonly settle: (ending: Ending) => void;
  /** Leaves the session without settling it, because another process has settled it. */
  readonly leave: () => void;
  readonly isInTurn: () => boolean;
  /** Returns the milliseconds until the client's silence reaches its limit; 0 when it has. */
  readonly quietInMs: () => number;
};

type Input = { readonly effects: RelayEffects };
type Context = { readonly effects: RelayEffects; readonly ending: Ending };

/** Transition that ends a live session with the event's ending, also during a drain. */
const endsWithWhy = {
  target: 'ending',
  actions: {
    type: 'end',
    params: ({ event }: { readonly event: { readonly ending: Ending } }) => event.ending,
  },
} as const;
const ENDED_BY = {
  'budget.spent': endsWithWhy,
  'session.failed': endsWithWhy,
  'socket.closed': 'ending',
} as const;

const GONE: Ending = { code: 1000, reason: 'client left' };
const QUIET: Ending = { code: 1000, reason: 'idle' };
const LOST: Ending = { code: 1011, reason: 'settled elsewhere' };

/**
 * One realtime session at an upstream. An end in the middle of a turn does not end the metering: the server cancels the turn,
 * and in `finishing` reads the usage that the upstream still reports. Settled exactly once, in `closed`.
 */
export const realtimeRelayMachine = setup({
  types: { context: {} as Context, input: {} as Input, events: {} as RealtimeRelayEvent },
  actions: {
    hangUp: ({ context }) => context.effects.hangUp(context.ending),
    cancelTurns: ({ context }) => context.effects.cancelTurns(),
    settle: ({ context }) => context.effects.settle(context.ending),
    leave: ({ context }) => context.effects.leave(),
    end: assign((_, ending: Ending) => ({ ending })),
  },
  guards: {
    inTurn: ({ context }) => context.effects.isInTurn(),
    quiet: ({ context }) => context.effects.quietInMs() === 0,
  },
  delays: {
    quietCheck: ({ context }) => context.effects.quietInMs(),
    turnLimit: MACHINE_LIMITS.realtime.turnMs,
    finishLimit: MACHINE_LIMITS.relay.finishMs,
  },
}).createMachine({
  id: 'realtime-relay',
  context: ({ input }) => ({ effects: input.effects, ending: GONE }),
  initial: 'relaying',
  on: {
    'claim.lost': '.lost',
    'upstream.closed': {
      target: '.closed',
      actions: { type: 'end', params: ({ event }) => event.ending },
    },
  },
  states: {
    relaying: {
      on: {
        'drain.requested': {
          target: 'draining',
          actions: { type: 'end', params: DRAINING },
        },
        ...ENDED_BY,
      },
      after: {
        quietCheck: [
          { guard: 'quiet', target: 'ending', actions: { type: 'end', params: QUIET } },
          { target: 'relaying', reenter: true },
        ],
      },
    },
    /** Finishes the turns in progress while the client stays connected. */
    draining: {
      always: { guard: ({ context }) => !context.effects.isInTurn(), target: 'closed' },
      on: {
        'turns.over': 'closed',
        ...ENDED_BY,
      },
      after: { turnLimit: 'ending' },
    },
    ending: { always: [{ guard: 'inTurn', target: 'finishing' }, { target: 'closed' }] },
    finishing: {
      entry: ['hangUp', 'cancelTurns'],
      on: { 'turns.over': 'closed', 'upstream.closed': 'closed' },
      after: { finishLimit: 'closed' },
    },
    closed: { type: 'final', entry: ['hangUp', 'settle'] },
    lost: { type: 'final', entry: [{ type: 'end', params: LOST }, 'hangUp', 'leave'] },
  },
});
