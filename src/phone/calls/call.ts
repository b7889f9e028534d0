import type { CallEndReason } from '../../../machines/call.ts';
import { type Random, randomHex } from '../../kernel/random.ts';
import type { AnsweredBy, CarrierName, CarrierStatus } from '../carriers/carrier.ts';
import type { LegCosts, LineKind, RateCard } from '../rate-card.ts';
import type { AnalysisSchema } from '../records/analysis/analysis-schema.ts';
import type { AgentTool } from '../tools/agent-tools.ts';
import type { ConversationSettings } from '../voice/conversation-settings.ts';
import type { CallStatus } from './advance-call.ts';

/** Values by name, as a developer gives them to one call. */
export type CallValues = Readonly<Record<string, string | number | boolean>>;

/** The voice settings of an agent at the time when its call was set up. */
export type CallVoice = {
  readonly voiceMode: 'hosted' | 'webhook';
  readonly systemPrompt: string | null;
  readonly beginMessage: string | null;
  readonly voice: string | null;
  readonly model: string | null;
  readonly webhookUrl: string | null;
  /** Settings of the conversation. Absent: the call was set up by a version of this server without these settings. */
  readonly conversation?: ConversationSettings;
  /** Tools that the model of the call may call. Absent: none. */
  readonly tools?: readonly AgentTool[];
  /** The version of the secret that signs requests to its functions. */
  readonly secretVersion?: number;
};

/** Returns true when the developer's webhook or ConversationRelay application answers in place of a model. */
export const hasOwnResponder = ({ voiceMode, webhookUrl }: CallVoice): boolean =>
  voiceMode === 'webhook' && webhookUrl !== null;

/** Orders for a call that an answering machine has answered. */
export const ON_MACHINE = ['hangup', 'leave_message', 'continue'] as const;
export type OnMachine = (typeof ON_MACHINE)[number];

/** Voice settings of an agent, with its settings for incoming calls. */
export type AgentVoice = CallVoice & {
  readonly recordCalls: boolean;
  readonly reportCalls: boolean;
  /** URL that receives a request before an incoming call is answered. Absent or null: no request is sent. */
  readonly inboundUrl?: string | null;
  readonly secretVersion?: number;
};

export type CallOptions = {
  readonly voice: CallVoice;
  readonly detectsMachine: boolean;
  /** Action when an answering machine answers. Absent: `continue`. */
  readonly onMachine?: OnMachine;
  /** The message that is left on an answering machine; absent: the begin message. */
  readonly machineMessage?: string;
  /** Values that its texts were filled with, for the developer's own backend. */
  readonly variables?: CallValues;
  /** The number to which the call is transferred at its answer. */
  readonly forwardTo?: string;
  /** Values that stand in the events and the report of the call. */
  readonly metadata?: CallValues;
  readonly isRecorded: boolean;
  readonly wantsReport: boolean;
  /**
   * Analysis after the end of the call: the call's model decides, and fills the schema if there is one. Absent: rules decide.
   */
  readonly analysis?: 'model' | { readonly schema: AnalysisSchema };
  /**
   * Set when a client or a stop ends a transferred call: the sweeper then asks the carrier to hang up until the line has ended.
   */
  readonly isDropped?: true;
};

/** A call, in the form of its database row. */
export type Call = {
  readonly callId: string;
  readonly agentId: number;
  readonly accountId: string;
  readonly numberId: number;
  readonly carrier: CarrierName;
  readonly carrierCallId: string | null;
  readonly direction: 'inbound' | 'outbound';
  readonly from: string;
  readonly to: string;
  readonly status: CallStatus;
  readonly terminal: boolean;
  readonly endReason: CallEndReason | null;
  readonly keyId: number | null;
  /** Id of the first key in the chain of rotations, whose budget pays for the call. */
  readonly keyRootId: number | null;
  readonly taskId: string;
  readonly taskValueBps: number | null;
  readonly actionId: string | null;
  readonly customerId: string | null;
  readonly maxSpendRaw: bigint;
  readonly rates: RateCard;
  readonly options: CallOptions;
  readonly carrierStatus: CarrierStatus | null;
  readonly carrierSequence: number;
  /** The carrier's latest report of who answered. */
  readonly answeredBy?: AnsweredBy | null;
  /** Data that a ConversationRelay application has left to its developer at the end of the call. */
  readonly handoffData?: string | null;
  readonly createdAt: Date;
  readonly startedAt: Date | null;
  readonly endedAt: Date | null;
  readonly durationSeconds: number | null;
  readonly legs: LegCosts | null;
};

/** The row of a batch that a call is placed for, and the count of its attempts. */
export type BatchPlace = {
  readonly batchId: string;
  readonly seq: number;
  readonly attempt: number;
};

/** A call that is being inserted. */
export type NewCall = Omit<
  Call,
  | 'keyRootId'
  | 'status'
  | 'terminal'
  | 'endReason'
  | 'carrierStatus'
  | 'carrierSequence'
  | 'answeredBy'
  | 'handoffData'
  | 'createdAt'
  | 'startedAt'
  | 'endedAt'
  | 'durationSeconds'
  | 'legs'
> & {
  readonly dueInMs: number;
  readonly workId?: string | undefined;
  readonly batch?: BatchPlace | undefined;
};

/** Returns a new call id: `CA` and 32 hex digits, the form that carriers use. */
export const newCallId = (random: Random): string => `CA${randomHex(random, 16)}`;

/** Returns true when a text has the form of a call id. A text from outside without it names no call of this server. */
export const isCallId = (text: string): boolean => /^CA[0-9a-f]{32}$/.test(text);

/**
 * Returns the number of the agent, which is the called number of an inbound call and the calling number of an outbound call.
 */
export const ownNumber = ({
  direction,
  from,
  to,
}: Pick<Call, 'direction' | 'from' | 'to'>): string => (direction === 'inbound' ? to : from);

export const lineOf = ({ direction, options }: Pick<Call, 'direction' | 'options'>): LineKind => ({
  direction,
  detectsMachine: options.detectsMachine,
});
