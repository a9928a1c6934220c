/** Stores a fleet writes to, each read by a client that is not the one it is written with. */
import { execFile } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { jetstreamManager } from '@nats-io/jetstream'
import { connect } from '@nats-io/transport-node'
import { connect as connectAmqp } from 'amqplib'
import { selfSigned } from './certificate.ts'
import { elasticsearchDouble } from './elasticsearch.ts'
import { removeFolder, temporaryFolder } from './folder.ts'
import { httpServer } from './http-server.ts'
import { startInfluxdb } from './influxdb.ts'
import { kafkaDouble } from './kafka.ts'
import { mailServer } from './mail-server.ts'
import { mongodbDouble } from './mongodb.ts'
import { mysqlDatabase } from './mysql-database.ts'
import { mysqlHere, type Need, postgresHere, program, rabbitmqHere } from './needs.ts'
import { postgresDatabase } from './postgres-database.ts'
import { startRsyslog } from './rsyslog.ts'
import { said } from './said.ts'
import { startEtcd, startMemcached, startMosquitto, startNats, startRedis } from './store-servers.ts'

export interface FleetStore {
  /** Of all minions, with which the returner finds it. */
  readonly config: Readonly<Record<string, unknown>>
  /** Of each minion whose return of this job is there: what it returned. May reject, as long as there is nothing. */
  read(jid: string, ids: readonly string[]): Promise<Readonly<Record<string, unknown>>>
  drop(): Promise<unknown>
}

interface Choice {
  readonly needs: readonly Need[]
  readonly open: () => Promise<FleetStore>
}

/** What a program printed. */
const told = async (program: string, ...args: string[]): Promise<string> =>
  (await promisify(execFile)(program, args)).stdout.trim()

type Return = { readonly jid: string; readonly id: string; readonly return: unknown }

/** Of returns as JSON, one a line. */
const fromLines = (text: string, jid: string): Record<string, unknown> =>
  fromReturns(
    text
      .split('\n')
      .filter(Boolean)
      .map((line) => JSON.parse(line)),
    jid,
  )

const fromReturns = (returns: readonly Return[], jid: string): Record<string, unknown> =>
  Object.fromEntries(returns.filter((ret) => ret.jid === jid).map((ret) => [ret.id, ret.return]))

/** Of lines with an id, a tabulator and JSON. */
const fromTable = (text: string): Record<string, unknown> =>
  Object.fromEntries(
    text
      .split('\n')
      .filter(Boolean)
      .map((line) => line.split('\t'))
      .map(([id = '', value = '']) => [id, JSON.parse(value)]),
  )

const HOST = '127.0.0.1'

async function postgres(name: string): Promise<FleetStore> {
  const { config, drop } = await postgresDatabase(`returner.${name}`)
  const sql = (jid: string) => `select id, return from salt_returns where jid = '${jid}'`
  const psql = ['-h', HOST, '-U', 'postgres', '-d', String(config[`returner.${name}.db`]), '-At', '-F', '\t']
  return { config, drop, read: async (jid) => fromTable(await told('psql', ...psql, '-c', sql(jid))) }
}

async function mysql(): Promise<FleetStore> {
  const { config, drop } = await mysqlDatabase()
  const { user, pass, db } = config.mysql as Record<string, string>
  const sql = (jid: string) => `select id, \`return\` from salt_returns where jid = '${jid}'`
  const login = ['-h', HOST, '-u', `${user}`, `-p${pass}`, `${db}`, '--default-character-set=utf8mb4', '-NBr']
  return { config, drop, read: async (jid) => fromTable(await told('mysql', ...login, '-e', sql(jid))) }
}

/** A folder that goes with the store. */
async function inFolder(open: (folder: string) => Omit<FleetStore, 'drop'>): Promise<FleetStore> {
  const folder = await temporaryFolder('salt-ts-fleet-')
  return { ...open(folder), drop: () => removeFolder(folder) }
}

const sqlite = () =>
  inFolder((folder) => {
    const database = join(folder, 'salt.db')
    const sql = (jid: string) => `select id, full_ret from salt_returns where jid = '${jid}'`
    return {
      config: { 'sqlite3.database': database, 'sqlite3.timeout': 20 },
      read: async (jid) => fromTable(await told('sqlite3', '-separator', '\t', database, sql(jid))),
    }
  })

async function redis(): Promise<FleetStore> {
  const { port, drop } = await startRedis()
  const config = { redis: { host: HOST, port } }
  const read = async (jid: string) => {
    const rows = JSON.parse(await told('redis-cli', '-p', `${port}`, '--json', 'hgetall', `ret:${jid}`))
    return fromReturns(
      Object.values<string>(rows).map((row) => JSON.parse(row)),
      jid,
    )
  }
  return { config, drop, read }
}

async function etcd(): Promise<FleetStore> {
  const { port, drop } = await startEtcd('http')
  const read = async (jid: string, ids: readonly string[]) => {
    const value = (id: string) =>
      told(
        'etcdctl',
        `--endpoints=${HOST}:${port}`,
        'get',
        '--print-value-only',
        `/salt/return/jobs/${jid}/${id}/return`,
      )
    return Object.fromEntries(await Promise.all(ids.map(async (id) => [id, JSON.parse(await value(id))])))
  }
  return { config: { etcd: { host: HOST, port, encode_values: false } }, drop, read }
}

async function influxdb(): Promise<FleetStore> {
  const { port, drop } = await startInfluxdb()
  const login = [
    '-host',
    HOST,
    '-port',
    `${port}`,
    '-username',
    'salt',
    '-password',
    'right',
    '-database',
    'salt',
  ]
  const read = async (jid: string) => {
    const query = `select id, "return" from "returns" where jid = '${jid}'`
    const { results } = JSON.parse(await told('influx', ...login, '-format', 'json', '-execute', query))
    const rows: [number, string, string][] = results[0].series[0].values
    return Object.fromEntries(rows.map(([, id, value]) => [id, JSON.parse(value)]))
  }
  return { config: { influxdb: { host: HOST, port, user: 'salt', password: 'right' } }, drop, read }
}

async function mqtt(): Promise<FleetStore> {
  const { port, drop } = await startMosquitto()
  const read = async (jid: string, ids: readonly string[]) => {
    const kept = ['-t', `salt/return/${jid}/+`, '--retained-only', '-C', `${ids.length}`, '-W', '5']
    return fromLines(await told('mosquitto_sub', '-h', HOST, '-p', `${port}`, ...kept), jid)
  }
  return { config: { mqtt: { host: HOST, port, retain: true } }, drop, read }
}

async function amqp(): Promise<FleetStore> {
  const name = `salt-fleet-${process.pid}`
  const got: string[] = []
  const read = async (jid: string) => {
    got.push(await told('amqp-get', '-s', HOST, '-q', name))
    return fromLines(got.join('\n'), jid)
  }
  const config = { amqp: { host: HOST, exchange: name, queue: name } }
  const drop = async () => {
    const connection = await connectAmqp(`amqp://${HOST}`)
    const channel = await connection.createChannel()
    await channel.deleteQueue(name)
    await channel.deleteExchange(name)
    await connection.close()
  }
  return { config, read, drop }
}

async function memcache(): Promise<FleetStore> {
  const { port, drop } = await startMemcached()
  const read = async (jid: string, ids: readonly string[]) => {
    const keys = ids.map((id) => `${jid}:${id}`).join(' ')
    const answer = await said(port, `get ${keys}\r\n`, /END\r\n$/)
    return fromLines((answer.match(/^\{.*\}/gm) ?? []).join('\n'), jid)
  }
  return { config: { memcache: { host: HOST, port } }, drop, read }
}

async function nats(): Promise<FleetStore> {
  const { port, drop } = await startNats()
  const client = await connect({ servers: `${HOST}:${port}` })
  const { streams } = await jetstreamManager(client)
  const read = async (jid: string, ids: readonly string[]) => {
    const last = (id: string) => streams.getMessage('SALT_JOBS', { last_by_subj: `salt.return.${jid}.${id}` })
    return fromReturns(
      await Promise.all(ids.map(async (id) => (await last(id))?.json<Return>() as Return)),
      jid,
    )
  }
  return { config: { 'nats.servers': [`${HOST}:${port}`] }, read, drop: () => client.close().then(drop) }
}

async function kafka(): Promise<FleetStore> {
  const { bootstrap, drop } = await kafkaDouble()
  const args = ['-C', '-b', bootstrap.join(), '-t', 'salt', '-o', 'beginning', '-e', '-q']
  const read = async (jid: string) => fromLines(await told('kcat', ...args), jid)
  return { config: { 'returner.kafka': { bootstrap } }, drop, read }
}

async function mongo(): Promise<FleetStore> {
  const { port, documents, close } = await mongodbDouble()
  const read = async (jid: string) =>
    fromReturns(
      documents('saltReturns').map(({ full_ret }) => full_ret as Return),
      jid,
    )
  return { config: { mongo: { host: HOST, port } }, drop: close, read }
}

async function elasticsearch(): Promise<FleetStore> {
  const { port, at, close } = await elasticsearchDouble()
  const read = async (jid: string) => {
    const documents = [...(at('salt-test_echo')?.documents.values() ?? [])]
    return fromReturns(
      documents.map(({ full_ret }) => JSON.parse(String(full_ret))),
      jid,
    )
  }
  const config = { elasticsearch: { hosts: [`${HOST}:${port}`], user: 'salt', password: 'right' } }
  return { config, drop: close, read }
}

async function http(): Promise<FleetStore> {
  const returns: Return[] = []
  const { url, close } = await httpServer(({ body }) => {
    returns.push(...JSON.parse(body).data)
    return { status: 204 }
  })
  return { config: { 'http.url': url }, drop: close, read: async (jid) => fromReturns(returns, jid) }
}

/** Its messages are for people: that each minion is named is seen, and what it returned. */
async function slack(): Promise<FleetStore> {
  const messages: string[] = []
  const { url, close } = await httpServer(({ body }) => {
    messages.push(new URLSearchParams(body).get('payload') ?? '')
    return { text: 'ok' }
  })
  const read = async (jid: string, ids: readonly string[]) => named(messages, jid, ids)
  return { config: { 'slack_webhook.webhook': `${url}T0` }, drop: close, read }
}

async function smtp(): Promise<FleetStore> {
  const { port, mails, close } = await mailServer()
  const read = async (jid: string, ids: readonly string[]) =>
    named(
      mails.map(({ text }) => text),
      jid,
      ids,
    )
  return {
    config: { smtp: { host: HOST, port, from: 'salt@example.net', to: 'ops@example.net' } },
    drop: close,
    read,
  }
}

function named(texts: readonly string[], jid: string, ids: readonly string[]): Record<string, unknown> {
  const of = (id: string) => texts.find((text) => text.includes(jid) && new RegExp(`\\b${id}\\b`).test(text))
  return Object.fromEntries(ids.map((id) => [id, of(id) && /return: *"?(\w+)/i.exec(of(id) ?? '')?.[1]]))
}

async function syslog(): Promise<FleetStore> {
  const folder = await temporaryFolder('salt-ts-fleet-')
  const { port, lines, drop } = await startRsyslog(await selfSigned(folder))
  const read = async (jid: string) => fromLines((await lines()).map(({ text }) => text).join('\n'), jid)
  const config = { syslog: { host: HOST, port, protocol: 'tcp' } }
  return { config, read, drop: () => drop().then(() => removeFolder(folder)) }
}

const rawfile = () =>
  inFolder((folder) => {
    const filename = join(folder, 'returns')
    return {
      config: { 'rawfile_json.filename': filename },
      read: async (jid) => fromLines(await readFile(filename, 'utf8'), jid),
    }
  })

const [postgresNeeds, mysqlNeeds, amqpNeeds] = [
  [await postgresHere(), program('psql')],
  [await mysqlHere(), program('mysql')],
  [await rabbitmqHere(), program('amqp-get')],
]
const programs = (...names: readonly string[]) => names.map(program)

export const FLEET_STORES: Readonly<Record<string, Choice>> = {
  postgres: { needs: postgresNeeds, open: () => postgres('postgres') },
  pgjsonb: { needs: postgresNeeds, open: () => postgres('pgjsonb') },
  mysql: { needs: mysqlNeeds, open: mysql },
  sqlite3: { needs: programs('sqlite3'), open: sqlite },
  redis: { needs: programs('redis-server', 'redis-cli'), open: redis },
  etcd: { needs: programs('etcd', 'etcdctl'), open: etcd },
  influxdb: { needs: programs('influxd', 'influx'), open: influxdb },
  mqtt: { needs: programs('mosquitto', 'mosquitto_sub'), open: mqtt },
  amqp: { needs: amqpNeeds, open: amqp },
  memcache: { needs: programs('memcached'), open: memcache },
  nats: { needs: programs('nats-server'), open: nats },
  kafka: { needs: programs('kcat'), open: kafka },
  mongo: { needs: [], open: mongo },
  elasticsearch: { needs: [], open: elasticsearch },
  http: { needs: [], open: http },
  slack_webhook: { needs: [], open: slack },
  smtp: { needs: [], open: smtp },
  syslog: { needs: programs('rsyslogd'), open: syslog },
  rawfile_json: { needs: [], open: rawfile },
}
