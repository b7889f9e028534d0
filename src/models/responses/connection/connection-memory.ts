import type { KeptConversation } from '../kept/kept-responses.ts';
import { RESPONSES_LIMITS } from '../limits.ts';

/** Bytes that all connections of this process remember together. */
export class ConnectionBytes {
  #bytes = 0;

  /** Takes `bytes`, or returns false when the limit leaves less. */
  take(bytes: number): boolean {
    if (this.#bytes + bytes > RESPONSES_LIMITS.connection.allBytes) return false;
    this.#bytes += bytes;
    return true;
  }

  release(bytes: number): void {
    this.#bytes -= bytes;
  }
}

/**
 * Conversation up to the last response of one connection that is not stored in the database, so that the next request on the
 * connection can continue it. A conversation that exceeds the limit of the connection or of the process is not remembered.
 */
export class ConnectionMemory {
  readonly #all: ConnectionBytes;
  #last: (KeptConversation & { readonly id: string }) | undefined;
  #isClosed = false;

  constructor(all: ConnectionBytes) {
    this.#all = all;
  }

  /** Returns the conversation up to the response with this id. Undefined when the connection does not remember the response. */
  find(id: string): KeptConversation | undefined {
    return this.#last?.id === id ? this.#last : undefined;
  }

  /** Replaces the remembered conversation. */
  remember(id: string, conversation: KeptConversation): void {
    this.#forget();
    const { bytes } = conversation;
    // A response may end after its connection was closed.
    if (this.#isClosed || bytes > RESPONSES_LIMITS.connection.bytes) return;
    if (!this.#all.take(bytes)) return;
    this.#last = { ...conversation, id };
  }

  /** Forgets all responses when the connection closes, and remembers none from then on. */
  close(): void {
    this.#isClosed = true;
    this.#forget();
  }

  #forget(): void {
    if (this.#last === undefined) return;
    this.#all.release(this.#last.bytes);
    this.#last = undefined;
  }
}
