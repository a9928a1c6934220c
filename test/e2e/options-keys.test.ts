import { existsSync } from 'node:fs'
import { chmod, copyFile, mkdir, rm, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { connectedIds } from '../../core/cache/connected.ts'
import type { Event, EventBus } from '../../core/events/index.ts'
import { Cluster, type Daemon, jobsWithin } from '../harness/daemons.ts'
import { returnsOf } from '../harness/returns-of.ts'
import { runHere } from '../harness/run-here.ts'
import { until } from '../harness/until.ts'

/** Options that all but the first master of this file start with; files lie in its folder. */
const policy = {
  auto_accept: false,
  autosign_file: '/autosign',
  autoreject_file: '/autoreject',
  autosign_grains_dir: '/autosign_grains',
  autosign_timeout: 60,
  master_sign_pubkey: true,
  presence_events: true,
  loop_interval: 1,
}

let cluster: Cluster
let bus: EventBus
const seen: Event[] = []

const inMaster = (...path: string[]) => join(cluster.master.directory, ...path)
const key = (...args: string[]) => cluster.command('salt-key', ...args)
const event = (tag: string, fits: (data: Record<string, unknown>) => boolean = () => true) =>
  until(`the event ${tag}`, () => seen.find((each) => each.tag === tag && fits(each.data)))

async function startMinion(id: string, options: Record<string, unknown> = {}) {
  const minion = cluster.minionDaemon(id, {
    verify_master_pubkey_sign: true,
    acceptance_wait_time: 0.5,
    ...jobsWithin,
    ...options,
  })
  cluster.minions.set(id, minion)
  await minion.writeConfig()
  await mkdir(join(minion.directory, 'pki'), { mode: 0o700 })
  await copyFile(inMaster('pki', 'master_sign.pub'), join(minion.directory, 'pki', 'master_sign.pub'))
  minion.start()
  return minion
}

async function restartMaster(options: Record<string, unknown>): Promise<void> {
  await cluster.master.stop()
  await cluster.master.writeConfig(options)
  await cluster.startMaster()
}

/** For options that a running master takes. */
/** A minion that gives up closes all that it has opened: the next start need not check its stores. */
function expectOrderlyEnd(minion: Daemon): void {
  expect(existsSync(join(minion.directory, 'cache', '.running'))).toBe(false)
  expect(minion.processes()).toEqual([])
}

async function reload(options: Record<string, unknown>): Promise<void> {
  await cluster.master.writeConfig(options)
  cluster.master.output = ''
  process.kill(cluster.master.pid, 'SIGHUP')
  await cluster.master.logged('Changed options: ')
}

beforeAll(async () => {
  cluster = await Cluster.open({ master: policy })
  await writeFile(inMaster('autosign'), '# hosts of the first rack\nauto*\n', { mode: 0o600 })
  await writeFile(inMaster('autoreject'), 'bad[0-9]\n', { mode: 0o600 })
  await mkdir(inMaster('autosign_grains'), { mode: 0o700 })
  await writeFile(inMaster('autosign_grains', 'ticket'), 'abc-1\n', { mode: 0o600 })
  bus = await cluster.events()
  void (async () => {
    for await (const each of bus.subscribe('')) seen.push(each)
  })()
})
afterAll(async () => {
  await bus?.close()
  await cluster?.close()
})

test('keys are accepted and rejected by the signing files, and stay pending if no file names them', async () => {
  const [auto, ticket, bad, plain] = await Promise.all([
    startMinion('auto1'),
    startMinion('granted', { autosign_grains: ['ticket'], grains: { ticket: 'abc-1' } }),
    startMinion('bad1'),
    startMinion('plain'),
  ])
  await Promise.all([
    auto.logged('is ready to receive jobs'),
    ticket.logged('is ready to receive jobs'),
    bad.logged('has rejected this minion'),
    plain.logged('it is not accepted yet'),
  ])
  const { stdout } = await key('-L', '--out', 'json')
  expect(JSON.parse(stdout)).toEqual({
    minions: ['auto1', 'granted'],
    minions_denied: [],
    minions_pre: ['plain'],
    minions_rejected: ['bad1'],
  })
  await event('salt/auth', ({ id, act }) => id === 'plain' && act === 'pend')
  await event('salt/auth', ({ id, act, result }) => id === 'bad1' && act === 'reject' && result === false)
  const called = await runHere('salt-call', ['-c', plain.directory, 'test.ping'])
  expect(called).toMatchObject({
    stdout: '',
    code: 77,
    stderr: expect.stringContaining('it is not accepted yet'),
  })
  expect(bad.exitCode).toBeNull() // it does not know this master yet, so it does not believe it
})

test('salt-key accepts a key, and an event reports it', async () => {
  expect((await key('-y', '-a', 'plain')).stdout).toContain('Key for minion plain accepted.\n')
  await event('salt/key', ({ id, act, result }) => id === 'plain' && act === 'accept' && result === true)
  await cluster.minions.get('plain')!.logged('is ready to receive jobs')
  await event('salt/minion/plain/start')
  const again = await key('-y', '-a', 'plain')
  expect(again.code).toBe(2)
  expect(again.stderr).toContain("The key glob 'plain' does not match any unaccepted keys.")
})

test('presence events name the minions that connected', async () => {
  await event('salt/presence/change', (data) => (data.new as string[]).includes('plain'))
  await event('salt/presence/present', (data) => {
    return ['auto1', 'granted', 'plain'].every((id) => (data.present as string[]).includes(id))
  })
})

test('a rejected key ends the minion that knows its master with exit code 77 and an explanation, and rotates the AES key', async () => {
  const plain = cluster.minions.get('plain')!
  expect((await key('-y', '-r', 'plain', '--include-accepted')).code).toBe(0)
  await event('salt/key', ({ id, act }) => id === 'plain' && act === 'reject')
  await event('key', (data) => data.rotate_aes_key === true)
  const client = await cluster.client()
  await returnsOf(client, { tgt: 'auto1', fun: 'test.ping', timeout: 1 })
  await client.close()
  await plain.exited()
  expect(plain.exitCode).toBe(77)
  expectOrderlyEnd(plain)
  expect(plain.output).toMatch(/has rejected this minion's key.*rejected_retry: true/)
  await event('salt/presence/change', (data) => (data.lost as string[]).includes('plain'))
})

test('with rejected_retry the minion keeps asking, and serves as soon as its key is accepted', async () => {
  const plain = cluster.minions.get('plain')!
  await plain.writeConfig({ rejected_retry: true })
  plain.output = ''
  plain.start()
  await plain.logged('Asking again in 0.5 seconds')
  expect((await key('-y', '-a', 'plain', '--include-rejected')).code).toBe(0)
  await plain.logged('is ready to receive jobs')
})

test('a minion whose key is deleted and accepted again reports its grains again', async () => {
  const known = async () =>
    JSON.parse((await cluster.command('salt-run', 'cache.grains', 'tgt=plain', '--out', 'json')).stdout)
  await until('the grains to be known', async () => (await known()).plain?.id)
  expect((await key('-y', '-d', 'plain')).code).toBe(0)
  expect(await known()).toEqual({})
  await until('the key to be offered again', async () => {
    await cluster.salt('plain', 'test.ping')
    return (await key('-y', '-a', 'plain', '--include-rejected')).stdout.includes('accepted')
  })
  await until('the grains to be known again', async () => (await known()).plain?.id)
})

test('with auto_accept a minion whose key is deleted reports its grains again', async () => {
  await reload({ ...policy, auto_accept: true })
  expect((await key('-y', '-d', 'plain')).code).toBe(0)
  await until('the grains to be known again', async () => {
    await cluster.salt('plain', 'test.ping')
    return (await cluster.command('salt-run', 'cache.grains', 'tgt=plain', '--out', 'json')).stdout.includes(
      '"id"',
    )
  })
})

test('deleting a key locks a minion out at once; with rotate_aes_key off no new AES key is asked for', async () => {
  // A sign-in that is on its way would file the key again.
  await cluster.minions.get('auto1')!.stop()
  await restartMaster({ ...policy, rotate_aes_key: false, open_mode: true, max_minions: 0 })
  expect((await key('-y', '-d', 'auto1')).stdout).toContain('Key for minion auto1 deleted.\n')
  expect(existsSync(inMaster('cache', '.dfn'))).toBe(false)
  const { stdout } = await cluster.salt('-t', '1', '-L', 'auto1,plain', 'test.ping', '--out', 'txt')
  expect(stdout).toMatch(/auto1: Minion did not return\. \[No accepted key/)
})

test('open_mode accepts every key, with a warning; max_minions limits how many minions connect', async () => {
  expect(cluster.master.output).toContain('open_mode is on')
  await cluster.minions.get('bad1')!.logged('is ready to receive jobs')

  await restartMaster({ ...policy, auto_accept: true, max_minions: 1, publish_session: 1 })
  await until('a minion to be seen', async () => (await connectedIds(cluster.config))?.length)
  const late = await startMinion('late')
  await late.logged('accepts no more minions (max_minions)')
  await late.stop()
})

test('publish_session makes a new AES key now and then, and no job is lost', async () => {
  await reload({ ...policy, publish_session: 1 })
  const isThere = async () => (await connectedIds(cluster.config))?.includes('plain')
  await until('the minion to be let in again', isThere)
  await until('two rotations', () => cluster.master.output.split('A new AES key is used').length > 2)
  const { stdout } = await cluster.salt('plain', 'test.ping', '--out', 'txt')
  expect(stdout).toBe('plain: True\n')
})

test('master_finger: the right one is accepted, a wrong one ends the minion with exit code 42 and both fingerprints', async () => {
  const { stdout } = await key('-f', 'master.pub', '--out', 'json')
  const finger = JSON.parse(stdout).local['master.pub']
  await reload({ ...policy, auto_accept: true })
  const right = await startMinion('right', { master_finger: finger })
  await right.logged('is ready to receive jobs')
  const wrong = await startMinion('wrong', { master_finger: finger.replaceAll(/./g, 'a') })
  await wrong.exited()
  expect(wrong.exitCode).toBe(42)
  expectOrderlyEnd(wrong)
  expect(wrong.output).toContain(finger)
})

test('a minion refuses a master with an unknown key, and one whose key is not signed as required', async () => {
  const right = cluster.minions.get('right')!
  await right.stop()
  await right.writeConfig({ verify_master_pubkey_sign: false })
  right.output = ''
  right.start()
  await right.logged('verify_master_pubkey_sign is not set here')
  await right.stop()

  await rm(join(right.directory, 'pki', 'minion_master.pub'))
  await copyFile(inMaster('pki', 'master.pub'), join(right.directory, 'pki', 'master_sign.pub'))
  await right.writeConfig()
  right.output = ''
  right.start()
  await right.logged('the signature of its public key is wrong')
  expect(existsSync(join(right.directory, 'pki', 'minion_master.pub'))).toBe(false)
})

test('a master whose private key other users may read does not start, and says how to fix that', async () => {
  const pem = inMaster('pki', 'master.pem')
  expect((await stat(pem)).mode & 0o777).toBe(0o400)
  await cluster.master.stop()
  await chmod(pem, 0o440)
  cluster.master.output = ''
  cluster.master.start()
  await cluster.master.exited()
  expect(cluster.master.exitCode).toBe(77)
  expect(cluster.master.output).toContain(`Run: chmod 0400 ${pem}`)
  await chmod(pem, 0o400)
})
