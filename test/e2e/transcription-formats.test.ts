import OpenAI, { toFile } from 'openai';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { FundedAgent } from '../../src/app/commands/demo/fund-agent.ts';
import { deepgramAt } from '../support/deepgram-rest-client.ts';
import { vorbisFile } from '../support/sound-files.ts';
import { soundVector } from '../support/sound-vector.ts';
import { startWorld, type WholeWorld } from '../support/whole-world.ts';

const SENTENCE = 'go forward ten meters';
const GRAMMAR = `#JSGF V1.0; grammar moves; public <moves> = ${SENTENCE} | turn left five miles;`;

let world: WholeWorld;
let agent: FundedAgent;
let openai: OpenAI;
beforeAll(async () => {
  world = await startWorld();
  agent = await world.fund('speaker');
  openai = new OpenAI({ apiKey: agent.agentKey, baseURL: `${world.url}/v1`, maxRetries: 0 });
});
afterAll(() => world[Symbol.asyncDispose]());

const transcribe = async (bytes: Uint8Array, name: string) =>
  openai.audio.transcriptions.create({
    model: 'local/grammar',
    prompt: GRAMMAR,
    response_format: 'verbose_json',
    file: await toFile(bytes, name),
  });

/** An M4A file whose directory is whole and whose sound is not. */
function brokenAac(): Buffer {
  const file = soundVector('speech.m4a');
  return file.fill(0xff, 100, file.indexOf('moov') - 4);
}

describe('the local recogniser', () => {
  it.each([undefined, 'mp3', 'opus', 'aac', 'flac', 'wav'] as const)(
    'the local recogniser transcribes the output of the speech route as %s',
    async (response_format) => {
      const wanted = { model: 'local/flite', voice: 'alloy', input: SENTENCE };
      const spoken = await openai.audio.speech.create(
        response_format === undefined ? wanted : { ...wanted, response_format },
      );
      const file = Buffer.from(await spoken.arrayBuffer());
      const { duration, text } = await transcribe(file, 'spoken');
      expect(text).toBe(SENTENCE);
      expect(Number(duration)).toBeGreaterThan(1);
      expect(Number(duration)).toBeLessThan(4);
    },
  );

  it.each([
    ['recorder.webm', 2.794],
    ['vorbis.webm', 2.816],
    ['opus.mp4', 2.794],
    ['fragmented.mp4', 2.787],
    ['speech.m4a', 2.816],
    ['speech.mp3', 2.787],
    ['speech.ogg', 2.787],
    ['speech.opus', 2.787],
  ])(
    'the local recogniser transcribes %s, and bills the %d s that were decoded',
    async (name, seconds) => {
      const heard = await transcribe(soundVector(name), 'a name that says nothing');
      expect(heard).toMatchObject({ text: SENTENCE, duration: seconds, usage: { seconds } });
      const [charge] = await world.sql<{ seconds: number }[]>`
      select (usage->>'audio_second')::float8 as seconds from charges
      where agent_id = ${agent.agentId} order by id desc limit 1`;
      expect(charge?.seconds).toBe(seconds);
    },
  );

  it("the local recogniser transcribes a browser's recording in Deepgram's protocol too", async () => {
    const { media } = deepgramAt({ url: world.url, apiKey: agent.agentKey }).listen.v1;
    const heard = await media.transcribeFile(soundVector('recorder.webm'), {
      model: 'local/pocketsphinx',
    });
    expect(heard).toMatchObject({ metadata: { duration: 2.794 } });
    expect(JSON.stringify(heard)).toContain(`"transcript":"${SENTENCE}"`);
  });

  it.each([
    ['noise under the name of an MP3', Buffer.alloc(5_000, 'noise'), 'none of the kinds'],
    ['AAC whose packets are broken', brokenAac(), 'can be decoded'],
    ['WAV with GSM', soundVector('gsm.wav'), 'Send PCM'],
    ['an MP4 cut before its directory', soundVector('speech.m4a').subarray(0, 9_000), 'movie box'],
    ['Vorbis that claims ten hours', vorbisFile(44_100n * 36_000n), 'at most 600 s'],
  ])(
    'the local recogniser refuses %s in one sentence, and charges nothing',
    async (_, bytes, reason) => {
      const before = await world.sql`select id from charges where agent_id = ${agent.agentId}`;
      const refused = await transcribe(bytes, 'sound.mp3').catch((error: unknown) => error);
      expect(refused).toMatchObject({
        status: 400,
        error: {
          type: 'invalid_request_error',
          param: 'file',
          message: expect.stringContaining(reason),
        },
      });
      const after = await world.sql`select id from charges where agent_id = ${agent.agentId}`;
      expect(after).toHaveLength(before.length);
    },
  );
});
