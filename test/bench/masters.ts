/** The masters that are measured: ours, and perhaps another one beside it. */
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { version } from '../../core/cli/program/version.ts'
import { bin, Cluster } from '../harness/daemons.ts'
import { until } from '../harness/until.ts'
import { LocalClient } from './product.ts'

// Node parses these certificates at each start, which takes longer than all else that it does until then.
delete process.env.NODE_EXTRA_CA_CERTS

export interface MeasuredMaster {
  readonly name: string
  /** Its configuration, which names ports, sockets and key directory. */
  readonly configDir: string
  readonly pid: number
  /** The words of its commands, with the directory of the configuration; arguments are added. */
  readonly programs: Readonly<Record<'salt' | 'salt-key' | 'salt-run' | 'salt-call', readonly string[]>>
  /** The id of a real minion that has been accepted, and its process. */
  readonly minion: string
  readonly minionPid: number
  /** Its minions subscribe to topics of their own. */
  readonly ownTopics: boolean
  /** What it has logged, if that is known here. */
  log?(): string
  close(): Promise<void>
}

/** `programs`: the folder of the programs, if they are those of another checkout. */
export async function startOurs(
  options: Record<string, unknown>,
  { name = `salt-ts ${version()}`, programs = bin } = {},
): Promise<MeasuredMaster> {
  const minion = 'node'
  const cluster = await Cluster.open({ master: options, start: false })
  cluster.master.programs = programs
  cluster.master.start('warning') // the default: at others the log has its share of the figures
  await until('the master', () =>
    LocalClient.connect(cluster.config).then(
      (client) => client.close().then(() => true),
      () => false,
    ),
  )
  const daemon = cluster.minionDaemon(minion)
  daemon.programs = programs
  await cluster.prepareMinion(daemon)
  daemon.start()
  await daemon.logged('is ready to receive jobs')
  const words = (program: string, configDir = cluster.configDir) => [
    ...[process.execPath, join(programs, program)],
    ...['-c', configDir],
  ]
  return {
    name,
    configDir: cluster.configDir,
    pid: cluster.master.pid,
    programs: {
      salt: words('salt'),
      'salt-key': words('salt-key'),
      'salt-run': words('salt-run'),
      'salt-call': words('salt-call', daemon.directory),
    },
    minion,
    minionPid: daemon.pid,
    ownTopics: true,
    log: () => cluster.master.output,
    close: () => cluster.close(),
  }
}

/** One that runs already, described in a JSON file with the fields of `MeasuredMaster`. */
export async function readBeside(file: string): Promise<MeasuredMaster> {
  const described = JSON.parse(await readFile(file, 'utf8')) as Omit<MeasuredMaster, 'ownTopics' | 'close'>
  return { ...described, ownTopics: false, close: async () => {} }
}
