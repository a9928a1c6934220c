import { chmod, mkdir, readFile, writeFile } from 'node:fs/promises'
import { hostname } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { loadMasterConfig, loadMinionConfig } from '../../../core/config/index.ts'
import { removeFolder, temporaryFolder } from '../../harness/folder.ts'
import { needs, ROOT } from '../../harness/needs.ts'

let dir: string
beforeEach(async () => {
  dir = await temporaryFolder('salt-ts-config-')
})
afterEach(async () => {
  vi.unstubAllEnvs()
  await removeFolder(dir)
})

async function write(name: string, text: string): Promise<string> {
  const path = join(dir, name)
  await mkdir(join(path, '..'), { recursive: true })
  await writeFile(path, text, { mode: 0o600 })
  return path
}

const master = (overrides = {}) => loadMasterConfig({ configDir: dir, overrides })
const minion = (overrides = {}) => loadMinionConfig({ configDir: dir, overrides })
const refusal = (message: string, code = 'CONFIG_INVALID') =>
  expect.objectContaining({ code, message: expect.stringContaining(message) })

describe('options that exclude each other', () => {
  test('are publish_port and ret_port with one number', async () => {
    await write('master', 'publish_port: 4506\n')
    expect(() => master()).toThrow(
      refusal('The options publish_port and ret_port are both 4506: give one of them another port'),
    )
    expect(master({ publish_port: 0, ret_port: 0 }).config).toMatchObject({ publish_port: 0, ret_port: 0 })
  })
})

describe('defaults', () => {
  test('are those of Salt, with a warning, when there is no file', () => {
    const { config, warnings } = master()
    expect(config).toMatchObject({
      interface: '0.0.0.0',
      publish_port: 4505,
      ret_port: 4506,
      pki_dir: '/etc/salt/pki/master',
      sock_dir: '/var/run/salt/master',
      cachedir: '/var/cache/salt/master',
      timeout: 5,
      gather_job_timeout: 10,
      keep_jobs_seconds: 86400,
      minimum_auth_version: 3,
      sign_pub_messages: true,
      config_dir: dir,
      conf_file: join(dir, 'master'),
    })
    expect(config.worker_threads).toBeGreaterThanOrEqual(2)
    expect(warnings).toEqual([`There is no configuration file ${join(dir, 'master')}; defaults are used.`])
  })

  test('of a minion include the ports and waits of the protocol', () => {
    expect(minion({ id: 'web1' }).config).toMatchObject({
      id: 'web1',
      master: 'salt',
      master_port: 4506,
      publish_port: 4506,
      auth_timeout: 5,
      auth_tries: 7,
      acceptance_wait_time: 10,
      random_reauth_delay: 10,
      return_retry_timer: 5,
      return_retry_timer_max: 10,
      multiprocessing: true,
    })
  })

  test('read the directory the environment names', async () => {
    await write('master', 'timeout: 9\n')
    vi.stubEnv('SALT_CONFIG_DIR', dir)
    expect(loadMasterConfig().config.timeout).toBe(9)
  })

  test('cannot be changed', async () => {
    await write('master', 'nodegroups: {web: [a, b]}\n')
    const { config } = master()
    expect(Object.isFrozen(config)).toBe(true)
    expect(Object.isFrozen(config.nodegroups.web)).toBe(true)
  })
})

describe('files', () => {
  test('are overridden by included ones in sorted order, and those by the command line', async () => {
    await write('master', 'timeout: 1\ngather_job_timeout: 1\nret_port: 1\npublish_port: 1\n')
    await write('master.d/20.conf', 'gather_job_timeout: 3\nret_port: 3\n')
    await write('master.d/10.conf', 'gather_job_timeout: 2\nret_port: 2\ntimeout: 2\n')
    await write('master.d/30.txt', 'timeout: 99\n')
    await write('master.d/.40.conf', 'timeout: 99\n')
    expect(master({ ret_port: 4, publish_port: undefined }).config).toMatchObject({
      timeout: 2,
      gather_job_timeout: 3,
      ret_port: 4,
      publish_port: 1,
    })
  })

  test('merge maps among included files, and replace the map of the main file', async () => {
    await write('master', 'nodegroups: {main: a}\n')
    await write('master.d/1.conf', 'nodegroups: {web: [w1], db: d1}\n')
    await write('master.d/2.conf', 'nodegroups: {web: [w2]}\n')
    expect(master().config.nodegroups).toEqual({ web: ['w2'], db: 'd1' })
  })

  test('follow include, relative to the file that has it, by name and by pattern', async () => {
    await write('master', 'include:\n  - more/*.conf\n  - gone.conf\n')
    await write('more/a.conf', 'timeout: 7\ninclude: nested/b.conf\n')
    await write('more/nested/b.conf', 'ret_port: 7\n')
    const { config, warnings, read } = master()
    expect(config).toMatchObject({ timeout: 7, ret_port: 7 })
    const [a, b] = [join(dir, 'more', 'a.conf'), join(dir, 'more', 'nested', 'b.conf')]
    expect(read).toEqual([
      `Reading configuration from ${join(dir, 'master')}`,
      ...[`Including configuration from '${a}'`, `Reading configuration from ${a}`],
      ...[`Including configuration from '${b}'`, `Reading configuration from ${b}`],
    ])
    expect(warnings).toEqual([`${join(dir, 'master')} includes gone.conf, which does not exist.`])
  })

  test('that include one another are refused', async () => {
    await write('master', 'include: a.conf\n')
    await write('a.conf', 'include: a.conf\n')
    expect(() => master()).toThrow(refusal('includes itself'))
  })

  test('that are no YAML are refused with the line', async () => {
    await write('master', 'timeout: 1\n  ret_port: [\n')
    expect(() => master()).toThrow(refusal(`${join(dir, 'master')} is not valid`))
    expect(() => master()).toThrow(/line \d/)
  })

  test('that are not lines of key and value are refused', async () => {
    await write('master', '- a\n')
    expect(() => master()).toThrow(refusal('key: value'))
  })

  test('that are no files are refused', async () => {
    await mkdir(join(dir, 'master'))
    expect(() => master()).toThrow(refusal('not a regular file'))
  })
})

describe('types', () => {
  test.each([
    ['publish_port: abc', 'publish_port', 'a whole number from 0 to 65535', 'the text "abc"'],
    ['publish_port: "4505"', 'publish_port', 'a whole number', 'the text "4505"'],
    ['publish_port: 70000', 'publish_port', 'a whole number', '70000'],
    ['interface: yes', 'interface', 'text', 'quotes'],
    ['auto_accept: 1', 'auto_accept', 'true or false', '1'],
    ['auto_accept: []', 'auto_accept', 'true or false', 'a list'],
    ['log_level: loud', 'log_level', 'one of all, garbage', 'the text "loud"'],
    ['nodegroups: {web: {a: 1}}', 'nodegroups:web', 'text or a list of text', 'a map'],
    ['module_dirs: [1]', 'module_dirs:0', 'text', '1'],
    ['include: {a: 1}', 'include', 'text or a list of text', 'a map'],
    ['hash_type: [sha256]', 'hash_type', 'one of md5', 'a list'],
  ])(
    'of "%s" are refused with file, key, the expected and the found type',
    async (line, key, expected, found) => {
      const path = await write('master', `${line}\n`)
      expect(() => master()).toThrow(refusal(`The option ${key} in ${path} must be ${expected}`))
      expect(() => master()).toThrow(refusal(found))
      expect(() => master()).toThrow(
        expect.objectContaining({ data: expect.objectContaining({ file: path, key }) }),
      )
    },
  )

  test('that are wrong are reported with the included file that has them', async () => {
    await write('master', 'timeout: 1\n')
    const path = await write('master.d/x.conf', 'timeout: soon\n')
    expect(() => master()).toThrow(refusal(path))
  })

  test('that are wrong are reported without values that may be secret', async () => {
    await write('master', 'key_pass: [hunter2]\nsigning_key_pass: 1234567\n')
    expect(() => master()).toThrow(
      expect.objectContaining({ message: expect.not.stringMatching(/hunter2|1234567/) }),
    )
  })

  test('are checked on the command line as well', () => {
    expect(() => master({ timeout: 'soon' })).toThrow(refusal('in the command line must be a number'))
  })

  test('that are empty mean the default, and words of levels may be in capitals', async () => {
    await write('master', 'nodegroups:\nlog_level: DEBUG\nhash_type: SHA512\n')
    expect(master().config).toMatchObject({ nodegroups: {}, log_level: 'debug', hash_type: 'sha512' })
  })

  test('allow the id of a minion to be digits', async () => {
    await write('minion', 'id: 1234\n')
    expect(minion().config.id).toBe('1234')
  })
})

describe('warnings', () => {
  test('suggest the right name of a misspelt option, and keep the value for modules', async () => {
    const path = await write('master', 'publsh_port: 1\nfrobnicate: 2\nmysql.host: db\n')
    const { config, warnings, misspelt } = master()
    expect(misspelt).toEqual([`Unknown option 'publsh_port' in ${path}. Did you mean 'publish_port'?`])
    expect(warnings).toEqual([
      ...misspelt,
      `The option frobnicate in ${path} is unknown. Only modules can read it.`,
    ])
    expect(config).toMatchObject({ frobnicate: 2, 'mysql.host': 'db' })
  })

  test('name options that have no effect yet, if they are not at their default', async () => {
    const path = await write(
      'master',
      'reactor: [{a: b}]\nengines: []\ngitfs_remotes: [99999999999999999999]\nfile_recv: false\nenable_ssh_minions: false\nconf_file: /x\n',
    )
    expect(master().warnings).toEqual([
      `The option reactor in ${path} has no effect yet.`,
      `The option gitfs_remotes in ${path} has no effect yet.`,
      `The option conf_file in ${path} has no effect: its value is the location of the configuration file.`,
    ])
  })

  test('do not name options of templates for a minion, only for a master, which has none', async () => {
    const options = 'jinja_env: {trim_blocks: true}\njinja_lstrip_blocks: true\n'
    await write('minion', `id: web1\nallow_undefined: true\n${options}`)
    expect(minion().warnings).toEqual([])
    const ofMaster = await write('master', options)
    expect(master().warnings).toEqual([
      `The option jinja_env in ${ofMaster} has no effect yet.`,
      `The option jinja_lstrip_blocks in ${ofMaster} has no effect yet.`,
    ])
  })

  test('are not given for known options of plugins that only Salt has, unless they are set', async () => {
    const path = await write(
      'minion',
      'id: web1\nstates_dirs: [/srv/states]\nrender_dirs: []\nbeacons_dirs: []\n',
    )
    expect(minion()).toMatchObject({
      misspelt: [],
      warnings: [`The option states_dirs in ${path} has no effect yet.`],
    })
  })

  test('say that startup_states is ignored', async () => {
    await write('minion', 'id: web1\nstartup_states: highstate\n')
    expect(minion().warnings).toEqual(['The option startup_states is ignored: salt-ts has no states yet.'])
  })
})

describe('root_dir', () => {
  test('is put in front of every path that is not inside it', async () => {
    await write(
      'master',
      `root_dir: ${dir}\ncachedir: ${dir}/cache\npki_dir: pki\nautosign_file: /etc/auto\n`,
    )
    expect(master().config).toMatchObject({
      root_dir: dir,
      cachedir: `${dir}/cache`,
      pki_dir: `${dir}/pki`,
      sock_dir: `${dir}/var/run/salt/master`,
      log_file: `${dir}/var/log/salt/master`,
      pidfile: `${dir}/var/run/salt-master.pid`,
      autosign_file: `${dir}/etc/auto`,
      autoreject_file: undefined,
    })
  })

  test('leaves addresses of log servers alone', async () => {
    await write('master', `root_dir: ${dir}\nlog_file: udp://loghost:10514\n`)
    expect(master().config.log_file).toBe('udp://loghost:10514')
  })

  test('may not make the path of a socket longer than the system allows', async () => {
    await write('master', `root_dir: /tmp/${'x'.repeat(80)}\n`)
    expect(() => master()).toThrow(refusal('unix socket'))
    expect(master({ ipc_mode: 'tcp' }).config.ipc_mode).toBe('tcp')
  })

  test('is applied after the sockets moved to the cache, as in Salt', async () => {
    await write('master', 'cachedir: /c\n')
    expect(master().config.sock_dir).toBe('/c/.salt-unix')
  })
})

describe('a configuration that other users may change', () => {
  test.each(['master', 'master.d', 'master.d/x.conf', '.'])(
    'is refused, with the reason: %s',
    async (name) => {
      await write('master', 'timeout: 1\n')
      await write('master.d/x.conf', 'timeout: 2\n')
      await chmod(join(dir, name), name.endsWith('.') || name.endsWith('.d') ? 0o777 : 0o666)
      expect(() => master()).toThrow(refusal('can be changed by other users', 'PERMISSIONS'))
      vi.stubEnv('SALT_TS_INSECURE_CONFIG', '1')
      expect(master().config.timeout).toBe(2)
    },
  )

  test('is refused if it belongs to another user', needs(ROOT), async () => {
    const { chown } = await import('node:fs/promises')
    const path = await write('master', 'timeout: 1\n')
    await chown(path, 12345, 0)
    expect(() => master()).toThrow(refusal('belongs to another user', 'PERMISSIONS'))
  })
})

describe('the id of a minion', () => {
  test('is generated once and then kept', async () => {
    await write('minion', 'minion_id_lowercase: true\n')
    const { id } = minion().config
    expect(id).not.toBe('')
    expect(await readFile(join(dir, 'minion_id'), 'utf8')).toBe(id)
    await writeFile(join(dir, 'minion_id'), 'kept.example.com\n')
    expect(minion().config.id).toBe('kept.example.com')
  })

  test('is refused if it is not valid', async () => {
    await write('minion', 'id: ../web1\n')
    expect(() => minion()).toThrow(refusal('slash', 'ID_INVALID'))
  })

  test('of a master names its host', () => {
    expect(master().config.id).toBe(`${hostname()}_master`)
  })
})

test('keep_jobs_size is read as a size, and an invalid one is refused with an example', async () => {
  expect(master().config.keep_jobs_size).toBe(0)
  for (const [text, bytes] of [
    ['512M', 512 * 2 ** 20],
    ['1.5 GiB', 1.5 * 2 ** 30],
    ['4096', 4096],
    ['10kb', 10_240],
  ]) {
    await write('master', `keep_jobs_size: ${text}\n`)
    expect(master().config.keep_jobs_size).toBe(bytes)
  }
  await write('master', 'keep_jobs_size: much\n')
  expect(() => master()).toThrow(refusal('must be a size such as 512M or 2G'))
})

test('keep_jobs, in hours, counts only without keep_jobs_seconds', async () => {
  await write('master', 'keep_jobs: 2\n')
  expect(master().config.keep_jobs_seconds).toBe(7200)
  await write('master.d/x.conf', 'keep_jobs_seconds: 5\n')
  expect(master().config.keep_jobs_seconds).toBe(5)
})
