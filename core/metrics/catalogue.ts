/** Every metric of every program. A name ends with the unit, if there is one. Counters are exposed with the suffix `_total`. */

type MetricType = 'counter' | 'gauge' | 'histogram' | 'info'

/** The programs that have a metric. */
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
 * All metrics by name. The label `fun` is the name of a function; `several` for a job with more than one; `other` for an invalid
 * name, and for all names after the first {@link MAX_SERIES} of a process.
 */
export const metrics = {
  salt_master_jobs_published: counter(master, [], 'Jobs that were stored and published.'),
  salt_master_returns: counter(master, ['success'], 'Returns that were stored; success is true or false.'),
  salt_master_returns_repeated: counter(
    master,
    ['kind'],
    'Returns that were stored already: duplicate is the same return again, conflict a different one.',
  ),
  salt_master_returns_refused: counter(
    master,
    [],
    'Returns and job events from minions that the job was not sent to.',
  ),
  salt_master_job_duration_seconds: histogram(
    master,
    ['fun'],
    'Time from the job id to the return of one minion on disk. Returns of jobs older than a day are left out.',
  ),
  salt_master_job_failures: counter(master, ['fun'], 'Returns that report a failure, by function.'),
  salt_master_request_duration_seconds: histogram(
    master,
    ['command'],
    'Time from a worker taking a request to its answer, by command.',
  ),
  salt_master_refusals: counter(
    master,
    ['command', 'reason'],
    "Requests of clients that were refused; the reason is the name of Salt's error.",
  ),
  salt_master_logins: counter(master, ['result'], 'Requests for tokens: granted or refused.'),
  salt_master_sign_ins: counter(
    master,
    ['result'],
    'Sign-ins of minions by their result: accept, pend, reject, denied, full, …',
  ),
  salt_master_requests_held: gauge(master, ['process'], 'Requests that a worker has not answered yet.'),
  salt_master_requests_waiting: gauge(master, [], 'Requests that no worker has taken yet.'),
  salt_master_requests_turned_away: counter(
    master,
    [],
    'Requests refused because the queue was full, or because two workers had died of them.',
  ),
  salt_master_process_restarts: counter(master, ['process'], 'Restarts of processes of the master.'),
  salt_master_workers_stuck: counter(master, [], 'Workers that did not answer and were replaced.'),
  salt_master_publications_dropped: counter(
    master,
    [],
    'Times a minion did not keep up with publications and missed some.',
  ),
  salt_master_subscribers: gauge(master, [], 'Connections that subscribe to the publish port.'),
  salt_master_minions_connected: gauge(
    master,
    [],
    'Accepted minions that are connected to the publish port.',
  ),
  salt_master_keys: gauge(master, ['state'], 'Keys of minions: accepted, pending, rejected, denied.'),
  salt_master_jobs_waiting: gauge(master, [], 'Jobs with deliver_within that minions may still take.'),
  salt_master_deliveries: counter(
    master,
    ['state'],
    'Minions that have taken a job with deliver_within (delivered), or do not get it any more (expired, cancelled).',
  ),
  salt_master_batches_open: gauge(master, [], 'Batches that the master is running.'),
  salt_master_runners_running: gauge(
    master,
    [],
    'Runners and wheel functions that run in separate processes.',
  ),
  salt_master_job_cache_bytes: gauge(master, [], 'Size of the job cache in use.'),

  salt_events_fired: counter(daemons, ['kind'], 'Events on the bus of the daemon, by kind.'),
  salt_event_lag_seconds: histogram(
    daemons,
    [],
    'Time from firing an event to writing it to the readers that keep up; measured for a few events a second.',
  ),
  salt_event_readers: gauge(daemons, [], 'Programs that listen to the event bus.'),
  salt_event_backlog_events: gauge(daemons, [], 'Events that the slowest reader has not received yet.'),
  salt_event_readers_cut_off: counter(
    daemons,
    [],
    'Readers that were disconnected because they fell too far behind.',
  ),

  salt_returner_queued: gauge(
    daemons,
    ['returner'],
    'Records in the outbox that wait to be written to a store.',
  ),
  salt_returner_dead: gauge(
    daemons,
    ['returner'],
    'Records that were put aside because they could not be written to the store.',
  ),
  salt_returner_oldest_seconds: gauge(daemons, ['returner'], 'Age of the oldest record in the outbox.'),
  salt_returner_written: counter(daemons, ['returner'], 'Records that were written to the store.'),
  salt_returner_up: gauge(daemons, ['returner'], '1 while the store accepts records, 0 while it does not.'),

  salt_minion_jobs_received: counter(minion, [], 'New jobs whose target matched this minion.'),
  salt_minion_jobs_running: gauge(minion, [], 'Jobs that are running.'),
  salt_minion_jobs_queued: gauge(minion, [], 'Jobs that wait for their turn (process_count_max).'),
  salt_minion_jobs_finished: counter(
    minion,
    ['outcome'],
    'Jobs that are over: success, failure, or refused before they began.',
  ),
  salt_minion_job_duration_seconds: histogram(
    minion,
    ['fun'],
    'Time from the arrival of a job to its return on disk, by function.',
  ),
  salt_minion_job_failures: counter(minion, ['fun'], 'Jobs that failed or were refused, by function.'),
  salt_minion_spooled_returns: gauge(minion, [], 'Returns on disk that a master has not acknowledged yet.'),
  salt_minion_master_connected: gauge(
    minion,
    ['master'],
    "1 while there is a connection to the master's publish port, 0 while there is none.",
  ),
  salt_minion_master_connections: counter(
    minion,
    ['master'],
    'Times the connection to the publish port was established; each after the first is a reconnection.',
  ),
  salt_minion_job_processes_started: counter(minion, [], 'Job processes that were started.'),
  salt_minion_job_processes_died: counter(minion, [], 'Job processes that ended while they ran a job.'),

  salt_api_request_duration_seconds: histogram(
    api,
    ['method', 'route', 'status'],
    'Time to answer a request, by route (as declared) and status; streams end when they are closed.',
  ),
  salt_api_requests_open: gauge(
    api,
    [],
    'Requests that are not answered yet, including streams and requests that wait.',
  ),
  salt_api_readers: gauge(api, [], 'Clients that read events, by server-sent events or websockets.'),
  salt_api_readers_dropped: counter(api, [], 'Clients that read events too slowly and were dropped.'),
  salt_api_limits_hit: counter(
    api,
    ['limit'],
    'Requests that were refused because of a limit, by its option.',
  ),

  salt_process_up: gauge(every, ['process'], '1 if the process answered when it was asked for its metrics.'),
  salt_process_cpu_seconds: counter(every, ['process'], 'Processor time.'),
  salt_process_resident_memory_bytes: gauge(every, ['process'], 'Resident memory.'),
  salt_process_heap_bytes: gauge(every, ['process'], 'Heap of JavaScript objects in use.'),
  salt_process_event_loop_busy_seconds: counter(every, ['process'], 'Time the event loop was busy.'),
  salt_process_event_loop_lag_seconds: gauge(
    every,
    ['process'],
    'Greatest delay of a timer since the last scrape.',
  ),
  salt_process_start_time_seconds: gauge(every, ['process'], 'Start of the process, in seconds since 1970.'),
  salt_build: info(every, ['program', 'version', 'node'], 'Versions of the program and of Node.'),
} as const satisfies Readonly<Record<string, Metric>>

export type MetricName = keyof typeof metrics
type NamesOf<T extends MetricType> = {
  [N in MetricName]: (typeof metrics)[N]['type'] extends T ? N : never
}[MetricName]
export type CounterName = NamesOf<'counter'>
export type HistogramName = NamesOf<'histogram'>
/** Metrics whose values can be read at each scrape. */
export type ReadName = NamesOf<'counter' | 'gauge' | 'info'>

type Texts<L extends readonly unknown[]> = { readonly [K in keyof L]: string }

/** Values of the labels of a metric, in the declared order. */
export type LabelsOf<N extends MetricName> = Texts<(typeof metrics)[N]['labels']>

/** Upper bounds of histogram buckets in seconds: from an answer without input or output to a job of an hour. */
export const BUCKETS_SECONDS = [
  0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 3600,
] as const

/** Maximum number of series of one metric in one process. Further series are counted with the label value `other`. */
export const MAX_SERIES = 200

/** Return the unit with which a name ends: `seconds` or `bytes`. */
export const unitOf = (name: string): string | undefined => /_(seconds|bytes)$/.exec(name)?.[1]
