import { createServer, type Server } from 'node:http'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import * as docker from '../../../modules/dockermod.ts'
import { removeFolder, temporaryFolder } from '../../harness/folder.ts'
import { type AnyFn, call, fakeContext } from './context.ts'

let folder: string
let server: Server
let running: boolean
let asked: string[]

beforeEach(async () => {
  folder = await temporaryFolder('salt-ts-docker-')
  running = true
  asked = []
  server = createServer(({ method, url = '' }, response) => {
    asked.push(`${method} ${url}`)
    if (method === 'POST') running = !url.includes('/stop')
    if (url === '/_ping') return response.end('OK')
    if (url.startsWith('/containers/json')) {
      return response.end(
        JSON.stringify([
          { Id: 'abc', Created: 5, Names: ['/web'], Image: 'nginx', Status: 'Up 2 hours' },
          { Id: 'old', Names: ['/old'], Status: 'Exited (0) 1 day ago' },
        ]),
      )
    }
    if (url.startsWith('/containers/web'))
      return response.end(JSON.stringify({ State: { Running: running } }))
    response.writeHead(404)
    return response.end(JSON.stringify({ message: 'No such container: none' }))
  })
  await new Promise<void>((resolve) => server.listen(join(folder, 'docker.sock'), resolve))
})
afterEach(async () => {
  await new Promise((resolve) => server.close(resolve))
  await removeFolder(folder)
})

const ask = (fn: AnyFn, given: Record<string, unknown> = {}, socket = 'docker.sock') =>
  call(fn, given, fakeContext({ opts: { 'docker.url': `unix://${folder}/${socket}` } }))

test('dockermod sends requests to Docker through its socket (a stand-in for Docker)', async () => {
  expect(await ask(docker.ping)).toBe(true)
  expect(await ask(docker.ps)).toEqual({
    abc: {
      Names: ['/web'],
      Image: 'nginx',
      Status: 'Up 2 hours',
      Time_Created_Epoch: 5,
      Time_Created_Local: expect.stringMatching(/^\d{4}-\d\d-\d\d \d\d:\d\d:05 ([A-Z]{3,5}|[+-]\d{4})$/),
    },
  })
  expect(await ask(docker.list_containers)).toEqual(['web'])
  expect(await ask(docker.list_containers, { all: true })).toEqual(['old', 'web'])
})

test('dockermod stops and starts a container, and reports if there is nothing to do (a stand-in for Docker)', async () => {
  expect(await ask(docker.start, { name: 'web' })).toMatchObject({
    result: false,
    comment: "Container 'web' already running",
  })
  expect(await ask(docker.stop, { name: 'web' })).toEqual({
    result: true,
    state: { old: 'running', new: 'stopped' },
  })
  expect(asked).toContain('POST /containers/web/stop?t=10')
  expect(await ask(docker.start, { name: 'web' })).toMatchObject({ result: true })
})

test('dockermod passes on errors of Docker, and reports that it is not running', async () => {
  await expect(ask(docker.inspect_container, { name: 'none' })).rejects.toThrow(
    'Error 404: No such container: none',
  )
  await expect(ask(docker.rm, { name: 'web' })).rejects.toThrow('is running, use force=True')
  await expect(ask(docker.ping, {}, 'no.sock')).rejects.toThrow(/cannot be reached at .*no\.sock: ENOENT/)
})
