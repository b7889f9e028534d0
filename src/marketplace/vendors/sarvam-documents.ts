import { isObject, type Json } from '../../kernel/json.ts';
import { headOf } from '../../kernel/storable.ts';
import { objectOf } from '../../models/providers/vendors/read-answer.ts';
import { type VendorClient, VendorFailed } from '../../models/providers/vendors/vendor-api.ts';
import { jsonRequest } from '../../models/providers/vendors/write-request.ts';
import { EGRESS_LIMITS } from '../../platform/egress/limits.ts';
import { X402_LIMITS } from '../../x402/limits.ts';
import type { DocumentService, JobNews } from '../documents/document-service.ts';
import { LIST } from '../prices/price-list.ts';

const BASE = '/doc-digitization/job/v1';

/**
 * Documents at Sarvam: https://docs.sarvam.ai/api-reference-docs/document-intelligence/initialise, and beside it
 * get-upload-links, start, get-status and get-download-links. The vendor has a newer API that makes and starts a job with one
 * request. When the answer of that request is lost, it is unknown whether the job has begun, so that API is not used here.
 */
export const sarvamDocuments: DocumentService = {
  price: LIST.sarvam.doc,
  languages: [
    'hi-IN',
    'en-IN',
    'bn-IN',
    'gu-IN',
    'kn-IN',
    'ml-IN',
    'mr-IN',
    'or-IN',
    'pa-IN',
    'ta-IN',
    'te-IN',
    'ur-IN',
    'as-IN',
    'bodo-IN',
    'doi-IN',
    'ks-IN',
    'kok-IN',
    'mai-IN',
    'mni-IN',
    'ne-IN',
    'sa-IN',
    'sat-IN',
    'sd-IN',
  ],
  async create(door, { format, language }) {
    const parameters = { output_format: format, ...(language !== null && { language }) };
    const { job_id: id } = await ask(door, BASE, { job_parameters: parameters });
    // The id goes into the paths of later requests, so only characters without a meaning in paths are allowed.
    if (typeof id === 'string' && /^[\w-]{1,128}$/.test(id)) return id;
    throw new VendorFailed('began no job');
  },
  async uploadTo(door, vendorJobId, fileName) {
    const files = [fileName];
    const { upload_urls: places } = await ask(door, `${BASE}/upload-files`, {
      job_id: vendorJobId,
      files,
    });
    return {
      url: addressIn(isObject(places) ? places[fileName] : undefined),
      // The vendor's storage is Azure Blob Storage, which refuses a file without this header.
      headers: [['x-ms-blob-type', 'BlockBlob']],
    };
  },
  async start(door, vendorJobId) {
    await ask(door, `${BASE}/${vendorJobId}/start`, {});
  },
  async look(door, vendorJobId) {
    const path = `${BASE}/${vendorJobId}/status`;
    return newsIn(await objectOf(await door.send({ method: 'GET', path })));
  },
  async resultAt(door, vendorJobId) {
    const said = await ask(door, `${BASE}/${vendorJobId}/download-files`, {});
    const [first] = isObject(said.download_urls) ? Object.values(said.download_urls) : [];
    return addressIn(first);
  },
};

const ask = async (door: VendorClient, path: string, body: Json): Promise<Json> =>
  objectOf(await door.send(jsonRequest(path, body)));

function addressIn(place: unknown): string {
  const url = isObject(place) ? place.file_url : undefined;
  if (
    typeof url === 'string' &&
    url.length <= EGRESS_LIMITS.address.urlChars &&
    URL.canParse(url)
  ) {
    return url;
  }
  throw new VendorFailed('named no place for a file');
}

function newsIn({ error_message: why, job_details: details, job_state: state }: Json): JobNews {
  const [detail] = Array.isArray(details) ? details : [];
  const told = isObject(detail) ? detail : {};
  switch (state) {
    case 'Accepted':
    case 'Pending':
      return { kind: 'waiting' };
    case 'Running':
      return { kind: 'running' };
    case 'Completed':
    case 'PartiallyCompleted': {
      const pages = { total: countOf(told.total_pages), succeeded: countOf(told.pages_succeeded) };
      return { kind: 'done', pages };
    }
    case 'Failed': {
      const [reason = ''] = [why, told.error_message, told.error_code].filter(isText);
      return { kind: 'failed', reason: headOf(reason, X402_LIMITS.reasonChars) };
    }
    default:
      throw new VendorFailed('answered no state of a job');
  }
}

const isText = (value: unknown): value is string => typeof value === 'string' && value !== '';

const countOf = (value: unknown): number | undefined =>
  typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 ? value : undefined;
