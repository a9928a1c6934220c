import { userInfo } from 'node:os'
import {
  choice,
  count,
  entries,
  flag,
  integer,
  later,
  list,
  type Mapping,
  map,
  path,
  port,
  text,
  value,
} from './option.ts'

/** From most to least talkative, as Salt spells them. */
const logLevels = [
  'all',
  'garbage',
  'trace',
  'debug',
  'profile',
  'info',
  'warning',
  'error',
  'critical',
  'quiet',
] as const

/** The name of whoever runs this process; Salt's default for `user`. */
function currentUser(): string {
  try {
    return userInfo().username
  } catch {
    return String(process.getuid?.() ?? 'root')
  }
}

/** Options a master and a minion understand alike. Names, meaning and defaults are Salt's unless the line says otherwise. */
export const commonOptions = {
  user: text(currentUser(), 'The user the daemon runs as.'),
  root_dir: text('/', 'Put in front of every option that is a path.'),
  ipc_mode: choice(['ipc', 'tcp'], 'ipc', 'Event bus over unix sockets (ipc) or loopback ports (tcp).'),
  ipv6: flag(false, 'Use IPv6.'),
  transport: text('zeromq', 'What carries the messages.'),
  publish_port: port(4505, 'Port of publications.'),
  include: value<string | readonly string[] | undefined>(
    { type: ['string', 'array'], items: { type: 'string' } },
    undefined,
    'Further files, relative to the file that names them; shell patterns are allowed.',
  ),
  hash_type: choice(
    ['md5', 'sha1', 'sha224', 'sha256', 'sha384', 'sha512'],
    'sha256',
    'Digest of fingerprints, tokens and files.',
  ),
  keysize: integer(2048, 'Bits of a new RSA key.', { minimum: 2048, maximum: 8192 }),
  permissive_pki_access: flag(false, 'Let the group read the key directory.'),
  minimum_auth_version: integer(3, 'Oldest generation of the protocol to speak.', { minimum: 0, maximum: 3 }),
  sign_pub_messages: flag(true, 'Sign publications; on a minion: refuse unsigned ones (Salt: false there).'),
  zmq_filtering: flag(false, 'Send a publication only to the minions it is for.'),
  zmq_backlog: count(1000, 'Connections the system queues.'),
  tcp_keepalive: flag(true, 'Let the system probe idle connections.'),
  tcp_keepalive_idle: integer(300, 'Seconds of silence before the first probe.', { minimum: -1 }),
  tcp_keepalive_cnt: integer(-1, 'Lost probes that end a connection; -1: as the system.', { minimum: -1 }),
  tcp_keepalive_intvl: integer(-1, 'Seconds between probes; -1: as the system.', { minimum: -1 }),
  tcp_pub_port: port(4510, 'Minion events out, with ipc_mode tcp.'),
  tcp_pull_port: port(4511, 'Minion events in, with ipc_mode tcp.'),
  max_event_size: integer(1_048_576, 'Bytes of an event; larger values are trimmed.', { minimum: 1024 }),
  request_channel_timeout: integer(60, 'Seconds to wait for the answer to a request.', { minimum: 1 }),
  request_channel_tries: integer(3, 'Times a request is sent.', { minimum: 1 }),

  log_level: choice(logLevels, 'warning', 'What is written to the terminal.'),
  log_level_logfile: {
    ...value<(typeof logLevels)[number] | undefined>(
      { type: 'string', enum: logLevels },
      undefined,
      'What is written to the log file; log_level if not given.',
    ),
    lowercase: true as const,
  },
  log_fmt_console: text('[%(levelname)-8s] %(message)s', 'A line on the terminal, Python style.'),
  log_fmt_logfile: text(
    '%(asctime)s,%(msecs)03d [%(name)-17s:%(lineno)-4d][%(levelname)-8s][%(process)d] %(message)s',
    'A line in the log file, Python style.',
  ),
  log_datefmt: text('%H:%M:%S', 'Time on the terminal, strftime style.'),
  log_datefmt_console: text(undefined, 'The same; wins over log_datefmt.'),
  log_datefmt_logfile: text('%Y-%m-%d %H:%M:%S', 'Time in the log file.'),
  log_granular_levels: map('Level by component, for instance {channel: debug}.'),

  extension_modules: path(
    '',
    'Where functions synchronised from the master are kept; <cachedir>/extmods if empty.',
  ),
  module_dirs: list([], 'Directories with further execution modules.'),
  runner_dirs: list([], 'Directories with further runners.'),
  returner_dirs: list([], 'Directories with further returners.'),
  outputter_dirs: list([], 'Directories with further outputters.'),
  grains_dirs: list([], 'Directories with further grains.'),
  matchers_dirs: list([], 'Directories with further matchers.'),
  states_dirs: later(list([], 'Directories with further states.')),
  render_dirs: later(list([], 'Directories with further renderers.')),
  wheel_dirs: later(list([], 'Directories with further wheel modules.')),
  utils_dirs: later(list([], 'Directories with further helpers.')),
  extmod_whitelist: later(map('Kinds and names that may be synchronised.')),
  extmod_blacklist: later(map('Kinds and names that may not be synchronised.')),
  clean_dynamic_modules: later(flag(true, 'Remove synchronised functions that are gone.')),
  enable_zip_modules: later(flag(false, 'Load modules from archives.')),

  nodegroups: value<Mapping>(
    {
      type: 'object',
      additionalProperties: { type: ['string', 'array'], items: { type: 'string' } },
    },
    {},
    'Names for compound targets.',
  ),
  file_roots: later(
    map('Directories of the file server, by environment.', { base: ['/srv/salt', '/srv/spm/salt'] }),
  ),
  pillar_roots: later(
    map('Directories of the pillar, by environment.', { base: ['/srv/pillar', '/srv/spm/pillar'] }),
  ),
  fileserver_backend: later(list(['roots'], 'Where the file server takes files from.')),
  ext_pillar: later(entries('External pillars.')),
  schedule: later(map('Jobs that run by the clock.')),
  engines: later(entries('Processes that run beside the daemon.')),
  state_output: text('full', 'How much the highstate outputter shows.'),
  state_verbose: flag(true, 'Show states that changed nothing.'),
  state_events: later(flag(false, 'An event for each state.')),
  failhard: later(flag(false, 'Stop at the first state that fails.')),
  output: text(undefined, 'The outputter if neither user nor function names one.'),
  color: flag(true, 'Colours on a terminal.'),
  ipc_write_buffer: later(
    value<number | string>({ type: ['integer', 'string'] }, 0, 'Bytes an IPC writer may queue.'),
  ),
  sock_pool_size: later(count(1, 'Sockets used in turn for requests.')),
  fips_mode: later(flag(false, 'Refuse what FIPS forbids.')),
} as const
