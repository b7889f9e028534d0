import { assign, setup } from 'xstate';

/** Actions that the machine requests of the balance actor. The names are the actor's own. */
export type BalanceEffects = {
  /** Reads the agent's state and rules. */
  load(): void;
  /** Offers the agent's waiting operations, if any, to the writer. */
  offer(): void;
  /** Locks the agent's row, decides the waiting operations and commits them, in one short sql transaction. */
  fence(): void;
  /** Answers the waiting operations that the agent does not exist. */
  dismiss(): void;
};

type Context = {
  readonly effects: BalanceEffects;
  /** Number of times in a row that another process had changed the state. */
  readonly misses: number;
  readonly missesBeforeFence: number;
  /** Number of a busy agent's further parts to decide under the lock, because another process writes too. */
  readonly wary: number;
  readonly waryParts: number;
};

export type BalanceEvent =
  | { type: 'balance.loaded' }
  | { type: 'agent.missing' }
  /** Sent only after a miss. `busy` is true when the part had many operations. */
  | { type: 'part.applied'; busy: boolean }
  /** The part was not committed. `stale`: another process was faster. `rulesMoved`: the rules changed as well. */
  | { type: 'part.declined'; stale: boolean; rulesMoved: boolean }
  /** The outcome of the part is unknown: the database did not answer. */
  | { type: 'part.broken' }
  | { type: 'rules.changed' }
  /** Operations arrived while parts are decided under the lock (`wary` is above 0). */
  | { type: 'work.waiting' };

const NO_MISSES = { misses: 0 };

/**
 * One agent's balance in one process. In `ready` it decides on its own copy of the state, and the database has the last word.
 * After two misses in a row it locks the row, so that no process starves; a busy agent stays wary for some batches. The machine
 * gets exceptions only, because an event costs more than deciding an operation.
 */
export const balanceMachine = setup({
  types: {
    context: {} as Context,
    input: {} as Omit<Context, 'misses' | 'wary'>,
    events: {} as BalanceEvent,
  },
  actions: {
    load: ({ context }) => context.effects.load(),
    offer: ({ context }) => context.effects.offer(),
    fence: ({ context }) => context.effects.fence(),
    dismiss: ({ context }) => context.effects.dismiss(),
    forgive: assign(NO_MISSES),
    beware: assign({ wary: ({ context }) => context.waryParts }),
    relax: assign({ wary: ({ context }) => context.wary - 1 }),
    count: assign({ misses: ({ context }, stale: boolean) => context.misses + (stale ? 1 : 0) }),
  },
  guards: {
    rulesMoved: (_, moved: boolean) => moved,
    starving: ({ context }, stale: boolean) =>
      stale && context.misses + 1 >= context.missesBeforeFence,
    starved: ({ context }) => context.misses >= context.missesBeforeFence,
    wary: ({ context }, busy: boolean) => busy && context.wary > 0,
  },
}).createMachine({
  id: 'balance',
  context: ({ input }) => ({ ...input, ...NO_MISSES, wary: 0 }),
  initial: 'loading',
  states: {
    loading: {
      entry: 'load',
      on: {
        'balance.loaded': [
          { guard: 'starved', target: 'fenced', actions: 'beware' },
          { target: 'ready' },
        ],
        'agent.missing': 'absent',
      },
    },
    ready: {
      entry: 'offer',
      on: {
        'part.applied': { actions: 'forgive' },
        'part.declined': [
          {
            guard: { type: 'rulesMoved', params: ({ event }) => event.rulesMoved },
            target: 'loading',
            actions: { type: 'count', params: ({ event }) => event.stale },
          },
          {
            guard: { type: 'starving', params: ({ event }) => event.stale },
            target: 'fenced',
            actions: ['beware', { type: 'count', params: ({ event }) => event.stale }],
          },
          {
            target: 'ready',
            reenter: true,
            actions: { type: 'count', params: ({ event }) => event.stale },
          },
        ],
        'part.broken': 'loading',
        'rules.changed': 'loading',
        'agent.missing': 'absent',
      },
    },
    fenced: {
      entry: 'fence',
      exit: 'forgive',
      on: {
        'part.applied': [
          {
            guard: { type: 'wary', params: ({ event }) => event.busy },
            target: 'wary',
            actions: 'relax',
          },
          { target: 'ready' },
        ],
        'part.declined': [
          {
            guard: { type: 'rulesMoved', params: ({ event }) => event.rulesMoved },
            target: 'loading',
          },
          { target: 'ready' },
        ],
        'part.broken': 'loading',
        'agent.missing': 'absent',
      },
    },
    wary: {
      entry: 'offer',
      on: { 'work.waiting': 'fenced', 'rules.changed': 'loading', 'agent.missing': 'absent' },
    },
    absent: { type: 'final', entry: 'dismiss' },
  },
});
