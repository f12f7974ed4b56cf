/**
 * The tests behind the claims of docs/threat-model.md, which links their files: by file, what each test says. A claim that goes from the
 * page goes from here, and the other way round.
 */
export const EVIDENCE: Readonly<Record<string, readonly string[]>> = {
  'test/agent/checkpoint/payload-store.test.ts': ['count only while their bytes are those that were assigned'],
  'test/agent/guard/guard.end-to-end.test.ts': [
    'a kubelet that starts too often runs the old config, and the agent reads why',
  ],
  'test/agent/host/dbus/marshal.test.ts': [
    'give values or a protocol error, never anything else, however damaged they are',
  ],
  'test/agent/kubelet/host-probe.test.ts': [
    'is not asked for where another certificate is shown, not even one of the same authority or name',
  ],
  'test/agent/staging/stage.test.ts': [
    'lets no assignment allow what is denied by default, where the node says so',
    'takes no other content',
  ],
  'test/architecture/supply-chain.test.ts': [
    'is pinned to a version and a hash',
    'is a tool for another platform, and in no program that is shipped',
  ],
  'test/cli/bin.test.ts': ['leaves nothing behind where it is ended by ${signal}, under an old Node as well'],
  'test/cli/plan/widened-access.test.ts': [
    'is an allowance, with what the field gives, and a denial that goes',
    'is a protection that goes',
  ],
  'test/cluster/rights.test.ts': [
    'refuse what would do harm, request by request',
    'are all there is: of everything that the API server serves, nothing else is allowed',
  ],
  'test/cluster/since-1.30/writers.test.ts': [
    'moves no node into another pool by its spec',
    'forges no config source, no status of a pool, no record and no assignment',
    'suspends, resumes and releases with the operators’ right, and does nothing else',
  ],
  'test/deploy/admission.test.ts': ['refuses an agent: ${what}'],
  'test/deploy/chart/parity.test.ts': ['has the admission policies by default, for API servers that know them'],
  'test/deploy/hardening.test.ts': [
    'go into our own pods only, because the accounts give none to others',
    'the reconciler’s would be admitted by "restricted", with every component too',
    'takes settings from a ConfigMap by their names alone, and none that Node reads, that is a file, or that lets commits in',
  ],
  'test/deploy/image.test.ts': ['run in the image’s root directory, where there is nothing else'],
  'test/reconciler/cluster/blockers/blocker-checks.test.ts': [
    'asks no server but those that the operator names',
    'says how many results there are, and nothing of what they are',
  ],
  'test/reconciler/cluster/blockers/canary-queries.test.ts': [
    'asks for each node about now and about before the change, and for one number about now',
    'asks none that the operator did not name',
  ],
  'test/reconciler/cluster/create-config-source.test.ts': [
    'gives names that nobody can foresee, and says so once it does not help any more',
  ],
  'test/reconciler/git/objects/sha1-collision.test.ts': [
    'are found, whatever stands behind them',
    'is not read as configuration, wherever in a file it stands',
  ],
  'test/reconciler/git/snapshot/read-tree.findings.test.ts': ['both of two entries with the same name'],
  'test/reconciler/git/http/redirect.test.ts': ['to another host never shows it the credential'],
  'test/reconciler/git/git-source.resolve.test.ts': ['takes a branch by its whole name only'],
  'test/reconciler/git/ssh/ssh-remote.test.ts': ['is not read from a server with another host key'],
  'test/reconciler/git/http/connection-agents.tls.test.ts': [
    'is refused where the authority is unknown, with a hint',
    'is not left for plain http by a redirect',
  ],
  'test/reconciler/git/git-source.size-limits.test.ts': [
    'is refused when a handful of objects stand for a billion files',
  ],
  'test/reconciler/git/trust/commit-trust.key-validity.test.ts': [
    'keeps a commit trusted that was seen in time, also after a restart where the record says since when it is in force',
    'says that the commit is dated back',
  ],
  'test/reconciler/git/trust/commit-trust.folder-tags.test.ts': [
    'on an older commit says nothing of a folder that somebody puts back to what it was then',
    'brings nothing old back by a merge whose first parents lead to what was tagged then',
    'does not count where the folder was another in between, or is another at the tag',
  ],
  'test/reconciler/git/trust/trust.fuzz.test.ts': [
    'breaks nothing and is not trusted: any bytes, cut ends, glued ends',
  ],
  'test/reconciler/git/trust/commit-trust.merges.test.ts': [
    'lets in no commit that is not a merge',
    'lets in no merge that goes back to an older file, drops a change, or brings back what was removed',
    'counts for merges of merges, and not where one of them adds something',
  ],
  'test/reconciler/git/trust/commit-trust.signed-tags.test.ts': [
    'a commit’s own signature is not enough: it says nothing of a review',
    'a tag counts under no other name than the one that was signed, and for no other commit',
  ],
  'test/reconciler/git/webhook/receive-delivery.test.ts': [
    'breaks nothing and is never taken for genuine',
    'with a secret that is not ours, or none at all, is refused',
    'is acted upon once',
  ],
  'test/reconciler/git/webhook/server.test.ts': ['answers too many requests with a pause, and goes on after it'],
  'test/reconciler/policy/commit-limits.test.ts': [
    'by maxChange: it cannot raise it and go beyond it at once, and the next one can',
    'by maxUnavailable of the cluster: what it loosens for its own change holds until the next commit',
  ],
  'test/reconciler/policy/commit-admission/refuse-commit.test.ts': [
    'that changes too much is refused with the number, the pools, and what to do',
  ],
  'test/reconciler/policy/commit-admission/accepted-commits.test.ts': [
    'is neither read nor judged where its signature is not to be trusted',
  ],
  'test/reconciler/policy/config-repo/read-field-policy.test.ts': [
    'is shown to those who review it, and nowhere said again: ${field}',
    'cannot use what it allows itself: the commit before it has to',
    'takes none from a pool, and says so',
  ],
  'test/stories/rollout/version-lie.test.ts': [
    'holds itself, by name, while the others get the commit, the next one, and the one that takes both back',
  ],
  'test/stories/rollout/max-unavailable-never-exceeded.test.ts': [
    'never begins more than it may in ${STEPS} steps of anything that can happen',
  ],
  'test/reconciler/reporting/forge/forge-status-writer.test.ts': [
    'are never followed to another place with the token, and survive any answer',
  ],
  'test/reconciler/reporting/health-and-metrics-server.test.ts': [
    'is said however many connections strangers hold, on this port or on that of the metrics',
  ],
  'test/stories/reconciler/git-or-api-server-outage.test.ts': [
    'a rewritten branch is refused, by name, and nothing changes',
    'an emptied repository is refused',
    'a deleted config source is made again under the same name, and no kubelet restarts',
  ],
  'test/stories/reconciler/config-map-name-taken.test.ts': [
    'does not hold a commit up by taking the name of its config: it is rolled out under another',
  ],
  'test/stories/reconciler/untrusted-object-writers.test.ts': [
    'does not have the branch played back to an old commit by deleting the record of the one in force',
    'gets no config of his onto a node by a pool’s status and a ConfigMap, and none of his fields allowed',
    'moves no node into another pool by the pool’s spec',
    'sends no node back to its local config by selecting none',
    'has no config of his taken for what a halted pool settled on, though a commit is in force',
  ],
  'test/stories/git/read-only-credential.test.ts': ['a credential that may only read costs the notes and nothing else'],
  'test/stories/git/signed-commits.test.ts': ['keeps what it has when the next one is signed by somebody unknown'],
  'test/stories/git/signed-tags.test.ts': [
    'takes a commit up once it is tagged, and no signed work in progress that somebody pushes to the branch',
    'is not played back to a commit that was tagged before',
  ],
  'test/security/forge-tokens.test.ts': ['comes out nowhere, though the forge says it back'],
  'test/security/fuzz-answers.test.ts': [
    'are objects, pages and refusals, or an error that says that they are none',
    'never let a node begin unless Prometheus says plainly that nothing fires',
    'never are a number for a canary unless Prometheus says plainly which',
    'of a record that somebody wrote over are read or passed over',
  ],
  'test/security/fuzz-git.test.ts': [
    'makes findings, and nothing else, of whatever stands in its files',
    'breaks nothing with any pack, its checksum being right',
  ],
  'test/security/fuzz-reports.test.ts': [
    'does not keep the others from being changed, whatever of the right type it reports',
  ],
  'test/security/fuzz-streams.test.ts': [
    'is events, or an error that says what is wrong, where its bytes are damaged or its objects are none',
    'is messages, or of no use any more, where its bytes are damaged',
  ],
  'test/security/hostile-packs.test.ts': [
    'are refused, or read whole where they are only odd',
    'take no more than ${MOST_MS / 1000} seconds of work',
    'leave a turn to others at least every ${LONGEST_MS} ms of work',
    'take no more than ${MOST_MIB} MiB on top of what the process has at rest',
  ],
  'test/security/keys.test.ts': [
    'comes out nowhere, and the place where it lies not on the commit',
    'let nobody in, and come out nowhere',
  ],
  'test/security/linear-regexps.test.ts': [
    'takes time in proportion to the text, or its text is short or of no stranger',
  ],
  'test/security/secrets.test.ts': ['come out nowhere'],
  'test/security/slow-connections.test.ts': [
    'is cut in time by ${file}, server ${index + 1}',
    'is looked at on every server that there is',
    'is cut where nobody reads what ${file}, server ${index + 1}, answers',
  ],
  'test/security/slow-texts.test.ts': ['a value of any field'],
  'test/security/terminal.test.ts': [
    "moves no cursor and forges no line by ${command.join(' ')}",
    'comes into no bundle either, which people look at with cat',
    'moves no cursor by names of files and values in a repository',
    'takes no orders from names of files: GitHub obeys lines that begin with two colons',
  ],
  'test/shared/kube/client.tls.test.ts': ['is refused where the certificate is of another authority'],
  'test/shared/contract/kubelet-config/security/powers.test.ts': [
    'is the reason for what is denied by default: exactly the fields that own a node',
  ],
};
