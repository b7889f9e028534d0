import type { TakeSession } from '../../ledger/engine/take-session.ts';
import type { Sql } from '../../platform/postgres/sql.ts';
import type { Tracer } from '../../platform/tracing/span.ts';
import type { Cascades } from '../../voice/cascade/cascade-deps.ts';
import type { VoiceDeps } from '../../voice/live/voice-deps.ts';
import type { Llm } from '../../voice/session/voice-pipeline.ts';
import type { Carrier } from '../carriers/carrier.ts';
import type { DialPacer } from '../dialling/dial-pacer.ts';
import type { DiallingPolicy, DiallingRefusal } from '../dialling/dialling-guard.ts';
import type { RateCard } from '../rate-card.ts';
import type { RunTool } from '../tools/run-tool.ts';
import type { ServiceTools } from '../tools/service-tools.ts';
import type { AnswerManner } from '../voice/call-parties.ts';
import type { CallSound } from '../voice/line/line-sounds.ts';
import type { AgentVoice, Call } from './call.ts';
import type { CallFeed } from './feed/call-feed.ts';
import type { LiveCall } from './live-call.ts';
import type { InboundAnswer, InboundRequest } from './opening/ask-inbound.ts';
import type { CallCounts } from './opening/new-call-store.ts';
import type { RecogniserPlaces } from './opening/recogniser-places.ts';
import type { TurnWriter } from './turn-writer.ts';

/** The responder of a call that replaces the catalogue's model: the developer's webhook or ConversationRelay application. */
export type Responder = {
  readonly llm: Llm;
  readonly digit?: (digit: string) => void;
  /** Receives digits that the responder asked the caller for. */
  readonly entered?: (digits: string) => void;
  readonly interrupted?: (heard: string, heardMs: number) => void;
  /**
   * Sets the callback by which the responder makes the call request an answer. Runs the callback at once when the responder
   * already has words to say.
   */
  readonly onUnprompted?: (callback: () => void) => void;
  /** Sets the callback that stops the answer in progress when the responder interrupts itself with other words. */
  readonly onPreempted?: (callback: () => void) => void;
  /** Sets the callback for changes of the rules by which the caller may interrupt the responder's answers. */
  readonly onManner?: (callback: (manner: AnswerManner) => void) => void;
  /** The caller has said something. */
  readonly callerSpoke?: () => void;
  /** Notes that an answer of the call has ended, so that the responder may request the next answer. */
  readonly answered?: () => void;
  readonly close: () => void;
};

/** Options of a responder for one call. */
export type ResponderOptions = {
  /** Returns the headers with which the responder can continue the trace of the call. Undefined: the call is not traced. */
  readonly traceHeaders?: (() => Readonly<Record<string, string>>) | undefined;
};

/** Reason why a number may not be called now. */
export type DialRefusal = { readonly message: string; readonly reason?: DiallingRefusal };

export type CallDeps = VoiceDeps & {
  readonly sql: Sql;
  /** Tracer of calls. Undefined: calls are not traced. */
  readonly tracer?: Tracer | undefined;
  readonly cascades: Cascades;
  readonly takeSession: TakeSession;
  readonly carrier: Carrier;
  /** Queue of calls to dial. Undefined when the carrier takes any number of calls at a time. */
  readonly dials?: DialPacer | undefined;
  /** The most calls at a time of an agent and of an account for which no other number is set. */
  readonly concurrentCalls: CallCounts;
  /** Monthly spend at the carrier, in US dollars, at which the phone service stops. Undefined: no limit. */
  readonly carrierLimitUsd: number | undefined;
  readonly rateCard: RateCard;
  /** Days that a recording stays at the carrier, before this server deletes it there. */
  readonly recordingDays: number;
  /** Public origin of this server, for the addresses in answers and events. Undefined leaves such addresses out. */
  readonly publicUrl: string | undefined;
  readonly models: { readonly stt: string; readonly tts: string; readonly llm: string };
  /** Returns an agent's voice settings for its next call. */
  readonly voiceOf: (agentId: number) => Promise<AgentVoice>;
  /** Asks the developer of an agent about a call that rings. Undefined: the stored settings hold. */
  readonly askInbound: (
    question: InboundRequest,
    asked: { readonly url: string; readonly secretVersion: number },
  ) => Promise<InboundAnswer | undefined>;
  /** Opens the responder of a call. Undefined when a model of the catalogue answers. */
  readonly openResponder: (call: Call, options: ResponderOptions) => Responder | undefined;
  /** Returns the reason why an account may not call a number now. Undefined when the call is allowed. */
  readonly refusalOf: (to: string, accountId: string) => Promise<DialRefusal | undefined>;
  /** Countries and calling hours by which `refusalOf` decides. */
  readonly dialling: Pick<DiallingPolicy, 'callingHours' | 'countries'>;
  /** Opens a sound at an address that the responder of a call has named. Rejects when the sound cannot be played. */
  readonly openSound: (url: string, signal: AbortSignal) => Promise<CallSound>;
  /** The services of this server that hosted models are offered. */
  readonly services: Pick<ServiceTools, 'offered'>;
  /** Carries out what the model of a hosted call calls. */
  readonly runTool: RunTool;
  /** Stores the turns of the calls of this process. */
  readonly turns: TurnWriter;
  /** Sends events to the readers of live calls. */
  readonly feed: Pick<CallFeed, 'close' | 'open' | 'tell'>;
  /** The room at the recogniser of this process. Undefined: another one transcribes calls. */
  readonly room?: RecogniserPlaces | undefined;
  /** Returns the speech engines, which an agent shares in fair turns with other agents. */
  readonly enginesOf: (agentId: number) => VoiceDeps['engines'];
  /** Milliseconds without sound over its stream after which a call is ended as dead. */
  readonly mediaTimeoutMs: number;
  /** Milliseconds that a call waits for a media stream that broke. Absent: `PHONE_LIMITS.call.lineLostMs`. */
  readonly lineLostMs?: number;
  /** Calls whose media stream is at this process, by call id. */
  readonly live: Map<string, LiveCall>;
};
