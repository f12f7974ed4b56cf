{{- define "kubelet-gitops.image" -}}
{{- if .Values.image.digest -}}
{{ .Values.image.repository }}@{{ .Values.image.digest }}
{{- else -}}
{{ .Values.image.repository }}:{{ .Values.image.tag | default .Chart.AppVersion }}
{{- end -}}
{{- end }}

{{- define "kubelet-gitops.imagePull" -}}
{{- with .Values.image.pullPolicy }}
imagePullPolicy: {{ . }}
{{- end }}
{{- end }}

{{- define "kubelet-gitops.labels" -}}
app.kubernetes.io/name: kubelet-gitops
app.kubernetes.io/component: {{ . }}
{{- end }}

{{- define "kubelet-gitops.settings" -}}
CLUSTER: {{ required "cluster is not set: it names clusters/<cluster>.yaml in the repository" .Values.cluster | quote }}
GIT_URL: {{ required "git.url is not set: it is the address of the config repository" .Values.git.url | quote }}
GIT_BRANCH: {{ .Values.git.branch | quote }}
GIT_PATH: {{ .Values.git.path | quote }}
POLL_INTERVAL: {{ .Values.poll | quote }}
ON_REWRITE: {{ .Values.onRewrite | quote }}
NOTES: {{ ternary "on" "off" .Values.notes.enabled | quote }}
LOG_LEVEL: {{ .Values.logLevel | quote }}
{{- if .Values.commitStatuses.enabled }}
FORGE: {{ required "commitStatuses.forge is not set: github, gitlab, gitea or forgejo" .Values.commitStatuses.forge | quote }}
{{- end }}
{{- range $name, $value := .Values.settings }}
{{ $name }}: {{ $value | quote }}
{{- end }}
{{- end }}

{{- /* Tells the agents of servers from the others: nothing for those that were there first. */}}
{{- define "kubelet-gitops.nodes" -}}
{{- if .suffix }}kubelet-gitops.dev/nodes: servers{{ end }}
{{- end }}

{{- /* The DaemonSets of a distribution whose servers run their kubelet in another unit than its agents: as JSON, a list. */}}
{{- define "kubelet-gitops.distribution" -}}
{{- if and .Values.k3s.enabled .Values.rke2.enabled }}{{ fail "k3s.enabled and rke2.enabled are for different clusters: take one" }}{{ end }}
{{- if .Values.agent.affinity }}{{ fail "agent.affinity has no meaning with k3s.enabled or rke2.enabled, which tell servers from agents by it" }}{{ end }}
{{- $name := ternary "k3s" "rke2" .Values.k3s.enabled }}
{{- $isServer := list }}
{{- $isNone := list }}
{{- range list "node-role.kubernetes.io/control-plane" "node-role.kubernetes.io/etcd" }}
{{- $isServer = append $isServer (dict "matchExpressions" (list (dict "key" . "operator" "Exists"))) }}
{{- $isNone = append $isNone (dict "key" . "operator" "DoesNotExist") }}
{{- end }}
{{- $both := dict "dropIns" (printf "/var/lib/rancher/%s/agent/etc/kubelet.conf.d" $name) "certificate" (printf "/host/var/lib/rancher/%s/agent/serving-kubelet.crt" $name) }}
{{- $agents := dict "suffix" "" "service" (printf "%s-agent.service" $name) "terms" (list (dict "matchExpressions" $isNone)) }}
{{- $servers := dict "suffix" "-servers" "service" (ternary "k3s.service" "rke2-server.service" .Values.k3s.enabled) "terms" $isServer }}
{{- $sets := list }}
{{- range list $agents $servers }}
{{- $required := dict "nodeSelectorTerms" .terms }}
{{- $affinity := dict "nodeAffinity" (dict "requiredDuringSchedulingIgnoredDuringExecution" $required) }}
{{- $sets = append $sets (merge (dict "affinity" $affinity) (omit . "terms") $both) }}
{{- end }}
{{- $sets | toJson }}
{{- end }}
