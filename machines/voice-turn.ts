import { assign, setup } from 'xstate';

/** Reason why a response is incomplete, as in the realtime protocol. */
export type CutReason = 'max_output_tokens' | 'content_filter';

/** Reason why a turn ended early, in the words of the realtime protocol. */
export type TurnCause =
  | { readonly kind: 'cancelled'; readonly reason: 'turn_detected' | 'client_cancelled' }
  | { readonly kind: 'incomplete'; readonly reason: CutReason }
  | {
      readonly kind: 'failed';
      readonly code: string;
      readonly message: string;
      /** The synthesizer failed, in the middle of what is being said. Absent: what writes the answer did. */
      readonly stage?: 'voice';
    };

export type VoiceTurnEvent =
  /** The first words of the answer are known, or it has none. The model may still write more. */
  | { type: 'reply.ready' }
  /** All speech has been sent. */
  | { type: 'speech.finished' }
  | { type: 'turn.interrupted'; reason: 'turn_detected' | 'client_cancelled' }
  | { type: 'output.cut'; reason: CutReason }
  | { type: 'engine.failed'; code: string; message: string; stage?: 'voice' };

/** Effects that the owner of the turn implements. Given with the input. */
export type TurnEffects = {
  readonly generate: () => void;
  readonly speak: () => void;
  /** Stops generating and stops synthesis. The turn makes no further requests. */
  readonly stop: () => void;
  /** Sends the end of the turn to the client and passes the turn to billing. */
  readonly finish: (cause: TurnCause | undefined) => void;
};

type Context = { readonly effects: TurnEffects; readonly cause: TurnCause | undefined };
type Input = { readonly effects: TurnEffects };

/**
 * Life of one spoken answer, from the decision to answer until it is spoken, stopped or failed. Every final state runs
 * `finish`, so that the client sees the end of the turn and billing gets the turn exactly once.
 */
export const voiceTurnMachine = setup({
  types: { context: {} as Context, input: {} as Input, events: {} as VoiceTurnEvent },
  actions: {
    generate: ({ context }) => context.effects.generate(),
    speak: ({ context }) => context.effects.speak(),
    stop: ({ context }) => context.effects.stop(),
    finish: ({ context }) => context.effects.finish(context.cause),
    blame: assign((_, cause: TurnCause) => ({ cause })),
  },
}).createMachine({
  id: 'voice-turn',
  context: ({ input }) => ({ effects: input.effects, cause: undefined }),
  initial: 'thinking',
  on: {
    'turn.interrupted': {
      target: '.cancelled',
      actions: {
        type: 'blame',
        params: ({ event }) => ({ kind: 'cancelled', reason: event.reason }) as const,
      },
    },
    'engine.failed': {
      target: '.failed',
      actions: {
        type: 'blame',
        params: ({ event }) =>
          ({
            kind: 'failed',
            code: event.code,
            message: event.message,
            ...(event.stage && { stage: event.stage }),
          }) as const,
      },
    },
  },
  states: {
    thinking: { entry: 'generate', on: { 'reply.ready': 'speaking' } },
    speaking: {
      entry: 'speak',
      on: {
        'speech.finished': 'completed',
        'output.cut': {
          target: 'incomplete',
          actions: {
            type: 'blame',
            params: ({ event }) => ({ kind: 'incomplete', reason: event.reason }) as const,
          },
        },
      },
    },
    completed: { type: 'final', entry: 'finish' },
    incomplete: { type: 'final', entry: ['stop', 'finish'] },
    cancelled: { type: 'final', entry: ['stop', 'finish'] },
    failed: { type: 'final', entry: ['stop', 'finish'] },
  },
});
