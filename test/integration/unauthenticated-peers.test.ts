/**
 * A real master and unauthenticated peers: what they send is answered or cut off, changes nothing, and delays no others.
 * Throughout, a clear `ping` and `salt '*' test.ping` are answered; at the end the same processes run as at the start.
 */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { Dealer } from 'zeromq'
import { decode, encodeNetwork } from '../../core/codec/index.ts'
import { newNonce } from '../../core/crypto/index.ts'
import { KeyStore } from '../../core/keys/index.ts'
import type { RequestClient } from '../../core/transport/contract.ts'
import { getTransport } from '../../core/transport/index.ts'
import { packAes, packClear } from '../../core/wire/envelope.ts'
import { Cluster } from '../harness/daemons.ts'
import { filesBelow } from '../harness/files.ts'
import { damaged, noise } from '../harness/noise.ts'
import { Peer } from '../harness/peer.ts'
import { Random } from '../harness/random.ts'
import { closed, openConnection, zmtpGreeting, zmtpReady } from '../harness/raw-connection.ts'
import { until } from '../harness/until.ts'

const ANSWER_MS = 20_000
const ALGORITHMS = { encryption: 'OAEP-SHA1', signing: 'PKCS1v15-SHA1' } as const

let cluster: Cluster
let strangers: RequestClient
let peer: Peer
let pki: string
let before: { readonly tree: unknown; readonly processes: ReadonlyMap<number, number> }
/** Pings that were answered beside all the rest. */
let pings = 0
let pinging: Promise<void>
let isOver = false
let greetersAreCutOff: Promise<void>

const ask = (frame: Uint8Array) => strangers.request(frame, ANSWER_MS)

/** Resident bytes of every process of the master, by its pid. */
function processesOfMaster(): Map<number, number> {
  const { pid } = cluster.master
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ').map(Number)
  return new Map([pid, ...children].map((each) => [each, residentBytes(each)]))
}

const residentBytes = (pid: number) => Number(readFileSync(`/proc/${pid}/statm`, 'utf8').split(' ')[1]) * 4096

async function ping(): Promise<void> {
  const load = { cmd: 'ping', x: newNonce() }
  expect(decode(await ask(packClear(load)))).toEqual(load)
  pings++
}

async function pingUntilOver(): Promise<void> {
  while (!isOver) {
    await ping()
    await new Promise((done) => setTimeout(done, 100))
  }
}

/** Resolves when two peers that greet, one on each port, and are never heard of again, have been cut off. */
async function greetAndFallSilent(): Promise<void> {
  const sockets = await Promise.all([cluster.ports.request, cluster.ports.publish].map(openConnection))
  for (const [index, socket] of sockets.entries()) {
    socket.write(zmtpGreeting('NULL'))
    socket.write(zmtpReady(index === 0 ? 'REQ' : 'SUB'))
  }
  await Promise.all(sockets.map(closed))
}

async function expectMinionAnswers(): Promise<void> {
  const { stdout, code } = await cluster.spawned('salt', '*', 'test.ping', '--out', 'json', '--static')
  expect({ stdout: JSON.parse(stdout || '{}'), code }).toEqual({ stdout: { web1: true }, code: 0 })
}

beforeAll(async () => {
  cluster = await Cluster.open({ master: { auto_accept: false, worker_threads: 3 } })
  pki = join(cluster.configDir, 'pki')
  const keys = new KeyStore(pki)
  const started = cluster.addMinion('web1')
  await until('the key of web1', async () => (await keys.list('pending')).includes('web1' as never))
  await keys.accept('web1')
  await started
  strangers = getTransport('zeromq').connectRequests({ host: '127.0.0.1', port: cluster.ports.request })
  peer = await Peer.named('wire1')
  // Warm up what is compiled and allocated once.
  await Promise.all(Array.from({ length: 2000 }, () => ping()))
  await Promise.all(Array.from({ length: 300 }, () => ask(peer.signInFrame({ id: 'x/y' }))))
  await Promise.all(
    Array.from({ length: 200 }, () => ask(packClear({ cmd: 'ping', x: 'x'.repeat(500_000) }))),
  )
  await expectMinionAnswers()
  before = { tree: filesBelow(pki), processes: processesOfMaster() }
  pings = 0
  pinging = pingUntilOver()
  greetersAreCutOff = greetAndFallSilent()
})

afterAll(async () => {
  isOver = true
  await pinging?.catch(() => undefined)
  await strangers?.close()
  await cluster?.close()
})

/** Each breaks one thing of a sign-in that would otherwise be filed. */
const signIn = (load: Record<string, unknown>, version: unknown = 3) =>
  peer.signInFrame({ id: 'stranger', ...load }, version as number)

const aes = (load: unknown, version: unknown = 3, id: unknown = 'web1') =>
  packAes({ load: load as Buffer, version: version as number, id: id as string, algorithms: ALGORITHMS })

const raw = (hex: string) => Buffer.from(hex, 'hex')

describe('CVE-2017-14696, CVE-2023-20897: the packets that cost real masters a worker each', () => {
  const wedges: Record<string, () => Buffer> = {
    'an id of 300 characters': () => signIn({ id: 'x'.repeat(300) }),
    'no public key': () => signIn({ pub: undefined }),
    'no nonce': () => signIn({ nonce: undefined }),
    'a public key that is a number': () => signIn({ pub: 7 }),
    'a version that is text': () => signIn({}, '3'),
    'no id': () => signIn({ id: undefined }),
    'a nonce that is a map': () => signIn({ nonce: { a: 1 } }),
    'a version that is nil': () => signIn({}, null),
    'an unusable algorithm without token': () => signIn({ enc_algo: 'OAEP-SHA512' }),
    'an unusable algorithm to sign with': () => signIn({ sig_algo: 'none' }),
    'a token that is a map': () => signIn({ token: {}, pub: 'x' }),
    'an id that is an array': () => signIn({ id: ['x'] }),
    'an id that is a map': () => signIn({ id: { x: 1 } }),
    'an id that is nil': () => signIn({ id: null }),
    'an id that is a number': () => signIn({ id: 5 }),
    'a junk key': () => signIn({ pub: 'not a key' }),
    'a junk key of 500 kB': () => signIn({ pub: 'A'.repeat(500_000) }),
  }

  test.each(Object.entries(wedges))('are answered, each of 200: %s', async (_, make) => {
    const replies = await Promise.all(Array.from({ length: 200 }, () => ask(make())))
    for (const reply of replies) expect(reply.length).toBeGreaterThan(0)
    expect(cluster.master.output).not.toContain('does not answer and is replaced')
  })

  test('a minion answers afterwards', expectMinionAnswers)
})

describe('CVE-2017-12791, CVE-2017-14695: an id that is a path, a pattern, or shows as another', () => {
  const ids = [
    '../x',
    'a/b',
    'a\\b',
    'a\0b',
    '..',
    '.',
    '',
    'x\n../y',
    '*',
    'w?b1',
    '[w]eb1',
    'alice\n',
    'a\u202eb',
    ' web1',
    'web1 ',
    '\u200bweb1',
    '../../master',
    '/etc/passwd',
    '../minions/web1',
    'x'.repeat(254),
  ]

  test.each(ids)('is refused: %j', async (id) => {
    const reply = decode(await ask(signIn({ id })))
    const inner = typeof reply === 'string' ? reply : decode(Buffer.from((reply as { load: string }).load))
    expect(typeof inner === 'string' ? inner : (inner as { ret: unknown }).ret).toEqual(
      typeof inner === 'string' ? 'bad load: id contains a null byte' : false,
    )
    expect(decode(await ask(aes(Buffer.alloc(100), 3, id)))).toBe('bad load')
  })
})

describe('a command that needs a key', () => {
  const needing: Record<string, Record<string, unknown>> = {
    publish: {
      tgt: '*',
      tgt_type: 'glob',
      fun: 'cmd.run',
      arg: ['touch /tmp/never'],
      user: 'root',
      key: 'x',
      jid: '',
      ret: '',
    },
    'publish without key': {
      cmd: 'publish',
      tgt: '*',
      tgt_type: 'glob',
      fun: 'cmd.run',
      arg: [],
      user: 'root',
    },
    'publish with a token': {
      cmd: 'publish',
      tgt: '*',
      fun: 'cmd.run',
      arg: [],
      user: 'root',
      kwargs: { token: '../../pki/master.pem' },
    },
    'publish with eauth': {
      cmd: 'publish',
      tgt: '*',
      fun: 'cmd.run',
      arg: [],
      user: 'root',
      kwargs: { eauth: 'pam', username: 'root', password: '' },
    },
    'publish with wrong types': { cmd: 'publish', tgt: { a: 1 }, fun: [[]], arg: 'x', user: 5, key: [] },
    wheel: { fun: 'key.accept', match: '*' },
    'wheel with eauth': {
      cmd: 'wheel',
      fun: 'key.delete',
      match: '*',
      eauth: 'auto',
      username: 'x',
      password: 'y',
    },
    runner: { fun: 'salt.cmd', kwarg: { fun: 'cmd.run', cmd: 'id' } },
    'runner with a token': { cmd: 'runner', fun: 'test.arg', token: 'zz' },
    mk_token: { eauth: 'pam', username: 'root', password: 'x' },
    'mk_token with junk': { cmd: 'mk_token', eauth: { a: 1 }, username: [], token_expire: 'x' },
    get_token: { token: '../../pki/master.pem' },
  }

  test.each(Object.entries(needing))('is refused without one: %s', async (cmd, load) => {
    const reply = decode(await ask(packClear({ cmd, ...load })))
    expect(JSON.stringify(reply)).toMatch(/^(\{\}|""|false|.*AuthenticationError.*|.*Some exception.*)$/)
  })

  const encrypted = [
    '_return',
    '_minion_event',
    '_pillar',
    '_mine',
    'minion_pub',
    'revoke_auth',
    '_file_recv',
    '_master_opts',
  ]

  test.each(encrypted)('is not accepted unencrypted: %s', async (cmd) => {
    const load = { cmd, id: 'web1', jid: '20261120120000123456', return: 1, tag: 'salt/auth', data: {} }
    expect(decode(await ask(packClear(load)))).toEqual({})
    expect(decode(await ask(aes(encodeNetwork(load))))).toBe('bad load')
    expect(decode(await ask(aes(Buffer.alloc(512, 7), 3, 'web1')))).toBe('bad load')
  })
})

describe('a malformed message', () => {
  const nest = (byte: number, depth: number) => Buffer.concat([Buffer.alloc(depth, byte), raw('c0')])
  const malformed: Record<string, Buffer> = {
    empty: Buffer.alloc(0),
    'a reserved byte': raw('c1'),
    'an array of 4 G': raw('ddffffffff'),
    'an array of 16 M': raw('dd01000000'),
    'a map of 4 G': raw('dfffffffff'),
    'text of 4 G': raw('dbffffffff'),
    'bytes of 4 G': raw('c6ffffffff'),
    'an extension of 4 G': raw('c9ffffffff00'),
    'arrays of arrays that promise more than there is': Buffer.alloc(100_000, raw('dc2710')),
    '20,000 nested arrays': nest(0x91, 20_000),
    '2,000,000 nested arrays': nest(0x91, 2_000_000),
    '100,000 nested maps': Buffer.concat([Buffer.alloc(200_000, raw('81a0')), raw('c0')]),
    'a million small maps': Buffer.concat([raw('dd000f4240'), Buffer.alloc(1_000_000, 0x80)]),
    'bytes after the end': Buffer.concat([packClear({ cmd: 'ping' }), raw('00')]),
    'a key of JavaScript': encodeNetwork(
      new Map([
        ['__proto__', { enc: 'clear' }],
        ['load', {}],
      ] as never),
    ),
    'enc an array': encodeNetwork({ enc: [], load: { cmd: 'publish' }, version: 3 }),
    'a load that is a number': encodeNetwork({ enc: 'aes', load: 5, version: 3 }),
    'a load that is a map': encodeNetwork({ enc: 'aes', load: { cmd: 'ping' }, version: 3 }),
    'no cmd': packClear({}),
    'a cmd that is an array': packClear({ cmd: ['ping'] }),
    'a version of 2^63': encodeNetwork({ enc: 'clear', load: { cmd: 'ping' }, version: 2n ** 63n }),
    'a huge clear message': packClear({ cmd: 'ping', x: 'x'.repeat(5_000_000) }),
    'a huge ciphertext': aes(Buffer.alloc(5_000_000)),
  }

  test.each(Object.entries(malformed))('is answered: %s', async (_, frame) => {
    for (let i = 0; i < 5; i++) {
      const reply = decode(await ask(frame))
      expect(JSON.stringify(reply)).toMatch(/bad load|payload and load|Some exception|^\{\}$/)
    }
  })

  test('is answered wherever it is cut off', async () => {
    const whole = signIn({ id: 'x/y' })
    const cuts = Array.from({ length: whole.length }, (_, size) => ask(whole.subarray(0, size)))
    for (const reply of await Promise.all(cuts)) expect(decode(reply)).toEqual({ msg: 'bad load' })
  })
})

test('10,000 random and damaged messages are answered', async () => {
  const random = new Random(20261121)
  const whole = [
    signIn({ id: 'x/y' }),
    packClear({ cmd: 'publish', tgt: '*', fun: 'x', user: 'y' }),
    aes(Buffer.alloc(300)),
  ]
  const frames = Array.from({ length: 10_000 }, (_, n) =>
    n % 2 ? noise(random) : damaged(whole[n % 3]!, random),
  )
  const replies = await Promise.all(frames.map(ask))
  expect(replies.filter((reply) => reply.length > 0)).toHaveLength(10_000)
  await expectMinionAnswers()
})

// All of them wait for a time-out of the master: side by side.
describe.concurrent('a connection that does not speak ZeroMQ', () => {
  const garbage: Record<string, string | Buffer> = {
    HTTP: 'GET / HTTP/1.1\r\nHost: x\r\n\r\n',
    'HTTP with a large header': `POST / HTTP/1.1\r\nCookie: ${'x'.repeat(1_000_000)}\r\n\r\n`,
    'a TLS greeting': raw('160301020001000001fc0303'),
    zeros: Buffer.alloc(100_000),
    'a ZMTP greeting with a foreign mechanism': zmtpGreeting('CURVE'),
    'a ZMTP greeting, and then a frame of 2^62 bytes': Buffer.concat([
      zmtpGreeting('NULL'),
      raw('064000000000000000'),
    ]),
  }

  test.each(Object.entries(garbage))('is cut off on both ports: %s', async (_, bytes) => {
    await Promise.all(
      [cluster.ports.request, cluster.ports.publish].map(async (port) => {
        const socket = await openConnection(port)
        socket.write(bytes)
        await closed(socket)
      }),
    )
  })

  test('200 silent connections on each port are cut off, and do not delay answers to others', async () => {
    const ports = [cluster.ports.request, cluster.ports.publish]
    const sockets = await Promise.all(
      ports.flatMap((port) => Array.from({ length: 200 }, () => openConnection(port))),
    )
    await expectMinionAnswers()
    await Promise.all(sockets.map(closed))
  })

  test('a peer that greets and then stays silent is cut off', () => greetersAreCutOff)
})

describe('after all these connections and messages', () => {
  test('the same processes run, and none has grown by 64 MB', () => expectSameProcesses(before.processes))

  test('peers that keep asking and never read are dropped, and use no memory afterwards', async () => {
    await askAndNeverRead()
    const once = processesOfMaster()
    for (let n = 0; n < 3; n++) await askAndNeverRead()
    expectSameProcesses(once, 240)
  })

  test('the keys are as they were, byte for byte', () => {
    expect(filesBelow(pki)).toEqual(before.tree)
  })

  test('CVE-2015-8034, CVE-2017-8109, CVE-2020-17490: only the user of the master can read what it stores', () => {
    const open = filesBelow(cluster.configDir).filter((line) => Number.parseInt(line.slice(-3), 8) & 0o077)
    // Public keys, the process id, and the log, which Salt gives to the group.
    expect(open.filter((line) => !/\.pub .*100644$|\/pid .*100644$|\/log .*100640$/.test(line))).toEqual([])
  })

  test('the log has no trace of a crash', () => {
    expect(cluster.master.output).not.toMatch(/is started again|Unhandled promise|RangeError|TypeError/)
  })

  test('minions answer', expectMinionAnswers)

  test('every ping was answered', async () => {
    isOver = true
    await pinging
    expect(pings).toBeGreaterThan(0)
  })
})

function expectSameProcesses(earlier: ReadonlyMap<number, number>, megabytes = 64): void {
  const now = processesOfMaster()
  expect([...now.keys()]).toEqual([...earlier.keys()])
  for (const [pid, bytes] of now) expect((bytes - (earlier.get(pid) ?? 0)) / 2 ** 20).toBeLessThan(megabytes)
}

/** 240 MB of requests for 240 MB of answers that nobody takes. */
async function askAndNeverRead(): Promise<void> {
  const greedy = Array.from({ length: 4 }, () => new Dealer({ receiveHighWaterMark: 1, linger: 0 }))
  const request = [Buffer.alloc(0), packClear({ cmd: 'ping', x: 'x'.repeat(60_000) })]
  for (const dealer of greedy) dealer.connect(`tcp://127.0.0.1:${cluster.ports.request}`)
  for (let i = 0; i < 1000; i++) await Promise.all(greedy.map((dealer) => dealer.send(request)))
  await expectMinionAnswers()
  for (const dealer of greedy) dealer.close()
}
