import { beforeEach, describe, expect, test } from 'vitest'
import { readOutput } from '../../../../modules/_docker/output.ts'
import * as docker from '../../../../modules/dockermod.ts'
import { type AnyFn, call } from '../context.ts'
import { type Engine, engineContext, frame, openEngine } from './engine.ts'

let folder: string
let engine: Engine

beforeEach(async () => {
  ;({ folder, engine } = await openEngine())
})

const context = () => engineContext(folder)
const ask = (fn: AnyFn, given: Record<string, unknown> = {}, own = context()) => call(fn, given, own)
const sent = (path: string) => engine.asked.find((request) => request.path === path)

test('versions are lists of numbers, too (a stand-in for Docker Engine)', async () => {
  engine.answers['GET /version'] = { content: { Version: '24.0.7-rc1', ApiVersion: '1.43', Os: 'linux' } }
  expect(await ask(docker.version)).toEqual({
    Version: '24.0.7-rc1',
    ApiVersion: '1.43',
    Os: 'linux',
    VersionInfo: [24, 0, 7],
    ApiVersionInfo: [1, 43],
  })
})

describe('Images (a stand-in for Docker Engine)', () => {
  test('are listed with times and sizes in words, and without intermediate ones', async () => {
    const tagged = (await ask(docker.images)) as Record<string, object>
    expect(Object.keys(tagged)).toEqual(['sha256:aaaaaaaaaaaaaaaa'])
    expect(tagged['sha256:aaaaaaaaaaaaaaaa']).toMatchObject({ Size_Human: '1.5 KiB', Time_Created_Epoch: 5 })
    const all = (await ask(docker.images, { all: true, verbose: true })) as Record<string, object>
    expect(all['sha256:bbbbbbbbbbbbbbbb']).toMatchObject({ Size_Human: '10 bytes', Info: { Size: 10 } })
    expect(await ask(docker.list_tags)).toEqual(['debian:12', 'debian:latest'])
  })

  test('are described with sizes in words', async () => {
    expect(await ask(docker.inspect_image, { name: 'debian:12' })).toMatchObject({ Size_Human: '1.5 KiB' })
  })

  test('are found by their tags', async () => {
    expect(await ask(docker.resolve_image_id, { name: 'debian:12' })).toBe('sha256:aaaaaaaaaaaaaaaa')
    expect(await ask(docker.resolve_image_id, { name: 'none' })).toBe(false)
    expect(await ask(docker.resolve_tag, { name: 'debian:12' })).toBe('debian:12')
    expect(await ask(docker.resolve_tag, { name: 'debian:12', all: true })).toEqual([
      'debian:12',
      'debian:latest',
    ])
    expect(await ask(docker.resolve_tag, { name: 'sha256:bbbbbbbbbbbbbbbb' })).toBe('sha256:bbbbbbbbbbbbbbbb')
    expect(await ask(docker.resolve_tag, { name: 'none' })).toBe(false)
  })

  const events = (...list: object[]) => ({ content: list.map((event) => JSON.stringify(event)).join('\r\n') })

  test('are pulled, with the layers that are new', async () => {
    engine.answers['POST /images/create'] = events(
      { status: 'Pulling from library/debian', id: '12' },
      { status: 'Already exists', id: 'l1' },
      { status: 'Pull complete', id: 'l2' },
      { status: 'Status: Downloaded newer image for debian:12' },
    )
    expect(await ask(docker.pull, { image: 'reg.example:5000/debian:12' })).toEqual({
      Time_Elapsed: expect.any(Number),
      retcode: 0,
      Layers: { Already_Pulled: ['l1'], Pulled: ['l2'] },
      Status: 'Downloaded newer image for debian:12',
    })
    const { query } = sent('/images/create')!
    expect([query.get('fromImage'), query.get('tag')]).toEqual(['reg.example:5000/debian', '12'])
  })

  test('that cannot be pulled are an error and a return code', async () => {
    engine.answers['POST /images/create'] = events({
      errorDetail: { code: 7, message: 'no space' },
      error: 'no space',
    })
    const own = context()
    expect(await ask(docker.pull, { image: 'reg.example:5000/debian' }, own)).toMatchObject({
      retcode: 1,
      Errors: ['7: no space'],
    })
    expect(own.retcode).toBe(1)
    expect(sent('/images/create')!.query.get('tag')).toBe('latest')
  })

  test('are removed with their tags, and containers that use them are named', async () => {
    engine.containers.web = { Id: 'c1', Names: ['/web'], ImageID: 'sha256:aaaaaaaaaaaaaaaa', Status: 'Up' }
    engine.answers['DELETE /images/sha256:aaaaaaaaaaaaaaaa'] = {
      status: 409,
      content: { message: 'conflict' },
    }
    const refused = (await ask(docker.rmi, { names: ['debian:12'], kwargs: {} })) as { Errors: string[] }
    expect(refused).toMatchObject({ Layers: [], Tags: [], retcode: 1 })
    expect(refused.Errors).toEqual([
      'conflict',
      'Image is in use by container(s): web and image(s): sha256:bbbbb',
    ])
    engine.answers = {}
    expect(await ask(docker.rmi, { names: ['debian:12'], kwargs: { force: true } })).toMatchObject({
      Layers: ['sha256:aaaaaaaaaaaaaaaa'],
      retcode: 0,
    })
  })

  test('have layers', async () => {
    const content = [{ Id: `sha256:${'1'.repeat(64)}` }, { Id: '<missing>' }]
    engine.answers['GET /images/debian:12/history'] = { content }
    expect(await ask(docker.layers, { name: 'debian:12' })).toEqual(['<missing>', '1'.repeat(12)])
    await expect(ask(docker.layers, { name: 'none' })).rejects.toThrow("Image 'none' not found")
  })

  test('have a history', async () => {
    engine.answers['GET /images/debian:12/history'] = {
      content: [
        { Created: 6, CreatedBy: '/bin/sh -c #(nop) CMD ["bash"]', Size: 0 },
        { Created: 5, CreatedBy: '', Size: 2048 },
      ],
    }
    expect(await ask(docker.history, { name: 'debian:12', quiet: true })).toEqual([
      'FROM scratch',
      'CMD ["bash"]',
    ])
  })
})

describe('Containers (a stand-in for Docker Engine)', () => {
  test('are made with the options of Salt, and started', async () => {
    const kwargs = {
      command: 'nginx -g "daemon off;"',
      environment: [{ A: 1 }, 'B=2'],
      binds: '/srv:/srv:ro,/data:/data',
      publish: '127.0.0.1:8080:80,53:53/udp',
      restart_policy: 'on-failure:3',
      memory: '512m',
      host_config: { ShmSize: 64 },
    }
    const made = await ask(docker.create, { image: 'debian:12', name: 'web', start: true, kwargs })
    expect(made).toMatchObject({ Id: 'c'.repeat(12), Name: 'web', Started: true })
    expect(sent('/containers/create')!.body).toEqual({
      Image: 'debian:12',
      Cmd: ['nginx', '-g', 'daemon off;'],
      Env: ['A=1', 'B=2'],
      ExposedPorts: { '80/tcp': {}, '53/udp': {} },
      HostConfig: {
        Binds: ['/srv:/srv:ro', '/data:/data'],
        PortBindings: {
          '80/tcp': [{ HostIp: '127.0.0.1', HostPort: '8080' }],
          '53/udp': [{ HostIp: '', HostPort: '53' }],
        },
        RestartPolicy: { Name: 'on-failure', MaximumRetryCount: 3 },
        Memory: 512 * 1024 ** 2,
        ShmSize: 64,
      },
    })
    expect(await ask(docker.state, { name: 'web' })).toBe('running')
  })

  test.each([
    [
      { colour: 'red' },
      "docker.create does not know the option 'colour'; give what Docker's interface takes",
    ],
    [{ port_bindings: 'http' }, "'http' is no published port; write it as 8080:80"],
    [{ mem_limit: 'much' }, "'much' is no size of memory"],
  ])('are not made with %j', async (kwargs, message) => {
    await expect(ask(docker.create, { image: 'debian:12', kwargs })).rejects.toThrow(message)
    expect(sent('/containers/create')).toBeUndefined()
  })

  test('run to their end, and return their output and exit code', async () => {
    expect(await ask(docker.run_container, { image: 'debian:12', name: 'job', kwargs: {} })).toMatchObject({
      Name: 'job',
      Logs: 'out\nerr\n',
      ExitCode: 3,
    })
  })

  test('replace another one of their name only on request', async () => {
    const again = (more: object) =>
      ask(docker.run_container, { image: 'debian:12', name: 'web', bg: true, kwargs: {}, ...more })
    await again({})
    await expect(again({})).rejects.toThrow(
      "Container 'web' exists and is running. Run with replace=True and force=True",
    )
    expect(await again({ replace: true, force: true })).toMatchObject({ Replaces: ['c'.repeat(12)] })
  })

  test('are paused, waited for, and named anew', async () => {
    await ask(docker.create, { image: 'debian:12', name: 'web', kwargs: {} })
    expect(await ask(docker.pause, { name: 'web' })).toMatchObject({
      result: false,
      comment: "Container 'web' is stopped, cannot pause",
    })
    await ask(docker.start, { name: 'web' })
    expect(await ask(docker.pause, { name: 'web' })).toEqual({
      result: true,
      state: { old: 'running', new: 'paused' },
    })
    expect(await ask(docker.start, { name: 'web' })).toEqual({
      result: false,
      state: { old: 'paused', new: 'paused' },
      comment: "Container 'web' is paused, cannot start",
    })
    expect(await ask(docker.unfreeze, { name: 'web' })).toMatchObject({ result: true })
    expect(await ask(docker.restart, { name: 'web', timeout: 1 })).toEqual({
      result: true,
      state: { old: 'running', new: 'running' },
      restarted: true,
    })
    expect(await ask(docker.signal, { name: 'web', signal: 'SIGHUP' })).toBe(true)
    expect(sent('/containers/web/kill')!.query.get('signal')).toBe('SIGHUP')
    expect(await ask(docker.wait, { name: 'web', fail_on_exit_status: true })).toEqual({
      result: false,
      state: { old: 'running', new: 'stopped' },
      exit_status: 3,
    })
    expect(await ask(docker.wait, { name: 'none' })).toEqual({
      result: false,
      comment: "Container 'none' absent",
    })
    expect(await ask(docker.exists, { name: 'web' })).toBe(true)
    expect(await ask(docker.exists, { name: 'none' })).toBe(false)
  })

  test('are stopped before they are removed, and a paused one only on request', async () => {
    const made = { image: 'debian:12', name: 'web', start: true, kwargs: {} }
    await ask(docker.create, made)
    await ask(docker.pause, { name: 'web' })
    expect(await ask(docker.stop, { name: 'web' })).toMatchObject({
      result: false,
      comment: "Container 'web' is paused, run with unpause=True to unpause before stopping",
    })
    expect(await ask(docker.stop, { name: 'web', unpause: true, timeout: 3 })).toEqual({
      result: true,
      state: { old: 'paused', new: 'stopped' },
    })
    expect(sent('/containers/web/stop')!.query.get('t')).toBe('3')
    await ask(docker.start, { name: 'web' })
    await expect(ask(docker.rm, { name: 'web' })).rejects.toThrow('is running, use force=True')
    expect(await ask(docker.rm, { name: 'web', stop: true })).toEqual(['c'.repeat(12)])
  })

  test('have their output, processes, ports and changes returned', async () => {
    await ask(docker.create, { image: 'debian:12', name: 'web', kwargs: {} })
    expect(await ask(docker.logs, { name: 'web', tail: 5 })).toBe('out\nerr\n')
    expect(sent('/containers/web/logs')!.query.get('tail')).toBe('5')
    engine.answers['GET /containers/web/top'] = {
      content: { Titles: ['PID', 'CMD'], Processes: [['7', 'nginx']] },
    }
    expect(await ask(docker.top, { name: 'web' })).toEqual([{ PID: '7', CMD: 'nginx' }])
    engine.answers['GET /containers/web/changes'] = {
      content: [
        { Kind: 1, Path: '/a' },
        { Kind: 0, Path: '/b' },
      ],
    }
    expect(await ask(docker.diff, { name: 'web' })).toEqual({ Added: ['/a'], Changed: ['/b'] })
    const Ports = { '80/tcp': [{ HostPort: '8080' }], '53/udp': null }
    engine.answers['GET /containers/web/json'] = { content: { NetworkSettings: { Ports } } }
    expect(await ask(docker.port, { name: 'web' })).toEqual(Ports)
    expect(await ask(docker.port, { name: 'w*', private_port: 80 })).toEqual({
      web: { '80/tcp': Ports['80/tcp'] },
    })
    await expect(ask(docker.port, { name: 'web', private_port: 'http' })).rejects.toThrow(
      "Invalid private_port 'http'",
    )
  })
})

describe('Commands in a container (a stand-in for Docker Engine)', () => {
  beforeEach(() => {
    engine.answers['POST /containers/web/exec'] = { content: { Id: 'e1' } }
    engine.answers['POST /exec/e1/start'] = { content: Buffer.concat([frame(2, 'no\n'), frame(1, 'yes\n')]) }
    engine.answers['GET /exec/e1/json'] = { content: { ExitCode: 4, Pid: 9 } }
  })

  test('have both streams, and set the return code', async () => {
    const own = context()
    const given = { name: 'web', cmd: 'ls | wc' }
    expect(await ask(docker.run_all, given, own)).toEqual({ pid: 9, retcode: 4, stdout: 'yes', stderr: 'no' })
    expect(own.retcode).toBe(4)
    expect(await ask(docker.run, given)).toBe('no\nyes')
    expect(await ask(docker.run_stdout, given)).toBe('yes')
    expect(await ask(docker.run_stderr, given)).toBe('no')
    expect(await ask(docker.retcode, given)).toBe(4)
    expect(sent('/containers/web/exec')!.body.Cmd).toEqual([
      ...['env', '-i', expect.stringMatching(/^PATH=/), 'sh', '-c', 'ls | wc'],
    ])
  })

  test('need no shell, and get the variables that are kept', async () => {
    await ask(docker.run, {
      name: 'web',
      cmd: "echo 'a b'",
      python_shell: false,
      keep_env: true,
      ignore_retcode: true,
    })
    expect(sent('/containers/web/exec')!.body.Cmd).toEqual(['echo', 'a b'])
  })

  test('are refused with another exec_driver', async () => {
    await expect(ask(docker.run, { name: 'web', cmd: 'a', exec_driver: 'nsenter' })).rejects.toThrow(
      "not by 'nsenter'",
    )
  })
})

describe('Networks and volumes (a stand-in for Docker Engine)', () => {
  test('are listed by filters, made and removed', async () => {
    engine.answers['GET /networks'] = { content: [{ Id: 'n1', Name: 'web' }] }
    engine.answers['GET /networks/n1'] = { content: { Id: 'n1', Containers: { c1: {} } } }
    expect(await ask(docker.networks, { names: 'web, db' })).toEqual([
      { Id: 'n1', Name: 'web', Containers: { c1: {} } },
    ])
    expect(sent('/networks')!.query.get('filters')).toBe('{"name":["web","db"]}')
    engine.answers['POST /networks/create'] = { status: 201, content: { Id: 'n2', Warning: '' } }
    expect(await ask(docker.create_network, { name: 'x', subnet: '192.0.2.0/24' })).toEqual({
      Id: 'n2',
      Warning: '',
    })
    expect(sent('/networks/create')!.body).toMatchObject({
      Name: 'x',
      Driver: 'bridge',
      Internal: false,
      IPAM: { Driver: 'default', Config: [{ Subnet: '192.0.2.0/24' }] },
    })
    const ipam_pools = [
      { subnet: '192.0.2.0/24', aux_address: 'router=192.0.2.2' },
      { subnet: '2001:db8::/64' },
    ]
    await ask(docker.create_network, { name: 'y', ipam_pools, driver_opts: 'parent=eth0,mode=l2' })
    expect(engine.asked.at(-1)!.body).toMatchObject({
      Options: { parent: 'eth0', mode: 'l2' },
      IPAM: {
        Config: [
          { Subnet: '192.0.2.0/24', AuxiliaryAddresses: { router: '192.0.2.2' } },
          { Subnet: '2001:db8::/64' },
        ],
      },
    })
    await expect(
      ask(docker.create_network, { name: 'z', ipam_pools, subnet: '192.0.2.0/24' }),
    ).rejects.toThrow('Give subnet in a map of ipam_pools, or without ipam_pools.')
    engine.answers['POST /networks/x/connect'] = {}
    const given = { container: 'web', net_id: 'x', kwargs: { ipv4_address: '192.0.2.5' } }
    expect(await ask(docker.connect_container_to_network, given)).toBe(true)
    expect(sent('/networks/x/connect')!.body).toEqual({
      Container: 'web',
      EndpointConfig: { IPAMConfig: { IPv4Address: '192.0.2.5' } },
    })
    await expect(ask(docker.remove_network, { network_id: 'none' })).rejects.toThrow('Error 404')
    engine.answers['GET /volumes'] = { content: { Volumes: [], Warnings: null } }
    expect(await ask(docker.volumes, { filters: { dangling: true } })).toEqual({
      Volumes: [],
      Warnings: null,
    })
    expect(sent('/volumes')!.query.get('filters')).toBe('{"dangling":["true"]}')
  })

  test('are found by name, after containers and images', async () => {
    engine.answers['GET /volumes/data'] = { content: { Name: 'data', Driver: 'local' } }
    expect(await ask(docker.inspect, { name: 'data' })).toEqual({ Name: 'data', Driver: 'local' })
    await expect(ask(docker.inspect, { name: 'none' })).rejects.toThrow(
      'Error 404: No such image/container/volume/network: none',
    )
  })
})

test('names cannot lead to another path of the API', async () => {
  await expect(ask(docker.inspect_container, { name: '../images/debian:12' })).rejects.toThrow('Error 404')
  expect(engine.asked.map(({ path }) => path)).toEqual(['/containers/../images/debian:12/json'])
  for (const name of ['..', '.', ''])
    await expect(ask(docker.rm, { name, force: true })).rejects.toThrow('is no name of anything in Docker')
})

test('output of a terminal has no headers', () => {
  expect(readOutput(Buffer.from('plain text'))).toEqual({
    stdout: 'plain text',
    stderr: '',
    all: 'plain text',
  })
  expect(readOutput(Buffer.alloc(0))).toEqual({ stdout: '', stderr: '', all: '' })
})
