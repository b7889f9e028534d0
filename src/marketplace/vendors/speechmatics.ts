import { isObject, type Json } from '../../kernel/json.ts';
import { MODEL_LIMITS } from '../../models/limits.ts';
import { abandonOnFailure } from '../../models/providers/vendors/abandon-on-failure.ts';
import { objectOf } from '../../models/providers/vendors/read-answer.ts';
import { type VendorClient, VendorFailed } from '../../models/providers/vendors/vendor-api.ts';
import { formRequest } from '../../models/providers/vendors/write-request.ts';
import { LIST } from '../prices/price-list.ts';
import { transcript } from '../read-delivery.ts';
import { reportedSeconds } from '../tripwires/deviation.ts';
import { keyed, modelOf, nameOf, type Vendor } from '../vendor.ts';

/** Speechmatics: https://docs.speechmatics.com/speech-to-text/batch. A job is queried until it is done. */
export const speechmatics: Vendor = {
  name: 'speechmatics',
  title: 'Speechmatics',
  account: keyed('SPEECHMATICS_API_KEY', 'https://eu1.asr.api.speechmatics.com/v2', (key) => ({
    authorization: `Bearer ${key}`,
  })),
  services: {
    stt: {
      plan({ file, language_code, model: asked }) {
        const { model, price } = modelOf(asked, { standard: LIST.speechmatics.stt });
        const language = nameOf(language_code, 'en', 'language_code');
        return {
          price,
          async ask(door) {
            const config = JSON.stringify({
              type: 'transcription',
              transcription_config: { language, operating_point: model },
            });
            const form = await formRequest('/jobs', door, { config }, file, 'data_file');
            const { id } = await objectOf(await door.send(form));
            if (typeof id !== 'string') throw new VendorFailed('began no job');
            const path = `/jobs/${encodeURIComponent(id)}`;
            // A job that runs is stopped only with `force`.
            return abandonOnFailure(door, `${path}?force=true`, async () => {
              await untilDone(door, path);
              const written = { method: 'GET', path: `${path}/transcript?format=json-v2` } as const;
              const heard = await objectOf(await door.send(written));
              const { job } = heard;
              const seconds = reportedSeconds(isObject(job) ? job.duration : undefined);
              return transcript(heard, textOf(heard), seconds);
            });
          },
        };
      },
    },
  },
};

async function untilDone(door: VendorClient, path: string): Promise<void> {
  const { first, most } = MODEL_LIMITS.vendor.pollMs;
  for (let waitMs: number = first; ; waitMs = Math.min(2 * waitMs, most)) {
    const { job } = await objectOf(await door.send({ method: 'GET', path: `${path}?wait=0` }));
    const status = isObject(job) ? job.status : undefined;
    if (status === 'done') return;
    if (status !== 'running') throw new VendorFailed(`ended the job as ${String(status)}`);
    await door.pause(waitMs);
  }
}

/**
 * Returns the text of the results, with each punctuation mark attached to the word before it. Undefined when the answer has no
 * results.
 */
function textOf({ results }: Json): string | undefined {
  if (!Array.isArray(results)) return undefined;
  let text = '';
  for (const result of results) {
    if (!isObject(result)) continue;
    const [best] = Array.isArray(result.alternatives) ? result.alternatives : [];
    const word = isObject(best) ? best.content : undefined;
    if (typeof word !== 'string') continue;
    const isMark = result.type === 'punctuation' && result.attaches_to !== 'next';
    text += text === '' || isMark ? word : ` ${word}`;
  }
  return text;
}
