import { createHash } from 'node:crypto';
import { deepgramObjection } from '../strict/deepgram-rules.ts';
import type { Heard, Protocol, Said } from './vendor-peer.ts';

/** Sound of a text, by which a test sees that its own words have come to the vendor. */
export const soundOf = (text: string): Buffer => Buffer.from(`ID3 ${text}`);

/** What a vendor hears in a file: the file's own fingerprint. */
const heardIn = (bytes: Uint8Array): string =>
  `heard ${createHash('sha256').update(bytes).digest('hex').slice(0, 16)}`;

/** Samples of a text: 20 ms a character, at 24 kHz. */
export const pcmOf = (text: string): Buffer =>
  Buffer.from(
    Int16Array.from({ length: 480 * text.length }, (_, i) => ((i * 997) % 4_001) - 2_000).buffer,
  );

const KEY = 'key-of-the-operator';

const json = (body: unknown, status = 200): Said => ({ status, body: JSON.stringify(body) });
const mp3 = (text: string): Said => ({ type: 'audio/mpeg', body: soundOf(text) });
const pcm = (text: string): Said => ({ type: 'application/octet-stream', body: pcmOf(text) });

const bearer = ({ headers }: Heard) => headers.authorization === `Bearer ${KEY}`;
const inHeader =
  (name: string, value = KEY) =>
  ({ headers }: Heard) =>
    headers[name] === value;

/** Members of the JSON of a request, by their paths. Throws where it is none, or where one that is read is missing. */
function read(heard: Heard): (path: string) => string {
  if (heard.headers['content-type'] !== 'application/json') throw new Error('no JSON');
  const body: unknown = JSON.parse(heard.body.toString('utf8'));
  return (path) => {
    let value = body;
    for (const name of path.split('.')) value = (value as Record<string, unknown>)[name];
    if (value === undefined) throw new Error(`no ${path}`);
    return String(value);
  };
}

/** Throws unless each member has this value; `undefined` stands for any. */
function need(get: (path: string) => string, members: Readonly<Record<string, unknown>>): void {
  for (const [path, value] of Object.entries(members)) {
    const found = get(path);
    if (value !== undefined && found !== String(value)) throw new Error(`${path} is ${found}`);
  }
}

/** The form of a request. Throws where it lacks a field, or the file under its name. */
async function form(heard: Heard, file: string, ...required: string[]) {
  const type = heard.headers['content-type'] ?? '';
  const fields = await new Response(heard.body, { headers: { 'content-type': type } }).formData();
  for (const name of required) if (!fields.has(name)) throw new Error(`no ${name}`);
  const sent = fields.get(file);
  if (sent === null || typeof sent === 'string') throw new Error(`no ${file}`);
  return { fields, text: heardIn(new Uint8Array(await sent.arrayBuffer())) };
}

const at = ({ method, url }: Heard) => `${method} ${url.pathname}`;

/** A quarter of a second for each word, with a mark behind the last one. */
function deepgramWords(transcript: string) {
  const words = transcript.split(' ').map((word, i, { length }) => ({
    word,
    start: i / 4,
    end: (i + 1) / 4,
    confidence: 0.9,
    punctuated_word: i === length - 1 ? `${word}.` : word,
  }));
  return { transcript, confidence: 0.9, words };
}

const jobs = new Map<string, { text: string; asked: number }>();
/** A job that is under way when it is asked for the first time, and done at the second. */
function advance(id: string): { text: string; isDone: boolean } {
  const job = jobs.get(id) ?? { text: '', asked: 0 };
  job.asked++;
  return { text: job.text, isDone: job.asked > 1 };
}
function begin(text: string): string {
  const id = `job-${jobs.size + 1}`;
  jobs.set(id, { text, asked: 0 });
  return id;
}

/** The APIs of the vendors, as their documentation has them. */
export const PROTOCOLS: Readonly<Record<string, Protocol>> = {
  deepgram: {
    isOpened: inHeader('authorization', `Token ${KEY}`),
    answer(heard) {
      const objection = deepgramObjection(heard.url);
      if (objection !== undefined) throw new Error(objection);
      if (at(heard) === 'POST /speak') {
        const asked = heard.url.searchParams;
        if (!asked.get('model')?.startsWith('aura-2-')) throw new Error('model');
        const text = read(heard)('text');
        // https://developers.deepgram.com/docs/tts-rest (input limits)
        if (text.trim() === '' || text.length > 2_000) throw new Error('text');
        return asked.get('encoding') === 'linear16' ? pcm(text) : mp3(text);
      }
      if (at(heard) !== 'POST /listen' || heard.url.searchParams.get('model') === null) return;
      const transcript = heardIn(heard.body);
      // What it says of its own work is a lie.
      return json({
        metadata: { duration: 86_400, channels: 1 },
        results: { channels: [{ alternatives: [deepgramWords(transcript)] }] },
      });
    },
  },
  elevenlabs: {
    isOpened: inHeader('xi-api-key'),
    async answer(heard) {
      if (/^POST \/text-to-speech\/\w+\/stream$/.test(at(heard))) {
        const format = heard.url.searchParams.get('output_format');
        const get = read(heard);
        need(get, { model_id: undefined });
        if (format === 'pcm_24000') return pcm(get('text'));
        if (format !== 'mp3_44100_128') throw new Error();
        return mp3(get('text'));
      }
      if (at(heard) !== 'POST /speech-to-text') return;
      const { text } = await form(heard, 'file', 'model_id');
      const [first = '', second = ''] = text.split(' ');
      const words = [
        { text: first, start: 0.1, end: 0.4, type: 'word' },
        { text: ' ', start: 0.4, end: 0.5, type: 'spacing' },
        { text: second, start: 0.5, end: 1.25, type: 'word' },
      ];
      return json({ language_code: 'eng', language_probability: 0.98, text, words });
    },
  },
  cartesia: {
    isOpened: (heard) => bearer(heard) && heard.headers['cartesia-version'] !== undefined,
    async answer(heard) {
      if (at(heard) === 'POST /tts/bytes') {
        const get = read(heard);
        need(get, { model_id: undefined, 'voice.mode': 'id', 'voice.id': undefined });
        if (get('output_format.container') === 'raw') {
          need(get, { 'output_format.encoding': 'pcm_s16le', 'output_format.sample_rate': 24_000 });
          return pcm(get('transcript'));
        }
        need(get, { 'output_format.container': 'mp3' });
        return mp3(get('transcript'));
      }
      if (at(heard) !== 'POST /stt') return;
      const { fields, text } = await form(heard, 'file', 'model');
      const said = { text, language: 'en', duration: 9_999 };
      if (fields.get('timestamp_granularities[]') !== 'word') return json(said);
      const [first, second] = text.split(' ');
      const words = [
        { word: first, start: 0.1, end: 0.4 },
        { word: second, start: 0.5, end: 1.25 },
      ];
      return json({ ...said, words });
    },
  },
  google: {
    isOpened: inHeader('x-goog-api-key'),
    answer(heard) {
      if (at(heard) !== 'POST /text:synthesize') return;
      const get = read(heard);
      need(get, { 'audioConfig.audioEncoding': 'MP3', 'voice.languageCode': undefined });
      return json({ audioContent: soundOf(get('input.text')).toString('base64') });
    },
  },
  azure: {
    isOpened: inHeader('ocp-apim-subscription-key'),
    async answer(heard) {
      if (at(heard) === 'POST /tts/cognitiveservices/v1') {
        const { 'content-type': type, 'x-microsoft-outputformat': format } = heard.headers;
        if (type !== 'application/ssml+xml' || !String(format).includes('mp3')) throw new Error();
        const [, text = ''] =
          /<voice name="[\w-]+">(.*)<\/voice>/s.exec(heard.body.toString()) ?? [];
        return mp3(text);
      }
      if (at(heard) !== 'POST /speechtotext/transcriptions:transcribe') return;
      if (heard.url.searchParams.get('api-version') === null) throw new Error();
      const { text } = await form(heard, 'audio', 'definition');
      return json({ durationMilliseconds: 1, combinedPhrases: [{ text }], phrases: [] });
    },
  },
  assemblyai: {
    isOpened: inHeader('authorization'),
    answer(heard) {
      if (at(heard) === 'POST /upload') return json({ upload_url: `cdn:${heardIn(heard.body)}` });
      if (at(heard) === 'POST /transcript') {
        const get = read(heard);
        need(get, { 'speech_models.0': undefined });
        return json({ id: begin(get('audio_url').slice(4)), status: 'queued' });
      }
      const [, id = ''] = /^GET \/transcript\/([\w-]+)$/.exec(at(heard)) ?? [];
      if (!jobs.has(id)) return;
      const { isDone, text } = advance(id);
      if (!isDone) return json({ id, status: 'processing', text: null });
      const [first, second] = text.split(' ');
      const words = [
        { text: first, start: 100, end: 400, confidence: 0.9 },
        { text: second, start: 500, end: 1_250, confidence: 0.9 },
      ];
      return json({ id, status: 'completed', text, words, language_code: 'en', audio_duration: 9 });
    },
  },
  speechmatics: {
    isOpened: bearer,
    async answer(heard) {
      if (at(heard) === 'POST /jobs') {
        const { fields, text } = await form(heard, 'data_file', 'config');
        const config = JSON.parse(String(fields.get('config')));
        if (config.transcription_config.language === undefined) throw new Error();
        return json({ id: begin(text) }, 201);
      }
      const [, id = '', rest] = /^GET \/jobs\/([\w-]+)(\/transcript)?$/.exec(at(heard)) ?? [];
      if (!jobs.has(id)) return;
      if (rest === undefined) {
        return json({ job: { id, status: advance(id).isDone ? 'done' : 'running' } });
      }
      const words = (jobs.get(id)?.text ?? '')
        .split(' ')
        .map((content) => ({ type: 'word', alternatives: [{ content }] }));
      const end = { type: 'punctuation', alternatives: [{ content: '.' }] };
      return json({ format: '2.9', results: [...words, end] });
    },
  },
  rime: {
    isOpened: bearer,
    answer(heard) {
      if (at(heard) !== 'POST /rime-tts') return;
      const get = read(heard);
      need(get, { speaker: undefined, modelId: undefined });
      if (heard.headers.accept === 'audio/pcm') {
        need(get, { samplingRate: 24_000 });
        return pcm(get('text'));
      }
      if (heard.headers.accept !== 'audio/mp3') throw new Error('accept');
      return { type: 'audio/mp3', body: soundOf(get('text')) };
    },
  },
  xai: {
    isOpened: bearer,
    async answer(heard) {
      if (at(heard) === 'POST /tts') {
        const get = read(heard);
        need(get, { voice_id: undefined, language: undefined });
        return mp3(get('text'));
      }
      if (at(heard) !== 'POST /stt') return;
      const { text } = await form(heard, 'file');
      return json({ text, language: 'English', duration: 0.1, words: [] });
    },
  },
  inworld: {
    isOpened: inHeader('authorization', `Basic ${KEY}`),
    answer(heard) {
      if (at(heard) !== 'POST /voice') return;
      const get = read(heard);
      need(get, { voiceId: undefined, modelId: undefined });
      const usage = { processedCharactersCount: 1_000_000 };
      return json({ audioContent: soundOf(get('text')).toString('base64'), usage });
    },
  },
  minimax: {
    isOpened: bearer,
    answer(heard) {
      if (at(heard) !== 'POST /t2a_v2') return;
      const get = read(heard);
      need(get, { model: undefined, stream: false, output_format: 'hex' });
      need(get, { 'voice_setting.voice_id': undefined, 'audio_setting.format': 'mp3' });
      return json({
        data: { audio: soundOf(get('text')).toString('hex'), status: 2 },
        extra_info: { usage_characters: 1_000_000 },
        base_resp: { status_code: 0, status_msg: 'success' },
      });
    },
  },
  polly: {
    isOpened: ({ headers }) =>
      /^AWS4-HMAC-SHA256 Credential=key-of-the-operator\/\d{8}\/us-east-1\/polly\/aws4_request, SignedHeaders=content-type;host;x-amz-date, Signature=[0-9a-f]{64}$/.test(
        headers.authorization ?? '',
      ) && /^\d{8}T\d{6}Z$/.test(String(headers['x-amz-date'])),
    answer(heard) {
      if (at(heard) !== 'POST /v1/speech') return;
      const get = read(heard);
      need(get, { Engine: undefined, OutputFormat: 'mp3', TextType: 'text', VoiceId: undefined });
      return mp3(get('Text'));
    },
  },
  sarvam: {
    isOpened: inHeader('api-subscription-key'),
    async answer(heard) {
      switch (at(heard)) {
        case 'POST /text-to-speech': {
          const get = read(heard);
          need(get, { target_language_code: undefined, model: undefined, speaker: undefined });
          return json({ request_id: 'r', audios: [soundOf(get('text')).toString('base64')] });
        }
        case 'POST /speech-to-text': {
          const { fields, text } = await form(heard, 'file', 'model');
          const transcript = fields.get('mode') === 'translate' ? `in English: ${text}` : text;
          return json({ request_id: 'r', transcript, language_code: 'hi-IN' });
        }
        case 'POST /translate': {
          const get = read(heard);
          need(get, { input: undefined, source_language_code: undefined, model: undefined });
          return json({ request_id: 'r', translated_text: `in ${get('target_language_code')}` });
        }
        case 'POST /transliterate':
          need(read(heard), { input: undefined, source_language_code: undefined });
          return json({ request_id: 'r', transliterated_text: 'other letters' });
        case 'POST /text-lid':
          need(read(heard), { input: undefined });
          return json({ request_id: 'r', language_code: 'hi-IN', script_code: 'Deva' });
        default:
          return;
      }
    },
  },
};
