import { createServer, type RequestListener, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, expect, test } from 'vitest'
import cloud from '../../../../../plugins/grains/_core/cloud.ts'
import { ec2 } from '../../../../../plugins/grains/_metadata/ec2.ts'
import { azure, gce } from '../../../../../plugins/grains/_metadata/others.ts'
import { SLOW } from '../../../../harness/slow.ts'
import { collectFrom } from '../context.ts'

let server: Server | undefined
afterEach(() => server?.close())

async function serve(listener: RequestListener): Promise<string> {
  server = createServer(listener)
  await new Promise<void>((resolve) => server!.listen(0, '127.0.0.1', resolve))
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

const EC2: Readonly<Record<string, string>> = {
  '/latest/': 'dynamic\nmeta-data\nuser-data',
  '/latest/dynamic/': 'instance-identity/',
  '/latest/dynamic/instance-identity/': 'document\nsignature',
  '/latest/dynamic/instance-identity/document': '{"region":"eu-central-1"}',
  '/latest/dynamic/instance-identity/signature': 'c2ln\n',
  '/latest/meta-data/': 'ami-id\npublic-keys/\nplacement/',
  '/latest/meta-data/ami-id': 'ami-1',
  '/latest/meta-data/public-keys/': '0=key',
  '/latest/meta-data/public-keys/0/': 'openssh-key',
  '/latest/meta-data/public-keys/0/openssh-key': 'ssh-rsa AAAA key',
  '/latest/meta-data/placement/': 'region',
  '/latest/meta-data/placement/region': 'eu-central-1',
  '/latest/user-data/': '#!/bin/sh\n',
}
const found = {
  dynamic: { 'instance-identity': { document: { region: 'eu-central-1' }, signature: 'c2ln\n' } },
  'meta-data': {
    'ami-id': 'ami-1',
    'public-keys': { key: { 'openssh-key': 'ssh-rsa AAAA key' } },
    placement: { region: 'eu-central-1' },
  },
  'user-data': '#!/bin/sh\n',
}

test.each([true, false])(
  'EC2: all folders are read, by a token: %s (a server on loopback)',
  async (wantsToken) => {
    const url = await serve((request, response) => {
      if (request.url === '/latest/api/token') {
        const isAsked = request.method === 'PUT' && request.headers['x-aws-ec2-metadata-token-ttl-seconds']
        return void response.writeHead(wantsToken && isAsked ? 200 : 404).end('t1')
      }
      if (wantsToken && request.headers['x-aws-ec2-metadata-token'] !== 't1')
        return void response.writeHead(401).end()
      const body = EC2[request.url ?? '']
      const type = request.url === '/latest/user-data/' ? 'application/octet-stream' : 'text/plain'
      response.writeHead(body === undefined ? 404 : 200, { 'Content-Type': type }).end(body)
    })
    expect(await ec2(url)).toEqual(found)
  },
)

test('Azure and Google: the map is read with their header (servers on loopback)', async () => {
  const url = await serve(({ url, headers }, response) => {
    response.setHeader('Metadata-Flavor', 'Google')
    if (url === '/') return void response.end()
    if (url === '/metadata/instance?api-version=2020-09-01' && headers.metadata === 'true')
      return void response.end('{"compute":{"name":"vm1"}}')
    if (url === '/computeMetadata/v1/?alt=json&recursive=true' && headers['metadata-flavor'] === 'Google')
      return void response.end('{"instance":{"id":1}}')
    response.writeHead(404).end()
  })
  expect(await azure(url)).toEqual({ compute: { name: 'vm1' } })
  expect(await gce(url)).toEqual({ instance: { id: 1 } })
})

test('an unrelated server, or one that never answers, gives no grains', SLOW, async () => {
  const url = await serve((request, response) => {
    if (request.url?.startsWith('/latest')) response.writeHead(404).end()
  })
  expect(await ec2(url)).toEqual({})
  expect(await azure(url)).toEqual({})
  expect(await gce(url)).toEqual({})
  server?.closeAllConnections()
})

test('by default no server is asked', async () => {
  expect(await collectFrom(cloud)).toEqual({ grains: {}, lines: [] })
})
