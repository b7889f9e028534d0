import type {
  UpstreamListener,
  UpstreamSocket,
} from '../../src/models/providers/realtime/realtime-rail.ts';
import type { RelayClient } from '../../src/voice/live/downlink.ts';
import { FakeSocket } from './voice-world.ts';

/** An upstream without a network. */
export class FakeUpstream implements UpstreamSocket {
  readonly sent: string[] = [];
  unsentBytes = 0;
  isPaused = true;
  isClosed = false;
  #listener: UpstreamListener | undefined;

  listen(listener: UpstreamListener): void {
    this.#listener = listener;
    this.isPaused = false;
  }
  send(bytes: Uint8Array): void {
    this.sent.push(Buffer.from(bytes).toString());
  }
  pause(): void {
    this.isPaused = true;
  }
  resume(): void {
    this.isPaused = false;
  }
  close(): void {
    this.isClosed = true;
  }

  say(event: object): void {
    this.#listener?.frame(Buffer.from(JSON.stringify(event)), false);
  }
  begin(id: string): void {
    this.say({ type: 'response.created', response: { id } });
  }
  finish(id: string, usage?: object): void {
    this.say({ type: 'response.done', response: { id, status: 'completed', usage } });
  }
  leave(code: number, reason = ''): void {
    this.#listener?.closed(code, reason);
  }
}

/** Reports to every listener that it has closed. */
export class GoneUpstream extends FakeUpstream {
  override listen(listener: UpstreamListener): void {
    super.listen(listener);
    this.leave(1011);
  }
}

/** A client without a network that takes bytes, too. */
export class FakeRelayClient extends FakeSocket implements RelayClient {
  override send(data: string | Uint8Array): boolean {
    return super.send(typeof data === 'string' ? data : Buffer.from(data).toString());
  }
}
