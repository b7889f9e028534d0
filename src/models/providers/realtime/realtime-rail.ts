import type { StopSignal } from '../../../kernel/stop-signal.ts';
import type { Outcome } from '../outcome.ts';

/** Listener of an upstream's open socket. `closed` is called last, and once. */
export type UpstreamListener = {
  /** The bytes stay the listener's to keep. */
  frame(bytes: Buffer, isBinary: boolean): void;
  /** 1006 where it went without a close frame. */
  closed(code: number, reason: string): void;
};

/** An upstream session that stands. It delivers nothing before it has a listener. Every call is safe at any time. */
export interface UpstreamSocket {
  /** Bytes that were sent and the upstream has not taken. */
  readonly unsentBytes: number;
  /** Hears everything from the first frame on. To be called once. */
  listen(listener: UpstreamListener): void;
  /** The bytes are copied, or on their way, when this returns. */
  send(bytes: Uint8Array, isBinary: boolean): void;
  /** Reads no further. A few frames that are here already may still come. */
  pause(): void;
  resume(): void;
  close(): void;
}

export type RealtimeCall = {
  readonly agentId: number;
  /** The upstream's name of the model. */
  readonly model: string;
  /** The buyer's own key, in the place of this server's. */
  readonly ownKey?: string | undefined;
};

export type ListenCall = RealtimeCall & {
  /** The call is for the socket that reports turns, which has another address at the upstream. */
  readonly isOfTurns?: boolean;
  /** Query of the upstream: the format of the sound, and options. A name may occur more than once. */
  readonly options: readonly (readonly [name: string, value: string])[];
};

/** A way to live sessions of one kind at one upstream. Failures of the upstream are outcomes and not rejections. */
export interface LiveRail<Call extends RealtimeCall> {
  connect(call: Call, signal: StopSignal): Promise<Outcome<{ readonly socket: UpstreamSocket }>>;
}

export type RealtimeRail = LiveRail<RealtimeCall>;
export type ListenRail = LiveRail<ListenCall>;
