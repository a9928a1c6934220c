/**
 * A kind of extension, and the places where its files are found. A new kind needs a row in the table below, and a template of
 * `salt-ts create`.
 */
export interface Kind {
  readonly name: KindName
  /** Longest time that a file may take to load, in milliseconds, if not the default. */
  readonly loadMs?: number
  /** `functions`: every export is a function users call. `plugin`: one default export per file. */
  readonly shape: 'functions' | 'plugin'
  /** Directory of the built-in files, relative to the package's root. */
  readonly builtIn: string
  /**
   * Names of the directory inside `module_dirs`, `extension_modules` and packages, and with a `_` before it on the file
   * server. The first is that of salt-ts, others are Salt's.
   */
  readonly folders: readonly [string, ...string[]]
  /** Salt's option for further directories. */
  readonly dirsKey: string
  /** Salt's option for names that are disabled. */
  readonly disableKey: string
  /** Salt's option for the only names that are allowed. */
  readonly whitelistKey?: string
  /** Functions that the default export of a plugin must have. */
  readonly members?: readonly string[]
  /** Function of `salt-ts` that makes the default export of a plugin. */
  readonly maker?: string
}

/**
 * A long limit, since many engines and returner processes start at once with their daemon, and a slow file delays no
 * others.
 */
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

/** Return Salt's options for a kind, by its name in Salt: `runner` → `runner_dirs`, `disable_runners`. */
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
