import type { Json } from '../../../kernel/json.ts';
import { MODEL_LIMITS } from '../../limits.ts';
import { abandonOnFailure } from './abandon-on-failure.ts';
import { objectOf, requireText, spacedWords, textOrNone } from './read-answer.ts';
import { type VendorApi, type VendorClient, VendorFailed, VendorGaveUp } from './vendor-api.ts';
import { jsonRequest } from './write-request.ts';

/** AssemblyAI: https://www.assemblyai.com/docs/api-reference/transcripts. The server polls until the transcript is ready. */
export const assemblyaiApi = {
  name: 'assemblyai',
  credential: (key) => ({ authorization: key }),
  hearing: {
    async hear(door, { file, language, members, model }) {
      const uploaded = await objectOf(
        await door.send({
          method: 'POST',
          path: '/upload',
          headers: { 'content-type': 'application/octet-stream' },
          body: file.bytes,
        }),
      );
      const order = {
        ...members,
        audio_url: uploaded.upload_url,
        speech_models: [model],
        ...(language === undefined ? { language_detection: true } : { language_code: language }),
      };
      const begun = await objectOf(await door.send(jsonRequest('/transcript', order)));
      const { id } = begun;
      if (typeof id !== 'string') throw new VendorFailed('began no transcript');
      const path = `/transcript/${encodeURIComponent(id)}`;
      const json = await abandonOnFailure(door, path, () => whenDone(door, path, begun));
      return {
        text: requireText(json.text ?? ''),
        language: textOrNone(json.language_code),
        words: await spacedWords(json.words, 'text', 1),
        json,
      };
    },
  },
} satisfies VendorApi;

/** Error message when no language was detected because the audio has no words. */
const NOTHING_SAID = /no spoken audio/i;

/** Error messages for a fault of the vendor, in contrast to a fault of the file. */
const OWN_FAULT = /server error|internal error|try again|retry/i;

async function whenDone(door: VendorClient, path: string, begun: Json): Promise<Json> {
  const { first, most } = MODEL_LIMITS.vendor.pollMs;
  let waitMs: number = first;
  let job = begun;
  while (job.status !== 'completed') {
    if (job.status === 'error') {
      const why = String(job.error);
      if (NOTHING_SAID.test(why)) return job;
      throw new (OWN_FAULT.test(why) ? VendorFailed : VendorGaveUp)(`could not: ${why}`);
    }
    await door.pause(waitMs);
    waitMs = Math.min(2 * waitMs, most);
    job = await objectOf(await door.send({ method: 'GET', path }));
  }
  return job;
}
