import type { CallbackAnswer, CallbackRequest } from '../carriers/carrier.ts';
import { CallbackMalformed } from '../carriers/carrier.ts';
import { findPlacedCall, type PlacedCall } from '../dialling/placed-call-store.ts';
import { phoneErrors } from '../errors.ts';
import { findTransferSummary } from './actions/action-store.ts';
import { answerMedia, type MediaStart } from './answer-media.ts';
import type { Call } from './call.ts';
import type { CallDeps } from './call-deps.ts';
import { advanceRow, findCall } from './call-store.ts';
import { commandCall } from './commands/command-calls.ts';
import type { LiveCommand } from './commands/live-command.ts';
import type { FeedRequest } from './feed/call-feed.ts';
import type { FeedReader } from './feed/feed-reader.ts';
import { directCall, dropCall, hearCarrier } from './hear-carrier.ts';
import type { LiveCall } from './live-call.ts';
import type { CallOrder } from './opening/order-options.ts';
import { placeCall } from './place-call.ts';

/** The agent of a call, or the account of that agent. */
export type CallOwner = { readonly agentId: number } | { readonly accountId: string };

/** A call as its agent reads it. A call that the agent does not have reads as ringing. */
export type ReadCall = Pick<Call, 'callId' | 'status' | 'terminal' | 'endReason' | 'handoffData'>;

/** Calls of agents. Every method throws `telephony_unavailable` when this server has no carrier. */
export interface Calls {
  place(order: CallOrder): Promise<PlacedCall>;
  /** Returns the agent's call that the request with this `Idempotency-Key` placed. Undefined when it placed none. */
  findPlaced(agentId: number, workId: string): Promise<PlacedCall | undefined>;
  read(agentId: number, callId: string): Promise<ReadCall>;
  /** Ends a call. Throws `not_found`, as the methods below, for a call that the owner does not have. */
  hangUp(owner: CallOwner, callId: string): Promise<ReadCall>;
  /** Has a live call carry out a command, once at most. */
  command(
    owner: CallOwner,
    callId: string,
    order: { readonly command: LiveCommand; readonly workId: string | undefined },
  ): Promise<void>;
  /** The events of a call until its end, as Server-Sent Events. */
  events(
    owner: CallOwner,
    callId: string,
    reader: Pick<FeedRequest, 'afterSeq' | 'keyId' | 'wallet'>,
  ): Promise<FeedReader>;
}

/** A callback whose body is read only when its headers have a well-formed signature. */
export type ShownCallback = Omit<CallbackRequest, 'body'> & {
  readonly readBody: () => Promise<Uint8Array>;
  /** Called once the signature is verified, before the callback is handled. */
  readonly believe: () => void;
};

/** Handlers of the callbacks and media streams of carriers. */
export interface CarrierHooks {
  /** Handles a callback. Throws when the carrier has not signed the callback, or would not send it. */
  callback(carrier: string, hook: string, request: ShownCallback): Promise<CallbackAnswer>;
  /** Returns true when the carrier has signed the request that opens its media stream. */
  isGenuineUpgrade(carrier: string, request: Omit<CallbackRequest, 'body'>): boolean;
  openMedia(carrier: string): ReturnType<CallDeps['carrier']['openMedia']>;
  answerMedia(start: MediaStart): Promise<LiveCall | undefined>;
}

export function createCalls(deps: CallDeps | undefined): Calls {
  if (deps === undefined) {
    const unavailable = async () => {
      throw phoneErrors.telephonyUnavailable();
    };
    return {
      place: unavailable,
      findPlaced: unavailable,
      read: unavailable,
      hangUp: unavailable,
      command: unavailable,
      events: unavailable,
    };
  }
  const { sql } = deps;
  const own = async (agentId: number, callId: string): Promise<Call | undefined> => {
    const call = await findCall(sql, callId);
    return call?.agentId === agentId ? call : undefined;
  };
  const requireCall = async (owner: CallOwner, callId: string): Promise<Call> => {
    const call = await findCall(sql, callId);
    const isOwn =
      'agentId' in owner ? call?.agentId === owner.agentId : call?.accountId === owner.accountId;
    if (call === undefined || !isOwn) throw phoneErrors.callNotFound();
    return call;
  };
  return {
    place: (order) => placeCall(deps, order),
    findPlaced: (agentId, workId) => findPlacedCall(sql, { agentId, workId }),
    async read(agentId, callId) {
      const call = await own(agentId, callId);
      return call ?? { callId, status: 'pending', terminal: false, endReason: null };
    },
    async hangUp(owner, callId) {
      const call = await requireCall(owner, callId);
      if (call.terminal) return call;
      const ending = await advanceRow(sql, callId, { type: 'hangup.requested' });
      deps.dials?.leave(callId);
      await dropCall(deps, ending ?? call);
      return { callId, status: 'ending', terminal: false, endReason: null };
    },
    async command(owner, callId, order) {
      await commandCall(deps, await requireCall(owner, callId), order);
    },
    async events(owner, callId, reader) {
      const { accountId } = await requireCall(owner, callId);
      const via = 'agentId' in owner ? 'agent' : 'developer';
      return deps.feed.open({ callId, accountId, via, ...reader });
    },
  };
}

export function createCarrierHooks(deps: CallDeps | undefined): CarrierHooks {
  const hooked = (name: string): CallDeps => {
    if (deps === undefined || deps.carrier.name !== name) {
      throw phoneErrors.telephonyUnavailable();
    }
    return deps;
  };
  return {
    async callback(name, hook, { believe, readBody, ...head }) {
      const hooks = hooked(name);
      const { callbacks } = hooks.carrier;
      if (callbacks === undefined) throw phoneErrors.telephonyUnavailable();
      if (!callbacks.hasSignature(head.headers)) throw phoneErrors.forgedCallback();
      const request = { ...head, body: await readBody() };
      if (!callbacks.isGenuine(request)) throw phoneErrors.forgedCallback();
      believe();
      const event = readEvent(() => callbacks.read(hook, request));
      if (event.kind === 'answered') {
        return callbacks.instruct(event, await directCall(hooks, event));
      }
      if (event.kind === 'whisper' && callbacks.whisper !== undefined) {
        return callbacks.whisper(await findTransferSummary(hooks.sql, event.callId));
      }
      await hearCarrier(hooks, event);
      return callbacks.acknowledgement;
    },
    isGenuineUpgrade: (name, request) =>
      hooked(name).carrier.callbacks?.isGenuineUpgrade(request) ?? false,
    openMedia: (name) => hooked(name).carrier.openMedia(),
    answerMedia: (start) => answerMedia(hooked(deps?.carrier.name ?? ''), start),
  };
}

function readEvent<T>(read: () => T): T {
  try {
    return read();
  } catch (error) {
    if (error instanceof CallbackMalformed) throw phoneErrors.malformedCallback(error.message);
    throw error;
  }
}
