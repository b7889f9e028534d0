import type { Ending } from '../../../../machines/transcription-stream.ts';
import { newId } from '../../../kernel/ids.ts';
import { LIMITS } from '../../../kernel/limits.ts';
import type { Random } from '../../../kernel/random.ts';
import type { EventProblem } from './client-event.ts';
import { errorType } from './error-type.ts';

/** What a session needs of its socket; `SocketConnection` is one. */
export interface ClientSocket {
  readonly isOpen: boolean;
  readonly bufferedAmount: number;
  send(data: string): boolean;
  batch(work: () => void): void;
  close(code: number, reason?: string): void;
}

type Fields = Readonly<Record<string, unknown>>;

/** The client's end of a realtime session: events go out numbered, and no faster than they are taken. */
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

  /** Says what was wrong with an event; the session goes on. */
  refuse(problem: EventProblem): void {
    this.error('invalid_request_error', problem);
  }

  /** Says what could not be done for the client; the session goes on. */
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

  /** Says why the session ends, when there is more to say than its close frame does, and closes. */
  end({ code, reason, error }: Ending): void {
    const fault = code === 1011 ? 'server_error' : 'invalid_request_error';
    if (error !== undefined) this.error(errorType(error.code, fault), error);
    this.#socket?.close(code, reason);
    this.drained();
  }

  /** Resolves when the client has taken enough for more speech to be sent, or when `signal` fires. */
  async room(signal: AbortSignal): Promise<void> {
    while (
      !signal.aborted &&
      this.isOpen &&
      (this.#socket?.bufferedAmount ?? 0) > LIMITS.speechUnsentBytes
    ) {
      await new Promise<void>((resolve) => {
        this.#waiting.push(resolve);
        signal.addEventListener('abort', () => resolve(), { once: true });
      });
    }
  }

  /** The client caught up, or is gone: writers that wait for room look again. */
  drained(): void {
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const resume of waiting) resume();
  }
}
