import { execFileSync } from 'node:child_process'
import { readFile, stat, truncate, writeFile } from 'node:fs/promises'
import { createServer as overHttp, type RequestListener } from 'node:http'
import { createServer as overHttps } from 'node:https'
import { type AddressInfo, createServer, type Server } from 'node:net'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, onTestFinished, test } from 'vitest'
import { download, readUrl } from '../../../../modules/_cp/http.ts'
import { removeFolder, temporaryFolder } from '../../../harness/folder.ts'
import { SLOW } from '../../../harness/slow.ts'

let folder: string
let server: Server
let port: number
/** Protocol and password of each request. */
let asked: (string | undefined)[]

const TLS_HANDSHAKE = 22

beforeEach(async () => {
  folder = await temporaryFolder('salt-http-')
  asked = []
  const { key, cert } = await makeCertificate()
  const secure = overHttps({ key, cert }, answer('https'))
  const plain = overHttp(answer('http'))
  server = createServer((socket) =>
    socket.once('data', (first) => {
      socket.pause()
      socket.unshift(first)
      const chosen = first[0] === TLS_HANDSHAKE ? secure : plain
      chosen.emit('connection', socket)
      process.nextTick(() => socket.resume())
    }),
  )
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  port = (server.address() as AddressInfo).port
})
afterEach(async () => {
  await new Promise((resolve) => server.close(resolve))
  await removeFolder(folder)
})

const answer =
  (protocol: string): RequestListener =>
  ({ url, headers }, response) => {
    asked.push(`${protocol} ${headers.authorization ? 'with password' : 'without'}`)
    response.setHeader('connection', 'close')
    const to = url?.slice(1)
    if (to?.startsWith('http')) response.writeHead(302, { location: `${to}://127.0.0.1:${port}/end` }).end()
    else if (headers['if-none-match'] === '"1"') response.writeHead(304).end()
    else response.writeHead(200, { etag: '"1"' }).end('from the web')
  }

async function makeCertificate() {
  const [key, cert] = [join(folder, 'key.pem'), join(folder, 'cert.pem')]
  const made = ['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes']
  const about = ['-days', '1', '-subj', '/CN=localhost', '-keyout', key, '-out', cert]
  execFileSync('openssl', [...made, ...about], { stdio: 'ignore' })
  return { key: await readFile(key), cert: await readFile(cert) }
}

const options = { verifySsl: false, signal: new AbortController().signal }

test('a password given for https is never sent over http, even to the same host and port', async () => {
  const content = await readUrl(`https://me:c4n4ry@127.0.0.1:${port}/http`, options)
  expect(content.toString()).toBe('from the web')
  expect(asked).toEqual(['https with password', 'http without'])
})

test('a password is sent to the server of a redirect if it was given for that server', async () => {
  await readUrl(`https://me:c4n4ry@127.0.0.1:${port}/https`, options)
  expect(asked).toEqual(['https with password', 'https with password'])
})

test('a large existing file is not read to find out whether the server has another one', async () => {
  const dest = join(folder, 'large')
  await writeFile(dest, '')
  await truncate(dest, 3 * 2 ** 30) // more than Node reads into one buffer
  await writeFile(`${dest}.etag`, '"1"')
  await download(`http://127.0.0.1:${port}/x`, dest, { ...options, useEtag: true, check: async () => {} })
  expect((await stat(dest)).size).toBe(3 * 2 ** 30)
})

test('content is read only up to a limit, since a server may send without end', async () => {
  const url = `https://127.0.0.1:${port}/https`
  await expect(readUrl(url, options, 4)).rejects.toThrow('it has more than 4 bytes; fetch it into a file')
})

test('a body without a length that ends because the job is cancelled replaces no file', SLOW, async () => {
  const half = createServer((socket) => {
    socket.on('error', () => {})
    socket.once('data', () => socket.write('HTTP/1.1 200 OK\r\n\r\nhalf'))
  })
  onTestFinished(() => void half.close())
  await new Promise<void>((resolve) => half.listen(0, '127.0.0.1', resolve))
  const url = `http://127.0.0.1:${(half.address() as AddressInfo).port}/`
  const dest = join(folder, 'file')
  await writeFile(dest, 'whole')
  const options = () => ({ verifySsl: true, signal: AbortSignal.timeout(500) })
  await expect(download(url, dest, { ...options(), useEtag: false, check: async () => {} })).rejects.toThrow(
    'Error reading',
  )
  expect(await readFile(dest, 'utf8')).toBe('whole')
  await expect(readUrl(url, options())).rejects.toThrow('Error reading')
})
