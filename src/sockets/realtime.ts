import { z } from 'zod';
import { turnCap, turnReserveRaw } from '../actors/realtime/turn-meter.ts';
import { RealtimeSession } from '../actors/realtime-session.ts';
import type { VoiceDeps } from '../actors/voice-deps.ts';
import { openPurse, type PurseOwner } from '../actors/voice-purse.ts';
import { refuseHold } from '../gateway/refuse-hold.ts';
import { type SocketContext, type SocketHandler, socketRoute } from '../http/socket-route.ts';
import { BRAND, newId } from '../kernel/ids.ts';
import { LIMITS } from '../kernel/limits.ts';
import { readHandshake } from './read-handshake.ts';
import { readSocketSpender } from './read-socket-spender.ts';
import { requireEngines, requireLiveModel } from './take-engine.ts';

const Query = z.object({
  model: z.string().min(1).max(128).optional(),
  /** `transcription`: the session hears and does not answer. */
  intent: z.string().max(64).optional(),
  customer_id: z.string().max(LIMITS.taskIdChars).optional(),
});

/** Realtime voice in the vendor's event protocol, metered by the completed turn. */
export const createRealtimeSocket = (deps: VoiceDeps) =>
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
      return handlerOf(await openSession(deps, context));
    },
  });

async function openSession(
  deps: VoiceDeps,
  { query, caller, headers }: SocketContext<unknown, typeof Query>,
): Promise<RealtimeSession> {
  const { modelId, config } = readHandshake(query, caller.clientSecret);
  const { model, source } = requireLiveModel(deps.catalogue, modelId, 'realtime');
  requireEngines(deps.engines, ['pocketsphinx', 'flite', 'guide']);
  deps.sessions.requireRoom();

  const owner: PurseOwner = {
    spender: readSocketSpender(caller, headers, query.customer_id),
    sessionId: newId(deps.random, 'sess_'),
    kind: 'realtime',
    model: model.id,
    source,
  };
  const cap = turnCap(model);
  const reserveRaw = turnReserveRaw(source, cap);
  const opened = await openPurse(deps, owner, reserveRaw);
  if (opened.kind === 'refused') throw refuseHold(opened.refusal);

  const session = new RealtimeSession(deps, {
    ...{ owner, purse: opened.purse, cap, reserveRaw, config },
  });
  try {
    deps.sessions.enter(owner.sessionId, {
      drain: () => session.drain(),
      abandon: () => session.socketClosed(),
    });
  } catch (refusal) {
    session.socketClosed();
    throw refusal;
  }
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
