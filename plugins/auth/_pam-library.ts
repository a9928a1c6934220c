/** Calls libpam and the accounts of this host through koffi. Calls block until PAM is done: for helper processes only. */
import { library } from './_library.ts'

export interface PamRequest {
  readonly service: string
  readonly username: string
  readonly password: string
  /** Whether users may log in whose shell forbids it, like `nologin`. */
  readonly anyShell: boolean
}

/** `delayMs` is the delay after a failure that the PAM modules ask for. */
export type PamAnswer =
  | { readonly name: string; readonly groups: readonly string[] }
  | { readonly refused: string; readonly delayMs: number }

/** A pointer as koffi represents it. */
type Pointer = bigint
interface Account {
  readonly name: string
  readonly gid: number
  readonly shell: string | null
}

const ECHO_OFF = 1
/** Messages that need no answer. */
const ERROR_MESSAGE = 3
const TEXT_INFO = 4
const SUCCESS = 0
const CONVERSATION_ERROR = 19
const ITEM_USER = 2
const ITEM_FAIL_DELAY = 10
/** Result codes that refuse the user. All others report a failure of PAM itself. */
const REFUSALS = new Set([6, 7, 8, 10, 11, 12, 13, 16, 19, 20, 27])
const MAX_GROUPS = 65_536

/** Rejects if koffi or libpam is missing. */
export async function openPam(): Promise<(request: PamRequest) => PamAnswer> {
  const { default: koffi } = await library('pam', 'koffi', () => import('koffi'))
  const [pam, libc] = [load('libpam.so.0'), koffi.load(null)]

  function load(name: string) {
    try {
      return koffi.load(name)
    } catch (error) {
      throw new Error(`The backend pam needs the library ${name}, which is not on this host`, {
        cause: error,
      })
    }
  }

  const message = koffi.struct('pam_message', { style: 'int', text: 'const char *' })
  const response = koffi.struct('pam_response', { text: 'void *', code: 'int' })
  const talk = koffi.pointer(koffi.proto('int talk(int n, void *messages, void *responses, void *data)'))
  const delay = koffi.pointer(koffi.proto('void delay(int code, unsigned int microseconds, void *data)'))
  koffi.struct('pam_conv', { talk, data: 'void *' })
  const passwd = koffi.struct('passwd', {
    name: 'const char *',
    hash: 'void *',
    uid: 'unsigned int',
    gid: 'unsigned int',
    gecos: 'void *',
    home: 'void *',
    shell: 'const char *',
  })
  const group = koffi.struct('group', {
    name: 'const char *',
    hash: 'void *',
    gid: 'unsigned int',
    members: 'void *',
  })

  const calloc = libc.func('void *calloc(size_t n, size_t size)')
  const strdup = libc.func('void *strdup(const char *text)')
  const getpwnam = libc.func('void *getpwnam(const char *name)')
  const getgrgid = libc.func('void *getgrgid(unsigned int gid)')
  const getgrouplist = libc.func(
    'int getgrouplist(const char *name, unsigned int gid, _Out_ unsigned int *groups, _Inout_ int *n)',
  )
  const start = pam.func(
    'int pam_start(const char *service, const char *user, pam_conv *conv, _Out_ void **handle)',
  )
  const authenticate = pam.func('int pam_authenticate(void *handle, int flags)')
  const checkAccount = pam.func('int pam_acct_mgmt(void *handle, int flags)')
  const setItem = pam.func('int pam_set_item(void *handle, int item, void *value)')
  const getItem = pam.func('int pam_get_item(void *handle, int item, _Out_ void **value)')
  const sentence = pam.func('const char *pam_strerror(void *handle, int code)')
  const end = pam.func('int pam_end(void *handle, int code)')

  /** Answers every prompt with echo off with the password; any other prompt makes the conversation fail. */
  let password = ''
  const talking = koffi.register((n: number, messages: Pointer, responses: Pointer) => {
    const asked = (koffi.decode(messages, koffi.array('void *', n)) as Pointer[]).map(
      (one) => (koffi.decode(one, message) as { readonly style: number }).style,
    )
    if (asked.some((style) => style !== ECHO_OFF && style !== ERROR_MESSAGE && style !== TEXT_INFO))
      return CONVERSATION_ERROR
    const answers = calloc(n, koffi.sizeof(response)) // PAM frees the array and its texts
    asked.forEach((style, index) => {
      const text = style === ECHO_OFF ? strdup(password) : null
      koffi.encode(answers, index * koffi.sizeof(response), response, { text, code: 0 })
    })
    koffi.encode(responses, 'void *', answers)
    return SUCCESS
  }, talk)

  /** Delay that PAM asks for. The caller waits, so that the helper can answer other requests. */
  let delayMs = 0
  const delaying = koffi.register((_code: number, microseconds: number) => {
    delayMs = microseconds / 1000
  }, delay)

  function accountOf(name: string): Account | undefined {
    const found = getpwnam(name) as Pointer | null
    return found === null ? undefined : (koffi.decode(found, passwd) as Account)
  }

  function groupsOf({ name, gid }: Account): string[] {
    const [groups, count] = [new Uint32Array(MAX_GROUPS), [MAX_GROUPS]]
    getgrouplist(name, gid, groups, count)
    return [...groups.subarray(0, count[0])].flatMap((id) => {
      const found = getgrgid(id) as Pointer | null
      return found === null ? [] : (koffi.decode(found, group) as { readonly name: string }).name
    })
  }

  return (request) => {
    const handle: [Pointer | null] = [null]
    const called = (what: string, code: number): PamAnswer | undefined => {
      if (code === SUCCESS) return undefined
      const said = `${what} of the service ${request.service}: ${sentence(handle[0], code)} (${code})`
      if (!REFUSALS.has(code)) throw new Error(said)
      return { refused: said, delayMs }
    }
    password = request.password
    delayMs = 0
    let last = start(request.service, request.username, { talk: talking, data: null }, handle)
    try {
      if (last !== SUCCESS) throw new Error(`PAM cannot be started (${last})`)
      setItem(handle[0], ITEM_FAIL_DELAY, delaying)
      last = authenticate(handle[0], 0)
      const wrong = called('pam_authenticate', last)
      if (wrong) return wrong
      last = checkAccount(handle[0], 0)
      const closed = called('pam_acct_mgmt', last)
      if (closed) return closed
      const user: [Pointer | null] = [null]
      getItem(handle[0], ITEM_USER, user)
      // Modules may map one name to another.
      const name = user[0] === null ? request.username : (koffi.decode(user[0], 'char', -1) as string)
      const account = accountOf(name)
      if (!account) return { name, groups: [] }
      if (!request.anyShell && /\/(?:nologin|false)$/.test(account.shell ?? ''))
        return { refused: `its shell is ${account.shell}, which does not allow logging in`, delayMs }
      return { name, groups: groupsOf(account) }
    } finally {
      password = ''
      end(handle[0], last)
    }
  }
}
