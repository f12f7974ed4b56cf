/** Values as a file has them: each a piece of YAML's flow style, most of them JSON as well. By what they look like, not by field. */

const words = (text: string): readonly string[] => text.trim().split(/\s+/);

const quoted = (items: readonly string[]): readonly string[] => items.map((item) => JSON.stringify(item));

/** Around every power that some type, bound or parser ends at. */
export const NUMBERS: readonly string[] = [
  ...words(`
    0 1 -1 2 3 5 9 10 14 15 31 32 80 85 99 100 101 -0 +5 255 256 300 1000 -999 -1000 -1001 1001 10248 10250 10255
    32767 32768 65535 65536 65537 131072 999999 1000000 1000001 2147483647 2147483648 -2147483648 -2147483649
    4294967295 4294967296 4294901760 -4294967296 9007199254740991 9007199254740992 9007199254740993
    -9007199254740993 99999999999999999999 9223372036854775807 9223372036854775808 -9223372036854775808
    -9223372036854775809 18446744073709551615 18446744073709551616 1e3 1E2 1e19 1e-3 5e-324 1e400 1e-400 1.0 1.5
    0.0 -0.0 0.5 0.8 0.9 0.90000000000000002 1.0000000000000001 1.0000000001 5000000000 5000000000.0
    9223372036854775807.0 2147483647.0 2147483648.0 0.1e1 3.4028235e38 .inf -.inf .nan 0x10 0x7fffffff 0x80000000
    0o17 017 08 0b11 1_000 1:30 .5 5.
  `),
];

export const DURATIONS: readonly string[] = [
  ...quoted(
    words(`
      0s 0 1s 999ms 1ms 999us 1us 1µs 1μs 1ns 0.5ns 100ms 100.000001ms 2s 2.999999999s 3s 10s 20s 30s 1m 2m
      2m0.000000001s 5m 300s 300.0009s 300.001s 1h 24h 1h30m 1.5h 1h1h 1m1h 8760h +1s -1s -1ns -0s -24h .5s 5.s 00s
      2562047h47m16.854775807s 2562047h47m16.854775808s -2562047h47m16.854775808s 9223372036854775807ns
      9223372036854775808ns -9223372036854775808ns -9223372036854775809ns 9223372036854775.807us 1e3s 1d 1w 10 1S s
      .s 1 - + --1s 1m1 PT1M 1,5s 0.1000000000000000000000000001s 100000000000000000000s 0.0000000001s 1ｓ nil never
    `),
  ),
  ...quoted(['1 s', ' 1s', '1s ', '', '1s\n']),
  ...words(`
    5s 10 0 5000000000 -5000000000 1.5 1e9 9223372036854775807 9223372036854775808 true
  `),
];

export const AMOUNTS: readonly string[] = [
  ...quoted(
    words(`
      0 1 2 500m 1Gi 1.5Gi 100Mi 250Mi 1k 1K 1Ki 1M 1Mi 1E 1Ei 7Ei 8Ei 9Ei 1Pi 1e3 1E3 1e30 1e-30 1n 1u 0.5 .5 5. +1
      -1 -1Gi -0 0.0000000001 1.0Gi 0.1Gi 1e3Gi 9223372036854775807 9223372036854775808 -9223372036854775808 1i Gi
      1gb 1GiB 1gi 0x10 1_000 NaN Inf 1,5Gi １Gi 10% 0% 100% 101% -5% 5.5% 99.999% % 10%% 1e1% 0x1p3% NaN% Inf% 0.0%
      1e-50%
    `),
  ),
  ...quoted(['', ' 1Gi', '1Gi ', '1 Gi', ' 10%', '10 %']),
  ...words(`
    1 0 -1 1.5 1e3 9223372036854775807 9223372036854775808 0.1 1024 1Gi 10Mi 5% 0.5m
  `),
];

export const TEXTS: readonly string[] = [
  ...quoted(
    words(`
      a A é 💥 ﬀ ＡＢ - _a a_ a.b a/b /a a//b example.com/name Example.com/Name a=b a,b / /x /x/ /x//y /x/./y /x/../y
      . .. ./x ../x x/y x/../y ~ /é 0.0.0.0 127.0.0.1 256.0.0.0 1.2.3 01.2.3.4 :: ::1 [::] ::ffff:1.2.3.4
      10.0.0.0/24 localhost:4317 :4317 dns:///x DNS:x unix:///run/x.sock unix://x unix:x tcp://x:1 http://x
      https://x:1/y?z#w unix-abstract:x //x http://[::1 unix://%zz npipe:////./pipe/x a:b:c /run/x.sock run/x.sock
      UNIX:///run/x.sock dns://a%b dns://u@h:1/p passthrough:///x 0 0-3 3-0 0-3,5 0,0 0, , 0- -1 0-2-4 00 +1 1-1
      9223372036854775808 1.33 1.34 1.35 1.36 1.37 1.38 1.036 v1.36 1.36.0 true null 1 10 50% 0x1
    `),
  ),
  ...quoted([
    '',
    ' ',
    'a b',
    'a\tb',
    'a\nb',
    '\u0085',
    '\u2028',
    '\uFEFF',
    'x'.repeat(64),
    'x'.repeat(300),
    '/a b',
    'C:\\x',
    'a b:1',
    'unix:///a b',
    '0 - 3',
  ]),
  ...words(`
    a none None 1.36 1 yes ~ null true 2030-01-31 12:30 = << !x @x \`x 0-3
  `),
];

export const FLAGS: readonly string[] = [
  ...quoted(
    words(`
      true false
    `),
  ),
  ...quoted(['']),
  ...words(`
    true false True TRUE tRue yes no Yes on off On OFF y n Y N t f 1 0 'true'
  `),
  '!!bool true',
  '!!bool yes',
  '!!str true',
  '!!int "1"',
];

/** What no field but some wants. */
export const STRANGE: readonly string[] = [
  ...quoted(['']),
  ...words(`
    null ~ {} [] [null] [[]] [{}] [a] 0 false 2020-01-01
  `),
  '{"": null}',
  '{a: b}',
  '{a: null}',
  '!!null ""',
  '!!str ""',
  '!!float 1',
  '!!binary YQ==',
  '!!timestamp 2020-01-01',
  '!custom x',
  '&a x',
  '? x',
];

/** Times as in RFC 3339, and not quite. */
export const TIMES: readonly string[] = [
  ...quoted(
    words(`
      2030-01-31T12:00:00Z 2030-01-31T12:00:00+01:00 2030-01-31 2030-02-30T12:00:00Z 2030-01-31T24:00:00Z
      2030-01-31T12:00:00.5Z 2030-01-31t12:00:00z 2030-01-31T12:00:60Z 12:00
    `),
  ),
  ...quoted(['', '2030-01-31 12:00:00Z']),
  ...words(`
    2030-01-31T12:00:00Z 1 null
  `),
];
