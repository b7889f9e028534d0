import { bytesPerMs } from '../../../media/coding.ts';
import { isObject, type Json } from '../../kernel/json.ts';
import { gatewayErrors } from '../../models/errors.ts';
import { MODEL_LIMITS } from '../../models/limits.ts';
import type { RealtimeRail } from '../../models/providers/realtime/realtime-rail.ts';
import { liveTurnCap } from '../../voice/billing/turn-meter.ts';
import type { Cascades } from '../../voice/cascade/cascade-deps.ts';
import { planCascade, requireNoParts } from '../../voice/cascade/plan-cascade.ts';
import type { VoiceDeps } from '../../voice/live/voice-deps.ts';
import {
  connectRelay,
  planRelay,
  type RelayBuyer,
  type RelayKind,
  type RelayPlan,
  type Relays,
  SPEECH_RELAY,
} from '../../voice/relay/connect-relay.ts';
import { createScriptedLlm } from '../../voice/session/scripted-llm.ts';
import type { SessionConfig } from '../../voice/session/session-config.ts';
import { admitSession } from '../admit-session.ts';
import { ALL_LOCAL, openLocalVoice, openPlannedVoice } from '../open-voice.ts';
import { type EventProblem, eventIdOf } from '../openai-realtime/client-event.ts';
import { requireItsSocket } from '../openai-sockets.ts';
import type { SocketSession } from '../socket-session.ts';
import { parseLiveFormat } from './audio-format.ts';
import type { RawLiveEvent } from './client-event.ts';
import { type LiveRelay, openLiveRelay } from './live-relay.ts';
import { openLive } from './live-session.ts';
import { ownKeyProblem } from './live-uplink.ts';
import { type LiveStart, readStart } from './read-start.ts';
import { heldSecondsRaw, openSecondsHold } from './seconds-meter.ts';

/** The kind of live sessions, billed by the seconds that the upstream reports. */
const LIVE_RELAY: RelayKind<RealtimeRail> = {
  ...SPEECH_RELAY,
  reserveRaw: (_, source) => heldSecondsRaw(source),
  openHold: openSecondsHold,
};

export type LiveDeps = VoiceDeps & {
  /** Relays to upstreams. When it is undefined, no upstream is used. */
  readonly relays?: Relays | undefined;
  readonly cascades?: Cascades | undefined;
};

export type LiveOpening = {
  /** The client's `session.start` event. */
  readonly event: RawLiveEvent;
  readonly buyer: RelayBuyer;
  /** Transcription model and speech model of a session with a text model. */
  readonly parts: {
    readonly stt_model?: string | undefined;
    readonly tts_model?: string | undefined;
  };
};

export type OpenedLive =
  | { readonly session: SocketSession | LiveRelay }
  | { readonly problem: EventProblem };

/**
 * Opens the session that a `session.start` requests, with its money held: at an upstream with this protocol, or on this server.
 * Returns the problem of the event, or throws the refusal.
 */
export async function openLiveSession(deps: LiveDeps, opening: LiveOpening): Promise<OpenedLive> {
  const { event } = opening;
  const { session } = event;
  const name = isObject(session) ? session.model : undefined;
  if (!isObject(session) || typeof name !== 'string' || name.length > MODEL_LIMITS.idChars) {
    throw gatewayErrors.invalidRequest('session.model: name a model', 'session.model');
  }
  const idOf = (model: string) =>
    (deps.catalogue.find(model) ?? deps.catalogue.findKeyed(model))?.id ?? model;
  const modelId = idOf(name);
  const { relays } = deps;
  const relayed = relays && (await openRelayed({ ...deps, relays }, modelId, session, opening));
  if (relayed !== undefined) return relayed;
  const other = { dialect: 'openai-realtime', param: 'session.model' } as const;
  requireItsSocket(deps.catalogue, modelId, other);

  const read = readStart({ ...session, model: modelId }, eventIdOf(event));
  if ('problem' in read) return read;
  const thinking = idOf(read.backend ?? modelId);
  if (thinking !== modelId && modelId !== ALL_LOCAL) {
    return { problem: { ...OTHER_BACKEND, eventId: eventIdOf(event) } };
  }
  return { session: await openHere(deps, thinking, read, opening) };
}

const OTHER_BACKEND: EventProblem = {
  code: 'invalid_value',
  message: `session.delegation.responses.model: is the model of the session, or any chat model where that is ${ALL_LOCAL}.`,
  param: 'session.delegation.responses.model',
};

/** Opens a session at an upstream. Resolves to undefined when no upstream of this protocol serves the model. */
async function openRelayed(
  deps: LiveDeps & { readonly relays: Relays },
  modelId: string,
  session: Json,
  { buyer, event, parts }: LiveOpening,
): Promise<OpenedLive | undefined> {
  const all = await planRelay(deps, modelId, buyer, LIVE_RELAY);
  if (all === undefined) return undefined;
  requireNoParts(modelId, parts);
  const problem = ownKeyProblem(session);
  const paid = paidByBuyer(all);
  if (problem !== undefined && paid === undefined) {
    return { problem: { ...problem, eventId: eventIdOf(event) } };
  }
  const plan = (problem && paid) ?? all;
  deps.sessions.requireRoom();

  const connected = await connectRelay(deps, plan, buyer, LIVE_RELAY);
  const relay = openLiveRelay(deps, {
    ...connected,
    session,
    eventId: eventIdOf(event),
    bytesPerMs: bytesPerMs(formatOf(session)),
  });
  return { session: admitSession(deps, connected.owner.sessionId, relay) };
}

/** Returns the part of a plan whose upstreams bill the caller's own key; undefined when no upstream does. */
function paidByBuyer<R>(plan: RelayPlan<R>): RelayPlan<R> | undefined {
  const [first, ...rest] = plan.filter(({ offers }) => offers[0].ownKey !== undefined);
  return first === undefined ? undefined : [first, ...rest];
}

/** Returns the format of the session's audio. The upstream itself refuses a format that it does not support. */
function formatOf({ audio }: Json) {
  const format = isObject(audio) ? audio.format : undefined;
  const type = isObject(format) ? format.type : undefined;
  const isLaw = type === 'audio/pcmu' || type === 'audio/pcma';
  const rate = isObject(format) && format.rate === 16_000 ? 16_000 : 24_000;
  const known = parseLiveFormat(isLaw ? { type } : { type: 'audio/pcm', rate });
  return known ?? { encoding: 'linear16' as const, sampleRateHz: 24_000 };
}

async function openHere(
  deps: LiveDeps,
  modelId: string,
  { config, start }: { readonly config: SessionConfig; readonly start: LiveStart },
  { buyer, parts }: LiveOpening,
): Promise<SocketSession> {
  const { cascades } = deps;
  const plan = cascades && planCascade(deps.catalogue, modelId, parts);
  if (plan === undefined) requireNoParts(modelId, parts);
  const input = plan
    ? await openPlannedVoice({ ...deps, cascades }, plan, { buyer, config })
    : await openLocalVoice(deps, modelId, { buyer, capOf: liveTurnCap, config });
  const pipeline = { ...input.pipeline, llm: createScriptedLlm(input.pipeline.llm) };
  const session = openLive(deps, { ...input, pipeline }, start);
  admitSession(deps, input.owner.sessionId, session);
  deps.engines.warmUp();
  return session;
}
