import { createServer } from 'node:http';
import { listenOnLoopback } from './listen-on-loopback.ts';

/** One answer, as it goes out. */
export type Scripted = {
  readonly status?: number;
  readonly contentType?: string;
  readonly body: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** Holds the answer back until then, head and all. */
  readonly until?: Promise<void>;
  /** Keeps the answer open behind the body until then. */
  readonly endsAfter?: Promise<void>;
  /** Breaks the connection behind the body instead of ending the answer. */
  readonly breaks?: boolean;
};

export type TranscriptionUpstream = AsyncDisposable & {
  readonly baseUrl: string;
  /** What came, byte for byte. */
  readonly seen: { readonly path: string; readonly form: FormData; readonly raw: Buffer }[];
  /** One each request; an empty script answers well. */
  readonly script: Scripted[];
  /** Requests whose asker left before the end of the answer. */
  readonly abandoned: { readonly count: number };
};

export const jsonAnswer = (body: object, status = 200): Scripted => ({
  status,
  contentType: 'application/json',
  body: JSON.stringify(body),
});

/** A peer on loopback that takes transcriptions in the OpenAI dialect and answers as it is told. */
export async function transcriptionUpstream(): Promise<TranscriptionUpstream> {
  const seen: { path: string; form: FormData; raw: Buffer }[] = [];
  const script: Scripted[] = [];
  const abandoned = { count: 0 };
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const raw = Buffer.concat(chunks);
    const type = request.headers['content-type'] ?? '';
    const form = await new Response(raw, { headers: { 'content-type': type } }).formData();
    seen.push({ path: request.url ?? '', form, raw });
    const answer = script.shift() ?? jsonAnswer({ text: 'as told' });
    response.once('close', () => {
      if (!response.writableFinished) abandoned.count++;
    });
    await answer.until;
    response.writeHead(answer.status ?? 200, {
      'content-type': answer.contentType ?? 'application/json',
      ...answer.headers,
    });
    response.write(answer.body);
    await answer.endsAfter;
    if (answer.breaks === true) setImmediate(() => response.destroy());
    else response.end();
  });
  return { ...(await listenOnLoopback(server)), seen, script, abandoned };
}
