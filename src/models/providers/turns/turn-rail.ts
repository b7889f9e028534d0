import type { StopSignal } from '../../../kernel/stop-signal.ts';
import type { Outcome } from '../outcome.ts';
import type { RealtimeCall } from '../realtime/realtime-rail.ts';

/** Event of an upstream about a turn of the speaker, with all words of the turn so far. */
export type TurnEvent = {
  readonly kind: 'words' | 'likely_over' | 'resumed' | 'over';
  readonly text: string;
};

export type TurnListener = {
  event(event: TurnEvent): void;
  /** The upstream is gone, has refused what it was sent, or has said something that cannot be read. Comes last, and once. */
  closed(why: string): void;
};

/** Session at an upstream that accepts 16-bit mono audio at 16 kHz and detects the ends of turns. */
export interface TurnSocket {
  /** Bytes that the upstream was sent and has not taken. */
  readonly unsentBytes: number;
  /** Hears everything from the first event on. To be called once. */
  listen(listener: TurnListener): void;
  /** The samples are copied before this returns. */
  send(pcm: Int16Array): void;
  /** Ends the turn in progress. The upstream answers with the event `over`, unless the turn has no words. */
  endTurn(): void;
  /** Ends the session at the upstream, which bills it until then. The listener gets nothing from here on. */
  close(): void;
}

export type TurnCall = RealtimeCall & {
  readonly language: string | undefined;
  /** Silence that ends a turn: at least where the upstream is sure, and at most. */
  readonly leastSilenceMs: number;
  readonly mostSilenceMs: number;
  /** True where a likely end of turn is reported before it is sure. */
  readonly isEager: boolean;
};

/** A way to sessions with detection of turns at one upstream. Failures of the upstream are outcomes and not rejections. */
export interface TurnRail {
  /** Unit that the upstream bills: seconds of audio sent to it, or seconds of its open session. */
  readonly bills: 'sound' | 'session';
  connect(call: TurnCall, signal: StopSignal): Promise<Outcome<{ readonly turns: TurnSocket }>>;
}
