import type { Json } from '../../kernel/json.ts';
import { LIMITS } from '../../kernel/limits.ts';
import { LIST } from '../price-list.ts';
import { jsonRequest, objectOf, transcript } from '../read-delivery.ts';
import { keyed, modelOf, nameOf, type Vendor, type VendorDoor, VendorFailed } from '../vendor.ts';

const { stt } = LIST.assemblyai;

const MODELS = { 'universal-3-5-pro': stt, 'universal-3-pro': stt };

/** AssemblyAI: https://www.assemblyai.com/docs/api-reference/transcripts. It is asked until the transcript is done. */
export const assemblyai: Vendor = {
  name: 'assemblyai',
  title: 'AssemblyAI',
  account: keyed('ASSEMBLYAI_API_KEY', 'https://api.assemblyai.com/v2', (key) => ({
    authorization: key,
  })),
  services: {
    stt: {
      plan({ file, language_code, model: asked }) {
        const { model, price } = modelOf(asked, MODELS);
        const language = language_code && nameOf(language_code, '', 'language_code');
        return {
          price,
          async ask(door) {
            const uploaded = await objectOf(
              await door.send({
                method: 'POST',
                path: '/upload',
                headers: { 'content-type': 'application/octet-stream' },
                body: file.bytes,
              }),
            );
            const order = {
              audio_url: uploaded.upload_url,
              speech_models: [model],
              ...(language && { language_code: language }),
            };
            const begun = await objectOf(await door.send(jsonRequest('/transcript', order)));
            const heard = await whenDone(door, begun);
            return transcript(heard, heard.text ?? '');
          },
        };
      },
    },
  },
};

async function whenDone(door: VendorDoor, begun: Json): Promise<Json> {
  const { first, most } = LIMITS.marketplace.pollMs;
  let waitMs: number = first;
  let job = begun;
  const { id } = begun;
  if (typeof id !== 'string') throw new VendorFailed('began no transcript');
  while (job.status !== 'completed') {
    if (job.status === 'error') throw new VendorFailed(`could not: ${String(job.error)}`);
    await door.pause(waitMs);
    waitMs = Math.min(2 * waitMs, most);
    job = await objectOf(
      await door.send({ method: 'GET', path: `/transcript/${encodeURIComponent(id)}` }),
    );
  }
  return job;
}
