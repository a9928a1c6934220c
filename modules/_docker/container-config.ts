import { CommandExecutionError } from 'salt-ts'
import { splitWords } from '../_cmd/split.ts'
import type { Json } from './api.ts'

type Translate = (value: unknown) => Json
interface Option {
  readonly at: 'config' | 'host'
  readonly translate: Translate
}

const config = (key: string, convert: (value: unknown) => unknown = same): Option => ({
  at: 'config',
  translate: (value) => ({ [key]: convert(value) }),
})
const host = (key: string, convert: (value: unknown) => unknown = same): Option => ({
  at: 'host',
  translate: (value) => ({ [key]: convert(value) }),
})

const same = (value: unknown): unknown => value
const list = (value: unknown): string[] =>
  Array.isArray(value)
    ? value.map(String)
    : String(value)
        .split(',')
        .map((part) => part.trim())
/** Return the words of a command, which is a list of them or a line. */
const command = (value: unknown): string[] =>
  Array.isArray(value) ? value.map(String) : splitWords(String(value))
const isMap = (value: unknown): value is Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** Return `NAME=value` pairs of a map, a list of maps or texts, or a text with commas. */
const pairs = (value: unknown): string[] => {
  if (isMap(value)) return Object.entries(value).map(([key, one]) => `${key}=${one ?? ''}`)
  return Array.isArray(value)
    ? value.flatMap((one) => (isMap(one) ? pairs(one) : [String(one)]))
    : list(value)
}
/** Return a map that was given as one, as a list of `NAME=value`, or as text with commas. */
export const labels = (value: unknown): Json =>
  Object.fromEntries(
    pairs(value).map((pair) => {
      const [key = '', ...rest] = pair.split('=')
      return [key, rest.join('=')]
    }),
  )

const UNITS: Readonly<Record<string, number>> = { b: 1, k: 1024, m: 1024 ** 2, g: 1024 ** 3, t: 1024 ** 4 }
function bytes(value: unknown): number {
  const [, number, unit = 'b'] = /^(\d+)([bkmgt])?b?$/i.exec(String(value)) ?? []
  if (number === undefined)
    throw new CommandExecutionError(`'${value}' is no size of memory; give bytes, or a number such as 512m.`)
  return Number(number) * UNITS[unit.toLowerCase()]!
}

function restartPolicy(value: unknown): Json {
  if (isMap(value)) return value
  const [Name, count] = String(value).split(':')
  return { Name, MaximumRetryCount: Number(count ?? 0) }
}

const withProtocol = (port: string): string => (port.includes('/') ? port : `${port}/tcp`)

/** Read `[[address:]host port:]container port[/protocol]`. Each port is published, and so exposed. */
function published(value: unknown): Json {
  const found: Record<string, { HostIp: string; HostPort: string }[]> = {}
  for (const binding of list(value)) {
    const [, hostIp = '', hostPort = '', port] =
      /^(?:(?:([\d.]+):)?(\d*):)?(\d+(?:\/(?:tcp|udp|sctp))?)$/.exec(binding) ?? []
    if (port === undefined)
      throw new CommandExecutionError(
        `'${binding}' is no published port; write it as 8080:80, 127.0.0.1:8080:80/tcp or 80.`,
      )
    const key = withProtocol(port)
    found[key] = [...(found[key] ?? []), { HostIp: hostIp, HostPort: hostPort }]
  }
  return found
}

const OPTIONS: Readonly<Record<string, Option>> = {
  command: config('Cmd', command),
  entrypoint: config('Entrypoint', (value) => (Array.isArray(value) ? value.map(String) : [String(value)])),
  hostname: config('Hostname'),
  domainname: config('Domainname'),
  user: config('User', String),
  environment: config('Env', pairs),
  working_dir: config('WorkingDir'),
  labels: config('Labels', labels),
  tty: config('Tty'),
  stdin_open: config('OpenStdin'),
  stop_signal: config('StopSignal'),
  stop_timeout: config('StopTimeout'),
  ports: config('ExposedPorts', (value) =>
    Object.fromEntries(list(value).map((port) => [withProtocol(port), {}])),
  ),
  volumes: config('Volumes', (value) => Object.fromEntries(list(value).map((path) => [path, {}]))),
  port_bindings: host('PortBindings', published),
  publish_all_ports: host('PublishAllPorts'),
  binds: host('Binds', list),
  volumes_from: host('VolumesFrom', list),
  network_mode: host('NetworkMode'),
  restart_policy: host('RestartPolicy', restartPolicy),
  privileged: host('Privileged'),
  read_only: host('ReadonlyRootfs'),
  auto_remove: host('AutoRemove'),
  cap_add: host('CapAdd', list),
  cap_drop: host('CapDrop', list),
  dns: host('Dns', list),
  dns_search: host('DnsSearch', list),
  extra_hosts: host('ExtraHosts', (value) =>
    isMap(value) ? Object.entries(value).map(([name, at]) => `${name}:${at}`) : list(value),
  ),
  mem_limit: host('Memory', bytes),
  cpu_shares: host('CpuShares'),
  cpuset_cpus: host('CpusetCpus', String),
  init: host('Init'),
  pid_mode: host('PidMode'),
  ipc_mode: host('IpcMode'),
  security_opt: host('SecurityOpt', list),
  tmpfs: host('Tmpfs'),
  host_config: { at: 'host', translate: (value) => ({ ...(value as Json) }) },
}

/** Other names of options, as Docker's command line has them. */
const ALIASES: Readonly<Record<string, string>> = {
  cmd: 'command',
  env: 'environment',
  rm: 'auto_remove',
  bind: 'binds',
  expose: 'ports',
  publish: 'port_bindings',
  restart: 'restart_policy',
  interactive: 'stdin_open',
  workdir: 'working_dir',
  memory: 'mem_limit',
  add_host: 'extra_hosts',
  net: 'network_mode',
  label: 'labels',
  hosts: 'extra_hosts',
  domain_name: 'domainname',
  pid: 'pid_mode',
  ipc: 'ipc_mode',
  host_name: 'hostname',
}

/** Translate Salt's options of a container into what Docker's interface takes. @throws CommandExecutionError for one it does not know */
export function containerConfig(image: string, given: Json): Json {
  const parts = { config: {} as Json, host: {} as Json }
  for (const [name, value] of Object.entries(given)) {
    if (name.startsWith('__') || value === null || value === undefined) continue
    const option = OPTIONS[ALIASES[name] ?? name]
    if (!option)
      throw new CommandExecutionError(
        `docker.create does not know the option '${name}'; give what Docker's interface takes in host_config.`,
      )
    Object.assign(parts[option.at], option.translate(value))
  }
  const bound = Object.keys((parts.host.PortBindings as Json | undefined) ?? {})
  const exposed = {
    ...(parts.config.ExposedPorts as Json),
    ...Object.fromEntries(bound.map((port) => [port, {}])),
  }
  return {
    Image: image,
    ...parts.config,
    ...(Object.keys(exposed).length > 0 && { ExposedPorts: exposed }),
    HostConfig: parts.host,
  }
}
