import type { VendorClient } from './vendor-api.ts';

/** Runs `run`, the wait for a job. When it fails, deletes the job at its vendor, by DELETE of its path. */
export async function abandonOnFailure<T>(
  door: Pick<VendorClient, 'abandon'>,
  path: string,
  run: () => Promise<T>,
): Promise<T> {
  try {
    return await run();
  } catch (error) {
    await door.abandon({ method: 'DELETE', path });
    throw error;
  }
}
