{{- /*
The agent's DaemonSets, as JSON, a list: where a distribution's nodes have the kubelet's files, or what the values say in place of
that, and which nodes they are for. Servers have one of their own where their API server or etcd restarts with the kubelet, and so have
otherNodes: every node gets a pod of one of them.
*/}}
{{- define "kubelet-gitops.agents" -}}
{{- $agent := .Values.agent }}
{{- $distributions := .Files.Get "distributions.json" | mustFromJson }}
{{- $sets := list }}
{{- $suffixes := list }}
{{- $elsewhere := list }}
{{- range append (.Values.otherNodes | default list) (merge (dict "distribution" .Values.distribution "dataDirectory" .Values.dataDirectory) $agent) }}
{{- $nodes := . }}
{{- $default := get $distributions .distribution }}
{{- if and .dataDirectory (not $default.dataDirectory) }}
{{- fail (printf "dataDirectory: %s has none that moves: set what differs (agent.configFile, agent.rootDirectory …)" .distribution) }}
{{- end }}
{{- $set := dict "suffix" (ternary (printf "-%s" .name) "" (hasKey . "name")) "maxUnavailable" $agent.maxUnavailable }}
{{- range $value, $field := dict "service" "unit" "serverService" "serverUnit" "configFile" "configFile" "configDirectory" "configDirectory" "rootDirectory" "rootDirectory" "servingCertificate" "servingCertificate" "logFile" "logFile" }}
{{- $place := get $default $field }}
{{- if and $nodes.dataDirectory (hasPrefix (printf "%s/" $default.dataDirectory) $place) }}
{{- $place = printf "%s%s" $nodes.dataDirectory (trimPrefix $default.dataDirectory $place) }}
{{- end }}
{{- $_ := set $set $value (get $nodes $value | default $place) }}
{{- end }}
{{- $here := $elsewhere }}
{{- with .label }}
{{- $here = append $elsewhere (dict "key" .key "operator" "In" "values" (list .value)) }}
{{- $elsewhere = append $elsewhere (dict "key" .key "operator" "NotIn" "values" (list .value)) }}
{{- end }}
{{- if $set.serverService }}
{{- $serverLabels := $default.serverLabels | default (list "node-role.kubernetes.io/control-plane" "node-role.kubernetes.io/etcd") }}
{{- $isServer := list }}
{{- range $serverLabels }}
{{- $isServer = append $isServer (dict "matchExpressions" (append $here (dict "key" . "operator" "Exists"))) }}
{{- end }}
{{- /* The API server and etcd restart with the kubelet there. */}}
{{- $servers := dict "suffix" (printf "%s-servers" $set.suffix) "service" $set.serverService "terms" $isServer "maxUnavailable" 1 }}
{{- $sets = append $sets (merge $servers $set) }}
{{- $suffixes = append $suffixes $servers.suffix }}
{{- range $serverLabels }}
{{- $here = append $here (dict "key" . "operator" "DoesNotExist") }}
{{- end }}
{{- end }}
{{- $sets = append $sets (merge (dict "terms" (ternary (list (dict "matchExpressions" $here)) list (gt (len $here) 0))) $set) }}
{{- $suffixes = append $suffixes $set.suffix }}
{{- end }}
{{- if ne (len $suffixes) (len (uniq $suffixes)) }}{{ fail "otherNodes: two of them have the same name" }}{{ end }}
{{- if and $agent.affinity (or (gt (len $sets) 1) .Values.otherNodes) }}
{{- fail "agent.affinity has no meaning where there are several DaemonSets, which tell their nodes apart by it" }}
{{- end }}
{{- $sets | toJson }}
{{- end }}

{{- /* Tells the pods of further DaemonSets from those of the first. */}}
{{- define "kubelet-gitops.nodes" -}}
{{- with .suffix }}kubelet-gitops.dev/nodes: {{ trimPrefix "-" . }}{{ end }}
{{- end }}
