/** Entry of the cluster process: keeps what the masters of a cluster share the same on all of them (`cluster_id`). */
import { openOwnTokens } from '../../auth/index.ts'
import type { Returner } from '../../author/returner.ts'
import { systemClock } from '../../base/clock.ts'
import { Disposer } from '../../base/disposer.ts'
import { messageOf, SaltError } from '../../base/errors.ts'
import { writeFileAtomic } from '../../base/files/atomic-file.ts'
import { onceInAWhile } from '../../base/once-in-a-while.ts'
import { SteadyTime } from '../../base/steady-time.ts'
import { endsWithin } from '../../base/with-timeout.ts'
import { connectedElsewhere } from '../../cache/connected.ts'
import { MinionData } from '../../cache/minion-data.ts'
import { MinionStarts } from '../../cache/minion-starts.ts'
import { connectedElsewhereFile, minionDataDirectory } from '../../config/cachedir.ts'
import { type MasterConfig, masterNameOf } from '../../config/index.ts'
import { jobSinks, openJobCache } from '../../jobs/open-job-cache.ts'
import { Publications } from '../../jobs/publications.ts'
import { loadMasterKeys } from '../../keys/master-keys.ts'
import { requestRotation } from '../../keys/rotation.ts'
import { maskingLog, openLoader } from '../../loader/index.ts'
import type { Logger } from '../../log/index.ts'
import { openConfiguredReturner } from '../../outbox/open-returner.ts'
import { targetFrom } from '../../outbox/outbox-target.ts'
import { type ChildPart, type ChildStart, runChild } from '../supervision/child.ts'
import { logDamageTo } from '../supervision/directories.ts'
import { replicatedFacts, replicatedStarts } from './minion-facts.ts'
import { replicatedKeys } from './minion-keys.ts'
import { replicatedPresence } from './presence.ts'
import { Replica } from './replica.ts'
import { sharedKey } from './shared-key.ts'
import { type SharedStore, SharedValues } from './shared-values.ts'
import { replicatedTokens } from './user-tokens.ts'
import { replicatedWaitingJobs } from './waiting-jobs.ts'

const CLUSTER = /^[\w.-]{1,64}$/
const EXCHANGE_MS = 1_000
/** How long the start of the master waits for the first exchange. */
const FIRST_EXCHANGE_MS = 5_000

async function open({ config, aesKeys, log, supervisor }: ChildStart): Promise<ChildPart> {
  const { cluster_id: cluster = '' } = config
  const disposer = new Disposer()
  const { name, store } = await openSharedStore(config, log, disposer)
  const { key } = await loadMasterKeys(config)
  const master = masterNameOf(config)
  const onDamage = logDamageTo(log)
  const directory = minionDataDirectory(config)
  const aes = sharedKey(aesKeys, (aes, revoke) => void supervisor.send({ type: 'adopt', aes, revoke }))
  const tokens = await openOwnTokens(config, { onDamage })
  if (tokens) disposer.own(tokens)
  const time = new SteadyTime({ clock: systemClock, onLeap: () => {} })
  const now = () => time.now()
  const isShared = config.transport === 'nats'
  const jobs = disposer.own(openJobCache(config, { onDamage }))
  const publications = disposer.own(Publications.open(config, { onDamage }))
  /**
   * Shut out a minion whose key was revoked: it must neither get jobs that wait for it nor read the publications of this master.
   * A shared AES key is replaced by the master that revoked the key.
   */
  async function revoked(id: string): Promise<void> {
    try {
      await jobs.deliveries.cancelFor([id])
      if (config.rotate_aes_key && !isShared) await requestRotation(config)
    } catch (error) {
      log.error(messageOf(error))
    }
  }
  const presence = replicatedPresence({
    config,
    master,
    now,
    others: await connectedElsewhere(config),
    keep: (others) => writeFileAtomic(connectedElsewhereFile(config), JSON.stringify(others)),
  })
  const replica = disposer.own(
    Replica.open(
      config.cachedir,
      {
        shared: new SharedValues(store, cluster, key),
        cluster,
        master,
        kinds: [
          replicatedKeys(config.pki_dir, (id) => void revoked(id)),
          replicatedFacts(disposer.own(MinionData.open(directory, { onDamage }))),
          replicatedStarts(disposer.own(MinionStarts.open(directory, { onDamage }))),
          replicatedWaitingJobs({ jobs, publications, master, now }),
          ...(tokens ? [replicatedTokens(tokens)] : []),
          ...(isShared ? [aes] : [presence]),
        ],
        log,
        now,
      },
      { onDamage },
    ),
  )
  await replica.restore()
  const complain = onceInAWhile((sentence) => log.error(sentence))
  let isClosed = false
  let timer: NodeJS.Timeout | undefined
  async function exchange(): Promise<void> {
    try {
      await replica.exchange()
    } catch (error) {
      complain(
        `Keys and facts of minions, waiting jobs and tokens of users are not exchanged with the other masters of the cluster ${cluster} at the moment. Each master continues with the data that it has. Reason: ${messageOf(error)}`,
      )
    }
    if (!isClosed) timer = setTimeout(() => void next(), EXCHANGE_MS)
  }
  let running: Promise<void> | undefined
  function next(): Promise<void> {
    running = exchange()
    return running
  }
  if (!(await endsWithin(next(), FIRST_EXCHANGE_MS)))
    log.warn(
      `The first exchange with the store ${name} takes longer than ${FIRST_EXCHANGE_MS / 1000} s. The master starts without waiting for it, and gets the data of the other masters later.`,
    )
  return {
    rotated: (revoke) => aes.rotated(revoke),
    fire: () => {},
    async close() {
      isClosed = true
      clearTimeout(timer)
      await running
      await disposer.close()
    },
  }
}

/** Open the first store of `master_job_cache` in which masters can share values. */
async function openSharedStore(
  config: MasterConfig,
  log: Logger,
  disposer: Disposer,
): Promise<{ name: string; store: SharedStore }> {
  const host = {
    loader: openLoader('returners', { config, log }),
    config: { ...config },
    log: maskingLog(log),
  }
  const { cluster_id: cluster = '' } = config
  if (!CLUSTER.test(cluster))
    throw new SaltError(
      'CONFIG_INVALID',
      `The option cluster_id is '${cluster}'; it may have up to 64 letters, digits, dots, _ and -.`,
      {
        key: 'cluster_id',
      },
    )
  for (const target of jobSinks(config)) {
    const returner = await openConfiguredReturner(targetFrom(target), host)
    disposer.defer(async () => returner.close?.())
    if (canShare(returner)) return { name: target, store: returner }
  }
  throw new SaltError(
    'CONFIG_INVALID',
    'cluster_id needs a store that the masters share: set master_job_cache to nats, redis, postgres or pgjsonb.',
    { key: 'cluster_id' },
  )
}

const canShare = (returner: Returner): returner is Returner & SharedStore =>
  returner.sharedSince !== undefined && returner.putShared !== undefined

runChild(open)
