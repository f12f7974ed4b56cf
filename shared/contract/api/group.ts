/** API group of our kinds; cluster-scoped all. */
export const GROUP = 'kubelet-gitops.dev';
const VERSION = 'v1alpha1';
export const API_VERSION = `${GROUP}/${VERSION}`;

/** Namespace of the config sources, the Lease and the programs, unless configured otherwise. */
export const DEFAULT_NAMESPACE = 'kubelet-gitops';

/** The key of a config source's ConfigMap that holds the payload; the one that Dynamic Kubelet Configuration used. */
export const PAYLOAD_KEY = 'kubelet';

/** Label on every object that the reconciler makes, so that it finds and prunes only its own. */
export const MANAGED_BY_LABEL = 'app.kubernetes.io/managed-by';
export const MANAGED_BY = 'kubelet-gitops';

/** Label on a config source: the pool it was rendered for. */
export const POOL_LABEL = `${GROUP}/pool`;

/** Label that a person puts on a Node to keep our hands off it; any value but `false` counts. */
export const OPT_OUT_LABEL = `${GROUP}/opt-out`;

/** Annotation on a KubeletPool: nothing new is started there while it is set; its value says why. */
export const SUSPEND_ANNOTATION = `${GROUP}/suspend`;

/**
 * Annotation on a KubeletPool: a halt that a person lets go on, as `<sha256 of the payload>@<time of the halt>`. On the KubeletSource: a
 * commit that a person lets be read once more, as `<commit>@<time of the release>`.
 */
export const RELEASE_ANNOTATION = `${GROUP}/release`;

/** Annotation on a KubeletPool: what a person lets go on, see `approval.ts`. */
export const APPROVE_ANNOTATION = `${GROUP}/approve`;

/** Annotation on a KubeletPool: who says to have written the annotations above last, see `claim.ts`. */
export const BY_ANNOTATION = `${GROUP}/by`;

/** Annotation on a KubeletNode: when a reconciler first saw its Node, by the reconciler's clock. */
export const FIRST_SEEN_ANNOTATION = `${GROUP}/first-seen`;

/** Annotation on a KubeletNode: since when the labels of its Node put it into no pool, by the reconciler's clock. */
export const UNSELECTED_SINCE_ANNOTATION = `${GROUP}/unselected-since`;

/** Annotation on a KubeletNode: since when the labels of its Node alone put it into another pool or class, by the reconciler's clock. */
export const MOVED_SINCE_ANNOTATION = `${GROUP}/moved-since`;

/** Annotation on a KubeletNode: the sizes that its machine was sorted by, `memory=15872Mi`, so that it stays in its class. */
export const MACHINE_ANNOTATION = `${GROUP}/machine`;

/** Annotation on a KubeletNode: the labels that decided its class when its config was assigned, `example.com/tier=gold,!example.com/gpu`. */
export const CLASS_LABELS_ANNOTATION = `${GROUP}/class-labels`;

/**
 * Annotation on a KubeletNode: its agent measures its kubelet for `rollout.analysis`. Its value names the rollout; agents only see
 * whether it is another one.
 */
export const MEASURE_ANNOTATION = `${GROUP}/measure`;

/** Taint that keeps pods off a new node until its pool's config has proven itself there; taken away by the reconciler. */
export const NOT_CONFIGURED_TAINT = `${GROUP}/not-configured`;

/** Annotation on a Node that we cordoned: `<config source>@<since when>`. Only such a node is uncordoned by us. */
export const CORDONED_ANNOTATION = `${GROUP}/cordoned`;

/** Annotation on a Node whose pods did not leave in time: `<config source>@<when that was given up>`. */
export const DRAIN_FAILED_ANNOTATION = `${GROUP}/drain-failed`;

/** Annotations on a config source: where the payload came from (for people) and the version of the canonical form. */
export const COMMIT_ANNOTATION = `${GROUP}/commit`;
export const CANONICAL_FORM_ANNOTATION = `${GROUP}/canonical-form`;

/** Finalizer-free by design: losing our objects must never block the deletion of a Node. */
export const FIELD_MANAGER = 'kubelet-gitops';
