import { assign, setup } from 'xstate';

/** What the machine asks of the balance actor that it drives; the verbs are the actor's own. */
export type BalanceEffects = {
  /** Reads the agent's state and rules. */
  load(): void;
  /** Tells the writer that operations wait here, if any do. */
  offer(): void;
  /** Takes the agent's row, decides and commits in one short sql transaction. */
  fence(): void;
  /** There is no such agent: waiting operations are answered so. */
  dismiss(): void;
};

type Context = {
  readonly effects: BalanceEffects;
  /** Times in a row that the state turned out to be another process's. */
  readonly misses: number;
  readonly missesBeforeFence: number;
  /** Parts of a busy agent that are still to be decided under the lock: another process is at it, too. */
  readonly wary: number;
  readonly waryParts: number;
};

export type BalanceEvent =
  | { type: 'balance.loaded' }
  | { type: 'agent.missing' }
  /** Sent after a miss only: a part that simply stands is nothing to tell. `busy`: much rode in it. */
  | { type: 'part.applied'; busy: boolean }
  /** The part did not stand. `stale`: another process was faster; `rulesMoved`: the rules are void too. */
  | { type: 'part.declined'; stale: boolean; rulesMoved: boolean }
  /** Nothing is known any more of what was sent. */
  | { type: 'part.broken' }
  | { type: 'rules.changed' }
  /** Something waits while the machine is wary. */
  | { type: 'work.waiting' };

const NO_MISSES = { misses: 0 };

/**
 * One agent's balance in one process. While ready it decides on its own copy of the state and writes,
 * and the database has the last word. After two misses in a row it takes the row, so that no process
 * starves; a busy one stays wary for some batches, since a faster process will be faster again. It hears of the exceptions only: an event costs more than deciding an operation.
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
