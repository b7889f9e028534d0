import { spawn } from 'node:child_process';

/** Fixed environment of PostgreSQL's programs: they neither need nor get this server's secrets. */
export const PROGRAM_ENVIRONMENT = {
  PATH: '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin',
  LC_ALL: 'C',
  TZ: 'UTC',
  // Without these a backend returns its memory to the system after each sql transaction and requests it again for the next.
  MALLOC_TRIM_THRESHOLD_: String(16 * 1024 * 1024),
  MALLOC_TOP_PAD_: String(1024 * 1024),
} as const;

const KEPT_OUTPUT_CHARS = 4_000;

export type ProgramResult = { readonly code: number | null; readonly output: string };

/** Runs a program to its end and returns its exit code and the tail of its output. A missing program has code 127. */
export function runProgram(
  command: readonly string[],
  { as, handles }: Pick<FolderPlace, 'as' | 'handles'> = { as: {}, handles: [] },
): Promise<ProgramResult> {
  return new Promise((resolve) => {
    const [program = '', ...args] = command;
    const child = spawn(program, args, {
      ...as,
      cwd: '/',
      env: PROGRAM_ENVIRONMENT,
      stdio: ['ignore', 'pipe', 'pipe', ...handles],
    });
    let output = '';
    const keep = (chunk: Buffer) => {
      output = (output + chunk.toString()).slice(-KEPT_OUTPUT_CHARS);
    };
    child.stdout?.on('data', keep);
    child.stderr?.on('data', keep);
    child.on('error', (error) => resolve({ code: 127, output: error.message }));
    child.on('close', (code) => resolve({ code, output: output.trim() }));
  });
}

/** Path of a folder for a program that is started now, and the prefix, ids and handles that the start needs for that path. */
export type FolderPlace = {
  readonly prefix: readonly string[];
  readonly path: string;
  readonly as: { readonly uid?: number; readonly gid?: number };
  /** File descriptors that the program gets after the three standard descriptors. */
  readonly handles: readonly number[];
};
