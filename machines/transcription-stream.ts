import { assign, setup } from 'xstate';
import { DRAINING } from './draining.ts';
import { MACHINE_LIMITS } from './limits.ts';

/** End of a stream: an error event when `error` is set, then the close frame. */
export type Ending = {
  readonly code: number;
  readonly reason: string;
  readonly error?: {
    readonly code: string;
    readonly message: string;
    /** Seconds of received audio that were neither heard nor charged for. */
    readonly unheardSeconds?: number;
  };
};

export type TranscriptionStreamEvent =
  /** The remaining hold covers less than half of a slice of audio. */
  | { type: 'budget.low' }
  /** The ledger refuses a further hold or does not answer. */
  | { type: 'budget.spent'; ending: Ending }
  /** The client ends its audio. */
  | { type: 'audio.finished' }
  /** All audio that arrived was passed to the transcriber. */
  | { type: 'audio.passed' }
  | { type: 'drain.requested' }
  /** The client broke a rule of the protocol, or an engine or the ledger failed. */
  | { type: 'stream.failed'; ending: Ending }
  /** The transcriber has made progress with the stream. */
  | { type: 'transcript.progressed' }
  | { type: 'transcript.finished' }
  | { type: 'socket.closed' }
  /** Another process has settled this session. */
  | { type: 'claim.lost' };

/**
 * Effects and queries that the owner of the socket implements. They come with the input, so that all streams share one
 * machine: one for each would cost 30 KB a stream.
 */
export type TranscriptionEffects = {
  readonly extendHold: () => void;
  /** Passes the waiting audio to the transcriber, which may wait for a hold. Sends `audio.passed` after the last of it. */
  readonly passAudio: () => void;
  readonly finishTranscript: () => void;
  /** Stops waiting for the remaining transcript. */
  readonly giveUpRest: () => void;
  readonly hangUp: (ending: Ending) => void;
  readonly settle: (ending: Ending) => void;
  /** Returns true when the transcriber still has to report the total of audio that it heard, also after the client left. */
  readonly isOwed: () => boolean;
  /** Leaves the session without settling it, because another process has settled it. */
  readonly leave: () => void;
  /** Returns the milliseconds until the stream has been without audio for its limit; 0 when it has. */
  readonly quietInMs: () => number;
};

type Input = {
  readonly effects: TranscriptionEffects;
  /** Ending of a stream without audio. */
  readonly quiet: Ending;
  /** Ending of a stream whose hold did not come in time. */
  readonly unheld: Ending;
  /** Ending of a stream whose last words did not come in time, unless it had another ending. */
  readonly unfinished: Ending;
};
type Context = Input & { readonly ending: Ending };

const DONE: Ending = { code: 1000, reason: 'done' };
const LOST: Ending = { code: 1011, reason: 'settled elsewhere' };

const GIVEN_UP = {
  target: '#transcription-stream.closed',
  actions: ['endUnfinished', 'giveUpRest'],
} as const;

/** Life of one live transcription, from the upgrade until its hold is settled. */
export const transcriptionStreamMachine = setup({
  types: { context: {} as Context, input: {} as Input, events: {} as TranscriptionStreamEvent },
  actions: {
    extendHold: ({ context }) => context.effects.extendHold(),
    passAudio: ({ context }) => context.effects.passAudio(),
    finishTranscript: ({ context }) => context.effects.finishTranscript(),
    hangUp: ({ context }) => context.effects.hangUp(context.ending),
    settle: ({ context }) => context.effects.settle(context.ending),
    leave: ({ context }) => context.effects.leave(),
    giveUpRest: ({ context }) => context.effects.giveUpRest(),
    end: assign((_, ending: Ending) => ({ ending })),
    endUnfinished: assign(({ context: { ending, unfinished } }) => ({
      ending: ending === DONE ? unfinished : ending,
    })),
  },
  guards: {
    owed: ({ context }) => context.effects.isOwed(),
    quiet: ({ context }) => context.effects.quietInMs() === 0,
  },
  delays: {
    quietCheck: ({ context }) => context.effects.quietInMs(),
    holdLimit: MACHINE_LIMITS.transcription.holdMs,
    finishLimit: MACHINE_LIMITS.transcription.finishMs,
    finishMost: MACHINE_LIMITS.transcription.mostMs,
    leaveLimit: MACHINE_LIMITS.relay.finishMs,
  },
}).createMachine({
  id: 'transcription-stream',
  context: ({ input }) => ({ ending: DONE, ...input }),
  initial: 'streaming',
  on: {
    'stream.failed': {
      target: '.closed',
      actions: { type: 'end', params: ({ event }) => event.ending },
    },
    'socket.closed': [{ guard: 'owed', target: '.leaving' }, { target: '.closed' }],
    'claim.lost': '.lost',
  },
  states: {
    streaming: {
      on: {
        'budget.low': { actions: 'extendHold' },
        // Audio that was paid for is still transcribed: its final transcripts come before the error.
        'budget.spent': {
          target: 'finishing',
          actions: { type: 'end', params: ({ event }) => event.ending },
        },
        'audio.finished': 'closing',
        'drain.requested': { target: 'closing', actions: { type: 'end', params: DRAINING } },
      },
      after: {
        quietCheck: [
          {
            guard: 'quiet',
            target: 'closing',
            actions: { type: 'end', params: ({ context }) => context.quiet },
          },
          { target: 'streaming', reenter: true },
        ],
      },
    },
    /** Takes no more audio. Requests a hold only for audio that waits, not for audio ahead of it. */
    closing: {
      entry: 'passAudio',
      on: {
        'audio.passed': 'finishing',
        'budget.spent': {
          target: 'finishing',
          actions: { type: 'end', params: ({ event }) => event.ending },
        },
      },
      after: {
        holdLimit: {
          target: 'finishing',
          actions: { type: 'end', params: ({ context }) => context.unheld },
        },
      },
    },
    finishing: {
      entry: 'finishTranscript',
      initial: 'waiting',
      on: { 'transcript.finished': 'closed', 'transcript.progressed': '.waiting' },
      after: { finishMost: GIVEN_UP },
      states: { waiting: { after: { finishLimit: GIVEN_UP } } },
    },
    /** The client is gone. The state waits only for the transcriber to report the amount of audio that was heard. */
    leaving: {
      entry: 'finishTranscript',
      on: { 'transcript.finished': 'closed', 'socket.closed': {} },
      after: { leaveLimit: 'closed' },
    },
    closed: { type: 'final', entry: ['hangUp', 'settle'] },
    lost: { type: 'final', entry: [{ type: 'end', params: LOST }, 'hangUp', 'leave'] },
  },
});
