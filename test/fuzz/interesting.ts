import { DateTime, Float, NamedConstant, type Value } from '../../core/codec/index.ts'

const spaces = [
  '',
  ' ',
  '\n',
  '\r\n',
  '\t',
  '\0',
  '\x1b[31m',
  '\x7f',
  '\u0085',
  '\u00a0',
  '\u2028',
  '\u202e',
  '\ufeff',
]
const letters = 'é ß İ 日本 😀 \ufffd \ud83d \udc00'.split(' ')
const paths = '. .. ../ / // /etc/passwd \\ ~ %00 %2e'.split(' ')
const signs = '" \' ` $(id) ; | & < > # ! @ , : = - -- * ? [ ] { } ( )'.split(' ')
const patterns = '[a-z] (a+)+$ (?= \\d ^ $ {} [] &a *a'.split(' ')
const numbers =
  '0 -0 1 007 0x10 0b1 1e9 1.0 .5 1_000 1:30 -1 2147483648 9007199254740993 18446744073709551616 inf .nan NaN'
const words =
  'null None true yes off and or not a __proto__ constructor prototype toString hasOwnProperty __kwarg__'

/** Parts of text at which readers of text may stumble. */
export const parts: readonly string[] = [
  ...[...spaces, ...letters, ...paths, ...signs, ...patterns, ...numbers.split(' '), ...words.split(' ')],
  ...['- ', ': ', '{"a": 1}', 'a: b', '20261120120000123456', 'a'.repeat(300)],
]

/** Names of members that messages have, and that objects of JavaScript have. */
export const names: readonly string[] = [
  ...['', 'a\nb', 'a.b', '0', '1000'],
  ...'__proto__ constructor prototype toString valueOf toJSON then length __kwarg__ id cmd jid tok nonce ts load enc version sig'.split(
    ' ',
  ),
  ...'fun arg tgt tgt_type user key ret return retcode success path saltenv loc data tag events token eauth'.split(
    ' ',
  ),
]

const large = [2n ** 53n, 2n ** 63n - 1n, 2n ** 64n - 1n, -(2n ** 63n)]
const odd = [0.5, -0.5, 1e308, 5e-324, Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY]
const integers = [
  0,
  1,
  -1,
  2,
  127,
  128,
  255,
  256,
  65_535,
  65_536,
  2 ** 31 - 1,
  2 ** 31,
  -(2 ** 31),
  2 ** 32,
  2 ** 53 - 1,
]

/** Values at which readers of values may stumble. */
export const values: readonly Value[] = [
  ...[null, true, false, ...integers, ...large, ...odd, new Float(3), new Float(-0), new Float(2 ** 40)],
  ...[[], {}, [[]], [null], [{}], { '': null }, new Map([[1, 2]]), new Map([[null, null]])],
  ...[new Map([['__proto__', { polluted: true }]]), { constructor: { prototype: { polluted: true } } }],
  ...[{ toString: 1, valueOf: 1 }, { toString: null }, { length: -1 }, { toJSON: 1 }],
  ...[Buffer.from([0xff]), Buffer.from([0xc3, 0x28]), Buffer.alloc(256, 0xfe)],
  ...[new DateTime('20261120T12:00:00.000000'), new NamedConstant('x', 1), new NamedConstant('', null)],
  ...['x'.repeat(5000), ...parts],
]
