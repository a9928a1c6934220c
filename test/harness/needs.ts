/**
 * What some tests need of the machine besides Node and this repository. Without it they are left out, and the run says
 * so at its end, with the command that helps (`clean-run.ts`).
 */
import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { connect } from 'node:net'
import { delimiter, join } from 'node:path'

export interface Need {
  /** As in "for lack of …". */
  readonly what: string
  /** Gets or starts it. */
  readonly command: string
  readonly isMet: boolean
}

declare module 'vitest' {
  interface TaskMeta {
    /** Why it is left out. */
    lacks?: Pick<Need, 'what' | 'command'>
  }
}

/** Options of a suite or a test that needs all of these. */
export function needs(...all: readonly Need[]) {
  const lacks = all.find(({ isMet }) => !isMet)
  return lacks ? { skip: true, meta: { lacks: { what: lacks.what, command: lacks.command } } } : {}
}

const runs = (program: string, ...args: string[]) =>
  spawnSync(program, args, { stdio: 'ignore' }).status === 0

export const ROOT: Need = { what: 'root', command: 'sudo npm test', isMet: process.geteuid?.() === 0 }

/** A mount of one's own, which root may not make everywhere. */
export const MOUNTS: Need = {
  what: 'the right to mount',
  command: 'sudo npm test (in a container: with the capability SYS_ADMIN)',
  get isMet() {
    return runs('unshare', '--mount', 'mount', '-t', 'tmpfs', 'none', '/mnt')
  },
}

export const STRACE: Need = {
  what: 'strace, and the right to trace a process',
  command: 'apt-get install strace (in a container: with the capability SYS_PTRACE)',
  get isMet() {
    return runs('strace', '-o', '/dev/null', 'true')
  },
}

/** Debian's packages of programs that have other names. */
const PACKAGES: Readonly<Record<string, string>> = {
  'amqp-get': 'amqp-tools',
  etcd: 'etcd-server',
  etcdctl: 'etcd-client',
  htpasswd: 'apache2-utils',
  influx: 'influxdb-client',
  journalctl: 'systemd',
  influxd: 'influxdb',
  mariadbd: 'mariadb-server',
  mosquitto_sub: 'mosquitto-clients',
  mysql: 'mariadb-client',
  pg_ctlcluster: 'postgresql',
  psql: 'postgresql-client',
  'redis-cli': 'redis-tools',
  rsyslogd: 'rsyslog rsyslog-gnutls',
  systemctl: 'systemd',
  'update-rc.d': 'init-system-helpers',
}

const isInstalled = (name: string): boolean =>
  (process.env.PATH ?? '').split(delimiter).some((folder) => existsSync(join(folder, name)))

/** A program of this name in a folder of PATH. */
export const program = (name: string): Need => ({
  what: name,
  command: `apt-get install ${PACKAGES[name] ?? name}`,
  isMet: isInstalled(name),
})

/** A server that runs already, at its own port of this host; `start`: how, where its program is installed. */
async function server(what: string, port: number, name: string, start: string): Promise<Need> {
  const installed = program(name)
  return {
    what: `${what} at 127.0.0.1:${port}`,
    command: installed.isMet ? start : `${installed.command} && ${start}`,
    isMet: await takesConnections(port),
  }
}

function takesConnections(port: number): Promise<boolean> {
  const socket = connect(port, '127.0.0.1')
  return new Promise<boolean>((done) => {
    socket.once('connect', () => done(true))
    socket.once('error', () => done(false))
  }).finally(() => socket.destroy())
}

/** It takes every password of the user postgres (`trust` in pg_hba.conf). */
export const postgresHere = () => server('PostgreSQL', 5432, 'pg_ctlcluster', 'pg_ctlcluster 15 main start')
/** Its root needs no password. */
export const mysqlHere = () => server('MariaDB', 3306, 'mariadbd', 'mariadbd-safe &')
/** With its user guest. */
export const rabbitmqHere = () => server('RabbitMQ', 5672, 'rabbitmq-server', 'rabbitmq-server -detached')
