/**
 * Ends the process with one sentence where Node.js is none of those that this server and its binaries are made for, or
 * where their C library is too old. It runs before anything else, in plain JavaScript: on such a machine a dependency
 * fails first, with a riddle.
 */
const OLDEST_MINOR = { 20: 19, 22: 0, 24: 0, 26: 0 };
/** The socket library's binaries for newer ones are built against this. */
const NEWER = { fromMajor: 24, glibc: 38 };

const { node } = process.versions;
const [major, minor] = node.split('.').map(Number);
const oldest = OLDEST_MINOR[major];
if (oldest === undefined || minor < oldest) {
  end(`This server needs Node.js 20.19, 22, 24 or 26; this is ${node}.`);
} else if (major >= NEWER.fromMajor) {
  const { glibcVersionRuntime: glibc } = process.report.getReport().header;
  if (glibc !== undefined && Number(glibc.split('.')[1]) < NEWER.glibc) {
    end(
      `On Node.js ${major} this server needs glibc 2.${NEWER.glibc}; this is ${glibc}: use Node.js 20.19 or 22 here.`,
    );
  }
}

function end(sentence) {
  process.stderr.write(`${sentence}\n`);
  process.exit(1);
}
