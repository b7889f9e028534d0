import { createServer, type ServerResponse } from 'node:http';
import { listenOnLoopback } from '../listen-on-loopback.ts';
import { zipOf } from '../zip.ts';
import { KEY } from './vendor-peer.ts';

/** A question of the protocol, in the order of a job. */
export type DocumentStep = 'create' | 'links' | 'upload' | 'start' | 'status' | 'results' | 'fetch';

/** What the peer does with the next question of this kind. */
export type DocumentFault = {
  readonly step: DocumentStep;
  /** `lost`: it does what it is told, and the answer never comes. */
  readonly kind: 'status' | 'silence' | 'cut' | 'lost';
  readonly status?: number;
};

type PeerJob = {
  readonly id: string;
  readonly parameters: Record<string, unknown>;
  fileName: string;
  file: Buffer | undefined;
  starts: number;
  looks: number;
};

export type DocumentPeer = AsyncDisposable & {
  readonly baseUrl: string;
  readonly jobs: PeerJob[];
  readonly faults: DocumentFault[];
  /** What every job does: knobs that a test turns. */
  readonly does: {
    /** Pages in the archive, and those that it says were made, of so many in the document. */
    delivers: number;
    says: number | undefined;
    total: number;
    /** How often it is asked before it is done. */
    looks: number;
    fails: string | undefined;
    neverEnds: boolean;
    /** In place of its archive. */
    archive: Buffer | undefined;
    /** Where it says that files are to be put and to be found, in place of its own storage. */
    storage: string | undefined;
  };
};

const USUAL = {
  delivers: 3,
  says: 3 as number | undefined,
  total: 3,
  looks: 1,
  neverEnds: false,
  fails: undefined,
  archive: undefined,
  storage: undefined,
};

/** Turns all knobs back. */
export const asUsual = (peer: DocumentPeer): void => {
  Object.assign(peer.does, USUAL);
  peer.faults.length = 0;
};

/** An archive as the vendor makes it: the text, and the layout of each page. */
export const archiveOf = (pages: number, name = 'document.md'): Buffer =>
  zipOf({
    [name]: '# A document\n\nWith text.\n',
    ...Object.fromEntries(
      Array.from({ length: pages }, (_, index) => [
        `metadata/page_${String(index + 1).padStart(3, '0')}.json`,
        JSON.stringify({ page_num: index + 1, blocks: [] }),
      ]),
    ),
  });

/** A vendor that digitizes documents in jobs, as https://docs.sarvam.ai documents it, with its storage on the same port. */
export async function startDocumentPeer(): Promise<DocumentPeer> {
  const jobs: PeerJob[] = [];
  const faults: DocumentFault[] = [];
  const does: DocumentPeer['does'] = { ...USUAL };
  let origin = '';

  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const body = Buffer.concat(chunks);
    const path = request.url ?? '';
    const step = stepOf(request.method ?? '', path);
    const at = faults.findIndex((fault) => fault.step === step);
    const [fault] = at < 0 ? [] : faults.splice(at, 1);
    if (fault?.kind === 'silence') return;
    if (fault?.kind === 'cut') return cut(response);
    if (fault?.kind === 'status') {
      const status = fault.status ?? 500;
      return say(response, status, { error: { message: `told to answer ${status} ${KEY}` } });
    }
    const isStorage = step === 'upload' || step === 'fetch';
    // No credential goes to the storage, and nothing is served without one elsewhere.
    const key = request.headers['api-subscription-key'];
    if (step === undefined || key !== (isStorage ? undefined : KEY)) {
      return say(response, 403, { error: { message: 'not opened' } });
    }
    const id = /([\w-]+-0000)/.exec(step === 'links' ? body.toString() : path)?.[1];
    const job = jobs.find((each) => each.id === id);
    const answer = serve(step, job, body, request.headers);
    if (fault?.kind === 'lost') return;
    if (Buffer.isBuffer(answer)) response.writeHead(200).end(answer);
    else say(response, answer.status, answer.body);
  });

  function serve(
    step: DocumentStep,
    job: PeerJob | undefined,
    body: Buffer,
    headers: NodeJS.Dict<string | string[]>,
  ): Buffer | { status: number; body: unknown } {
    if (step === 'create') {
      const { job_parameters: parameters } = JSON.parse(body.toString());
      if (!['md', 'html'].includes(parameters?.output_format)) return { status: 400, body: {} };
      const id = `20260726_${String(jobs.length + 1).padStart(8, '0')}-0000`;
      jobs.push({ id, parameters, fileName: '', file: undefined, starts: 0, looks: 0 });
      const made = { job_id: id, job_state: 'Accepted', storage_container_type: 'Azure_V1' };
      return { status: 202, body: { ...made, job_parameters: parameters } };
    }
    if (job === undefined) return { status: 404, body: { error: { message: 'no such job' } } };
    return ofJob(step, job, body, headers);
  }

  function ofJob(
    step: Exclude<DocumentStep, 'create'>,
    job: PeerJob,
    body: Buffer,
    headers: NodeJS.Dict<string | string[]>,
  ): Buffer | { status: number; body: unknown } {
    const storage = does.storage ?? origin;
    const common = { job_id: job.id, storage_container_type: 'Azure_V1' };
    switch (step) {
      case 'links': {
        const { files } = JSON.parse(body.toString());
        if (files.length !== 1 || !/\.(pdf|zip)$/.test(files[0])) return { status: 400, body: {} };
        job.fileName = files[0];
        const place = { file_url: `${storage}/storage/${job.id}/in?sig=abc`, file_metadata: null };
        const links = { ...common, job_state: 'Accepted', upload_urls: { [files[0]]: place } };
        return { status: 200, body: links };
      }
      case 'upload':
        if (headers['x-ms-blob-type'] !== 'BlockBlob') return { status: 400, body: {} };
        job.file = body;
        return { status: 201, body: {} };
      case 'start':
        if (job.file === undefined) return { status: 422, body: {} };
        job.starts++;
        return { status: 202, body: statusOf(job, 'Accepted') };
      case 'status':
        return { status: 200, body: statusOf(job, stateOf(job)) };
      case 'results': {
        if (stateOf(job) === 'Running') return { status: 400, body: {} };
        const place = { file_url: `${storage}/storage/${job.id}/out?sig=abc`, file_metadata: null };
        const state = { job_state: stateOf(job), download_urls: { 'document.zip': place } };
        return { status: 200, body: { ...common, ...state } };
      }
      case 'fetch': {
        const name = `document.${job.parameters.output_format}`;
        return does.archive ?? archiveOf(does.delivers, name);
      }
    }
  }

  function stateOf(job: PeerJob): string {
    if (job.starts === 0) return job.file === undefined ? 'Accepted' : 'Pending';
    if (does.neverEnds || job.looks <= does.looks) return 'Running';
    if (does.fails !== undefined) return 'Failed';
    return does.says === does.total ? 'Completed' : 'PartiallyCompleted';
  }

  function statusOf(job: PeerJob, state: string) {
    if (job.starts > 0) job.looks++;
    const counts = { total_pages: does.total, pages_succeeded: does.says };
    const detail = { ...counts, pages_failed: 0, state, page_errors: [] };
    const errors = { error_message: does.fails ?? '', job_details: [detail] };
    return { job_id: job.id, job_state: state, total_files: 1, ...errors };
  }

  const { baseUrl: below, ...peer } = await listenOnLoopback(server);
  const baseUrl = new URL(below).origin;
  origin = baseUrl;
  return { baseUrl, jobs, faults, does, [Symbol.asyncDispose]: () => peer[Symbol.asyncDispose]() };
}

function stepOf(method: string, path: string): DocumentStep | undefined {
  const steps: readonly (readonly [RegExp, DocumentStep])[] = [
    [/^POST \/doc-digitization\/job\/v1$/, 'create'],
    [/^POST \/doc-digitization\/job\/v1\/upload-files$/, 'links'],
    [/^PUT \/storage\/[\w-]+\/in\?sig=abc$/, 'upload'],
    [/^POST \/doc-digitization\/job\/v1\/[\w-]+\/start$/, 'start'],
    [/^GET \/doc-digitization\/job\/v1\/[\w-]+\/status$/, 'status'],
    [/^POST \/doc-digitization\/job\/v1\/[\w-]+\/download-files$/, 'results'],
    [/^GET \/storage\/[\w-]+\/out\?sig=abc$/, 'fetch'],
  ];
  return steps.find(([pattern]) => pattern.test(`${method} ${path}`))?.[1];
}

function say(response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
}

function cut(response: ServerResponse): void {
  response.writeHead(200, { 'content-type': 'application/json', 'content-length': '1000' });
  response.write('{"job_id"');
  setImmediate(() => response.destroy());
}
