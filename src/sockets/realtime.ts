import { z } from 'zod';
import { turnCap, turnReserveRaw } from '../actors/realtime/turn-meter.ts';
import type { RealtimeSession } from '../actors/realtime-session.ts';
import { openRealtime, openRelayed } from '../actors/recording/open-recorded.ts';
import {
  connectRelay,
  planRelay,
  REALTIME_WISH,
  type Relays,
} from '../actors/relay/connect-relay.ts';
import type { VoiceDeps } from '../actors/voice-deps.ts';
import { openPurse, type PurseOwner } from '../actors/voice-purse.ts';
import { refuseHold } from '../gateway/refuse-hold.ts';
import { type SocketContext, type SocketHandler, socketRoute } from '../http/socket-route.ts';
import { BRAND, newId } from '../kernel/ids.ts';
import { isObject } from '../kernel/json.ts';
import { LIMITS } from '../kernel/limits.ts';
import { refuse } from '../kernel/refuse.ts';
import { admitSession } from './admit-session.ts';
import { type Handshake, readHandshake } from './read-handshake.ts';
import { readSocketBuyer } from './read-socket-buyer.ts';
import { requireEngines, requireLiveModel } from './take-engine.ts';

const Query = z.object({
  model: z.string().min(1).max(128).optional(),
  /** `transcription`: the session hears and does not answer. */
  intent: z.string().max(64).optional(),
  customer_id: z.string().max(LIMITS.taskIdChars).optional(),
});

/**
 * Realtime voice in the vendor's event protocol, metered by the completed turn: with the engines of this server, or at
 * an upstream whose frames are relayed. Without `relays` there is none of those.
 */
export const createRealtimeSocket = (deps: VoiceDeps, relays?: Relays) =>
  socketRoute()({
    path: '/v1/realtime',
    credential: 'agent',
    admitsClientSecrets: true,
    summary: 'Talk with a model: speech and text both ways.',
    authenticateFrom: ['bearer', 'subprotocol', 'query'],
    protocols: ['realtime', BRAND.realtimeProtocol],
    keyProtocolPrefix: 'openai-insecure-api-key.',
    query: Query,
    envelope: 'openai',
    async open(context) {
      const handshake = readHandshake(context.query, context.caller.clientSecret);
      const relayed = relays && (await openRelay({ ...deps, relays }, context, handshake));
      return relayed ?? handlerOf(await openSession(deps, context, handshake));
    },
  });

type Context = SocketContext<unknown, typeof Query>;

/** Undefined: the model is not served by an upstream that could be relayed. */
async function openRelay(
  deps: VoiceDeps & { readonly relays: Relays },
  context: Context,
  { modelId, config }: Handshake,
): Promise<SocketHandler | undefined> {
  const { caller, query } = context;
  const buyer = readSocketBuyer(context, query.customer_id);
  const plan = await planRelay(deps, modelId, buyer, REALTIME_WISH);
  if (plan === undefined) return undefined;
  if (config.type === 'transcription') {
    throw refuse.gateway.invalidRequest(
      'An upstream’s model converses; sessions that only transcribe are served by local/realtime.',
      'session.type',
    );
  }
  deps.sessions.requireRoom();

  const connected = await connectRelay(deps, plan, buyer, REALTIME_WISH);
  const session = openRelayed(deps, connected);
  admitSession(deps, connected.owner.sessionId, session);
  return {
    opened(connection) {
      session.attach(connection);
      // What a client secret fixes is asked of the upstream before anything that its holder asks.
      const fixed = caller.clientSecret?.session;
      if (isObject(fixed)) session.frame(sessionUpdate(fixed), false);
    },
    message() {},
    frame: (bytes, isBinary) => session.frame(bytes, isBinary),
    drained: () => session.drained(),
    draining: () => session.drain(),
    closed: () => session.socketClosed(),
  };
}

/** Without the model: the session is open with it, under the upstream's own name. */
const sessionUpdate = ({ model: _, ...session }: Readonly<Record<string, unknown>>): Uint8Array =>
  Buffer.from(
    JSON.stringify({ type: 'session.update', session: { type: 'realtime', ...session } }),
  );

async function openSession(
  deps: VoiceDeps,
  context: Context,
  { modelId, config }: Handshake,
): Promise<RealtimeSession> {
  const { model, source } = requireLiveModel(deps.catalogue, modelId, 'realtime');
  requireEngines(deps.engines, ['pocketsphinx', 'flite', 'guide']);
  deps.sessions.requireRoom();

  const owner: PurseOwner = {
    spender: readSocketBuyer(context, context.query.customer_id).spender,
    sessionId: newId(deps.random, 'sess_'),
    kind: 'realtime',
    model: model.id,
    source,
  };
  const cap = turnCap(model);
  const reserveRaw = turnReserveRaw(source, cap);
  const opened = await openPurse(deps, owner, reserveRaw);
  if (opened.kind === 'refused') throw refuseHold(opened.refusal);

  const session = openRealtime(deps, {
    ...{ owner, purse: opened.purse, cap, reserveRaw, config },
  });
  admitSession(deps, owner.sessionId, session);
  deps.engines.warmUp();
  return session;
}

const handlerOf = (session: RealtimeSession): SocketHandler => ({
  opened: (connection) => session.attach(connection),
  // The protocol is text only, and bytes that spell an event are taken for it.
  message: (data) =>
    session.message(typeof data === 'string' ? data : Buffer.from(data).toString('utf8')),
  drained: () => session.drained(),
  draining: () => session.drain(),
  closed: () => session.socketClosed(),
});
