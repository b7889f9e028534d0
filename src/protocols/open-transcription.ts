import { newId } from '../kernel/ids.ts';
import type { Catalogue, Model, Source } from '../models/catalogue/catalogue.ts';
import { soonestHeaders } from '../models/catalogue/retirement.ts';
import { gatewayErrors } from '../models/errors.ts';
import type { ListenRail } from '../models/providers/realtime/realtime-rail.ts';
import { refuseHold } from '../models/purchase/refuse-hold.ts';
import { listenOptions, spokenModel } from '../models/transcription/listen-options.ts';
import { firstSliceRaw, openStreamHold } from '../voice/billing/paid-audio.ts';
import type { SessionHoldOwner } from '../voice/billing/session-hold.ts';
import type { VoiceDeps } from '../voice/live/voice-deps.ts';
import {
  connectRelay,
  planRelay,
  type RelayBuyer,
  type RelayKind,
  type Relays,
} from '../voice/relay/connect-relay.ts';
import type {
  TranscriptionInput,
  TranscriptionStream,
} from '../voice/transcription/transcription-stream.ts';
import { admitSession } from './admit-session.ts';
import { type DialectChoice, openTranscribed } from './create-transcription.ts';
import { requireEngines, requireLiveModel, takeRecogniser } from './take-engine.ts';

export type ListenRelays = Relays<ListenRail>;

export type TranscriptionQuery = Pick<TranscriptionInput, 'encoding' | 'sampleRateHz'> & {
  readonly buyer: RelayBuyer;
  readonly model: string;
  readonly language: string | undefined;
  /** JSGF grammar for the model `local/grammar`. */
  readonly prompt: string | undefined;
  /** True when the client gets turns, in a protocol that upstreams serve on another socket (`/v2/listen`). */
  readonly isOfTurns?: boolean;
  /** Further query parameters, by the names that upstreams use. */
  readonly asked: readonly (readonly [name: string, value: string])[];
  /** Adds headers to the response of the upgrade. */
  readonly answerWith: (headers: Readonly<Record<string, string>>) => void;
  readonly dialect: (served: { readonly model: Model; readonly source: Source }) => DialectChoice;
};

const ID_PREFIX = 'stt_';

/**
 * Opens a live transcription at an upstream that serves its model, or with a recogniser of this process. Holds the first slice
 * before it calls an upstream. Throws the refusal of the upgrade.
 */
export async function openTranscription(
  deps: VoiceDeps & { readonly relays?: ListenRelays | undefined },
  wanted: TranscriptionQuery,
): Promise<TranscriptionStream> {
  const { relays } = deps;
  requireItsSocket(deps.catalogue, wanted);
  const relayed = relays && (await openRelayed({ ...deps, relays }, wanted));
  return relayed ?? openLocal(deps, wanted);
}

/** Opens a transcription at an upstream. Resolves to undefined when no upstream that can be relayed serves the model. */
async function openRelayed(
  deps: VoiceDeps & { readonly relays: ListenRelays },
  wanted: TranscriptionQuery,
): Promise<TranscriptionStream | undefined> {
  const { buyer, encoding, sampleRateHz } = wanted;
  const { id, language } = spokenModel(deps.catalogue, wanted.model, wanted.language);
  const relayKind = relayKindOf(wanted, language);
  const plan = await planRelay(deps, id, buyer, relayKind);
  if (plan === undefined) return undefined;
  deps.sessions.requireRoom();

  const { model, owner, sessionHold, upstream } = await connectRelay(deps, plan, buyer, relayKind);
  wanted.answerWith(soonestHeaders([model]));
  const stream = openTranscribed(deps, {
    owner,
    sessionHold,
    encoding,
    sampleRateHz,
    dialect: wanted.dialect({ model, source: owner.source }),
    heardBy: { kind: 'upstream', upstream },
  });
  return admitSession(deps, owner.sessionId, stream);
}

function relayKindOf(
  { asked, encoding, isOfTurns = false, sampleRateHz }: TranscriptionQuery,
  language: string | undefined,
): RelayKind<ListenRail> {
  return {
    modality: 'stt',
    kind: 'transcription',
    idPrefix: ID_PREFIX,
    reserveRaw: (_, source) => (isBilledByToken(source) ? undefined : firstSliceRaw(source)),
    openHold: openStreamHold,
    async connect(rail, { agentId, ownKey, source }, signal) {
      const fitting = listenOptions(asked, ownKey !== undefined);
      if (fitting.kind === 'unfit') return fitting;
      const channels = isOfTurns ? {} : { channels: '1' };
      const sound = { encoding, sample_rate: String(sampleRateHz), ...channels };
      const spoken = language === undefined ? sound : { ...sound, language };
      const options = [...fitting.options, ...Object.entries(spoken)];
      const { upstreamModel: model } = source;
      return rail.connect({ agentId, model, ownKey, options, isOfTurns }, signal);
    },
  };
}

/** Model ids of Deepgram's Flux models, which report turns and serve no other protocol. */
const OF_TURNS = /^deepgram\/flux-/;

/**
 * Throws when a model of Deepgram is served on the other socket: models that detect turns on `/v2/listen`, other models on
 * `/v1/listen`.
 */
function requireItsSocket(
  catalogue: Pick<Catalogue, 'find' | 'findKeyed'>,
  { isOfTurns = false, model }: TranscriptionQuery,
): void {
  const id = (catalogue.find(model) ?? catalogue.findKeyed(model))?.id;
  if (id === undefined) return;
  const isDeepgram = id.startsWith('deepgram/');
  if (isOfTurns === OF_TURNS.test(id) || (isOfTurns && !isDeepgram)) return;
  const path = isOfTurns ? '/v1/listen' : '/v2/listen';
  throw gatewayErrors.invalidRequest(`"${id}" is served on the socket ${path}.`, 'model');
}

/**
 * Returns true for a source with a price per token and none per second. Upstreams report no tokens for a live transcription.
 */
const isBilledByToken = ({ rates }: Source): boolean =>
  rates.audio_second === undefined && rates.audio_input_token !== undefined;

async function openLocal(
  deps: VoiceDeps,
  wanted: TranscriptionQuery,
): Promise<TranscriptionStream> {
  const { asked, buyer, encoding, language, prompt, sampleRateHz } = wanted;
  const served = requireLiveModel(deps.catalogue, wanted.model, 'stt');
  const { model, source } = served;
  const engine = source.upstreamModel === 'grammar' ? 'grammar' : 'pocketsphinx';
  requireEngines(deps.engines, [engine]);
  requireEnglish(model.id, language);
  requireDoable(asked);
  deps.sessions.requireRoom();

  const recogniser = await takeRecogniser(deps.engines.stt[engine], {
    ...(prompt !== undefined && engine === 'grammar' && { grammar: prompt }),
    ...(language !== undefined && { language }),
  });
  const sessionId = newId(deps.random, ID_PREFIX);
  const { spender } = buyer;
  const owner: SessionHoldOwner = {
    spender,
    sessionId,
    kind: 'transcription',
    model: model.id,
    source,
  };
  try {
    const opened = await openStreamHold(deps, owner);
    if (opened.kind === 'refused') throw refuseHold(opened.refusal);
    wanted.answerWith(soonestHeaders([model]));

    const stream = openTranscribed(deps, {
      owner,
      sessionHold: opened.sessionHold,
      encoding,
      sampleRateHz,
      dialect: wanted.dialect(served),
      heardBy: { kind: 'recogniser', recogniser },
    });
    return admitSession(deps, sessionId, stream);
  } catch (error) {
    recogniser.stt.close();
    throw error;
  }
}

/**
 * Throws for a language other than English, which the recognisers of this process do not support. A request for several
 * languages is accepted, because they include English.
 */
function requireEnglish(model: string, language: string | undefined): void {
  if (language === undefined || /^(en(glish)?\b.*|multi|)$/i.test(language)) return;
  throw gatewayErrors.invalidRequest(`"${model}" hears English only.`, 'language');
}

/**
 * Throws when the client requests redaction, which does not exist here. A client that relies on it must not get the unredacted
 * words.
 */
function requireDoable(asked: TranscriptionQuery['asked']): void {
  if (!asked.some(([name, value]) => name === 'redact' && value !== 'false')) return;
  throw gatewayErrors.invalidRequest('Nothing is redacted here.', 'redact');
}
