/** Every metric of every program. Its name ends with its unit, if it has one; a counter is shown with `_total` behind that. */

type MetricType = 'counter' | 'gauge' | 'histogram' | 'info'

/** Which programs have it. */
type Owner = 'master' | 'minion' | 'api'

export interface Metric<Labels extends readonly string[] = readonly string[]> {
  readonly type: MetricType
  readonly of: readonly Owner[]
  readonly labels: Labels
  readonly help: string
}

type Kind<T extends MetricType> = <const L extends readonly string[]>(
  of: readonly Owner[],
  labels: L,
  help: string,
) => Metric<L> & { readonly type: T }

const kind =
  <T extends MetricType>(type: T): Kind<T> =>
  (of, labels, help) => ({ type, of, labels, help })

const [counter, gauge, histogram, info] = [
  kind('counter'),
  kind('gauge'),
  kind('histogram'),
  kind('info'),
] as const

const master = ['master'] as const
const minion = ['minion'] as const
const api = ['api'] as const
const daemons = ['master', 'minion'] as const
const every = ['master', 'minion', 'api'] as const

/**
 * A label `fun` is a function's name, `several` for a job with more than one, or `other` for what is no such name and for
 * all that come after the first {@link MOST_SERIES} of a process.
 */
export const metrics = {
  salt_master_jobs_published: counter(master, [], 'Jobs that were stored and published.'),
  salt_master_returns: counter(master, ['success'], 'Returns that were stored; success is true or false.'),
  salt_master_returns_repeated: counter(
    master,
    ['kind'],
    'Returns that were there already: duplicate is the same again, conflict another result.',
  ),
  salt_master_returns_refused: counter(
    master,
    [],
    'Returns, and events about jobs, of minions that the job was not sent to.',
  ),
  salt_master_job_duration_seconds: histogram(
    master,
    ['fun'],
    'From the time in the job id to the return of one minion on disk. Returns of jobs older than a day are left out.',
  ),
  salt_master_job_failures: counter(master, ['fun'], 'Returns that tell of a failure, by function.'),
  salt_master_request_duration_seconds: histogram(
    master,
    ['command'],
    'Requests of minions and clients, by command, from a worker taking them to its answer.',
  ),
  salt_master_refusals: counter(
    master,
    ['command', 'reason'],
    "Requests of clients that were refused; the reason is the name of Salt's error.",
  ),
  salt_master_logins: counter(master, ['result'], 'Tokens that were asked for: granted or refused.'),
  salt_master_sign_ins: counter(
    master,
    ['result'],
    'Sign-ins of minions by what became of them: accept, pend, reject, denied, full, …',
  ),
  salt_master_requests_held: gauge(master, ['process'], 'Requests a worker has and has not answered yet.'),
  salt_master_requests_waiting: gauge(master, [], 'Requests that no worker has taken yet.'),
  salt_master_requests_turned_away: counter(
    master,
    [],
    'Requests answered with a refusal for want of room, or because they had cost two workers.',
  ),
  salt_master_process_restarts: counter(
    master,
    ['process'],
    'Processes of the master that were started again.',
  ),
  salt_master_workers_stuck: counter(master, [], 'Workers that did not answer and were replaced.'),
  salt_master_publications_dropped: counter(
    master,
    [],
    'Times a minion did not keep up with publications and missed some.',
  ),
  salt_master_subscribers: gauge(master, [], 'Connections to the publish port that listen.'),
  salt_master_minions_connected: gauge(
    master,
    [],
    'Accepted minions that are connected to the publish port.',
  ),
  salt_master_keys: gauge(master, ['state'], 'Keys of minions: accepted, pending, rejected, denied.'),
  salt_master_batches_open: gauge(master, [], 'Batches the master runs that are not over.'),
  salt_master_runners_running: gauge(master, [], 'Runners and wheel functions in processes of their own.'),
  salt_master_job_cache_bytes: gauge(master, [], 'Room the job cache uses.'),

  salt_events_fired: counter(daemons, ['kind'], 'Events on the bus of the daemon, by what they tell of.'),
  salt_event_lag_seconds: histogram(
    daemons,
    [],
    'From when an event was fired until the bus has written it to the readers that keep up; of a few events a second.',
  ),
  salt_event_readers: gauge(daemons, [], 'Programs that listen to the event bus.'),
  salt_event_backlog_events: gauge(daemons, [], 'Events the slowest of them has still to get.'),
  salt_event_readers_cut_off: counter(daemons, [], 'Readers that fell too far behind and were cut off.'),

  salt_returner_queued: gauge(daemons, ['returner'], 'What waits on disk to be written to a store.'),
  salt_returner_dead: gauge(daemons, ['returner'], 'What was put aside because the store never took it.'),
  salt_returner_oldest_seconds: gauge(daemons, ['returner'], 'How long the first in the queue has waited.'),
  salt_returner_written: counter(daemons, ['returner'], 'What the store has taken.'),
  salt_returner_up: gauge(
    daemons,
    ['returner'],
    '1 while the store takes what is written, 0 while it does not.',
  ),

  salt_minion_jobs_received: counter(minion, [], 'Jobs that were meant for this minion and new.'),
  salt_minion_jobs_running: gauge(minion, [], 'Jobs that run.'),
  salt_minion_jobs_queued: gauge(minion, [], 'Jobs that wait for their turn (process_count_max).'),
  salt_minion_jobs_finished: counter(
    minion,
    ['outcome'],
    'Jobs that are over: success, failure, or refused before they began.',
  ),
  salt_minion_job_duration_seconds: histogram(
    minion,
    ['fun'],
    'From the arrival of a job to its return on disk, by function.',
  ),
  salt_minion_job_failures: counter(minion, ['fun'], 'Jobs that failed or were refused, by function.'),
  salt_minion_spooled_returns: gauge(minion, [], 'Returns on disk that a master has still to acknowledge.'),
  salt_minion_master_connected: gauge(
    minion,
    ['master'],
    "1 while there is a connection to the master's publish port, 0 while there is none.",
  ),
  salt_minion_master_connections: counter(
    minion,
    ['master'],
    'Times that connection was made; each after the first is a reconnection.',
  ),
  salt_minion_job_processes_started: counter(minion, [], 'Job processes that were started.'),
  salt_minion_job_processes_died: counter(minion, [], 'Job processes that ended while they ran a job.'),

  salt_api_request_duration_seconds: histogram(
    api,
    ['method', 'route', 'status'],
    'Requests by route (as it is declared) and status; streams end when they are closed.',
  ),
  salt_api_requests_open: gauge(api, [], 'Requests that are not answered yet, waits and streams among them.'),
  salt_api_readers: gauge(api, [], 'Who reads events, by server-sent events or websockets.'),
  salt_api_readers_dropped: counter(api, [], 'Of those, who did not keep up and was dropped.'),
  salt_api_limits_hit: counter(
    api,
    ['limit'],
    'Requests that were refused because of a limit, by its option.',
  ),

  salt_process_up: gauge(every, ['process'], '1 if the process answered when it was asked for its metrics.'),
  salt_process_cpu_seconds: counter(every, ['process'], 'Processor time.'),
  salt_process_resident_memory_bytes: gauge(every, ['process'], 'Resident memory.'),
  salt_process_heap_bytes: gauge(every, ['process'], 'Objects of JavaScript.'),
  salt_process_event_loop_busy_seconds: counter(every, ['process'], 'Time the event loop was at work.'),
  salt_process_event_loop_lag_seconds: gauge(
    every,
    ['process'],
    'How late a timer was at worst since it was last asked for.',
  ),
  salt_process_start_time_seconds: gauge(every, ['process'], 'When the process began, since 1970.'),
  salt_build: info(every, ['program', 'version', 'node'], 'What runs.'),
} as const satisfies Readonly<Record<string, Metric>>

export type MetricName = keyof typeof metrics
type NamesOf<T extends MetricType> = {
  [N in MetricName]: (typeof metrics)[N]['type'] extends T ? N : never
}[MetricName]
export type CounterName = NamesOf<'counter'>
export type HistogramName = NamesOf<'histogram'>
/** What may be read when somebody asks. */
export type ReadName = NamesOf<'counter' | 'gauge' | 'info'>

type Texts<L extends readonly unknown[]> = { readonly [K in keyof L]: string }

/** Values of its labels, in the order in which they are declared. */
export type LabelsOf<N extends MetricName> = Texts<(typeof metrics)[N]['labels']>

/** Upper bounds, in seconds: from an answer within the process to a job of an hour. */
export const BUCKETS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 3600] as const

/** Series of one metric in one process; what comes after them is counted under labels `other`. */
export const MOST_SERIES = 200

/** `seconds` or `bytes`, which names end with. */
export const unitOf = (name: string): string | undefined => /_(seconds|bytes)$/.exec(name)?.[1]
