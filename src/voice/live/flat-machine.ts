import type { AnyStateMachine } from 'xstate';

type Args = { readonly context: object; readonly event: { readonly type: string } };

/** Runs an action. Returns the context after it. */
type Act = (args: Args) => object;

export type Transition = {
  readonly guard: ((args: Args) => boolean) | undefined;
  /** Undefined when the machine stays in its state. */
  readonly target: FlatState | undefined;
  readonly actions: readonly Act[];
};

export type FlatState = {
  readonly name: string;
  readonly isFinal: boolean;
  readonly entry: Act[];
  readonly on: Map<string, readonly Transition[]>;
  readonly after: {
    readonly delayOf: (args: Args) => number;
    readonly transitions: readonly Transition[];
  }[];
};

/** A state machine without nested states, whose names of actions, guards and delays are resolved. */
export type FlatMachine = {
  readonly contextOf: (input: unknown) => object;
  readonly initial: FlatState;
  /** Transitions of the whole machine, by event: taken when the current state has none for the event. */
  readonly on: ReadonlyMap<string, readonly Transition[]>;
};

/** The parts of a machine's configuration that `flatten` supports, as they were written. */
type NamedAction = string | { readonly type: string; readonly params?: unknown };
type WrittenTransition =
  | string
  | {
      readonly guard?: string;
      readonly target?: string;
      readonly reenter?: boolean;
      readonly actions?: NamedAction | readonly NamedAction[];
    };
type Written<T> = Readonly<Record<string, T | readonly T[]>>;
type WrittenState = {
  readonly type?: 'final';
  readonly entry?: NamedAction | readonly NamedAction[];
  readonly on?: Written<WrittenTransition>;
  readonly after?: Written<WrittenTransition>;
};
type WrittenMachine = {
  readonly context: object | ((args: { readonly input: unknown }) => object);
  readonly initial: string;
  readonly on?: Written<WrittenTransition>;
  readonly states: Readonly<Record<string, WrittenState>>;
};

type Action = ((args: Args, params: unknown) => void) & { readonly assignment?: unknown };
type Implementations = {
  readonly actions: Readonly<Record<string, Action | undefined>>;
  readonly guards: Readonly<Record<string, Transition['guard']>>;
  readonly delays: Readonly<Record<string, number | ((args: Args) => number) | undefined>>;
};

type WrittenParts = { readonly config: WrittenMachine; readonly implementations: Implementations };

/** Members that a machine may have. `schemas` is a remnant of the types that `setup` leaves in the config. */
const OF_MACHINE = ['id', 'context', 'initial', 'on', 'states', 'schemas'];
const OF_STATE = ['type', 'entry', 'on', 'after'];
const OF_TRANSITION = ['guard', 'target', 'reenter', 'actions'];

const flattened = new WeakMap<AnyStateMachine, FlatMachine>();

/**
 * Looks up all names of a machine, once. Throws a TypeError for features that a `FlatActor` does not support: nested states,
 * inline functions, guards with parameters, and everything besides transitions, actions and delays.
 */
export function flatten(machine: AnyStateMachine): FlatMachine {
  const known = flattened.get(machine);
  if (known !== undefined) return known;
  const { config, implementations } = machine as unknown as WrittenParts;
  const made = readMachine(config, implementations);
  flattened.set(machine, made);
  return made;
}

function readMachine(config: WrittenMachine, names: Implementations): FlatMachine {
  expectOnly(config, OF_MACHINE);
  const states = new Map<string, FlatState>();
  for (const [name, written] of Object.entries(config.states)) {
    expectOnly(written, OF_STATE);
    const isFinal = written.type === 'final';
    states.set(name, { name, isFinal, entry: [], on: new Map(), after: [] });
  }
  const stateOf = (name: string) => found(states.get(name.replace(/^\./, '')), name);

  function transitionsOf(
    written: WrittenTransition | readonly WrittenTransition[],
    from?: FlatState,
  ): Transition[] {
    return listOf(written).map((one) => {
      const { actions, guard, reenter, target } = typeof one === 'string' ? { target: one } : one;
      if (typeof one !== 'string') expectOnly(one, OF_TRANSITION);
      const to = target === undefined ? undefined : stateOf(target);
      return {
        guard: guard === undefined ? undefined : found(names.guards[guard], guard),
        // A transition to the same state leaves the state only with `reenter`.
        target: to === from && reenter !== true ? undefined : to,
        actions: listOf(actions ?? []).map((action) => actOf(action, names)),
      };
    });
  }

  for (const [name, { after = {}, entry = [], on = {} }] of Object.entries(config.states)) {
    const state = stateOf(name);
    state.entry.push(...listOf(entry).map((action) => actOf(action, names)));
    for (const [type, written] of Object.entries(on))
      state.on.set(type, transitionsOf(written, state));
    for (const [delay, written] of Object.entries(after)) {
      state.after.push({
        delayOf: delayOf(delay, names),
        transitions: transitionsOf(written, state),
      });
    }
  }
  const { context, initial, on = {} } = config;
  return {
    contextOf: (input) => (typeof context === 'function' ? context({ input }) : context),
    initial: stateOf(initial),
    on: new Map(Object.entries(on).map(([type, written]) => [type, transitionsOf(written)])),
  };
}

function actOf(written: NamedAction, { actions }: Implementations): Act {
  const { params, type } =
    typeof written === 'string' ? { type: written, params: undefined } : written;
  const action = found(actions[type], type);
  const paramsOf = typeof params === 'function' ? (args: Args) => params(args) : () => params;
  const { assignment } = action;
  if (assignment === undefined) {
    return (args) => {
      action(args, paramsOf(args));
      return args.context;
    };
  }
  const changeOf =
    typeof assignment === 'function'
      ? (args: Args) => assignment(args, paramsOf(args))
      : (args: Args) => assignedBy(assignment as object, args, paramsOf(args));
  return (args) => ({ ...args.context, ...changeOf(args) });
}

const assignedBy = (assignment: object, args: Args, params: unknown): object =>
  Object.fromEntries(
    Object.entries(assignment).map(([name, value]) => [
      name,
      typeof value === 'function' ? value(args, params) : value,
    ]),
  );

function delayOf(delay: string, { delays }: Implementations): (args: Args) => number {
  const named = delays[delay] ?? Number(delay);
  if (typeof named === 'function') return named;
  if (Number.isNaN(named)) throw new TypeError(`flat machine: no delay ${delay}`);
  return () => named;
}

const listOf = <T>(one: T | readonly T[]): readonly T[] => (Array.isArray(one) ? one : [one as T]);

function found<T>(value: T | undefined, name: unknown): T {
  if (value === undefined) throw new TypeError(`flat machine: no ${String(name)}`);
  return value;
}

function expectOnly(written: object, names: readonly string[]): void {
  const other = Object.keys(written).find((name) => !names.includes(name));
  if (other !== undefined) throw new TypeError(`flat machine: ${other} is not known`);
}
