import { describe, expect, test } from 'vitest'
import { statementOf } from '../../../../plugins/auth/_sql-statement.ts'

describe('auth_sql', () => {
  test('has placeholders for the name and the password in all forms', () => {
    const parts = ['select 1 from t where u = ', ' and p = sha2(', ', 256)']
    for (const [user, password] of [
      ['%s', '%s'],
      ['{0}', '{1}'],
      ["'{0}'", '"{1}"'],
      ["'%s'", "'%s'"],
    ])
      expect(statementOf(`${parts[0]}${user}${parts[1]}${password}${parts[2]}`)).toEqual({
        parts,
        values: ['username', 'password'],
      })
    expect(statementOf('{1} {0} {1}')).toEqual({
      parts: ['', ' ', ' ', ''],
      values: ['password', 'username', 'password'],
    })
  })

  test('leaves texts, comments and operators in them unchanged', () => {
    expect(statementOf("select '100%', 'it''s', 'why?' -- {x}\n where u = %s and p = %s")).toEqual({
      parts: ["select '100%', 'it''s', 'why?' -- {x}\n where u = ", ' and p = ', ''],
      values: ['username', 'password'],
    })
  })

  test.each([
    ["u like '%s%' and p = %s", 'has a placeholder inside the text'],
    ["u = 'x{0}' and p = {1}", 'has a placeholder inside the text'],
    ['u = %s -- and p = %s', 'has a placeholder inside the text'],
    ['u = ? and p = ?', 'has a ?'],
    ['u = %s and p = %s and q = %s', 'more than two %s'],
    ['u = %s', 'anybody could log in'],
    ['p = {1}', 'anybody could log in'],
  ])('refuses %s', (sql, says) => {
    expect(statementOf(sql)).toContain(says)
  })
})
