import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import type { Context } from 'salt-ts'
import { renderTemplate } from '../../../../modules/_template/index.ts'
import { fakeContext } from '../context.ts'

const folder = fileURLToPath(new URL('files/', import.meta.url))

/** The functions of the minion in these tests. */
const functions: Readonly<Record<string, (args: readonly unknown[], kwargs: object) => unknown>> = {
  'test.echo': ([text]) => text,
  'test.kwarg': (_args, kwargs) => kwargs,
  'test.fail': () => {
    throw new Error('it failed')
  },
  'cmd.run': ([command]) => `ran ${command}`,
  'cp.cache_file': (given) => {
    const { path } = given as unknown as { path: string }
    const file = folder + path.slice('salt://'.length)
    return existsSync(file) ? file : false
  },
}

export const context = (overrides: Partial<Context> = {}): Context =>
  fakeContext({
    grains: {
      os: 'Debian',
      osmajorrelease: 12,
      ipv4: ['127.0.0.1', '10.0.0.5'],
      num: 1.5,
      nested: { a: { b: 'c' } },
    },
    pillar: {
      users: { fred: { uid: 1000, shell: '/bin/sh' }, ann: { uid: 1001 } },
      list: [3, 1, 2],
      empty: '',
      none: null,
      flag: true,
    },
    call: (async (name: string, args: readonly unknown[], kwargs: object) =>
      functions[name]?.(args, kwargs)) as unknown as Context['call'],
    loader: {
      functions: async (pattern: string) => Object.keys(functions).filter((name) => name === pattern),
    } as unknown as Context['loader'],
    ...overrides,
  })

export const render = (
  template: string,
  variables: Readonly<Record<string, unknown>> = {},
  of: Context = context(),
): Promise<string> => renderTemplate(template, 'jinja', { saltenv: 'base', variables }, of)
