import { writeFileSync } from 'node:fs';

/** Writes a file that only its owner may read. Throws where a file of that name exists already. */
export function writeOnce(file: string, text: string): void {
  try {
    writeFileSync(file, text, { mode: 0o600, flag: 'wx', flush: true });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    throw new Error(
      `${file} exists and is kept: new secrets would void every key that its server has issued. Name another with --file.`,
    );
  }
}
