/** The kinds of extensions, and where each is found. One row is all a new kind needs. */
export interface Kind {
  readonly name: KindName
  /** A file may take so long to load, where that is more than elsewhere. Milliseconds. */
  readonly loadMs?: number
  /** `functions`: every export is a function users call. `plugin`: one default export per file. */
  readonly shape: 'functions' | 'plugin'
  /** Folder of the built-in ones, from the package's root. */
  readonly builtIn: string
  /**
   * Names of the folder inside `module_dirs`, `extension_modules` and packages, and with `_` before it on the file
   * server; the first is ours, others are Salt's.
   */
  readonly folders: readonly [string, ...string[]]
  /** Config keys, Salt's names. */
  readonly dirsKey: string
  readonly disableKey: string
  readonly whitelistKey?: string
  /** Functions the default export of a plugin must have. */
  readonly members?: readonly string[]
  /** What authors make the default export of a plugin with, of `salt-ts`. */
  readonly maker?: string
}

/** Many engines, or processes of returners, start at once with their daemon, and a slow file there holds up nobody else. */
const patient = { loadMs: 60_000 } as const

const table = [
  {
    name: 'modules',
    shape: 'functions',
    builtIn: 'modules',
    folders: ['modules'],
    dirsKey: 'module_dirs',
    disableKey: 'disable_modules',
    whitelistKey: 'whitelist_modules',
  },
  functions('runners', 'runner'),
  functions('wheel', 'wheel', 'plugins/wheel'),
  functions('utils', 'utils'),
  { ...plugins('returners', 'returner', { maker: 'returner', ...patient }, 'create'), builtIn: 'returners' },
  plugins(
    'outputters',
    'outputter',
    { maker: 'outputter', folders: ['outputters', 'output'], disableKey: 'disable_outputs' },
    'render',
  ),
  plugins('grains', 'grains', { maker: 'grains' }, 'collect'),
  plugins('matchers', 'matchers', { maker: 'matcher' }, 'match'),
  plugins('executors', 'executor', { maker: 'executor' }, 'execute'),
  plugins('auth', 'auth', { maker: 'auth' }, 'authenticate'),
  plugins('engines', 'engines', { maker: 'engine', ...patient }, 'start'),
  plugins('fileserver', 'fileserver', { maker: 'fileServerBackend' }, 'open'),
] as const

export type KindName = (typeof table)[number]['name']

export const kinds: ReadonlyMap<string, Kind> = new Map(table.map((kind) => [kind.name, kind as Kind]))

/** Salt's keys are made of its name for the kind: `runner` → `runner_dirs`, `disable_runners`. */
function keys(tag: string): { dirsKey: string; disableKey: string } {
  return { dirsKey: `${tag}_dirs`, disableKey: `disable_${tag}${tag.endsWith('s') ? '' : 's'}` }
}

function functions<const N extends string>(name: N, tag: string, builtIn: string = name) {
  return { name, shape: 'functions', builtIn, folders: [name], ...keys(tag) } as const
}

function plugins<const N extends string>(
  name: N,
  tag: string,
  own: {
    readonly maker: string
    readonly folders?: readonly [string, ...string[]]
    readonly disableKey?: string
    readonly loadMs?: number
  },
  ...members: readonly string[]
) {
  return {
    name,
    shape: 'plugin',
    builtIn: `plugins/${name}`,
    folders: [name],
    ...keys(tag),
    ...own,
    members,
  } as const
}
