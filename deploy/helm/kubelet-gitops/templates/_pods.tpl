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

{{/* What NOTIFICATIONS_FILE names: JSON, which is YAML. */}}
{{- define "kubelet-gitops.receivers" -}}
{{- $spec := dict "receivers" .Values.notifications.receivers }}
{{- with .Values.notifications.runbooksUrl }}{{ $_ := set $spec "runbooksUrl" . }}{{ end }}
{{- dict "apiVersion" "kubelet-gitops.dev/v1alpha1" "kind" "NotificationReceivers" "spec" $spec | toJson }}
{{- end }}
