import { randomBytes } from 'node:crypto'
import type { Log } from '../../author/context.ts'
import { messageOf } from '../../base/errors.ts'
import { isRecord } from '../../base/record.ts'
import type { AesKeys } from '../../channel/aes-keys.ts'
import { PublishChannel } from '../../channel/publish-channel.ts'
import { decode, encodeNetwork } from '../../codec/index.ts'
import { type MasterConfig, serverSettingsOf } from '../../config/index.ts'
import type { PrivateKey, SigningAlgorithm } from '../../crypto/index.ts'
import { component } from '../../log/component.ts'
import type { PublishServer, Transport } from '../../transport/contract.ts'
import { type JobLoad, readJobLoad } from '../../wire/publication.ts'
import { type RawArguments, readRawArguments } from '../../wire/raw-arguments.ts'

export interface Publisher {
  readonly server: PublishServer
  readonly channel: PublishChannel
  close(): Promise<void>
}

/** Open the publish port (wire protocol §9). */
export async function openPublisher(settings: {
  config: MasterConfig
  transport: Transport
  aesKeys: AesKeys
  masterKey: PrivateKey
  identify?(introduction: Uint8Array): Promise<readonly string[] | undefined>
  log?: Log
}): Promise<Publisher> {
  const { config, transport, aesKeys, masterKey, identify, log } = settings
  const server = await transport.servePublish({
    ...serverSettingsOf(config, log),
    port: config.publish_port,
    highWaterMark: config.pub_hwm,
    ...(identify && { identify }),
  })
  const channel = new PublishChannel({
    server,
    aesKeys,
    masterKey,
    signing: config.sign_pub_messages ? (config.publish_signing_algorithm as SigningAlgorithm) : undefined,
    filtering: config.zmq_filtering,
    hasSyndics: config.order_masters,
    publisher: config.cluster_id === undefined ? undefined : randomBytes(6).toString('base64url'),
  })
  return { server, channel, close: () => server.close() }
}

/** Encode a job for the queue from a worker to the publisher process. */
export const packJob = (job: JobLoad, minions?: readonly string[], words?: RawArguments): Buffer =>
  encodeNetwork({ job, minions, words })

/**
 * Publish the jobs that workers hand over, until the queue ends. Logs failures, and publications that a slow minion did not
 * get.
 */
export async function publishAll(
  queue: AsyncIterable<Uint8Array>,
  { server, channel }: Pick<Publisher, 'server' | 'channel'>,
  log: Log,
): Promise<void> {
  const details = component(log, 'channel.server')
  for await (const message of queue) {
    try {
      const decoded = decode(message)
      const { job: load, minions, words } = isRecord(decoded) ? decoded : {}
      const job = isRecord(load) ? readJobLoad(load) : undefined
      if (!job) continue
      details.debug('Publishing jid={jid} to {minions}', { jid: job.jid, minions: minions ?? 'all minions' })
      const before = server.dropped
      const ids = Array.isArray(minions) ? (minions as string[]) : undefined
      await channel.publish(job, ids, readRawArguments(words))
      if (server.dropped > before) log.warn(fellBehind(job.jid))
    } catch (error) {
      log.error(`A job could not be published: ${messageOf(error)}`)
    }
  }
}

const fellBehind = (jid: string) =>
  `A minion does not keep up with publications and misses job ${jid}, and maybe later ones: more than pub_hwm of them are ` +
  'queued for it. Its host or the network to it is overloaded or stuck. It gets publications again once it reads them.'
