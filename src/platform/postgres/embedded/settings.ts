/** Settings on the command line, where they override every configuration file and ALTER SYSTEM. */
export const SERVER_SETTINGS: Readonly<Record<string, string>> = {
  // A confirmed commit survives a power cut.
  fsync: 'on',
  synchronous_commit: 'on',
  full_page_writes: 'on',
  // The server is reached through the socket only.
  listen_addresses: '',
  port: '5432',
  unix_socket_permissions: '0700',
  // A small server: one process with its pools, beside the command-line tools.
  max_connections: '24',
  shared_buffers: '64MB',
  // After a checkpoint the next writes carry whole pages: under load checkpoints should be rare.
  max_wal_size: '1GB',
  wal_level: 'minimal',
  max_wal_senders: '0',
  io_method: 'sync',
  jit: 'off',
  // The supervisor reads these messages.
  log_destination: 'stderr',
  logging_collector: 'off',
  log_checkpoints: 'off',
  // A failed statement's text and rows must not leave the database.
  log_min_error_statement: 'panic',
  log_error_verbosity: 'terse',
  log_line_prefix: '',
  log_timezone: 'UTC',
  lc_messages: 'C',
  TimeZone: 'UTC',
};

export const INITDB_OPTIONS: readonly string[] = [
  '--username=app',
  '--auth=trust',
  '--encoding=UTF8',
  // The database does not depend on the locales of the machine.
  '--locale=C',
  '--locale-provider=builtin',
  '--builtin-locale=C.UTF-8',
];

/** Major version of the binaries; data of another version is refused. */
export const POSTGRES_MAJOR = '18';
