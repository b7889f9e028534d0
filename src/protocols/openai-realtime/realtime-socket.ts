import { z } from 'zod';
import {
  type SocketConnection,
  type SocketContext,
  type SocketHandler,
  socketRoute,
} from '../../http/route/socket-route.ts';
import { isObject } from '../../kernel/json.ts';
import type { Model } from '../../models/catalogue/catalogue.ts';
import { soonestHeaders } from '../../models/catalogue/retirement.ts';
import { gatewayErrors } from '../../models/errors.ts';
import { SPEND_LIMITS } from '../../spend/limits.ts';
import type { Cascades } from '../../voice/cascade/cascade-deps.ts';
import { openTranscribing } from '../../voice/cascade/open-cascade.ts';
import { type OwnKeys, openOwnKeys } from '../../voice/cascade/own-keys.ts';
import {
  type CascadePlan,
  localEngineOf,
  planCascade,
  planTranscription,
  requireNoParts,
} from '../../voice/cascade/plan-cascade.ts';
import type { VoiceDeps } from '../../voice/live/voice-deps.ts';
import { connectRelay, planRelay, type Relays } from '../../voice/relay/connect-relay.ts';
import { ConfigUnfit, type SessionConfig } from '../../voice/session/session-config.ts';
import type { VoiceSessionInput } from '../../voice/session/voice-session-input.ts';
import { admitSession } from '../admit-session.ts';
import { ALL_LOCAL, openLocalVoice, openPlannedVoice } from '../open-voice.ts';
import { OPENAI_LIVE, requireItsSocket } from '../openai-sockets.ts';
import { readSocketBuyer } from '../read-socket-buyer.ts';
import { openPlaced, requireEngines, requireLiveModel } from '../take-engine.ts';
import { tracedFrom } from '../traced-from.ts';
import { type Handshake, readHandshake } from './read-handshake.ts';
import { memberProblem } from './read-session-config.ts';
import { openRealtime } from './realtime-session.ts';
import { openRelayed, REALTIME_RELAY } from './relay/relay-session.ts';

const Query = z.object({
  model: z.string().min(1).max(128).optional(),
  /** Purpose of the session: with `transcription` it transcribes and does not answer. */
  intent: z.string().max(64).optional(),
  /** Transcription model and speech model of a session with a text model. */
  stt_model: z.string().min(1).max(128).optional(),
  tts_model: z.string().min(1).max(128).optional(),
  customer_id: z.string().max(SPEND_LIMITS.tag.idChars).optional(),
});

/**
 * Realtime voice in the vendor's event protocol, metered by the completed turn: with the engines of this server, or at
 * an upstream whose frames are relayed. Without `relays`, no upstream is used.
 */
export function createRealtimeSocket(voice: VoiceDeps, relays?: Relays, cascades?: Cascades) {
  const open = async (context: Context): Promise<SocketHandler> => {
    const deps = tracedFrom(voice, context);
    const handshake = readHandshake(deps.catalogue, context.query, context.caller.clientSecret);
    const stt = transcriberOf(deps.catalogue, context.query, handshake);
    if (stt !== undefined && cascades !== undefined) {
      const config = handshake.config();
      const transcribed = await openTranscriber({ ...deps, cascades }, stt, context, config);
      return admit(deps, transcribed);
    }
    const { modelId = ALL_LOCAL, type } = handshake;
    const relayed = relays && (await openRelay({ ...deps, relays }, context, { modelId, type }));
    if (relayed !== undefined) return relayed;
    requireItsSocket(deps.catalogue, modelId, { dialect: 'openai-live', param: 'model' });
    const config = handshake.config();
    const plan = cascades && planCascade(deps.catalogue, modelId, context.query);
    const input = plan
      ? await openPlanned({ ...deps, cascades }, plan, context, config)
      : await openLocal(deps, context, { modelId, config });
    return admit(deps, input);
  };
  return socketRoute()({
    path: '/v1/realtime',
    admitsClientSecrets: 'realtime',
    summary: 'Talk with a model: speech and text both ways.',
    ...OPENAI_LIVE,
    query: Query,
    open: (context) => open(context).catch(refuseUnfit),
  });
}

/** Throws the refusal of settings that cannot be used, with the path of the client's member; rethrows other errors. */
function refuseUnfit(error: unknown): never {
  if (!(error instanceof ConfigUnfit)) throw error;
  const { message, param } = memberProblem(error.problem);
  throw gatewayErrors.invalidRequest(message, param);
}

const ONLY_HEARD =
  'This model converses; a session that only transcribes names a transcription model, such as local/pocketsphinx, or none.';

/**
 * Returns the model of a session that only transcribes. Undefined when the session answers, or when its model is no
 * transcription model.
 */
const transcriberOf = (
  catalogue: VoiceDeps['catalogue'],
  query: z.output<typeof Query>,
  { modelId, type }: Handshake,
): Model | undefined =>
  type === 'transcription' ? planTranscription(catalogue, modelId ?? query.stt_model) : undefined;

async function openTranscriber(
  deps: VoiceDeps & { readonly cascades: Cascades },
  stt: Model,
  context: Context,
  config: SessionConfig,
): Promise<VoiceSessionInput> {
  const buyer = readSocketBuyer(context, context.query.customer_id);
  const { providerKeys } = deps.cascades;
  const ownKeys = await openOwnKeys({ ...deps, providerKeys }, [stt], buyer);
  await lookUpKeyed(deps.catalogue, ownKeys);
  if (localEngineOf(stt)) requireEngines(deps.engines, ['pocketsphinx']);
  deps.sessions.requireRoom();
  context.answerWith(soonestHeaders([stt]));
  const open = (engines: VoiceDeps['engines']) =>
    openTranscribing({ ...deps, engines }, stt, { spender: buyer.spender, ownKeys, config });
  return localEngineOf(stt) ? openPlaced(deps.engines, open) : open(deps.engines);
}

/** Looks up the keys of every model that is available only with a key, since the session may name any of them later. */
async function lookUpKeyed(catalogue: VoiceDeps['catalogue'], ownKeys: OwnKeys): Promise<void> {
  const unsold = catalogue.keyedModels.filter(
    ({ id, modality }) => modality === 'stt' && catalogue.find(id) === undefined,
  );
  await Promise.all(unsold.map(({ id }) => ownKeys.lookUp(id)));
}

type Context = SocketContext<unknown, typeof Query>;

/** Opens a session at an upstream. Resolves to undefined when no upstream that can be relayed serves the model. */
async function openRelay(
  deps: VoiceDeps & { readonly relays: Relays },
  context: Context,
  { modelId, type }: { readonly modelId: string; readonly type: Handshake['type'] },
): Promise<SocketHandler | undefined> {
  const { caller, query } = context;
  const buyer = readSocketBuyer(context, query.customer_id);
  const plan = await planRelay(deps, modelId, buyer, REALTIME_RELAY);
  if (plan === undefined) return undefined;
  requireNoParts(modelId, query);
  if (type === 'transcription') {
    throw gatewayErrors.invalidRequest(ONLY_HEARD, 'session.type');
  }
  deps.sessions.requireRoom();

  const connected = await connectRelay(deps, plan, buyer, REALTIME_RELAY);
  context.answerWith(soonestHeaders([connected.model]));
  const session = openRelayed(deps, connected);
  admitSession(deps, connected.owner.sessionId, session);
  return handlerOf(session, () => {
    // The settings in a client secret go to the upstream before the client's first frame.
    const fixed = caller.clientSecret?.session;
    if (isObject(fixed)) session.frame(sessionUpdate(fixed), false);
  });
}

/** Returns a `session.update` without the model, which the upstream session already has under the upstream's name. */
const sessionUpdate = ({ model: _, ...session }: Readonly<Record<string, unknown>>): Uint8Array =>
  Buffer.from(
    JSON.stringify({ type: 'session.update', session: { type: 'realtime', ...session } }),
  );

async function openPlanned(
  deps: VoiceDeps & { readonly cascades: Cascades },
  plan: CascadePlan,
  context: Context,
  config: SessionConfig,
): Promise<VoiceSessionInput> {
  const buyer = readSocketBuyer(context, context.query.customer_id);
  if (!config.isAnswering) throw gatewayErrors.invalidRequest(ONLY_HEARD, 'session.type');
  const opened = await openPlannedVoice(deps, plan, { buyer, config });
  context.answerWith(soonestHeaders([plan.llm, plan.stt, plan.tts]));
  return opened;
}

async function openLocal(
  deps: VoiceDeps,
  context: Context,
  { modelId, config }: { readonly modelId: string; readonly config: SessionConfig },
): Promise<VoiceSessionInput> {
  requireLiveModel(deps.catalogue, modelId, 'realtime');
  requireNoParts(modelId, context.query);
  const buyer = readSocketBuyer(context, context.query.customer_id);
  return openLocalVoice(deps, modelId, { buyer, config });
}

function admit(deps: VoiceDeps, input: VoiceSessionInput): SocketHandler {
  const session = openRealtime(deps, input);
  admitSession(deps, input.owner.sessionId, session);
  deps.engines.warmUp();
  return handlerOf(session);
}

interface Driven {
  attach(connection: SocketConnection): void;
  frame(bytes: Uint8Array, isBinary: boolean): void;
  drained(): void;
  drain(): void;
  socketClosed(): void;
}

/** Returns the socket handler of a session on this server. A binary frame counts as text, since the protocol is text only. */
const handlerOf = (session: Driven, attached = () => {}): SocketHandler => ({
  opened(connection) {
    session.attach(connection);
    attached();
  },
  message() {},
  frame: (bytes, isBinary) => session.frame(bytes, isBinary),
  drained: () => session.drained(),
  draining: () => session.drain(),
  closed: () => session.socketClosed(),
});
