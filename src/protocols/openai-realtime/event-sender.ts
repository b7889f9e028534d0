import type { Ending } from '../../../machines/transcription-stream.ts';
import { newId } from '../../kernel/ids.ts';
import type { Random } from '../../kernel/random.ts';
import type { StopSignal } from '../../kernel/stop-signal.ts';
import { VOICE_LIMITS } from '../../voice/limits.ts';
import type { EventProblem } from './client-event.ts';

/** Socket of a session's client; `SocketConnection` implements it. */
export interface ClientSocket {
  readonly isOpen: boolean;
  readonly bufferedAmount: number;
  send(data: string): boolean;
  batch(work: () => void): void;
  close(code: number, reason?: string): void;
}

type Fields = Readonly<Record<string, unknown>>;

/** Sends events to the client of a realtime session, each with an event id, and waits while the send buffer is full. */
export class EventSender {
  readonly #random: Random;
  #socket: ClientSocket | undefined;
  #waiting: (() => void)[] = [];

  constructor(random: Random) {
    this.#random = random;
  }

  attach(socket: ClientSocket): void {
    this.#socket = socket;
  }

  get isOpen(): boolean {
    return this.#socket?.isOpen ?? false;
  }

  send(type: string, fields: Fields = {}): void {
    this.#socket?.send(
      JSON.stringify({ type, event_id: newId(this.#random, 'event_'), ...fields }),
    );
  }

  /** Sends an `error` about a client's event. The session goes on. */
  refuse(problem: EventProblem): void {
    this.error('invalid_request_error', problem);
  }

  /** Sends an `error` about a failure of the server. The session goes on. */
  failed(problem: Pick<EventProblem, 'code' | 'message'>): void {
    this.error(errorType(problem.code, 'server_error'), problem);
  }

  error(type: string, problem: EventProblem): void {
    this.send('error', {
      error: {
        type,
        code: problem.code,
        message: problem.message,
        param: problem.param ?? null,
        event_id: problem.eventId ?? null,
      },
    });
  }

  batch(work: () => void): void {
    if (this.#socket === undefined) work();
    else this.#socket.batch(work);
  }

  /** Sends the error of an ending, when the ending has an error. */
  fault({ code, error }: Ending): void {
    const type = code === 1011 ? 'server_error' : 'invalid_request_error';
    if (error !== undefined) this.error(errorType(error.code, type), error);
  }

  /** Sends the error of an ending, when it has an error, and closes the socket. */
  end(ending: Ending): void {
    this.fault(ending);
    this.#socket?.close(ending.code, ending.reason);
    this.drained();
  }

  get hasRoom(): boolean {
    return (this.#socket?.bufferedAmount ?? 0) <= VOICE_LIMITS.speechUnsentBytes;
  }

  /** Resolves when the send buffer has room for more speech, or when `signal` fires. */
  async room(signal: StopSignal): Promise<void> {
    while (!signal.aborted && this.isOpen && !this.hasRoom) {
      let resume = () => {};
      await new Promise<void>((resolve) => {
        resume = resolve;
        this.#waiting.push(resume);
        signal.addEventListener('abort', resume);
      });
      // An answer to a slow client waits many times, so its listener is removed after each wait.
      signal.removeEventListener('abort', resume);
    }
  }

  /** Resumes waiting writers, because the send buffer has room or the client is gone. Each writer checks again. */
  drained(): void {
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const resume of waiting) resume();
  }
}

/** Returns the error type that clients receive for a code. A used-up budget is not an error of this server. */
export const errorType = <T extends string>(
  code: string,
  otherwise: T,
): T | 'insufficient_quota' => (code === 'budget_exhausted' ? 'insufficient_quota' : otherwise);
