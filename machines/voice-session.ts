import { assign, setup } from 'xstate';
import { DRAINING } from './draining.ts';
import { MACHINE_LIMITS } from './limits.ts';
import type { Ending } from './transcription-stream.ts';

export type VoiceSessionEvent =
  /** The client requests a response, or the caller finished an utterance. */
  | { type: 'response.requested' }
  /** Speech that gets no response was transcribed or dropped. It is billed separately. */
  | { type: 'speech.heard' }
  /** The usage so far is due to be billed, whether or not a turn is in progress. */
  | { type: 'bill.due' }
  /** The turn is over, for whatever reason. Its usage is known. */
  | { type: 'turn.finished' }
  /** The turn is journaled. The next turn is held unless the session ends. */
  | { type: 'turn.billed' }
  /** The turn is journaled, but the hold for the next turn was refused. */
  | { type: 'budget.spent'; ending: Ending }
  | { type: 'drain.requested' }
  | { type: 'session.failed'; ending: Ending }
  | { type: 'socket.closed' }
  | { type: 'claim.lost' };

/** Effects and queries that the owner of the session implements. Given with the input. */
export type VoiceSessionEffects = {
  readonly startTurn: () => void;
  readonly stopTurn: () => void;
  /** Journals the turn. Then holds the cost of the next turn, unless the session `isEnding`. */
  readonly bill: (isEnding: boolean) => void;
  /** Journals the usage so far of the turn in progress. */
  readonly journal: () => void;
  readonly hangUp: (ending: Ending) => void;
  /** Bills the remaining usage and settles the holds, except holds that another process has taken. */
  readonly settle: (ending: Ending) => void;
  /** Returns true when the caller speaks or speech is being transcribed, so that a turn has begun without a request. */
  readonly isHearing: () => boolean;
  /** Returns the milliseconds until the client's silence reaches its limit; 0 when it has. */
  readonly quietInMs: () => number;
};

type Input = {
  readonly effects: VoiceSessionEffects;
  /** Milliseconds that one turn may take. Absent: `MACHINE_LIMITS.realtime.turnMs`. */
  readonly turnMs?: number | undefined;
};

type Context = {
  readonly effects: VoiceSessionEffects;
  readonly turnMs: number;
  readonly ending: Ending | undefined;
  /** True until the session has ended. A drain keeps it true, because the turns that have begun are finished. */
  readonly mayAnswer: boolean;
  /** True when a response was requested while another response was running or being billed. */
  readonly wanted: boolean;
  /** True when another turn may follow the turn that is being billed, so that its cost is held. */
  readonly goesOn: boolean;
};

const hasMoreToDo = ({ effects, ending, wanted }: Context): boolean =>
  ending === undefined || wanted || effects.isHearing();

const GONE: Ending = { code: 1000, reason: 'client left' };
const QUIET: Ending = { code: 1000, reason: 'idle' };
const LOST: Ending = { code: 1011, reason: 'settled elsewhere' };

/**
 * One realtime session. In `ready` the reserve covers one whole turn, so a turn may start. Every turn passes `billing` before
 * the next turn, and the reserve is settled exactly once, in whatever state the session ends.
 */
export const voiceSessionMachine = setup({
  types: { context: {} as Context, input: {} as Input, events: {} as VoiceSessionEvent },
  actions: {
    startTurn: ({ context }) => context.effects.startTurn(),
    stopTurn: ({ context }) => context.effects.stopTurn(),
    bill: ({ context }) => context.effects.bill(!context.goesOn),
    journal: ({ context }) => context.effects.journal(),
    hangUp: ({ context }) => context.effects.hangUp(context.ending ?? GONE),
    settle: ({ context }) => context.effects.settle(context.ending ?? GONE),
    drain: assign(({ context }) => ({ ending: context.ending ?? DRAINING })),
    end: assign((_, ending: Ending) => ({ ending, mayAnswer: false })),
    // A client that disconnects during a drain keeps the drain as the session's end reason.
    abandon: assign(({ context }) => ({ ending: context.ending ?? GONE, mayAnswer: false })),
    reckon: assign(({ context }) => ({ goesOn: context.mayAnswer && hasMoreToDo(context) })),
    want: assign({ wanted: true }),
    serve: assign({ wanted: false }),
  },
  guards: {
    quiet: ({ context }) => context.effects.quietInMs() === 0,
    hearing: ({ context }) => context.effects.isHearing(),
    over: ({ context }) => !context.goesOn || !context.mayAnswer,
    draining: ({ context }) => context.ending !== undefined,
    drainedHearing: ({ context }) => context.ending !== undefined && context.effects.isHearing(),
    wanted: ({ context }) => context.wanted,
  },
  delays: {
    quietCheck: ({ context }) => context.effects.quietInMs(),
    turnLimit: ({ context }) => context.turnMs,
  },
}).createMachine({
  id: 'voice-session',
  context: ({ input }) => ({
    effects: input.effects,
    turnMs: input.turnMs ?? MACHINE_LIMITS.realtime.turnMs,
    ending: undefined,
    mayAnswer: true,
    wanted: false,
    goesOn: true,
  }),
  initial: 'ready',
  on: { 'claim.lost': '.lost' },
  states: {
    ready: {
      on: {
        'response.requested': 'responding',
        'speech.heard': 'billing',
        'bill.due': 'billing',
        'drain.requested': [
          { guard: 'hearing', target: 'hearing', actions: 'drain' },
          { target: 'closed', actions: 'drain' },
        ],
        'session.failed': {
          target: 'closed',
          actions: { type: 'end', params: ({ event }) => event.ending },
        },
        'socket.closed': { target: 'closed', actions: 'abandon' },
      },
      after: {
        quietCheck: [
          { guard: 'quiet', target: 'closed', actions: { type: 'end', params: QUIET } },
          { target: 'ready', reenter: true },
        ],
      },
    },
    /** The last turn: the caller finishes an utterance, and gets an answer when one is due. */
    hearing: {
      on: {
        'response.requested': 'responding',
        'speech.heard': [{ guard: 'hearing' }, { target: 'billing' }],
        'session.failed': {
          target: 'closed',
          actions: { type: 'end', params: ({ event }) => event.ending },
        },
        'socket.closed': { target: 'closed', actions: 'abandon' },
      },
      after: { turnLimit: 'closed' },
    },
    responding: {
      entry: ['serve', 'startTurn'],
      on: {
        'response.requested': { actions: 'want' },
        'turn.finished': 'billing',
        'bill.due': { actions: 'journal' },
        'drain.requested': { actions: 'drain' },
        'session.failed': {
          actions: [{ type: 'end', params: ({ event }) => event.ending }, 'stopTurn'],
        },
        'socket.closed': { actions: ['abandon', 'stopTurn'] },
      },
      after: { turnLimit: { actions: 'stopTurn' } },
    },
    billing: {
      entry: ['reckon', 'bill'],
      on: {
        'response.requested': { actions: 'want' },
        'turn.billed': [
          { guard: 'over', target: 'closed' },
          { guard: 'wanted', target: 'responding' },
          { guard: 'drainedHearing', target: 'hearing' },
          { guard: 'draining', target: 'closed' },
          { target: 'ready' },
        ],
        'budget.spent': {
          target: 'closed',
          actions: { type: 'end', params: ({ event }) => event.ending },
        },
        'drain.requested': { actions: 'drain' },
        'session.failed': { actions: { type: 'end', params: ({ event }) => event.ending } },
        'socket.closed': { actions: 'abandon' },
      },
    },
    closed: { type: 'final', entry: ['hangUp', 'settle'] },
    lost: { type: 'final', entry: ['stopTurn', { type: 'end', params: LOST }, 'hangUp', 'settle'] },
  },
});
