import type { VendorDoor } from './vendor-api.ts';

/** What `run` comes to. A job that brings nothing is deleted at its vendor, by DELETE of its path. */
export async function orAbandon<T>(
  door: Pick<VendorDoor, 'abandon'>,
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
