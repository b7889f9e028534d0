import { silentLog } from '../../src/kernel/log.ts';
import type { StopSignal } from '../../src/kernel/stop-signal.ts';
import type { SpeechSynthesis } from '../../src/models/speech/synthesize-speech.ts';
import type {
  SpeakControls,
  SpeakDialect,
} from '../../src/protocols/deepgram/speak/speak-dialect.ts';
import { SpeakSession } from '../../src/protocols/deepgram/speak/speak-session.ts';
import { ManualClock } from './manual-clock.ts';

type Said = Record<string, unknown> & { readonly type: string };

class Client {
  readonly said: Said[] = [];
  readonly sound: Uint8Array[] = [];
  closed: { readonly code: number; readonly reason: string | undefined } | undefined;
  bufferedAmount = 0;

  get isOpen(): boolean {
    return this.closed === undefined;
  }

  send(data: string | Uint8Array): boolean {
    if (typeof data === 'string') this.said.push(JSON.parse(data) as Said);
    else this.sound.push(data);
    return true;
  }

  close(code: number, reason?: string): void {
    this.closed ??= { code, reason };
  }

  of = (type: string) => this.said.filter((one) => one.type === type);
}

/** What each text is answered with: pieces, which may be held up, or a failure. */
type Play = {
  readonly pieces?: number;
  readonly failure?: unknown;
  readonly breaksAfter?: number;
  readonly held?: Promise<void>;
};

const FREE = async () => {};

type Admits = { readonly admit?: () => Promise<void>; readonly admitPooled?: () => Promise<void> };

/** Sessions of one dialect over a vendor of speech that does as told. A character costs one raw unit. */
export const speakWorld =
  (dialectOf: (controls: SpeakControls) => SpeakDialect) =>
  (plays: Play[] = [], { admit = FREE, admitPooled = FREE }: Admits = {}) => {
    const clock = new ManualClock();
    const bought: { text: string; speed: unknown; signal: StopSignal }[] = [];
    const given: { text: string; pieces: number; isStopped: boolean }[] = [];
    const speech: SpeechSynthesis = {
      async speak({ body, buyer }) {
        await buyer.admitPooled();
        bought.push({ text: body.input, speed: body.speed, signal: buyer.signal });
        const { breaksAfter, failure, held, pieces = 2 } = plays.shift() ?? {};
        if (failure !== undefined) throw failure;
        const one = { text: body.input, pieces: 0, isStopped: false };
        given.push(one);
        return {
          status: 200,
          headers: { 'content-type': 'audio/pcm', 'x-svc-cost-usdc': String(body.input.length) },
          upstreamMs: 0,
          body: {
            [Symbol.asyncIterator]: () => ({
              async next() {
                await held;
                if (one.pieces === breaksAfter) throw new Error('cut');
                if (one.pieces >= pieces || one.isStopped) return { done: true, value: undefined };
                one.pieces++;
                return { done: false, value: new Uint8Array(4_800) };
              },
              async return() {
                one.isStopped = true;
                return { done: true, value: undefined };
              },
            }),
          },
        };
      },
    };
    const session = new SpeakSession(
      { speech, clock, log: silentLog },
      {
        admit,
        buyer: {
          spender: { agentId: 7 },
          accountId: 'acct',
          providerKey: undefined,
          admitPooled,
        } as never,
        plan: { format: 'pcm', made: { encoding: 'linear16', sampleRateHz: 24_000, inWav: false } },
        speaker: { model: 'acme/voice' },
      },
      dialectOf,
    );
    const client = new Client();
    session.opened(client);
    const say = (message: object) => session.message(JSON.stringify(message));
    const speak = (text: string) => say({ type: 'Speak', text });
    return {
      bought,
      client,
      clock,
      given,
      say,
      session,
      speak,
      texts: () => bought.map((b) => b.text),
    };
  };
